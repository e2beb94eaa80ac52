// Elements of X as float64.
#pragma once

#include "elements.hpp"

namespace slimline::SLIMLINE_ISA {

template <class S> inline constexpr bool is_float = false;
template <> inline constexpr bool is_float<float> = true;
template <> inline constexpr bool is_float<double> = true;
template <> inline constexpr bool is_float<half> = true;

// One vector of consecutive elements.
template <class S> SLIMLINE_INLINE vd load_double(const S* p) {
  vd v{};
  for (int i = 0; i < lanes<double>; i++) v[i] = double(widen(p[i]));
  return v;
}
template <> SLIMLINE_INLINE vd load_double<double>(const double* p) { return load<vd>(p); }

#if SLIMLINE_VECTOR_BYTES == 64
template <> SLIMLINE_INLINE vd load_double<float>(const float* p) { return (vd)_mm512_cvtps_pd(_mm256_loadu_ps(p)); }
template <> SLIMLINE_INLINE vd load_double<half>(const half* p) {
  return (vd)_mm512_cvtps_pd(_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)p)));
}
template <> SLIMLINE_INLINE vd load_double<int8_t>(const int8_t* p) {
  return (vd)_mm512_cvtepi32_pd(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i*)p)));
}
template <> SLIMLINE_INLINE vd load_double<uint8_t>(const uint8_t* p) {
  return (vd)_mm512_cvtepi32_pd(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)p)));
}
template <> SLIMLINE_INLINE vd load_double<int16_t>(const int16_t* p) {
  return (vd)_mm512_cvtepi32_pd(_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i*)p)));
}
#elif SLIMLINE_VECTOR_BYTES == 32
SLIMLINE_INLINE __m128i load_word(const void* p) {
  int32_t word;
  std::memcpy(&word, p, 4);
  return _mm_cvtsi32_si128(word);
}
template <> SLIMLINE_INLINE vd load_double<float>(const float* p) { return (vd)_mm256_cvtps_pd(_mm_loadu_ps(p)); }
template <> SLIMLINE_INLINE vd load_double<half>(const half* p) {
  return (vd)_mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64((const __m128i*)p)));
}
template <> SLIMLINE_INLINE vd load_double<int8_t>(const int8_t* p) { return (vd)_mm256_cvtepi32_pd(_mm_cvtepi8_epi32(load_word(p))); }
template <> SLIMLINE_INLINE vd load_double<uint8_t>(const uint8_t* p) { return (vd)_mm256_cvtepi32_pd(_mm_cvtepu8_epi32(load_word(p))); }
template <> SLIMLINE_INLINE vd load_double<int16_t>(const int16_t* p) {
  return (vd)_mm256_cvtepi32_pd(_mm_cvtepi16_epi32(_mm_loadl_epi64((const __m128i*)p)));
}
#endif

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
