// The lines of a compressed sparse block: what is checked about them, and how they are shared out among threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "products/compressed.hpp"
#include "base/half.hpp"
#include "base/parallel.hpp"
#include "families/product_common.hpp"

namespace slimline {

template <class Index, class T> void check_line(const SparseLines<Index, T>& x, size_t line) {
  const Index begin = x.pointer[line], end = x.pointer[line + 1];
  if (begin < 0 || end < begin || size_t(end) > x.stored)
    throw std::invalid_argument("the sparse matrix is damaged: its indptr does not rise from 0 to the number of stored values");
}

template <class Index, class T> double value_of(const SparseLines<Index, T>& x, size_t line, size_t i, size_t position) {
  double z = as_double(x.value[i]);
  if constexpr (!std::is_integral_v<T>) {
    if (z != z) z = x.line_fill ? x.line_fill[line] : x.index_fill ? x.index_fill[position] : z;
  }
  return z;
}

template <class Index> size_t checked(Index position, size_t width) {
  // a negative index is a very large one
  if (std::make_unsigned_t<Index>(position) >= width) bad_index();
  return size_t(position);
}

// Lines cut so that each worker has about as many values.
template <class Index, class T> std::vector<size_t> shares(const SparseLines<Index, T>& x, int workers) {
  std::vector<size_t> cuts{0};
  for (int w = 1; w < workers; w++) {
    const auto wanted = Index(double(x.stored) * w / workers);
    const size_t cut = size_t(std::lower_bound(x.pointer, x.pointer + x.lines, wanted) - x.pointer);
    cuts.push_back(std::max(cuts.back(), std::min(cut, x.lines)));
  }
  cuts.push_back(x.lines);
  return cuts;
}

// Whether the indices of every line ascend; all of `pointer` has been checked if they do.
template <class Index, class T> bool indices_ascend(const SparseLines<Index, T>& x, int workers) {
  const auto cuts = shares(x, workers);
  std::atomic<bool> all{true};
  parallel_for(size_t(workers), 1, workers, [&](size_t w, size_t, int) {
    for (size_t line = cuts[w]; line < cuts[w + 1] && all; line++) {
      check_line(x, line);
      const size_t begin = size_t(x.pointer[line]), end = size_t(x.pointer[line + 1]);
      Index descents = 0;
      for (size_t i = begin; i + 1 < end; i++) descents |= Index(x.index[i] > x.index[i + 1]);
      if (descents) all = false;
    }
  });
  return all;
}

// Ranges of indices with about as many values in each, judged by a sample of them, for lines whose indices ascend.
template <class Index> class IndexRanges {
 public:
  template <class T> IndexRanges(const SparseLines<Index, T>& x, int workers) {
    std::vector<Index> sample;
    const size_t wanted = 1024 * size_t(workers), apart = std::max<size_t>(1, x.stored / wanted);
    for (size_t i = apart / 2; i < x.stored; i += apart) sample.push_back(x.index[i]);
    std::sort(sample.begin(), sample.end());
    for (int w = 1; w < workers; w++) cuts_.push_back(sample.empty() ? 0 : sample[sample.size() * size_t(w) / size_t(workers)]);
  }
  // Which values of a line belong to a worker.
  template <class T> std::pair<size_t, size_t> values(const SparseLines<Index, T>& x, size_t line, size_t worker) const {
    const size_t begin = size_t(x.pointer[line]), end = size_t(x.pointer[line + 1]);
    return {worker == 0 ? begin : first_from(x.index, begin, end, cuts_[worker - 1]),
            worker == cuts_.size() ? end : first_from(x.index, begin, end, cuts_[worker])};
  }

 private:
  // The first of ascending indices that is not below `position`; without a branch, which nobody could foresee.
  static size_t first_from(const Index* index, size_t begin, size_t end, Index position) {
    const Index* at = index + begin;
    for (size_t rest = end - begin; rest > 0;) {
      const size_t half = (rest + 1) / 2;
      at += at[half - 1] < position ? half : 0;
      rest -= half;
    }
    return size_t(at - index);
  }
  std::vector<Index> cuts_;
};

}  // namespace slimline
