// Sums of bytes where the CPU multiplies bytes themselves (VNNI): a number is written in eight digits of 8 bits, and four
// products are added to a sum of 32 bits at once. Bytes with a sign are taken 128 larger, without one, and 128 times the
// digits is taken away again.
#pragma once

#include "simd.hpp"
#include "table.hpp"

namespace slimline::SLIMLINE_ISA {

constexpr int vnni_digits = 8;
constexpr size_t vnni_places = 2048;  // of `dot`, whose digits fill half of the nearest cache

// sums += products of four bytes and four digits. The intrinsic makes gcc move every sum to another register and back.
SLIMLINE_INLINE void add_products(__m512i& sums, __m512i bytes, __m512i digit) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(bytes), "v"(digit));
}

// Bytes without a sign: as they count, or 128 more (see `shifted`).
template <class S, Counted part> SLIMLINE_INLINE __m512i counted(__m512i x, __m512i code) {
  if constexpr (part == Counted::absent) return _mm512_maskz_mov_epi8(_mm512_cmpeq_epi8_mask(x, code), _mm512_set1_epi8(1));
  constexpr bool is_signed = S(-1) < S(0);
  const __m512i zero = _mm512_set1_epi8(is_signed ? char(-128) : 0);
  if constexpr (part == Counted::present) return _mm512_mask_add_epi8(zero, _mm512_cmpneq_epi8_mask(x, code), x, zero);
  if constexpr (is_signed) x = _mm512_xor_si512(x, zero);
  return x;
}
template <class S, Counted part> constexpr bool shifted = S(-1) < S(0) && part != Counted::absent;

// Into the cache behind the nearest one: lines that are worked on fill that.
SLIMLINE_INLINE void fetch(const void* x) { __builtin_prefetch(x, 0, 2); }

// The sum of each of sixteen vectors.
SLIMLINE_INLINE __m512i sums_of(const __m512i (&v)[16]) {
  __m512i two[8], four[4];
  SLIMLINE_UNROLL
  for (int i = 0; i < 8; i++) two[i] = _mm512_add_epi32(_mm512_unpacklo_epi32(v[2 * i], v[2 * i + 1]), _mm512_unpackhi_epi32(v[2 * i], v[2 * i + 1]));
  SLIMLINE_UNROLL
  for (int i = 0; i < 4; i++) four[i] = _mm512_add_epi32(_mm512_unpacklo_epi64(two[2 * i], two[2 * i + 1]), _mm512_unpackhi_epi64(two[2 * i], two[2 * i + 1]));
  auto join = [](__m512i a, __m512i b) { return _mm512_add_epi32(_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(a, b, 0xDD)); };
  return join(join(four[0], four[1]), join(four[2], four[3]));
}

// A number from the sums of its digits.
SLIMLINE_INLINE double joined(__m256i sums) {
  const __m512d power = _mm512_setr_pd(1.0, 0x1p8, 0x1p16, 0x1p24, 0x1p32, 0x1p40, 0x1p48, 0x1p56);
  return _mm512_reduce_add_pd(_mm512_mul_pd(_mm512_cvtepi32_pd(sums), power));
}

// Numbers, below 2^16, of values that are absent. Listing takes the same few steps whether there are any or not: no branch
// would be foreseen. It pays where they are few: going through the list takes a step for each.
class AbsentList {
 public:
  static constexpr size_t more = 64;  // than are listed is what there must be room for
  // The room lies elsewhere, so that where the list ends can stay in a register.
  explicit AbsentList(uint16_t* room) : begin_(room), end_(room) {}
  void clear() { end_ = begin_; }
  SLIMLINE_INLINE void append(__mmask64 which, size_t first) {
    alignas(64) static constexpr struct Counting {
      uint8_t number[64];
      constexpr Counting() : number() { for (int i = 0; i < 64; i++) number[i] = uint8_t(i); }
    } counting;
    const __m512i them = _mm512_maskz_compress_epi8(which, _mm512_load_si512(counting.number)), from = _mm512_set1_epi16(short(first));
    const int count = __builtin_popcountll(which);
    _mm512_storeu_si512(end_, _mm512_add_epi16(_mm512_cvtepu8_epi16(_mm512_castsi512_si256(them)), from));
    if (__builtin_expect(count > 32, 0)) _mm512_storeu_si512(end_ + 32, _mm512_add_epi16(_mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(them, 1)), from));
    end_ += count;
  }
  const uint16_t* begin() const { return begin_; }
  const uint16_t* end() const { return end_; }

 private:
  uint16_t *const begin_, *end_;
};

// For `dot`: what is there instead of the absent values of two lines, added up.
class AbsentPlaces {
 public:
  static constexpr size_t room = vnni_places + AbsentList::more;  // for each line
  AbsentPlaces(uint8_t code, const double* instead, double* sums, uint16_t* room_for_two)
      : codes_(_mm512_set1_epi8(char(code))), instead_(instead), sums_(sums), list_{AbsentList(room_for_two), AbsentList(room_for_two + room)} {}
  SLIMLINE_INLINE void look(int line, __m512i x, __mmask64 there, size_t t) { list_[line].append(_mm512_mask_cmpeq_epi8_mask(there, x, codes_), t); }
  SLIMLINE_INLINE void finish(int line, size_t number) {
    double parts[4] = {};
    const uint16_t* p = list_[line].begin();
    for (; p + 4 <= list_[line].end(); p += 4)
      for (int i = 0; i < 4; i++) parts[i] += instead_[p[i]];
    for (; p < list_[line].end(); p++) parts[0] += instead_[*p];
    sums_[number] += (parts[0] + parts[1]) + (parts[2] + parts[3]);
    list_[line].clear();
  }

 private:
  const __m512i codes_;
  const double* instead_;
  double* sums_;
  AbsentList list_[2];
};
struct NothingAbsent {
  void look(int, __m512i, __mmask64, size_t) {}
  void finish(int, size_t) {}
};

// The parts of bytes_vnni_add.cpp and packed_vnni.cpp.
void set_vnni_add(Kernels&);
void set_vnni_packed(Kernels&);

}  // namespace slimline::SLIMLINE_ISA
