// The pair of a step: the coordinate of the smallest gradient takes weight from the one that gives most for it, which is
// (difference of gradients)^2 / (curvature along the pair) (Fan, Chen and Lin, JMLR 2005). Both rows of Q are then read once.
#include "descent/simplex.hpp"

#include "descent/descent_vectors.hpp"
#include "isa/table.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

constexpr double infinity = __builtin_huge_val();
// A curvature below this share of the two squares is rounding.
constexpr double flattest = 1e-14;
constexpr int steps_between_looks = 256;

// Barriers keep coordinates out of a search: +inf for those of other groups ("rise"), -inf for those and for all at 0 ("fall").
class PairDescent {
 public:
  PairDescent(const SimplexProblem& problem, double* scratch) : p_(problem), padded_(simplex_padded(problem.count)), blocks_(padded_ / simplex_block) {
    gradient_ = scratch;
    diagonal_ = gradient_ + padded_;
    rise_ = diagonal_ + padded_;
    fall_ = rise_ + p_.groups * padded_;
    lowest_ = fall_ + p_.groups * padded_;
    highest_ = lowest_ + p_.groups * blocks_;
    for (size_t k = 0; k < padded_; k++) {
      const bool real = k < p_.count;
      gradient_[k] = real ? p_.gradient[k] : 0.0;
      diagonal_[k] = real ? row(k)[k] : 1.0;
      for (size_t s = 0; s < p_.groups; s++) {
        const bool member = real && p_.group[k] == s;
        rise_[s * padded_ + k] = member ? 0.0 : infinity;
        fall_[s * padded_ + k] = member && p_.a[k] > 0 ? 0.0 : -infinity;
      }
    }
    for (size_t b = 0; b < blocks_; b++) look_at(b);
  }

  SimplexDescent run(const SimplexEffort& effort) {
    SimplexDescent done{0, 0.0};
    for (;;) {
      size_t group = 0;
      done.violation = worst(group);
      if (!(done.violation > effort.tolerance) || done.steps >= effort.steps) break;
      if (done.steps % steps_between_looks == 0) effort.look_up();
      if (!step(group)) break;
      done.steps++;
    }
    for (size_t k = 0; k < p_.count; k++) p_.gradient[k] = gradient_[k];
    return done;
  }

 private:
  SimplexProblem p_;
  size_t padded_, blocks_;
  double *gradient_, *diagonal_, *rise_, *fall_, *lowest_, *highest_;

  const double* row(size_t k) const { return p_.q + ptrdiff_t(k) * p_.stride; }

  void look_at(size_t block) {
    const size_t first = block * simplex_block;
    for (size_t s = 0; s < p_.groups; s++) {
      vd low = vd{} + infinity, high = vd{} - infinity;
      SLIMLINE_UNROLL
      for (size_t k = 0; k < simplex_block; k += lanes<double>) {
        const vd g = load<vd>(gradient_ + first + k);
        const vd up = g + load<vd>(rise_ + s * padded_ + first + k), down = g + load<vd>(fall_ + s * padded_ + first + k);
        low = up < low ? up : low;
        high = down > high ? down : high;
      }
      double least = low[0], most = high[0];
      SLIMLINE_UNROLL
      for (int l = 1; l < lanes<double>; l++) {
        least = low[l] < least ? low[l] : least;
        most = high[l] > most ? high[l] : most;
      }
      lowest_[s * blocks_ + block] = least;
      highest_[s * blocks_ + block] = most;
    }
  }

  double worst(size_t& group) const {
    double violation = -infinity;
    for (size_t s = 0; s < p_.groups; s++) {
      double least = infinity, most = -infinity;
      for (size_t b = 0; b < blocks_; b++) {
        least = lowest_[s * blocks_ + b] < least ? lowest_[s * blocks_ + b] : least;
        most = highest_[s * blocks_ + b] > most ? highest_[s * blocks_ + b] : most;
      }
      if (most - least > violation) {
        violation = most - least;
        group = s;
      }
    }
    return violation;
  }

  size_t lowest_of(size_t group) const {
    size_t block = 0;
    for (size_t b = 1; b < blocks_; b++)
      if (lowest_[group * blocks_ + b] < lowest_[group * blocks_ + block]) block = b;
    const size_t first = block * simplex_block;
    size_t found = first;
    double least = infinity;
    for (size_t k = first; k < first + simplex_block; k++) {
      const double here = gradient_[k] + rise_[group * padded_ + k];
      if (here < least) {
        least = here;
        found = k;
      }
    }
    return found;
  }

  static double curvature(double own, double other, double product) {
    const double along = own + other - 2 * product, least = flattest * (own + other);
    return along > least ? along : least;
  }

  // What a pair with `taker` gains, and -1 for a coordinate that has nothing to give.
  double gain(size_t group, size_t taker, const double* q, size_t k) const {
    const double slope = gradient_[k] + fall_[group * padded_ + k] - gradient_[taker];
    return slope > 0 ? slope * slope / curvature(diagonal_[taker], diagonal_[k], q[k]) : -1.0;
  }

  size_t giver_for(size_t group, size_t taker) const {
    const double* q = row(taker);
    const double* fall = fall_ + group * padded_;
    const vd own = vd{} + diagonal_[taker], here = vd{} + gradient_[taker];
    double best = -1.0;
    size_t block = 0;
    for (size_t b = 0; b < blocks_; b++) {
      const size_t first = b * simplex_block;
      if (!(highest_[group * blocks_ + b] > gradient_[taker])) continue;
      double top = -1.0;
      if (first + simplex_block <= p_.count) {
        vd most = vd{} - 1.0;
        SLIMLINE_UNROLL
        for (size_t k = 0; k < simplex_block; k += lanes<double>) {
          const vd slope = load<vd>(gradient_ + first + k) + load<vd>(fall + first + k) - here;
          const vd sum = own + load<vd>(diagonal_ + first + k), least = flattest * sum;
          vd along = sum - 2.0 * load<vd>(q + first + k);
          along = along > least ? along : least;
          const vd gained = slope > 0.0 ? slope * slope / along : vd{} - 1.0;
          most = gained > most ? gained : most;
        }
        SLIMLINE_UNROLL
        for (int l = 0; l < lanes<double>; l++) top = most[l] > top ? most[l] : top;
      } else {
        for (size_t k = first; k < p_.count; k++) {
          const double gained = gain(group, taker, q, k);
          top = gained > top ? gained : top;
        }
      }
      if (top > best) {
        best = top;
        block = b;
      }
    }
    const size_t first = block * simplex_block, last = first + simplex_block < p_.count ? first + simplex_block : p_.count;
    size_t found = first;
    best = -1.0;
    for (size_t k = first; k < last; k++) {
      const double gained = gain(group, taker, q, k);
      if (gained > best) {
        best = gained;
        found = k;
      }
    }
    return found;
  }

  bool step(size_t group) {
    const size_t taker = lowest_of(group), giver = giver_for(group, taker);
    const double slope = gradient_[giver] - gradient_[taker];
    if (giver == taker || !(slope > 0) || !(p_.a[giver] > 0)) return false;
    double amount = slope / curvature(diagonal_[taker], diagonal_[giver], row(taker)[giver]);
    const bool all = !(amount < p_.a[giver]);
    if (all) amount = p_.a[giver];
    if (!(amount > 0) || (p_.a[taker] + amount == p_.a[taker] && p_.a[giver] - amount == p_.a[giver])) return false;
    p_.a[taker] += amount;
    p_.a[giver] = all ? 0.0 : p_.a[giver] - amount;
    fall_[group * padded_ + taker] = 0.0;
    if (all) fall_[group * padded_ + giver] = -infinity;
    const double *to = row(taker), *from = row(giver);
    const vd factor = vd{} + amount;
    for (size_t b = 0; b < blocks_; b++) {
      const size_t first = b * simplex_block;
      if (first + simplex_block <= p_.count) {
        SLIMLINE_UNROLL
        for (size_t k = 0; k < simplex_block; k += lanes<double>) {
          double* here = gradient_ + first + k;
          store(here, load<vd>(here) + factor * (load<vd>(to + first + k) - load<vd>(from + first + k)));
        }
      } else {
        for (size_t k = first; k < p_.count; k++) gradient_[k] += amount * (to[k] - from[k]);
      }
      look_at(b);
    }
    return true;
  }
};

SimplexDescent descend(const SimplexProblem& problem, double* scratch, const SimplexEffort& effort) { return PairDescent(problem, scratch).run(effort); }

}  // namespace

void add_simplex_kernels(Kernels& table) { table.simplex = descend; }

}  // namespace slimline::SLIMLINE_ISA
