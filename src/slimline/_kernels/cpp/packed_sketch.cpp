// Packed genotypes times a sparse R, column by column of R: people lie side by side as it is, so what the variants of a column
// count for each of them is looked up by a permutation and added up in registers.
#include "simd.hpp"
#include "table.hpp"

namespace slimline::SLIMLINE_ISA {

#if SLIMLINE_VECTOR_BYTES >= 32
namespace {

SLIMLINE_INLINE const uint8_t* line_of(const uint8_t* packed, ptrdiff_t stride, uint32_t entry) { return packed + ptrdiff_t(entry >> 1) * stride; }

// The next variants lie anywhere: they are fetched while these are added up.
SLIMLINE_INLINE void fetch(const uint8_t* packed, ptrdiff_t stride, const uint32_t* entry, const uint32_t* end, size_t byte) {
  for (; entry < end; entry++) __builtin_prefetch(line_of(packed, stride, *entry) + byte);
}

#if SLIMLINE_VECTOR_BYTES == 64

constexpr size_t together = 256;  // people: 64 bytes of each line
constexpr size_t most_pairs = 64;

// The values of two variants added up, for all pairs of codes.
SLIMLINE_INLINE __m512 table_of(const float* value, const uint32_t* entry, bool two) {
  auto signed_values = [&](uint32_t e) { return (__m128)_mm_xor_ps(_mm_loadu_ps(value + 4 * size_t(e >> 1)), _mm_castsi128_ps(_mm_set1_epi32(int(e << 31)))); };
  const __m512 one = _mm512_broadcast_f32x4(signed_values(entry[0]));
  if (!two) return one;
  const __m512i by_second = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
  return _mm512_add_ps(one, _mm512_permutexvar_ps(by_second, _mm512_castps128_ps512(signed_values(entry[1]))));
}

// to = or += what up to `most_pairs` pairs of variants count for up to `together` people.
SLIMLINE_INLINE void sum_up(const uint8_t* packed, ptrdiff_t stride, const uint32_t* entry, size_t lines, const __m512* table, size_t people, bool add, float* to) {
  // Of the eight bytes that 32 people have, lanes at even places look at the low four, those at odd places at the high four.
  const __m512i shift = _mm512_setr_epi32(0, 0, 4, 4, 8, 8, 12, 12, 16, 16, 20, 20, 24, 24, 28, 28);
  const __m512i even_people = _mm512_set1_epi8(0x33);
  const size_t bytes = (people + 3) / 4;
  const __mmask64 there = bytes >= together / 4 ? ~__mmask64(0) : (__mmask64(1) << bytes) - 1;
  __m512 even[8], odd[8];  // people of 32
  SLIMLINE_UNROLL
  for (int i = 0; i < 8; i++) even[i] = odd[i] = _mm512_setzero_ps();
  for (size_t l = 0; l < lines; l += 2) {
    const __m512i one = _mm512_maskz_loadu_epi8(there, line_of(packed, stride, entry[l]));
    const __m512i two = _mm512_maskz_loadu_epi8(there, line_of(packed, stride, entry[l + 1 < lines ? l + 1 : l]));
    // codes of both side by side, four bits a person; each bit of the first operand chooses
    alignas(64) int64_t codes[2][8];
    _mm512_store_si512(codes[0], _mm512_ternarylogic_epi64(even_people, one, _mm512_slli_epi64(two, 2), 0xCA));
    _mm512_store_si512(codes[1], _mm512_ternarylogic_epi64(even_people, _mm512_srli_epi64(one, 2), two, 0xCA));
    const __m512 both = table[l / 2];
    SLIMLINE_UNROLL
    for (int i = 0; i < 8; i++) {
      even[i] = _mm512_add_ps(even[i], _mm512_permutexvar_ps(_mm512_srlv_epi32(_mm512_set1_epi64(codes[0][i]), shift), both));
      odd[i] = _mm512_add_ps(odd[i], _mm512_permutexvar_ps(_mm512_srlv_epi32(_mm512_set1_epi64(codes[1][i]), shift), both));
    }
  }
  const __m512i low = _mm512_setr_epi32(0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30), high = _mm512_add_epi32(low, _mm512_set1_epi32(1));
  auto put = [&](float* at, __m512 sums) __attribute__((always_inline)) { _mm512_storeu_ps(at, add ? _mm512_add_ps(_mm512_loadu_ps(at), sums) : sums); };
  SLIMLINE_UNROLL
  for (int i = 0; i < 8; i++) {
    if (size_t(i) * 32 < people) put(to + i * 32, _mm512_permutex2var_ps(even[i], low, odd[i]));
    if (size_t(i) * 32 + 16 < people) put(to + i * 32 + 16, _mm512_permutex2var_ps(even[i], high, odd[i]));
  }
}

void sum_column(const uint8_t* packed, ptrdiff_t stride, size_t people, const float* value, const uint32_t* entry, size_t lines, const uint32_t* next, const uint32_t* next_end, float* sums) {
  __m512 table[most_pairs];
  for (size_t l = 0; l < lines || l == 0; l += 2 * most_pairs) {
    const size_t count = lines - l < 2 * most_pairs ? lines - l : 2 * most_pairs;
    for (size_t i = 0; i < count; i += 2) table[i / 2] = table_of(value, entry + l + i, i + 1 < count);
    for (size_t i = 0; i < people; i += together) {
      if (l == 0) fetch(packed, stride, next, next_end, i / 4);
      sum_up(packed + i / 4, stride, entry + l, count, table, people - i, l > 0, sums + i);
    }
  }
}

#else

constexpr size_t together = 64;  // people
constexpr int vectors = int(together) / float_lanes;

// The last bytes of a line may not be there.
SLIMLINE_INLINE uint32_t sixteen_people(const uint8_t* packed, size_t people) {
  uint32_t word = 0;
  for (size_t b = people >= 16 ? 4 : (people + 3) / 4; b-- > 0;) word = word << 8 | packed[b];
  return word;
}

void sum_column(const uint8_t* packed, ptrdiff_t stride, size_t people, const float* value, const uint32_t* entry, size_t lines, const uint32_t* next, const uint32_t* next_end, float* sums) {
  const vu shift = iota32() * 2;
  for (size_t i = 0; i < people; i += together, packed += together / 4) {
    fetch(packed, stride, next, next_end, 0);
    vf sum[vectors];
    SLIMLINE_UNROLL
    for (int v = 0; v < vectors; v++) sum[v] = vf{};
    const size_t here = people - i;
    for (size_t l = 0; l < lines; l++) {
      const uint8_t* line = line_of(packed, stride, entry[l]);
      const vf table = flip((vf)_mm256_broadcast_ps((const __m128*)(value + 4 * size_t(entry[l] >> 1))), vu{} + (entry[l] << 31));
      uint32_t word[together / 16];
      if (here >= together) std::memcpy(word, line, sizeof word);
      else for (size_t q = 0; q < together / 16; q++) word[q] = q * 16 < here ? sixteen_people(line + 4 * q, here - q * 16) : 0;
      SLIMLINE_UNROLL
      for (int v = 0; v < vectors; v++)  // inside of four lanes, by two bits
        sum[v] += (vf)_mm256_permutevar_ps((__m256)table, (__m256i)((vu{} + word[v / 2]) >> (shift + uint32_t(v % 2 * 16))));
    }
    SLIMLINE_UNROLL
    for (int v = 0; v < vectors; v++)
      if (size_t(v * float_lanes) < here) store(sums + i + size_t(v * float_lanes), sum[v]);
  }
}

#endif

void sketch(const uint8_t* packed, ptrdiff_t stride, size_t people, const float* value, const uint32_t* entry, const uint32_t* pointer, size_t columns, float* sums, size_t pitch) {
  for (size_t c = 0; c < columns; c++) {
    const uint32_t *next = entry + pointer[c + 1], *next_end = c + 1 < columns ? entry + pointer[c + 2] : next;
    sum_column(packed, stride, people, value, entry + pointer[c], pointer[c + 1] - pointer[c], next, next_end, sums + c * pitch);
  }
}

}  // namespace

void add_packed_sketch_kernels(Kernels& k) { k.packed.sketch = sketch; }

#else  // genotypes are unpacked to bytes first

void add_packed_sketch_kernels(Kernels&) {}

#endif

}  // namespace slimline::SLIMLINE_ISA
