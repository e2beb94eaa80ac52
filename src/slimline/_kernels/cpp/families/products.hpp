// X R and V R^T: the work cut into pieces, scratch memory owned, threads started.
//
// `feature` is the number of X's first column in R, so a panel of columns can be projected alone and added.
#pragma once

#include "isa/kernels.hpp"

namespace slimline {

// A dense block of X with one stride equal to 1 (strides in elements).
struct Dense {
  Type type;
  const char* data;
  size_t rows, columns;
  ptrdiff_t row_stride, column_stride;
  size_t item() const;
  const char* at(size_t row, size_t column) const {
    return data + (ptrdiff_t(row) * row_stride + ptrdiff_t(column) * column_stride) * ptrdiff_t(item());
  }
};

// Genotypes of two bits, one row of bytes a variant, `stride` apart.
struct Packed {
  const uint8_t* data;
  size_t variants, samples;
  ptrdiff_t stride;
};

// What is done to the values of each column: a missing one counts as `fill`, the mean is subtracted, the rest multiplied with the scale.
// One number a column, or null: not done.
struct ColumnTransform {
  const double *mean = nullptr, *scale = nullptr, *fill = nullptr;
};

// CSR (or CSC, read as the rows of the transpose), T = float or double. Indices are checked as they are read.
template <class Index, class T> struct Compressed {
  const Index* pointer;
  const Index* index;
  const T* value;
  size_t rows, columns, stored;
};

// C order, `stride` elements from row to row; what is there is kept and added to when `accumulate`.
template <class T> struct Out {
  T* data;
  size_t rows, columns, stride;
  bool accumulate;
};

// BLAS, as SciPy exports it.
struct Blas {
  using Sgemm = void(const char*, const char*, const int*, const int*, const int*, const float*, const float*,
                     const int*, const float*, const int*, const float*, float*, const int*);
  using Dgemm = void(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                     const int*, const double*, const int*, const double*, double*, const int*);
  Sgemm* sgemm;
  Dgemm* dgemm;
};

template <class T> void dense_product(const DenseRows&, const Blas&, const Dense& x, uint64_t feature, double scale, Out<T>, int threads);
template <class T> void sign_product(const DenseRows&, const Dense& x, uint64_t feature, double scale, Out<T>, int threads);
template <class T> void dense_lift(const DenseRows&, const Blas&, const T* v, size_t rows, uint64_t feature, double scale, Out<T>, int threads);
template <class Index, class T>
void dense_sparse_rows(const DenseRows&, const Compressed<Index, T>& x, uint64_t feature, double scale, Out<T>, int threads);
template <class Index, class T>
void dense_sparse_columns(const DenseRows&, const Compressed<Index, T>& x_by_column, uint64_t feature, double scale, Out<T>, int threads);

template <class T> void scatter_product(const Scatter&, const Dense& x, uint64_t feature, double scale, Out<T>, int threads);
// The same, added to what is there, each value imputed, centred and scaled on the way. False: float32 does not hold what is done to
// some column, and nothing was added. Rows in C order need the grouped hash.
template <class T>
bool scatter_standard(const Scatter&, const Dense& x, const Missing&, const ColumnTransform&, uint64_t feature, double scale, Out<T>, int threads);
// The same for packed genotypes. False: this instruction set has no kernel for them.
bool scatter_genotypes(const Scatter&, const Packed& x, const ColumnTransform&, uint64_t feature, double scale, Out<float>, int threads);
template <class Index, class T>
void scatter_compressed(const Scatter&, const Compressed<Index, T>& x, uint64_t feature, double scale, Out<T>, int threads);
template <class T> void scatter_lift(const Scatter&, const T* v, size_t rows, uint64_t feature, double scale, Out<T>, int threads);
// every entry of R's rows [feature, feature + count): (column << 1 | negative), and where each row begins
void scatter_rows(const Scatter&, uint64_t feature, size_t count, uint32_t* pointer, Entry* entries);
size_t scatter_count(const Scatter&, uint64_t feature, size_t count);

template <class T> void hadamard_product(const Hadamard&, uint64_t seed, const Dense& x, uint64_t feature, double scale, Out<T>, int threads);
template <class Index, class T>
void hadamard_compressed(const Hadamard&, uint64_t seed, const Compressed<Index, T>& x, uint64_t feature, double scale, Out<T>, int threads);
template <class T> void hadamard_lift(const Hadamard&, uint64_t seed, const T* v, size_t rows, uint64_t feature, double scale, Out<T>, int threads);
void hadamard_samples(uint64_t seed, uint64_t size, size_t count, bool replace, uint32_t* out);

}  // namespace slimline
