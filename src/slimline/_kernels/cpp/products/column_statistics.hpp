// Statistics of columns: weights, means, squared deviations, non-zeros and missing values.
#pragma once

#include "products/column_transform.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

// One value, or a vector of them, on its way into the statistics of a column.
template <class V> struct Seen {
  static SLIMLINE_INLINE V there(V z, V yes) { return z == z ? yes : V{}; }
  static SLIMLINE_INLINE void add(V z, V w, V& weight, V& sum, V& nonzeros, V& count) {
    const V one = V{} + 1.0, zero{}, here = there(z, one);
    z = here == one ? z : zero;
    weight = weight + (here == one ? w : zero);
    sum = sum + w * z;
    nonzeros = nonzeros + (z == zero ? zero : one);
    count = count + here;
  }
  static SLIMLINE_INLINE void add_square(V z, V w, V mean, V& deviation) {
    const V one = V{} + 1.0, zero{}, step = there(z, one) == one ? z - mean : zero;
    deviation = deviation + w * step * step;
  }
};

// Statistics of columns that are lines: one line at a time.
template <class T> void line_statistics(const T* x, size_t length, const double* weights, const Moments& m) {
  using many = Seen<vd>;
  using one = Seen<double>;
  vd wide_weight{}, wide_sum{}, wide_nonzeros{}, wide_there{};
  double weight = 0, sum = 0, nonzeros = 0, there = 0;
  constexpr size_t step = size_t(lanes<double>);
  const size_t whole = length / step * step;
  for (size_t t = 0; t < whole; t += step)
    many::add(load_double(x + t), weights ? load<vd>(weights + t) : vd{} + 1.0, wide_weight, wide_sum, wide_nonzeros, wide_there);
  for (size_t t = whole; t < length; t++) one::add(value_at<double>(x + t), weights ? weights[t] : 1.0, weight, sum, nonzeros, there);
  weight += sum_of_lanes(wide_weight), sum += sum_of_lanes(wide_sum), nonzeros += sum_of_lanes(wide_nonzeros), there += sum_of_lanes(wide_there);
  const double mean = weight > 0 ? sum / weight : 0.0;
  vd wide{};
  double deviation = 0;
  for (size_t t = 0; t < whole; t += step) many::add_square(load_double(x + t), weights ? load<vd>(weights + t) : vd{} + 1.0, vd{} + mean, wide);
  for (size_t t = whole; t < length; t++) one::add_square(value_at<double>(x + t), weights ? weights[t] : 1.0, mean, deviation);
  *m.weight = weight, *m.mean = mean, *m.deviation = deviation + sum_of_lanes(wide);
  *m.nonzeros = int64_t(nonzeros), *m.missing = int64_t(length) - int64_t(there);
}

// Statistics of columns that run along the lines.
//
// A few rows at a time, which stay in the cache for a second look, are put together as two samples are: Chan, Golub and LeVeque,
// "Algorithms for computing the sample variance" (1983).
constexpr size_t panel_columns = 1024;  // whose sums fill most of the nearest cache
constexpr size_t chunk_rows = 256;
constexpr size_t pilot_rows = 16;

template <int n> struct Number {
  static constexpr int value = n;
};

// What some rows say of the columns of a panel.
struct PanelSums {
  double weight[panel_columns], mean[panel_columns], deviation[panel_columns], nonzeros[panel_columns], there[panel_columns];
};

// body(t, V{}): a vector of columns at a time, the last ones one by one.
template <class F> SLIMLINE_INLINE void by_columns(size_t columns, F body) {
  constexpr size_t step = size_t(lanes<double>);
  size_t t = 0;
  for (; t + step <= columns; t += step) body(t, vd{});
  for (; t < columns; t++) body(t, 0.0);
}

// body(first row, t, V{}, Number): four rows at a time, which share what is loaded and stored for a column.
template <class F> SLIMLINE_INLINE void by_rows(size_t rows, size_t columns, F body) {
  constexpr size_t together = 4;
  size_t l = 0;
  for (; l + together <= rows; l += together)
    by_columns(columns, [&](size_t t, auto v) __attribute__((always_inline)) { body(l, t, v, Number<int(together)>{}); });
  for (; l < rows; l++) by_columns(columns, [&](size_t t, auto v) __attribute__((always_inline)) { body(l, t, v, Number<1>{}); });
}

// The next rows are brought near: they lie far apart, and the CPU does not foresee where one goes on.
template <class V, class T> SLIMLINE_INLINE void fetch(const T* next, size_t t) {
  constexpr size_t bytes = sizeof(V) / sizeof(double) * sizeof(T);
  if (sizeof(V) > sizeof(double) && t * sizeof(T) % 64 < bytes) __builtin_prefetch(next);
}

// All values count once, and none is looked at twice: sums of x - pilot and of its square, where the pilot is the mean of the
// first rows. That is no further from the mean than √(chunk_rows / pilot_rows) standard deviations, so that little is lost
// when the squares are corrected for it; and 0 is left of a constant. False: a value is missing, or too large for that.
template <class T> bool sum_quickly(const T* x, ptrdiff_t stride, size_t rows, size_t columns, PanelSums& to) {
  const size_t pilots = rows < pilot_rows ? rows : pilot_rows;
  double pilot[panel_columns], sum[panel_columns] = {};
  by_rows(pilots, columns, [&](size_t l, size_t t, auto v, auto number) __attribute__((always_inline)) {
    using V = decltype(v);
    const V first = value_at<V>(x + t);
    V s = load<V>(sum + t);
    SLIMLINE_UNROLL
    for (int r = 0; r < decltype(number)::value; r++) s = s + (value_at<V>(x + ptrdiff_t(l + size_t(r)) * stride + t) - first);
    store(sum + t, s);
  });
  by_columns(columns, [&](size_t t, auto v) __attribute__((always_inline)) {
    using V = decltype(v);
    store(pilot + t, value_at<V>(x + t) + load<V>(sum + t) / double(pilots));
    store(sum + t, V{}), store(to.deviation + t, V{}), store(to.nonzeros + t, V{});
  });
  by_rows(rows, columns, [&](size_t l, size_t t, auto v, auto number) __attribute__((always_inline)) {
    using V = decltype(v);
    constexpr int R = decltype(number)::value;
    const V middle = load<V>(pilot + t), zero{}, one = V{} + 1.0;
    V s = load<V>(sum + t), q = load<V>(to.deviation + t), n = load<V>(to.nonzeros + t);
    SLIMLINE_UNROLL
    for (int r = 0; r < R; r++) {
      const T* at = x + ptrdiff_t(l + size_t(r)) * stride + t;
      fetch<V>(at + R * stride, t);
      const V z = value_at<V>(at), d = z - middle;
      s = s + d, q = multiply_add(d, d, q), n = n + (z == zero ? zero : one);
    }
    store(sum + t, s), store(to.deviation + t, q), store(to.nonzeros + t, n);
  });
  bool sound = true;
  for (size_t t = 0; t < columns; t++) {
    const double off = sum[t] / double(rows), squares = to.deviation[t] - sum[t] * off;
    sound &= squares - squares == 0;  // finite
    to.mean[t] = pilot[t] + off, to.deviation[t] = squares > 0 ? squares : 0.0;
    to.weight[t] = to.there[t] = double(rows);
  }
  return sound;
}

// Missing values are left out, rows have weights (null: 1), and deviations are from the mean itself.
template <class T>
void sum_carefully(const T* x, ptrdiff_t stride, size_t rows, size_t columns, const double* weights, PanelSums& to) {
  for (size_t t = 0; t < columns; t++) to.weight[t] = to.mean[t] = to.deviation[t] = to.nonzeros[t] = to.there[t] = 0;
  by_rows(rows, columns, [&](size_t l, size_t t, auto v, auto number) __attribute__((always_inline)) {
    using V = decltype(v);
    constexpr int R = decltype(number)::value;
    V a = load<V>(to.weight + t), b = load<V>(to.mean + t), c = load<V>(to.nonzeros + t), d = load<V>(to.there + t);
    SLIMLINE_UNROLL
    for (int r = 0; r < R; r++) {
      const T* at = x + ptrdiff_t(l + size_t(r)) * stride + t;
      fetch<V>(at + R * stride, t);
      Seen<V>::add(value_at<V>(at), V{} + (weights ? weights[l + size_t(r)] : 1.0), a, b, c, d);
    }
    store(to.weight + t, a), store(to.mean + t, b), store(to.nonzeros + t, c), store(to.there + t, d);
  });
  for (size_t t = 0; t < columns; t++) to.mean[t] = to.weight[t] > 0 ? to.mean[t] / to.weight[t] : 0.0;
  by_rows(rows, columns, [&](size_t l, size_t t, auto v, auto number) __attribute__((always_inline)) {
    using V = decltype(v);
    const V mean = load<V>(to.mean + t);
    V sum = load<V>(to.deviation + t);
    SLIMLINE_UNROLL
    for (int r = 0; r < decltype(number)::value; r++)
      Seen<V>::add_square(value_at<V>(x + ptrdiff_t(l + size_t(r)) * stride + t), V{} + (weights ? weights[l + size_t(r)] : 1.0), mean, sum);
    store(to.deviation + t, sum);
  });
}

// Two samples become one.
SLIMLINE_INLINE void merge(const PanelSums& part, size_t columns, size_t rows, const Moments& m, size_t from) {
  for (size_t t = 0; t < columns; t++) {
    double &weight = m.weight[from + t], &mean = m.mean[from + t];
    const double total = weight + part.weight[t], share = total > 0 ? part.weight[t] / total : 0.0;
    const double step = weight > 0 ? part.mean[t] - mean : 0.0;
    m.deviation[from + t] += part.deviation[t] + step * step * weight * share;
    mean = weight > 0 ? mean + step * share : part.mean[t];
    weight = total;
    m.nonzeros[from + t] += int64_t(part.nonzeros[t]), m.missing[from + t] += int64_t(rows) - int64_t(part.there[t]);
  }
}

template <class T>
void element_statistics(const T* data, ptrdiff_t stride, size_t lines, size_t length, const double* weights, bool first_lines, const Moments& m) {
  PanelSums part;
  for (size_t from = 0; from < length; from += panel_columns) {
    const size_t columns = length - from < panel_columns ? length - from : panel_columns;
    for (size_t t = from; first_lines && t < from + columns; t++) m.weight[t] = m.mean[t] = m.deviation[t] = 0, m.nonzeros[t] = m.missing[t] = 0;
    bool all_there = !weights;  // as far as is known: NaN will show
    for (size_t first = 0; first < lines; first += chunk_rows) {
      const size_t rows = lines - first < chunk_rows ? lines - first : chunk_rows;
      const T* x = data + ptrdiff_t(first) * stride + ptrdiff_t(from);
      all_there = all_there && sum_quickly(x, stride, rows, columns, part);
      if (!all_there) sum_carefully(x, stride, rows, columns, weights ? weights + first : nullptr, part);
      merge(part, columns, rows, m, from);
    }
  }
}

}  // namespace
}  // namespace slimline::SLIMLINE_ISA
