// Rows of X interleaved: the same feature of sixteen rows in one cache line (float64: two).
#pragma once

#include "isa/elements.hpp"
#include "isa/kernels.hpp"

namespace slimline::SLIMLINE_ISA {

// X[row][feature] to out[feature][lane]; lanes without a row are zero.
template <class T>
SLIMLINE_INLINE void interleave_rows(const T* x, ptrdiff_t row_stride, size_t rows, size_t features, T* out) {
  if (rows < lane_rows) std::memset(out, 0, features * lane_rows * sizeof(T));
  size_t done = 0;
#if SLIMLINE_VECTOR_BYTES >= 32
  if constexpr (sizeof(T) == 4)
    if (rows == lane_rows)
      for (; done + 8 <= features; done += 8)
        for (size_t l = 0; l < lane_rows; l += 8) transpose8(x + ptrdiff_t(l) * row_stride + done, row_stride, out + done * lane_rows + l, lane_rows);
#endif
  for (size_t l = 0; l < rows; l++) {
    const T* row = x + ptrdiff_t(l) * row_stride;
    for (size_t f = done; f < features; f++) out[f * lane_rows + l] = row[f];
  }
}

// The same where the rows of a feature lie next to each other already.
template <class T>
SLIMLINE_INLINE void interleave_columns(const T* x, ptrdiff_t column_stride, size_t rows, size_t features, T* out) {
  if (rows < lane_rows) std::memset(out, 0, features * lane_rows * sizeof(T));
  for (size_t f = 0; f < features; f++, x += column_stride, out += lane_rows) std::memcpy(out, x, rows * sizeof(T));
}

}  // namespace slimline::SLIMLINE_ISA
