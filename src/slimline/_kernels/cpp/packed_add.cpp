// Packed genotypes added up over variants, two of them at a time: what the values of both, weighted, make together is worked
// out for all sixteen pairs of codes, and looked up. That is one addition for two genotypes, missing calls included.
#include "packed_pairs.hpp"
#include "table.hpp"

namespace slimline::SLIMLINE_ISA {

#if SLIMLINE_VECTOR_BYTES == 64
namespace {

constexpr size_t most_pairs = 32;  // of variants that are taken together
constexpr size_t most_words = 96;

// a[c & 3] + b[c >> 2] for all c.
SLIMLINE_INLINE Sixteen sums_of_pairs(__m256d a, __m256d b) {
  const __m512d both = _mm512_broadcast_f64x4(a), other = _mm512_castpd256_pd512(b);
  return {_mm512_add_pd(both, _mm512_permutexvar_pd(_mm512_setr_epi64(0, 0, 0, 0, 1, 1, 1, 1), other)),
          _mm512_add_pd(both, _mm512_permutexvar_pd(_mm512_setr_epi64(2, 2, 2, 2, 3, 3, 3, 3), other))};
}

// The codes of two variants side by side, four bits a person: those of even people in one word, of odd ones in the next.
SLIMLINE_INLINE void join(uint64_t one, uint64_t two, uint64_t* to) {
  constexpr uint64_t even = 0x3333333333333333ull;
  to[0] = (one & even) | (two & even) << 2;
  to[1] = (one >> 2 & even) | (two & ~even);
}

// y += sums of `words` words of people, for which all pairs of variants are gone through.
template <int K, int words>
SLIMLINE_INLINE void add_words(const uint64_t* codes, size_t codes_pitch, const Sixteen* table, size_t pairs, size_t people, double* y, size_t pitch) {
  const __m512i first = _mm512_setr_epi64(0, 4, 8, 12, 16, 20, 24, 28), last = _mm512_add_epi64(first, _mm512_set1_epi64(32));
  __m512d sum[K][words * 4];  // even people, even people, odd people, odd people of each word
  SLIMLINE_UNROLL
  for (int j = 0; j < K; j++)
    SLIMLINE_UNROLL
    for (int q = 0; q < words * 4; q++) sum[j][q] = _mm512_setzero_pd();
  for (size_t l = 0; l < pairs; l++, codes += codes_pitch, table += K) {
    SLIMLINE_UNROLL
    for (int i = 0; i < words * 2; i++) {
      const __m512i both = _mm512_set1_epi64(int64_t(codes[i]));
      const __m512i near = _mm512_srlv_epi64(both, first), far = _mm512_srlv_epi64(both, last);
      SLIMLINE_UNROLL
      for (int j = 0; j < K; j++) {
        sum[j][2 * i] = _mm512_add_pd(sum[j][2 * i], table[j](near));
        sum[j][2 * i + 1] = _mm512_add_pd(sum[j][2 * i + 1], table[j](far));
      }
    }
  }
  const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
  SLIMLINE_UNROLL
  for (int j = 0; j < K; j++)
    SLIMLINE_UNROLL
    for (int i = 0; i < words; i++)
      SLIMLINE_UNROLL
      for (int half = 0; half < 4; half++) {
        const __m512d even = sum[j][4 * i + half / 2], odd = sum[j][4 * i + 2 + half / 2];
        const size_t at = size_t(i) * word_people + size_t(half) * word_lanes;
        const __mmask8 there = people_there(people, at);
        double* to = y + size_t(j) * pitch + at;
        _mm512_mask_storeu_pd(to, there, _mm512_add_pd(_mm512_maskz_loadu_pd(there, to), _mm512_permutex2var_pd(even, half % 2 ? high : low, odd)));
      }
}

template <int K>
void add_lines(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t people, const double* value, const double* w, size_t step, double* y, size_t pitch) {
  constexpr int together = K <= 1 ? 5 : K <= 2 ? 2 : 1;  // words whose sums the registers hold
  alignas(64) uint64_t codes[most_pairs][2 * most_words];
  Sixteen table[most_pairs * K];
  const size_t pairs = (lines + 1) / 2;
  for (size_t l = 0; l < pairs; l++) {
    const bool two = 2 * l + 1 < lines;
    const uint8_t *one = packed + ptrdiff_t(2 * l) * stride, *other = two ? one + stride : one;
    const size_t whole = people / word_people;
    for (size_t i = 0; i < whole; i++) join(word_at(one, i), word_at(other, i), codes[l] + 2 * i);
    if (people % word_people) join(last_word(one, people), last_word(other, people), codes[l] + 2 * whole);
    for (int j = 0; j < K; j++) {
      const __m256d of_one = _mm256_mul_pd(_mm256_loadu_pd(value + 8 * l), _mm256_set1_pd(w[2 * l * step + size_t(j)]));
      const __m256d of_other = two ? _mm256_mul_pd(_mm256_loadu_pd(value + 8 * l + 4), _mm256_set1_pd(w[(2 * l + 1) * step + size_t(j)])) : _mm256_setzero_pd();
      table[l * K + size_t(j)] = sums_of_pairs(of_one, of_other);
    }
  }
  size_t i = 0;
  for (; (i + together) * word_people <= people; i += together)
    add_words<K, together>(codes[0] + 2 * i, 2 * most_words, table, pairs, size_t(together) * word_people, y + i * word_people, pitch);
  for (; i < words_of(people); i++)
    add_words<K, 1>(codes[0] + 2 * i, 2 * most_words, table, pairs, people - i * word_people, y + i * word_people, pitch);
}

void add(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t people, const double* value, const double* w, size_t step, size_t k, double* y, size_t pitch) {
  constexpr size_t most_lines = 2 * most_pairs, most_people = most_words * word_people;
  const auto kernel = k == 1 ? add_lines<1> : k == 2 ? add_lines<2> : k == 3 ? add_lines<3> : add_lines<4>;
  for (size_t l = 0; l < lines; l += most_lines)
    for (size_t i = 0; i < people; i += most_people)
      kernel(packed + ptrdiff_t(l) * stride + i / 4, stride, lines - l < most_lines ? lines - l : most_lines, people - i < most_people ? people - i : most_people,
             value + 4 * l, w + l * step, step, y + i, pitch);
}

}  // namespace

void add_packed_add_kernels(Kernels& k) { k.packed.add = add, k.packed.near_bytes = 256 << 10; }

#else  // no permutation of sixteen values of 64 bits: see packed_fours.cpp

void add_packed_add_kernels(Kernels&) {}

#endif

}  // namespace slimline::SLIMLINE_ISA
