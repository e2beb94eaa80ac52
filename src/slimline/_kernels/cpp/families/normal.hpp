// Two standard normals from two random words (Box and Muller 1958), in float32.
//
// One fixed sequence of IEEE additions, multiplications and square roots: no fused multiply-add, no library
// function, so the bits are the same on every machine. The NumPy twin repeats it operation by operation.
// Logarithm and sine use the Cephes single-precision polynomials (S. Moshier).
#pragma once

#include "isa/simd.hpp"

namespace slimline::SLIMLINE_ISA {

SLIMLINE_INLINE vf logarithm(vf x) {
  vi bits = (vi)x;
  vi exponent = (bits - 0x3F3504F3) >> 23;  // so that the mantissa lies in [sqrt(1/2), sqrt(2))
  vf f = (vf)(bits - (exponent << 23)) - 1.0f;
  vf e = __builtin_convertvector(exponent, vf);
  vf p = f * 7.0376836292e-2f + -1.1514610310e-1f;
  p = p * f + 1.1676998740e-1f;
  p = p * f + -1.2420140846e-1f;
  p = p * f + 1.4249322787e-1f;
  p = p * f + -1.6668057665e-1f;
  p = p * f + 2.0000714765e-1f;
  p = p * f + -2.4999993993e-1f;
  p = p * f + 3.3333331174e-1f;
  vf square = f * f;
  vf y = (f * square) * p;
  y = y + e * -2.12194440e-4f;
  y = y - square * 0.5f;
  return (f + y) + e * 0.693359375f;
}

SLIMLINE_INLINE void box_muller(vu u, vu v, vf* first, vf* second) {
  // Radius from 31 bits, in (0, 1]: the smallest is 2^-32, so normals reach 6.66.
  vf uniform = (__builtin_convertvector((vi)(u >> 1), vf) + 0.5f) * 4.656612873077393e-10f;  // 2^-31
  vf radius = square_root(logarithm(uniform) * -2.0f);
  // Angle within an eighth of a turn to either side of an axis from 30 bits; which axis from the two on top.
  vf t = __builtin_convertvector((vi)(v << 2), vf) * 3.657291552543518e-10f;  // pi / 4 / 2^31
  vf z = t * t;
  vf sine = z * -1.9515295891e-4f + 8.3321608736e-3f;
  sine = sine * z + -1.6666654611e-1f;
  sine = (sine * z) * t + t;
  vf cosine = z * 2.443315711809948e-5f + -1.388731625493765e-3f;
  cosine = cosine * z + 4.166664568298827e-2f;
  cosine = cosine * (z * z) + (z * -0.5f + 1.0f);
  vu swap = (vu)((vi)(v << 1) >> 31);
  vu sign = v & 0x80000000u;
  vu a = ((vu)cosine & ~swap) | ((vu)sine & swap);
  vu b = ((vu)sine & ~swap) | ((vu)cosine & swap);
  *first = radius * (vf)(a ^ sign);
  *second = radius * (vf)(b ^ sign);
}

}  // namespace slimline::SLIMLINE_ISA
