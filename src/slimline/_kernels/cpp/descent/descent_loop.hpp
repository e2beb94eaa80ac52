// The loop of dual coordinate descent (Hsieh, Chang, Lin, Keerthi, Sundararajan 2008): each coordinate in turn is set to its
// best value, in an order shuffled anew in every epoch; coordinates that seem settled at a bound are left out ("shrinking")
// until the others are done, and the last epoch looks at all.
#pragma once

#include "descent/descent.hpp"
#include "descent/shuffle.hpp"
#include "isa/simd.hpp"

namespace slimline::SLIMLINE_ISA {

constexpr double infinity = __builtin_huge_val();
SLIMLINE_INLINE double larger(double a, double b) { return a > b ? a : b; }
SLIMLINE_INLINE double smaller(double a, double b) { return a < b ? a : b; }

template <class V> double length(const V* v, size_t width) {
  double sum = 0;
  for (size_t j = 0; j < width; j++) sum += double(v[j]) * double(v[j]);
  return __builtin_sqrt(sum);
}

// Visits between the fetch of a coordinate and its use.
constexpr size_t ahead = 8;

// `rows` knows the rows of Z by number: it fetches one, multiplies one with v, adds one to v, and
// where `joined` adds one and multiplies the next with what v then is, at once.
template <class Rows, class V> Descent descend(const Rows& rows, double lam, Coordinate* coordinates, size_t count, V* v, uint32_t* order, const Effort& effort) {
  const Key key = key_of(effort.seed);
  Descent done{0, 0, 0.0, 0.0, false};
  for (size_t i = 0; i < count; i++) order[i] = uint32_t(i);
  size_t active = count;
  double low = -infinity, high = infinity;  // gradients beyond these settle a coordinate at its bound
  while (done.epochs < effort.epochs) {
    effort.look_up();
    if (done.epochs + 1 == effort.epochs) active = count, low = -infinity, high = infinity;  // the last looks at all
    const bool whole = active == count;
    shuffle(order, active, effort.first_epoch + done.epochs, key);
    const uint64_t steps_before = done.steps;
    double most = 0, least = 0;  // of the projected gradients
    double value = 0;            // row · v, where a step before has left it behind
    bool known = false;
    for (size_t s = 0; s < active; s++) {
      if (s + ahead < active) {
        const Coordinate* const later = coordinates + order[s + ahead];
        __builtin_prefetch(later, 1);
        __builtin_prefetch((const char*)(later + 1) - 1, 1);
        rows.fetch(order[s + ahead]);
      }
      const size_t i = order[s];
      Coordinate& c = coordinates[i];
      const size_t after = s + 1 < active ? s + 1 : s;
      if (!known) value = rows.times(i, v, order[after]);
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
      if constexpr (Rows::joined) {
        known = after != s && rows.holds_well(amount);
        if (known) value = rows.add_and_times(amount, i, v, order[after], order[s + 2 < active ? s + 2 : s]);
      }
      if (!known) rows.add(amount, i, v);
    }
    done.epochs++;
    done.violation = larger(most, 0.0 - least);
    done.magnitude = __builtin_sqrt(effort.largest_square) * length(v, rows.width + (rows.constant != 0));
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

}  // namespace slimline::SLIMLINE_ISA
