// Packed genotypes times a sparse R: people lie side by side as it is, so what a variant counts for each of them is looked up
// by a permutation of its four values and added to the sums of a few columns.
#include "simd.hpp"
#include "table.hpp"

namespace slimline::SLIMLINE_ISA {

#if SLIMLINE_VECTOR_BYTES >= 32
namespace {

constexpr size_t word_people = 16;  // in 32 bits
constexpr int vectors = int(word_people) / float_lanes;

SLIMLINE_INLINE vf values_of(const float* value) {
#if SLIMLINE_VECTOR_BYTES == 64
  return (vf)_mm512_broadcast_f32x4(_mm_loadu_ps(value));
#else
  return (vf)_mm256_broadcast_ps((const __m128*)value);
#endif
}

// What the codes at the low end of each lane stand for: inside of four lanes, by two bits.
SLIMLINE_INLINE vf looked_up(vf table, vu codes) {
#if SLIMLINE_VECTOR_BYTES == 64
  return (vf)_mm512_permutevar_ps((__m512)table, (__m512i)codes);
#else
  return (vf)_mm256_permutevar_ps((__m256)table, (__m256i)codes);
#endif
}

// One line added to the sums of `entries` columns.
template <int entries>
SLIMLINE_INLINE void add_line(const uint8_t* packed, size_t people, vf table, const Entry* entry, float* sums, size_t pitch) {
  const vu shift = iota32() * 2;
  float* row[entries];
  vf sign[entries];
  SLIMLINE_UNROLL
  for (int e = 0; e < entries; e++) row[e] = sums + size_t(entry[e] >> 1) * pitch, sign[e] = vf{} + (entry[e] & 1u ? -1.0f : 1.0f);
  for (size_t i = 0; i < people; i += word_people) {
    uint32_t word = 0;
    if (i + word_people <= people) std::memcpy(&word, packed + i / 4, 4);
    else std::memcpy(&word, packed + i / 4, (people - i + 3) / 4);
    SLIMLINE_UNROLL
    for (int p = 0; p < vectors; p++) {
      const vf x = looked_up(table, (vu{} + word) >> (shift + uint32_t(2 * float_lanes * p)));
      SLIMLINE_UNROLL
      for (int e = 0; e < entries; e++) {
        float* place = row[e] + i + size_t(p * float_lanes);
        store(place, add_signed(x, sign[e], load<vf>(place)));
      }
    }
  }
}

void sketch(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t people, const float* value, const Entry* entry, const uint32_t* pointer, float* sums, size_t pitch) {
  constexpr size_t ahead = 24;
  for (size_t l = 0; l < lines; l++, packed += stride) {
    const vf table = values_of(value + 4 * l);
    if (l + ahead < lines) {  // short stretches of long lines: the CPU does not foresee the next
      const uint8_t* next = packed + ptrdiff_t(ahead) * stride;
      for (size_t b = 0; b < (people + 3) / 4; b += 64) __builtin_prefetch(next + b);
      __builtin_prefetch(next + (people - 1) / 4);
    }
    uint32_t e = pointer[l];
    for (; e + 4 <= pointer[l + 1]; e += 4) add_line<4>(packed, people, table, entry + e, sums, pitch);
    for (; e < pointer[l + 1]; e++) add_line<1>(packed, people, table, entry + e, sums, pitch);
  }
}

}  // namespace

void add_packed_sketch_kernels(Kernels& k) { k.packed.sketch = sketch; }

#else  // genotypes are unpacked to bytes first

void add_packed_sketch_kernels(Kernels&) {}

#endif

}  // namespace slimline::SLIMLINE_ISA
