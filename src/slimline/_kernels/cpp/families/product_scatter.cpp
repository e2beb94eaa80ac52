// Sparse families: tables of where features go are made for a stretch of features, used by all rows, forgotten.
#include "families/scatter_table.hpp"

namespace slimline {
namespace {

constexpr size_t group = group_width;

template <class T>
void grouped_product(const Scatter& scatter, const Dense& x, uint64_t feature, double scale, Out<T> out, int threads) {
  const size_t each = scatter.entries(), stretch = std::max<size_t>(1, table_entries / each) * group;
  const double nanoseconds_an_entry = 0.08 + 0.06 * double(each);
  std::vector<GroupEntry> table;
  for (uint64_t begin = feature; begin < feature + x.columns;) {
    const uint64_t end = std::min<uint64_t>(feature + x.columns, (begin / group * group) + stretch);
    const uint64_t first = begin / group, last = (end + group - 1) / group;
    table.resize(size_t(last - first) * each);
    const int team = worthwhile_threads(double(x.rows) * double(end - begin) * nanoseconds_an_entry, threads);
    parallel_for(size_t(last - first), 1024, team, [&](size_t from, size_t to, int) {
      kernels().random.grouped_table(scatter, first + from, to - from, table.data() + from * each);
    });
    // whole groups, with a part of one before and after where the panel does not begin and end on a group
    const uint64_t whole_first = (begin + group - 1) / group;
    const uint64_t whole_last = std::max(end / group, whole_first);
    const size_t whole = size_t(whole_last - whole_first);
    const size_t width = sums_stride(scatter);
    const bool add = out.accumulate || begin > feature;
    Scratch<T> sums(team, grouped_rows * width);
    auto widened = team_of<Widened<T>>(team, x);
    // sums += the rows from `row` on, whose features [from, to) of R lie in one group
    auto edge = [&](Widened<T>& source, uint64_t from, uint64_t to, size_t row, size_t rows, T* acc) {
      alignas(64) T padded[grouped_rows * group] = {};
      const auto tile = source.at(row, rows, size_t(from - feature), size_t(to - from));
      for (size_t q = 0; q < rows; q++) std::copy_n(tile.data + ptrdiff_t(q) * tile.row_stride, size_t(to - from), padded + q * group + from % group);
      kernels().of<T>().families.grouped(scatter, table.data() + size_t(from / group - first) * each, 1, padded, group, rows, acc);
    };
    auto whole_groups = [&](Widened<T>& source, size_t row, size_t rows, T* acc) {
      const size_t column = size_t(whole_first * group - feature), columns = whole * group;
      const GroupEntry* entries = table.data() + size_t(whole_first - first) * each;
      const size_t step = source.columns(grouped_rows);
      for (size_t c = 0; c < columns; c += step) {
        const size_t here = std::min(step, columns - c);
        const auto tile = source.at(row, rows, column + c, here);
        kernels().of<T>().families.grouped(scatter, entries + c / group * each, here / group, tile.data, tile.row_stride, rows, acc);
      }
    };
    parallel_for(x.rows, grouped_rows, team, [&](size_t row, size_t row_end, int worker) {
      T* acc = sums.of(worker);
      Widened<T>& source = widened[size_t(worker)];
      const size_t rows = row_end - row;
      std::fill_n(acc, rows * width, T(0));
      if (begin % group) edge(source, begin, std::min<uint64_t>(end, whole_first * group), row, rows, acc);
      if (whole) whole_groups(source, row, rows, acc);
      const uint64_t tail = std::max(begin, whole_last * group);
      if (tail < end) edge(source, tail, end, row, rows, acc);
      for (size_t q = 0; q < rows; q++)
        write_row(acc + q * width, T(scale), add, out.data + (row + q) * out.stride, scatter.columns);
    });
    begin = end;
  }
}

// Sixteen rows at a time, interleaved so that a feature of all of them is one vector.
template <class T>
void interleaved_product(const Table& table, const Dense& x, size_t column, size_t width, double scale, bool add, Out<T> out, int team) {
  Scratch<T> sums(team, lane_rows * out.columns), scratch(team, 64 * lane_rows);
  auto widened = team_of<Widened<T>>(team, x);
  parallel_for(x.rows, lane_rows, team, [&](size_t row, size_t end, int worker) {
    T* acc = sums.of(worker);
    std::fill_n(acc, lane_rows * out.columns, T(0));
    const size_t step = widened[size_t(worker)].columns(lane_rows);
    for (size_t c = 0; c < width; c += step) {
      const size_t here = std::min(step, width - c);
      const auto tile = widened[size_t(worker)].at(row, end - row, column + c, here);
      kernels().of<T>().families.lanes(table.entry.data(), table.pointer.data() + c, here, tile.data, tile.row_stride, end - row, scratch.of(worker), acc);
    }
    write_transposed(acc, lane_rows, scale, add, out, row, end);
  });
}

// Columns that lie apart are read in stretches, as long as their sums stay near.
template <class T>
void column_by_column(const Table& table, const Dense& x, size_t column, size_t width, double scale, bool add, Out<T> out, int team) {
  const ColumnSums<T> tile_of(out.columns);
  Scratch<T> sums(team, tile_of.pitch * out.columns);
  auto widened = team_of<Widened<T>>(team, x);
  parallel_for(x.rows, tile_of.rows, team, [&](size_t row, size_t end, int worker) {
    T* acc = sums.of(worker);
    std::fill_n(acc, tile_of.pitch * out.columns, T(0));
    const size_t step = widened[size_t(worker)].columns(tile_of.rows);
    for (size_t c = 0; c < width; c += step) {
      const size_t here = std::min(step, width - c);
      const auto tile = widened[size_t(worker)].at(row, end - row, column + c, here);
      kernels().of<T>().families.columns(table.entry.data(), table.pointer.data() + c, here, tile.data, tile.column_stride, end - row, acc, tile_of.pitch);
    }
    write_transposed(acc, tile_of.pitch, scale, add, out, row, end);
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
    if (x.column_stride == 1) interleaved_product(table, x, column, width, scale, add, out, team);
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
  for (size_t f = 0; f < count; f++) total += kernels().random.sparse_sign_row(scatter, feature + f, row.data());
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
