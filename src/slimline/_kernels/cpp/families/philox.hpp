// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw 2011): a counter in, four random words out.
//
// R is a function of (seed, feature, column) alone, so any block of it can be made anywhere, in any order.
#pragma once

#include "isa/simd.hpp"

namespace slimline::SLIMLINE_ISA {

struct Key { uint32_t low, high; };

SLIMLINE_INLINE Key key_of(uint64_t seed) { return {uint32_t(seed), uint32_t(seed >> 32)}; }

constexpr uint32_t philox_multiplier0 = 0xD2511F53u, philox_multiplier1 = 0xCD9E8D57u;
constexpr uint32_t philox_weyl0 = 0x9E3779B9u, philox_weyl1 = 0xBB67AE85u;

struct Words { uint32_t w[4]; };

SLIMLINE_INLINE Words philox(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, Key key) {
  uint32_t k0 = key.low, k1 = key.high;
  for (int round = 0; round < 10; round++) {
    uint64_t p0 = uint64_t(philox_multiplier0) * c0, p1 = uint64_t(philox_multiplier1) * c2;
    c0 = uint32_t(p1 >> 32) ^ c1 ^ k0;
    c1 = uint32_t(p1);
    c2 = uint32_t(p0 >> 32) ^ c3 ^ k1;
    c3 = uint32_t(p0);
    k0 += philox_weyl0;
    k1 += philox_weyl1;
  }
  return {{c0, c1, c2, c3}};
}

// `float_lanes` counters at once. Counters with an even lane number sit in one vector of 64-bit lanes and
// those with an odd one in another, so that the four words come out in lane order by one shift and one or.
// Only the low half of each 64-bit lane means anything until then: the multiplication ignores the rest.
struct Lanes { vq even, odd; };
struct WordLanes { vu w[4]; };

SLIMLINE_INLINE Lanes same(uint32_t value) { return {vq{} + uint64_t(value), vq{} + uint64_t(value)}; }
SLIMLINE_INLINE Lanes counting(uint64_t first) {
  vq even = iota64() * 2 + first;
  return {even, even + 1};
}
SLIMLINE_INLINE Lanes high_half(Lanes a) { return {a.even >> 32, a.odd >> 32}; }

// `sets` independent batches, interleaved to hide the latency of the multiplications.
template <int sets>
SLIMLINE_INLINE void philox(const Lanes* c0, const Lanes* c1, const Lanes* c2, uint32_t c3, Key key, WordLanes* out) {
  vq a[2 * sets], b[2 * sets], c[2 * sets], d[2 * sets];
  SLIMLINE_UNROLL
  for (int s = 0; s < sets; s++) {
    a[2 * s] = c0[s].even; a[2 * s + 1] = c0[s].odd;
    b[2 * s] = c1[s].even; b[2 * s + 1] = c1[s].odd;
    c[2 * s] = c2[s].even; c[2 * s + 1] = c2[s].odd;
    d[2 * s] = d[2 * s + 1] = vq{} + uint64_t(c3);
  }
  uint32_t k0 = key.low, k1 = key.high;
  SLIMLINE_UNROLL
  for (int round = 0; round < 10; round++) {
    SLIMLINE_UNROLL
    for (int s = 0; s < 2 * sets; s++) {
      vq p0 = multiply_low(a[s], philox_multiplier0), p1 = multiply_low(c[s], philox_multiplier1);
      a[s] = (p1 >> 32) ^ b[s] ^ uint64_t(k0);
      b[s] = p1;
      c[s] = (p0 >> 32) ^ d[s] ^ uint64_t(k1);
      d[s] = p0;
    }
    k0 += philox_weyl0;
    k1 += philox_weyl1;
  }
  const uint64_t low = 0xFFFFFFFFull;
  SLIMLINE_UNROLL
  for (int s = 0; s < sets; s++) {
    const int e = 2 * s, o = 2 * s + 1;
    out[s].w[0] = (vu)((a[e] & low) | (a[o] << 32));
    out[s].w[1] = (vu)((b[e] & low) | (b[o] << 32));
    out[s].w[2] = (vu)((c[e] & low) | (c[o] << 32));
    out[s].w[3] = (vu)((d[e] & low) | (d[o] << 32));
  }
}

// The words of `count` consecutive counters (c0 and c1 together count), four by four.
inline void fill_words(uint64_t first, size_t count, uint32_t c2, uint32_t c3, Key key, uint32_t* out) {
  const Lanes third = same(c2);
  for (size_t i = 0; i < count; i += float_lanes) {
    const Lanes low = counting(first + i), high = high_half(low);
    WordLanes words;
    philox<1>(&low, &high, &third, c3, key, &words);
    uint32_t columns[4][float_lanes];
    for (int w = 0; w < 4; w++) store(columns[w], words.w[w]);
    const size_t here = count - i < size_t(float_lanes) ? count - i : size_t(float_lanes);
    for (size_t l = 0; l < here; l++)
      for (int w = 0; w < 4; w++) *out++ = columns[w][l];
  }
}

}  // namespace slimline::SLIMLINE_ISA
