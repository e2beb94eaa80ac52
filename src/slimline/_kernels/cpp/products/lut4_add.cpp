// Packed genotypes added up over variants, four of them at a time: what their values, weighted, make together is worked out
// for all 256 ways in which a sample can be called, and looked up. That is one addition for four genotypes, missing calls
// included.
#include "products/lut4.hpp"

#if SLIMLINE_VECTOR_BYTES >= 32
namespace slimline::SLIMLINE_ISA {
namespace {

struct Lut4 {
  alignas(64) double of[256];
};

// of[byte] = the sum of part[i][i-th code of the byte].
void set_table(const double (&part)[4][4], Lut4& to) {
  const __m256d first = _mm256_loadu_pd(part[0]);
  for (int c = 0; c < 4; c++) _mm256_store_pd(to.of + 4 * c, _mm256_add_pd(first, _mm256_set1_pd(part[1][c])));
  for (int i = 2; i < 4; i++) {
    const int made = i == 2 ? 16 : 64;
    for (int c = 3; c >= 0; c--) {  // those of code 0 stand where they are read
      const __m256d more = _mm256_set1_pd(part[i][c]);
      for (int b = 0; b < made; b += 4) _mm256_store_pd(to.of + c * made + b, _mm256_add_pd(_mm256_load_pd(to.of + b), more));
    }
  }
}

// Lut4 lines of 32 bytes, a byte for each sample with the codes of all lines: squares of 4 x 4 codes are transposed in two steps.
SLIMLINE_INLINE void transpose_lines(const uint8_t* const (&line)[4], uint8_t* to) {
  __m256i v[4];
  SLIMLINE_UNROLL
  for (int i = 0; i < 4; i++) v[i] = _mm256_loadu_si256((const __m256i*)line[i]);
  const auto swap = [](__m256i& a, __m256i& b, int bits, __m256i kept) {
    const __m256i changed = _mm256_and_si256(_mm256_xor_si256(_mm256_srli_epi16(a, bits), b), kept);
    a = _mm256_xor_si256(a, _mm256_slli_epi16(changed, bits)), b = _mm256_xor_si256(b, changed);
  };
  const __m256i halves = _mm256_set1_epi8(0x0F), pairs = _mm256_set1_epi8(0x33);
  swap(v[0], v[2], 4, halves), swap(v[1], v[3], 4, halves);
  swap(v[0], v[1], 2, pairs), swap(v[2], v[3], 2, pairs);
  // v[i] has each fourth sample from i on: bring them into their order
  const __m256i low01 = _mm256_unpacklo_epi8(v[0], v[1]), high01 = _mm256_unpackhi_epi8(v[0], v[1]);
  const __m256i low23 = _mm256_unpacklo_epi8(v[2], v[3]), high23 = _mm256_unpackhi_epi8(v[2], v[3]);
  const __m256i part[4] = {_mm256_unpacklo_epi16(low01, low23), _mm256_unpackhi_epi16(low01, low23), _mm256_unpacklo_epi16(high01, high23), _mm256_unpackhi_epi16(high01, high23)};
  SLIMLINE_UNROLL
  for (int i = 0; i < 4; i++) {
    _mm_store_si128((__m128i*)(to + 16 * i), _mm256_castsi256_si128(part[i]));
    _mm_store_si128((__m128i*)(to + 64 + 16 * i), _mm256_extracti128_si256(part[i], 1));
  }
}

constexpr size_t most_tables = 8;      // of lines whose tables stay in the nearest cache,
constexpr size_t near_samples = 1024;  // beside the codes and sums of so many samples

// Codes of `samples` <= near_samples samples, from a whole byte on.
void transpose_four(const uint8_t* const (&line)[4], size_t samples, uint8_t* to) {
  const size_t bytes = (samples + 3) / 4;
  size_t b = 0;
  for (; b + 32 <= bytes; b += 32) transpose_lines({line[0] + b, line[1] + b, line[2] + b, line[3] + b}, to + 4 * b);
  if (b == bytes) return;
  uint8_t rest[4][32] = {};
  for (int i = 0; i < 4; i++) std::memcpy(rest[i], line[i] + b, bytes - b);
  transpose_lines({rest[0], rest[1], rest[2], rest[3]}, to + 4 * b);
}

template <int together>
SLIMLINE_INLINE void add_samples(const uint8_t (*codes)[near_samples], const Lut4* table, size_t tables, double* y) {
  double sum[together];
  SLIMLINE_UNROLL
  for (int i = 0; i < together; i++) sum[i] = y[i];
  for (size_t f = 0; f < tables; f++) {
    uint64_t byte = codes[f][0];
    if constexpr (together == 8) std::memcpy(&byte, codes[f], 8);
    SLIMLINE_UNROLL
    for (int i = 0; i < together; i++) sum[i] += table[f].of[uint8_t(byte >> 8 * i)];
  }
  SLIMLINE_UNROLL
  for (int i = 0; i < together; i++) y[i] = sum[i];
}

}  // namespace

void lut4_add_vector(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t samples, const double* value, const double* w, size_t step, double* y) {
  Lut4 table[most_tables];
  alignas(64) uint8_t codes[most_tables][near_samples];
  for (size_t first = 0; first < lines; first += 4 * most_tables) {
    const size_t left = lines - first, tables = left < 4 * most_tables ? (left + 3) / 4 : most_tables;
    for (size_t f = 0; f < tables; f++) {
      double part[4][4] = {};
      for (size_t l = 4 * f; l < 4 * f + 4 && l < left; l++)
        for (size_t c = 0; c < 4; c++) part[l % 4][c] = value[4 * (first + l) + c] * w[(first + l) * step];
      set_table(part, table[f]);
    }
    for (size_t i = 0; i < samples; i += near_samples) {
      const size_t here = samples - i < near_samples ? samples - i : near_samples;
      for (size_t f = 0; f < tables; f++) {
        const uint8_t* line[4];
        for (size_t l = 0; l < 4; l++) line[l] = packed + ptrdiff_t(first + (4 * f + l < left ? 4 * f + l : 0)) * stride + i / 4;
        transpose_four(line, here, codes[f]);
      }
      size_t p = 0;
      for (; p + 8 <= here; p += 8) add_samples<8>(reinterpret_cast<const uint8_t(*)[near_samples]>(codes[0] + p), table, tables, y + i + p);
      for (; p < here; p++) add_samples<1>(reinterpret_cast<const uint8_t(*)[near_samples]>(codes[0] + p), table, tables, y + i + p);
    }
  }
}

}  // namespace slimline::SLIMLINE_ISA
#endif
