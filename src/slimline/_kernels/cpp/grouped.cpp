// The grouped embedding of dense rows of any type, as they are or standardised on the way.
#include "doubles.hpp"
#include "grouped.hpp"
#include "table.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

template <class S>
void grouped_dense(const Scatter& scatter, const GroupEntry* table, size_t groups, const uint32_t*, const void* x,
                   ptrdiff_t row_stride, size_t rows, void*, void* sums) {
  add_rows(scatter.entries(), table, groups, (const S*)x, row_stride, rows, (sum_of<S>*)sums, sums_stride(scatter));
}

// How values are loaded that are standardised on the way, and the numbers of their columns with them.
template <class S> struct Ordered {
  using M = Move<S>;
  static SLIMLINE_INLINE auto values(const S* x, uint32_t common) { return M::load_common(x, common); }
  static SLIMLINE_INLINE auto numbers(const sum_of<S>* p, uint32_t common) {
    if constexpr (sizeof(S) == sizeof(sum_of<S>)) return M::load_common(p, common);
    else return load<typename M::V>(p);
  }
};
#if SLIMLINE_VECTOR_BYTES == 32
template <class S> struct OrderedBytes {  // as Move<float>, which is faster
  using M = Move<float>;
  static SLIMLINE_INLINE vf values(const S* x, uint32_t common) {
    const __m128i halves = _mm_xor_si128(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), _mm_set1_epi8(char(common)));
    const __m128i bytes = _mm_shuffle_epi8(_mm_loadl_epi64((const __m128i*)x), halves);
    return (vf)_mm256_cvtepi32_ps(S(-1) < S(0) ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes));
  }
  static SLIMLINE_INLINE vf numbers(const float* p, uint32_t common) { return M::load_common(p, common); }
};
template <> struct Ordered<int8_t> : OrderedBytes<int8_t> {};
template <> struct Ordered<uint8_t> : OrderedBytes<uint8_t> {};
#endif

template <class S, bool looks, int rows>
SLIMLINE_INLINE void add_standard(uint32_t entries, const GroupEntry* table, size_t groups, const Standardise<sum_of<S>>& to, const S* x,
                                  ptrdiff_t row_stride, sum_of<S>* sums, size_t stride) {
  using A = sum_of<S>;
  using V = vector_of<A>;
  constexpr int vectors = int(group_width) / lanes<A>;
  constexpr size_t group_bytes = group_width * sizeof(S);
  const V missing = V{} + to.missing;
  A* row[rows];
  SLIMLINE_UNROLL
  for (int q = 0; q < rows; q++) row[q] = sums + size_t(q) * stride;
  for (size_t b = 0; b < groups; b++) {
    const uint32_t common = uint32_t(*table >> 16) & common_key;
    if (b * group_bytes % 64 < group_bytes)
      SLIMLINE_UNROLL
      for (int q = 0; q < rows; q++)
        SLIMLINE_UNROLL
        for (size_t byte = 0; byte < group_bytes; byte += 64) __builtin_prefetch((const char*)(x + q * row_stride) + b * group_bytes + size_t(ahead) + byte, 0, 2);
    V v[rows][vectors];
    SLIMLINE_UNROLL
    for (int p = 0; p < vectors; p++) {
      const size_t at = b * group_width + size_t(p * lanes<A>);
      const V near = Ordered<S>::numbers(to.near + at, common), factor = Ordered<S>::numbers(to.factor + at, common);
      V instead{};
      if constexpr (looks) instead = Ordered<S>::numbers(to.instead + at, common);
      SLIMLINE_UNROLL
      for (int q = 0; q < rows; q++) {
        const V z = Ordered<S>::values(x + q * row_stride + ptrdiff_t(at), common), changed = (z - near) * factor;
        if constexpr (!looks) v[q][p] = changed;
        else if constexpr (is_float<S>) v[q][p] = z == z ? changed : instead;
        else v[q][p] = z == missing ? instead : changed;
      }
    }
    for (uint32_t t = 0; t < entries; t++) {
      const GroupEntry entry = *table++;
      const typename Ordered<S>::M move(entry);
      const size_t first = size_t(entry >> 20) | (size_t(entry >> 16) & (group_width - size_t(lanes<A>)));
      SLIMLINE_UNROLL
      for (int p = 0; p < vectors; p++) {
        const V sign = move.signs(p);
        SLIMLINE_UNROLL
        for (int q = 0; q < rows; q++) {
          A* place = row[q] + (first ^ size_t(p * lanes<A>));
          store(place, add_signed(move.lanes_of(v[q][p]), sign, load<V>(place)));
        }
      }
    }
  }
}

template <class S, bool looks>
void add_all(const Scatter& scatter, const GroupEntry* table, size_t groups, const Standardise<sum_of<S>>& to, const S* data,
             ptrdiff_t row_stride, size_t rows, sum_of<S>* sums) {
  constexpr size_t chunk = 512;  // what belongs to the columns of a chunk is fetched once for all rows
  constexpr int together = 4;
  const size_t stride = sums_stride(scatter);
  const uint32_t entries = scatter.entries();
  for (size_t b = 0; b < groups; b += chunk) {
    const size_t here = groups - b < chunk ? groups - b : chunk, at = b * group_width;
    const Standardise<sum_of<S>> part{to.near + at, to.factor + at, looks ? to.instead + at : nullptr, to.missing};
    const S* x = data + at;
    size_t q = 0;
    for (; q + together <= rows; q += together)
      add_standard<S, looks, together>(entries, table + b * entries, here, part, x + ptrdiff_t(q) * row_stride, row_stride, sums + q * stride, stride);
    for (; q < rows; q++)
      add_standard<S, looks, 1>(entries, table + b * entries, here, part, x + ptrdiff_t(q) * row_stride, row_stride, sums + q * stride, stride);
  }
}

template <class S>
void grouped_standard(const Scatter& scatter, const GroupEntry* table, size_t groups, const void* standardise, const void* x,
                      ptrdiff_t row_stride, size_t rows, void* sums) {
  const auto& to = *static_cast<const Standardise<sum_of<S>>*>(standardise);
  (to.instead ? add_all<S, true> : add_all<S, false>)(scatter, table, groups, to, (const S*)x, row_stride, rows, (sum_of<S>*)sums);
}

template <class S> void add_type(Kernels& table, Type type) {
  table.grouped_dense[int(type)] = grouped_dense<S>;
  table.grouped_standard[int(type)] = grouped_standard<S>;
}

}  // namespace

void add_grouped_kernels(Kernels& table) {
  add_type<float>(table, Type::f32);
  add_type<double>(table, Type::f64);
  add_type<half>(table, Type::f16);
  add_type<int16_t>(table, Type::i16);
  add_type<int8_t>(table, Type::i8);
  add_type<uint8_t>(table, Type::u8);
}

}  // namespace slimline::SLIMLINE_ISA
