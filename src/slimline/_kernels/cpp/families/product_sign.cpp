// Sign projections of dense data, by look-up (signs.cpp).
#include "families/product_common.hpp"

namespace slimline {

// Signs of many features are kept, a quarter of a byte each, while all rows go by.
constexpr size_t code_bytes = size_t(4) << 20;

template <class T> void sign_product(const DenseRows& rows, const Dense& x, uint64_t feature, double scale, Out<T> out, int threads) {
  constexpr size_t groups = sign_groups, width = groups * sign_features;  // of a batch, whose tables are near together
  const size_t columns = (rows.columns + sign_columns - 1) / sign_columns * sign_columns;
  const size_t batches = (x.columns + width - 1) / width, most = std::clamp<size_t>(code_bytes / (columns * groups), 1, batches);
  const size_t blocks = (x.rows + lane_rows - 1) / lane_rows;
  const auto kernel = kernels().of<T>().families.sign_sums;
  const auto gather = kernels().of<T>().families.interleave;
  const int team = worthwhile_threads(double(blocks * lane_rows) * double(x.columns) * double(columns) / 120, threads);
  // Columns are shared out, too, where there are few rows; then every worker makes all of the tables.
  const size_t slices = blocks >= 16 * size_t(team) ? 1 : size_t(team);
  const size_t slice = (columns / sign_columns + slices - 1) / slices * sign_columns;
  const size_t sums_size = slice * lane_rows, interleaved_size = width * lane_rows, table_size = groups * 16 * lane_rows;
  Scratch<T> scratch(team, sums_size + interleaved_size + table_size);
  auto widened = team_of<Widened<T>>(team, x);
  std::vector<uint8_t> codes(most * columns * groups);
  for (size_t first = 0; first < batches; first += most) {
    const size_t here = std::min(most, batches - first);
    parallel_for(here, 4, worthwhile_threads(double(here * width) * double(columns) * 0.2, threads), [&](size_t begin, size_t end, int) {
      for (size_t b = begin; b < end; b++)
        kernels().random.sign_codes(rows.seed, feature + (first + b) * width, rows.columns, columns, codes.data() + b * columns * groups);
    });
    parallel_for(blocks * slices, 1, team, [&](size_t begin, size_t, int worker) {
      const size_t row = begin / slices * lane_rows, count = std::min(lane_rows, x.rows - row);
      const size_t column = begin % slices * slice, end = std::min(column + slice, columns);
      if (column >= end) return;
      T *sums = scratch.of(worker), *interleaved = sums + sums_size, *tables = interleaved + interleaved_size;
      std::fill_n(sums, (end - column) * lane_rows, T(0));
      for (size_t b = 0; b < here; b++) {
        const size_t at = (first + b) * width, features = std::min(width, x.columns - at);
        if (features < width) std::fill_n(interleaved, interleaved_size, T(0));
        const auto tile = widened[size_t(worker)].at(row, count, at, features);
        gather(tile.data, tile.row_stride, tile.column_stride, count, features, interleaved);
        kernel(interleaved, codes.data() + (b * columns + column) * groups, end - column, tables, sums);
      }
      const size_t written = std::min(end, rows.columns) - column;
      kernels().of<T>().families.write_transposed(sums, lane_rows, T(scale), out.accumulate || first > 0, count, written, out.data + row * out.stride + column, out.stride);
    });
  }
}

template void sign_product<float>(const DenseRows&, const Dense&, uint64_t, double, Out<float>, int);
template void sign_product<double>(const DenseRows&, const Dense&, uint64_t, double, Out<double>, int);

}  // namespace slimline
