// The grouped embedding of dense rows of any type, and of bytes that are changed on the way into float32.
#include "grouped.hpp"
#include "table.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

template <class S>
void grouped_dense(const Scatter& scatter, const GroupEntry* table, size_t groups, const uint32_t*, const void* x,
                   ptrdiff_t row_stride, size_t rows, void*, void* sums) {
  add_rows(scatter.entries(), table, groups, (const S*)x, row_stride, rows, (sum_of<S>*)sums, sums_stride(scatter));
}

// Bytes, each changed on the way into float32.
template <class S> SLIMLINE_INLINE vf load_bytes(const S* x, uint32_t common) {
#if SLIMLINE_VECTOR_BYTES == 32  // as Move<float>::load_common
  const __m128i halves = _mm_xor_si128(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), _mm_set1_epi8(char(common)));
  const __m128i bytes = _mm_shuffle_epi8(_mm_loadl_epi64((const __m128i*)x), halves);
  return (vf)_mm256_cvtepi32_ps(S(-1) < S(0) ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes));
#else
  (void)common;
  return load_wide(x);
#endif
}

template <class S, int rows>
SLIMLINE_INLINE void add_changed(uint32_t entries, const GroupEntry* table, size_t groups, const ByteChange& change, const S* x,
                                 ptrdiff_t row_stride, float* sums, size_t stride) {
  constexpr int vectors = int(group_width) / float_lanes;
  const vf missing = vf{} + change.missing;
  float* row[rows];
  SLIMLINE_UNROLL
  for (int q = 0; q < rows; q++) row[q] = sums + size_t(q) * stride;
  for (size_t b = 0; b < groups; b++) {
    const uint32_t common = uint32_t(*table >> 16) & common_key;
    vf v[rows][vectors];
    SLIMLINE_UNROLL
    for (int p = 0; p < vectors; p++) {
      const size_t at = b * group_width + size_t(p * float_lanes);
      const vf near = Move<float>::load_common(change.near + at, common), rest = Move<float>::load_common(change.rest + at, common);
      const vf factor = Move<float>::load_common(change.factor + at, common), instead = Move<float>::load_common(change.instead + at, common);
      SLIMLINE_UNROLL
      for (int q = 0; q < rows; q++) {
        const vf z = load_bytes(x + q * row_stride + ptrdiff_t(at), common);
        v[q][p] = z == missing ? instead : (z - near) * factor + rest;
      }
    }
    for (uint32_t t = 0; t < entries; t++) {
      const GroupEntry entry = *table++;
      const Move<float> move(entry);
      const size_t first = size_t(entry >> 20) | (size_t(entry >> 16) & (group_width - size_t(float_lanes)));
      SLIMLINE_UNROLL
      for (int p = 0; p < vectors; p++) {
        const vf sign = move.signs(p);
        SLIMLINE_UNROLL
        for (int q = 0; q < rows; q++) {
          float* place = row[q] + (first ^ size_t(p * float_lanes));
          store(place, add_signed(move.lanes_of(v[q][p]), sign, load<vf>(place)));
        }
      }
    }
  }
}

template <class S>
void grouped_changed(const Scatter& scatter, const GroupEntry* table, size_t groups, const ByteChange& change, const void* data,
                     ptrdiff_t row_stride, size_t rows, float* sums) {
  constexpr size_t chunk = 512;  // what belongs to the columns of a chunk is fetched once for all rows
  constexpr int together = 4;
  const size_t stride = sums_stride(scatter);
  const uint32_t entries = scatter.entries();
  for (size_t b = 0; b < groups; b += chunk) {
    const size_t here = groups - b < chunk ? groups - b : chunk, at = b * group_width;
    const ByteChange part{change.near + at, change.rest + at, change.factor + at, change.instead + at, change.missing};
    const S* x = (const S*)data + at;
    size_t q = 0;
    for (; q + together <= rows; q += together)
      add_changed<S, together>(entries, table + b * entries, here, part, x + ptrdiff_t(q) * row_stride, row_stride, sums + q * stride, stride);
    for (; q < rows; q++)
      add_changed<S, 1>(entries, table + b * entries, here, part, x + ptrdiff_t(q) * row_stride, row_stride, sums + q * stride, stride);
  }
}

}  // namespace

void add_grouped_kernels(Kernels& table) {
  table.grouped_changed[0] = grouped_changed<int8_t>;
  table.grouped_changed[1] = grouped_changed<uint8_t>;
  table.grouped_dense[int(Type::f32)] = grouped_dense<float>;
  table.grouped_dense[int(Type::f64)] = grouped_dense<double>;
  table.grouped_dense[int(Type::f16)] = grouped_dense<half>;
  table.grouped_dense[int(Type::i16)] = grouped_dense<int16_t>;
  table.grouped_dense[int(Type::i8)] = grouped_dense<int8_t>;
  table.grouped_dense[int(Type::u8)] = grouped_dense<uint8_t>;
}

}  // namespace slimline::SLIMLINE_ISA
