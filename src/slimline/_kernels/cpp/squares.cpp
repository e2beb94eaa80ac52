// Sums of the squares of a block, of its lines and of its places, in one sweep.
#include "change.hpp"
#include "table.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

// R lines at the places from t on, one or a vector of them.
template <class V, class S, Mode mode, bool along, int R>
SLIMLINE_INLINE void squares_step(const Shift& s, const double* factor, const S* const (&x)[R], const Change<S, mode, V> (&line)[R],
                                  const V (&by_line)[R], size_t t, const double* weight, V (&of_lines)[R], double* of_places) {
  // along: the factor goes with the place, the weight with the line; else the other way round
  const V by_place = load<V>((along ? factor : weight) + t);
  Change<S, mode, V> place;
  if constexpr (along) place = Change<S, mode, V>::of_place(s, t);
  V sum = load<V>(of_places + t);
  SLIMLINE_UNROLL
  for (int r = 0; r < R; r++) {
    const V z = (along ? place : line[r])(value_at<V>(x[r] + t)) * (along ? by_place : by_line[r]), square = z * z;
    of_lines[r] = along ? of_lines[r] + square : multiply_add(square, by_place, of_lines[r]);
    sum = along ? multiply_add(square, by_line[r], sum) : sum + square;
  }
  store(of_places + t, sum);
}

template <class S, Mode mode, bool along, int R>
SLIMLINE_INLINE void squares_together(const Shift& s, const double* factor, const void* data, ptrdiff_t stride, size_t first, size_t length,
                                      const double* weight, double* of_lines, double* of_places) {
  const S* x[R];
  Change<S, mode, vd> line[R];
  Change<S, mode, double> line_one[R];
  vd by_line[R], sums[R] = {};
  double by_line_one[R], rest[R] = {};
  for (int r = 0; r < R; r++) {
    const size_t l = first + size_t(r);
    x[r] = static_cast<const S*>(data) + ptrdiff_t(l) * stride;
    by_line_one[r] = (along ? weight : factor)[l], by_line[r] = vd{} + by_line_one[r];
    if constexpr (!along) line[r] = Change<S, mode, vd>::of_line(s, l), line_one[r] = Change<S, mode, double>::of_line(s, l);
  }
  constexpr size_t step = size_t(lanes<double>);
  size_t t = 0;
  for (; t + step <= length; t += step) squares_step<vd, S, mode, along, R>(s, factor, x, line, by_line, t, weight, sums, of_places);
  for (; t < length; t++) squares_step<double, S, mode, along, R>(s, factor, x, line_one, by_line_one, t, weight, rest, of_places);
  for (int r = 0; r < R; r++) of_lines[first + size_t(r)] += sum_of_lanes(sums[r]) + rest[r];
}

template <class S, Mode mode, bool along>
void squares(const Shift& s, const double* factor, const void* data, ptrdiff_t stride, size_t lines, size_t length, const double* weight,
             double* of_lines, double* of_places) {
  constexpr int R = 4;
  size_t first = 0;
  for (; first + R <= lines; first += R)
    squares_together<S, mode, along, R>(s, factor, data, stride, first, length, weight, of_lines, of_places);
  for (; first < lines; first++)
    squares_together<S, mode, along, 1>(s, factor, data, stride, first, length, weight, of_lines, of_places);
}

template <class S> void add_squares(LineKernels& k) {
  k.squares[plain][0] = squares<S, plain, false>, k.squares[plain][1] = squares<S, plain, true>;
  k.squares[centred][0] = squares<S, centred, false>, k.squares[centred][1] = squares<S, centred, true>;
  k.squares[filled][0] = squares<S, filled, false>, k.squares[filled][1] = squares<S, filled, true>;
}

}  // namespace

void add_square_kernels(Kernels& k) {
  add_squares<float>(k.lines[int(Type::f32)]);
  add_squares<double>(k.lines[int(Type::f64)]);
  add_squares<half>(k.lines[int(Type::f16)]);
  add_squares<int8_t>(k.lines[int(Type::i8)]);
  add_squares<uint8_t>(k.lines[int(Type::u8)]);
  add_squares<int16_t>(k.lines[int(Type::i16)]);
}

}  // namespace slimline::SLIMLINE_ISA
