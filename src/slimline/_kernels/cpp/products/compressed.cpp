#include "products/compressed.hpp"

#include <algorithm>
#include <vector>

#include "base/parallel.hpp"
#include "products/sparse_lines.hpp"

namespace slimline {
namespace {

constexpr size_t private_bytes = size_t(64) << 20;  // of sums that the threads of a scatter may have for themselves
constexpr size_t step = 256;  // lines between two looks at an interrupt, and that stay in the cache for all right-hand sides

template <int K, class Index, class T>
void gather_lines(const SparseLines<Index, T>& x, const double* v, size_t k, size_t first, size_t last, double* out) {
  for (size_t line = first; line < last; line++) {
    check_line(x, line);
    double sums[2 * K] = {};
    size_t i = size_t(x.pointer[line]);
    const size_t end = size_t(x.pointer[line + 1]);
    for (; i + 2 <= end; i += 2)
      for (size_t u = 0; u < 2; u++) {
        const size_t position = checked(x.index[i + u], x.width);
        const double z = value_of(x, line, i + u, position);
        for (int j = 0; j < K; j++) sums[u * K + size_t(j)] += z * v[position * k + size_t(j)];
      }
    if (i < end) {
      const size_t position = checked(x.index[i], x.width);
      const double z = value_of(x, line, i, position);
      for (int j = 0; j < K; j++) sums[j] += z * v[position * k + size_t(j)];
    }
    for (int j = 0; j < K; j++) out[line * k + size_t(j)] += sums[j] + sums[K + j];
  }
}

template <int K, class Index, class T>
void scatter_values(const SparseLines<Index, T>& x, const double* v, size_t k, size_t line, size_t first, size_t last, double* out) {
  for (size_t i = first; i < last; i++) {
    const size_t position = checked(x.index[i], x.width);
    const double z = value_of(x, line, i, position);
    for (int j = 0; j < K; j++) out[position * k + size_t(j)] += z * v[line * k + size_t(j)];
  }
}

// Right-hand sides four at a time, then two, then one.
template <class F> void by_fours(size_t k, F f) {
  size_t j = 0;
  for (; j + 4 <= k; j += 4) f(std::integral_constant<int, 4>(), j);
  for (; j + 2 <= k; j += 2) f(std::integral_constant<int, 2>(), j);
  for (; j < k; j++) f(std::integral_constant<int, 1>(), j);
}

}  // namespace

template <class Index, class T> void gather(const SparseLines<Index, T>& x, const double* v, size_t k, double* out, int threads) {
  const int workers = worthwhile_threads(double(x.stored) * double(k), threads);
  const auto cuts = shares(x, workers);
  parallel_for(size_t(workers), 1, workers, [&](size_t w, size_t, int) {
    for (size_t first = cuts[w]; first < cuts[w + 1]; first += step) {
      const size_t last = std::min(cuts[w + 1], first + step);
      by_fours(k, [&](auto count, size_t j) { gather_lines<count()>(x, v + j, k, first, last, out + j); });
      throw_if_interrupted();
    }
  });
}

// Each worker has sums of its own, which must be cleared and added up: worth it only if there are many values.
template <class Index, class T> static void scatter_apart(const SparseLines<Index, T>& x, const double* v, size_t k, double* out, int workers) {
  const size_t sums = x.width * k;
  const size_t affordable = 1 + private_bytes / (8 * std::max<size_t>(sums, 1));
  if (sums > x.stored * k) workers = 1;
  workers = int(std::min<size_t>(size_t(workers), affordable));
  const auto cuts = shares(x, workers);
  std::vector<std::vector<double>> own(static_cast<size_t>(workers));
  parallel_for(size_t(workers), 1, workers, [&](size_t w, size_t, int) {
    double* to = out;
    if (w > 0) own[w].assign(sums, 0.0), to = own[w].data();
    for (size_t first = cuts[w]; first < cuts[w + 1]; first += step) {
      const size_t last = std::min(cuts[w + 1], first + step);
      by_fours(k, [&](auto count, size_t j) {
        for (size_t line = first; line < last; line++) {
          check_line(x, line);
          scatter_values<count()>(x, v + j, k, line, size_t(x.pointer[line]), size_t(x.pointer[line + 1]), to + j);
        }
      });
      throw_if_interrupted();
    }
  });
  parallel_for(sums, 1 << 16, workers, [&](size_t begin, size_t end, int) {
    for (int w = 1; w < workers; w++)
      for (size_t i = begin; i < end; i++) out[i] += own[size_t(w)][i];
  });
}

template <class Index, class T> void scatter(const SparseLines<Index, T>& x, const double* v, size_t k, double* out, int threads) {
  const int workers = worthwhile_threads(double(x.stored) * double(k), threads);
  if (workers == 1 || !indices_ascend(x, workers)) return scatter_apart(x, v, k, out, workers);
  // each worker has some of the indices, and finds them in every line: nothing to clear, and what it adds to is nearer
  const IndexRanges<Index> ranges(x, workers);
  parallel_for(size_t(workers), 1, workers, [&](size_t w, size_t, int) {
    for (size_t first = 0; first < x.lines; first += step) {
      const size_t last = std::min(x.lines, first + step);
      by_fours(k, [&](auto count, size_t j) {
        for (size_t line = first; line < last; line++) {
          const auto [from, to] = ranges.values(x, line, w);
          scatter_values<count()>(x, v + j, k, line, from, to, out + j);
        }
      });
      throw_if_interrupted();
    }
  });
}

#define SLIMLINE_SPARSE(Index, T)                                                                      \
  template void gather<Index, T>(const SparseLines<Index, T>&, const double*, size_t, double*, int);   \
  template void scatter<Index, T>(const SparseLines<Index, T>&, const double*, size_t, double*, int);
#define SLIMLINE_SPARSE_BOTH(T) SLIMLINE_SPARSE(int32_t, T) SLIMLINE_SPARSE(int64_t, T)
SLIMLINE_SPARSE_BOTH(float)
SLIMLINE_SPARSE_BOTH(double)
SLIMLINE_SPARSE_BOTH(Half)
SLIMLINE_SPARSE_BOTH(int8_t)
SLIMLINE_SPARSE_BOTH(uint8_t)
SLIMLINE_SPARSE_BOTH(int16_t)

}  // namespace slimline
