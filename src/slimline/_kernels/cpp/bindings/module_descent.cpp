// Bindings of coordinate descent: memory, precision, and the exact sums at the end.
#include "bindings/modules.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "bindings/arguments.hpp"
#include "descent/descent.hpp"
#include "base/parallel.hpp"
#include "bindings/without_gil.hpp"

namespace slimline {
namespace {

using Vector = nb::ndarray<nb::ro, double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OwnVector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct Call {
  const DescentKernels* kernels;
  Matrix matrix;
  bool wide;  // in float64 from the start
  bool gram;
  double lam, tolerance;
  uint32_t epochs;
  uint64_t seed;
  std::vector<Coordinate> coordinates;
  double largest_square = 0;
};

// The state in float64, from a alone.
void recompute(const Call& call, std::vector<double>& weight, double* state) {
  const size_t count = call.coordinates.size();
  for (size_t i = 0; i < count; i++) weight[i] = call.coordinates[i].sign * call.coordinates[i].a / call.lam;
  std::fill(state, state + call.matrix.width + (call.matrix.constant != 0), 0.0);
  call.kernels->combine(call.matrix, count, weight.data(), state);
}

// Runs in the precision of the matrix as far as that reaches, and goes on in float64 where it does not.
std::pair<uint32_t, double> descend(Call& call, double* state) {
  const size_t count = call.coordinates.size();
  std::vector<uint32_t> order(count);
  std::vector<double> weight(count);
  std::vector<float> narrow;
  std::vector<double> broad;
  const size_t length = call.matrix.width + (call.matrix.constant != 0);  // of the state
  const size_t room = call.gram ? 3 * gram_padded(count) : length;
  bool wide = call.wide;
  uint32_t epochs = 0;
  double violation = std::numeric_limits<double>::max();
  while (epochs < call.epochs) {
    const double rounding = wide ? 0x1p-53 : 0x1p-24;
    const Effort effort{epochs, call.epochs - epochs, call.tolerance, wide ? 0.0 : 8 * rounding, call.largest_square, call.seed, throw_if_interrupted};
    if (wide) broad.resize(room);
    else narrow.resize(room);
    void* scratch = wide ? static_cast<void*>(broad.data()) : narrow.data();
    Descent done;
    if (call.gram) {
      auto run = wide ? call.kernels->gram_wide : call.kernels->gram;
      done = run(call.matrix, call.lam, call.coordinates.data(), count, state, scratch, order.data(), effort);
    } else {
      if (wide) std::copy(state, state + room, broad.begin());
      else std::copy(state, state + room, narrow.begin());
      auto run = wide ? call.kernels->rows_wide : call.kernels->rows;
      done = run(call.matrix, call.lam, call.coordinates.data(), count, scratch, order.data(), effort);
    }
    epochs += done.epochs;
    recompute(call, weight, state);
    if (done.overflow) {
      violation = std::numeric_limits<double>::max();
      if (wide) break;
      wide = true;
      continue;
    }
    violation = done.violation;
    // each step may have rounded the state, up or down
    const double drift = std::sqrt(double(done.steps)) * rounding * done.magnitude;
    if (violation <= call.tolerance && 4 * drift <= call.tolerance) break;
    if (wide) break;
    wide = violation > call.tolerance || effort.floor * done.magnitude > call.tolerance;
  }
  return {epochs, violation};
}

template <class A> void require_length(const A& vector, size_t length, const char* name) {
  if (vector.shape(0) != length) refuse(std::string(name) + " has the wrong length");
  require_aligned(vector, name);
}

struct Problem {
  Vector y, q, diag, upper;
  double lam;
  OwnVector a, state;
  uint32_t max_epochs;
  double tolerance;
  uint64_t seed;
};

void require_fitting(const Problem& p, size_t rows, size_t columns, double constant) {
  if (!std::isfinite(constant)) refuse("the constant must be finite");
  if (rows == 0 || columns == 0) refuse("the matrix must have a row and a column at least");
  if (rows > std::numeric_limits<uint32_t>::max()) refuse("the matrix has too many rows");
  if (!(p.lam > 0) || !std::isfinite(p.lam) || !(p.tolerance >= 0)) refuse("lam must be positive and finite, and tolerance not negative");
  for (const auto& [vector, name] : {std::pair{&p.y, "y"}, {&p.q, "q"}, {&p.diag, "diag"}, {&p.upper, "upper"}}) require_length(*vector, rows, name);
  require_length(p.a, rows, "a");
  require_length(p.state, columns + (constant != 0), "the state");
}

// `square(out)` writes the diagonal of K.
template <class Squares> nb::tuple run(const DescentKernels& kernels, const Matrix& matrix, bool wide, bool gram, Problem& p, Squares square) {
  const size_t rows = p.a.shape(0);
  Call call{&kernels, matrix, wide, gram, p.lam, p.tolerance, p.max_epochs, p.seed, {}};
  std::pair<uint32_t, double> result;
  without_gil([&] {
    std::vector<double> own_square(rows);
    square(own_square.data());
    call.coordinates.resize(rows);
    bool moved = false;
    for (size_t i = 0; i < rows; i++) {
      const double y = p.y.data()[i], diag = p.diag.data()[i], upper = p.upper.data()[i];
      const double inside = std::min(std::max(p.a.data()[i], 0.0), upper);
      moved |= inside != p.a.data()[i];
      const double own = std::max(own_square[i], 0.0);  // rounding can leave a Gram matrix with a negative diagonal
      call.largest_square = std::max(call.largest_square, own);
      call.coordinates[i] = {inside, y, y * p.q.data()[i] - 1, diag, upper, own / p.lam + diag};
    }
    if (moved) {
      std::vector<double> weight(rows);
      recompute(call, weight, p.state.data());
    }
    result = descend(call, p.state.data());
    for (size_t i = 0; i < rows; i++) p.a.data()[i] = call.coordinates[i].a;
  });
  return nb::make_tuple(result.first, result.second);
}

nb::tuple over_dense(bool gram, const Array& x, double constant, Problem p) {
  const Dense d = dense_of(x);
  if (d.type != Type::f32 && d.type != Type::f64) refuse("the matrix must be float32 or float64");
  if (d.column_stride != 1 || (d.rows > 1 && d.row_stride < ptrdiff_t(d.columns))) refuse("the matrix must be in C order");
  if (gram && d.rows != d.columns) refuse("a Gram matrix must be square");
  require_fitting(p, d.rows, d.columns, constant);
  const DescentKernels& table = kernels().descent[int(d.type)];
  const Matrix matrix{d.data, d.row_stride, d.columns, nullptr, nullptr, constant};
  return run(table, matrix, d.type == Type::f64, gram, p, [&](double* square) {
    if (!gram) return table.squares(matrix, d.rows, square);
    for (size_t i = 0; i < d.rows; i++) {
      const size_t at = i * size_t(d.row_stride) + i;
      square[i] = d.type == Type::f32 ? double(reinterpret_cast<const float*>(d.data)[at]) : reinterpret_cast<const double*>(d.data)[at];
    }
  });
}

template <class Index> void require_sound(const Index* pointer, size_t rows, const Index* index, size_t stored, size_t columns) {
  bool sound = pointer[0] == 0 && size_t(pointer[rows]) == stored;
  for (size_t i = 0; i < rows; i++) sound &= pointer[i] <= pointer[i + 1];
  for (size_t k = 0; k < stored; k++) sound &= index[k] >= 0 && size_t(index[k]) < columns;
  if (!sound) refuse("the sparse matrix is damaged: a row or a column lies outside");
}

nb::tuple descend_rows(const Array& z, double constant, Vector y, Vector q, Vector diag, Vector upper, double lam, OwnVector a, OwnVector v, uint32_t max_epochs, double tolerance, uint64_t seed) {
  return over_dense(false, z, constant, {y, q, diag, upper, lam, a, v, max_epochs, tolerance, seed});
}

nb::tuple descend_gram(const Array& k, Vector y, Vector q, Vector diag, Vector upper, double lam, OwnVector a, OwnVector product, uint32_t max_epochs, double tolerance, uint64_t seed) {
  return over_dense(true, k, 0.0, {y, q, diag, upper, lam, a, product, max_epochs, tolerance, seed});
}

nb::tuple descend_sparse(const Array& pointer, const Array& index, const Array& value, double constant, Vector y, Vector q, Vector diag, Vector upper, double lam, OwnVector a, OwnVector v,
                         uint32_t max_epochs, double tolerance, uint64_t seed) {
  Problem p{y, q, diag, upper, lam, a, v, max_epochs, tolerance, seed};
  if (constant != 0 && v.shape(0) == 0) refuse("the state has the wrong length");
  const size_t columns = v.shape(0) - (constant != 0);
  const Type type = type_of(value.dtype());
  if (type != Type::f32 && type != Type::f64) refuse("the values must be float32 or float64");
  return by_index(index, [&](auto i) {
    using Index = decltype(i);
    const auto parts = [&](auto element) {
      const auto x = compressed_of<Index, decltype(element)>(pointer, index, value, columns);
      return Matrix{value.data(), 0, x.columns, index.data(), pointer.data(), constant};
    };
    const Matrix matrix = type == Type::f32 ? parts(float()) : parts(double());
    const size_t rows = pointer.shape(0) - 1;
    require_fitting(p, rows, matrix.width, constant);
    require_sound(static_cast<const Index*>(pointer.data()), rows, static_cast<const Index*>(index.data()), value.shape(0), matrix.width);
    const DescentKernels& table = kernels().descent_sparse[int(type)][sizeof(Index) == 8];
    return run(table, matrix, true, false, p, [&](double* square) { table.squares(matrix, rows, square); });
  });
}

}  // namespace

void bind_descent(nb::module_& m) {
  using namespace nb::literals;
  m.def("descend_rows", &descend_rows, "z"_a.noconvert(), "constant"_a, "y"_a.noconvert(), "q"_a.noconvert(), "diag"_a.noconvert(), "upper"_a.noconvert(), "lam"_a, "a"_a.noconvert(),
        "v"_a.noconvert(), "max_epochs"_a, "tolerance"_a, "seed"_a, "Coordinate descent on a, with K = z z^T, a constant other than 0 being one column more of z, and v = z^T (y a) / lam; returns epochs and violation.");
  m.def("descend_gram", &descend_gram, "k"_a.noconvert(), "y"_a.noconvert(), "q"_a.noconvert(), "diag"_a.noconvert(), "upper"_a.noconvert(), "lam"_a, "a"_a.noconvert(),
        "product"_a.noconvert(), "max_epochs"_a, "tolerance"_a, "seed"_a, "Coordinate descent on a, with product = k (y a) / lam; returns epochs and violation.");
  m.def("descend_sparse", &descend_sparse, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "constant"_a, "y"_a.noconvert(), "q"_a.noconvert(),
        "diag"_a.noconvert(), "upper"_a.noconvert(), "lam"_a, "a"_a.noconvert(), "v"_a.noconvert(), "max_epochs"_a, "tolerance"_a, "seed"_a,
        "The same as descend_rows for a sparse z.");
}

}  // namespace slimline
