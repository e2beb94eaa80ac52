// float32, float64 and int8 as float64.
#pragma once

#include "isa/elements.hpp"

namespace slimline::SLIMLINE_ISA {

// One vector of consecutive elements.
SLIMLINE_INLINE vd load_double(const double* p) { return load<vd>(p); }
SLIMLINE_INLINE vd load_double(const float* p) {
#if SLIMLINE_VECTOR_BYTES == 64
  return (vd)_mm512_cvtps_pd(_mm256_loadu_ps(p));
#elif SLIMLINE_VECTOR_BYTES == 32
  return (vd)_mm256_cvtps_pd(_mm_loadu_ps(p));
#else
  return vd{double(p[0]), double(p[1])};
#endif
}
SLIMLINE_INLINE vd load_double(const int8_t* p) {
#if SLIMLINE_VECTOR_BYTES == 64
  return (vd)_mm512_cvtepi32_pd(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i*)p)));
#elif SLIMLINE_VECTOR_BYTES == 32
  int32_t four;
  std::memcpy(&four, p, sizeof four);
  return (vd)_mm256_cvtepi32_pd(_mm_cvtepi8_epi32(_mm_cvtsi32_si128(four)));
#else
  return vd{double(p[0]), double(p[1])};
#endif
}

SLIMLINE_INLINE double multiply_add(double x, double a, double y) { return x * a + y; }
SLIMLINE_INLINE vd multiply_add(vd x, vd a, vd y) {
#if SLIMLINE_VECTOR_BYTES == 64
  return (vd)_mm512_fmadd_pd((__m512d)x, (__m512d)a, (__m512d)y);
#elif SLIMLINE_VECTOR_BYTES == 32
  return (vd)_mm256_fmadd_pd((__m256d)x, (__m256d)a, (__m256d)y);
#else
  return x * a + y;
#endif
}

}  // namespace slimline::SLIMLINE_ISA
