// What is done to values on their way into a sum, one or a vector of them: missing ones imputed, centred.
#pragma once

#include "isa/doubles.hpp"
#include "isa/kernels.hpp"

namespace slimline::SLIMLINE_ISA {

enum Mode { plain, centred, filled };  // filled: and centred

// What is done to the values at some elements: V = double for one, vd for as many as a vector has.
template <class T, Mode mode, class V> struct Transform {
  V centre{}, fill{}, missing{};
  SLIMLINE_INLINE V operator()(V z) const {
    if constexpr (mode == filled && is_float<T>) z = z == z ? z : fill;
    if constexpr (mode == filled && !is_float<T>) z = z == missing ? fill : z;
    if constexpr (mode != plain) z = z - centre;
    return z;
  }
  // of line l, or of the elements from t on
  static SLIMLINE_INLINE Transform of_line(const Shift& s, size_t l) {
    Transform c;
    if constexpr (mode != plain) c.centre = V{} + s.centre[l];
    if constexpr (mode == filled) c.fill = V{} + s.fill[l], c.missing = V{} + s.missing;
    return c;
  }
  static SLIMLINE_INLINE Transform of_element(const Shift& s, size_t t) {
    Transform c;
    if constexpr (mode != plain) c.centre = load<V>(s.centre + t);
    if constexpr (mode == filled) c.fill = load<V>(s.fill + t), c.missing = V{} + s.missing;
    return c;
  }
};

template <class V, class T> SLIMLINE_INLINE V value_at(const T* p) {
  if constexpr (sizeof(V) == sizeof(double)) return double(*p);
  else return load_double(p);
}

SLIMLINE_INLINE double sum_of_lanes(vd v) {
  double total = 0;
  for (int i = 0; i < lanes<double>; i++) total += v[i];
  return total;
}

}  // namespace slimline::SLIMLINE_ISA
