// Sums over lines of bytes, by whole numbers: a vector of float64 is written as whole multiples of one power of two, in
// four digits of 15 bits, and a byte times a digit is exact. That is as accurate as sums in float64 (numbers far smaller than
// the largest get digits of their own: byte_blocks.cpp) and twice as fast.
//
// Bytes become 16-bit numbers by shifts, those at even places apart from those at odd ones: spreading them in order would
// cross the halves of a vector, which costs more than all the rest.
//
// What is missing is counted apart, with digits of its own: about as fast, at one in a hundred, as going after each of them,
// and not slower where there are more.
#include "simd.hpp"
#include "table.hpp"

namespace slimline::SLIMLINE_ISA {

#if SLIMLINE_VECTOR_BYTES >= 32
namespace {

template <class S> constexpr bool is_signed = S(-1) < S(0);

constexpr int digits = 4;
// Where the digit of a place is: of 32, those of even places come first.
SLIMLINE_INLINE size_t digit_place(size_t t) { return t / 32 * 32 + t % 2 * 16 + t % 32 / 2; }

double largest(const double* v, size_t count) {
  double most = 0;
  for (size_t i = 0; i < count; i++) {
    const double size = v[i] < 0 ? -v[i] : v[i];
    most = size <= most ? most : size;  // NaN stays
    if (!(size < __builtin_inf())) return __builtin_inf();
  }
  return most;
}

bool write(double* v, size_t count, double up, double down, const double* bound, bool by_place, void* out, size_t pitch) {
  constexpr int64_t half = 1 << 14;
  auto* digit = static_cast<int16_t*>(out);
  bool more = false;
  for (size_t i = 0; i < (count + digit_unit - 1) / digit_unit * digit_unit; i++) {
    int64_t rest = 0;
    if (i < count) {
      const double scaled = v[i] * up;
      rest = _mm_cvtsd_si64(_mm_set_sd(scaled));
      const double left = (scaled - double(rest)) * down;
      v[i] = scaled > -0x1p53 && scaled < 0x1p53 ? left : 0.0;  // larger ones are whole
      more |= v[i] > bound[i] || -v[i] > bound[i];
    }
    const size_t at = by_place ? digit_place(i) : i;
    for (int p = 0; p < digits - 1; p++) {
      const int64_t d = ((rest + half) & 32767) - half;
      digit[size_t(p) * pitch + at] = int16_t(d);
      rest = (rest - d) >> 15;
    }
    digit[size_t(digits - 1) * pitch + at] = int16_t(rest);
  }
  return more;
}

template <Counted part> SLIMLINE_INLINE __m256i counted(__m256i x, __m256i code) {
  if constexpr (part == Counted::all) return x;
  const __m256i gone = _mm256_cmpeq_epi8(x, code);
  if constexpr (part == Counted::present) return _mm256_andnot_si256(gone, x);
  return _mm256_and_si256(gone, _mm256_set1_epi8(1));
}
template <class S, Counted part> SLIMLINE_INLINE int32_t counted(S x, uint8_t code) {
  if constexpr (part == Counted::all) return x;
  const bool gone = uint8_t(x) == code;
  return part == Counted::absent ? gone : gone ? 0 : x;
}

template <class S> SLIMLINE_INLINE __m256i even(__m256i x) {
  if constexpr (is_signed<S>) return _mm256_srai_epi16(_mm256_slli_epi16(x, 8), 8);
  else return _mm256_and_si256(x, _mm256_set1_epi16(255));
}
template <class S> SLIMLINE_INLINE __m256i odd(__m256i x) {
  if constexpr (is_signed<S>) return _mm256_srai_epi16(x, 8);
  else return _mm256_srli_epi16(x, 8);
}
SLIMLINE_INLINE __m256i load32(const void* p) { return _mm256_loadu_si256((const __m256i*)p); }
SLIMLINE_INLINE void store32(void* p, __m256i v) { _mm256_storeu_si256((__m256i*)p, v); }

SLIMLINE_INLINE int64_t sum32(__m256i v) {
  int32_t part[8];
  store32(part, v);
  int64_t total = 0;
  for (int i = 0; i < 8; i++) total += part[i];
  return total;
}

template <class S, Counted part, int R>
SLIMLINE_INLINE void dot_lines(const S* const (&x)[R], ptrdiff_t stride, uint8_t code, size_t length, const int16_t* digit, size_t pitch, double scale, double* out) {
  __m256i sums[R][digits];
  SLIMLINE_UNROLL
  for (int r = 0; r < R; r++) {
    SLIMLINE_UNROLL
    for (int p = 0; p < digits; p++) sums[r][p] = _mm256_setzero_si256();
  }
  const __m256i codes = _mm256_set1_epi8(char(code));
  size_t t = 0;
  for (; t + 32 <= length; t += 32) {
    SLIMLINE_UNROLL  // lines are short stretches of long ones: the CPU does not foresee the next
    for (int r = 0; r < R; r++) __builtin_prefetch(x[r] + 2 * R * stride + ptrdiff_t(t));
    __m256i z0[R], z1[R];
    SLIMLINE_UNROLL
    for (int r = 0; r < R; r++) {
      const __m256i z = counted<part>(load32(x[r] + t), codes);
      z0[r] = even<S>(z), z1[r] = odd<S>(z);
    }
    SLIMLINE_UNROLL
    for (int p = 0; p < digits; p++) {
      const int16_t* d = digit + size_t(p) * pitch + t;
      const __m256i d0 = load32(d), d1 = load32(d + 16);
      SLIMLINE_UNROLL
      for (int r = 0; r < R; r++)
        sums[r][p] = _mm256_add_epi32(sums[r][p], _mm256_add_epi32(_mm256_madd_epi16(z0[r], d0), _mm256_madd_epi16(z1[r], d1)));
    }
  }
  SLIMLINE_UNROLL  // all of them, so that the sums can stay in registers
  for (int r = 0; r < R; r++) {
    double total = 0;
    SLIMLINE_UNROLL
    for (int p = digits - 1; p >= 0; p--) {
      int64_t sum = sum32(sums[r][p]);
      for (size_t u = t; u < length; u++) sum += int64_t(counted<S, part>(x[r][u], code)) * digit[size_t(p) * pitch + digit_place(u)];
      total = total * 32768.0 + double(sum);
    }
    out[r] += scale * total;
  }
}

template <class S, Counted part>
void dot(const void* data, ptrdiff_t stride, uint8_t code, size_t lines, size_t length, const void* digit, size_t pitch, double scale, double* out) {
  const S* x = static_cast<const S*>(data);
  const auto* d = static_cast<const int16_t*>(digit);
  size_t l = 0;
  for (; l + 2 <= lines; l += 2)
    dot_lines<S, part, 2>({x + ptrdiff_t(l) * stride, x + ptrdiff_t(l + 1) * stride}, stride, code, length, d, pitch, scale, out + l);
  if (l < lines) dot_lines<S, part, 1>({x + ptrdiff_t(l) * stride}, stride, code, length, d, pitch, scale, out + l);
}

// Eight lines at 32 places, those at even or at odd ones: sums of 8 + 8 of them for each digit. A pair of lines side by
// side in 32 bits is multiplied with its pair of digits.
template <class S, Counted part, bool odd_places, int R>
SLIMLINE_INLINE void add_half(const S* const (&x)[R], __m256i codes, size_t t, const __m256i (&weight)[R / 2][digits], int32_t* sums, size_t pitch) {
  __m256i low[digits], high[digits];
  SLIMLINE_UNROLL
  for (int p = 0; p < digits; p++) low[p] = load32(sums + size_t(p) * pitch), high[p] = load32(sums + size_t(p) * pitch + 8);
  SLIMLINE_UNROLL
  for (int q = 0; q < R / 2; q++) {
    __m256i a = counted<part>(load32(x[2 * q] + t), codes), b = counted<part>(load32(x[2 * q + 1] + t), codes);
    a = odd_places ? odd<S>(a) : even<S>(a);
    b = odd_places ? odd<S>(b) : even<S>(b);
    const __m256i near = _mm256_unpacklo_epi16(a, b), far = _mm256_unpackhi_epi16(a, b);
    SLIMLINE_UNROLL
    for (int p = 0; p < digits; p++) {
      low[p] = _mm256_add_epi32(low[p], _mm256_madd_epi16(near, weight[q][p]));
      high[p] = _mm256_add_epi32(high[p], _mm256_madd_epi16(far, weight[q][p]));
    }
  }
  SLIMLINE_UNROLL
  for (int p = 0; p < digits; p++) store32(sums + size_t(p) * pitch, low[p]), store32(sums + size_t(p) * pitch + 8, high[p]);
}

// Place of the sums of place t among 32: even low, even high, odd low, odd high, as the shuffles leave them.
SLIMLINE_INLINE size_t sum_place(size_t t) {
  const size_t within = t % 32, lane = within / 16, i = within % 16 / 2;
  return t - within + within % 2 * 16 + i / 4 * 8 + lane * 4 + i % 4;
}

template <class S, Counted part>
void add(const void* data, ptrdiff_t stride, uint8_t code, size_t lines, size_t length, const void* digits_of, size_t digit_pitch, int32_t* sums, size_t pitch) {
  constexpr int R = 8;
  const auto* digit = static_cast<const int16_t*>(digits_of);
  const __m256i codes = _mm256_set1_epi8(char(code));
  for (size_t first = 0; first < lines; first += R) {
    const S* x[R];
    __m256i weight[R / 2][digits];
    for (int r = 0; r < R; r++) {
      const size_t l = first + size_t(r) < lines ? first + size_t(r) : lines - 1;  // a line too many has weight 0
      x[r] = static_cast<const S*>(data) + ptrdiff_t(l) * stride;
    }
    for (int q = 0; q < R / 2; q++)
      for (int p = 0; p < digits; p++) {
        const size_t l = first + size_t(2 * q);
        const int16_t* d = digit + size_t(p) * digit_pitch;
        const uint32_t here = l < lines ? uint16_t(d[l]) : 0, next = l + 1 < lines ? uint16_t(d[l + 1]) : 0;
        weight[q][p] = _mm256_set1_epi32(int32_t(here | next << 16));
      }
    size_t t = 0;
    for (; t + 32 <= length; t += 32) {
      SLIMLINE_UNROLL
      for (int r = 0; r < R; r++) __builtin_prefetch(x[r] + R * stride + ptrdiff_t(t));
      add_half<S, part, false, R>(x, codes, t, weight, sums + t, pitch);
      add_half<S, part, true, R>(x, codes, t, weight, sums + t + 16, pitch);
    }
    for (; t < length; t++)
      for (int p = 0; p < digits; p++)
        for (size_t l = first; l < lines && l < first + R; l++)
          sums[size_t(p) * pitch + sum_place(t)] += counted<S, part>(x[l - first][t], code) * digit[size_t(p) * digit_pitch + l];
  }
}

void flush(int32_t* sums, size_t pitch, size_t length, double scale, double* y) {
  for (size_t t = 0; t < length; t += 32) {
    int32_t* s = sums + t;
    double joined[32];
    for (size_t i = 0; i < 32; i++) {
      const double high = double(s[3 * pitch + i]) * 32768.0 + double(s[2 * pitch + i]);
      joined[i] = scale * ((high * 32768.0 + double(s[pitch + i])) * 32768.0 + double(s[i]));
    }
    for (int p = 0; p < digits; p++) __builtin_memset(s + size_t(p) * pitch, 0, 32 * sizeof(int32_t));
    const size_t count = length - t < 32 ? length - t : 32;
    for (size_t i = 0; i < count; i++) y[t + i] += joined[sum_place(i)];
  }
}

template <class S> ByteKernels kernels_of() {
  return {{dot<S, Counted::all>, dot<S, Counted::present>, dot<S, Counted::absent>}, {add<S, Counted::all>, add<S, Counted::present>, add<S, Counted::absent>}, nullptr, nullptr};
}

}  // namespace

void add_byte_kernels(Kernels& k) {
  // 64 pairs of places in each of eight sums; many vectors had better share the work of turning bytes into float64
  k.digits = {digits, 58, sizeof(int16_t), 1024, 3, 24, largest, write, flush};
  k.bytes[0] = kernels_of<int8_t>(), k.bytes[1] = kernels_of<uint8_t>();
}

#else  // no product of pairs: the kernels of lines.cpp do it

void add_byte_kernels(Kernels&) {}

#endif

}  // namespace slimline::SLIMLINE_ISA
