// Sums over the lines of a compressed sparse block (rows of CSR, columns of CSC), in float64.
#pragma once

#include "families/products.hpp"

namespace slimline {

template <class Index, class T> struct SparseLines {
  const Index* pointer;
  const Index* index;
  const T* value;
  size_t lines, width, stored;
  // what a stored NaN counts as, by line or by position; null: it stays
  const double *line_fill, *index_fill;
};

// out (lines x k) += Σ value · v[index], v width x k
template <class Index, class T> void gather(const SparseLines<Index, T>&, const double* v, size_t k, double* out, int threads);
// out (width x k) += Σ value · v[line], v lines x k
template <class Index, class T> void scatter(const SparseLines<Index, T>&, const double* v, size_t k, double* out, int threads);

// Statistics of the columns of X, which are the indices (`by_row`) or the lines.
// Of the rows, all of them or none; coarse + rest = all.
struct SparseWeights { const double *all, *coarse, *rest; };
// Added to by column. Numbers that are used together lie together, as columns come in no order that a cache would like: the
// weighted sum of the values and how many are stored; with weights that of the missing ones, and both parts of the stored ones'.
struct SparseTotals {
  double (*sums)[2];
  double (*weights)[3];  // null without weights
  int64_t *zeros, *absent;
};
template <class Index, class T>
void sparse_totals(const SparseLines<Index, T>&, bool by_row, const ColumnTransform&, const SparseWeights&, const SparseTotals&, int threads);
// deviation += Σ weight · (value - mean)², of what is not missing; mean and deviation of a column lie together
template <class Index, class T>
void sparse_deviations(const SparseLines<Index, T>&, bool by_row, const ColumnTransform&, const double* weights, double (*mean_and_deviation)[2], int threads);

}  // namespace slimline
