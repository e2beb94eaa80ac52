// What is done to values on their way into a sum, one or a vector of them: filled, centred.
#pragma once

#include "doubles.hpp"
#include "kernels.hpp"

namespace slimline::SLIMLINE_ISA {

enum Mode { plain, centred, filled };  // filled: and centred

// What is done to the values at some places: V = double for one, vd for as many as a vector has.
template <class S, Mode mode, class V> struct Change {
  V centre{}, fill{}, missing{};
  SLIMLINE_INLINE V operator()(V z) const {
    if constexpr (mode == filled) {
      if constexpr (is_float<S>) z = z == z ? z : fill;
      else z = z == missing ? fill : z;
    }
    if constexpr (mode != plain) z = z - centre;
    return z;
  }
  // of the line l, or of the places from t on
  static SLIMLINE_INLINE Change of_line(const Shift& s, size_t l) {
    Change c;
    if constexpr (mode != plain) c.centre = V{} + s.centre[l];
    if constexpr (mode == filled) c.fill = V{} + s.fill[l], c.missing = V{} + s.missing;
    return c;
  }
  static SLIMLINE_INLINE Change of_place(const Shift& s, size_t t) {
    Change c;
    if constexpr (mode != plain) c.centre = load<V>(s.centre + t);
    if constexpr (mode == filled) c.fill = load<V>(s.fill + t), c.missing = V{} + s.missing;
    return c;
  }
};

template <class V, class S> SLIMLINE_INLINE V value_at(const S* p) {
  if constexpr (sizeof(V) == sizeof(double)) return double(widen(*p));
  else return load_double(p);
}

SLIMLINE_INLINE double sum_of_lanes(vd v) {
  double total = 0;
  for (int i = 0; i < lanes<double>; i++) total += v[i];
  return total;
}

}  // namespace slimline::SLIMLINE_ISA
