// Coordinate descent over the rows of a sparse matrix and a constant column behind them, in float64.
#include "descent/descent_loop.hpp"

#include "isa/table.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

template <class T, class Index> struct SparseRows {
  static constexpr bool joined = false;
  const T* value;
  const Index* index;
  const Index* pointer;
  size_t width;
  double constant;

  explicit SparseRows(const Matrix& z)
      : value((const T*)z.data), index((const Index*)z.index), pointer((const Index*)z.pointer), width(z.width), constant(z.constant) {}

  SLIMLINE_INLINE void fetch(size_t i) const {
    const size_t begin = size_t(pointer[i]), end = size_t(pointer[i + 1]);
    for (size_t k = begin; k < end; k += 64 / sizeof(Index)) __builtin_prefetch(index + k);
    for (size_t k = begin; k < end; k += 64 / sizeof(T)) __builtin_prefetch(value + k);
  }
  // Two sums hide the latency of an addition.
  SLIMLINE_INLINE double times(size_t i, const double* v, size_t) const {
    const size_t end = size_t(pointer[i + 1]);
    size_t k = size_t(pointer[i]);
    double even = constant == 0 ? 0.0 : constant * v[width], odd = 0;
    for (; k + 2 <= end; k += 2) {
      even += double(value[k]) * v[index[k]];
      odd += double(value[k + 1]) * v[index[k + 1]];
    }
    if (k < end) even += double(value[k]) * v[index[k]];
    return even + odd;
  }
  SLIMLINE_INLINE void add(double amount, size_t i, double* v) const {
    for (size_t k = size_t(pointer[i]), end = size_t(pointer[i + 1]); k < end; k++) v[index[k]] += amount * double(value[k]);
    if (constant != 0) v[width] += amount * constant;
  }
};

template <class T, class Index>
Descent descend_rows(const Matrix& z, double lam, Coordinate* coordinates, size_t count, void* v, uint32_t* order, const Effort& effort) {
  return descend(SparseRows<T, Index>(z), lam, coordinates, count, (double*)v, order, effort);
}

template <class T, class Index> void squares(const Matrix& z, size_t rows, double* out) {
  const SparseRows<T, Index> x(z);
  for (size_t i = 0; i < rows; i++) {
    double sum = x.constant * x.constant;
    for (size_t k = size_t(x.pointer[i]), end = size_t(x.pointer[i + 1]); k < end; k++) sum += double(x.value[k]) * double(x.value[k]);
    out[i] = sum;
  }
}

template <class T, class Index> void combine(const Matrix& z, size_t rows, const double* weight, double* out) {
  const SparseRows<T, Index> x(z);
  for (size_t i = 0; i < rows; i++)
    if (weight[i] != 0) x.add(weight[i], i, out);
}

template <class T, class Index> void add(DescentKernels& kernels) {
  kernels.rows_wide = descend_rows<T, Index>;
  kernels.squares = squares<T, Index>;
  kernels.combine = combine<T, Index>;
}

}  // namespace

void add_descent_sparse_kernels(Kernels& table) {
  add<float, int32_t>(table.descent_sparse[int(Type::f32)][0]);
  add<float, int64_t>(table.descent_sparse[int(Type::f32)][1]);
  add<double, int32_t>(table.descent_sparse[int(Type::f64)][0]);
  add<double, int64_t>(table.descent_sparse[int(Type::f64)][1]);
}

}  // namespace slimline::SLIMLINE_ISA
