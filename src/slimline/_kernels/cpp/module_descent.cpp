// Bindings of coordinate descent: memory, precision, and the exact sums at the end.
#include "module_descent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "descent.hpp"
#include "without_gil.hpp"

namespace slimline {
namespace {

using Vector = nb::ndarray<nb::ro, double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OwnVector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct Call {
  const DescentKernels* kernels;
  Matrix matrix;
  size_t item;  // bytes an element
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
  std::fill(state, state + call.matrix.width, 0.0);
  call.kernels->combine(call.matrix, count, weight.data(), state);
}

// Runs in the precision of the matrix as far as that reaches, and goes on in float64 where it does not.
std::pair<uint32_t, double> descend(Call& call, double* state) {
  const size_t count = call.coordinates.size();
  std::vector<uint32_t> order(count);
  std::vector<double> weight(count);
  std::vector<float> narrow;
  std::vector<double> broad;
  const size_t room = call.gram ? 3 * gram_padded(count) : call.matrix.width;
  bool wide = call.item == sizeof(double);
  uint32_t epochs = 0;
  double violation = std::numeric_limits<double>::max();
  while (epochs < call.epochs) {
    const double rounding = wide ? 0x1p-53 : 0x1p-24;
    const Effort effort{epochs, call.epochs - epochs, call.tolerance, wide ? 0.0 : 8 * rounding, call.largest_square, call.seed};
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

nb::tuple start(bool gram, const Array& x, const Vector& y, const Vector& q, const Vector& diag, const Vector& upper, double lam, OwnVector& a, OwnVector& state,
                uint32_t max_epochs, double tolerance, uint64_t seed) {
  const Dense d = dense_of(x);
  if (d.type != Type::f32 && d.type != Type::f64) refuse("the matrix must be float32 or float64");
  if (d.column_stride != 1 || (d.rows > 1 && d.row_stride < ptrdiff_t(d.columns))) refuse("the matrix must be in C order");
  if (d.rows == 0 || d.columns == 0) refuse("the matrix must have a row and a column at least");
  if (gram && d.rows != d.columns) refuse("a Gram matrix must be square");
  if (d.rows > std::numeric_limits<uint32_t>::max()) refuse("the matrix has too many rows");
  if (!(lam > 0) || !std::isfinite(lam) || !(tolerance >= 0)) refuse("lam must be positive and finite, and tolerance not negative");
  for (const auto& [vector, name] : {std::pair{&y, "y"}, {&q, "q"}, {&diag, "diag"}, {&upper, "upper"}}) require_length(*vector, d.rows, name);
  require_length(a, d.rows, "a");
  require_length(state, d.columns, "the state");
  Call call{&kernels().descent[int(d.type)], {d.data, d.row_stride, d.columns}, d.item(), gram, lam, tolerance, max_epochs, seed, {}};
  std::pair<uint32_t, double> result;
  without_gil([&] {
    std::vector<double> square(d.rows);
    if (gram) {
      for (size_t i = 0; i < d.rows; i++) {
        const size_t at = i * size_t(d.row_stride) + i;
        square[i] = d.type == Type::f32 ? double(reinterpret_cast<const float*>(d.data)[at]) : reinterpret_cast<const double*>(d.data)[at];
      }
    } else {
      call.kernels->squares(call.matrix, d.rows, square.data());
    }
    call.coordinates.resize(d.rows);
    bool moved = false;
    for (size_t i = 0; i < d.rows; i++) {
      const double inside = std::min(std::max(a.data()[i], 0.0), upper.data()[i]);
      moved |= inside != a.data()[i];
      const double own = std::max(square[i], 0.0);  // rounding can leave a Gram matrix with a negative diagonal
      call.largest_square = std::max(call.largest_square, own);
      call.coordinates[i] = {inside, y.data()[i], y.data()[i] * q.data()[i] - 1, diag.data()[i], upper.data()[i], own / lam + diag.data()[i]};
    }
    if (moved) {
      std::vector<double> weight(d.rows);
      recompute(call, weight, state.data());
    }
    result = descend(call, state.data());
    for (size_t i = 0; i < d.rows; i++) a.data()[i] = call.coordinates[i].a;
  });
  return nb::make_tuple(result.first, result.second);
}

nb::tuple descend_rows(const Array& z, Vector y, Vector q, Vector diag, Vector upper, double lam, OwnVector a, OwnVector v, uint32_t max_epochs, double tolerance, uint64_t seed) {
  return start(false, z, y, q, diag, upper, lam, a, v, max_epochs, tolerance, seed);
}

nb::tuple descend_gram(const Array& k, Vector y, Vector q, Vector diag, Vector upper, double lam, OwnVector a, OwnVector product, uint32_t max_epochs, double tolerance, uint64_t seed) {
  return start(true, k, y, q, diag, upper, lam, a, product, max_epochs, tolerance, seed);
}

}  // namespace

void bind_descent(nb::module_& m) {
  using namespace nb::literals;
  m.def("descend_rows", &descend_rows, "z"_a.noconvert(), "y"_a.noconvert(), "q"_a.noconvert(), "diag"_a.noconvert(), "upper"_a.noconvert(), "lam"_a, "a"_a.noconvert(),
        "v"_a.noconvert(), "max_epochs"_a, "tolerance"_a, "seed"_a, "Coordinate descent on a, with K = z z^T and v = z^T (y a) / lam; returns epochs and violation.");
  m.def("descend_gram", &descend_gram, "k"_a.noconvert(), "y"_a.noconvert(), "q"_a.noconvert(), "diag"_a.noconvert(), "upper"_a.noconvert(), "lam"_a, "a"_a.noconvert(),
        "product"_a.noconvert(), "max_epochs"_a, "tolerance"_a, "seed"_a, "Coordinate descent on a, with product = k (y a) / lam; returns epochs and violation.");
}

}  // namespace slimline
