// X W, Xᵀ A and X Xᵀ A of one block: the one driver, which cuts the work, and the two ways to multiply a few lines.
//
// `dot`: lines against vectors, each line with a sum of its own. `add`: lines, each times a number, added up. In C order X W is
// `dot` and Xᵀ A is `add`; in Fortran order it is the other way round.
#include <algorithm>
#include <memory>
#include <vector>

#include "base/parallel.hpp"
#include "base/ranges.hpp"
#include "products/packed_lines.hpp"
#include "products/line_source.hpp"

namespace slimline {
namespace {

constexpr size_t fold_lines = 2048;  // lines that are added to one sum, before it is added to that of all
constexpr size_t piece_bytes = size_t(2) << 20;  // of what a thread takes at a time
constexpr size_t sums_bytes = size_t(4) << 20;   // of sums that pieces have for themselves
constexpr size_t most_pieces = 16;               // with sums of their own, where there are fewer threads
constexpr size_t near_bytes = size_t(1) << 20;   // of columns that are used twice while they are in the cache

// Elements of a line that are done at a time, so that the vectors along them stay in the cache.
constexpr size_t long_stretch = 4096, short_stretch = 1024;
size_t stretch_of(size_t k) { return k <= 4 ? long_stretch : short_stretch; }
size_t whole_fours(size_t k) { return k == 1 ? 1 : (k + 3) / 4 * 4; }

// Sums of some lines, and of all before them: what rounding can do grows with either, not with both. There is no memory for
// the second where all lines are few enough for the first.
class FoldedSums {
 public:
  explicit FoldedSums(size_t count) : part_(count, 0.0) {}
  double* part(size_t lines) {
    if (added_ + lines > fold_lines) fold();
    added_ += lines;
    return part_.data();
  }
  const double* total() {
    fold();
    return all_.data();
  }

 private:
  void fold() {
    added_ = 0;
    if (all_.empty()) {
      all_ = part_;
      std::fill(part_.begin(), part_.end(), 0.0);
    } else {
      for (size_t i = 0; i < part_.size(); i++) all_[i] += part_[i], part_[i] = 0.0;
    }
  }
  size_t added_ = 0;
  std::vector<double> part_, all_;
};

// Lines of float, double or int8 in place, others converted.
template <class T> class PlainLines final : public Multiplier {
 public:
  PlainLines(const Lines& x, const Changes& changes, size_t k) : x_(x), changes_(changes), source_(x), k_(k), part_(group_lines * 4) {}
  size_t most_lines() const override { return source_.most_lines(); }
  void set_vectors(const double* v, size_t from, size_t to) override {
    if (k_ == 1) return void(vectors_ = v + from);
    pitch_ = to - from;
    transposed_.resize(whole_fours(k_) * pitch_);
    for (size_t j = 0; j < whole_fours(k_); j++)
      for (size_t t = from; t < to; t++) transposed_[j * pitch_ + t - from] = j < k_ ? v[t * k_ + j] : 0.0;
    vectors_ = transposed_.data();
  }
  size_t lines_taken() const override { return count_; }
  void take(size_t first, size_t count, size_t from, size_t to) override {
    first_ = first, count_ = count, from_ = from, length_ = to - from;
  }
  void dot(double* sums) override {
    by_stretches([&](size_t t, size_t length, const Group<T>& lines, const Shift& shift, int mode) {
      const auto& kernel = kernels().lines<T>().dot[mode][x_.along];
      if (k_ == 1) return kernel[0](shift, lines.data, lines.stride, count_, length, vectors_ + t, 0, sums);
      for (size_t j = 0; j < k_; j += 4) {
        std::fill_n(part_.data(), count_ * 4, 0.0);
        kernel[1](shift, lines.data, lines.stride, count_, length, vectors_ + j * pitch_ + t, pitch_, part_.data());
        for (size_t i = 0; i < count_; i++)
          for (size_t c = j; c < std::min(j + 4, k_); c++) sums[i * k_ + c] += part_[i * 4 + c - j];
      }
    });
  }
  void add(const double* a, double* y, size_t pitch) override {
    by_stretches([&](size_t t, size_t length, const Group<T>& lines, const Shift& shift, int mode) {
      const auto& kernel = kernels().lines<T>().add[mode][x_.along];
      if (k_ == 1) return kernel[0](shift, lines.data, lines.stride, count_, length, a, y + t, pitch);
      for (size_t j = 0; j < k_; j += 4) {
        for (size_t i = 0; i < count_; i++)
          for (size_t c = j; c < j + 4; c++) part_[i * 4 + c - j] = c < k_ ? a[i * k_ + c] : 0.0;
        kernel[1](shift, lines.data, lines.stride, count_, length, part_.data(), y + j * pitch + t, pitch);
      }
    });
  }

 private:
  // body(first element, elements, lines, what is done to them): so few elements that what is converted stays near
  template <class F> void by_stretches(F body) {
    for (size_t t = 0, length; t < length_; t += length) {
      length = std::min(source_.most_elements(), length_ - t);
      const Group<T> lines = source_.group(first_, count_, from_ + t, from_ + t + length);
      body(t, length, lines, changes_.at(first_, from_ + t), changes_.mode(lines.any_missing));
    }
  }
  const Lines& x_;
  const Changes& changes_;
  Source<T> source_;
  size_t k_, first_ = 0, count_ = 0, from_ = 0, length_ = 0, pitch_ = 0;
  const double* vectors_ = nullptr;
  std::vector<double> transposed_, part_;
};

// A block, what is done to its values, and the vectors: cut into pieces that threads take in turns, so that none waits for one
// that was held up. What pieces add has room of its own, so that sums come out the same whoever is first.
class Job {
 public:
  Job(const Lines& x, const ColumnTransform& s, size_t k, size_t products, int threads)
      : x_(x), s_(s), changes_(x, s), k_(k), by_lut4_(x.packed && multiplies_packed()), threads_(std::max(threads_for(x, products * k, threads), 1)) {}

  // out (lines x k) += lines · v, v length x k
  void dot(const double* v, double* out) const {
    const bool direct = !x_.packed && (x_.type == Type::f32 || x_.type == Type::f64 || x_.type == Type::i8);
    // The vector is short enough for several stretches: the fewer lines are begun, the better what comes next is foreseen.
    const size_t stretch = by_lut4_ ? x_.length : k_ == 1 && !x_.packed ? 4 * long_stretch : stretch_of(k_);
    const size_t together = k_ == 1 && direct ? 4 : group_lines;
    const size_t stretches = (x_.length + stretch - 1) / stretch;
    const size_t reach = (stretches * x_.lines * k_ * sizeof(double) + sums_bytes - 1) / sums_bytes * stretch;  // elements of a piece
    const size_t reaches = (x_.length + reach - 1) / reach;
    const size_t fit = piece_bytes / line_bytes(std::min(x_.length, reach)), share = x_.lines * reaches / (4 * size_t(threads_));
    const size_t lines = std::max<size_t>(std::min(fit, share) / together, 1) * together;
    const size_t batches = (x_.lines + lines - 1) / lines;
    std::vector<double> own(reaches > 1 ? reaches * x_.lines * k_ : 0, 0.0);
    auto team = multipliers();
    parallel_for(reaches * batches, 1, threads_, [&](size_t piece, size_t, int number) {
      Multiplier& multiplier = *team[size_t(number)];
      const size_t from = piece / batches * reach, to = std::min(x_.length, from + reach);
      const size_t first = piece % batches * lines, last = std::min(x_.lines, first + lines);
      double* sums = reaches > 1 ? own.data() + piece / batches * x_.lines * k_ : out;
      for (size_t t = from; t < to; t += stretch) {
        const size_t end = std::min(to, t + stretch), most = together < group_lines ? together : multiplier.most_lines();
        multiplier.set_vectors(v, t, end);
        for (size_t line = first; line < last; line += most) {
          const size_t count = std::min(most, last - line);
          multiplier.take(line, count, t, end);
          multiplier.dot(sums + line * k_);
        }
        throw_if_interrupted();
      }
    });
    for (size_t i = 0; i < own.size(); i++) out[i % (x_.lines * k_)] += own[i];
  }

  // out (length x k) += Σ a[line] · line, a lines x k
  void add(const double* a, double* out) const {
    const size_t stretch = std::min(stretch_of(k_), x_.length);
    if (by_lut4_ || x_.length < size_t(threads_) * stretch)
      return by_pieces(out, [&](Multiplier& multiplier, size_t line, double* y) { multiplier.add(a + line * k_, y, x_.length); });
    // Elements are shared out: each has all of its lines from the same thread.
    auto team = multipliers();
    const size_t grain = stretch * std::max(piece_bytes / line_bytes(stretch) / x_.lines, size_t(1));
    parallel_for(x_.length, grain, threads_, [&](size_t begin, size_t end, int number) {
      Multiplier& multiplier = *team[size_t(number)];
      std::vector<double> y(whole_fours(k_) * stretch);
      for (size_t t = begin; t < end; t += stretch) {
        const size_t to = std::min(end, t + stretch), most = multiplier.most_lines();
        for (size_t fold = 0; fold < x_.lines; fold += fold_lines) {
          std::fill(y.begin(), y.end(), 0.0);
          const size_t last = std::min(x_.lines, fold + fold_lines);
          for (size_t line = fold; line < last; line += most) {
            multiplier.take(line, std::min(most, last - line), t, to);
            multiplier.add(a + line * k_, y.data(), stretch);
          }
          add_transposed(y.data(), stretch, t, to, out);
          throw_if_interrupted();
        }
      }
    });
  }

  // w = lines · a, scaled, and out += Σ w[line] · line, scaled once more
  void normal(const double* a, double* w, double* out) const {
    if (x_.along || few_long_lines()) {
      // Rows are gone through twice, each time in long stretches: narrow panels of columns, which would still be near when they
      // are used a second time, take longer, as the CPU does not foresee where the next piece of a row begins.
      std::fill_n(w, x_.columns() * k_, 0.0);
      x_.along ? add(a, w) : dot(a, w);
      std::vector<double> twice(x_.columns() * k_);
      scale(w, 0, x_.columns(), twice.data());
      return x_.along ? dot(twice.data(), out) : add(twice.data(), out);
    }
    by_pieces(out, [&](Multiplier& multiplier, size_t line, double* y) {
      const size_t count = multiplier.lines_taken();
      std::vector<double> scaled(count * k_);
      std::fill_n(w + line * k_, count * k_, 0.0);
      multiplier.dot(w + line * k_);
      scale(w + line * k_, line, count, scaled.data());
      multiplier.add(scaled.data(), y, x_.length);
    }, a);
  }

 private:
  std::vector<std::unique_ptr<Multiplier>> multipliers() const {
    std::vector<std::unique_ptr<Multiplier>> team;
    for (int t = 0; t < threads_; t++) {
      if (by_lut4_) team.push_back(packed_lines(x_, s_, k_));
      else if (x_.type == Type::i8 && !x_.packed) team.push_back(std::make_unique<PlainLines<int8_t>>(x_, changes_, k_));
      else with_line_type(x_, [&](auto zero) { team.push_back(std::make_unique<PlainLines<decltype(zero)>>(x_, changes_, k_)); });
    }
    return team;
  }
  size_t line_bytes(size_t length) const { return std::max<size_t>(x_.packed ? length / 4 : length * x_.item(), 1); }
  // Lines are few, and so long that sums of each thread's own would cost more.
  bool few_long_lines() const { return !x_.packed && x_.lines < group_lines && x_.length >= size_t(threads_) * stretch_of(k_); }
  // y: the sums of the elements [from, to), one vector after the other
  void add_transposed(const double* y, size_t pitch, size_t from, size_t to, double* out) const {
    for (size_t t = from; t < to; t++)
      for (size_t j = 0; j < k_; j++) out[t * k_ + j] += y[j * pitch + t - from];
  }
  // Scales the sums of columns; `twice` is what is multiplied with the columns as they are stored.
  void scale(double* sums, size_t first, size_t count, double* twice) const {
    for (size_t i = 0; i < count * k_; i++) {
      const double factor = s_.scale ? s_.scale[first + i / k_] : 1.0;
      sums[i] *= factor;
      twice[i] = sums[i] * factor;
    }
  }
  // body(multiplier, first line, sums of all elements), a few whole lines at a time; v: what is set first, if anything
  template <class F> void by_pieces(double* out, F body, const double* v = nullptr) const {
    const size_t rows = by_lut4_ ? k_ : whole_fours(k_);
    const size_t room = std::max<size_t>(sums_bytes / (rows * x_.length * sizeof(double)), 1);
    const size_t wanted = std::min({room, most_pieces, x_.lines * line_bytes(x_.length) / piece_bytes});
    const size_t groups = (x_.lines + group_lines - 1) / group_lines;
    const size_t pieces = std::min(groups, std::max(wanted, size_t(threads_)));
    std::vector<std::unique_ptr<FoldedSums>> own(pieces);
    auto team = multipliers();
    const size_t fits = std::max<size_t>(4, near_bytes / (x_.type == Type::f64 ? 8 : 4) / x_.length / 4 * 4);
    parallel_for(pieces, 1, threads_, [&](size_t piece, size_t, int number) {
      Multiplier& multiplier = *team[size_t(number)];
      own[piece] = std::make_unique<FoldedSums>(rows * x_.length);
      if (v) multiplier.set_vectors(v, 0, x_.length);
      const size_t begin = groups * piece / pieces * group_lines, end = std::min(x_.lines, groups * (piece + 1) / pieces * group_lines);
      const size_t most = by_lut4_ ? multiplier.most_lines() : std::min(multiplier.most_lines(), v ? fits : group_lines);
      for (size_t line = begin; line < end; line += most) {
        const size_t count = std::min(most, end - line);
        multiplier.take(line, count, 0, x_.length);
        body(multiplier, line, own[piece]->part(count));
        throw_if_interrupted();
      }
    });
    for (const auto& sums : own) add_transposed(sums->total(), x_.length, 0, x_.length, out);
  }

  const Lines& x_;
  const ColumnTransform& s_;
  const Changes changes_;
  const size_t k_;
  const bool by_lut4_;
  const int threads_;
};

}  // namespace

void block_dot(const Lines& x, const ColumnTransform& s, const double* w, size_t k, double* out, int threads) {
  if (x.lines == 0 || x.length == 0 || k == 0) return;
  const Job job(x, s, k, 1, threads);
  x.along ? job.dot(w, out) : job.add(w, out);
}

void block_tdot(const Lines& x, const ColumnTransform& s, const double* a, size_t k, double* out, int threads) {
  if (x.lines == 0 || x.length == 0 || k == 0) return;
  const Job job(x, s, k, 1, threads);
  x.along ? job.add(a, out) : job.dot(a, out);
}

void block_normal(const Lines& x, const ColumnTransform& s, const double* a, size_t k, double* w, double* out, int threads) {
  if (x.columns() == 0 || k == 0) return;
  if (x.rows() == 0) return void(std::fill_n(w, x.columns() * k, 0.0));
  Job(x, s, k, 2, threads).normal(a, w, out);
}

namespace {

// A bound for sums of bytes in any way that has been used, which certificates of earlier versions rest on: larger than that of
// the sums above needs to be.
size_t longest_byte_sum(size_t length) {
  const size_t stretches = length / short_stretch + 1;
  return std::clamp<size_t>(length, 16, 16384) + 187 + 4 * stretches;
}

}  // namespace

size_t longest_row_sum(size_t length, bool of_bytes, int threads) {
  // A stretch is summed up in two sums or more, one a lane, which are added together, and to the stretches before; and the sums
  // of pieces are added to each other.
  constexpr size_t fewest_lanes = 2, most_lanes = 16;
  const size_t in_lanes = long_stretch / fewest_lanes + 2 * most_lanes + length / short_stretch + 1 + size_t(std::max(threads, 1));
  const size_t at_most = std::min(length, in_lanes);
  return of_bytes ? std::max(at_most, longest_byte_sum(length)) : at_most;
}

size_t longest_line_sum(size_t lines, bool of_bytes, int threads) {
  if (of_bytes) return std::max(lines, longest_byte_sum(lines)) + lines / 512 + 1 + size_t(std::max(threads, 1));
  const size_t folded = fold_lines + lines / fold_lines + 1 + std::max(most_pieces, size_t(std::max(threads, 1)));
  return std::min(lines, folded);
}

}  // namespace slimline
