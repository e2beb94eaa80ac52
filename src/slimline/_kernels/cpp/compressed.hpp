// Sums over the lines of a compressed sparse block (rows of CSR, columns of CSC), in float64.
#pragma once

#include "kernels.hpp"

namespace slimline {

template <class Index, class T> struct SparseLines {
  const Index* pointer;
  const Index* index;
  const T* value;
  size_t lines, places, stored;
  // what a stored NaN counts as, by line or by place; null: it stays
  const double *line_fill, *place_fill;
};

// out (lines x k) += Σ value · v[index], v places x k
template <class Index, class T> void gather(const SparseLines<Index, T>&, const double* v, size_t k, double* out, int threads);
// out (places x k) += Σ value · v[line], v lines x k
template <class Index, class T> void scatter(const SparseLines<Index, T>&, const double* v, size_t k, double* out, int threads);

}  // namespace slimline
