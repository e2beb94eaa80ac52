// Sums over the lines of a block, in float64. A line is what lies together in memory: a row in C order, a column in
// Fortran order. `dot`: lines against vectors. `add`: lines, each times a number, added to vectors.
#include "products/column_transform.hpp"
#include "products/column_statistics.hpp"
#include "isa/table.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

// Fetches what lies so many bytes ahead of the `count` elements from x + t on, each cache line once. The CPU by itself does not
// keep its memory busy with several lines at a time whose values have far to go: with this they come as fast as they can be read.
template <int ahead, int count, class T> SLIMLINE_INLINE void fetch_ahead(const T* x, size_t t) {
  constexpr size_t line = 64 / sizeof(T);
  if constexpr (count >= line) {
    SLIMLINE_UNROLL
    for (size_t i = 0; i < size_t(count); i += line) __builtin_prefetch(reinterpret_cast<const char*>(x + t + i) + ahead, 0, 2);
  } else if (t % line == 0) {
    __builtin_prefetch(reinterpret_cast<const char*>(x + t) + ahead, 0, 2);
  }
}
constexpr int dot_ahead = 2048, add_ahead = 512;

template <class V, class T, Mode mode, bool along, int K, int R>
SLIMLINE_INLINE void dot_step(const Shift& s, const T* const (&x)[R], const Transform<T, mode, V> (&line)[R], size_t t, const double* v,
                              size_t pitch, V (&sums)[R][K]) {
  Transform<T, mode, V> element;
  if constexpr (along) element = Transform<T, mode, V>::of_element(s, t);
  V w[K];
  SLIMLINE_UNROLL
  for (int k = 0; k < K; k++) w[k] = load<V>(v + size_t(k) * pitch + t);
  SLIMLINE_UNROLL
  for (int r = 0; r < R; r++) {
    const V z = (along ? element : line[r])(value_at<V>(x[r] + t));
    SLIMLINE_UNROLL
    for (int k = 0; k < K; k++) sums[r][k] = multiply_add(z, w[k], sums[r][k]);
  }
}

// sums[line, k] += the line times v[k]
template <class T, Mode mode, bool along, int K>
void dot(const Shift& s, const T* data, ptrdiff_t stride, size_t lines, size_t length, const double* v, size_t pitch, double* out) {
  constexpr int R = K == 1 ? 4 : 2, step = slimline::SLIMLINE_ISA::lanes<double>;
  for (size_t first = 0; first < lines; first += R) {
    const T* x[R];
    Transform<T, mode, vd> line[R];
    Transform<T, mode, double> line_one[R];
    for (int r = 0; r < R; r++) {
      const size_t l = first + size_t(r) < lines ? first + size_t(r) : lines - 1;  // the sums of a line too many are dropped
      x[r] = data + ptrdiff_t(l) * stride;
      if constexpr (!along) line[r] = Transform<T, mode, vd>::of_line(s, l), line_one[r] = Transform<T, mode, double>::of_line(s, l);
    }
    // Eight sums in all: fewer, and one addition waits for the last; more, and they do not fit the registers.
    constexpr int sets = 8 / (R * K);
    vd sums[sets][R][K] = {};
    double rest[R][K] = {};
    size_t t = 0;
    for (; t + sets * step <= length; t += sets * step) {
      if constexpr (K == 1) {
        SLIMLINE_UNROLL
        for (int r = 0; r < R; r++) fetch_ahead<dot_ahead, sets * step>(x[r], t);
      }
      SLIMLINE_UNROLL
      for (int set = 0; set < sets; set++) dot_step<vd, T, mode, along, K, R>(s, x, line, t + size_t(set * step), v, pitch, sums[set]);
    }
    for (; t < length; t++) dot_step<double, T, mode, along, K, R>(s, x, line_one, t, v, pitch, rest);
    for (int r = 0; r < R && first + size_t(r) < lines; r++)
      for (int k = 0; k < K; k++) {
        vd total = sums[0][r][k];
        for (int set = 1; set < sets; set++) total += sums[set][r][k];
        out[(first + size_t(r)) * K + size_t(k)] += sum_of_lanes(total) + rest[r][k];
      }
  }
}

// U neighbouring elements (or vectors of them) together: a weight is fetched once for all.
template <class V, class T, Mode mode, bool along, int K, int R, int U>
SLIMLINE_INLINE void add_step(const Shift& s, const T* const* x, const Transform<T, mode, V>* line, size_t t, const double* a, double* y,
                              size_t pitch) {
  constexpr size_t step = sizeof(V) / sizeof(double);
  Transform<T, mode, V> element[U];
  V sums[U][K];
  SLIMLINE_UNROLL
  for (int u = 0; u < U; u++) {
    if constexpr (along) element[u] = Transform<T, mode, V>::of_element(s, t + size_t(u) * step);
    SLIMLINE_UNROLL
    for (int k = 0; k < K; k++) sums[u][k] = load<V>(y + size_t(k) * pitch + t + size_t(u) * step);
  }
  SLIMLINE_UNROLL
  for (int r = 0; r < R; r++) {
    V z[U];
    SLIMLINE_UNROLL
    for (int u = 0; u < U; u++) z[u] = (along ? element[u] : line[r])(value_at<V>(x[r] + t + size_t(u) * step));
    SLIMLINE_UNROLL
    for (int k = 0; k < K; k++) {
      const V weight = V{} + a[r * K + k];
      SLIMLINE_UNROLL
      for (int u = 0; u < U; u++) sums[u][k] = multiply_add(z[u], weight, sums[u][k]);
    }
  }
  SLIMLINE_UNROLL
  for (int u = 0; u < U; u++) {
    SLIMLINE_UNROLL
    for (int k = 0; k < K; k++) store(y + size_t(k) * pitch + t + size_t(u) * step, sums[u][k]);
  }
}

template <class T, Mode mode, bool along, int K, int R>
SLIMLINE_INLINE void add_together(const Shift& s, const T* data, ptrdiff_t stride, size_t first, size_t length, const double* a, double* y,
                                  size_t pitch) {
  const T* x[R];
  Transform<T, mode, vd> line[R];
  Transform<T, mode, double> line_one[R];
  for (int r = 0; r < R; r++) {
    x[r] = data + ptrdiff_t(first + size_t(r)) * stride;
    if constexpr (!along) {
      line[r] = Transform<T, mode, vd>::of_line(s, first + size_t(r));
      line_one[r] = Transform<T, mode, double>::of_line(s, first + size_t(r));
    }
  }
  constexpr size_t step = size_t(lanes<double>);
  size_t t = 0;
  for (; t + 2 * step <= length; t += 2 * step) {
    if constexpr (K == 1) {
      SLIMLINE_UNROLL
      for (int r = 0; r < R; r++) fetch_ahead<add_ahead, 2 * step>(x[r], t);
    }
    add_step<vd, T, mode, along, K, R, 2>(s, x, line, t, a + first * K, y, pitch);
  }
  for (; t < length; t++) add_step<double, T, mode, along, K, R, 1>(s, x, line_one, t, a + first * K, y, pitch);
}

// y[k] += the sum of the lines, each times a[line, k]
template <class T, Mode mode, bool along, int K>
void add(const Shift& s, const T* data, ptrdiff_t stride, size_t lines, size_t length, const double* a, double* y, size_t pitch) {
  constexpr int R = K == 1 ? 8 : 4;
  size_t first = 0;
  for (; first + R <= lines; first += R) add_together<T, mode, along, K, R>(s, data, stride, first, length, a, y, pitch);
  for (; first < lines; first++) add_together<T, mode, along, K, 1>(s, data, stride, first, length, a, y, pitch);
}

// The values themselves, changed and scaled, as float or double.
template <class T, Mode mode, bool along, class Out>
void write(const Shift& s, const double* factor, const T* data, ptrdiff_t stride, size_t lines, size_t length, Out* out, ptrdiff_t out_stride) {
  for (size_t l = 0; l < lines; l++) {
    const T* x = data + ptrdiff_t(l) * stride;
    Out* to = out + ptrdiff_t(l) * out_stride;
    Transform<T, mode, vd> line;
    Transform<T, mode, double> line_one;
    if constexpr (!along) line = Transform<T, mode, vd>::of_line(s, l), line_one = Transform<T, mode, double>::of_line(s, l);
    const double f = along || !factor ? 1.0 : factor[l];
    constexpr size_t step = size_t(lanes<double>);
    size_t t = 0;
    for (; t + step <= length; t += step) {
      Transform<T, mode, vd> element;
      if constexpr (along) element = Transform<T, mode, vd>::of_element(s, t);
      vd z = (along ? element : line)(load_double(x + t)) * f;
      if (along && factor) z = z * load<vd>(factor + t);
      if constexpr (sizeof(Out) == 8) {
        store(to + t, z);
      } else {
        typedef float narrow __attribute__((vector_size(vector_bytes / 2)));
        store(to + t, __builtin_convertvector(z, narrow));
      }
    }
    for (; t < length; t++) {
      Transform<T, mode, double> element;
      if constexpr (along) element = Transform<T, mode, double>::of_element(s, t);
      const double z = (along ? element : line_one)(value_at<double>(x + t)) * f;
      to[t] = Out(along && factor ? z * factor[t] : z);
    }
  }
}

template <class T, Mode mode> void add_sums(LineKernels<T>& k) {
  constexpr bool by_element = mode != plain;  // values that nothing is done to are the same along lines: compiled once
  k.dot[mode][0][0] = dot<T, mode, false, 1>, k.dot[mode][0][1] = dot<T, mode, false, 4>;
  k.dot[mode][1][0] = dot<T, mode, by_element, 1>, k.dot[mode][1][1] = dot<T, mode, by_element, 4>;
  k.add[mode][0][0] = add<T, mode, false, 1>, k.add[mode][0][1] = add<T, mode, false, 4>;
  k.add[mode][1][0] = add<T, mode, by_element, 1>, k.add[mode][1][1] = add<T, mode, by_element, 4>;
}

template <class T, Mode mode> void add_mode(LineKernels<T>& k) {
  add_sums<T, mode>(k);
  k.write_f32[mode][0] = write<T, mode, false, float>, k.write_f32[mode][1] = write<T, mode, true, float>;
  k.write_f64[mode][0] = write<T, mode, false, double>, k.write_f64[mode][1] = write<T, mode, true, double>;
}

template <class T> void add_type(LineKernels<T>& k) {
  add_mode<T, plain>(k);
  add_mode<T, centred>(k);
  add_mode<T, filled>(k);
  k.line_statistics = line_statistics<T>;
  k.element_statistics = element_statistics<T>;
}

}  // namespace

void add_line_kernels(Kernels& k) {
  add_type(k.f32.lines), add_type(k.f64.lines);
  add_sums<int8_t, plain>(k.i8), add_sums<int8_t, centred>(k.i8), add_sums<int8_t, filled>(k.i8);
}

}  // namespace slimline::SLIMLINE_ISA
