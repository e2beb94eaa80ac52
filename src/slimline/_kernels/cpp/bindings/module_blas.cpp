// BLAS and LAPACK as SciPy exports them, called without the GIL: SciPy's own functions hold it all the while.
#include <limits>

#include "bindings/arguments.hpp"
#include "bindings/modules.hpp"
#include "bindings/without_gil.hpp"

namespace slimline {
namespace {

template <class T> using Syrk = void(const char*, const char*, const int*, const int*, const T*, const T*, const int*, const T*, T*, const int*);
template <class T> using Potrf = void(const char*, const int*, T*, const int*, int*);

int checked(size_t size) {
  if (size > size_t(std::numeric_limits<int>::max())) refuse("BLAS counts in 32 bits: the matrix is too large");
  return int(size);
}

// A square matrix by columns.
void require_square(const Writable& x, size_t n, const char* name) {
  if (x.ndim() != 2 || x.shape(0) != n || x.shape(1) != n) refuse(std::string(name) + " has the wrong shape");
  require_aligned(x, name);
  if ((n > 1 && x.stride(0) != 1) || (n > 1 && x.stride(1) < int64_t(n))) refuse(std::string(name) + " must be in Fortran order");
}

void syrk(nb::capsule routine, Array x, Writable out, bool lower) {
  const Dense d = dense_of(x);
  require_square(out, d.rows, "out");
  if (out.dtype() != x.dtype()) refuse("x and out must have the same element type");
  if (d.rows == 0 || d.columns == 0) return;
  const bool by_row = d.column_stride == 1 && d.columns > 1;
  const int n = checked(d.rows), k = checked(d.columns), lda = checked(size_t(by_row ? d.row_stride : d.column_stride == 1 ? d.rows : d.column_stride));
  const int ldc = n > 1 ? checked(size_t(out.stride(1))) : 1;
  if (!by_row && d.rows > 1 && d.row_stride != 1) refuse("a single column must be contiguous");
  const char triangle = lower ? 'L' : 'U', transposed = by_row ? 'T' : 'N';
  by_result(out, [&](auto zero) {
    using T = decltype(zero);
    const T one = 1;
    auto* call = reinterpret_cast<Syrk<T>*>(routine.data());
    without_gil([&] { call(&triangle, &transposed, &n, &k, &one, reinterpret_cast<const T*>(d.data), &lda, &one, static_cast<T*>(out.data()), &ldc); });
  });
}

int potrf(nb::capsule routine, Writable matrix) {
  require_square(matrix, matrix.ndim() ? matrix.shape(0) : 0, "the matrix");
  const int n = checked(matrix.shape(0)), lda = n > 1 ? checked(size_t(matrix.stride(1))) : 1;
  int info = 0;
  if (n == 0) return info;
  const char triangle = 'L';
  by_result(matrix, [&](auto zero) {
    using T = decltype(zero);
    auto* call = reinterpret_cast<Potrf<T>*>(routine.data());
    without_gil([&] { call(&triangle, &n, static_cast<T*>(matrix.data()), &lda, &info); });
  });
  return info;
}

}  // namespace

void bind_blas(nb::module_& m) {
  using namespace nb::literals;
  m.def("syrk", &syrk, "routine"_a, "x"_a.noconvert(), "out"_a.noconvert(), "lower"_a, "One triangle of out, in Fortran order, += x x^T.");
  m.def("potrf", &potrf, "routine"_a, "matrix"_a.noconvert(), "Cholesky factor in place of the lower triangle; returns LAPACK's info.");
}

}  // namespace slimline
