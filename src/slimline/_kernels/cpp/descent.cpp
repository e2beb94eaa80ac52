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

template <class V> double length(const V* v, size_t width) {
  double sum = 0;
  for (size_t j = 0; j < width; j++) sum += double(v[j]) * double(v[j]);
  return __builtin_sqrt(sum);
}

// Visits between the fetch of a coordinate and its use. A short row is fetched as early: its neighbour's products are done
// before it could arrive. Of a long one, that would put more on the way than the CPU can wait for.
constexpr size_t ahead = 8;
constexpr size_t short_row = 512;  // bytes

template <class T> SLIMLINE_INLINE void fetch_early(const Coordinate* c, const T* row, size_t width) {
  __builtin_prefetch(c, 1);
  __builtin_prefetch((const char*)(c + 1) - 1, 1);
  if (width * sizeof(T) > short_row) return;
  for (size_t b = 0; b < width * sizeof(T); b += 64) __builtin_prefetch((const char*)row + b);
}

template <class T, class V>
Descent descend_rows(const Matrix& z, double lam, Coordinate* coordinates, size_t count, void* state, uint32_t* order, const Effort& effort) {
  const T* const first = (const T*)z.data;
  V* const v = (V*)state;
  const auto row = [&](size_t place) { return first + ptrdiff_t(order[place]) * z.stride; };
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
    double value = 0;            // row · v, where a step before has left it behind
    bool known = false;
    for (size_t s = 0; s < active; s++) {
      if (s + ahead < active) fetch_early(coordinates + order[s + ahead], row(s + ahead), z.width);
      const size_t i = order[s];
      Coordinate& c = coordinates[i];
      const size_t after = s + 1 < active ? s + 1 : s;
      if (!known) value = dot(row(s), v, row(after), z.width);
      known = false;
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
      done.steps++;
      if (!(c.curvature > c.diag)) continue;  // a row of zeros
      known = after != s && holds<V>(amount);
      if (known) value = add_and_dot(amount, row(s), v, row(after), row(s + 2 < active ? s + 2 : s), z.width);
      else add_row(amount, row(s), v, z.width);
    }
    done.epochs++;
    done.violation = larger(most, 0.0 - least);
    done.magnitude = __builtin_sqrt(effort.largest_square) * length(v, z.width);
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

template <class T> void squares(const Matrix& z, size_t rows, double* out) {
  for (size_t i = 0; i < rows; i++) {
    const T* row = (const T*)z.data + ptrdiff_t(i) * z.stride;
    out[i] = square_norm(row, z.width);
  }
}

template <class T> void combine(const Matrix& z, size_t rows, const double* weight, double* out) {
  const T* row[combined_rows];
  double amount[combined_rows];
  size_t found = 0;
  for (size_t i = 0; i < rows; i++) {
    if (weight[i] == 0) continue;
    row[found] = (const T*)z.data + ptrdiff_t(i) * z.stride;
    amount[found] = weight[i];
    if (++found < combined_rows) continue;
    add_rows(amount, row, out, z.width);
    found = 0;
  }
  for (size_t k = 0; k < found; k++) add_row(amount[k], row[k], out, z.width);
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
