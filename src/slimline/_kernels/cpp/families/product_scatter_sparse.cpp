// Sparse rows times a sparse R: every non-zero of X is added to the few columns of its feature.
#include "families/product_common.hpp"

namespace slimline {
namespace {

constexpr size_t table_bytes = size_t(8) << 20, stretch_bytes = size_t(16) << 20;

// A group of 16 features in 4 bytes: group of columns << 20 | lane key << 16 | 16 sign bits. A million features fit the
// second-level cache.
class GroupTable {
 public:
  static bool pays(const Scatter& s, size_t features, size_t stored) {
    const size_t groups = features / group_width + 2;
    return s.columns <= size_t(group_width) << 12 && groups * s.entries() * sizeof(uint32_t) <= table_bytes && groups <= stored;
  }
  GroupTable(const Scatter& s, uint64_t feature, size_t features, int threads) : each_(s.entries()), lane_(size_t(feature % group_width)) {
    const uint64_t first = feature / group_width;
    const size_t groups = size_t((feature + features + group_width - 1) / group_width - first);
    table_.resize(groups * each_);
    parallel_for(groups, 4096, worthwhile_threads(double(groups * each_) * 6, threads), [&](size_t begin, size_t end, int) {
      std::vector<GroupEntry> wide((end - begin) * each_);
      kernels().random.grouped_table(s, first + begin, end - begin, wide.data());
      for (size_t i = 0; i < wide.size(); i++)
        table_[begin * each_ + i] = uint32_t((wide[i] >> 20) / group_width) << 20 | (uint32_t(wide[i]) & 0xFFFFFu);
    });
  }
  // The row is written where it belongs: it stays in the nearest cache while it is added to.
  template <class Index, class T> void add(const Compressed<Index, T>& x, double scale, Out<T> out, int threads) const {
    const int team = worthwhile_threads(double(x.stored * each_) * 1.2 + double(x.rows) * double(out.columns) * 0.15, threads);
    const auto kernel = kernels().of<T>().families.grouped_sparse[sizeof(Index) / 8];
    // Long stretches of the result: where its memory is fresh the system clears it, two megabytes at a time.
    const size_t share = std::max<size_t>(1, (x.rows + size_t(team) - 1) / size_t(team));
    const size_t grain = std::clamp<size_t>(stretch_bytes / (out.columns * sizeof(T)), share / 8 + 1, share);
    parallel_for(x.rows, grain, team, [&](size_t begin, size_t end, int) {
      for (size_t i = begin; i < end; i++) {
        check_row(x, i);
        T* const to = out.data + i * out.stride;
        if (!out.accumulate) std::memset(to, 0, out.columns * sizeof(T));
        const size_t first = size_t(x.pointer[i]);
        if (!kernel(table_.data(), each_, lane_, x.columns, x.index + first, x.value + first, size_t(x.pointer[i + 1]) - first, scale, to))
          bad_index();
      }
    });
  }

 private:
  size_t each_, lane_;
  std::vector<uint32_t> table_;
};

// The other ways to find where a feature goes. Each is small, so that the loop over non-zeros is compiled for it alone.
// row(offset, visit) calls visit(column, negative) for each non-zero of R in the row of X's column `offset`.

class FeatureTable {
 public:
  static bool pays(const Scatter& s, size_t features, size_t stored) {
    return features * s.entries() * sizeof(Entry) <= table_bytes && features <= stored;
  }
  FeatureTable(const Scatter& s, uint64_t feature, size_t features, int threads) : each_(s.entries()), table_(features * each_) {
    parallel_for(features, 65536, worthwhile_threads(double(table_.size()) * 3, threads), [&](size_t begin, size_t end, int) {
      kernels().random.independent_table(s, feature + begin, end - begin, table_.data() + begin * each_);
    });
  }
  size_t room() const { return 0; }
  template <class Visit> void row(size_t offset, Entry*, Visit visit) const {
    for (size_t t = 0; t < each_; t++) visit(size_t(table_[offset * each_ + t] >> 1), table_[offset * each_ + t] & 1u);
  }
  void prefetch(size_t offset) const { __builtin_prefetch(table_.data() + offset * each_); }

 private:
  size_t each_;
  std::vector<Entry> table_;
};

// No table: R is computed again at every non-zero.
class OnTheFly {
 public:
  OnTheFly(const Scatter& s, uint64_t feature) : scatter_(s), feature_(feature) {}
  size_t room() const {
    if (scatter_.hash == Hash::sparse_sign) return scatter_.columns;
    return scatter_.entries() * sizeof(GroupEntry) / sizeof(Entry);
  }
  template <class Visit> void row(size_t offset, Entry* space, Visit visit) const {
    const uint64_t a = feature_ + offset;
    size_t count = scatter_.entries();
    if (scatter_.hash == Hash::grouped) {
      GroupEntry* group = reinterpret_cast<GroupEntry*>(space);
      kernels().random.grouped_table(scatter_, a / group_width, 1, group);
      for (size_t t = 0; t < count; t++) {
        const Entry e = entry_of(group[t], uint32_t(a % group_width));
        visit(size_t(e >> 1), e & 1u);
      }
      return;
    }
    if (scatter_.hash == Hash::sparse_sign) count = kernels().random.sparse_sign_row(scatter_, a, space);
    else kernels().random.independent_table(scatter_, a, 1, space);
    for (size_t t = 0; t < count; t++) visit(size_t(space[t] >> 1), space[t] & 1u);
  }
  void prefetch(size_t) const {}

 private:
  const Scatter& scatter_;
  uint64_t feature_;
};

// Write or add a row of sums, and leave zeros in its place.
template <class T> void take_row(T* sums, bool add, T* out, size_t count) {
  for (size_t k = 0; k < count; k++) {
    out[k] = add ? out[k] + sums[k] : sums[k];
    sums[k] = 0;
  }
}

template <class Lookup, class Index, class T>
void add_rows(const Lookup& lookup, const Compressed<Index, T>& x, double scale, Out<T> out, double nanoseconds, int threads) {
  constexpr size_t ahead = 16;
  const int team = worthwhile_threads(double(x.stored) * nanoseconds + double(x.rows) * double(out.columns) * 0.15, threads);
  Scratch<Entry> space(team, lookup.room());
  Scratch<T> sums(team, out.columns);  // a row stays in the nearest cache while it is added to
  const size_t grain = std::max<size_t>(1, x.rows / (size_t(team) * 8));
  parallel_for(x.rows, grain, team, [&, lookup = &lookup](size_t begin, size_t end, int worker) {
    Entry* const local = space.of(worker);
    T* const own = sums.of(worker);
    const T factor = T(scale);
    const Index* const index = x.index;
    for (size_t i = begin; i < end; i++) {
      check_row(x, i);
      const size_t first = size_t(x.pointer[i]), last = size_t(x.pointer[i + 1]);
      T* const to = out.data + i * out.stride;
      // Few values that are added to a result are added in place: the row would be read and written for nothing.
      const bool in_place = out.accumulate && last - first < out.columns / 16;
      T* const sum = in_place ? to : own;
      for (size_t e = first; e < last; e++) {  // checked before any of them is used to find a place
        const Index column = index[e];
        if (column < 0 || size_t(column) >= x.columns) bad_index();
      }
      for (size_t e = first; e < last; e++) {
        if (e + ahead < last) lookup->prefetch(size_t(index[e + ahead]));
        const T value = x.value[e] * factor;
        lookup->row(size_t(index[e]), local, [&](size_t column, uint32_t negative) { sum[column] += with_sign(value, negative); });
      }
      if (!in_place) take_row(own, out.accumulate, to, out.columns);
    }
  });
}

}  // namespace

template <class Index, class T>
void scatter_compressed(const Scatter& scatter, const Compressed<Index, T>& x, uint64_t feature, double scale, Out<T> out, int threads) {
  const double each = 2.0 * scatter.entries();
  if (scatter.hash == Hash::grouped && GroupTable::pays(scatter, x.columns, x.stored))
    return GroupTable(scatter, feature, x.columns, threads).add(x, scale, out, threads);
  if (scatter.hash == Hash::independent && FeatureTable::pays(scatter, x.columns, x.stored))
    return add_rows(FeatureTable(scatter, feature, x.columns, threads), x, scale, out, each, threads);
  add_rows(OnTheFly(scatter, feature), x, scale, out, scatter.hash == Hash::sparse_sign ? 60.0 : 15.0 * scatter.entries(), threads);
}

#define SLIMLINE_INSTANTIATE(T)                                                                                               \
  template void scatter_compressed<int32_t, T>(const Scatter&, const Compressed<int32_t, T>&, uint64_t, double, Out<T>, int); \
  template void scatter_compressed<int64_t, T>(const Scatter&, const Compressed<int64_t, T>&, uint64_t, double, Out<T>, int);
SLIMLINE_INSTANTIATE(float)
SLIMLINE_INSTANTIATE(double)

}  // namespace slimline
