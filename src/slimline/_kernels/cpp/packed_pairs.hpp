// Genotypes of two bits, looked up two at a time: a permutation of sixteen numbers.
#pragma once

#include "simd.hpp"

#if SLIMLINE_VECTOR_BYTES == 64
namespace slimline::SLIMLINE_ISA {

constexpr size_t word_people = 32;  // in 64 bits
constexpr size_t word_lanes = 8;
constexpr size_t words_of(size_t people) { return (people + word_people - 1) / word_people; }

SLIMLINE_INLINE uint64_t word_at(const uint8_t* packed, size_t word) {
  uint64_t found;
  std::memcpy(&found, packed + 8 * word, 8);
  return found;
}
// The last word of a line, which may lack bytes: 0 where there are no people, but for the bits behind the last one in
// its byte.
inline uint64_t last_word(const uint8_t* packed, size_t people) {
  uint64_t found = 0;
  const size_t word = (people - 1) / word_people;
  for (size_t b = (people + 3) / 4; b-- > 8 * word;) found = found << 8 | packed[b];
  return found;
}

// Which of the eight people from `first` on are there.
SLIMLINE_INLINE __mmask8 people_there(size_t people, size_t first) {
  return people >= first + word_lanes ? __mmask8(0xFF) : people <= first ? __mmask8(0) : __mmask8((1u << (people - first)) - 1);
}

// What the four low bits of each lane stand for.
struct Sixteen {
  __m512d low, high;
  SLIMLINE_INLINE __m512d operator()(__m512i codes) const { return _mm512_permutex2var_pd(low, codes, high); }
};

}  // namespace slimline::SLIMLINE_ISA
#endif
