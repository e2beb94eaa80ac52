// Sums of squares of the rows and of the columns of a block.
#include <algorithm>
#include <vector>

#include "products/line_source.hpp"
#include "base/ranges.hpp"

namespace slimline {
namespace {

constexpr size_t stretch = 2048;  // elements that are done together: what goes along them stays in the nearest cache

template <class T>
void squares_of(const Lines& x, const ColumnTransform& s, const double* weight, double* rows, double* columns, int threads) {
  const Changes changes(x, s);
  const LineKernels<T>& kernel = kernels().of<T>().lines;
  std::vector<double> ones;
  if (!s.scale || !weight) ones.assign(std::max(x.lines, x.length), 1.0);
  const double *factor = s.scale ? s.scale : ones.data(), *by_row = weight ? weight : ones.data();
  const double *of_line = x.along ? by_row : factor, *of_element = x.along ? factor : by_row;
  double *line_sums = x.along ? rows : columns, *element_sums = x.along ? columns : rows;

  // the lines [first, last) at the elements [from, to): sums of lines from `lines` on, of elements from `elements` on
  auto sweep = [&](Source<T>& source, size_t first, size_t last, size_t from, size_t to, double* lines, double* elements) {
    const size_t most = source.most_lines();
    for (size_t line = first; line < last; line += most) {
      const size_t count = std::min(most, last - line);
      for (size_t t = from; t < to; t += stretch) {
        const size_t end = std::min(to, t + stretch);
        const Group<T> g = source.group(line, count, t, end);
        const double *by_line = of_line + line, *by_element = of_element + t;
        kernel.squares[changes.mode(g.any_missing)][x.along](changes.at(line, t), x.along ? by_element : by_line, g.data, g.stride, count, end - t,
                                                             x.along ? by_line : by_element, lines + (line - first), elements + (t - from));
      }
    }
    throw_if_interrupted();
  };
  std::vector<std::vector<double>> own(static_cast<size_t>(std::max(threads, 1)));
  if (!x.packed && x.length >= size_t(threads) * stretch) {  // elements are shared out, each worker has sums of all lines
    in_ranges(x.length, 64, threads, [&](size_t begin, size_t end, size_t w) {
      Source<T> source(x);
      own[w].assign(x.lines, 0.0);
      for (size_t t = begin; t < end; t += stretch) sweep(source, 0, x.lines, t, std::min(end, t + stretch), own[w].data(), element_sums + t);
    });
    for (const auto& sums : own)
      for (size_t i = 0; i < sums.size(); i++) line_sums[i] += sums[i];
    return;
  }
  in_ranges(x.lines, group_lines, threads, [&](size_t begin, size_t end, size_t w) {
    Source<T> source(x);
    own[w].assign(x.length, 0.0);
    for (size_t line = begin; line < end; line += 16 * group_lines)
      sweep(source, line, std::min(end, line + 16 * group_lines), 0, x.length, line_sums + line, own[w].data());
  });
  for (const auto& sums : own)
    for (size_t i = 0; i < sums.size(); i++) element_sums[i] += sums[i];
}

}  // namespace

void block_squares(const Lines& x, const ColumnTransform& s, const double* weight, double* rows, double* columns, int threads) {
  if (x.lines == 0 || x.length == 0) return;
  threads = threads_for(x, 2, threads);
  with_line_type(x, [&](auto zero) { squares_of<decltype(zero)>(x, s, weight, rows, columns, threads); });
}

}  // namespace slimline
