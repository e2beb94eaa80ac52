// Sums over genotypes of two bits as they are packed, by look-up tables of four calls: how many copies the four samples of a byte have is looked up by that byte, in a table for all variants that stays in the nearest cache.
// Adding up with one weight a variant has a faster way: lut4_add.cpp.
#include "products/lut4.hpp"
#include "isa/table.hpp"

namespace slimline::SLIMLINE_ISA {

#if SLIMLINE_VECTOR_BYTES >= 32
namespace {

// Copies of the samples of each byte; a missing call has a sign instead, by which a vector can be blended.
struct Copies {
  alignas(32) double of[256][4];
};

const Copies& copies_of_bytes() {
  static const Copies built = [] {
    const double copies[4] = {2.0, -1.0, 1.0, 0.0};  // by code
    Copies c;
    for (size_t byte = 0; byte < 256; byte++)
      for (size_t sample = 0; sample < 4; sample++) c.of[byte][sample] = copies[byte >> 2 * sample & 3];
    return c;
  }();
  return built;
}

// What a line adds to the copies, and what a missing call counts: both from the values of its four codes.
struct Line {
  const __m256d none, missing;
  explicit SLIMLINE_INLINE Line(const double* value) : none(_mm256_broadcast_sd(value + 3)), missing(_mm256_broadcast_sd(value + 1)) {}
  SLIMLINE_INLINE __m256d of(const Copies& copies, uint8_t byte) const {
    const __m256d four = _mm256_load_pd(copies.of[byte]);
    return _mm256_blendv_pd(_mm256_add_pd(four, none), missing, four);
  }
};

// The byte of the last samples, with nothing behind them.
SLIMLINE_INLINE uint8_t last_byte(const uint8_t* packed, size_t samples) { return uint8_t(packed[samples / 4] & ((1u << 2 * (samples % 4)) - 1)); }

SLIMLINE_INLINE double total(__m256d v) {
  const __m128d halves = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
  return _mm_cvtsd_f64(_mm_add_sd(halves, _mm_unpackhi_pd(halves, halves)));
}

template <int K>
void dot_lines(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t samples, const double* value, const double* v, size_t pitch, double* sums, size_t step) {
  const Copies& copies = copies_of_bytes();
  const size_t whole = samples / 4;
  double rest[K][4] = {};
  for (int j = 0; j < K; j++)
    for (size_t i = 4 * whole; i < samples; i++) rest[j][i % 4] = v[size_t(j) * pitch + i];
  for (size_t l = 0; l < lines; l++, packed += stride, value += 4, sums += step) {
    constexpr int parts = K == 1 ? 8 : 2;  // enough sums for the latency of an addition
    const Line line(value);
    __m256d sum[K][parts];
    SLIMLINE_UNROLL
    for (int j = 0; j < K; j++)
      SLIMLINE_UNROLL
      for (int p = 0; p < parts; p++) sum[j][p] = _mm256_setzero_pd();
    size_t b = 0;
    for (; b + parts <= whole; b += parts)
      SLIMLINE_UNROLL
      for (int p = 0; p < parts; p++) {
        const __m256d x = line.of(copies, packed[b + size_t(p)]);
        SLIMLINE_UNROLL
        for (int j = 0; j < K; j++) sum[j][p] = _mm256_fmadd_pd(x, _mm256_loadu_pd(v + size_t(j) * pitch + 4 * (b + size_t(p))), sum[j][p]);
      }
    for (; b < whole; b++) {
      const __m256d x = line.of(copies, packed[b]);
      SLIMLINE_UNROLL
      for (int j = 0; j < K; j++) sum[j][0] = _mm256_fmadd_pd(x, _mm256_loadu_pd(v + size_t(j) * pitch + 4 * b), sum[j][0]);
    }
    if (samples % 4) {
      const __m256d x = line.of(copies, last_byte(packed, samples));
      SLIMLINE_UNROLL
      for (int j = 0; j < K; j++) sum[j][0] = _mm256_fmadd_pd(x, _mm256_loadu_pd(rest[j]), sum[j][0]);
    }
    SLIMLINE_UNROLL
    for (int j = 0; j < K; j++) {
      SLIMLINE_UNROLL
      for (int h = parts / 2; h > 0; h /= 2)
        SLIMLINE_UNROLL
        for (int p = 0; p < h; p++) sum[j][p] = _mm256_add_pd(sum[j][p], sum[j][p + h]);
      sums[j] += total(sum[j][0]);
    }
  }
}

void dot(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t samples, const double* value, const double* v, size_t pitch, size_t k, double* sums, size_t step) {
  switch (k) {
    case 1: return dot_lines<1>(packed, stride, lines, samples, value, v, pitch, sums, step);
    case 2: return dot_lines<2>(packed, stride, lines, samples, value, v, pitch, sums, step);
    case 3: return dot_lines<3>(packed, stride, lines, samples, value, v, pitch, sums, step);
    default: return dot_lines<4>(packed, stride, lines, samples, value, v, pitch, sums, step);
  }
}

// `bytes` bytes of samples for all lines; their sums stay in registers. `there`: what is left of the last byte.
template <int K, int bytes>
SLIMLINE_INLINE void add_bytes(const uint8_t* packed, ptrdiff_t stride, size_t lines, const double* value, const double* w, size_t step, double* y, size_t pitch, uint32_t there = 255) {
  const Copies& copies = copies_of_bytes();
  __m256d sum[K][bytes];
  SLIMLINE_UNROLL
  for (int j = 0; j < K; j++)
    SLIMLINE_UNROLL
    for (int b = 0; b < bytes; b++) sum[j][b] = _mm256_loadu_pd(y + size_t(j) * pitch + 4 * b);
  for (size_t l = 0; l < lines; l++, packed += stride, value += 4, w += step) {
    const Line line(value);
    __m256d weight[K];
    SLIMLINE_UNROLL
    for (int j = 0; j < K; j++) weight[j] = _mm256_broadcast_sd(w + j);
    SLIMLINE_UNROLL
    for (int b = 0; b < bytes; b++) {
      const __m256d x = line.of(copies, uint8_t(packed[b] & (b + 1 < bytes ? 255u : there)));
      SLIMLINE_UNROLL
      for (int j = 0; j < K; j++) sum[j][b] = _mm256_fmadd_pd(x, weight[j], sum[j][b]);
    }
  }
  SLIMLINE_UNROLL
  for (int j = 0; j < K; j++)
    SLIMLINE_UNROLL
    for (int b = 0; b < bytes; b++) _mm256_storeu_pd(y + size_t(j) * pitch + 4 * b, sum[j][b]);
}

template <int K>
void add_lines(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t samples, const double* value, const double* w, size_t step, double* y, size_t pitch) {
  constexpr int together = K == 2 ? 4 : 2;  // what the registers hold
  const size_t whole = samples / 4;
  size_t b = 0;
  for (; b + together <= whole; b += together) add_bytes<K, together>(packed + b, stride, lines, value, w, step, y + 4 * b, pitch);
  for (; b < whole; b++) add_bytes<K, 1>(packed + b, stride, lines, value, w, step, y + 4 * b, pitch);
  if (samples % 4 == 0) return;
  double rest[K][4] = {};
  for (int j = 0; j < K; j++)
    for (size_t i = 4 * whole; i < samples; i++) rest[j][i % 4] = y[size_t(j) * pitch + i];
  add_bytes<K, 1>(packed + whole, stride, lines, value, w, step, rest[0], 4, (1u << 2 * (samples % 4)) - 1);
  for (int j = 0; j < K; j++)
    for (size_t i = 4 * whole; i < samples; i++) y[size_t(j) * pitch + i] = rest[j][i % 4];
}

void add(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t samples, const double* value, const double* w, size_t step, size_t k, double* y, size_t pitch) {
  switch (k) {
    case 1: return lut4_add_vector(packed, stride, lines, samples, value, w, step, y);
    case 2: return add_lines<2>(packed, stride, lines, samples, value, w, step, y, pitch);
    case 3: return add_lines<3>(packed, stride, lines, samples, value, w, step, y, pitch);
    default: return add_lines<4>(packed, stride, lines, samples, value, w, step, y, pitch);
  }
}

}  // namespace

void add_lut4_kernels(Kernels& k) { k.packed.dot = dot, k.packed.add = add; }

#else  // genotypes are unpacked first

void add_lut4_kernels(Kernels&) {}

#endif

}  // namespace slimline::SLIMLINE_ISA
