// Packed genotypes multiplied with vectors of a number a person.
//
// One vector: two people of eight variants at a time. What the sixteen pairs of copies, and of missing calls, make of their two
// numbers is looked up, and the values of the variant come in at the end. Several: eight people of a variant; what each of them
// counts is looked up once for all vectors.
#include "packed_pairs.hpp"
#include "table.hpp"

namespace slimline::SLIMLINE_ISA {

#if SLIMLINE_VECTOR_BYTES == 64
namespace {

constexpr size_t dot_lines = 32;    // four vectors of them
constexpr size_t dot_words = 8;    // of people whose tables stay in the nearest cache
constexpr int groups = int(dot_lines / word_lanes);

// What the copies of two people, and their missing calls, count: by the codes 00, 01, 10, 11 that is 2, 0, 1, 0 and 0, 1, 0, 0.
struct TwoPeople {
  Sixteen copies, missing;
};
SLIMLINE_INLINE TwoPeople two_people(double one, double two) {  // the products are exact
  const __m512d a = _mm512_set1_pd(one), b = _mm512_set1_pd(two);
  const __m512d copies = _mm512_mul_pd(a, _mm512_setr_pd(2, 0, 1, 0, 2, 0, 1, 0)), missing = _mm512_mul_pd(a, _mm512_setr_pd(0, 1, 0, 0, 0, 1, 0, 0));
  return {{_mm512_fmadd_pd(b, _mm512_setr_pd(2, 2, 2, 2, 0, 0, 0, 0), copies), _mm512_fmadd_pd(b, _mm512_setr_pd(1, 1, 1, 1, 0, 0, 0, 0), copies)},
          {_mm512_fmadd_pd(b, _mm512_setr_pd(0, 0, 0, 0, 1, 1, 1, 1), missing), missing}};
}

// `counts_missing`: whether those are needed at all.
template <bool counts_missing>
SLIMLINE_INLINE void dot_some(const uint64_t (&word)[dot_words][dot_lines], size_t words, const TwoPeople* table, __m512d (&copies)[groups], __m512d (&missing)[groups]) {
  for (size_t i = 0; i < words; i++) {
    __m512i codes[groups];
    SLIMLINE_UNROLL
    for (int g = 0; g < groups; g++) codes[g] = _mm512_load_si512(word[i] + g * int(word_lanes));
    SLIMLINE_NO_UNROLL  // gcc would mix up all of them, and run out of registers
    for (int pair = 0; pair < int(word_people / 2); pair++, table++)
      SLIMLINE_UNROLL
      for (int g = 0; g < groups; g++) {
        copies[g] = _mm512_add_pd(copies[g], table->copies(codes[g]));
        if constexpr (counts_missing) missing[g] = _mm512_add_pd(missing[g], table->missing(codes[g]));
        codes[g] = _mm512_srli_epi64(codes[g], 4);
      }
  }
}

// Whether calls of some lines are missing; bits behind the last person may say so, too.
bool any_missing(const uint64_t (&word)[dot_words][dot_lines], size_t words) {
  __m512i found = _mm512_setzero_si512();
  for (size_t i = 0; i < words; i++)
    SLIMLINE_UNROLL
    for (int g = 0; g < groups; g++) {
      const __m512i codes = _mm512_load_si512(word[i] + g * int(word_lanes));
      found = _mm512_or_si512(found, _mm512_andnot_si512(_mm512_srli_epi64(codes, 1), codes));
    }
  return _mm512_test_epi8_mask(found, _mm512_set1_epi8(0x55)) != 0;
}

bool any_missing(const uint8_t* packed, size_t people) {
  for (size_t i = 0; i < words_of(people); i++) {
    const uint64_t word = (i + 1) * word_people <= people ? word_at(packed, i) : last_word(packed, people), missing = word & ~(word >> 1) & 0x5555555555555555ull;
    const size_t there = people - i * word_people;
    if (there >= word_people ? missing : missing & ((uint64_t(1) << 2 * there) - 1)) return true;
  }
  return false;
}

// What a line counts is value = a + b · copies, or `value[1]` for a missing call: a · (all - missing) + b · copies + value[1] · missing.
void dot_vector(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t people, const double* value, const double* v, double* sums, size_t step) {
  alignas(64) uint64_t word[dot_words][dot_lines];
  TwoPeople table[dot_words * word_people / 2];
  bool counts_missing = false;
  for (size_t l = 0; l < lines; l++) counts_missing |= !(value[4 * l + 1] == value[4 * l + 3]);  // a missing call is no copy
  for (size_t begin = 0; begin < people; begin += dot_words * word_people) {
    const size_t here = people - begin < dot_words * word_people ? people - begin : dot_words * word_people, words = words_of(here);
    double total = 0;
    for (size_t i = 0; i < words * word_people; i += 2) {
      const double one = i < here ? v[begin + i] : 0.0, two = i + 1 < here ? v[begin + i + 1] : 0.0;
      total += one + two;
      table[i / 2] = two_people(one, two);
    }
    for (size_t l = 0; l < lines; l += dot_lines) {
      const size_t count = lines - l < dot_lines ? lines - l : dot_lines;
      for (size_t r = 0; r < dot_lines; r++) {
        const uint8_t* line = packed + ptrdiff_t(l + (r < count ? r : 0)) * stride + begin / 4;
        for (size_t i = 0; i < here / word_people; i++) word[i][r] = word_at(line, i);
        if (here % word_people) word[words - 1][r] = last_word(line, here);
      }
      __m512d copies[groups], missing[groups];
      SLIMLINE_UNROLL
      for (int g = 0; g < groups; g++) copies[g] = missing[g] = _mm512_setzero_pd();
      const bool gaps = any_missing(word, words);  // many data have none, which is less work
      if (gaps && counts_missing) dot_some<true>(word, words, table, copies, missing);
      else dot_some<false>(word, words, table, copies, missing);
      alignas(64) double of_copies[dot_lines], of_missing[dot_lines];
      SLIMLINE_UNROLL
      for (int g = 0; g < groups; g++) _mm512_store_pd(of_copies + g * int(word_lanes), copies[g]), _mm512_store_pd(of_missing + g * int(word_lanes), missing[g]);
      for (size_t r = 0; r < count; r++) {
        const double* of = value + 4 * (l + r);
        double& sum = sums[(l + r) * step];
        sum += (of[2] - of[3]) * of_copies[r] + of[3] * total;
        if (of[1] == of[1]) sum += (of[1] - of[3]) * of_missing[r];
        else if (gaps && any_missing(packed + ptrdiff_t(l + r) * stride + begin / 4, here)) sum = of[1];  // NaN, whatever it is multiplied with
      }
    }
  }
}

// What a code stands for, twice: the permutation looks at three bits, and the third belongs to the next person.
SLIMLINE_INLINE __m512d values_of(const double* value) { return _mm512_broadcast_f64x4(_mm256_loadu_pd(value)); }

// The codes of people 8 q to 8 q + 7 of a word, each at the low end of a lane.
SLIMLINE_INLINE __m512i codes_of(__m512i word, int q) {
  const __m512i first = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
  return _mm512_srlv_epi64(word, _mm512_add_epi64(first, _mm512_set1_epi64(16 * q)));
}

template <int K>
void dot_several(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t people, const double* value, const double* v, size_t pitch, double* sums, size_t step) {
  for (size_t l = 0; l < lines; l++, packed += stride, value += 4, sums += step) {
    const __m512d table = values_of(value);
    constexpr int parts = K <= 2 ? 2 : 1;  // enough sums for the latency of an addition
    __m512d sum[K][parts];
    SLIMLINE_UNROLL
    for (int j = 0; j < K; j++)
      SLIMLINE_UNROLL
      for (int p = 0; p < parts; p++) sum[j][p] = _mm512_setzero_pd();
    size_t i = 0;
    for (; i + word_people <= people; i += word_people) {
      const __m512i word = _mm512_set1_epi64(int64_t(word_at(packed, i / word_people)));
      SLIMLINE_UNROLL
      for (int q = 0; q < 4; q++) {
        const __m512d x = _mm512_permutexvar_pd(codes_of(word, q), table);
        SLIMLINE_UNROLL
        for (int j = 0; j < K; j++)
          sum[j][q % parts] = _mm512_fmadd_pd(x, _mm512_loadu_pd(v + size_t(j) * pitch + i + size_t(q) * word_lanes), sum[j][q % parts]);
      }
    }
    if (i < people) {
      const __m512i word = _mm512_set1_epi64(int64_t(last_word(packed, people)));
      SLIMLINE_UNROLL
      for (int q = 0; q < 4; q++) {
        const __mmask8 there = people_there(people - i, size_t(q) * word_lanes);
        const __m512d x = _mm512_maskz_permutexvar_pd(there, codes_of(word, q), table);
        SLIMLINE_UNROLL
        for (int j = 0; j < K; j++)
          sum[j][q % parts] = _mm512_fmadd_pd(x, _mm512_maskz_loadu_pd(there, v + size_t(j) * pitch + i + size_t(q) * word_lanes), sum[j][q % parts]);
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
    case 1: return dot_vector(packed, stride, lines, people, value, v, sums, step);
    case 2: return dot_several<2>(packed, stride, lines, people, value, v, pitch, sums, step);
    case 3: return dot_several<3>(packed, stride, lines, people, value, v, pitch, sums, step);
    default: return dot_several<4>(packed, stride, lines, people, value, v, pitch, sums, step);
  }
}

}  // namespace

void add_packed_dot_kernels(Kernels& k) { k.packed.dot = dot; }

#else  // no permutation of sixteen values of 64 bits: see packed_fours.cpp

void add_packed_dot_kernels(Kernels&) {}

#endif

}  // namespace slimline::SLIMLINE_ISA
