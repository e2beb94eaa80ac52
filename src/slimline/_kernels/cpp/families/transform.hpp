// The Walsh-Hadamard transform of one row, unnormalised, in Sylvester's order: entry (i, s) of H is
// (-1)^popcount(i & s).
//
// Four stages of butterflies at a time over vectors held in registers; blocks that fit the first-level cache
// are finished before the stages above them, which take three at a time (more would need more cache lines in
// one set than it has).
#pragma once

#include "isa/simd.hpp"

namespace slimline::SLIMLINE_ISA {

template <class T, int radix> SLIMLINE_INLINE void butterflies(vector_of<T>* a) {
  using V = vector_of<T>;
  SLIMLINE_UNROLL
  for (int h = 1; h < radix; h *= 2)
    SLIMLINE_UNROLL
    for (int i = 0; i < radix; i++)
      if (!(i & h)) {
        V x = a[i], y = a[i + h];
        a[i] = x + y;
        a[i + h] = x - y;
      }
}

// One stage inside a vector: partners are `h` lanes apart.
template <class T, int h> SLIMLINE_INLINE vector_of<T> stage(vector_of<T> x) {
  using V = vector_of<T>;
  V sign;
  SLIMLINE_UNROLL
  for (int i = 0; i < lanes<T>; i++) sign[i] = (i & h) ? T(-1) : T(1);
  V partner;
  if constexpr (lanes<T> == 2) partner = __builtin_shufflevector(x, x, 1, 0);
  else if constexpr (lanes<T> == 4) partner = __builtin_shufflevector(x, x, 0 ^ h, 1 ^ h, 2 ^ h, 3 ^ h);
  else if constexpr (lanes<T> == 8)
    partner = __builtin_shufflevector(x, x, 0 ^ h, 1 ^ h, 2 ^ h, 3 ^ h, 4 ^ h, 5 ^ h, 6 ^ h, 7 ^ h);
  else
    partner = __builtin_shufflevector(x, x, 0 ^ h, 1 ^ h, 2 ^ h, 3 ^ h, 4 ^ h, 5 ^ h, 6 ^ h, 7 ^ h, 8 ^ h, 9 ^ h, 10 ^ h,
                                      11 ^ h, 12 ^ h, 13 ^ h, 14 ^ h, 15 ^ h);
  return add_signed(x, sign, partner);
}
template <class T> SLIMLINE_INLINE vector_of<T> within(vector_of<T> x) {
  x = stage<T, 1>(x);
  if constexpr (lanes<T> > 2) x = stage<T, 2>(x);
  if constexpr (lanes<T> > 4) x = stage<T, 4>(x);
  if constexpr (lanes<T> > 8) x = stage<T, 8>(x);
  return x;
}

// The first stages, into p[0..n), from a source: source(b, k) is the vector of values b + k, b + k + 1, …, with b a
// multiple of 32 and k known when it is compiled.
template <class T, int radix, class Source> SLIMLINE_INLINE void first_pass(Source source, T* p, size_t n) {
  for (size_t b = 0; b < n; b += size_t(radix * lanes<T>)) {
    vector_of<T> a[radix];
    SLIMLINE_UNROLL
    for (int k = 0; k < radix; k++) a[k] = within<T>(source(b, k * lanes<T>));
    butterflies<T, radix>(a);
    SLIMLINE_UNROLL
    for (int k = 0; k < radix; k++) store(p + b + size_t(k * lanes<T>), a[k]);
  }
}

template <class T, int radix> SLIMLINE_INLINE void pass(T* p, size_t n, size_t stride) {
  using V = vector_of<T>;
  for (size_t b = 0; b < n; b += radix * stride)
    for (size_t i = 0; i < stride; i += lanes<T>) {
      V a[radix];
      T* q = p + b + i;
      SLIMLINE_UNROLL
      for (int k = 0; k < radix; k++) a[k] = load<V>(q + size_t(k) * stride);
      butterflies<T, radix>(a);
      SLIMLINE_UNROLL
      for (int k = 0; k < radix; k++) store(q + size_t(k) * stride, a[k]);
    }
}

template <class T> void passes(T* p, size_t n, size_t stride) {
  while (stride < n) {
    const size_t left = n / stride;
    if (left >= 8) { pass<T, 8>(p, n, stride); stride *= 8; }
    else if (left == 4) { pass<T, 4>(p, n, stride); stride *= 4; }
    else { pass<T, 2>(p, n, stride); stride *= 2; }
  }
}

template <class T> constexpr int first_radix = lanes<T> == 16 || lanes<T> == 2 ? 16 : 8;
template <class T> constexpr size_t smallest = size_t(first_radix<T>) * lanes<T>;  // below: plain loops
template <class T> constexpr size_t cached = 16384 / sizeof(T);  // half of a small first-level cache

template <class T> void transform_small(T* p, size_t n) {
  for (size_t h = 1; h < n; h *= 2)
    for (size_t b = 0; b < n; b += 2 * h)
      for (size_t i = b; i < b + h; i++) {
        T x = p[i], y = p[i + h];
        p[i] = x + y;
        p[i + h] = x - y;
      }
}

// Transform of n values, a power of two not below `smallest`.
template <class T, class Source> SLIMLINE_INLINE void transform_block(Source source, T* p, size_t n) {
  first_pass<T, first_radix<T>>(source, p, n);
  passes(p, n, smallest<T>);
}

template <class T> void transform(T* p, size_t n) {
  if (n < smallest<T>) return transform_small(p, n);
  if (n <= cached<T>) return transform_block<T>([p](size_t b, int k) { return load<vector_of<T>>(p + b + k); }, p, n);
  const size_t parts = n / cached<T> >= 8 ? 8 : n / cached<T>;
  const size_t length = n / parts;
  for (size_t i = 0; i < parts; i++) transform(p + i * length, length);
  passes(p, n, length);
}

}  // namespace slimline::SLIMLINE_ISA
