// The grouped embedding of dense rows: 16 consecutive features are loaded, their signs flipped, their lanes
// permuted, and added to 16 consecutive sums. No scatter, so it runs as fast as X can be read.
#include "elements.hpp"
#include "table.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

// Row q of X: x + q * row_stride; row q of the sums: out + q * columns.
template <class S, int rows>
SLIMLINE_INLINE void add_groups(const Scatter& scatter, const GroupEntry* table, size_t groups, const S* x,
                                ptrdiff_t row_stride, sum_of<S>* out) {
  using A = sum_of<S>;
  using V = vector_of<A>;
  constexpr int parts = group_width / lanes<A>;
  const uint32_t entries = scatter.entries();
  const size_t columns = scatter.columns;
  for (size_t b = 0; b < groups; b++) {
    V v[rows][parts];
    SLIMLINE_UNROLL
    for (int q = 0; q < rows; q++)
      SLIMLINE_UNROLL
      for (int p = 0; p < parts; p++) v[q][p] = load_wide(x + q * row_stride + ptrdiff_t(b) * group_width + p * lanes<A>);
    for (uint32_t t = 0; t < entries; t++) {
      const GroupEntry entry = *table++;
      const uint32_t signs = uint32_t(entry) & 0xFFFFu, key = uint32_t(entry >> 16) & (group_width - 1);
      const LaneXor permute((key * uint32_t(sizeof(A) / 4)) & (float_lanes - 1));
      // lanes beyond one vector: the whole part goes to another place
      A* o = out + (entry >> 20);
      SLIMLINE_UNROLL
      for (int p = 0; p < parts; p++) {
        const bits_of<A> mask = sign_mask<A>(signs, p * lanes<A>);
        A* place = o + (uint32_t(p * lanes<A>) ^ (key & ~uint32_t(lanes<A> - 1)));
        SLIMLINE_UNROLL
        for (int q = 0; q < rows; q++)
          store(place + q * columns, load<V>(place + q * columns) + permute(flip(v[q][p], mask)));
      }
    }
  }
}

template <class S>
void grouped_dense(const Scatter& scatter, const GroupEntry* table, size_t groups, const size_t*, size_t,
                   const void* from, ptrdiff_t row_stride, size_t rows, void*, void* to) {
  const S* x = (const S*)from;
  sum_of<S>* out = (sum_of<S>*)to;
  if (rows == grouped_rows) return add_groups<S, grouped_rows>(scatter, table, groups, x, row_stride, out);
  for (size_t q = 0; q < rows; q++)
    add_groups<S, 1>(scatter, table, groups, x + ptrdiff_t(q) * row_stride, row_stride, out + q * scatter.columns);
}

#if SLIMLINE_VECTOR_BYTES >= 32

// Bytes: permuted as bytes, added as int16, so that one 32-byte vector holds a whole group. `cuts` are the
// group numbers before which a sum might overflow: there, and at the end, the sums move to float32.
template <class S, int rows>
SLIMLINE_INLINE void add_byte_groups(const Scatter& scatter, const GroupEntry* table, size_t begin, size_t end,
                                     const S* x, ptrdiff_t row_stride, int16_t* sums) {
  const uint32_t entries = scatter.entries();
  const size_t columns = scatter.columns;
  const __m128i iota = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m128i spread = _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
  const __m128i bit = _mm_set1_epi64x((long long)0x8040201008040201ull);
  table += begin * entries;
  for (size_t b = begin; b < end; b++) {
    __m128i v[rows];
    SLIMLINE_UNROLL
    for (int q = 0; q < rows; q++) v[q] = _mm_loadu_si128((const __m128i*)(x + q * row_stride + ptrdiff_t(b) * group_width));
    for (uint32_t t = 0; t < entries; t++) {
      const GroupEntry entry = *table++;
      const __m128i order = _mm_xor_si128(iota, _mm_set1_epi8(char(entry >> 16 & (group_width - 1))));
      __m128i signs = _mm_shuffle_epi8(_mm_cvtsi32_si128(int(entry & 0xFFFFu)), spread);
      signs = _mm_or_si128(_mm_cmpeq_epi8(_mm_and_si128(signs, bit), bit), _mm_set1_epi8(1));  // -1 or 1
      const __m256i wide_signs = _mm256_cvtepi8_epi16(_mm_shuffle_epi8(signs, order));
      int16_t* o = sums + (entry >> 20);
      SLIMLINE_UNROLL
      for (int q = 0; q < rows; q++) {
        const __m128i moved = _mm_shuffle_epi8(v[q], order);
        __m256i wide;
        if constexpr (S(-1) < S(0)) wide = _mm256_cvtepi8_epi16(moved); else wide = _mm256_cvtepu8_epi16(moved);
        __m256i* place = (__m256i*)(o + q * columns);
        _mm256_storeu_si256(place, _mm256_add_epi16(_mm256_loadu_si256(place), _mm256_sign_epi16(wide, wide_signs)));
      }
    }
  }
}

template <class S>
void grouped_bytes(const Scatter& scatter, const GroupEntry* table, size_t groups, const size_t* cuts, size_t cut_count,
                   const void* from, ptrdiff_t row_stride, size_t rows, void* scratch, void* to) {
  const S* x = (const S*)from;
  int16_t* sums = (int16_t*)scratch;
  float* out = (float*)to;
  size_t begin = 0;
  for (size_t c = 0; c <= cut_count; c++) {
    const size_t end = c < cut_count ? cuts[c] : groups;
    std::memset(sums, 0, rows * scatter.columns * sizeof(int16_t));
    if (rows == grouped_rows)
      add_byte_groups<S, grouped_rows>(scatter, table, begin, end, x, row_stride, sums);
    else
      for (size_t q = 0; q < rows; q++)
        add_byte_groups<S, 1>(scatter, table, begin, end, x + ptrdiff_t(q) * row_stride, row_stride, sums + q * scatter.columns);
    for (size_t k = 0; k < rows * scatter.columns; k++) out[k] += float(sums[k]);
    begin = end;
  }
}

#endif

}  // namespace

void add_grouped_kernels(Kernels& table) {
  table.grouped_dense[int(Type::f32)] = grouped_dense<float>;
  table.grouped_dense[int(Type::f64)] = grouped_dense<double>;
  table.grouped_dense[int(Type::f16)] = grouped_dense<half>;
  table.grouped_dense[int(Type::i16)] = grouped_dense<int16_t>;
#if SLIMLINE_VECTOR_BYTES >= 32
  table.grouped_dense[int(Type::i8)] = grouped_bytes<int8_t>;
  table.grouped_dense[int(Type::u8)] = grouped_bytes<uint8_t>;
#else
  table.grouped_dense[int(Type::i8)] = grouped_dense<int8_t>;
  table.grouped_dense[int(Type::u8)] = grouped_dense<uint8_t>;
#endif
}

}  // namespace slimline::SLIMLINE_ISA
