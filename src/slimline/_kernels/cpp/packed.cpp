// Sums over genotypes of two bits as they are packed: 8 people are brought into the lanes of a vector by one shift, and a
// permutation of the four values of their variant looks up what each of them counts, a missing call included.
#include "simd.hpp"
#include "table.hpp"

namespace slimline::SLIMLINE_ISA {

#if SLIMLINE_VECTOR_BYTES == 64
namespace {

constexpr size_t word_people = 32;  // in 64 bits
constexpr size_t lane_people = 8;

// What a code stands for, twice: the permutation looks at three bits, and the third belongs to the next person.
SLIMLINE_INLINE __m512d values_of(const double* value) { return _mm512_broadcast_f64x4(_mm256_loadu_pd(value)); }

// The codes of people 8 q to 8 q + 7 of a word, each at the low end of a lane.
SLIMLINE_INLINE __m512i codes_of(__m512i word, int q) {
  const __m512i first = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
  return _mm512_srlv_epi64(word, _mm512_add_epi64(first, _mm512_set1_epi64(16 * q)));
}

SLIMLINE_INLINE __m512i word_at(const uint8_t* packed) {
  int64_t word;
  std::memcpy(&word, packed, 8);
  return _mm512_set1_epi64(word);
}

// The last word of a line, which may lack bytes, and which of its lanes are people.
SLIMLINE_INLINE __m512i last_word(const uint8_t* packed, size_t people) {
  int64_t word = 0;
  std::memcpy(&word, packed, (people + 3) / 4);
  return _mm512_set1_epi64(word);
}
SLIMLINE_INLINE __mmask8 mask_of(size_t people, size_t q) {
  const size_t first = q * lane_people;
  return people >= first + lane_people ? __mmask8(0xFF) : people <= first ? __mmask8(0) : __mmask8((1u << (people - first)) - 1);
}

template <int K>
void dot_lines(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t people, const double* value, const double* v, size_t pitch, double* sums, size_t step) {
  for (size_t l = 0; l < lines; l++, packed += stride, value += 4, sums += step) {
    const __m512d table = values_of(value);
    constexpr int parts = K == 1 ? 4 : 1;  // enough sums for the latency of an addition
    __m512d sum[K][parts];
    SLIMLINE_UNROLL
    for (int j = 0; j < K; j++)
      SLIMLINE_UNROLL
      for (int p = 0; p < parts; p++) sum[j][p] = _mm512_setzero_pd();
    size_t i = 0;
    for (; i + word_people <= people; i += word_people) {
      const __m512i word = word_at(packed + i / 4);
      SLIMLINE_UNROLL
      for (int q = 0; q < 4; q++) {
        const __m512d x = _mm512_permutexvar_pd(codes_of(word, q), table);
        SLIMLINE_UNROLL
        for (int j = 0; j < K; j++)
          sum[j][q % parts] = _mm512_fmadd_pd(x, _mm512_loadu_pd(v + size_t(j) * pitch + i + size_t(q) * lane_people), sum[j][q % parts]);
      }
    }
    if (i < people) {
      const __m512i word = last_word(packed + i / 4, people - i);
      SLIMLINE_UNROLL
      for (int q = 0; q < 4; q++) {
        const __mmask8 there = mask_of(people - i, size_t(q));
        const __m512d x = _mm512_maskz_permutexvar_pd(there, codes_of(word, q), table);
        SLIMLINE_UNROLL
        for (int j = 0; j < K; j++)
          sum[j][q % parts] = _mm512_fmadd_pd(x, _mm512_maskz_loadu_pd(there, v + size_t(j) * pitch + i + size_t(q) * lane_people), sum[j][q % parts]);
      }
    }
    SLIMLINE_UNROLL
    for (int j = 0; j < K; j++) {
      __m512d total = sum[j][0];
      SLIMLINE_UNROLL
      for (int p = 1; p < parts; p++) total = _mm512_add_pd(total, sum[j][p]);
      sums[j] += _mm512_reduce_add_pd(total);
    }
  }
}

void dot(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t people, const double* value, const double* v, size_t pitch, size_t k, double* sums, size_t step) {
  switch (k) {
    case 1: return dot_lines<1>(packed, stride, lines, people, value, v, pitch, sums, step);
    case 2: return dot_lines<2>(packed, stride, lines, people, value, v, pitch, sums, step);
    case 3: return dot_lines<3>(packed, stride, lines, people, value, v, pitch, sums, step);
    default: return dot_lines<4>(packed, stride, lines, people, value, v, pitch, sums, step);
  }
}

// `words` words of people for all lines; their sums stay in registers. The last word may be short.
template <int K, int words>
SLIMLINE_INLINE void add_words(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t people, const double* value, const double* w, size_t step, double* y, size_t pitch) {
  const bool whole = people >= size_t(words) * word_people;
  __m512d sum[K][words * 4];
  SLIMLINE_UNROLL
  for (int j = 0; j < K; j++)
    SLIMLINE_UNROLL
    for (int q = 0; q < words * 4; q++) sum[j][q] = _mm512_maskz_loadu_pd(mask_of(people, size_t(q)), y + size_t(j) * pitch + size_t(q) * lane_people);
  for (size_t l = 0; l < lines; l++, packed += stride, value += 4, w += step) {
    const __m512d table = values_of(value);
    __m512d weight[K];
    SLIMLINE_UNROLL
    for (int j = 0; j < K; j++) weight[j] = _mm512_set1_pd(w[j]);
    SLIMLINE_UNROLL
    for (int i = 0; i < words; i++) {
      const __m512i word = whole ? word_at(packed + 8 * i) : last_word(packed + 8 * i, people - size_t(i) * word_people);
      SLIMLINE_UNROLL
      for (int q = 0; q < 4; q++) {
        const __m512d x = _mm512_permutexvar_pd(codes_of(word, q), table);
        SLIMLINE_UNROLL
        for (int j = 0; j < K; j++) sum[j][4 * i + q] = _mm512_fmadd_pd(x, weight[j], sum[j][4 * i + q]);
      }
    }
  }
  SLIMLINE_UNROLL
  for (int j = 0; j < K; j++)
    SLIMLINE_UNROLL
    for (int q = 0; q < words * 4; q++) _mm512_mask_storeu_pd(y + size_t(j) * pitch + size_t(q) * lane_people, mask_of(people, size_t(q)), sum[j][q]);
}

template <int K>
void add_lines(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t people, const double* value, const double* w, size_t step, double* y, size_t pitch) {
  constexpr int words = K <= 1 ? 4 : K <= 2 ? 2 : 1;  // what the registers hold
  constexpr size_t together = size_t(words) * word_people;
  size_t i = 0;
  for (; i + together <= people; i += together) add_words<K, words>(packed + i / 4, stride, lines, together, value, w, step, y + i, pitch);
  for (; i < people; i += word_people)
    add_words<K, 1>(packed + i / 4, stride, lines, people - i < word_people ? people - i : word_people, value, w, step, y + i, pitch);
}

void add(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t people, const double* value, const double* w, size_t step, size_t k, double* y, size_t pitch) {
  switch (k) {
    case 1: return add_lines<1>(packed, stride, lines, people, value, w, step, y, pitch);
    case 2: return add_lines<2>(packed, stride, lines, people, value, w, step, y, pitch);
    case 3: return add_lines<3>(packed, stride, lines, people, value, w, step, y, pitch);
    default: return add_lines<4>(packed, stride, lines, people, value, w, step, y, pitch);
  }
}

}  // namespace

void add_packed_kernels(Kernels& k) { k.packed.dot = dot, k.packed.add = add; }

#else  // no permutation of four values of 64 bits: see packed_fours.cpp

void add_packed_kernels(Kernels&) {}

#endif

}  // namespace slimline::SLIMLINE_ISA
