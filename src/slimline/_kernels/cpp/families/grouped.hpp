// The grouped embedding of dense rows: 16 consecutive features are loaded, their signs flipped, their lanes
// permuted, and added to 16 consecutive sums. No scatter, so it runs as fast as X can be read.
#pragma once

#include "isa/elements.hpp"
#include "isa/kernels.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

// What an entry of the table does to the vectors of a group: lanes moved by the key, signs flipped.
template <class T> struct Move {
  using V = vector_of<T>;
  static SLIMLINE_INLINE V load_common(const T* x, uint32_t) { return load<V>(x); }

  const uint32_t bits, key;
  const LaneXor permute;
  explicit SLIMLINE_INLINE Move(GroupEntry entry)
      : bits(uint32_t(entry & 0xFFFFu)), key(uint32_t(entry >> 16) & uint32_t(group_width - 1)),
        permute((key * uint32_t(sizeof(T) / 4)) & uint32_t(float_lanes - 1)) {}
  SLIMLINE_INLINE V lanes_of(V v) const { return permute(v); }
  SLIMLINE_INLINE V signs(int p) const {
    if constexpr (lanes<T> == int(group_width)) return sign_values<T>((bits << 16 | bits) >> (key & 8), 0);
    return sign_values<T>(bits >> ((uint32_t(p * lanes<T>) ^ key ^ (key & 8)) & ~uint32_t(lanes<T> - 1)), 0);
  }
};

#if SLIMLINE_VECTOR_BYTES == 32
// Crossing the halves of a 32-byte vector costs twice as much as moving inside them, so the bit of the key that does it is
// the same in all parts of the hash, and is applied while loading. The rest needs nothing but one broadcast of the entry.
template <> struct Move<float> {
  static SLIMLINE_INLINE vf load_common(const float* x, uint32_t common) {
    const __m256 low = _mm256_castps128_ps256(_mm_loadu_ps(x + common));
    return (vf)_mm256_insertf128_ps(low, _mm_loadu_ps(x + (common ^ common_key)), 1);
  }

  const vu word;
  const __m256i order;
  explicit SLIMLINE_INLINE Move(GroupEntry entry) : word(vu{} + uint32_t(entry)), order((__m256i)(iota32() ^ (word >> 16))) {}
  SLIMLINE_INLINE vf lanes_of(vf v) const { return (vf)_mm256_permutevar_ps((__m256)v, order); }  // looks at two bits only
  SLIMLINE_INLINE vf signs(int p) const {
    vu shift;
    SLIMLINE_UNROLL
    for (int i = 0; i < 8; i++) shift[i] = uint32_t(31 - 8 * p - i);
    return flip(vf{} + 1.0f, (word << shift) & 0x80000000u);
  }
};
#endif

// Bytes of each row that are fetched ahead: without it a core reads a tenth to a fifth less than memory gives.
constexpr ptrdiff_t ahead = 2048;

// Row q of X: x + q * row_stride; row q of the sums: sums + q * stride.
template <class T, int rows>
SLIMLINE_INLINE void add_groups(uint32_t entries, const GroupEntry* table, size_t groups, const T* x,
                                ptrdiff_t row_stride, T* sums, size_t stride) {
  using V = vector_of<T>;
  constexpr int vectors = int(group_width) / lanes<T>;
  T* row[rows];
  SLIMLINE_UNROLL
  for (int q = 0; q < rows; q++) row[q] = sums + size_t(q) * stride;
  for (size_t b = 0; b < groups; b++) {
    const uint32_t common = uint32_t(*table >> 16) & common_key;
    V v[rows][vectors];
    SLIMLINE_UNROLL
    for (int q = 0; q < rows; q++) {
      const T* at = x + q * row_stride + ptrdiff_t(b * group_width);
      SLIMLINE_UNROLL
      for (int p = 0; p < vectors; p++) v[q][p] = Move<T>::load_common(at + p * lanes<T>, common);
      SLIMLINE_UNROLL
      for (int byte = 0; byte < int(group_width * sizeof(T)); byte += 64) __builtin_prefetch((const char*)at + ahead + byte, 0, 2);
    }
    for (uint32_t t = 0; t < entries; t++) {
      const GroupEntry entry = *table++;
      const Move<T> move(entry);
      const size_t first = size_t(entry >> 20) | (size_t(entry >> 16) & (group_width - size_t(lanes<T>)));
      SLIMLINE_UNROLL
      for (int p = 0; p < vectors; p++) {
        const V sign = move.signs(p);
        SLIMLINE_UNROLL
        for (int q = 0; q < rows; q++) {
          T* place = row[q] + (first ^ size_t(p * lanes<T>));
          store(place, add_signed(move.lanes_of(v[q][p]), sign, load<V>(place)));
        }
      }
    }
  }
}

template <class T>
void add_rows(uint32_t entries, const GroupEntry* table, size_t groups, const T* x, ptrdiff_t row_stride, size_t rows,
              T* sums, size_t stride) {
  constexpr int together = 4;  // what the registers of AVX2 hold
  size_t q = 0;
  for (; q + together <= rows; q += together)
    add_groups<T, together>(entries, table, groups, x + ptrdiff_t(q) * row_stride, row_stride, sums + q * stride, stride);
  for (; q < rows; q++) add_groups<T, 1>(entries, table, groups, x + ptrdiff_t(q) * row_stride, row_stride, sums + q * stride, stride);
}

}  // namespace
}  // namespace slimline::SLIMLINE_ISA
