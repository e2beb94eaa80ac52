// Rows of X side by side: the same feature of sixteen rows in one cache line (float64: two).
#pragma once

#include "elements.hpp"

namespace slimline::SLIMLINE_ISA {

// X[row][feature] to out[feature][lane], widened; lanes without a row are zero.
template <class S>
SLIMLINE_INLINE void side_by_side(const S* x, ptrdiff_t row_stride, size_t rows, size_t features, sum_of<S>* out) {
  using A = sum_of<S>;
  if (rows < lane_rows) std::memset(out, 0, features * lane_rows * sizeof(A));
  size_t done = 0;
#if SLIMLINE_VECTOR_BYTES >= 32
  if constexpr (sizeof(A) == 4)
    if (rows == lane_rows)
      for (; done + 8 <= features; done += 8)
        for (size_t l = 0; l < lane_rows; l += 8) turn8(x + ptrdiff_t(l) * row_stride + done, row_stride, out + done * lane_rows + l, lane_rows);
#endif
  for (size_t l = 0; l < rows; l++) {
    const S* row = x + ptrdiff_t(l) * row_stride;
    for (size_t f = done; f < features; f++) out[f * lane_rows + l] = widen(row[f]);
  }
}

// The same where the rows of a feature lie next to each other already.
template <class S>
SLIMLINE_INLINE void columns_side_by_side(const S* x, ptrdiff_t column_stride, size_t rows, size_t features, sum_of<S>* out) {
  using A = sum_of<S>;
  if (rows < lane_rows) std::memset(out, 0, features * lane_rows * sizeof(A));
  for (size_t f = 0; f < features; f++, x += column_stride, out += lane_rows) {
    if (rows == lane_rows)
      for (size_t l = 0; l < lane_rows; l += size_t(lanes<A>)) store(out + l, load_wide(x + l));
    else
      for (size_t l = 0; l < rows; l++) out[l] = widen(x[l]);
  }
}

}  // namespace slimline::SLIMLINE_ISA
