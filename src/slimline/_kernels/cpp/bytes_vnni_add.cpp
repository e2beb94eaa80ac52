// The sums of bytes.cpp by VNNI: lines, each times a number, added up.
#include "bytes_vnni.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

constexpr int digits = vnni_digits;
constexpr size_t add_lines = 128;  // that are added up while sums stay in registers
constexpr size_t add_places = 64;  // a cache line of each of them

// Place of a sum among 64, as turning leaves them: sixteen sums that are added up together are of four places in each quarter.
constexpr size_t place_of_sum(size_t sum) { return sum % 16 / 4 * 16 + sum / 16 * 4 + sum % 4; }

// The digits of up to `add_lines` weights, those of four lines side by side, and, for bytes that are 128 too large, 128 times their sums.
template <bool shifts> struct Weights {
  int32_t four_lines[add_lines / 4][digits];
  int32_t shift[digits] = {};
  Weights(const void* digit, size_t pitch, size_t first, size_t count) {
    for (size_t q = 0; 4 * q < count; q++)
      for (int p = 0; p < digits; p++) {
        const auto* from = static_cast<const int8_t*>(digit) + size_t(p) * pitch + first + 4 * q;
        int8_t four[4] = {};
        for (size_t r = 0; r < 4 && 4 * q + r < count; r++) four[r] = from[r], shift[p] += shifts ? 128 * from[r] : 0;
        std::memcpy(&four_lines[q][p], four, 4);
      }
  }
};

// For `add`: what is there instead of the absent values of some lines, added up for each place.
class AbsentLines {
 public:
  static constexpr size_t room = add_lines * add_places + AbsentList::more;
  AbsentLines(uint8_t code, const double* instead, double* sums, uint16_t* room_for_all)
      : codes_(_mm512_set1_epi8(char(code))), instead_(instead), sums_(sums), list_(room_for_all) {}
  SLIMLINE_INLINE void look(size_t line, __m512i x, __mmask64 there) { list_.append(_mm512_mask_cmpeq_epi8_mask(there, x, codes_), line * add_places); }
  SLIMLINE_INLINE void finish(size_t first_line, size_t first_place) {
    for (const uint16_t number : list_) sums_[first_place + number % add_places] += instead_[first_line + number / add_places];
    list_.clear();
  }

 private:
  const __m512i codes_;
  const double* instead_;
  double* sums_;
  AbsentList list_;
};
struct NoLinesLookedFor {
  void look(size_t, __m512i, __mmask64) {}
  void finish(size_t, size_t) {}
};

// Some of the places, for up to `add_lines` lines. Each cache line is read once, and turned: four lines side by side.
template <class S, Counted part, class Absent>
SLIMLINE_INLINE void add_at(const S* x, ptrdiff_t stride, __m512i codes, size_t lines, ptrdiff_t ahead, __mmask64 there, const Weights<shifted<S, part>>& weights,
                            int32_t* sums, size_t pitch, Absent& absent) {
  alignas(64) __m512i turned[add_lines / 4][4];
  auto turn = [&](size_t q, size_t count) __attribute__((always_inline)) {
    __m512i line[4];
    SLIMLINE_UNROLL
    for (size_t r = 0; r < 4; r++) {
      line[r] = _mm512_setzero_si512();
      if (r >= count) continue;  // its weight is 0
      const S* from = x + ptrdiff_t(4 * q + r) * stride;
      if constexpr (part != Counted::absent) fetch(from + ahead);
      line[r] = _mm512_maskz_loadu_epi8(there, from);
      absent.look(4 * q + r, line[r], there);
      line[r] = counted<S, part>(line[r], codes);
    }
    const __m512i near_a = _mm512_unpacklo_epi8(line[0], line[1]), far_a = _mm512_unpackhi_epi8(line[0], line[1]);
    const __m512i near_b = _mm512_unpacklo_epi8(line[2], line[3]), far_b = _mm512_unpackhi_epi8(line[2], line[3]);
    turned[q][0] = _mm512_unpacklo_epi16(near_a, near_b), turned[q][1] = _mm512_unpackhi_epi16(near_a, near_b);
    turned[q][2] = _mm512_unpacklo_epi16(far_a, far_b), turned[q][3] = _mm512_unpackhi_epi16(far_a, far_b);
  };
  const size_t fours = lines / 4;
  for (size_t q = 0; q < fours; q++) turn(q, 4);
  if (lines % 4) turn(fours, lines % 4);
  for (int half = 0; half < 2; half++, sums += add_places / 2) {
    __m512i low[digits], high[digits];
    SLIMLINE_UNROLL
    for (int p = 0; p < digits; p++) {
      const __m512i shift = _mm512_set1_epi32(weights.shift[p]);
      low[p] = _mm512_sub_epi32(_mm512_loadu_si512(sums + size_t(p) * pitch), shift);
      high[p] = _mm512_sub_epi32(_mm512_loadu_si512(sums + size_t(p) * pitch + 16), shift);
    }
    for (size_t q = 0; 4 * q < lines; q++) {
      const __m512i near = turned[q][2 * half], far = turned[q][2 * half + 1];
      SLIMLINE_UNROLL
      for (int p = 0; p < digits; p++) {
        const __m512i digit = _mm512_set1_epi32(weights.four_lines[q][p]);
        add_products(low[p], near, digit), add_products(high[p], far, digit);
      }
    }
    SLIMLINE_UNROLL
    for (int p = 0; p < digits; p++) _mm512_storeu_si512(sums + size_t(p) * pitch, low[p]), _mm512_storeu_si512(sums + size_t(p) * pitch + 16, high[p]);
  }
}

template <class S, Counted part, class Absent>
SLIMLINE_INLINE void add_up(const void* data, ptrdiff_t stride, uint8_t code, size_t lines, size_t length, const void* digit, size_t digit_pitch, int32_t* sums, size_t pitch, Absent&& absent) {
  constexpr ptrdiff_t ahead = 512;  // there are more streams than the CPU foresees; behind the last place the next lines begin
  const __m512i codes = _mm512_set1_epi8(char(code));
  for (size_t first = 0; first < lines; first += add_lines) {
    const size_t count = lines - first < add_lines ? lines - first : add_lines;
    const S* x = static_cast<const S*>(data) + ptrdiff_t(first) * stride;
    const Weights<shifted<S, part>> weights(digit, digit_pitch, first, count);
    for (size_t t = 0; t < length; t += add_places) {
      const __mmask64 there = length - t < add_places ? (uint64_t(1) << (length - t)) - 1 : ~uint64_t(0);
      const ptrdiff_t next = ptrdiff_t(t) + ahead < ptrdiff_t(length) ? ahead : ahead - ptrdiff_t(length) + ptrdiff_t(add_lines) * stride;
      add_at<S, part>(x + t, stride, codes, count, next, there, weights, sums + t, pitch, absent);
      absent.finish(first, t);
    }
  }
}

template <class S, Counted part>
void add(const void* x, ptrdiff_t stride, uint8_t code, size_t lines, size_t length, const void* digit, size_t digit_pitch, int32_t* sums, size_t pitch) {
  add_up<S, part>(x, stride, code, lines, length, digit, digit_pitch, sums, pitch, NoLinesLookedFor{});
}

template <class S>
void add_listing(const void* x, ptrdiff_t stride, uint8_t code, size_t lines, size_t length, const void* digit, size_t digit_pitch, int32_t* sums, size_t pitch, const double* instead, double* absent) {
  uint16_t room[AbsentLines::room];
  add_up<S, Counted::present>(x, stride, code, lines, length, digit, digit_pitch, sums, pitch, AbsentLines(code, instead, absent, room));
}

void flush(int32_t* sums, size_t pitch, size_t length, double scale, double* y) {
  for (size_t t = 0; t < length; t += add_places) {
    alignas(64) double joined[add_places];
    SLIMLINE_UNROLL
    for (size_t i = 0; i < add_places; i += 8) {
      __m512d total = _mm512_setzero_pd();
      SLIMLINE_UNROLL
      for (int p = digits - 1; p >= 0; p--) {
        int32_t* from = sums + size_t(p) * pitch + t + i;
        total = _mm512_fmadd_pd(total, _mm512_set1_pd(256.0), _mm512_cvtepi32_pd(_mm256_loadu_si256((const __m256i*)from)));
        _mm256_storeu_si256((__m256i*)from, _mm256_setzero_si256());
      }
      total = _mm512_mul_pd(total, _mm512_set1_pd(scale));
      _mm256_store_pd(joined + place_of_sum(i), _mm512_castpd512_pd256(total));
      _mm256_store_pd(joined + place_of_sum(i + 4), _mm512_extractf64x4_pd(total, 1));
    }
    const size_t count = length - t < add_places ? length - t : add_places;
    for (size_t i = 0; i < count; i++) y[t + i] += joined[i];
  }
}

template <class S> void set_add(ByteKernels& k) {
  k.add[int(Counted::all)] = add<S, Counted::all>, k.add[int(Counted::present)] = add<S, Counted::present>, k.add[int(Counted::absent)] = add<S, Counted::absent>;
  k.add_listing = add_listing<S>;
}

}  // namespace

void set_vnni_add(Kernels& k) {
  set_add<int8_t>(k.bytes[0]), set_add<uint8_t>(k.bytes[1]);
  k.digits.flush = flush;
}

}  // namespace slimline::SLIMLINE_ISA
