// Elements of X on their way into a sum: float64 stays, everything else becomes float32.
#pragma once

#include "isa/kernels.hpp"
#include "isa/simd.hpp"

namespace slimline::SLIMLINE_ISA {

struct half { uint16_t bits; };

template <class S> struct Sum { using type = float; };
template <> struct Sum<double> { using type = double; };
template <class S> using sum_of = typename Sum<S>::type;

SLIMLINE_INLINE float widen(half h) {
  // The exponent is re-based by a multiplication, which also gets subnormal values right.
  uint32_t u = uint32_t(h.bits & 0x7FFFu) << 13;
  float x; std::memcpy(&x, &u, 4);
  x *= 5.192296858534828e33f;  // 2^112
  std::memcpy(&u, &x, 4);
  if ((h.bits & 0x7C00u) == 0x7C00u) u |= 0x7F800000u;
  u |= uint32_t(h.bits & 0x8000u) << 16;
  std::memcpy(&x, &u, 4);
  return x;
}
template <class S> SLIMLINE_INLINE sum_of<S> widen(S x) { return sum_of<S>(x); }

template <class S> inline constexpr bool is_float = false;
template <> inline constexpr bool is_float<float> = true;
template <> inline constexpr bool is_float<double> = true;
template <> inline constexpr bool is_float<half> = true;

// One vector of consecutive elements.
template <class S> SLIMLINE_INLINE vector_of<sum_of<S>> load_wide(const S* p) {
  vector_of<sum_of<S>> v{};
  for (int i = 0; i < lanes<sum_of<S>>; i++) v[i] = widen(p[i]);
  return v;
}
template <> SLIMLINE_INLINE vf load_wide<float>(const float* p) { return load<vf>(p); }
template <> SLIMLINE_INLINE vd load_wide<double>(const double* p) { return load<vd>(p); }

#if SLIMLINE_VECTOR_BYTES == 64
template <> SLIMLINE_INLINE vf load_wide<int8_t>(const int8_t* p) {
  return (vf)_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i*)p)));
}
template <> SLIMLINE_INLINE vf load_wide<uint8_t>(const uint8_t* p) {
  return (vf)_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i*)p)));
}
template <> SLIMLINE_INLINE vf load_wide<int16_t>(const int16_t* p) {
  return (vf)_mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i*)p)));
}
template <> SLIMLINE_INLINE vf load_wide<half>(const half* p) {
  return (vf)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)p));
}
#elif SLIMLINE_VECTOR_BYTES == 32
template <> SLIMLINE_INLINE vf load_wide<int8_t>(const int8_t* p) {
  return (vf)_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i*)p)));
}
template <> SLIMLINE_INLINE vf load_wide<uint8_t>(const uint8_t* p) {
  return (vf)_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)p)));
}
template <> SLIMLINE_INLINE vf load_wide<int16_t>(const int16_t* p) {
  return (vf)_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i*)p)));
}
template <> SLIMLINE_INLINE vf load_wide<half>(const half* p) {
  return (vf)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)p));
}
#endif

#if SLIMLINE_VECTOR_BYTES >= 32

// An 8 x 8 block transposed: out[j * out_stride + i] = x[i * stride + j].
SLIMLINE_INLINE void transpose8(const float* x, ptrdiff_t stride, float* out, size_t out_stride) {
  __m256 a[8], b[8];
  SLIMLINE_UNROLL
  for (int i = 0; i < 8; i++) a[i] = _mm256_loadu_ps(x + i * stride);
  SLIMLINE_UNROLL
  for (int i = 0; i < 8; i += 2) {
    b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]);
    b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
  }
  SLIMLINE_UNROLL
  for (int h = 0; h < 8; h += 4) {
    a[h] = _mm256_shuffle_ps(b[h], b[h + 2], 0x44);
    a[h + 1] = _mm256_shuffle_ps(b[h], b[h + 2], 0xEE);
    a[h + 2] = _mm256_shuffle_ps(b[h + 1], b[h + 3], 0x44);
    a[h + 3] = _mm256_shuffle_ps(b[h + 1], b[h + 3], 0xEE);
  }
  SLIMLINE_UNROLL
  for (int j = 0; j < 4; j++) {
    _mm256_storeu_ps(out + size_t(j) * out_stride, _mm256_permute2f128_ps(a[j], a[j + 4], 0x20));
    _mm256_storeu_ps(out + size_t(j + 4) * out_stride, _mm256_permute2f128_ps(a[j], a[j + 4], 0x31));
  }
}

#endif

}  // namespace slimline::SLIMLINE_ISA
