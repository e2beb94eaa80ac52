// Sums of the squares of a block, of its lines and of its elements, in one sweep.
#include "products/column_transform.hpp"
#include "isa/table.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

// R lines at the elements from t on, one or a vector of them.
template <class V, class T, Mode mode, bool along, int R>
SLIMLINE_INLINE void squares_step(const Shift& s, const double* factor, const T* const (&x)[R], const Transform<T, mode, V> (&line)[R],
                                  const V (&by_line)[R], size_t t, const double* weight, V (&of_lines)[R], double* of_elements) {
  // along: the factor goes with the element, the weight with the line; else the other way round
  const V by_element = load<V>((along ? factor : weight) + t);
  Transform<T, mode, V> element;
  if constexpr (along) element = Transform<T, mode, V>::of_element(s, t);
  V sum = load<V>(of_elements + t);
  SLIMLINE_UNROLL
  for (int r = 0; r < R; r++) {
    const V z = (along ? element : line[r])(value_at<V>(x[r] + t)) * (along ? by_element : by_line[r]), square = z * z;
    of_lines[r] = along ? of_lines[r] + square : multiply_add(square, by_element, of_lines[r]);
    sum = along ? multiply_add(square, by_line[r], sum) : sum + square;
  }
  store(of_elements + t, sum);
}

template <class T, Mode mode, bool along, int R>
SLIMLINE_INLINE void squares_together(const Shift& s, const double* factor, const T* data, ptrdiff_t stride, size_t first, size_t length,
                                      const double* weight, double* of_lines, double* of_elements) {
  const T* x[R];
  Transform<T, mode, vd> line[R];
  Transform<T, mode, double> line_one[R];
  vd by_line[R], sums[R] = {};
  double by_line_one[R], rest[R] = {};
  for (int r = 0; r < R; r++) {
    const size_t l = first + size_t(r);
    x[r] = data + ptrdiff_t(l) * stride;
    by_line_one[r] = (along ? weight : factor)[l], by_line[r] = vd{} + by_line_one[r];
    if constexpr (!along) line[r] = Transform<T, mode, vd>::of_line(s, l), line_one[r] = Transform<T, mode, double>::of_line(s, l);
  }
  constexpr size_t step = size_t(lanes<double>);
  size_t t = 0;
  for (; t + step <= length; t += step) squares_step<vd, T, mode, along, R>(s, factor, x, line, by_line, t, weight, sums, of_elements);
  for (; t < length; t++) squares_step<double, T, mode, along, R>(s, factor, x, line_one, by_line_one, t, weight, rest, of_elements);
  for (int r = 0; r < R; r++) of_lines[first + size_t(r)] += sum_of_lanes(sums[r]) + rest[r];
}

template <class T, Mode mode, bool along>
void squares(const Shift& s, const double* factor, const T* data, ptrdiff_t stride, size_t lines, size_t length, const double* weight,
             double* of_lines, double* of_elements) {
  constexpr int R = 4;
  size_t first = 0;
  for (; first + R <= lines; first += R)
    squares_together<T, mode, along, R>(s, factor, data, stride, first, length, weight, of_lines, of_elements);
  for (; first < lines; first++)
    squares_together<T, mode, along, 1>(s, factor, data, stride, first, length, weight, of_lines, of_elements);
}

template <class T> void add_squares(LineKernels<T>& k) {
  k.squares[plain][0] = squares<T, plain, false>, k.squares[plain][1] = squares<T, plain, true>;
  k.squares[centred][0] = squares<T, centred, false>, k.squares[centred][1] = squares<T, centred, true>;
  k.squares[filled][0] = squares<T, filled, false>, k.squares[filled][1] = squares<T, filled, true>;
}

}  // namespace

void add_square_kernels(Kernels& k) { add_squares(k.f32.lines), add_squares(k.f64.lines); }

}  // namespace slimline::SLIMLINE_ISA
