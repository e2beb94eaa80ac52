// Binding of the descent by pairs on simplices.
#include "bindings/modules.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "bindings/arguments.hpp"
#include "base/parallel.hpp"
#include "bindings/without_gil.hpp"

namespace slimline {
namespace {

using OwnVector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Groups = nb::ndarray<nb::ro, uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::tuple descend_simplex(const Array& q, const Groups& group, OwnVector a, OwnVector gradient, uint64_t max_steps, double tolerance) {
  const Dense d = dense_of(q);
  if (d.type != Type::f64) refuse("q must be float64");
  if (d.column_stride != 1 || (d.rows > 1 && d.row_stride < ptrdiff_t(d.columns))) refuse("q must be in C order");
  if (d.rows != d.columns || d.rows == 0) refuse("q must be square, with a row at least");
  if (group.shape(0) != d.rows || a.shape(0) != d.rows || gradient.shape(0) != d.rows) refuse("group, a and gradient must have one entry for each row of q");
  require_aligned(a, "a");
  require_aligned(gradient, "gradient");
  if (!(tolerance >= 0)) refuse("tolerance must not be negative");
  size_t groups = 0;
  for (size_t k = 0; k < d.rows; k++) groups = std::max(groups, size_t(group.data()[k]) + 1);
  for (size_t k = 0; k < d.rows; k++)
    if (!(a.data()[k] >= 0) || !std::isfinite(a.data()[k]) || !std::isfinite(gradient.data()[k])) refuse("a and gradient must be finite, and a not negative");
  SimplexDescent done{};
  without_gil([&] {
    std::vector<double> scratch(simplex_scratch(d.rows, groups));
    const SimplexProblem problem{reinterpret_cast<const double*>(d.data), d.row_stride, d.rows, groups, group.data(), a.data(), gradient.data()};
    done = kernels().simplex(problem, scratch.data(), {max_steps, tolerance, throw_if_interrupted});
  });
  return nb::make_tuple(done.steps, done.violation);
}

}  // namespace

void bind_simplex(nb::module_& m) {
  using namespace nb::literals;
  m.def("descend_simplex", &descend_simplex, "q"_a.noconvert(), "group"_a.noconvert(), "a"_a.noconvert(), "gradient"_a.noconvert(), "max_steps"_a, "tolerance"_a,
        "Descent by pairs on a, whose sums over groups stay as they are, with gradient = q a - c; returns steps and violation.");
}

}  // namespace slimline
