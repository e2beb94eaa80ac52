// The grouped embedding of dense rows of any type, as they are or standardised on the way.
#include "families/grouped.hpp"
#include "isa/table.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

template <class T>
void grouped(const Scatter& scatter, const GroupEntry* table, size_t groups, const T* x, ptrdiff_t row_stride, size_t rows, T* sums) {
  add_rows(scatter.entries(), table, groups, x, row_stride, rows, sums, sums_stride(scatter));
}

template <class T, bool looks, int rows>
SLIMLINE_INLINE void add_standard(uint32_t entries, const GroupEntry* table, size_t groups, const Standardise<T>& to, const T* x,
                                  ptrdiff_t row_stride, T* sums, size_t stride) {
  using V = vector_of<T>;
  constexpr int vectors = int(group_width) / lanes<T>;
  constexpr size_t group_bytes = group_width * sizeof(T);
    T* row[rows];
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
      const size_t at = b * group_width + size_t(p * lanes<T>);
      const V near = Move<T>::load_common(to.near + at, common), factor = Move<T>::load_common(to.factor + at, common);
      V instead{};
      if constexpr (looks) instead = Move<T>::load_common(to.instead + at, common);
      SLIMLINE_UNROLL
      for (int q = 0; q < rows; q++) {
        const V z = Move<T>::load_common(x + q * row_stride + ptrdiff_t(at), common), changed = (z - near) * factor;
        if constexpr (looks) v[q][p] = z == z ? changed : instead;
        else v[q][p] = changed;
      }
    }
    for (uint32_t t = 0; t < entries; t++) {
      const GroupEntry entry = *table++;
      const Move<T> move(entry);
      const size_t first = size_t(entry >> 20) | (size_t(entry >> 16) & (group_width - size_t(lanes<T>)));
      SLIMLINE_UNROLL
      for (int p = 0; p < vectors; p++) {
        const V sign = move.signs(p);
        SLIMLINE_UNROLL
        for (int q = 0; q < rows; q++) {
          T* place = row[q] + (first ^ size_t(p * lanes<T>));
          store(place, add_signed(move.lanes_of(v[q][p]), sign, load<V>(place)));
        }
      }
    }
  }
}

template <class T, bool looks>
void add_all(const Scatter& scatter, const GroupEntry* table, size_t groups, const Standardise<T>& to, const T* data,
             ptrdiff_t row_stride, size_t rows, T* sums) {
  constexpr size_t chunk = 512;  // what belongs to the columns of a chunk is fetched once for all rows
  constexpr int together = 4;
  const size_t stride = sums_stride(scatter);
  const uint32_t entries = scatter.entries();
  for (size_t b = 0; b < groups; b += chunk) {
    const size_t here = groups - b < chunk ? groups - b : chunk, at = b * group_width;
    const Standardise<T> part{to.near + at, to.factor + at, looks ? to.instead + at : nullptr};
    const T* x = data + at;
    size_t q = 0;
    for (; q + together <= rows; q += together)
      add_standard<T, looks, together>(entries, table + b * entries, here, part, x + ptrdiff_t(q) * row_stride, row_stride, sums + q * stride, stride);
    for (; q < rows; q++)
      add_standard<T, looks, 1>(entries, table + b * entries, here, part, x + ptrdiff_t(q) * row_stride, row_stride, sums + q * stride, stride);
  }
}

template <class T>
void grouped_standard(const Scatter& scatter, const GroupEntry* table, size_t groups, const Standardise<T>& to, const T* x, ptrdiff_t row_stride,
                      size_t rows, T* sums) {
  (to.instead ? add_all<T, true> : add_all<T, false>)(scatter, table, groups, to, x, row_stride, rows, sums);
}

template <class T> void add_type(FamilyKernels<T>& k) {
  k.grouped = grouped<T>;
  k.grouped_standard = grouped_standard<T>;
}

}  // namespace

void add_grouped_kernels(Kernels& table) { add_type(table.f32.families), add_type(table.f64.families); }

}  // namespace slimline::SLIMLINE_ISA
