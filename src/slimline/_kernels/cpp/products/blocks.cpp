#include "blocks.hpp"

#include <algorithm>
#include <vector>

#include "byte_blocks.hpp"
#include "line_source.hpp"
#include "packed_blocks.hpp"
#include "parallel.hpp"
#include "product_common.hpp"
#include "ranges.hpp"

namespace slimline {
namespace {

constexpr size_t near_bytes = 1 << 20;  // of columns that are used twice while they are in the cache

size_t whole_fours(size_t k) { return k == 1 ? 1 : (k + 3) / 4 * 4; }

// Places of a line that are done at a time, so that the vectors along them stay in the cache.
constexpr size_t long_stretch = 4096, short_stretch = 1024;
size_t stretch_of(size_t k) { return k <= 4 ? long_stretch : short_stretch; }

constexpr size_t fold_lines = 2048;  // lines that are added to one sum, before it is added to that of all: a multiple of group_lines
constexpr size_t piece_bytes = size_t(2) << 20;  // of what a thread takes at a time, where it takes pieces in turns

// Vectors side by side (length x k) as rows of their own, padded to whole fours.
void turn_in(const double* from, size_t length, size_t k, double* to, size_t pitch) {
  for (size_t j = 0; j < whole_fours(k); j++)
    for (size_t t = 0; t < length; t++) to[j * pitch + t] = j < k ? from[t * k + j] : 0.0;
}

// Sums of some lines, and of all before them: what rounding can do grows with either, not with both. There is no memory for
// the second where all lines are few enough for the first.
class FoldedSums {
 public:
  void begin(size_t count) { count_ = count; }
  double* part() {
    if (part_.empty()) part_.assign(count_, 0.0);
    return part_.data();
  }
  void fold() {
    if (all_.empty()) return all_.swap(part_);
    for (size_t i = 0; i < part_.size(); i++) all_[i] += part_[i], part_[i] = 0.0;
  }
  bool any() const { return !all_.empty(); }
  const double* all() const { return all_.data(); }

 private:
  size_t count_ = 0;
  std::vector<double> part_, all_;
};

class Worker {
 public:
  Worker(const Lines& x, const Changes& changes, size_t k)
      : x_(x), changes_(changes), kernels_(kernels().lines[int(x.type)]), source_(x), k_(k), part_(group_lines * 4) {}

  // out[line] (k side by side) += lines [first, last) times v over the places [from, to); v has `pitch` between vectors
  void dot(const Group& g, size_t first, size_t count, size_t from, size_t to, const double* v, size_t pitch, double* out) {
    const char* data = g.data + ptrdiff_t(from * x_.item());
    const Shift shift = changes_.at(first, from);
    const auto& kernel = kernels_.dot[changes_.mode(g.any_missing)][x_.along];
    if (k_ == 1) return kernel[0](shift, data, g.stride, count, to - from, v, pitch, out);
    for (size_t j = 0; j < k_; j += 4) {
      std::fill_n(part_.data(), count * 4, 0.0);
      kernel[1](shift, data, g.stride, count, to - from, v + j * pitch, pitch, part_.data());
      for (size_t i = 0; i < count; i++)
        for (size_t c = j; c < std::min(j + 4, k_); c++) out[i * k_ + c] += part_[i * 4 + c - j];
    }
  }
  // y[place] += Σ a[line] · line, y as rows `pitch` apart
  void add(const Group& g, size_t first, size_t count, size_t from, size_t to, const double* a, double* y, size_t pitch) {
    const char* data = g.data + ptrdiff_t(from * x_.item());
    const Shift shift = changes_.at(first, from);
    const auto& kernel = kernels_.add[changes_.mode(g.any_missing)][x_.along];
    if (k_ == 1) return kernel[0](shift, data, g.stride, count, to - from, a, y, pitch);
    for (size_t j = 0; j < k_; j += 4) {
      for (size_t i = 0; i < count; i++)
        for (size_t c = j; c < j + 4; c++) part_[i * 4 + c - j] = c < k_ ? a[i * k_ + c] : 0.0;
      kernel[1](shift, data, g.stride, count, to - from, part_.data(), y + j * pitch, pitch);
    }
  }
  Source& source() { return source_; }

 private:
  const Lines& x_;
  const Changes& changes_;
  const LineKernels& kernels_;
  Source source_;
  size_t k_;
  std::vector<double> part_;
};

// Whether places are shared out among threads: lines are few, and so long that sums of each thread's own would cost more.
bool few_long_lines(const Lines& x, size_t k, int threads) {
  return !x.packed && x.lines < group_lines && x.length >= size_t(std::max(threads, 1)) * stretch_of(k);
}

// lines_dot where each thread has some of the places
void long_lines_dot(const Lines& x, const Changes& changes, const double* v, size_t k, double* out, int threads) {
  const size_t stretch = stretch_of(k);
  std::vector<std::vector<double>> own(size_t(std::max(threads, 1)));
  in_ranges(x.length, 64, threads, [&](size_t begin, size_t end, size_t id) {
    Worker worker(x, changes, k);
    std::vector<double> turned(k == 1 ? 0 : whole_fours(k) * stretch);
    own[id].assign(x.lines * k, 0.0);
    const Group g = worker.source().group(0, x.lines);
    for (size_t t = begin; t < end; t += stretch) {
      const size_t to = std::min(end, t + stretch);
      if (k > 1) turn_in(v + t * k, to - t, k, turned.data(), stretch);
      worker.dot(g, 0, x.lines, t, to, k == 1 ? v + t : turned.data(), stretch, own[id].data());
      throw_if_interrupted();
    }
  });
  for (const auto& sums : own)
    for (size_t i = 0; i < sums.size(); i++) out[i] += sums[i];
}

// lines_dot with one vector, of lines as they lie in memory. Threads take pieces in turns, so that none waits for one that was
// held up; what a stretch of the places adds to each line has room of its own, so that sums come out the same whoever is first.
void single_dot(const Lines& x, const Changes& changes, const double* v, double* out, int threads) {
  // The vector is short enough for several stretches: the fewer lines are begun, the better what comes next is foreseen.
  constexpr size_t together = 4, reach = 4 * long_stretch;
  const size_t reaches = (x.length + reach - 1) / reach;
  const size_t lines = std::max(piece_bytes / x.item() / std::min(x.length, reach) / together, size_t(1)) * together;
  const size_t batches = (x.lines + lines - 1) / lines;
  std::vector<double> sums(reaches * x.lines, 0.0);
  parallel_for(reaches * batches, 1, threads, [&](size_t piece, size_t, int) {
    Worker worker(x, changes, 1);
    const size_t from = piece / batches * reach, to = std::min(x.length, from + reach);
    const size_t first = piece % batches * lines, last = std::min(x.lines, first + lines);
    for (size_t line = first; line < last; line += together) {
      const size_t count = std::min(together, last - line);
      const Group g = worker.source().group(line, count);
      for (size_t t = from; t < to; t += long_stretch)
        worker.dot(g, line, count, t, std::min(to, t + long_stretch), v + t, long_stretch, sums.data() + piece / batches * x.lines + line);
    }
  });
  for (size_t i = 0; i < sums.size(); i++) out[i % x.lines] += sums[i];
}

// lines against vectors: every line has a sum of its own
void lines_dot(const Lines& x, const Changes& changes, const double* v, size_t k, double* out, int threads) {
  if (k == 1 && !x.packed) return single_dot(x, changes, v, out, threads);
  if (few_long_lines(x, k, threads)) return long_lines_dot(x, changes, v, k, out, threads);
  const size_t stretch = std::min(stretch_of(k), x.length);
  in_ranges(x.lines, 4, threads, [&](size_t begin, size_t end, size_t) {
    Worker worker(x, changes, k);
    std::vector<double> turned(k == 1 ? 0 : whole_fours(k) * stretch);
    // Packed lines are unpacked once, so all of their length is done while they are at hand.
    const size_t batch = x.packed ? group_lines : std::max<size_t>(end - begin, 1);
    for (size_t from_line = begin; from_line < end; from_line += batch) {
      const size_t to_line = std::min(end, from_line + batch);
      Group g{};
      if (x.packed) g = worker.source().group(from_line, to_line - from_line);
      for (size_t t = 0; t < x.length; t += stretch) {
        const size_t to = std::min(x.length, t + stretch);
        if (k > 1) turn_in(v + t * k, to - t, k, turned.data(), stretch);
        const double* vectors = k == 1 ? v + t : turned.data();
        for (size_t line = from_line; line < to_line; line += group_lines) {
          const size_t count = std::min(group_lines, to_line - line);
          if (!x.packed) g = worker.source().group(line, count);
          worker.dot(g, line, count, t, to, vectors, stretch, out + line * k);
        }
        throw_if_interrupted();
      }
    }
  });
}

// lines added to vectors: places are shared out where there are enough of them, else lines, each worker with sums of its own
void lines_add(const Lines& x, const Changes& changes, const double* a, size_t k, double* out, int threads) {
  const size_t stretch = std::min(stretch_of(k), x.length), rows = whole_fours(k);
  auto sum_up = [&](Worker& worker, size_t first, size_t last, size_t from, size_t to, double* y, size_t pitch) {
    // y: sums of the places [from, to)
    for (size_t line = first; line < last; line += group_lines) {
      if ((line - first) % (64 * group_lines) == 0) throw_if_interrupted();
      const size_t count = std::min(group_lines, last - line);
      const Group g = worker.source().group(line, count);
      for (size_t t = from; t < to; t += stretch)
        worker.add(g, line, count, t, std::min(to, t + stretch), a + line * k, y + (t - from), pitch);
    }
  };
  auto add_out = [&](const double* y, size_t from, size_t to, size_t pitch) {
    for (size_t t = from; t < to; t++)
      for (size_t j = 0; j < k; j++) out[t * k + j] += y[j * pitch + t - from];
  };
  if (!x.packed && x.length >= size_t(threads) * stretch) {
    // in turns: every place has all of its lines from the same thread
    const size_t grain = stretch * std::max(piece_bytes / x.item() / stretch / x.lines, size_t(1));
    parallel_for(x.length, grain, threads, [&](size_t begin, size_t end, int) {
      Worker worker(x, changes, k);
      std::vector<double> y(rows * stretch);
      for (size_t t = begin; t < end; t += stretch) {
        const size_t to = std::min(end, t + stretch);
        for (size_t line = 0; line < x.lines; line += fold_lines) {
          std::fill(y.begin(), y.end(), 0.0);
          sum_up(worker, line, std::min(x.lines, line + fold_lines), t, to, y.data(), stretch);
          add_out(y.data(), t, to, stretch);
        }
      }
    });
    return;
  }
  std::vector<FoldedSums> own(size_t(std::max(threads, 1)));
  in_ranges(x.lines, group_lines, threads, [&](size_t begin, size_t end, size_t w) {
    Worker worker(x, changes, k);
    own[w].begin(rows * x.length);
    for (size_t line = begin; line < end; line += fold_lines) {
      sum_up(worker, line, std::min(end, line + fold_lines), 0, x.length, own[w].part(), x.length);
      own[w].fold();
    }
  });
  for (const auto& sums : own)
    if (sums.any()) add_out(sums.all(), 0, x.length, x.length);
}

// Scales the sums of columns, and returns what is multiplied with the columns as they are stored: scaled twice.
std::vector<double> scale_sums(const Standard& s, size_t columns, size_t k, double* sums) {
  std::vector<double> twice(sums, sums + columns * k);
  if (s.factor)
    for (size_t i = 0; i < columns * k; i++) sums[i] *= s.factor[i / k], twice[i] = sums[i] * s.factor[i / k];
  return twice;
}

}  // namespace

void block_dot(const Lines& x, const Standard& s, const double* w, size_t k, double* out, int threads) {
  if (x.lines == 0 || x.length == 0 || k == 0) return;
  if (genotypes_as_packed(x)) return packed_dot(x, s, w, k, out, threads);
  if (bytes_by_digits(x, s, w, x.columns(), k)) return (x.along ? byte_lines_dot : byte_lines_add)(x, s, w, k, out, threads);
  const Changes changes(x, s);
  (x.along ? lines_dot : lines_add)(x, changes, w, k, out, threads_for(x, k, threads));
}

size_t longest_row_sum(size_t length, bool of_bytes, int threads) {
  // A stretch is summed up in two sums or more, one a lane, which are added together, and to the stretches before; a thread
  // may have some of the stretches to itself.
  constexpr size_t fewest_lanes = 2, most_lanes = 16;
  const size_t in_lanes = long_stretch / fewest_lanes + 2 * most_lanes + length / short_stretch + 1 + size_t(std::max(threads, 1));
  const size_t at_most = std::min(length, in_lanes);
  return of_bytes ? std::max(at_most, longest_byte_sum(length)) : at_most;  // not all bytes go by digits
}

size_t longest_line_sum(size_t lines, bool of_bytes, int threads) {
  if (of_bytes) return std::max(lines, longest_byte_sum(lines)) + lines / digit_lines + 1 + size_t(std::max(threads, 1));  // centres are one chain
  const size_t folded = fold_lines + lines / fold_lines + 1 + size_t(std::max(threads, 1));
  return std::min(lines, folded);
}

void block_tdot(const Lines& x, const Standard& s, const double* a, size_t k, double* out, int threads) {
  if (x.lines == 0 || x.length == 0 || k == 0) return;
  if (genotypes_as_packed(x)) return packed_tdot(x, s, a, k, out, threads);
  if (bytes_by_digits(x, s, a, x.rows(), k)) return (x.along ? byte_lines_add : byte_lines_dot)(x, s, a, k, out, threads);
  const Changes changes(x, s);
  (x.along ? lines_add : lines_dot)(x, changes, a, k, out, threads_for(x, k, threads));
}

void block_normal(const Lines& x, const Standard& s, const double* a, size_t k, double* w, double* out, int threads) {
  if (x.columns() == 0 || k == 0) return;
  if (x.rows() == 0) { std::fill_n(w, x.columns() * k, 0.0); return; }
  if (genotypes_as_packed(x)) return packed_normal(x, s, a, k, w, out, threads);
  if (x.along) {
    // Rows are gone through twice, each time in long stretches: narrow panels of columns, which would still be near when they
    // are used a second time, take longer, as the CPU does not foresee where the next piece of a row begins.
    std::fill_n(w, x.columns() * k, 0.0);
    block_tdot(x, s, a, k, w, threads);
    const std::vector<double> scaled = scale_sums(s, x.columns(), k, w);
    return block_dot(x, s, scaled.data(), k, out, threads);
  }
  if (bytes_by_digits(x, s, a, x.rows(), k)) return byte_normal(x, s, a, k, w, out, threads);
  const Changes changes(x, s);
  const size_t rows = whole_fours(k);
  threads = threads_for(x, 2 * k, threads);
  if (few_long_lines(x, k, threads)) {
    std::fill_n(w, x.lines * k, 0.0);
    long_lines_dot(x, changes, a, k, w, threads);
    const std::vector<double> scaled = scale_sums(s, x.lines, k, w);
    return lines_add(x, changes, scaled.data(), k, out, threads);
  }
  // columns: each has its sum at once, and is then added
  std::vector<FoldedSums> own(size_t(std::max(threads, 1)));
  std::vector<double> turned(k == 1 ? 0 : rows * x.length);
  if (k > 1) turn_in(a, x.length, k, turned.data(), x.length);
  const double* vectors = k == 1 ? a : turned.data();
  in_ranges(x.lines, group_lines, threads, [&](size_t begin, size_t end, size_t id) {
    Worker worker(x, changes, k);
    std::vector<double> scaled(group_lines * k);
    own[id].begin(rows * x.length);
    size_t added = 0;
    const size_t fits = std::max<size_t>(4, near_bytes / x.item() / x.length / 4 * 4);
    const size_t step = x.packed ? group_lines : std::min(group_lines, fits);
    for (size_t line = begin; line < end; line += step) {
      const size_t count = std::min(step, end - line);
      const Group g = worker.source().group(line, count);
      double* sums = w + line * k;
      std::fill_n(sums, count * k, 0.0);
      worker.dot(g, line, count, 0, x.length, vectors, x.length, sums);
      for (size_t i = 0; i < count * k; i++) {
        const double factor = s.factor ? s.factor[line + i / k] : 1.0;
        sums[i] *= factor;
        scaled[i] = sums[i] * factor;
      }
      if (added + count > fold_lines) own[id].fold(), added = 0;
      worker.add(g, line, count, 0, x.length, scaled.data(), own[id].part(), x.length);
      added += count;
      throw_if_interrupted();
    }
    own[id].fold();
  });
  for (const auto& sums : own)
    if (sums.any())
      for (size_t i = 0; i < x.length; i++)
        for (size_t j = 0; j < k; j++) out[i * k + j] += sums.all()[j * x.length + i];
}

template <class T> void block_tile(const Lines& x, const Standard& s, T* out, ptrdiff_t stride, int threads) {
  if (x.lines == 0 || x.length == 0) return;
  const Changes changes(x, s);
  const LineKernels& k = kernels().lines[int(x.type)];
  in_ranges(x.lines, group_lines, threads_for(x, 4, threads), [&](size_t begin, size_t end, size_t) {
    Source source(x);
    for (size_t line = begin; line < end; line += group_lines) {
      const size_t count = std::min(group_lines, end - line);
      const Group g = source.group(line, count);
      const double* factor = s.factor && !x.along ? s.factor + line : s.factor;
      const int mode = changes.mode(g.any_missing);
      T* to = out + ptrdiff_t(line) * stride;
      if constexpr (sizeof(T) == 4) k.write_f32[mode][x.along](changes.at(line, 0), factor, g.data, g.stride, count, x.length, to, stride);
      else k.write_f64[mode][x.along](changes.at(line, 0), factor, g.data, g.stride, count, x.length, to, stride);
    }
  });
}
template void block_tile<float>(const Lines&, const Standard&, float*, ptrdiff_t, int);
template void block_tile<double>(const Lines&, const Standard&, double*, ptrdiff_t, int);

void block_statistics(const Lines& x, const Standard& s, const double* weights, const Moments& m, int threads) {
  const LineKernels& k = kernels().lines[int(x.type)];
  const bool has_missing = x.packed || s.has_missing;
  const double missing = x.packed ? double(missing_call) : s.missing;
  threads = threads_for(x, 8, threads);
  auto from = [&](size_t c) { return Moments{m.weight + c, m.mean + c, m.deviation + c, m.nonzeros + c, m.missing + c}; };
  if (x.along) {
    in_ranges(x.length, 64, threads, [&](size_t begin, size_t end, size_t) {
      constexpr size_t panel = 2048;
      for (size_t t = begin; t < end; t += panel) {
        Moments part = from(t);
        k.place_statistics(x.data + ptrdiff_t(t * x.item()), x.stride, x.lines, std::min(end, t + panel) - t, has_missing, missing, weights, part);
        throw_if_interrupted();
      }
    });
    return;
  }
  if (x.packed && !weights) return packed_statistics(x, m, threads);
  in_ranges(x.lines, group_lines, threads, [&](size_t begin, size_t end, size_t) {
    Source source(x);
    for (size_t line = begin; line < end; line += group_lines) {
      const size_t count = std::min(group_lines, end - line);
      const Group g = source.group(line, count);
      for (size_t i = 0; i < count; i++) {
        Moments part = from(line + i);
        k.line_statistics(g.data + ptrdiff_t(i) * g.stride * ptrdiff_t(x.item()), x.length, has_missing, missing, weights, part);
      }
      throw_if_interrupted();
    }
  });
}

void unpack_block(const Lines& x, int8_t* out, ptrdiff_t row_stride, ptrdiff_t column_stride, int threads) {
  const auto* packed = reinterpret_cast<const uint8_t*>(x.data);
  in_ranges(x.lines, 64, threads_for(x, 1, threads), [&](size_t begin, size_t end, size_t) {
    if (row_stride == 1 && column_stride != 1) {
      for (size_t j = begin; j < end; j++) kernels().unpack(packed + ptrdiff_t(j) * x.stride, x.length, missing_call, out + ptrdiff_t(j) * column_stride);
    } else {
      kernels().unpack_turned(packed + ptrdiff_t(begin) * x.stride, x.stride, end - begin, x.length, out + begin, row_stride);
    }
  });
}

}  // namespace slimline
