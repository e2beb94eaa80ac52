// Sums of bytes where the CPU multiplies bytes themselves (VNNI): a number is written in eight digits of 8 bits, and four
// products are added to a sum of 32 bits at once. Bytes with a sign are taken 128 larger, without one, and 128 times the
// digits is taken away again.
#pragma once

#include "simd.hpp"
#include "table.hpp"

namespace slimline::SLIMLINE_ISA {

constexpr int vnni_digits = 8;

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

// The parts of bytes_vnni_add.cpp.
void set_vnni_add(Kernels&);

}  // namespace slimline::SLIMLINE_ISA
