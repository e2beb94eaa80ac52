// The sums of bytes.cpp where the CPU multiplies bytes themselves (VNNI): a number is written in eight digits of 8 bits, and
// four products are added to a sum of 32 bits at once. Bytes with a sign are taken 128 larger, without one, and 128 times the
// digits is taken away again.
#include "simd.hpp"
#include "table.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

constexpr int digits = 8;
constexpr size_t whole_vector = 64;

// Which of eight are there, where so many follow.
SLIMLINE_INLINE __mmask8 mask_of(size_t count) { return count >= 8 ? __mmask8(0xFF) : __mmask8((1u << count) - 1); }

double largest(const double* v, size_t count) {
  __m512d most = _mm512_setzero_pd();
  __mmask8 strange = 0;
  for (size_t i = 0; i < count; i += 8) {
    const __m512d size = _mm512_abs_pd(_mm512_maskz_loadu_pd(mask_of(count - i), v + i));
    strange |= _mm512_cmp_pd_mask(size, _mm512_set1_pd(__builtin_inf()), _CMP_NLT_UQ);
    most = _mm512_max_pd(most, size);
  }
  return strange ? __builtin_inf() : _mm512_reduce_max_pd(most);
}

bool write(double* v, size_t count, double up, double down, const double* bound, bool, void* out, size_t pitch) {
  // digits from -128 to 127: adding 128 to each makes the carries, and the bytes of that sum are the digits, 128 too large
  const __m512i middle = _mm512_set1_epi64(0x0080808080808080ll);
  auto* digit = static_cast<int8_t*>(out);
  __mmask8 more = 0;
  for (size_t i = 0; i < (count + digit_unit - 1) / digit_unit * digit_unit; i += 8) {
    const __mmask8 there = mask_of(i < count ? count - i : 0);
    const __m512d scaled = _mm512_mul_pd(_mm512_maskz_loadu_pd(there, v + i), _mm512_set1_pd(up));
    const __m512i whole = _mm512_cvtpd_epi64(scaled);
    // those from 2^53 on are whole
    const __mmask8 rounded = _mm512_cmp_pd_mask(_mm512_abs_pd(scaled), _mm512_set1_pd(0x1p53), _CMP_LT_OQ);
    const __m512d left = _mm512_maskz_mul_pd(rounded, _mm512_sub_pd(scaled, _mm512_cvtepi64_pd(whole)), _mm512_set1_pd(down));
    more |= _mm512_mask_cmp_pd_mask(there, _mm512_abs_pd(left), _mm512_maskz_loadu_pd(there, bound + i), _CMP_GT_OQ);
    _mm512_mask_storeu_pd(v + i, there, left);
    const __m512i z = _mm512_xor_si512(_mm512_add_epi64(whole, middle), middle);
    SLIMLINE_UNROLL
    for (int p = 0; p < digits; p++)
      _mm_storel_epi64((__m128i*)(digit + size_t(p) * pitch + i), _mm512_cvtepi64_epi8(_mm512_srli_epi64(z, unsigned(8 * p))));
  }
  return more != 0;
}

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

constexpr size_t dot_places = 2048;  // whose digits fill half of the nearest cache

// For `dot`: what is there instead of the absent values of two lines, added up.
class AbsentPlaces {
 public:
  static constexpr size_t room = dot_places + AbsentList::more;  // for each line
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
struct NotLookedFor {
  void look(int, __m512i, __mmask64, size_t) {}
  void finish(int, size_t) {}
};

template <class S, Counted part, class Absent>
SLIMLINE_INLINE void dot_lines(const void* data, ptrdiff_t stride, uint8_t code, size_t lines, size_t length, const void* digit, size_t pitch, double scale, double* out, Absent&& absent) {
  const __m512i codes = _mm512_set1_epi8(char(code));
  const auto* d = static_cast<const int8_t*>(digit);
  __m512i shift = _mm512_setzero_si512();
  if constexpr (shifted<S, part>) {
    __m512i total[16];
    SLIMLINE_UNROLL
    for (int p = 0; p < 16; p++) total[p] = _mm512_setzero_si512();
    for (size_t t = 0; t < length; t += whole_vector)
      SLIMLINE_UNROLL
      for (int p = 0; p < digits; p++) add_products(total[p], _mm512_set1_epi8(char(-128)), _mm512_loadu_si512(d + size_t(p) * pitch + t));
    SLIMLINE_UNROLL
    for (int p = 0; p < digits; p++) total[digits + p] = total[p];
    shift = sums_of(total);
  }
  for (size_t l = 0; l < lines; l += 2) {
    // two lines at a time; the last may be there twice
    const S* x[2] = {static_cast<const S*>(data) + ptrdiff_t(l) * stride, static_cast<const S*>(data) + ptrdiff_t(l + 1 < lines ? l + 1 : l) * stride};
    __m512i sums[16];
    SLIMLINE_UNROLL
    for (int i = 0; i < 16; i++) sums[i] = _mm512_setzero_si512();
    auto add = [&](size_t t, __m512i a, __m512i b, __mmask64 there) __attribute__((always_inline)) {
      absent.look(0, a, there, t), absent.look(1, b, there, t);
      a = counted<S, part>(a, codes), b = counted<S, part>(b, codes);
      SLIMLINE_UNROLL
      for (int p = 0; p < digits; p++) {
        const __m512i digit_p = _mm512_loadu_si512(d + size_t(p) * pitch + t);
        add_products(sums[p], a, digit_p), add_products(sums[digits + p], b, digit_p);
      }
    };
    size_t t = 0;
    for (; t + whole_vector <= length; t += whole_vector) {
      // lines are short stretches of long ones: the CPU does not foresee the next
      if constexpr (part != Counted::absent) fetch(x[0] + 4 * stride + ptrdiff_t(t)), fetch(x[1] + 4 * stride + ptrdiff_t(t));
      add(t, _mm512_loadu_si512(x[0] + t), _mm512_loadu_si512(x[1] + t), ~__mmask64(0));
    }
    if (t < length) {  // digits behind the last are 0
      const __mmask64 there = (uint64_t(1) << (length - t)) - 1;
      add(t, _mm512_maskz_loadu_epi8(there, x[0] + t), _mm512_maskz_loadu_epi8(there, x[1] + t), there);
    }
    const __m512i total = _mm512_sub_epi32(sums_of(sums), shift);
    out[l] += scale * joined(_mm512_castsi512_si256(total));
    absent.finish(0, l);
    if (l + 1 == lines) break;
    out[l + 1] += scale * joined(_mm512_extracti64x4_epi64(total, 1));
    absent.finish(1, l + 1);
  }
}

template <class S, Counted part>
void dot(const void* x, ptrdiff_t stride, uint8_t code, size_t lines, size_t length, const void* digit, size_t pitch, double scale, double* out) {
  dot_lines<S, part>(x, stride, code, lines, length, digit, pitch, scale, out, NotLookedFor{});
}

template <class S>
void dot_listing(const void* x, ptrdiff_t stride, uint8_t code, size_t lines, size_t length, const void* digit, size_t pitch, double scale, double* out, const double* instead, double* absent) {
  uint16_t room[2 * AbsentPlaces::room];
  dot_lines<S, Counted::present>(x, stride, code, lines, length, digit, pitch, scale, out, AbsentPlaces(code, instead, absent, room));
}

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

template <class S> ByteKernels kernels_of() {
  return {{dot<S, Counted::all>, dot<S, Counted::present>, dot<S, Counted::absent>}, {add<S, Counted::all>, add<S, Counted::present>, add<S, Counted::absent>}, dot_listing<S>, add_listing<S>};
}

}  // namespace

void add_vnni_kernels(Kernels& k) {
  k.digits = {digits, 62, sizeof(int8_t), dot_places, 64, 8, largest, write, flush};
  k.bytes[0] = kernels_of<int8_t>(), k.bytes[1] = kernels_of<uint8_t>();
}

}  // namespace slimline::SLIMLINE_ISA
