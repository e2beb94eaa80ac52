// Statistics of columns of bytes, each value counting once: sums of whole numbers, so they are exact.
#pragma once

#include "kernels.hpp"
#include "simd.hpp"

namespace slimline::SLIMLINE_ISA {

constexpr size_t byte_width = 2048;  // places at a time: the sums stay in the nearest cache
constexpr size_t line_width = 64;   // where a line is cut into short ones
constexpr size_t byte_lines = 128;  // lines whose sums fit 16 bits, and whose counts fit 8, where no value exceeds 15

// Sum, sum of squares, non-zeros and missing values of some places.
template <size_t width> struct ByteSums {
  int64_t sum[width], squares[width], nonzeros[width], absent[width];
};

template <class S, size_t width> struct NarrowSums {
  static constexpr int step = vector_bytes >= 32 ? 16 : 8;  // bytes that widen to no more than a vector
  typedef S bytes __attribute__((vector_size(step)));
  typedef int8_t mask __attribute__((vector_size(step)));
  typedef int16_t words __attribute__((vector_size(2 * step)));
  typedef uint8_t counts __attribute__((vector_size(step)));      // sums of values that are too large are of no use,
  typedef uint16_t residues __attribute__((vector_size(2 * step)));  // and must not overflow with a sign

  int16_t sum[width] = {}, squares[width] = {};
  int8_t nonzeros[width] = {}, absent[width] = {};  // read without a sign

  // Up to `byte_lines` lines at `count` places, a multiple of 16; false: a value is too large, the sums are of no use.
  bool add(const S* x, ptrdiff_t stride, size_t lines, size_t count, bool has_missing, S missing) {
    const bytes code = bytes{} + missing;
    const mask may = has_missing ? ~mask{} : mask{};
    mask large{};
    auto see = [&](const S* at, words& s, words& q, mask& n, mask& a) __attribute__((always_inline)) {
      bytes z = load<bytes>(at);
      const mask gone = (mask)(z == code) & may;
      z = (bytes)((mask)z & ~gone);
      const words w = __builtin_convertvector(z, words);
      const residues u = (residues)w;
      s = (words)((residues)s + u), q = (words)((residues)q + u * u);
      n = (mask)((counts)n - (counts)(mask)(z != bytes{})), a = (mask)((counts)a - (counts)gone);
      large |= (mask)(z > bytes{} + S(15));
      if constexpr (S(-1) < S(0)) large |= (mask)(z < bytes{} + S(-15));
    };
    for (size_t l = 0; l < lines; l += 2) {
      const S* line = x + ptrdiff_t(l) * stride;
      for (size_t t = 0; t < count; t += size_t(step)) {
        auto s = load<words>(sum + t), q = load<words>(squares + t);
        auto n = load<mask>(nonzeros + t), a = load<mask>(absent + t);
        // rows lie far apart, and the CPU does not foresee where the next one goes on
        if (t % 64 == 0) __builtin_prefetch(line + 4 * stride + ptrdiff_t(t)), __builtin_prefetch(line + 5 * stride + ptrdiff_t(t));
        see(line + t, s, q, n, a);
        if (l + 1 < lines) see(line + stride + t, s, q, n, a);
        store(sum + t, s), store(squares + t, q), store(nonzeros + t, n), store(absent + t, a);
      }
    }
    int8_t any = 0;
    for (int i = 0; i < step; i++) any = int8_t(any | large[i]);
    return any == 0;
  }
};

// Adds `count` <= width places of lines that are `stride` apart.
template <class S, size_t width>
void add_byte_sums(const S* x, ptrdiff_t stride, size_t lines, size_t count, bool has_missing, int missing, ByteSums<width>& to) {
  const size_t whole = count / 16 * 16;
  for (size_t first = 0; first < lines; first += byte_lines) {
    const size_t here = lines - first < byte_lines ? lines - first : byte_lines;
    const S* chunk = x + ptrdiff_t(first) * stride;
    NarrowSums<S, width> narrow;
    size_t done = 0;
    if (whole && narrow.add(chunk, stride, here, whole, has_missing, S(missing))) {
      for (size_t t = 0; t < whole; t++) {
        to.sum[t] += narrow.sum[t], to.squares[t] += narrow.squares[t];
        to.nonzeros[t] += uint8_t(narrow.nonzeros[t]), to.absent[t] += uint8_t(narrow.absent[t]);
      }
      done = whole;
    }
    if (done == count) continue;
    int32_t s[width] = {}, q[width] = {}, n[width] = {}, a[width] = {};
    for (size_t l = 0; l < here; l++) {
      const S* line = chunk + ptrdiff_t(l) * stride;
      for (size_t t = done; t < count; t++) {
        const int32_t gone = has_missing & (int32_t(line[t]) == missing), z = gone ? 0 : int32_t(line[t]);
        s[t] += z, q[t] += z * z, n[t] += z != 0, a[t] += gone;
      }
    }
    for (size_t t = done; t < count; t++) to.sum[t] += s[t], to.squares[t] += q[t], to.nonzeros[t] += n[t], to.absent[t] += a[t];
  }
}

SLIMLINE_INLINE void set_from_sums(const Moments& m, size_t t, size_t all, int64_t sum, int64_t squares, int64_t nonzeros, int64_t absent) {
  const int64_t count = int64_t(all) - absent;
  m.weight[t] = double(count);
  m.mean[t] = count ? double(sum) / double(count) : 0.0;
  // count · squares - sum² is a whole number, and not negative
  m.deviation[t] = count ? double(__int128(count) * squares - __int128(sum) * sum) / double(count) : 0.0;
  m.nonzeros[t] = nonzeros, m.missing[t] = absent;
}

// A column that is a line is taken for many short ones.
template <class S> void byte_line_statistics(const S* x, size_t length, bool has_missing, int missing, const Moments& m) {
  constexpr size_t width = line_width;
  ByteSums<width> sums{};
  const size_t whole = length / width * width;
  add_byte_sums(x, ptrdiff_t(width), length / width, width, has_missing, missing, sums);
  add_byte_sums(x + whole, 0, 1, length - whole, has_missing, missing, sums);
  int64_t sum = 0, squares = 0, nonzeros = 0, absent = 0;
  for (size_t t = 0; t < width; t++) sum += sums.sum[t], squares += sums.squares[t], nonzeros += sums.nonzeros[t], absent += sums.absent[t];
  set_from_sums(m, 0, length, sum, squares, nonzeros, absent);
}

template <class S>
void byte_place_statistics(const S* x, ptrdiff_t stride, size_t lines, size_t length, bool has_missing, int missing, const Moments& m) {
  for (size_t from = 0; from < length; from += byte_width) {
    const size_t count = length - from < byte_width ? length - from : byte_width;
    ByteSums<byte_width> sums{};
    add_byte_sums(x + from, stride, lines, count, has_missing, missing, sums);
    for (size_t t = 0; t < count; t++) set_from_sums(m, from + t, lines, sums.sum[t], sums.squares[t], sums.nonzeros[t], sums.absent[t]);
  }
}

}  // namespace slimline::SLIMLINE_ISA
