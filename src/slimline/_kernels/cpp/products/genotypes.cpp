// Genotypes of two bits, as PLINK packs them: 00 two copies of the first allele, 10 one, 11 none, 01 a missing call.
#include "isa/simd.hpp"
#include "isa/table.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

SLIMLINE_INLINE int8_t call_of(const uint8_t* packed, size_t sample, int8_t missing) {
  const int code = packed[sample / 4] >> (2 * (sample % 4)) & 3;
  return code == 0 ? 2 : code == 1 ? missing : code == 2 ? 1 : 0;
}

#if SLIMLINE_VECTOR_BYTES >= 32
// 32 bytes to 128 calls: a nibble holds two codes, and a shuffle looks each of them up.
SLIMLINE_INLINE void unpack128(__m256i codes, int8_t m, int8_t* out) {
  const __m256i one = _mm256_broadcastsi128_si256(_mm_setr_epi8(2, m, 1, 0, 2, m, 1, 0, 2, m, 1, 0, 2, m, 1, 0));
  const __m256i two = _mm256_broadcastsi128_si256(_mm_setr_epi8(2, 2, 2, 2, m, m, m, m, 1, 1, 1, 1, 0, 0, 0, 0));
  const __m256i nibble = _mm256_set1_epi8(15), low = _mm256_and_si256(codes, nibble), high = _mm256_and_si256(_mm256_srli_epi16(codes, 4), nibble);
  const __m256i a = _mm256_shuffle_epi8(one, low), b = _mm256_shuffle_epi8(two, low), c = _mm256_shuffle_epi8(one, high), d = _mm256_shuffle_epi8(two, high);
  const __m256i ab0 = _mm256_unpacklo_epi8(a, b), ab1 = _mm256_unpackhi_epi8(a, b), cd0 = _mm256_unpacklo_epi8(c, d), cd1 = _mm256_unpackhi_epi8(c, d);
  const __m256i calls[4] = {_mm256_unpacklo_epi16(ab0, cd0), _mm256_unpackhi_epi16(ab0, cd0), _mm256_unpacklo_epi16(ab1, cd1), _mm256_unpackhi_epi16(ab1, cd1)};
  SLIMLINE_UNROLL
  for (int i = 0; i < 4; i++) {
    _mm_storeu_si128((__m128i*)(out + 16 * i), _mm256_castsi256_si128(calls[i]));
    _mm_storeu_si128((__m128i*)(out + 64 + 16 * i), _mm256_extracti128_si256(calls[i], 1));
  }
}
#endif

bool unpack(const uint8_t* packed, size_t samples, int8_t* out) {
  constexpr int8_t missing = missing_call;
  bool gone = false;
  size_t i = 0;
#if SLIMLINE_VECTOR_BYTES >= 32
  __m256i any = _mm256_setzero_si256();
  for (; i + 128 <= samples; i += 128) {
    const __m256i codes = _mm256_loadu_si256((const __m256i*)(packed + i / 4));
    any = _mm256_or_si256(any, _mm256_andnot_si256(_mm256_srli_epi16(codes, 1), codes));  // low bit without the high one
    unpack128(codes, missing, out + i);
  }
  if (samples >= 128 && i + 4 <= samples) {  // the last 128 whole ones once more, most of them a second time
    i = samples / 4 * 4 - 128;
    const __m256i codes = _mm256_loadu_si256((const __m256i*)(packed + i / 4));
    any = _mm256_or_si256(any, _mm256_andnot_si256(_mm256_srli_epi16(codes, 1), codes));
    unpack128(codes, missing, out + i);
    i += 128;
  }
  gone = !_mm256_testz_si256(any, _mm256_set1_epi8(0x55));
#endif
  for (; i < samples; i++) {
    out[i] = call_of(packed, i, missing);
    gone |= (packed[i / 4] >> (2 * (i % 4)) & 3) == 1;
  }
  return gone;
}

#if defined(__x86_64__)
SLIMLINE_INLINE __m128i low8(__m128i a, __m128i b) { return _mm_unpacklo_epi8(a, b); }
SLIMLINE_INLINE __m128i high8(__m128i a, __m128i b) { return _mm_unpackhi_epi8(a, b); }

// 16 x 16 bytes transposed: four times the rows are interleaved with those eight further on.
SLIMLINE_INLINE void transpose16(const int8_t* x, size_t x_stride, int8_t* out, ptrdiff_t stride) {
  __m128i a[16], b[16];
  SLIMLINE_UNROLL
  for (int i = 0; i < 16; i++) a[i] = _mm_loadu_si128((const __m128i*)(x + size_t(i) * x_stride));
  SLIMLINE_UNROLL
  for (int i = 0; i < 8; i++) b[2 * i] = low8(a[i], a[i + 8]), b[2 * i + 1] = high8(a[i], a[i + 8]);
  SLIMLINE_UNROLL
  for (int i = 0; i < 8; i++) a[2 * i] = low8(b[i], b[i + 8]), a[2 * i + 1] = high8(b[i], b[i + 8]);
  SLIMLINE_UNROLL
  for (int i = 0; i < 8; i++) b[2 * i] = low8(a[i], a[i + 8]), b[2 * i + 1] = high8(a[i], a[i + 8]);
  SLIMLINE_UNROLL
  for (int i = 0; i < 8; i++) {
    _mm_storeu_si128((__m128i*)(out + ptrdiff_t(2 * i) * stride), low8(b[i], b[i + 8]));
    _mm_storeu_si128((__m128i*)(out + ptrdiff_t(2 * i + 1) * stride), high8(b[i], b[i + 8]));
  }
}
#endif

void unpack_transposed(const uint8_t* packed, ptrdiff_t packed_stride, size_t variants, size_t samples, int8_t* out, ptrdiff_t stride) {
  size_t first = 0;
#if defined(__x86_64__)
  constexpr size_t many = 64, together = 128;  // variants and samples: whole cache lines are written
  alignas(64) int8_t rows[many * together];
  for (; first + many <= variants; first += many) {
    for (size_t i = 0; i < samples; i += together) {
      const size_t count = samples - i < together ? samples - i : together;
      for (size_t v = 0; v < many; v++) unpack(packed + ptrdiff_t(first + v) * packed_stride + i / 4, count, rows + v * together);
      for (size_t p = 0; p < count; p += 16)
        for (size_t v = 0; v < many; v += 16) {
          int8_t* to = out + ptrdiff_t(i + p) * stride + first + v;
          if (count - p >= 16) transpose16(rows + v * together + p, together, to, stride);
          else
            for (size_t q = p; q < count; q++)
              for (size_t w = 0; w < 16; w++) to[ptrdiff_t(q - p) * stride + ptrdiff_t(w)] = rows[(v + w) * together + q];
        }
    }
  }
#endif
  for (; first < variants; first++)
    for (size_t i = 0; i < samples; i++) out[ptrdiff_t(i) * stride + ptrdiff_t(first)] = call_of(packed + ptrdiff_t(first) * packed_stride, i, missing_call);
}

// A word holds 32 samples: the low bits of their codes at even places, the high ones at odd places.
void count(const uint8_t* packed, size_t samples, size_t (&of_code)[4]) {
  constexpr uint64_t every = 0x5555555555555555ull;
  size_t both = 0, low_only = 0, high_only = 0;
  auto see = [&](uint64_t word, uint64_t there) {
    const uint64_t low = word & there, high = (word >> 1) & there;
    both += size_t(__builtin_popcountll(low & high)), low_only += size_t(__builtin_popcountll(low & ~high));
    high_only += size_t(__builtin_popcountll(high & ~low));
  };
  size_t i = 0;
  for (; i + 32 <= samples; i += 32) {
    uint64_t word;
    std::memcpy(&word, packed + i / 4, 8);
    see(word, every);
  }
  if (i < samples) {
    uint64_t word = 0;
    std::memcpy(&word, packed + i / 4, (samples - i + 3) / 4);
    see(word, every & ((uint64_t(1) << 2 * (samples - i)) - 1));
  }
  of_code[0] = samples - both - low_only - high_only, of_code[1] = low_only, of_code[2] = high_only, of_code[3] = both;
}

}  // namespace

void add_genotype_kernels(Kernels& k) {
  k.genotypes = {unpack, count, unpack_transposed};
}

}  // namespace slimline::SLIMLINE_ISA
