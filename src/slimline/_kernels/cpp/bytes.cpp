// Sums over lines of bytes, by whole numbers: a vector of float64 is written as whole multiples of one power of two, in
// four digits of 15 bits, and a byte times a digit is exact. That is as accurate as sums in float64 (numbers far smaller than
// the largest get digits of their own: byte_blocks.cpp) and twice as fast.
//
// Bytes become 16-bit numbers by shifts, those at even places apart from those at odd ones: spreading them in order would
// cross the halves of a vector, which costs more than all the rest.
#include "simd.hpp"
#include "table.hpp"

namespace slimline::SLIMLINE_ISA {

#if SLIMLINE_VECTOR_BYTES >= 32
namespace {

template <class S> constexpr bool is_signed = S(-1) < S(0);

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

template <class S, int R>
SLIMLINE_INLINE void dot_lines(const S* const (&x)[R], ptrdiff_t stride, size_t length, const int16_t* digit, size_t pitch, double scale, double* out, size_t step) {
  __m256i sums[R][digits];
  SLIMLINE_UNROLL
  for (int r = 0; r < R; r++) {
    SLIMLINE_UNROLL
    for (int p = 0; p < digits; p++) sums[r][p] = _mm256_setzero_si256();
  }
  size_t t = 0;
  for (; t + 32 <= length; t += 32) {
    SLIMLINE_UNROLL  // lines are short stretches of long ones: the CPU does not foresee the next
    for (int r = 0; r < R; r++) __builtin_prefetch(x[r] + 2 * R * stride + ptrdiff_t(t));
    __m256i z0[R], z1[R];
    SLIMLINE_UNROLL
    for (int r = 0; r < R; r++) {
      const __m256i z = load32(x[r] + t);
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
      for (size_t u = t; u < length; u++) sum += int64_t(x[r][u]) * digit[size_t(p) * pitch + digit_place(u)];
      total = total * 32768.0 + double(sum);
    }
    out[size_t(r) * step] += scale * total;
  }
}

template <class S>
void dot(const void* data, ptrdiff_t stride, size_t lines, size_t length, const int16_t* digit, size_t pitch, double scale, double* out, size_t step) {
  const S* x = static_cast<const S*>(data);
  size_t l = 0;
  for (; l + 2 <= lines; l += 2) dot_lines<S, 2>({x + ptrdiff_t(l) * stride, x + ptrdiff_t(l + 1) * stride}, stride, length, digit, pitch, scale, out + l * step, step);
  if (l < lines) dot_lines<S, 1>({x + ptrdiff_t(l) * stride}, stride, length, digit, pitch, scale, out + l * step, step);
}

// Eight lines at 32 places, those at even or at odd ones: sums of 8 + 8 of them for each digit. A pair of lines side by
// side in 32 bits is multiplied with its pair of digits.
template <class S, bool odd_places, int R>
SLIMLINE_INLINE void add_half(const S* const (&x)[R], size_t t, const __m256i (&weight)[R / 2][digits], int32_t* sums, size_t pitch) {
  __m256i low[digits], high[digits];
  SLIMLINE_UNROLL
  for (int p = 0; p < digits; p++) low[p] = load32(sums + size_t(p) * pitch), high[p] = load32(sums + size_t(p) * pitch + 8);
  SLIMLINE_UNROLL
  for (int q = 0; q < R / 2; q++) {
    __m256i a = load32(x[2 * q] + t), b = load32(x[2 * q + 1] + t);
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

template <class S>
void add(const void* data, ptrdiff_t stride, size_t lines, size_t length, const int16_t* digit, size_t digit_pitch, int32_t* sums, size_t pitch) {
  constexpr int R = 8;
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
      add_half<S, false, R>(x, t, weight, sums + t, pitch);
      add_half<S, true, R>(x, t, weight, sums + t + 16, pitch);
    }
    for (; t < length; t++)
      for (int p = 0; p < digits; p++)
        for (size_t l = first; l < lines && l < first + R; l++)
          sums[size_t(p) * pitch + sum_place(t)] += int32_t(x[l - first][t]) * digit[size_t(p) * digit_pitch + l];
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

// A copy with 0 for every `code`, and the places of those, which are written without a branch while they are few: at one in a
// hundred a branch would be guessed wrong every other time.
size_t clean(const void* x, size_t length, uint8_t code, void* out, uint32_t* places) {
  const auto* from = static_cast<const char*>(x);
  auto* to = static_cast<char*>(out);
  const __m256i codes = _mm256_set1_epi8(char(code));
  size_t found = 0, t = 0;
  for (; t + 64 <= length; t += 64) {
    const __m256i a = load32(from + t), b = load32(from + t + 32), in_a = _mm256_cmpeq_epi8(a, codes), in_b = _mm256_cmpeq_epi8(b, codes);
    store32(to + t, _mm256_andnot_si256(in_a, a)), store32(to + t + 32, _mm256_andnot_si256(in_b, b));
    uint64_t gone = uint64_t(uint32_t(_mm256_movemask_epi8(in_b))) << 32 | uint32_t(_mm256_movemask_epi8(in_a));
    found = add_places(gone, t, places, found);
  }
  for (; t < length; t++) {
    const bool gone = uint8_t(from[t]) == code;
    to[t] = gone ? 0 : from[t];
    places[found] = uint32_t(t), found += gone;
  }
  return found;
}

}  // namespace

void add_byte_kernels(Kernels& k) {
  k.clean_bytes = clean;
  k.bytes[0] = {dot<int8_t>, add<int8_t>};
  k.bytes[1] = {dot<uint8_t>, add<uint8_t>};
  k.flush_bytes = flush;
}

#else  // no product of pairs: the kernels of lines.cpp do it

void add_byte_kernels(Kernels&) {}

#endif

}  // namespace slimline::SLIMLINE_ISA
