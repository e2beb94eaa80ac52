// Packed genotypes against one vector of a number a person, by VNNI: 64 people at a time.
#include "bytes_vnni.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

constexpr int digits = vnni_digits;
constexpr size_t people_together = 64, bytes_together = people_together / 4;

// The codes of 64 people, each in a byte of its own.
SLIMLINE_INLINE __m512i codes_of(__m128i packed) {
  const __m512i eight_each = _mm512_cvtepu16_epi64(packed), shifts = _mm512_set1_epi64(0x0E0C0A0806040200ll);
  return _mm512_and_si512(_mm512_multishift_epi64_epi8(shifts, eight_each), _mm512_set1_epi8(3));
}

// The codes 00, 01, 10, 11 are 2, no call, 1 and 0 copies.
SLIMLINE_INLINE __m512i copies_of(__m512i codes) { return _mm512_shuffle_epi8(_mm512_set1_epi32(0x00010002), codes); }

template <class Absent>
SLIMLINE_INLINE void dot_lines(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t people, const void* digit, size_t pitch, double scale, double* copies, Absent&& absent) {
  const auto* d = static_cast<const int8_t*>(digit);
  for (size_t l = 0; l < lines; l += 2) {
    // two lines at a time; the last may be there twice
    const uint8_t* x[2] = {packed + ptrdiff_t(l) * stride, packed + ptrdiff_t(l + 1 < lines ? l + 1 : l) * stride};
    __m512i sums[16];
    SLIMLINE_UNROLL
    for (int i = 0; i < 16; i++) sums[i] = _mm512_setzero_si512();
    auto add = [&](size_t t, __m128i a, __m128i b, __mmask64 there) __attribute__((always_inline)) {
      const __m512i codes_a = codes_of(a), codes_b = codes_of(b);
      absent.look(0, codes_a, there, t), absent.look(1, codes_b, there, t);
      const __m512i copies_a = copies_of(codes_a), copies_b = copies_of(codes_b);
      SLIMLINE_UNROLL
      for (int p = 0; p < digits; p++) {
        const __m512i digit_p = _mm512_loadu_si512(d + size_t(p) * pitch + t);
        add_products(sums[p], copies_a, digit_p), add_products(sums[digits + p], copies_b, digit_p);
      }
    };
    size_t t = 0;
    for (; t + people_together <= people; t += people_together)
      add(t, _mm_loadu_si128((const __m128i*)(x[0] + t / 4)), _mm_loadu_si128((const __m128i*)(x[1] + t / 4)), ~__mmask64(0));
    if (t < people) {  // digits behind the last are 0
      const __mmask64 there = (uint64_t(1) << (people - t)) - 1;
      const __mmask16 bytes = __mmask16((1u << ((people - t + 3) / 4)) - 1);
      add(t, _mm_maskz_loadu_epi8(bytes, x[0] + t / 4), _mm_maskz_loadu_epi8(bytes, x[1] + t / 4), there);
    }
    const __m512i total = sums_of(sums);
    copies[l] += scale * joined(_mm512_castsi512_si256(total));
    absent.finish(0, l);
    if (l + 1 == lines) break;
    copies[l + 1] += scale * joined(_mm512_extracti64x4_epi64(total, 1));
    absent.finish(1, l + 1);
  }
}

void dot_digits(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t people, const void* digit, size_t pitch, double scale, double* copies, const double* instead, double* missing) {
  static_assert(bytes_together == sizeof(__m128i));
  if (!instead) return dot_lines(packed, stride, lines, people, digit, pitch, scale, copies, NothingAbsent{});
  constexpr uint8_t no_call = 1;
  uint16_t room[2 * AbsentPlaces::room];
  dot_lines(packed, stride, lines, people, digit, pitch, scale, copies, AbsentPlaces(no_call, instead, missing, room));
}

}  // namespace

void set_vnni_packed(Kernels& k) { k.packed.dot_digits = dot_digits; }

}  // namespace slimline::SLIMLINE_ISA
