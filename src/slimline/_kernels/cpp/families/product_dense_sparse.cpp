// Sparse data times an R with all its entries: each feature that occurs has its row of R drawn once.
#include "families/product_common.hpp"

namespace slimline {
namespace {

// Rows of R for those of the features [first, first + width) that are marked, each at its position in the tile.
template <class T>
void draw_marked(const DenseRows& rows, uint64_t feature, size_t first, size_t width, const std::vector<char>& marked, T* tile, int threads) {
  const size_t count = size_t(std::count(marked.begin(), marked.begin() + ptrdiff_t(width), char(1)));
  parallel_for(width, 64, worthwhile_threads(double(count) * double(rows.columns) * 1.5, threads), [&](size_t begin, size_t end, int) {
    for (size_t f = begin; f < end;) {
      size_t run = 0;
      while (f + run < end && marked[f + run]) run++;
      if (run) kernels().of<T>().families.rows(rows, feature + first + f, run, tile + f * rows.columns, rows.columns);
      f += run + 1;
    }
  });
}

}  // namespace

// By rows, features ascending: each row keeps its position while tiles of features go by.
template <class Index, class T>
void dense_sparse_rows(const DenseRows& rows, const Compressed<Index, T>& x, uint64_t feature, double scale, Out<T> out, int threads) {
  clear_unless_added(out);
  std::vector<Index> position(x.rows);
  for (size_t i = 0; i < x.rows; i++) {
    check_row(x, i);
    position[i] = x.pointer[i];
    for (Index e = x.pointer[i]; e < x.pointer[i + 1]; e++) {
      if (x.index[e] < 0 || size_t(x.index[e]) >= x.columns) bad_index();
      if (e > x.pointer[i] && x.index[e] < x.index[e - 1]) throw std::invalid_argument("the indices of each row must ascend");
    }
  }
  const size_t most = std::min(x.columns, tile_features<T>(rows));
  std::vector<T> tile(most * rows.columns);
  std::vector<char> marked(most);
  const auto axpy = kernels().of<T>().axpy;
  for (size_t first = 0; first < x.columns; first += most) {
    const size_t width = std::min(most, x.columns - first), last = first + width;
    std::fill(marked.begin(), marked.end(), char(0));
    size_t stored = 0;
    for (size_t i = 0; i < x.rows; i++)
      for (Index e = position[i]; e < x.pointer[i + 1] && size_t(x.index[e]) < last; e++, stored++) marked[size_t(x.index[e]) - first] = 1;
    if (stored == 0) continue;
    draw_marked(rows, feature, first, width, marked, tile.data(), threads);
    const int team = worthwhile_threads(double(stored) * double(rows.columns) * 0.15, threads);
    parallel_for(x.rows, std::max<size_t>(1, x.rows / (size_t(team) * 8)), team, [&](size_t begin, size_t end, int) {
      for (size_t i = begin; i < end; i++)
        for (; position[i] < x.pointer[i + 1] && size_t(x.index[position[i]]) < last; position[i]++)
          axpy(x.value[position[i]] * T(scale), tile.data() + (size_t(x.index[position[i]]) - first) * rows.columns, out.data + i * out.stride, rows.columns);
    });
    throw_if_interrupted();
  }
}

// By columns: x holds x.rows features, each with the samples it occurs in. Threads share the columns of the result, so
// no two write to the same position.
template <class Index, class T>
void dense_sparse_columns(const DenseRows& rows, const Compressed<Index, T>& x, uint64_t feature, double scale, Out<T> out, int threads) {
  clear_unless_added(out);
  const size_t most = std::min(x.rows, tile_features<T>(rows));
  std::vector<T> tile(most * rows.columns);
  std::vector<char> marked(most);
  const auto axpy = kernels().of<T>().axpy;
  for (size_t first = 0; first < x.rows; first += most) {
    const size_t width = std::min(most, x.rows - first);
    for (size_t f = 0; f < width; f++) {
      check_row(x, first + f);
      marked[f] = x.pointer[first + f + 1] > x.pointer[first + f];
      for (Index e = x.pointer[first + f]; e < x.pointer[first + f + 1]; e++)
        if (x.index[e] < 0 || size_t(x.index[e]) >= x.columns) bad_index();
    }
    draw_marked(rows, feature, first, width, marked, tile.data(), threads);
    const size_t stored = size_t(x.pointer[first + width] - x.pointer[first]);
    const int team = worthwhile_threads(double(stored) * double(rows.columns) * 0.15, threads);
    const size_t slice = (rows.columns + size_t(team) * 16 - 1) / (size_t(team) * 16) * 16;
    parallel_for(rows.columns, slice, team, [&](size_t begin, size_t end, int) {
      for (size_t f = 0; f < width; f++)
        for (Index e = x.pointer[first + f]; e < x.pointer[first + f + 1]; e++)
          axpy(x.value[e] * T(scale), tile.data() + f * rows.columns + begin, out.data + size_t(x.index[e]) * out.stride + begin, end - begin);
    });
    throw_if_interrupted();
  }
}

#define SLIMLINE_INSTANTIATE(Index, T)                                                                                         \
  template void dense_sparse_rows<Index, T>(const DenseRows&, const Compressed<Index, T>&, uint64_t, double, Out<T>, int); \
  template void dense_sparse_columns<Index, T>(const DenseRows&, const Compressed<Index, T>&, uint64_t, double, Out<T>, int);
SLIMLINE_INSTANTIATE(int32_t, float)
SLIMLINE_INSTANTIATE(int64_t, float)
SLIMLINE_INSTANTIATE(int32_t, double)
SLIMLINE_INSTANTIATE(int64_t, double)

}  // namespace slimline
