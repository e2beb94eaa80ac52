// Embeddings of dense values that are imputed, centred and scaled on the way: they are never written out.
#include <atomic>
#include <cmath>
#include <limits>

#include "families/scatter_table.hpp"

namespace slimline {
namespace {

constexpr size_t group = group_width;

// Whether float32 holds what is done to a column. A centre that is less than half a step of the largest float32 cannot make
// x - centre overflow, whatever x is.
bool in_range(double centre, double factor, double fill, bool filled) {
  constexpr double largest_centre = 0x1p100, least = std::numeric_limits<float>::min(), most = std::numeric_limits<float>::max();
  const double size = std::fabs(factor);
  return std::fabs(centre) <= largest_centre && (size == 0 || (size >= least && size <= most)) && (!filled || std::fabs((fill - centre) * factor) <= most);
}

// What is done to each column, in whole groups of features: those before the first column and after the last give 0.
template <class T> class Change {
 public:
  Change(const ColumnTransform& s, size_t columns, size_t skipped, int threads)
      : pitch_((columns + skipped + group - 1) / group * group), looks_(s.fill != nullptr),
        parts_((looks_ ? 3 : 2) * pitch_), rest_(s.mean && single ? pitch_ : 0) {
    std::atomic<bool> fits{true};
    parallel_for(columns, size_t(1) << 14, worthwhile_threads(double(columns) * 3.0, threads), [&](size_t begin, size_t end, int) {
      bool fit = true;
      for (size_t c = begin; c < end; c++) {
        const double centre = s.mean ? s.mean[c] : 0.0, factor = s.scale ? s.scale[c] : 1.0;
        const double fill = s.fill ? s.fill[c] : std::numeric_limits<double>::quiet_NaN();
        T* to = parts_.data() + skipped + c;
        const T near = T(centre);
        const double rest = (double(near) - centre) * factor;
        to[0] = near, to[pitch_] = T(factor);
        if (looks_) to[2 * pitch_] = T((fill - centre) * factor - rest);
        if (!rest_.empty()) rest_[skipped + c] = rest;
        if (single) fit &= in_range(centre, factor, fill, s.fill);
      }
      if (!fit) fits = false;
    });
    fits_ = fits;
  }
  bool fits() const { return fits_; }
  Standardise<T> of_group(size_t g) const { return from(g * group); }
  Standardise<T> from(size_t column) const {
    const T* p = parts_.data() + column;
    return {p, p + pitch_, looks_ ? p + 2 * pitch_ : nullptr};
  }
  // What the centres lose as float32, times the factor: in every row the same, so it is sketched once.
  const double* rest_of_group(size_t g) const { return rest_from(g * group); }
  const double* rest_from(size_t column) const { return rest_.empty() ? nullptr : rest_.data() + column; }

 private:
  static constexpr bool single = sizeof(T) < sizeof(double);
  size_t pitch_;
  bool looks_, fits_ = true;
  std::vector<T> parts_;
  std::vector<double> rest_;
};

// The grouped embedding of rows.
template <class T>
bool rows_standard(const Scatter& scatter, const Dense& x, const Missing& missing, const ColumnTransform& s, uint64_t feature, double scale, Out<T> out, int threads) {
  const size_t each = scatter.entries(), stretch = std::max<size_t>(1, table_entries / each);  // groups that share a table
  const size_t skipped = size_t(feature % group), groups = (skipped + x.columns + group - 1) / group;
  const Change<T> change(s, x.columns, skipped, threads);
  if (!change.fits()) return false;
  const auto kernel = kernels().of<T>().families.grouped_standard;
  const size_t width = sums_stride(scatter);
  std::vector<GroupEntry> table;
  std::vector<double> rest(width);
  std::vector<T> start(width);
  for (size_t begin = 0; begin < groups; begin += stretch) {
    const size_t end = std::min(groups, begin + stretch);
    table.resize((end - begin) * each);
    const double nanoseconds = double(x.rows) * double((end - begin) * group) * (0.12 + 0.06 * double(each));
    const int team = worthwhile_threads(nanoseconds, threads);
    parallel_for(end - begin, 1024, team, [&](size_t from, size_t to, int) {
      kernels().random.grouped_table(scatter, feature / group + begin + from, to - from, table.data() + from * each);
    });
    if (const double* lost = change.rest_of_group(begin)) {
      std::fill(rest.begin(), rest.end(), 0.0);
      kernels().f64.families.grouped(scatter, table.data(), end - begin, lost, ptrdiff_t(group), 1, rest.data());
      std::copy(rest.begin(), rest.end(), start.begin());
    }
    Scratch<T> sums(team, standard_rows * width);
    auto widened = team_of<Widened<T>>(team, x, missing);
    parallel_for(x.rows, standard_rows, team, [&](size_t row, size_t row_end, int worker) {
      T* acc = sums.of(worker);
      Widened<T>& source = widened[size_t(worker)];
      const size_t rows = row_end - row;
      for (size_t q = 0; q < rows; q++) std::copy(start.begin(), start.end(), acc + q * width);
      auto run = [&](size_t first, size_t last, const T* data, ptrdiff_t row_stride) {
        kernel(scatter, table.data() + (first - begin) * each, last - first, change.of_group(first), data, row_stride, rows, acc);
      };
      auto edge = [&](size_t g) {  // a group of which some features are not there
        alignas(64) T padded[standard_rows * group] = {};
        const size_t from = std::max(g * group, skipped), to = std::min((g + 1) * group, skipped + x.columns);
        const auto tile = source.at(row, rows, from - skipped, to - from);
        for (size_t q = 0; q < rows; q++) std::copy_n(tile.data + ptrdiff_t(q) * tile.row_stride, to - from, padded + q * group + from % group);
        run(g, g + 1, padded, ptrdiff_t(group));
      };
      size_t first = begin, last = end;
      if (first * group < skipped) edge(first++);
      if (last > first && last * group > skipped + x.columns) edge(--last);
      const size_t step = source.columns(standard_rows) / group;
      for (; first < last; first += step) {
        const size_t here = std::min(step, last - first);
        const auto tile = source.at(row, rows, first * group - skipped, here * group);
        run(first, first + here, tile.data, tile.row_stride);
      }
      for (size_t q = 0; q < rows; q++) write_row(acc + q * width, T(scale), true, out.data + (row + q) * out.stride, scatter.columns);
    });
  }
  return true;
}

// Any embedding of columns that lie apart: a few rows at a time, so that the sums of all columns of R stay near.
template <class T>
bool columns_standard(const Scatter& scatter, const Dense& x, const Missing& missing, const ColumnTransform& s, uint64_t feature, double scale, Out<T> out, int threads) {
  const Change<T> change(s, x.columns, 0, threads);
  if (!change.fits()) return false;
  const ColumnSums<T> tile(out.columns);
  Table table;
  std::vector<double> rest(out.columns);
  for (size_t column = 0, width; column < x.columns; column += width) {
    table.begin();
    width = std::min(x.columns - column, features_a_table(scatter));
    table.append(scatter, feature + column, width);
    std::fill(rest.begin(), rest.end(), 0.0);
    if (const double* lost = change.rest_from(column))
      for (size_t f = 0; f < width; f++)
        for (uint32_t e = table.pointer[f]; e < table.pointer[f + 1]; e++) rest[table.entry[e] >> 1] += with_sign(lost[f], table.entry[e] & 1u);
    const int team = worthwhile_threads(double(x.rows) * (double(table.entry.size()) * 0.15 + double(width) * 0.3), threads);
    Scratch<T> sums(team, tile.pitch * out.columns);
    auto widened = team_of<Widened<T>>(team, x, missing);
    parallel_for(x.rows, tile.rows, team, [&](size_t row, size_t end, int worker) {
      T* acc = sums.of(worker);
      for (size_t c = 0; c < out.columns; c++) std::fill_n(acc + c * tile.pitch, tile.pitch, T(rest[c]));
      const size_t step = widened[size_t(worker)].columns(tile.rows);
      for (size_t c = 0; c < width; c += step) {
        const size_t here = std::min(step, width - c);
        const auto part = widened[size_t(worker)].at(row, end - row, column + c, here);
        kernels().of<T>().families.columns_standard(table.entry.data(), table.pointer.data() + c, here, change.from(column + c), part.data, part.column_stride, end - row, acc, tile.pitch);
      }
      write_transposed(acc, tile.pitch, scale, true, out, row, end);
    });
  }
  return true;
}

}  // namespace

template <class T>
bool scatter_standard(const Scatter& scatter, const Dense& x, const Missing& missing, const ColumnTransform& s, uint64_t feature, double scale, Out<T> out, int threads) {
  if (x.rows == 0 || x.columns == 0) return true;
  return (x.column_stride == 1 ? rows_standard<T> : columns_standard<T>)(scatter, x, missing, s, feature, scale, out, threads);
}

template bool scatter_standard<float>(const Scatter&, const Dense&, const Missing&, const ColumnTransform&, uint64_t, double, Out<float>, int);
template bool scatter_standard<double>(const Scatter&, const Dense&, const Missing&, const ColumnTransform&, uint64_t, double, Out<double>, int);

}  // namespace slimline
