// Vectors of one instruction set.
//
// Every kernel file is compiled once for each instruction set, into the namespace SLIMLINE_ISA. Vectors
// are the compiler's own (gcc and clang), so one source serves 16, 32 and 64 bytes. Intrinsics appear
// where the extensions have no word for what is needed: here, in elements.hpp, and in kernels that gather, shuffle or permute.
//
// Nothing in a kernel file may depend on std:: templates: the linker keeps one copy of each, and that copy
// might hold instructions the machine does not have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#if defined(__AVX512F__)
#define SLIMLINE_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define SLIMLINE_VECTOR_BYTES 32
#else
#define SLIMLINE_VECTOR_BYTES 16
#endif

#define SLIMLINE_INLINE inline __attribute__((always_inline))
#if defined(__clang__)
#define SLIMLINE_UNROLL _Pragma("clang loop unroll(full)")
#define SLIMLINE_NO_UNROLL _Pragma("clang loop unroll(disable)")
#else
#define SLIMLINE_UNROLL _Pragma("GCC unroll 64")
#define SLIMLINE_NO_UNROLL _Pragma("GCC unroll 1")
#endif

namespace slimline::SLIMLINE_ISA {

constexpr int vector_bytes = SLIMLINE_VECTOR_BYTES;
constexpr int float_lanes = vector_bytes / 4;

typedef float vf __attribute__((vector_size(vector_bytes)));
typedef double vd __attribute__((vector_size(vector_bytes)));
typedef int32_t vi __attribute__((vector_size(vector_bytes)));
typedef uint32_t vu __attribute__((vector_size(vector_bytes)));
typedef uint64_t vq __attribute__((vector_size(vector_bytes)));

template <class T> struct VectorOf;
template <> struct VectorOf<float> { using type = vf; using bits = vu; using word = uint32_t; };
template <> struct VectorOf<double> { using type = vd; using bits = vq; using word = uint64_t; };
template <class T> using vector_of = typename VectorOf<T>::type;
template <class T> using bits_of = typename VectorOf<T>::bits;
template <class T> using word_of = typename VectorOf<T>::word;
template <class T> constexpr int lanes = vector_bytes / int(sizeof(T));

template <class V, class T> SLIMLINE_INLINE V load(const T* p) { V v; std::memcpy(&v, p, sizeof v); return v; }
template <class V, class T> SLIMLINE_INLINE void store(T* p, V v) { std::memcpy(p, &v, sizeof v); }

SLIMLINE_INLINE vu iota32() {
  vu v;
  SLIMLINE_UNROLL
  for (int i = 0; i < float_lanes; i++) v[i] = uint32_t(i);
  return v;
}
SLIMLINE_INLINE vq iota64() {
  vq v;
  SLIMLINE_UNROLL
  for (int i = 0; i < lanes<double>; i++) v[i] = uint64_t(i);
  return v;
}

// Sign bits: flipping one is a negation without a branch (a branch on a random sign costs five times as much).
SLIMLINE_INLINE float flip(float x, uint32_t negative) {
  uint32_t u; std::memcpy(&u, &x, 4); u ^= negative << 31; std::memcpy(&x, &u, 4); return x;
}
SLIMLINE_INLINE double flip(double x, uint32_t negative) {
  uint64_t u; std::memcpy(&u, &x, 8); u ^= uint64_t(negative) << 63; std::memcpy(&x, &u, 8); return x;
}
SLIMLINE_INLINE vf flip(vf x, vu mask) { return (vf)((vu)x ^ mask); }
SLIMLINE_INLINE vd flip(vd x, vq mask) { return (vd)((vq)x ^ mask); }

// Bit (first + lane) of `bits`, moved to the lane's sign bit; first + lane < 32.
template <class T> SLIMLINE_INLINE bits_of<T> sign_mask(uint32_t bits, int first) {
  using B = bits_of<T>;
  using W = word_of<T>;
  constexpr int top = int(sizeof(T)) * 8 - 1;
  const W sign = W(1) << top;
#if SLIMLINE_VECTOR_BYTES >= 32
  B shift;
  SLIMLINE_UNROLL
  for (int i = 0; i < lanes<T>; i++) shift[i] = W(top - first - i);
  return ((B{} + W(bits)) << shift) & sign;
#else  // no shift by lane in the baseline: test each lane's own bit instead
  B bit;
  SLIMLINE_UNROLL
  for (int i = 0; i < lanes<T>; i++) bit[i] = W(1) << (first + i);
  return (B)(((B{} + W(bits)) & bit) == bit) & sign;
#endif
}

// +1 or -1 by lane, -1 where the bit is set.
template <class T> SLIMLINE_INLINE vector_of<T> sign_values(uint32_t bits, int first) {
  return flip(vector_of<T>{} + T(1), sign_mask<T>(bits, first));
}

// Lane permutation l -> l ^ key within one vector of floats (doubles: the same with key doubled).
struct LaneXor {
#if SLIMLINE_VECTOR_BYTES >= 32
  vu index;
  explicit SLIMLINE_INLINE LaneXor(uint32_t key) : index(iota32() ^ key) {}
#else
  vu swap1, swap2;
  explicit SLIMLINE_INLINE LaneXor(uint32_t key)
      : swap1(vu{} - (key & 1u)), swap2(vu{} - ((key >> 1) & 1u)) {}
#endif
  SLIMLINE_INLINE vf operator()(vf x) const {
#if SLIMLINE_VECTOR_BYTES == 64
    return (vf)_mm512_permutexvar_ps((__m512i)index, (__m512)x);
#elif SLIMLINE_VECTOR_BYTES == 32
    return (vf)_mm256_permutevar8x32_ps((__m256)x, (__m256i)index);
#else
    vu u = (vu)x;
    vu s = __builtin_shufflevector(u, u, 1, 0, 3, 2);
    u = (s & swap1) | (u & ~swap1);
    s = __builtin_shufflevector(u, u, 2, 3, 0, 1);
    return (vf)((s & swap2) | (u & ~swap2));
#endif
  }
  SLIMLINE_INLINE vd operator()(vd x) const { return (vd)(*this)((vf)x); }
};

// Low 32 bits of each 64-bit lane times m, all 64 bits of the product.
SLIMLINE_INLINE vq multiply_low(vq a, uint32_t m) {
#if SLIMLINE_VECTOR_BYTES == 64
  return (vq)_mm512_mul_epu32((__m512i)a, _mm512_set1_epi64((long long)(uint64_t)m));
#elif SLIMLINE_VECTOR_BYTES == 32
  return (vq)_mm256_mul_epu32((__m256i)a, _mm256_set1_epi64x((long long)(uint64_t)m));
#elif defined(__x86_64__)
  return (vq)_mm_mul_epu32((__m128i)a, _mm_set1_epi64x((long long)(uint64_t)m));
#elif defined(__aarch64__)
  return (vq)vmull_n_u32(vmovn_u64((uint64x2_t)a), m);
#else
  return (a & 0xFFFFFFFFull) * uint64_t(m);
#endif
}

SLIMLINE_INLINE vf square_root(vf x) {
#if SLIMLINE_VECTOR_BYTES == 64
  return (vf)_mm512_sqrt_ps((__m512)x);
#elif SLIMLINE_VECTOR_BYTES == 32
  return (vf)_mm256_sqrt_ps((__m256)x);
#elif defined(__x86_64__)
  return (vf)_mm_sqrt_ps((__m128)x);
#elif defined(__aarch64__)
  return (vf)vsqrtq_f32((float32x4_t)x);
#else
  SLIMLINE_UNROLL
  for (int i = 0; i < float_lanes; i++) x[i] = __builtin_sqrtf(x[i]);
  return x;
#endif
}

// x * s + y with s = +-1: the product is exact, so fusing it changes nothing but the time.
SLIMLINE_INLINE vf add_signed(vf x, vf s, vf y) {
#if SLIMLINE_VECTOR_BYTES == 64
  return (vf)_mm512_fmadd_ps((__m512)x, (__m512)s, (__m512)y);
#elif SLIMLINE_VECTOR_BYTES == 32
  return (vf)_mm256_fmadd_ps((__m256)x, (__m256)s, (__m256)y);
#else
  return x * s + y;
#endif
}
SLIMLINE_INLINE vd add_signed(vd x, vd s, vd y) {
#if SLIMLINE_VECTOR_BYTES == 64
  return (vd)_mm512_fmadd_pd((__m512d)x, (__m512d)s, (__m512d)y);
#elif SLIMLINE_VECTOR_BYTES == 32
  return (vd)_mm256_fmadd_pd((__m256d)x, (__m256d)s, (__m256d)y);
#else
  return x * s + y;
#endif
}

}  // namespace slimline::SLIMLINE_ISA
