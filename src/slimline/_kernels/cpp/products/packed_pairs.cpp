// Products of packed genotypes by AVX-512, whose permutations look up sixteen numbers.
//
// X^T A: what eight samples of a variant count is looked up once for all vectors. X W: two variants at a time; what the values of
// both, weighted, make together is worked out for all sixteen pairs of codes, and looked up. That is one addition for two
// genotypes, missing calls included.
#include "isa/simd.hpp"
#include "isa/table.hpp"

namespace slimline::SLIMLINE_ISA {

#if SLIMLINE_VECTOR_BYTES == 64
namespace {

constexpr size_t word_samples = 32;  // in 64 bits
constexpr size_t word_lanes = 8;
constexpr size_t words_of(size_t samples) { return (samples + word_samples - 1) / word_samples; }

// The last word of a line may lack bytes: 0 where there are no samples, but for the bits behind the last one in its byte.
SLIMLINE_INLINE uint64_t word_at(const uint8_t* packed, size_t samples, size_t word) {
  uint64_t found = 0;
  if ((word + 1) * word_samples <= samples) std::memcpy(&found, packed + 8 * word, 8);
  else for (size_t b = (samples + 3) / 4; b-- > 8 * word;) found = found << 8 | packed[b];
  return found;
}

// Which of the eight samples from `first` on are there.
SLIMLINE_INLINE __mmask8 samples_there(size_t samples, size_t first) {
  return samples >= first + word_lanes ? __mmask8(0xFF) : samples <= first ? __mmask8(0) : __mmask8((1u << (samples - first)) - 1);
}

template <int K>
void dot_lines(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t samples, const double* value, const double* v, size_t pitch, double* sums, size_t step) {
  constexpr int parts = K <= 2 ? 4 : 2;  // enough sums for the latency of an addition
  const __m512i first = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
  for (size_t l = 0; l < lines; l++, packed += stride, value += 4, sums += step) {
    const __m512d values = _mm512_broadcast_f64x4(_mm256_loadu_pd(value));  // twice: the third bit that is looked at belongs to the next sample
    __m512d sum[K][parts];
    SLIMLINE_UNROLL
    for (int j = 0; j < K; j++)
      SLIMLINE_UNROLL
      for (int p = 0; p < parts; p++) sum[j][p] = _mm512_setzero_pd();
    auto add_word = [&](size_t i, auto there) __attribute__((always_inline)) {
      const __m512i word = _mm512_set1_epi64(int64_t(word_at(packed, samples, i / word_samples)));
      SLIMLINE_UNROLL
      for (int q = 0; q < 4; q++) {
        const __mmask8 mask = there(i + size_t(q) * word_lanes);
        const __m512d x = _mm512_maskz_permutexvar_pd(mask, _mm512_srlv_epi64(word, _mm512_add_epi64(first, _mm512_set1_epi64(16 * q))), values);
        SLIMLINE_UNROLL
        for (int j = 0; j < K; j++)
          sum[j][q % parts] = _mm512_fmadd_pd(x, _mm512_maskz_loadu_pd(mask, v + size_t(j) * pitch + i + size_t(q) * word_lanes), sum[j][q % parts]);
      }
    };
    size_t i = 0;
    for (; i + word_samples <= samples; i += word_samples) add_word(i, [](size_t) { return __mmask8(0xFF); });
    if (i < samples) add_word(i, [&](size_t at) { return samples_there(samples, at); });
    SLIMLINE_UNROLL
    for (int j = 0; j < K; j++) {
      SLIMLINE_UNROLL
      for (int p = 1; p < parts; p++) sum[j][0] = _mm512_add_pd(sum[j][0], sum[j][p]);
      sums[j] += _mm512_reduce_add_pd(sum[j][0]);
    }
  }
}

void dot(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t samples, const double* value, const double* v, size_t pitch, size_t k, double* sums, size_t step) {
  const auto kernel = k == 1 ? dot_lines<1> : k == 2 ? dot_lines<2> : k == 3 ? dot_lines<3> : dot_lines<4>;
  kernel(packed, stride, lines, samples, value, v, pitch, sums, step);
}

constexpr size_t most_pairs = 32;  // of lines that are taken together
constexpr size_t most_words = 96;

// What the four low bits of each lane stand for: a[c & 3] + b[c >> 2].
struct Pairs {
  __m512d low, high;
  SLIMLINE_INLINE void set(__m256d a, __m256d b) {
    const __m512d both = _mm512_broadcast_f64x4(a), other = _mm512_broadcast_f64x4(b);
    low = _mm512_add_pd(both, _mm512_permutexvar_pd(_mm512_setr_epi64(0, 0, 0, 0, 1, 1, 1, 1), other));
    high = _mm512_add_pd(both, _mm512_permutexvar_pd(_mm512_setr_epi64(2, 2, 2, 2, 3, 3, 3, 3), other));
  }
  SLIMLINE_INLINE __m512d operator()(__m512i codes) const { return _mm512_permutex2var_pd(low, codes, high); }
};

// The codes of two lines side by side, four bits a sample: those of even samples in one word, of odd ones in the next.
SLIMLINE_INLINE void join(uint64_t one, uint64_t two, uint64_t* to) {
  constexpr uint64_t even = 0x3333333333333333ull;
  to[0] = (one & even) | (two & even) << 2;
  to[1] = (one >> 2 & even) | (two & ~even);
}

// y += sums of `words` words of samples, for which all pairs of lines are gone through.
template <int K, int words>
SLIMLINE_INLINE void add_words(const uint64_t* codes, size_t codes_pitch, const Pairs* table, size_t pairs, size_t samples, double* y, size_t pitch) {
  const __m512i first = _mm512_setr_epi64(0, 4, 8, 12, 16, 20, 24, 28), last = _mm512_add_epi64(first, _mm512_set1_epi64(32));
  __m512d sum[K][words * 4];  // even samples, even samples, odd samples, odd samples of each word
  SLIMLINE_UNROLL
  for (int j = 0; j < K; j++)
    SLIMLINE_UNROLL
    for (int q = 0; q < words * 4; q++) sum[j][q] = _mm512_setzero_pd();
  for (size_t l = 0; l < pairs; l++, codes += codes_pitch, table += K) {
    SLIMLINE_UNROLL
    for (int i = 0; i < words * 2; i++) {
      const __m512i both = _mm512_set1_epi64(int64_t(codes[i]));
      SLIMLINE_UNROLL
      for (int j = 0; j < K; j++) {
        sum[j][2 * i] = _mm512_add_pd(sum[j][2 * i], table[j](_mm512_srlv_epi64(both, first)));
        sum[j][2 * i + 1] = _mm512_add_pd(sum[j][2 * i + 1], table[j](_mm512_srlv_epi64(both, last)));
      }
    }
  }
  const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
  SLIMLINE_UNROLL
  for (int j = 0; j < K; j++)
    SLIMLINE_UNROLL
    for (int i = 0; i < words; i++)
      SLIMLINE_UNROLL
      for (int part = 0; part < 4; part++) {
        const __m512d even = sum[j][4 * i + part / 2], odd = sum[j][4 * i + 2 + part / 2];
        const size_t at = size_t(i) * word_samples + size_t(part) * word_lanes;
        const __mmask8 there = samples_there(samples, at);
        double* to = y + size_t(j) * pitch + at;
        _mm512_mask_storeu_pd(to, there, _mm512_add_pd(_mm512_maskz_loadu_pd(there, to), _mm512_permutex2var_pd(even, part % 2 ? high : low, odd)));
      }
}

template <int K>
void add_lines(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t samples, const double* value, const double* w, size_t step, double* y, size_t pitch) {
  constexpr int together = K <= 1 ? 5 : K <= 2 ? 2 : 1;  // words whose sums the registers hold
  alignas(64) uint64_t codes[most_pairs][2 * most_words];
  Pairs table[most_pairs * K];
  const size_t pairs = (lines + 1) / 2, words = words_of(samples);
  for (size_t l = 0; l < pairs; l++) {
    const bool two = 2 * l + 1 < lines;
    const uint8_t *one = packed + ptrdiff_t(2 * l) * stride, *other = two ? one + stride : one;
    for (size_t i = 0; i < words; i++) join(word_at(one, samples, i), word_at(other, samples, i), codes[l] + 2 * i);
    for (size_t j = 0; j < K; j++) {
      auto weighted = [&](size_t line) { return _mm256_mul_pd(_mm256_loadu_pd(value + 4 * line), _mm256_set1_pd(w[line * step + j])); };
      table[l * K + j].set(weighted(2 * l), two ? weighted(2 * l + 1) : _mm256_setzero_pd());
    }
  }
  size_t i = 0;
  for (; (i + together) * word_samples <= samples; i += together)
    add_words<K, together>(codes[0] + 2 * i, 2 * most_words, table, pairs, size_t(together) * word_samples, y + i * word_samples, pitch);
  for (; i < words; i++) add_words<K, 1>(codes[0] + 2 * i, 2 * most_words, table, pairs, samples - i * word_samples, y + i * word_samples, pitch);
}

void add(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t samples, const double* value, const double* w, size_t step, size_t k, double* y, size_t pitch) {
  constexpr size_t most_lines = 2 * most_pairs, most_samples = most_words * word_samples;
  const auto kernel = k == 1 ? add_lines<1> : k == 2 ? add_lines<2> : k == 3 ? add_lines<3> : add_lines<4>;
  for (size_t l = 0; l < lines; l += most_lines)
    for (size_t i = 0; i < samples; i += most_samples)
      kernel(packed + ptrdiff_t(l) * stride + i / 4, stride, lines - l < most_lines ? lines - l : most_lines, samples - i < most_samples ? samples - i : most_samples,
             value + 4 * l, w + l * step, step, y + i, pitch);
}

}  // namespace

void add_packed_pair_kernels(Kernels& k) { k.packed.dot = dot, k.packed.add = add; }

#else  // no permutation of sixteen numbers: lut4_dot.cpp

void add_packed_pair_kernels(Kernels&) {}

#endif

}  // namespace slimline::SLIMLINE_ISA
