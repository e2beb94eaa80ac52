// Sums over the lines of a block, in float64. A line is what lies together in memory: a row in C order, a column in
// Fortran order. `dot`: lines against vectors. `add`: lines, each times a number, added to vectors.
#include "byte_statistics.hpp"
#include "change.hpp"
#include "table.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

template <class V, class S, Mode mode, bool along, int K, int R>
SLIMLINE_INLINE void dot_step(const Shift& s, const S* const (&x)[R], const Change<S, mode, V> (&line)[R], size_t t, const double* v,
                              size_t pitch, V (&sums)[R][K]) {
  Change<S, mode, V> place;
  if constexpr (along) place = Change<S, mode, V>::of_place(s, t);
  V w[K];
  SLIMLINE_UNROLL
  for (int k = 0; k < K; k++) w[k] = load<V>(v + size_t(k) * pitch + t);
  SLIMLINE_UNROLL
  for (int r = 0; r < R; r++) {
    const V z = (along ? place : line[r])(value_at<V>(x[r] + t));
    SLIMLINE_UNROLL
    for (int k = 0; k < K; k++) sums[r][k] = multiply_add(z, w[k], sums[r][k]);
  }
}

// sums[line, k] += the line times v[k]
template <class S, Mode mode, bool along, int K>
void dot(const Shift& s, const void* data, ptrdiff_t stride, size_t lines, size_t length, const double* v, size_t pitch, double* out) {
  constexpr int R = K == 1 ? 4 : 2, step = slimline::SLIMLINE_ISA::lanes<double>;
  for (size_t first = 0; first < lines; first += R) {
    const S* x[R];
    Change<S, mode, vd> line[R];
    Change<S, mode, double> line_one[R];
    for (int r = 0; r < R; r++) {
      const size_t l = first + size_t(r) < lines ? first + size_t(r) : lines - 1;  // the sums of a line too many are dropped
      x[r] = static_cast<const S*>(data) + ptrdiff_t(l) * stride;
      if constexpr (!along) line[r] = Change<S, mode, vd>::of_line(s, l), line_one[r] = Change<S, mode, double>::of_line(s, l);
    }
    // Eight sums in all: fewer, and one addition waits for the last; more, and they do not fit the registers.
    constexpr int sets = 8 / (R * K);
    vd sums[sets][R][K] = {};
    double rest[R][K] = {};
    size_t t = 0;
    for (; t + sets * step <= length; t += sets * step) {
      SLIMLINE_UNROLL
      for (int set = 0; set < sets; set++) dot_step<vd, S, mode, along, K, R>(s, x, line, t + size_t(set * step), v, pitch, sums[set]);
    }
    for (; t < length; t++) dot_step<double, S, mode, along, K, R>(s, x, line_one, t, v, pitch, rest);
    for (int r = 0; r < R && first + size_t(r) < lines; r++)
      for (int k = 0; k < K; k++) {
        vd total = sums[0][r][k];
        for (int set = 1; set < sets; set++) total += sums[set][r][k];
        out[(first + size_t(r)) * K + size_t(k)] += sum_of_lanes(total) + rest[r][k];
      }
  }
}

// U neighbouring places (or vectors of them) together: a weight is fetched once for all.
template <class V, class S, Mode mode, bool along, int K, int R, int U>
SLIMLINE_INLINE void add_step(const Shift& s, const S* const* x, const Change<S, mode, V>* line, size_t t, const double* a, double* y,
                              size_t pitch) {
  constexpr size_t step = sizeof(V) / sizeof(double);
  Change<S, mode, V> place[U];
  V sums[U][K];
  SLIMLINE_UNROLL
  for (int u = 0; u < U; u++) {
    if constexpr (along) place[u] = Change<S, mode, V>::of_place(s, t + size_t(u) * step);
    SLIMLINE_UNROLL
    for (int k = 0; k < K; k++) sums[u][k] = load<V>(y + size_t(k) * pitch + t + size_t(u) * step);
  }
  SLIMLINE_UNROLL
  for (int r = 0; r < R; r++) {
    V z[U];
    SLIMLINE_UNROLL
    for (int u = 0; u < U; u++) z[u] = (along ? place[u] : line[r])(value_at<V>(x[r] + t + size_t(u) * step));
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

template <class S, Mode mode, bool along, int K, int R>
SLIMLINE_INLINE void add_together(const Shift& s, const void* data, ptrdiff_t stride, size_t first, size_t length, const double* a, double* y,
                                  size_t pitch) {
  const S* x[R];
  Change<S, mode, vd> line[R];
  Change<S, mode, double> line_one[R];
  for (int r = 0; r < R; r++) {
    x[r] = static_cast<const S*>(data) + ptrdiff_t(first + size_t(r)) * stride;
    if constexpr (!along) {
      line[r] = Change<S, mode, vd>::of_line(s, first + size_t(r));
      line_one[r] = Change<S, mode, double>::of_line(s, first + size_t(r));
    }
  }
  constexpr size_t step = size_t(lanes<double>);
  size_t t = 0;
  for (; t + 2 * step <= length; t += 2 * step) add_step<vd, S, mode, along, K, R, 2>(s, x, line, t, a + first * K, y, pitch);
  for (; t < length; t++) add_step<double, S, mode, along, K, R, 1>(s, x, line_one, t, a + first * K, y, pitch);
}

// y[k] += the sum of the lines, each times a[line, k]
template <class S, Mode mode, bool along, int K>
void add(const Shift& s, const void* data, ptrdiff_t stride, size_t lines, size_t length, const double* a, double* y, size_t pitch) {
  constexpr int R = K == 1 ? 8 : 4;
  size_t first = 0;
  for (; first + R <= lines; first += R) add_together<S, mode, along, K, R>(s, data, stride, first, length, a, y, pitch);
  for (; first < lines; first++) add_together<S, mode, along, K, 1>(s, data, stride, first, length, a, y, pitch);
}

// The values themselves, changed and scaled, as float or double.
template <class S, Mode mode, bool along, class T>
void write(const Shift& s, const double* factor, const void* data, ptrdiff_t stride, size_t lines, size_t length, T* out, ptrdiff_t out_stride) {
  for (size_t l = 0; l < lines; l++) {
    const S* x = static_cast<const S*>(data) + ptrdiff_t(l) * stride;
    T* to = out + ptrdiff_t(l) * out_stride;
    Change<S, mode, vd> line;
    Change<S, mode, double> line_one;
    if constexpr (!along) line = Change<S, mode, vd>::of_line(s, l), line_one = Change<S, mode, double>::of_line(s, l);
    const double f = along || !factor ? 1.0 : factor[l];
    constexpr size_t step = size_t(lanes<double>);
    size_t t = 0;
    for (; t + step <= length; t += step) {
      Change<S, mode, vd> place;
      if constexpr (along) place = Change<S, mode, vd>::of_place(s, t);
      vd z = (along ? place : line)(load_double(x + t)) * f;
      if (along && factor) z = z * load<vd>(factor + t);
      if constexpr (sizeof(T) == 8) {
        store(to + t, z);
      } else {
        typedef float narrow __attribute__((vector_size(vector_bytes / 2)));
        store(to + t, __builtin_convertvector(z, narrow));
      }
    }
    for (; t < length; t++) {
      Change<S, mode, double> place;
      if constexpr (along) place = Change<S, mode, double>::of_place(s, t);
      const double z = (along ? place : line_one)(value_at<double>(x + t)) * f;
      to[t] = T(along && factor ? z * factor[t] : z);
    }
  }
}

// One value, or a vector of them, on its way into the statistics of a column.
template <class S, class V> struct Seen {
  V missing;
  bool has_missing;
  SLIMLINE_INLINE V there(V z, V yes) const {
    const V no{};
    if constexpr (is_float<S>) return z == z ? yes : no;
    else return has_missing ? (z == missing ? no : yes) : yes;
  }
  SLIMLINE_INLINE void add(V z, V w, V& weight, V& sum, V& nonzeros, V& count) const {
    const V one = V{} + 1.0, zero{}, here = there(z, one);
    z = here == one ? z : zero;
    weight = weight + (here == one ? w : zero);
    sum = sum + w * z;
    nonzeros = nonzeros + (z == zero ? zero : one);
    count = count + here;
  }
  SLIMLINE_INLINE void add_square(V z, V w, V mean, V& deviation) const {
    const V one = V{} + 1.0, zero{}, step = there(z, one) == one ? z - mean : zero;
    deviation = deviation + w * step * step;
  }
};

template <class S> constexpr bool is_byte = sizeof(S) == 1;

// Statistics of columns that are lines: one line at a time.
template <class S> void line_statistics(const void* data, size_t length, bool has_missing, double missing, const double* weights, Moments& m) {
  const S* x = static_cast<const S*>(data);
  if constexpr (is_byte<S>) {
    if (!weights) return byte_line_statistics(x, length, has_missing, int(missing), m);
  }
  Seen<S, vd> many{vd{} + missing, has_missing};
  Seen<S, double> one{missing, has_missing};
  vd wide_weight{}, wide_sum{}, wide_nonzeros{}, wide_there{};
  double weight = 0, sum = 0, nonzeros = 0, there = 0;
  constexpr size_t step = size_t(lanes<double>);
  const size_t whole = length / step * step;
  for (size_t t = 0; t < whole; t += step)
    many.add(load_double(x + t), weights ? load<vd>(weights + t) : vd{} + 1.0, wide_weight, wide_sum, wide_nonzeros, wide_there);
  for (size_t t = whole; t < length; t++) one.add(value_at<double>(x + t), weights ? weights[t] : 1.0, weight, sum, nonzeros, there);
  weight += sum_of_lanes(wide_weight), sum += sum_of_lanes(wide_sum), nonzeros += sum_of_lanes(wide_nonzeros), there += sum_of_lanes(wide_there);
  const double mean = weight > 0 ? sum / weight : 0.0;
  vd wide{};
  double deviation = 0;
  for (size_t t = 0; t < whole; t += step) many.add_square(load_double(x + t), weights ? load<vd>(weights + t) : vd{} + 1.0, vd{} + mean, wide);
  for (size_t t = whole; t < length; t++) one.add_square(value_at<double>(x + t), weights ? weights[t] : 1.0, mean, deviation);
  *m.weight = weight, *m.mean = mean, *m.deviation = deviation + sum_of_lanes(wide);
  *m.nonzeros = int64_t(nonzeros), *m.missing = int64_t(length) - int64_t(there);
}

// Statistics of columns that run along the lines, for a stretch of them.
template <class S>
void place_statistics(const void* data, ptrdiff_t stride, size_t lines, size_t length, bool has_missing, double missing, const double* weights,
                      Moments& m) {
  if constexpr (is_byte<S>) {
    if (!weights) return byte_place_statistics(static_cast<const S*>(data), stride, lines, length, has_missing, int(missing), m);
  }
  constexpr size_t step = size_t(lanes<double>), most = 1024;
  for (size_t from = 0; from < length; from += most) {
    const size_t count = length - from < most ? length - from : most, whole = count / step * step;
    double *weight = m.weight + from, *mean = m.mean + from, *deviation = m.deviation + from;
    double nonzeros[most] = {}, there[most] = {};
    const S* first = static_cast<const S*>(data) + from;
    Seen<S, vd> many{vd{} + missing, has_missing};
    Seen<S, double> one{missing, has_missing};
    for (size_t t = 0; t < count; t++) weight[t] = mean[t] = deviation[t] = 0;
    for (size_t l = 0; l < lines; l++) {
      const S* x = first + ptrdiff_t(l) * stride;
      const double w = weights ? weights[l] : 1.0;
      for (size_t t = 0; t < whole; t += step) {
        vd a = load<vd>(weight + t), b = load<vd>(mean + t), c = load<vd>(nonzeros + t), d = load<vd>(there + t);
        many.add(load_double(x + t), vd{} + w, a, b, c, d);
        store(weight + t, a), store(mean + t, b), store(nonzeros + t, c), store(there + t, d);
      }
      for (size_t t = whole; t < count; t++) one.add(value_at<double>(x + t), w, weight[t], mean[t], nonzeros[t], there[t]);
    }
    for (size_t t = 0; t < count; t++) {
      mean[t] = weight[t] > 0 ? mean[t] / weight[t] : 0.0;
      m.nonzeros[from + t] = int64_t(nonzeros[t]), m.missing[from + t] = int64_t(lines) - int64_t(there[t]);
    }
    for (size_t l = 0; l < lines; l++) {
      const S* x = first + ptrdiff_t(l) * stride;
      const double w = weights ? weights[l] : 1.0;
      for (size_t t = 0; t < whole; t += step) {
        vd sum = load<vd>(deviation + t);
        many.add_square(load_double(x + t), vd{} + w, load<vd>(mean + t), sum);
        store(deviation + t, sum);
      }
      for (size_t t = whole; t < count; t++) one.add_square(value_at<double>(x + t), w, mean[t], deviation[t]);
    }
  }
}

template <class S, Mode mode> void add_mode(LineKernels& k) {
  k.dot[mode][0][0] = dot<S, mode, false, 1>, k.dot[mode][0][1] = dot<S, mode, false, 4>;
  k.dot[mode][1][0] = dot<S, mode, true, 1>, k.dot[mode][1][1] = dot<S, mode, true, 4>;
  k.add[mode][0][0] = add<S, mode, false, 1>, k.add[mode][0][1] = add<S, mode, false, 4>;
  k.add[mode][1][0] = add<S, mode, true, 1>, k.add[mode][1][1] = add<S, mode, true, 4>;
  k.write_f32[mode][0] = write<S, mode, false, float>, k.write_f32[mode][1] = write<S, mode, true, float>;
  k.write_f64[mode][0] = write<S, mode, false, double>, k.write_f64[mode][1] = write<S, mode, true, double>;
}

template <class S> LineKernels line_kernels() {
  LineKernels k{};
  add_mode<S, plain>(k);
  add_mode<S, centred>(k);
  add_mode<S, filled>(k);
  k.line_statistics = line_statistics<S>;
  k.place_statistics = place_statistics<S>;
  return k;
}

}  // namespace

void add_line_kernels(Kernels& k) {
  k.lines[int(Type::f32)] = line_kernels<float>();
  k.lines[int(Type::f64)] = line_kernels<double>();
  k.lines[int(Type::f16)] = line_kernels<half>();
  k.lines[int(Type::i8)] = line_kernels<int8_t>();
  k.lines[int(Type::u8)] = line_kernels<uint8_t>();
  k.lines[int(Type::i16)] = line_kernels<int16_t>();
}

}  // namespace slimline::SLIMLINE_ISA
