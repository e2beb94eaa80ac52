// The grouped embedding of dense rows: 16 consecutive features are loaded, their signs flipped, their lanes
// permuted, and added to 16 consecutive sums. No scatter, so it runs as fast as X can be read.
#include "elements.hpp"
#include "table.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

// Row q of X: x + q * row_stride; row q of the sums: sums + q * stride.
template <class S, int rows>
SLIMLINE_INLINE void add_groups(uint32_t entries, const GroupEntry* table, size_t groups, const S* x,
                                ptrdiff_t row_stride, sum_of<S>* sums, size_t stride) {
  using A = sum_of<S>;
  using V = vector_of<A>;
  constexpr int vectors = int(group_width) / lanes<A>;
  for (size_t b = 0; b < groups; b++) {
    V v[rows][vectors];
    SLIMLINE_UNROLL
    for (int q = 0; q < rows; q++)
      SLIMLINE_UNROLL
      for (int p = 0; p < vectors; p++) v[q][p] = load_wide(x + q * row_stride + ptrdiff_t(b * group_width) + p * lanes<A>);
    for (uint32_t t = 0; t < entries; t++) {
      const GroupEntry entry = *table++;
      const uint32_t key = uint32_t(entry >> 16) & uint32_t(group_width - 1);
      const LaneXor permute((key * uint32_t(sizeof(A) / 4)) & (float_lanes - 1));
      const uint32_t part = key & ~uint32_t(lanes<A> - 1);  // what of the key moves whole vectors
      A* first = sums + (entry >> 20);
      SLIMLINE_UNROLL
      for (int p = 0; p < vectors; p++) {
        const uint32_t lane = uint32_t(p * lanes<A>) ^ part;  // where vector p arrives
        const V sign = sign_values<A>(uint32_t(entry & 0xFFFFu) >> lane, 0);
        SLIMLINE_UNROLL
        for (int q = 0; q < rows; q++) {
          A* place = first + size_t(q) * stride + lane;
          store(place, add_signed(permute(v[q][p]), sign, load<V>(place)));
        }
      }
    }
  }
}

template <class S>
void grouped_dense(const Scatter& scatter, const GroupEntry* table, size_t groups, const size_t*, size_t,
                   const void* from, ptrdiff_t row_stride, size_t rows, void*, void* to) {
  const S* x = (const S*)from;
  sum_of<S>* sums = (sum_of<S>*)to;
  const size_t stride = sums_stride(scatter);
  if (rows == grouped_rows) return add_groups<S, grouped_rows>(scatter.entries(), table, groups, x, row_stride, sums, stride);
  for (size_t q = 0; q < rows; q++)
    add_groups<S, 1>(scatter.entries(), table, groups, x + ptrdiff_t(q) * row_stride, row_stride, sums + q * stride, stride);
}

#if SLIMLINE_VECTOR_BYTES >= 32

// Bytes are permuted as bytes and added as int16, so that one 32-byte vector holds a whole group. `cuts` are the group
// numbers before which a sum might overflow: there, and at the end, the sums move to float32.
template <class S, int rows>
SLIMLINE_INLINE void add_byte_groups(uint32_t entries, const GroupEntry* table, size_t begin, size_t end, const S* x,
                                     ptrdiff_t row_stride, int16_t* sums, size_t stride) {
  const __m128i iota = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m256i bit = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, -32768);
  const __m256i one = _mm256_set1_epi16(1);
  table += begin * entries;
  for (size_t b = begin; b < end; b++) {
    __m128i v[rows];
    SLIMLINE_UNROLL
    for (int q = 0; q < rows; q++) v[q] = _mm_loadu_si128((const __m128i*)(x + q * row_stride + ptrdiff_t(b * group_width)));
    for (uint32_t t = 0; t < entries; t++) {
      const GroupEntry entry = *table++;
      const __m128i order = _mm_xor_si128(iota, _mm_set1_epi8(char(entry >> 16 & (group_width - 1))));
      const __m256i bits = _mm256_set1_epi16(short(entry & 0xFFFFu));
      const __m256i signs = _mm256_or_si256(_mm256_cmpeq_epi16(_mm256_and_si256(bits, bit), bit), one);  // -1 or 1
      int16_t* first = sums + (entry >> 20);
      SLIMLINE_UNROLL
      for (int q = 0; q < rows; q++) {
        const __m128i moved = _mm_shuffle_epi8(v[q], order);
        __m256i wide;
        if constexpr (S(-1) < S(0)) wide = _mm256_cvtepi8_epi16(moved); else wide = _mm256_cvtepu8_epi16(moved);
        __m256i* place = (__m256i*)(first + size_t(q) * stride);
        _mm256_storeu_si256(place, _mm256_add_epi16(_mm256_loadu_si256(place), _mm256_sign_epi16(wide, signs)));
      }
    }
  }
}

template <class S>
void grouped_bytes(const Scatter& scatter, const GroupEntry* table, size_t groups, const size_t* cuts, size_t cut_count,
                   const void* from, ptrdiff_t row_stride, size_t rows, void* scratch, void* to) {
  const S* x = (const S*)from;
  int16_t* small = (int16_t*)scratch;
  float* sums = (float*)to;
  const uint32_t entries = scatter.entries();
  const size_t stride = sums_stride(scatter);
  size_t begin = 0;
  for (size_t c = 0; c <= cut_count; c++) {
    const size_t end = c < cut_count ? cuts[c] : groups;
    std::memset(small, 0, rows * stride * sizeof(int16_t));
    if (rows == grouped_rows)
      add_byte_groups<S, grouped_rows>(entries, table, begin, end, x, row_stride, small, stride);
    else
      for (size_t q = 0; q < rows; q++)
        add_byte_groups<S, 1>(entries, table, begin, end, x + ptrdiff_t(q) * row_stride, row_stride, small + q * stride, stride);
    for (size_t k = 0; k < rows * stride; k++) sums[k] += float(small[k]);
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
