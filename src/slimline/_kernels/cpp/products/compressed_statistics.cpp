// Sums over the columns of a compressed sparse block, of what is stored.
#include <algorithm>

#include "products/sparse_lines.hpp"

namespace slimline {
namespace {

constexpr size_t step = 256;  // lines between two looks at an interrupt

// body(row, column, number of the value); every column belongs to one thread alone.
template <class Index, class T, class F> void for_columns(const SparseLines<Index, T>& x, bool by_row, int threads, F body) {
  int workers = worthwhile_threads(double(x.stored) * 3, threads);
  if (by_row && workers > 1 && !indices_ascend(x, workers)) workers = 1;
  const IndexRanges<Index> ranges(x, by_row ? workers : 1);
  const auto cuts = shares(x, by_row ? 1 : workers);
  parallel_for(size_t(workers), 1, workers, [&](size_t w, size_t, int) {
    const size_t end = by_row ? x.lines : cuts[w + 1];
    for (size_t line = by_row ? 0 : cuts[w]; line < end; line++) {
      check_line(x, line);
      const auto [from, to] = ranges.values(x, line, by_row ? w : 0);
      for (size_t i = from; i < to; i++) {
        const size_t position = checked(x.index[i], x.width);
        by_row ? body(line, position, i) : body(position, line, i);
      }
      if (line % step == 0) throw_if_interrupted();
    }
  });
}

template <class Index, class T> double changed(const SparseLines<Index, T>& x, const ColumnTransform& s, size_t i, size_t column) {
  double z = as_double(x.value[i]);
  if (s.fill && z != z) z = s.fill[column];
  if (s.mean) z -= s.mean[column];
  return s.scale ? z * s.scale[column] : z;
}

}  // namespace

template <class Index, class T>
void sparse_totals(const SparseLines<Index, T>& x, bool by_row, const ColumnTransform& s, const SparseWeights& weights, const SparseTotals& to, int threads) {
  for_columns(x, by_row, threads, [&](size_t row, size_t column, size_t i) {
    const double z = changed(x, s, i, column), weight = weights.all ? weights.all[row] : 1.0;
    double(&sums)[2] = to.sums[column];
    sums[1] += 1;
    if (z == z) sums[0] += weight * z, (void)(z == 0 && to.zeros[column]++);
    else to.absent[column]++;
    if (!to.weights) return;
    double(&of)[3] = to.weights[column];
    if (z != z) of[0] += weight;
    of[1] += weights.coarse[row], of[2] += weights.rest[row];
  });
}

template <class Index, class T>
void sparse_deviations(const SparseLines<Index, T>& x, bool by_row, const ColumnTransform& s, const double* weights, double (*mean_and_deviation)[2], int threads) {
  for_columns(x, by_row, threads, [&](size_t row, size_t column, size_t i) {
    double(&of)[2] = mean_and_deviation[column];
    const double away = changed(x, s, i, column) - of[0];
    if (away == away) of[1] += (weights ? weights[row] : 1.0) * (away * away);
  });
}

#define SLIMLINE_SPARSE(Index, T)                                                                                                                        \
  template void sparse_totals<Index, T>(const SparseLines<Index, T>&, bool, const ColumnTransform&, const SparseWeights&, const SparseTotals&, int);        \
  template void sparse_deviations<Index, T>(const SparseLines<Index, T>&, bool, const ColumnTransform&, const double*, double (*)[2], int);
#define SLIMLINE_SPARSE_BOTH(T) SLIMLINE_SPARSE(int32_t, T) SLIMLINE_SPARSE(int64_t, T)
SLIMLINE_SPARSE_BOTH(float)
SLIMLINE_SPARSE_BOTH(double)
SLIMLINE_SPARSE_BOTH(Half)
SLIMLINE_SPARSE_BOTH(int8_t)
SLIMLINE_SPARSE_BOTH(uint8_t)
SLIMLINE_SPARSE_BOTH(int16_t)

}  // namespace slimline
