// The sums of bytes.cpp by VNNI: digits, and lines against a vector.
#include "bytes_vnni.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

constexpr int digits = vnni_digits;
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
  dot_lines<S, part>(x, stride, code, lines, length, digit, pitch, scale, out, NothingAbsent{});
}

template <class S>
void dot_listing(const void* x, ptrdiff_t stride, uint8_t code, size_t lines, size_t length, const void* digit, size_t pitch, double scale, double* out, const double* instead, double* absent) {
  uint16_t room[2 * AbsentPlaces::room];
  dot_lines<S, Counted::present>(x, stride, code, lines, length, digit, pitch, scale, out, AbsentPlaces(code, instead, absent, room));
}

template <class S> void set_dot(ByteKernels& k) {
  k.dot[int(Counted::all)] = dot<S, Counted::all>, k.dot[int(Counted::present)] = dot<S, Counted::present>, k.dot[int(Counted::absent)] = dot<S, Counted::absent>;
  k.dot_listing = dot_listing<S>;
}

}  // namespace

void add_vnni_kernels(Kernels& k) {
  k.digits = {digits, 62, sizeof(int8_t), vnni_places, 64, 8, largest, write, nullptr};
  set_dot<int8_t>(k.bytes[0]), set_dot<uint8_t>(k.bytes[1]);
  set_vnni_add(k);
  set_vnni_packed(k);
}

}  // namespace slimline::SLIMLINE_ISA
