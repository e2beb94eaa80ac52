// Coordinate descent with K written out: a step costs a row of K, and in return every gradient is known.
//
// So steps are spent on the largest gradients alone. Each sweep takes the coordinates whose gradient, over the root of the
// curvature, is at least `share` of the largest of the sweep before: that needs a third of the steps of shuffled epochs and
// hardly more than choosing the very largest each time, but looks at all only once for many steps. Blocks are visited in an
// order shuffled anew in every sweep: in a fixed one, data with a strong direction took ten times the steps.
#include "descent/descent.hpp"
#include "descent/descent_vectors.hpp"
#include "descent/shuffle.hpp"
#include "isa/table.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

constexpr double infinity = __builtin_huge_val();
constexpr double share = 0.6;
SLIMLINE_INLINE double larger(double a, double b) { return a > b ? a : b; }
SLIMLINE_INLINE double smaller(double a, double b) { return a < b ? a : b; }

// `slope` is y times the gradient: K (y a) / lam + q - y + y diag a. A slope above zero counts `above` times, one below zero
// `below` times: zero where the coordinate is at the bound that it would leave, else a weight by curvature.
template <class T, class V> class GramDescent {
 public:
  GramDescent(const Matrix& k, double lam, Coordinate* coordinates, size_t count, const double* product, V* scratch, double largest_square)
      : k_((const T*)k.data), stride_(k.stride), lam_(lam), largest_square_(largest_square), coordinates_(coordinates), count_(count),
        slope_(scratch), above_(scratch + gram_padded(count)), below_(above_ + gram_padded(count)) {
    for (size_t i = 0; i < 3 * gram_padded(count); i++) scratch[i] = 0;
    for (size_t i = 0; i < count; i++) {
      const Coordinate& c = coordinates[i];
      slope_[i] = V(product[i] + c.sign * (c.linear + c.diag * c.a));
      largest_curvature_ = larger(largest_curvature_, c.curvature);
    }
  }

  Descent run(uint32_t* order, const Effort& effort) {
    const Key key = key_of(effort.seed);
    const size_t blocks = gram_padded(count_) / gram_block;
    const uint64_t most_work = uint64_t(effort.epochs) * count_;
    for (size_t b = 0; b < blocks; b++) order[b] = uint32_t(b);
    Descent done{0, 0, 0.0, 0.0, false};
    uint64_t sweeps = 0, steps_marked = 0;
    double largest = mark_all();
    measure(done);
    while (!done.overflow && !settled(done, effort) && sweeps < most_work && steps_ < most_work) {
      if (largest <= 0) {  // what is left could not move; where others have moved since, it may be able to now
        if (steps_ == steps_marked) break;
        steps_marked = steps_;
        largest = mark_all();
        measure(done);
        continue;
      }
      if (sweeps % 64 == 0) effort.look_up();
      shuffle(order, blocks, uint32_t(effort.first_epoch + sweeps), key);
      largest = sweep(order, blocks, V(share * largest));
      sweeps++;
      // a weight is at least 1, so that no gradient is larger than what it counts
      if (overflow_ || largest <= larger(effort.tolerance, effort.floor * done.magnitude) * heaviest_ || sweeps % 64 == 0) measure(done);
    }
    measure(done);
    const uint64_t work = steps_ > sweeps ? steps_ : sweeps;
    done.epochs = uint32_t(work / count_ + (work % count_ != 0));
    if (done.epochs == 0) done.epochs = 1;
    done.steps = steps_;
    return done;
  }

 private:
  const T* k_;
  ptrdiff_t stride_;
  double lam_, largest_square_;
  Coordinate* coordinates_;
  size_t count_;
  V *slope_, *above_, *below_;
  double largest_curvature_ = 0, heaviest_ = 1;
  uint64_t steps_ = 0;
  bool overflow_ = false;

  static bool settled(const Descent& done, const Effort& effort) {
    return done.violation <= larger(effort.tolerance, effort.floor * done.magnitude);
  }

  SLIMLINE_INLINE V counted(size_t i) const {
    const V up = slope_[i] * above_[i], down = -slope_[i] * below_[i];
    return up > down ? up : down;
  }

  void mark(size_t i) {
    const Coordinate& c = coordinates_[i];
    const double weight = c.curvature > 0 ? smaller(__builtin_sqrt(largest_curvature_ / c.curvature), 1e6) : 1.0;
    heaviest_ = larger(heaviest_, weight);
    const V rises = c.a < c.upper ? V(weight) : V(0), falls = c.a > 0 ? V(weight) : V(0);
    above_[i] = c.sign > 0 ? falls : rises;
    below_[i] = c.sign > 0 ? rises : falls;
  }

  double mark_all() {
    V largest = 0;
    for (size_t i = 0; i < count_; i++) {
      mark(i);
      const V here = counted(i);
      largest = here > largest ? here : largest;
    }
    return double(largest);
  }

  // The violation as it is now; the magnitude as it was at its largest, for that is when rounding did most.
  void measure(Descent& done) {
    done.violation = 0;
    for (size_t i = 0; i < count_; i++) {
      const Coordinate& c = coordinates_[i];
      const double slope = double(slope_[i]), gradient = c.sign * slope;
      if (!(__builtin_fabs(slope) < infinity)) overflow_ = true;
      done.magnitude = larger(done.magnitude, __builtin_fabs(slope));
      if ((gradient > 0 && c.a > 0) || (gradient < 0 && c.a < c.upper)) done.violation = larger(done.violation, __builtin_fabs(gradient));
    }
    done.overflow = overflow_;
  }

  void step(size_t i) {
    Coordinate& c = coordinates_[i];
    const double gradient = c.sign * double(slope_[i]);
    // without curvature the quotient is infinite, and the bound decides
    const double next = smaller(larger(c.a - gradient / c.curvature, 0.0), c.upper);
    const double change = next - c.a, amount = c.sign * change / lam_;
    const double reach = sizeof(V) == sizeof(float) ? 1e30 : 1e300;
    const bool far = !(__builtin_fabs(amount) * largest_square_ < reach) || !(next < infinity);
    if (far && sizeof(V) == sizeof(float)) overflow_ = true;
    if (far || change == 0) {
      above_[i] = below_[i] = 0;
      return;
    }
    c.a = next;
    steps_++;
    if (c.curvature > c.diag) add_row(amount, k_ + ptrdiff_t(i) * stride_, slope_, count_);
    slope_[i] += V(c.sign * c.diag * change);
    mark(i);
  }

  // Returns the largest that a slope counted when it was looked at.
  double sweep(const uint32_t* order, size_t blocks, V threshold) {
    using W = vector_of<V>;
    V largest = 0;
    for (size_t b = 0; b < blocks && !overflow_; b++) {
      const size_t first = size_t(order[b]) * gram_block;
      W most{};
      SLIMLINE_UNROLL
      for (size_t j = 0; j < gram_block; j += lanes<V>) {
        const W slope = load<W>(slope_ + first + j);
        const W up = slope * load<W>(above_ + first + j), down = -slope * load<W>(below_ + first + j);
        const W here = up > down ? up : down;
        most = here > most ? here : most;
      }
      V top = most[0];
      SLIMLINE_UNROLL
      for (int l = 1; l < lanes<V>; l++) top = most[l] > top ? most[l] : top;
      if (top >= threshold) {
        top = 0;
        for (size_t i = first; i < first + gram_block; i++) {
          const V here = counted(i);
          top = here > top ? here : top;
          if (here >= threshold && here > 0) step(i);
        }
      }
      largest = top > largest ? top : largest;
    }
    return double(largest);
  }
};

template <class T, class V>
Descent descend(const Matrix& k, double lam, Coordinate* coordinates, size_t count, const double* product, void* scratch, uint32_t* order, const Effort& effort) {
  return GramDescent<T, V>(k, lam, coordinates, count, product, (V*)scratch, effort.largest_square).run(order, effort);
}

template <class T> void add(DescentKernels& kernels) {
  kernels.gram = descend<T, T>;
  kernels.gram_wide = descend<T, double>;
}

}  // namespace

void add_descent_gram_kernels(Kernels& table) {
  add<float>(table.descent[int(Type::f32)]);
  add<double>(table.descent[int(Type::f64)]);
}

}  // namespace slimline::SLIMLINE_ISA
