// Sparse families: tables of where features go are made for a stretch of features, used by all rows, forgotten.
#include "scatter_table.hpp"

namespace slimline {
namespace {

constexpr size_t group = group_width;

// How often the most popular sum is hit in each chunk of `byte_chunk` groups.
std::vector<uint32_t> most_hits(const Scatter& scatter, const GroupEntry* table, size_t groups) {
  const size_t entries = scatter.entries();
  std::vector<uint32_t> most((groups + byte_chunk - 1) / byte_chunk, 0), hits(scatter.columns / group);
  for (size_t c = 0; c < most.size(); c++) {
    std::fill(hits.begin(), hits.end(), 0);
    for (size_t e = c * byte_chunk * entries; e < std::min(groups, (c + 1) * byte_chunk) * entries; e++)
      most[c] = std::max(most[c], ++hits[size_t(table[e] >> 20) / group]);
  }
  return most;
}

template <class T>
void grouped_product(const Scatter& scatter, const Dense& x, uint64_t feature, double scale, Out<T> out, int threads) {
  const size_t each = scatter.entries(), stretch = std::max<size_t>(1, table_entries / each) * group;
  const double nanoseconds_an_entry = x.item() == 1 ? 0.04 + 0.02 * double(each) : 0.08 + 0.06 * double(each);
  std::vector<GroupEntry> table;
  for (uint64_t begin = feature; begin < feature + x.columns;) {
    const uint64_t end = std::min<uint64_t>(feature + x.columns, (begin / group * group) + stretch);
    const uint64_t first = begin / group, last = (end + group - 1) / group;
    table.resize(size_t(last - first) * each);
    const int team = worthwhile_threads(double(x.rows) * double(end - begin) * nanoseconds_an_entry, threads);
    parallel_for(size_t(last - first), 1024, team, [&](size_t from, size_t to, int) {
      kernels().grouped_table(scatter, first + from, to - from, table.data() + from * each);
    });
    // whole groups, with a part of one before and after where the panel does not begin and end on a group
    const uint64_t whole_first = (begin + group - 1) / group;
    const uint64_t whole_last = std::max(end / group, whole_first);
    const size_t whole = size_t(whole_last - whole_first);
    std::vector<uint32_t> hits;
    if (x.item() == 1) hits = most_hits(scatter, table.data() + size_t(whole_first - first) * each, whole);
    const size_t width = sums_stride(scatter);
    Scratch<T> sums(team, grouped_rows * width);
    Scratch<char> small(team, x.item() == 1 ? 3 * grouped_rows * width : 0);
    const bool add = out.accumulate || begin > feature;
    const auto kernel = kernels().grouped_dense[int(x.type)];
    auto edge = [&](uint64_t from, uint64_t to, size_t row, size_t rows, T* acc, char* scratch) {  // inside one group
      alignas(64) char padded[grouped_rows * group * sizeof(double)] = {};
      const uint32_t once = 1;
      for (size_t q = 0; q < rows; q++)
        std::copy_n(x.at(row + q, size_t(from - feature)), size_t(to - from) * x.item(), padded + (q * group + from % group) * x.item());
      kernel(scatter, table.data() + size_t(from / group - first) * each, 1, &once, padded, group, rows, scratch, acc);
    };
    parallel_for(x.rows, grouped_rows, team, [&](size_t row, size_t row_end, int worker) {
      T* acc = sums.of(worker);
      char* scratch = small.of(worker);
      const size_t rows = row_end - row;
      std::fill_n(acc, rows * width, T(0));
      if (begin % group) edge(begin, std::min<uint64_t>(end, whole_first * group), row, rows, acc, scratch);
      if (whole)
        kernel(scatter, table.data() + size_t(whole_first - first) * each, whole, hits.data(),
               x.at(row, size_t(whole_first * group - feature)), x.row_stride, rows, scratch, acc);
      const uint64_t tail = std::max(begin, whole_last * group);
      if (tail < end) edge(tail, end, row, rows, acc, scratch);
      for (size_t q = 0; q < rows; q++)
        write_row(acc + q * width, T(scale), add, out.data + (row + q) * out.stride, scatter.columns);
    });
    begin = end;
  }
}

// Sixteen rows at a time, turned so that a feature of all of them is one vector.
template <class T>
void side_by_side(const Table& table, const Dense& x, size_t column, size_t width, double scale, bool add, Out<T> out, int team) {
  Scratch<T> sums(team, lane_rows * out.columns), side(team, 64 * lane_rows);
  parallel_for(x.rows, lane_rows, team, [&](size_t row, size_t end, int worker) {
    T* acc = sums.of(worker);
    std::fill_n(acc, lane_rows * out.columns, T(0));
    kernels().lanes_dense[int(x.type)](table.entry.data(), table.pointer.data(), width, x.at(row, column), x.row_stride,
                                       end - row, side.of(worker), acc);
    write_turned(acc, lane_rows, scale, add, out, row, end);
  });
}

// Columns that lie apart are read in stretches, as long as their sums stay near.
template <class T>
void column_by_column(const Table& table, const Dense& x, size_t column, size_t width, double scale, bool add, Out<T> out, int team) {
  const ColumnSums<T> tile(out.columns);
  Scratch<T> sums(team, tile.pitch * out.columns);
  parallel_for(x.rows, tile.rows, team, [&](size_t row, size_t end, int worker) {
    T* acc = sums.of(worker);
    std::fill_n(acc, tile.pitch * out.columns, T(0));
    kernels().columns_dense[int(x.type)](table.entry.data(), table.pointer.data(), width, x.at(row, column), x.column_stride,
                                         end - row, acc, tile.pitch);
    write_turned(acc, tile.pitch, scale, add, out, row, end);
  });
}

template <class T>
void lanes_product(const Scatter& scatter, const Dense& x, uint64_t feature, double scale, Out<T> out, int threads) {
  Table table;
  const size_t stretch = features_a_table(scatter);
  for (size_t column = 0; column < x.columns; ) {
    table.begin();
    size_t width = 0;
    while (column + width < x.columns && table.entry.size() < table_entries) {  // sparse rows: as many as fill a table
      const size_t more = std::min(x.columns - column - width, stretch);
      table.append(scatter, feature + column + width, more);
      width += more;
    }
    const double nanoseconds = double(x.rows) * (double(table.entry.size()) * 0.15 + double(width) * 0.3);
    const int team = worthwhile_threads(nanoseconds, threads);
    const bool add = out.accumulate || column > 0;
    if (x.column_stride == 1) side_by_side(table, x, column, width, scale, add, out, team);
    else column_by_column(table, x, column, width, scale, add, out, team);
    column += width;
  }
}

}  // namespace

template <class T>
void scatter_product(const Scatter& scatter, const Dense& x, uint64_t feature, double scale, Out<T> out, int threads) {
  if (scatter.hash == Hash::grouped && x.column_stride == 1) grouped_product(scatter, x, feature, scale, out, threads);
  else lanes_product(scatter, x, feature, scale, out, threads);
}

template <class T>
void scatter_lift(const Scatter& scatter, const T* v, size_t rows, uint64_t feature, double scale, Out<T> out, int threads) {
  const size_t stretch = std::min<size_t>(features_a_table(scatter), 4096);
  const double each = scatter.hash == Hash::sparse_sign ? 8.0 : double(scatter.entries());
  parallel_for(out.columns, stretch, worthwhile_threads(double(out.columns) * each * (10 + double(rows)), threads),
               [&](size_t begin, size_t end, int) {
                 Table table;
                 table.begin();
                 table.append(scatter, feature + begin, end - begin);
                 for (size_t q = 0; q < rows; q++) {
                   const T* from = v + q * scatter.columns;
                   T* to = out.data + q * out.stride + begin;
                   for (size_t f = 0; f < end - begin; f++) {
                     T sum = 0;
                     for (uint32_t e = table.pointer[f]; e < table.pointer[f + 1]; e++) sum += with_sign(from[table.entry[e] >> 1], table.entry[e] & 1u);
                     to[f] = sum * T(scale);
                   }
                 }
               });
}

size_t scatter_count(const Scatter& scatter, uint64_t feature, size_t count) {
  if (scatter.hash != Hash::sparse_sign) return count * scatter.entries();
  std::vector<Entry> row(scatter.columns);
  size_t total = 0;
  for (size_t f = 0; f < count; f++) total += kernels().sparse_sign_row(scatter, feature + f, row.data());
  return total;
}

void scatter_rows(const Scatter& scatter, uint64_t feature, size_t count, uint32_t* pointer, Entry* entries) {
  Table table;
  table.begin();
  table.append(scatter, feature, count);
  std::copy(table.pointer.begin(), table.pointer.end(), pointer);
  std::copy(table.entry.begin(), table.entry.end(), entries);
}

#define SLIMLINE_INSTANTIATE(T)                                                                                      \
  template void scatter_product<T>(const Scatter&, const Dense&, uint64_t, double, Out<T>, int);                   \
  template void scatter_lift<T>(const Scatter&, const T*, size_t, uint64_t, double, Out<T>, int);
SLIMLINE_INSTANTIATE(float)
SLIMLINE_INSTANTIATE(double)

}  // namespace slimline
