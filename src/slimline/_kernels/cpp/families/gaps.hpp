// Non-zeros of one row of a sparse sign matrix, found by drawing the runs of zeros between them.
//
// Word m of a feature: counter (m / 4, feature). Its low bit is the sign of the next non-zero, the other 31
// bits the length of the run before it. Work is proportional to the non-zeros, not to the columns.
#pragma once

#include "isa/kernels.hpp"
#include "families/philox.hpp"

namespace slimline::SLIMLINE_ISA {

SLIMLINE_INLINE uint32_t run_of_zeros(const Gaps& gaps, uint32_t draw) {
  // threshold falls with k; the answer is the last k with draw < threshold[k] (threshold[0] = 2^31: always)
  uint32_t low = gaps.guide[draw >> 23], step = 1;
  while (low + step < gaps.count && draw < gaps.threshold[low + step]) { low += step; step *= 2; }
  for (; step; step /= 2)
    if (low + step < gaps.count && draw < gaps.threshold[low + step]) low += step;
  return low;
}

template <class Visit>
SLIMLINE_INLINE void for_each_nonzero(const Gaps& gaps, uint64_t feature, size_t columns, Key key, Visit visit) {
  size_t column = 0;
  for (uint32_t counter = 0;; counter++) {
    Words words = philox(counter, uint32_t(feature), uint32_t(feature >> 32), stream_sparse_sign, key);
    for (int i = 0; i < 4; i++) {
      column += run_of_zeros(gaps, words.w[i] >> 1);
      if (column >= columns) return;
      visit(column, words.w[i] & 1u);
      if (++column == columns) return;
    }
  }
}

}  // namespace slimline::SLIMLINE_ISA
