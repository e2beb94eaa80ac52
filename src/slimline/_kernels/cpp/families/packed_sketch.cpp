// Packed genotypes times a sparse R, one column of R after the other. Samples lie side by side, so what a variant counts for each of
// them is looked up by a permutation and added up in registers.
#include "isa/simd.hpp"
#include "isa/table.hpp"

namespace slimline::SLIMLINE_ISA {

#if SLIMLINE_VECTOR_BYTES >= 32
namespace {

constexpr int vectors = float_lanes;
constexpr size_t together = size_t(vectors) * float_lanes;  // samples whose sums stay in registers: 256 or 64

SLIMLINE_INLINE const uint8_t* line_of(const PackedSketch& s, uint32_t entry) { return s.packed + ptrdiff_t(entry >> 1) * s.stride; }

// The four values of a variant, in each four lanes, with the sign of its entry.
SLIMLINE_INLINE vf values_of(const PackedSketch& s, uint32_t entry) {
  const float* value = s.value + 4 * size_t(entry >> 1);
#if SLIMLINE_VECTOR_BYTES == 64
  const vf four = (vf)_mm512_broadcast_f32x4(_mm_loadu_ps(value));
#else
  const vf four = (vf)_mm256_broadcast_ps((const __m128*)value);
#endif
  return flip(four, vu{} + (entry << 31));
}

// By the two low bits of each code.
SLIMLINE_INLINE vf look_up(vf values, vu code) {
#if SLIMLINE_VECTOR_BYTES == 64
  return (vf)_mm512_permutevar_ps((__m512)values, (__m512i)code);
#else
  return (vf)_mm256_permutevar_ps((__m256)values, (__m256i)code);
#endif
}

// The sums of one column of R for up to `together` samples.
SLIMLINE_INLINE void sum_samples(const PackedSketch& s, const uint32_t* entry, const uint32_t* end, size_t sample, float* sums) {
  const size_t here = s.samples - sample;
  const vu shift = iota32() * 2;
  vf sum[vectors];
  SLIMLINE_UNROLL
  for (int v = 0; v < vectors; v++) sum[v] = vf{};
  for (; entry < end; entry++) {
    const uint8_t* codes = line_of(s, *entry) + sample / 4;
    uint8_t rest[together / 4] = {};
    if (here < together) std::memcpy(rest, codes, (here + 3) / 4), codes = rest;
    const vf values = values_of(s, *entry);
    SLIMLINE_UNROLL
    for (int v = 0; v < vectors; v++) {
      uint32_t word;  // of 16 samples
      std::memcpy(&word, codes + v * float_lanes / 16 * 4, sizeof word);
      sum[v] += look_up(values, (vu{} + word) >> (shift + uint32_t(v * float_lanes % 16 * 2)));
    }
  }
  SLIMLINE_UNROLL
  for (int v = 0; v < vectors; v++)
    if (size_t(v * float_lanes) < here) store(sums + v * float_lanes, sum[v]);
}

void sketch(const PackedSketch& s, size_t columns, float* sums, size_t pitch) {
  for (size_t c = 0; c < columns; c++) {
    const uint32_t *begin = s.entry + s.pointer[c], *end = s.entry + s.pointer[c + 1], *next_end = s.entry + s.pointer[c + 1 < columns ? c + 2 : c + 1];
    for (size_t i = 0; i < s.samples; i += together) {
      for (const uint32_t* next = end; next < next_end; next++) __builtin_prefetch(line_of(s, *next) + i / 4);  // they lie anywhere
      sum_samples(s, begin, end, i, sums + c * pitch + i);
    }
  }
}

}  // namespace

void add_packed_sketch_kernels(Kernels& k) { k.packed.sketch = sketch; }

#else  // genotypes are unpacked first

void add_packed_sketch_kernels(Kernels&) {}

#endif

}  // namespace slimline::SLIMLINE_ISA
