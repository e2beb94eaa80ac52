// Where features go, written out for a stretch of them; and sums that lie column by column, brought into rows.
#pragma once

#include "families/product_common.hpp"

namespace slimline {

constexpr size_t table_entries = size_t(1) << 19;  // 2 to 4 MB
constexpr size_t column_sums_bytes = size_t(1) << 20;

// Entries of R's rows for a stretch of features: those of feature f are entry[pointer[f]] to entry[pointer[f + 1]].
struct Table {
  std::vector<uint32_t> pointer;
  std::vector<Entry> entry;

  void append(const Scatter& scatter, uint64_t feature, size_t count) {
    const size_t before = entry.size();
    if (scatter.hash == Hash::sparse_sign) {
      std::vector<Entry> row(scatter.columns);
      for (size_t f = 0; f < count; f++) {
        const size_t found = kernels().random.sparse_sign_row(scatter, feature + f, row.data());
        entry.insert(entry.end(), row.data(), row.data() + found);
        pointer.push_back(uint32_t(entry.size()));
      }
      return;
    }
    const size_t each = scatter.entries();
    for (size_t f = 1; f <= count; f++) pointer.push_back(uint32_t(before + f * each));
    entry.resize(before + count * each);
    if (scatter.hash == Hash::independent) {
      kernels().random.independent_table(scatter, feature, count, entry.data() + before);
      return;
    }
    std::vector<GroupEntry> groups(each);
    Entry* out = entry.data() + before;
    for (uint64_t a = feature; a < feature + count; a++) {
      if (a == feature || a % group_width == 0) kernels().random.grouped_table(scatter, a / group_width, 1, groups.data());
      const uint32_t lane = uint32_t(a % group_width);
      for (size_t t = 0; t < each; t++) *out++ = entry_of(groups[t], lane);
    }
  }
  void begin() { pointer.assign(1, 0); entry.clear(); }
};

inline size_t features_a_table(const Scatter& scatter) {
  const size_t most = scatter.hash == Hash::sparse_sign ? scatter.columns : scatter.entries();
  return std::max<size_t>(1, table_entries / most);
}

// Rows [row, end) of the result from sums[column * pitch + row].
template <class T> void write_transposed(const T* sums, size_t pitch, double scale, bool add, Out<T> out, size_t row, size_t end) {
  kernels().of<T>().families.write_transposed(sums, pitch, T(scale), add, end - row, out.columns, out.data + row * out.stride, out.stride);
}

// Rows whose sums lie column by column and stay in the second-level cache: whole `lane_rows`, and the pitch of the sums, which
// is no power of two, as that would put all into one cache set.
template <class T> struct ColumnSums {
  explicit ColumnSums(size_t columns) : rows(std::clamp<size_t>(column_sums_bytes / sizeof(T) / columns / lane_rows, 1, 64) * lane_rows), pitch(rows + lane_rows) {}
  const size_t rows, pitch;
};

}  // namespace slimline
