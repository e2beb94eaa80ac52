// The grouped embedding of bytes that are filled, centred and scaled on the way: they are never written out as floats.
#include <limits>

#include "product_common.hpp"

namespace slimline {
namespace {

constexpr size_t group = group_width;
constexpr size_t table_entries = size_t(1) << 19;

// What is done to each column, in whole groups of features: those before the first column and after the last give 0.
class Changes {
 public:
  Changes(const ByteStandard& s, size_t columns, size_t skipped) : parts_(4 * pitch(columns, skipped)), pitch_(pitch(columns, skipped)) {
    for (size_t c = 0; c < columns; c++) {
      const double centre = s.centre ? s.centre[c] : 0.0, factor = s.factor ? s.factor[c] : 1.0;
      const double fill = s.fill ? s.fill[c] : std::numeric_limits<double>::quiet_NaN();
      const float near = float(centre);
      float* to = parts_.data() + skipped + c;
      to[0] = near, to[pitch_] = float((double(near) - centre) * factor), to[2 * pitch_] = float(factor);
      to[3 * pitch_] = float((fill - centre) * factor);
    }
    missing_ = s.has_missing ? float(s.missing) : 1e9f;
  }
  ByteChange of_group(size_t g) const {
    const float* p = parts_.data() + g * group;
    return {p, p + pitch_, p + 2 * pitch_, p + 3 * pitch_, missing_};
  }

 private:
  static size_t pitch(size_t columns, size_t skipped) { return (columns + skipped + group - 1) / group * group; }
  std::vector<float> parts_;
  size_t pitch_;
  float missing_;
};

}  // namespace

void scatter_bytes(const Scatter& scatter, const Dense& x, const ByteStandard& s, uint64_t feature, double scale, Out<float> out, int threads) {
  clear_unless_added(out);
  if (x.rows == 0 || x.columns == 0) return;
  const size_t each = scatter.entries(), stretch = std::max<size_t>(1, table_entries / each);  // groups that share a table
  const size_t skipped = size_t(feature % group), groups = (skipped + x.columns + group - 1) / group;
  const Changes changes(s, x.columns, skipped);
  const auto kernel = kernels().grouped_changed[x.type == Type::u8];
  const size_t width = sums_stride(scatter);
  std::vector<GroupEntry> table;
  for (size_t begin = 0; begin < groups; begin += stretch) {
    const size_t end = std::min(groups, begin + stretch);
    table.resize((end - begin) * each);
    const double nanoseconds = double(x.rows) * double((end - begin) * group) * (0.12 + 0.06 * double(each));
    const int team = worthwhile_threads(nanoseconds, threads);
    parallel_for(end - begin, 1024, team, [&](size_t from, size_t to, int) {
      kernels().grouped_table(scatter, feature / group + begin + from, to - from, table.data() + from * each);
    });
    Scratch<float> sums(team, changed_rows * width);
    parallel_for(x.rows, changed_rows, team, [&](size_t row, size_t row_end, int worker) {
      float* acc = sums.of(worker);
      const size_t rows = row_end - row;
      std::fill_n(acc, rows * width, 0.0f);
      auto run = [&](size_t first, size_t last, const char* data, ptrdiff_t row_stride) {
        kernel(scatter, table.data() + (first - begin) * each, last - first, changes.of_group(first), data, row_stride, rows, acc);
      };
      auto edge = [&](size_t g) {  // a group of which some features are not there
        alignas(64) char padded[changed_rows * group] = {};
        const size_t from = std::max(g * group, skipped), to = std::min((g + 1) * group, skipped + x.columns);
        for (size_t q = 0; q < rows; q++) std::copy_n(x.at(row + q, from - skipped), to - from, padded + q * group + from % group);
        run(g, g + 1, padded, ptrdiff_t(group));
      };
      size_t first = begin, last = end;
      if (first * group < skipped) edge(first++);
      if (last > first && last * group > skipped + x.columns) edge(--last);
      if (last > first) run(first, last, x.at(row, first * group - skipped), x.row_stride);
      for (size_t q = 0; q < rows; q++) write_row(acc + q * width, float(scale), true, out.data + (row + q) * out.stride, scatter.columns);
    });
  }
}

}  // namespace slimline
