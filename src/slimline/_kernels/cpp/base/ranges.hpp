#pragma once

#include <algorithm>

#include "base/parallel.hpp"

namespace slimline {

// One range of [0, count) for each worker, in whole `unit`s; always the same one, so that sums come out the same.
template <class F> void in_ranges(size_t count, size_t unit, int threads, F body) {
  const size_t units = (count + unit - 1) / unit;
  const size_t workers = std::min<size_t>(size_t(std::max(threads, 1)), std::max<size_t>(units, 1));
  parallel_for(workers, 1, int(workers), [&](size_t w, size_t, int) {
    body(std::min(count, units * w / workers * unit), std::min(count, units * (w + 1) / workers * unit), w);
  });
}

}  // namespace slimline
