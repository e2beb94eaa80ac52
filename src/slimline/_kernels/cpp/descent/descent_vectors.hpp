// Dot products and sums of rows, in the precision of the vector that is kept: a float32 row may meet float64.
#pragma once

#include "isa/simd.hpp"

namespace slimline::SLIMLINE_ISA {

SLIMLINE_INLINE vf multiply_add(vf x, vf y, vf z) { return add_signed(x, y, z); }
SLIMLINE_INLINE vd multiply_add(vd x, vd y, vd z) { return add_signed(x, y, z); }

// One vector of V from a row of T.
template <class V, class T> SLIMLINE_INLINE vector_of<V> load_as(const T* p) {
  if constexpr (sizeof(V) == sizeof(T)) {
    return load<vector_of<V>>(p);
  } else {
    typedef float narrow __attribute__((vector_size(vector_bytes / 2)));
    narrow x;
    std::memcpy(&x, p, sizeof x);
    return __builtin_convertvector(x, vector_of<V>);
  }
}

// Halves are added to halves: one after the other, the additions would wait for each other.
template <class V> SLIMLINE_INLINE V total(vector_of<V> x) {
  V part[lanes<V>];
  store(part, x);
  SLIMLINE_UNROLL
  for (int half = lanes<V> / 2; half > 0; half /= 2)
    SLIMLINE_UNROLL
    for (int l = 0; l < half; l++) part[l] += part[l + half];
  return part[0];
}

constexpr int chains = 4;  // independent sums hide the latency of an addition

// x · v; on the way the row that comes next is fetched, a cache line for each that is read here.
template <class T, class V> SLIMLINE_INLINE double dot(const T* x, const V* v, const T* next, size_t width) {
  constexpr size_t step = size_t(chains) * lanes<V>;
  vector_of<V> sum[chains] = {};
  size_t j = 0;
  for (; j + step <= width; j += step) {
    SLIMLINE_UNROLL
    for (size_t b = 0; b < step * sizeof(T); b += 64) __builtin_prefetch((const char*)(next + j) + b);
    SLIMLINE_UNROLL
    for (int k = 0; k < chains; k++)
      sum[k] = multiply_add(load_as<V>(x + j + k * lanes<V>), load<vector_of<V>>(v + j + k * lanes<V>), sum[k]);
  }
  for (; j + lanes<V> <= width; j += lanes<V>) sum[0] = multiply_add(load_as<V>(x + j), load<vector_of<V>>(v + j), sum[0]);
  V rest = 0;
  for (; j < width; j++) rest += V(x[j]) * v[j];
  return double(total<V>((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest);
}

// Whether V holds the amount, and holds it well.
template <class V> SLIMLINE_INLINE bool holds(double amount) {
  const double size = __builtin_fabs(amount);
  return sizeof(V) == sizeof(double) || (size <= 1e30 && size >= 1e-30);
}

// v += amount · x, and the new v · other in the same pass; the row that comes after `other` is fetched. V must hold the amount.
template <class T, class V> SLIMLINE_INLINE double add_and_dot(double amount, const T* x, V* v, const T* other, const T* next, size_t width) {
  constexpr size_t step = size_t(chains) * lanes<V>;
  const V factor = V(amount);
  const vector_of<V> all = vector_of<V>{} + factor;
  vector_of<V> sum[chains] = {};
  size_t j = 0;
  const auto one = [&](size_t at, vector_of<V>& into) {
    const vector_of<V> moved = multiply_add(load_as<V>(x + at), all, load<vector_of<V>>(v + at));
    store(v + at, moved);
    into = multiply_add(load_as<V>(other + at), moved, into);
  };
  for (; j + step <= width; j += step) {
    SLIMLINE_UNROLL
    for (size_t b = 0; b < step * sizeof(T); b += 64) __builtin_prefetch((const char*)(next + j) + b);
    SLIMLINE_UNROLL
    for (int k = 0; k < chains; k++) one(j + size_t(k) * lanes<V>, sum[k]);
  }
  for (; j + lanes<V> <= width; j += lanes<V>) one(j, sum[0]);
  V rest = 0;
  for (; j < width; j++) {
    v[j] += factor * V(x[j]);
    rest += V(other[j]) * v[j];
  }
  return double(total<V>((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest);
}

// y += amount · x
template <class T, class V> SLIMLINE_INLINE void add_row(double amount, const T* x, V* y, size_t width) {
  if (!holds<V>(amount)) {
    for (size_t j = 0; j < width; j++) y[j] = V(double(y[j]) + amount * double(x[j]));
    return;
  }
  const V factor = V(amount);
  const vector_of<V> all = vector_of<V>{} + factor;
  size_t j = 0;
  for (; j + lanes<V> <= width; j += lanes<V>) store(y + j, multiply_add(load_as<V>(x + j), all, load<vector_of<V>>(y + j)));
  for (; j < width; j++) y[j] += factor * V(x[j]);
}

// The same for a few rows at once, so that y is loaded and stored once for all.
constexpr size_t combined_rows = 4;
template <class T> SLIMLINE_INLINE void add_rows(const double* amount, const T* const* x, double* y, size_t width) {
  size_t j = 0;
  for (; j + lanes<double> <= width; j += lanes<double>) {
    vd sum = load<vd>(y + j);
    SLIMLINE_UNROLL
    for (size_t k = 0; k < combined_rows; k++) sum = multiply_add(load_as<double>(x[k] + j), vd{} + amount[k], sum);
    store(y + j, sum);
  }
  for (; j < width; j++)
    for (size_t k = 0; k < combined_rows; k++) y[j] += amount[k] * double(x[k][j]);
}

// Squares of float32 can leave its range: summed in float64.
template <class T> SLIMLINE_INLINE double square_norm(const T* x, size_t width) {
  vd sum[chains] = {};
  constexpr size_t step = size_t(chains) * lanes<double>;
  size_t j = 0;
  for (; j + step <= width; j += step)
    SLIMLINE_UNROLL
    for (int k = 0; k < chains; k++) {
      const vd value = load_as<double>(x + j + k * lanes<double>);
      sum[k] = multiply_add(value, value, sum[k]);
    }
  double rest = 0;
  for (; j < width; j++) rest += double(x[j]) * double(x[j]);
  return total<double>((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest;
}

}  // namespace slimline::SLIMLINE_ISA
