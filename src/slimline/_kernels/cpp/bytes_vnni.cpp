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

template <class S, Counted part>
void dot(const void* data, ptrdiff_t stride, uint8_t code, size_t lines, size_t length, const void* digit, size_t pitch, double scale, double* out) {
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
    auto add = [&](size_t t, __m512i a, __m512i b) __attribute__((always_inline)) {
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
      if constexpr (part != Counted::absent) __builtin_prefetch(x[0] + 4 * stride + ptrdiff_t(t)), __builtin_prefetch(x[1] + 4 * stride + ptrdiff_t(t));
      add(t, _mm512_loadu_si512(x[0] + t), _mm512_loadu_si512(x[1] + t));
    }
    if (t < length) {  // digits behind the last are 0
      const __mmask64 there = (uint64_t(1) << (length - t)) - 1;
      add(t, _mm512_maskz_loadu_epi8(there, x[0] + t), _mm512_maskz_loadu_epi8(there, x[1] + t));
    }
    const __m512i total = _mm512_sub_epi32(sums_of(sums), shift);
    out[l] += scale * joined(_mm512_castsi512_si256(total));
    if (l + 1 < lines) out[l + 1] += scale * joined(_mm512_extracti64x4_epi64(total, 1));
  }
}

// From sixteen bytes of each of four lines, one line after the other, to the bytes of a place side by side.
alignas(64) constexpr struct Order {
  uint8_t from[64];
  constexpr Order() : from() { for (int i = 0; i < 64; i++) from[i] = uint8_t(i % 4 * 16 + i / 4); }
} lines_to_places;
// The first or the last sixteen of 32 places.
template <int half> SLIMLINE_INLINE __m512i side_by_side(__m512i first_two, __m512i last_two) {
  return _mm512_permutexvar_epi8(_mm512_load_si512(lines_to_places.from), _mm512_shuffle_i32x4(first_two, last_two, half ? 0xDD : 0x88));
}

constexpr size_t add_lines = 32;   // whose sums stay in registers
constexpr size_t add_places = 32;  // at a time

// Four lines at a time; a line too many, which has weight 0, is one that is there.
template <class S, class Four> SLIMLINE_INLINE void in_fours(const S* x, ptrdiff_t stride, size_t lines, Four four) {
  size_t q = 0;
  for (; 4 * q + 4 <= lines; q++, x += 4 * stride) four(q, x, x + stride, x + 2 * stride, x + 3 * stride);
  if (4 * q < lines) {
    const size_t last = lines - 4 * q - 1;
    four(q, x, x + ptrdiff_t(last < 1 ? last : 1) * stride, x + ptrdiff_t(last < 2 ? last : 2) * stride, x + ptrdiff_t(last) * stride);
  }
}

// Some of the places, for up to `add_lines` lines.
template <class S, Counted part, class Load>
SLIMLINE_INLINE void add_at(const S* x, ptrdiff_t stride, __m512i codes, size_t lines, const int32_t (&weight)[add_lines / 4][digits],
                            const int32_t (&shift)[digits], int32_t* sums, size_t pitch, Load load) {
  __m512i low[digits], high[digits];
  SLIMLINE_UNROLL
  for (int p = 0; p < digits; p++) {
    const __m512i away = _mm512_set1_epi32(shift[p]);
    low[p] = _mm512_sub_epi32(_mm512_loadu_si512(sums + size_t(p) * pitch), away);
    high[p] = _mm512_sub_epi32(_mm512_loadu_si512(sums + size_t(p) * pitch + 16), away);
  }
  auto add_four = [&](size_t q, const S* a, const S* b, const S* c, const S* d) __attribute__((always_inline)) {
    const __m512i ab = _mm512_inserti64x4(_mm512_castsi256_si512(load(a)), load(b), 1), cd = _mm512_inserti64x4(_mm512_castsi256_si512(load(c)), load(d), 1);
    const __m512i near = counted<S, part>(side_by_side<0>(ab, cd), codes), far = counted<S, part>(side_by_side<1>(ab, cd), codes);
    SLIMLINE_UNROLL
    for (int p = 0; p < digits; p++) {
      const __m512i digit = _mm512_set1_epi32(weight[q][p]);
      add_products(low[p], near, digit), add_products(high[p], far, digit);
    }
  };
  in_fours(x, stride, lines, add_four);
  SLIMLINE_UNROLL
  for (int p = 0; p < digits; p++) _mm512_storeu_si512(sums + size_t(p) * pitch, low[p]), _mm512_storeu_si512(sums + size_t(p) * pitch + 16, high[p]);
}

// The digits of up to `add_lines` weights, those of four lines side by side, and, for bytes that are 128 too large, 128 times their sums.
template <bool shifts> struct Weights {
  alignas(64) int32_t four_lines[add_lines / 4][digits];
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

constexpr ptrdiff_t add_ahead = 256;  // more streams than the CPU foresees
template <class S> SLIMLINE_INLINE void fetch_lines(const S* x, ptrdiff_t stride, size_t lines) {
  for (size_t l = 0; l < lines; l++) __builtin_prefetch(x + ptrdiff_t(l) * stride + add_ahead);
}

template <class S, Counted part>
void add(const void* data, ptrdiff_t stride, uint8_t code, size_t lines, size_t length, const void* digit, size_t digit_pitch, int32_t* sums, size_t pitch) {
  const __m512i codes = _mm512_set1_epi8(char(code));
  for (size_t first = 0; first < lines; first += add_lines) {
    const size_t count = lines - first < add_lines ? lines - first : add_lines;
    const S* x = static_cast<const S*>(data) + ptrdiff_t(first) * stride;
    const Weights<shifted<S, part>> weights(digit, digit_pitch, first, count);
    size_t t = 0;
    for (; t + add_places <= length; t += add_places) {
      if (part != Counted::absent && t % 64 == 0) fetch_lines(x + t, stride, count);  // what is absent is counted last
      add_at<S, part>(x + t, stride, codes, count, weights.four_lines, weights.shift, sums + t, pitch, [](const S* at) { return _mm256_loadu_si256((const __m256i*)at); });
    }
    if (t < length) {
      const __mmask32 there = (1u << (length - t)) - 1;
      add_at<S, part>(x + t, stride, codes, count, weights.four_lines, weights.shift, sums + t, pitch, [&](const S* at) { return _mm256_maskz_loadu_epi8(there, at); });
    }
  }
}

constexpr size_t both_places = 16;  // at a time: each has two sums of every digit

// What is there and what is absent at some of the places, for up to `add_lines` lines.
template <class S, class Load>
SLIMLINE_INLINE void add_both_at(const S* x, ptrdiff_t stride, __m512i codes, size_t lines, const Weights<shifted<S, Counted::present>>& weights, int32_t* sums, int32_t* absent, size_t pitch, Load load) {
  __m512i there[digits], gone[digits];
  SLIMLINE_UNROLL
  for (int p = 0; p < digits; p++) {
    there[p] = _mm512_sub_epi32(_mm512_loadu_si512(sums + size_t(p) * pitch), _mm512_set1_epi32(weights.shift[p]));
    gone[p] = _mm512_loadu_si512(absent + size_t(p) * pitch);
  }
  const __m512i order = _mm512_load_si512(lines_to_places.from);
  auto add_four = [&](size_t q, const S* a, const S* b, const S* c, const S* d) __attribute__((always_inline)) {
    const __m256i ab = _mm256_inserti128_si256(_mm256_castsi128_si256(load(a)), load(b), 1), cd = _mm256_inserti128_si256(_mm256_castsi128_si256(load(c)), load(d), 1);
    const __m512i bytes = _mm512_permutexvar_epi8(order, _mm512_inserti64x4(_mm512_castsi256_si512(ab), cd, 1));
    const __m512i present = counted<S, Counted::present>(bytes, codes), missing = counted<S, Counted::absent>(bytes, codes);
    SLIMLINE_UNROLL
    for (int p = 0; p < digits; p++) {
      const __m512i digit = _mm512_set1_epi32(weights.four_lines[q][p]);
      add_products(there[p], present, digit), add_products(gone[p], missing, digit);
    }
  };
  in_fours(x, stride, lines, add_four);
  SLIMLINE_UNROLL
  for (int p = 0; p < digits; p++) _mm512_storeu_si512(sums + size_t(p) * pitch, there[p]), _mm512_storeu_si512(absent + size_t(p) * pitch, gone[p]);
}

template <class S>
void add_both(const void* data, ptrdiff_t stride, uint8_t code, size_t lines, size_t length, const void* digit, size_t digit_pitch, int32_t* sums, int32_t* absent, size_t pitch) {
  const __m512i codes = _mm512_set1_epi8(char(code));
  for (size_t first = 0; first < lines; first += add_lines) {
    const size_t count = lines - first < add_lines ? lines - first : add_lines;
    const S* x = static_cast<const S*>(data) + ptrdiff_t(first) * stride;
    const Weights<shifted<S, Counted::present>> weights(digit, digit_pitch, first, count);
    size_t t = 0;
    for (; t + both_places <= length; t += both_places) {
      if (t % 64 == 0) fetch_lines(x + t, stride, count);
      add_both_at(x + t, stride, codes, count, weights, sums + t, absent + t, pitch, [](const S* at) { return _mm_loadu_si128((const __m128i*)at); });
    }
    if (t < length) {
      const __mmask16 there = __mmask16((1u << (length - t)) - 1);
      add_both_at(x + t, stride, codes, count, weights, sums + t, absent + t, pitch, [&](const S* at) { return _mm_maskz_loadu_epi8(there, at); });
    }
  }
}

void flush(int32_t* sums, size_t pitch, size_t length, double scale, double* y) {
  for (size_t t = 0; t < (length + add_places - 1) / add_places * add_places; t += 8) {
    const __mmask8 there = mask_of(t < length ? length - t : 0);
    __m512d total = _mm512_setzero_pd();
    SLIMLINE_UNROLL
    for (int p = digits - 1; p >= 0; p--) {
      int32_t* from = sums + size_t(p) * pitch + t;
      total = _mm512_fmadd_pd(total, _mm512_set1_pd(256.0), _mm512_cvtepi32_pd(_mm256_loadu_si256((const __m256i*)from)));
      _mm256_storeu_si256((__m256i*)from, _mm256_setzero_si256());
    }
    _mm512_mask_storeu_pd(y + t, there, _mm512_fmadd_pd(total, _mm512_set1_pd(scale), _mm512_maskz_loadu_pd(there, y + t)));
  }
}

template <class S> ByteKernels kernels_of() {
  return {{dot<S, Counted::all>, dot<S, Counted::present>, dot<S, Counted::absent>}, {add<S, Counted::all>, add<S, Counted::present>, add<S, Counted::absent>}, add_both<S>};
}

}  // namespace

void add_vnni_kernels(Kernels& k) {
  constexpr size_t places = 2048;  // whose digits fill a third of the nearest cache
  k.digits = {digits, 62, sizeof(int8_t), places, 64, 8, largest, write, flush};
  k.bytes[0] = kernels_of<int8_t>(), k.bytes[1] = kernels_of<uint8_t>();
}

}  // namespace slimline::SLIMLINE_ISA
