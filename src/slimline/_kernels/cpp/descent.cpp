// Dual coordinate descent (Hsieh, Chang, Lin, Keerthi, Sundararajan 2008): each coordinate in turn is set to its best value,
// in an order shuffled anew in every epoch; coordinates that seem settled at a bound are left out ("shrinking") until the
// others are done, and the last epoch looks at all.
#include "descent.hpp"

#include "descent_vectors.hpp"
#include "shuffle.hpp"
#include "table.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

constexpr double infinity = __builtin_huge_val();
SLIMLINE_INLINE double larger(double a, double b) { return a > b ? a : b; }
SLIMLINE_INLINE double smaller(double a, double b) { return a < b ? a : b; }

// K = Z Z^T / lam; v = Z^T (y a) / lam.
template <class T, class V> struct RowSpace {
  const T* z;
  ptrdiff_t stride;
  size_t width;
  V* v;
  double largest_square;

  const T* row(size_t i) const { return z + ptrdiff_t(i) * stride; }
  SLIMLINE_INLINE double product(size_t i, size_t next) const { return dot(row(i), v, row(next), width); }
  SLIMLINE_INLINE void add(size_t i, double amount) { add_row(amount, row(i), v, width); }
  double magnitude() const {
    double sum = 0;
    for (size_t j = 0; j < width; j++) sum += double(v[j]) * double(v[j]);
    return __builtin_sqrt(sum) * __builtin_sqrt(largest_square);
  }
};

template <class Space> Descent descend(Space space, double lam, Coordinate* coordinates, size_t count, uint32_t* order, const Effort& effort) {
  const Key key = key_of(effort.seed);
  Descent done{0, 0, 0.0, 0.0, false};
  for (size_t i = 0; i < count; i++) order[i] = uint32_t(i);
  size_t active = count;
  double low = -infinity, high = infinity;  // gradients beyond these settle a coordinate at its bound
  while (done.epochs < effort.epochs) {
    if (done.epochs + 1 == effort.epochs) active = count, low = -infinity, high = infinity;  // the last looks at all
    const bool whole = active == count;
    shuffle(order, active, effort.first_epoch + done.epochs, key);
    const uint64_t steps_before = done.steps;
    double most = 0, least = 0;  // of the projected gradients
    for (size_t s = 0; s < active; s++) {
      const size_t i = order[s];
      Coordinate& c = coordinates[i];
      const double value = space.product(i, order[s + 1 < active ? s + 1 : s]);
      const double gradient = c.sign * value + c.linear + c.diag * c.a;
      if (!(__builtin_fabs(gradient) < infinity)) {
        done.overflow = true;
        return done;
      }
      const bool at_zero = c.a <= 0, at_upper = c.a >= c.upper;
      if ((at_zero && gradient > high) || (at_upper && gradient < low)) {
        active--;
        order[s] = order[active];
        order[active] = uint32_t(i);
        s--;
        continue;
      }
      if ((at_zero && gradient >= 0) || (at_upper && gradient <= 0)) continue;
      most = larger(most, gradient);
      least = smaller(least, gradient);
      // without curvature the quotient is infinite, and the bound decides
      const double next = smaller(larger(c.a - gradient / c.curvature, 0.0), c.upper);
      const double amount = c.sign * (next - c.a) / lam;
      if (!(next < infinity) || next == c.a || !(__builtin_fabs(amount) < infinity)) continue;
      c.a = next;
      if (c.curvature > c.diag) space.add(i, amount);
      done.steps++;
    }
    done.epochs++;
    done.violation = larger(most, -least);
    done.magnitude = space.magnitude();
    if (!(done.magnitude < infinity)) {
      done.overflow = true;
      return done;
    }
    const bool settled = done.violation <= larger(effort.tolerance, effort.floor * done.magnitude) || done.steps == steps_before;
    if (settled && whole) break;
    if (settled) active = count;
    high = !settled && most > 0 ? most : infinity;
    low = !settled && least < 0 ? least : -infinity;
  }
  return done;
}

template <class T, class V>
Descent descend_rows(const Matrix& z, double lam, Coordinate* coordinates, size_t count, void* state, uint32_t* order, const Effort& effort) {
  const RowSpace<T, V> space{(const T*)z.data, z.stride, z.width, (V*)state, effort.largest_square};
  return descend(space, lam, coordinates, count, order, effort);
}

template <class T> void squares(const Matrix& z, size_t rows, double* out) {
  for (size_t i = 0; i < rows; i++) {
    const T* row = (const T*)z.data + ptrdiff_t(i) * z.stride;
    out[i] = square_norm(row, z.width);
  }
}

template <class T> void combine(const Matrix& z, size_t rows, const double* weight, double* out) {
  for (size_t i = 0; i < rows; i++)
    if (weight[i] != 0) add_row(weight[i], (const T*)z.data + ptrdiff_t(i) * z.stride, out, z.width);
}

template <class T> void add(DescentKernels& kernels) {
  kernels.rows = descend_rows<T, T>;
  kernels.rows_wide = descend_rows<T, double>;
  kernels.squares = squares<T>;
  kernels.combine = combine<T>;
}

}  // namespace

void add_descent_kernels(Kernels& table) {
  add<float>(table.descent[int(Type::f32)]);
  add<double>(table.descent[int(Type::f64)]);
}

}  // namespace slimline::SLIMLINE_ISA
