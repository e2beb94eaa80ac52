// Sums of squares of the rows and of the columns of a block.
#include <algorithm>
#include <vector>

#include "line_source.hpp"
#include "ranges.hpp"

namespace slimline {
namespace {

constexpr size_t stretch = 2048;  // places that are done together: what goes along them stays in the nearest cache

}  // namespace

void block_squares(const Lines& x, const Standard& s, const double* weight, double* rows, double* columns, int threads) {
  if (x.lines == 0 || x.length == 0) return;
  const Changes changes(x, s);
  const LineKernels& kernel = kernels().lines[int(x.type)];
  std::vector<double> ones;
  if (!s.factor || !weight) ones.assign(std::max(x.lines, x.length), 1.0);
  const double *factor = s.factor ? s.factor : ones.data(), *by_row = weight ? weight : ones.data();
  const double *of_line = x.along ? by_row : factor, *of_place = x.along ? factor : by_row;
  double *line_sums = x.along ? rows : columns, *place_sums = x.along ? columns : rows;
  threads = threads_for(x, 2, threads);

  // the lines [first, last) at the places [from, to): sums of lines from `lines` on, of places from `places` on
  auto sweep = [&](Source& source, size_t first, size_t last, size_t from, size_t to, double* lines, double* places) {
    for (size_t line = first; line < last; line += group_lines) {
      const size_t count = std::min(group_lines, last - line);
      const Group g = source.group(line, count);
      for (size_t t = from; t < to; t += stretch) {
        const double *by_line = of_line + line, *by_place = of_place + t;
        kernel.squares[changes.mode(g.any_missing)][x.along](changes.at(line, t), x.along ? by_place : by_line, g.data + ptrdiff_t(t * x.item()),
                                                             g.stride, count, std::min(stretch, to - t), x.along ? by_line : by_place,
                                                             lines + (line - first), places + (t - from));
      }
    }
    throw_if_interrupted();
  };
  std::vector<std::vector<double>> own(static_cast<size_t>(std::max(threads, 1)));
  if (!x.packed && x.length >= size_t(threads) * stretch) {  // places are shared out, each worker has sums of all lines
    in_ranges(x.length, 64, threads, [&](size_t begin, size_t end, size_t w) {
      Source source(x);
      own[w].assign(x.lines, 0.0);
      for (size_t t = begin; t < end; t += stretch) sweep(source, 0, x.lines, t, std::min(end, t + stretch), own[w].data(), place_sums + t);
    });
    for (const auto& sums : own)
      for (size_t i = 0; i < sums.size(); i++) line_sums[i] += sums[i];
    return;
  }
  in_ranges(x.lines, group_lines, threads, [&](size_t begin, size_t end, size_t w) {
    Source source(x);
    own[w].assign(x.length, 0.0);
    for (size_t line = begin; line < end; line += 16 * group_lines)
      sweep(source, line, std::min(end, line + 16 * group_lines), 0, x.length, line_sums + line, own[w].data());
  });
  for (const auto& sums : own)
    for (size_t i = 0; i < sums.size(); i++) place_sums[i] += sums[i];
}

}  // namespace slimline
