#include "packed_blocks.hpp"

#include <algorithm>
#include <vector>

#include "genotype_values.hpp"
#include "parallel.hpp"

namespace slimline {
namespace {

constexpr size_t most_vectors = 4;  // that share the work of bringing codes into lanes
constexpr size_t near_values = 3072;  // of vectors that stay in the nearest cache; people of a stretch are a multiple of 32

int threads_for(const Lines& x, size_t k, int threads) {
  return worthwhile_threads(double(x.lines) * double(x.length) * (0.05 + 0.03 * double(k)), threads);
}

size_t lines_together(const Lines& x) { return std::clamp<size_t>(kernels().packed.near_bytes / std::max<size_t>((x.length + 3) / 4, 1), 32, 512); }

// Vectors side by side (length x k) as rows of their own.
std::vector<double> turned(const double* from, size_t length, size_t k) {
  std::vector<double> to(length * k);
  for (size_t i = 0; i < length; i++)
    for (size_t j = 0; j < k; j++) to[j * length + i] = from[i * k + j];
  return to;
}

class Worker {
 public:
  Worker(const Lines& x, const Standard& s, size_t k) : x_(x), s_(s), k_(k), value_(lines_together(x) * 4) {}

  // sums[line, j] += lines · vectors; v holds them one after the other
  void dot(size_t first, size_t count, const double* v, double* sums) {
    set_values_of(first, count);
    for (size_t j = 0; j < k_; j += most_vectors) {
      const size_t here = std::min(most_vectors, k_ - j), stretch = near_values / here;
      for (size_t i = 0; i < x_.length; i += stretch)
        kernels().packed.dot(at(first) + i / 4, x_.stride, count, std::min(stretch, x_.length - i), value_.data(), v + j * x_.length + i, x_.length, here, sums + j, k_);
    }
  }
  // Brings lines near, one after the other: `add` goes through them a few people at a time, which the CPU does not foresee.
  void fetch(size_t first, size_t count) const {
    for (size_t l = 0; l < count; l++) kernels().read(at(first + l), (x_.length + 3) / 4);
  }
  // y[j, person] += Σ w[line, j] · line
  void add(size_t first, size_t count, const double* w, double* y) {
    set_values_of(first, count);
    for (size_t j = 0; j < k_; j += most_vectors) {
      const size_t here = std::min(most_vectors, k_ - j), stretch = near_values / here;
      for (size_t i = 0; i < x_.length; i += stretch)
        kernels().packed.add(at(first) + i / 4, x_.stride, count, std::min(stretch, x_.length - i), value_.data(), w + j, k_, here, y + j * x_.length + i, x_.length);
    }
  }

 private:
  void set_values_of(size_t first, size_t count) {
    for (size_t l = first; l < first + count; l++)
      set_genotype_values(s_.fill ? s_.fill + l : nullptr, s_.centre ? s_.centre[l] : 0.0, 1.0, value_.data() + 4 * (l - first));
  }
  const uint8_t* at(size_t line) const { return reinterpret_cast<const uint8_t*>(x_.data) + ptrdiff_t(line) * x_.stride; }
  const Lines& x_;
  const Standard& s_;
  size_t k_;
  std::vector<double> value_;
};

// body(worker, first line, count, sums): pieces of the lines, each with sums (k x people) of its own, which are added to `out`
// (people x k) in the end, in their order. There are more pieces than threads, where sums are small: a thread that has to
// wait for its CPU, which may be reading the next block, leaves them to the others.
template <class F> void with_own_sums(const Lines& x, const Standard& s, size_t k, double* out, int threads, F body) {
  constexpr size_t most_pieces = 16, sums_bytes = size_t(4) << 20;
  const size_t fit = std::clamp<size_t>(sums_bytes / (k * x.length * sizeof(double)), 1, most_pieces);
  const size_t groups = (x.lines + lines_together(x) - 1) / lines_together(x);
  const size_t pieces = std::min(groups, std::max(fit, size_t(std::max(threads, 1))));
  std::vector<std::vector<double>> own(pieces);
  parallel_for(pieces, 1, threads, [&](size_t piece, size_t, int) {
    Worker worker(x, s, k);
    own[piece].assign(k * x.length, 0.0);
    const size_t end = std::min(x.lines, groups * (piece + 1) / pieces * lines_together(x));
    for (size_t line = groups * piece / pieces * lines_together(x); line < end; line += lines_together(x)) {
      body(worker, line, std::min(lines_together(x), end - line), own[piece].data());
      throw_if_interrupted();
    }
  });
  for (const auto& sums : own)
    if (!sums.empty())
      for (size_t i = 0; i < x.length; i++)
        for (size_t j = 0; j < k; j++) out[i * k + j] += sums[j * x.length + i];
}

}  // namespace

bool genotypes_as_packed(const Lines& x) { return x.packed && kernels().packed.dot; }

void packed_tdot(const Lines& x, const Standard& s, const double* a, size_t k, double* out, int threads) {
  const std::vector<double> vectors = turned(a, x.length, k);
  const int team = threads_for(x, k, threads);
  const size_t share = (x.lines / (4 * size_t(team)) + 7) / 8 * 8;  // of a block with many people there are few lines
  parallel_for(x.lines, std::clamp<size_t>(share, 8, lines_together(x)), team, [&](size_t line, size_t end, int) {
    Worker(x, s, k).dot(line, end - line, vectors.data(), out + line * k);
    throw_if_interrupted();
  });
}

void packed_dot(const Lines& x, const Standard& s, const double* w, size_t k, double* out, int threads) {
  with_own_sums(x, s, k, out, threads_for(x, k, threads), [&](Worker& worker, size_t line, size_t count, double* sums) {
    worker.fetch(line, count);
    worker.add(line, count, w + line * k, sums);
  });
}

void packed_normal(const Lines& x, const Standard& s, const double* a, size_t k, double* w, double* out, int threads) {
  const std::vector<double> vectors = turned(a, x.length, k);
  with_own_sums(x, s, k, out, threads_for(x, 2 * k, threads), [&](Worker& worker, size_t line, size_t count, double* sums) {
    std::vector<double> scaled(count * k);
    std::fill_n(w + line * k, count * k, 0.0);
    worker.dot(line, count, vectors.data(), w + line * k);
    for (size_t i = 0; i < count * k; i++) {
      const double factor = s.factor ? s.factor[line + i / k] : 1.0;
      w[line * k + i] *= factor;
      scaled[i] = w[line * k + i] * factor;
    }
    worker.add(line, count, scaled.data(), sums);
  });
}

}  // namespace slimline
