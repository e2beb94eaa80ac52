// Dual coordinate descent (Hsieh, Chang, Lin, Keerthi, Sundararajan 2008): each coordinate in turn is set to its best value,
// in an order shuffled anew in every epoch; coordinates that seem settled at a bound are left out ("shrinking") until the
// others are done, and the last epoch looks at all.
#include "descent.hpp"

#include "descent_vectors.hpp"
#include "philox.hpp"
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

// K / lam; g = K (y a) / lam.
template <class T, class V> struct GramSpace {
  const T* k;
  ptrdiff_t stride;
  size_t width;
  V* g;

  SLIMLINE_INLINE double product(size_t i, size_t) const { return double(g[i]); }
  SLIMLINE_INLINE void add(size_t i, double amount) { add_row(amount, k + ptrdiff_t(i) * stride, g, width); }
  double magnitude() const {
    double most = 0;
    for (size_t j = 0; j < width; j++) most = larger(most, __builtin_fabs(double(g[j])));
    return most;
  }
};

void shuffle(uint32_t* order, size_t count, uint32_t epoch, Key key) {
  constexpr size_t batch = 256;
  uint32_t words[batch];
  for (size_t s = 0; s < count; s += batch) {
    const size_t here = count - s < batch ? count - s : batch;
    fill_words(s / 4, (here + 3) / 4, epoch, stream_descent, key, words);
    for (size_t k = 0; k < here; k++) {
      const size_t other = s + k + size_t((uint64_t(words[k]) * (count - s - k)) >> 32);
      const uint32_t kept = order[s + k];
      order[s + k] = order[other];
      order[other] = kept;
    }
  }
}

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

template <class T, class V>
Descent descend_gram(const Matrix& k, double lam, Coordinate* coordinates, size_t count, void* state, uint32_t* order, const Effort& effort) {
  const GramSpace<T, V> space{(const T*)k.data, k.stride, k.width, (V*)state};
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

template <class T> DescentKernels built() {
  return {descend_rows<T, T>, descend_rows<T, double>, descend_gram<T, T>, descend_gram<T, double>, squares<T>, combine<T>};
}

}  // namespace

void add_descent_kernels(Kernels& table) {
  table.descent[int(Type::f32)] = built<float>();
  table.descent[int(Type::f64)] = built<double>();
}

}  // namespace slimline::SLIMLINE_ISA
