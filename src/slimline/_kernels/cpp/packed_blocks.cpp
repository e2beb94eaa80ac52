#include "packed_blocks.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "digits.hpp"
#include "file_rows.hpp"
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

// Some lines at a time: those of a file are read into the nearer caches.
class NearLines {
 public:
  explicit NearLines(const Lines& x) : x_(x) {}
  const uint8_t* at(size_t first, size_t count) {
    if (x_.data) return reinterpret_cast<const uint8_t*>(x_.data) + ptrdiff_t(first) * x_.stride;
    // by the thread that uses it, and not cleared
    if (!memory_) memory_.reset(new char[std::min(lines_together(x_), x_.lines) * size_t(x_.stride)]);
    read_bytes(x_.descriptor, x_.offset + int64_t(first) * x_.stride, memory_.get(), count * size_t(x_.stride));
    return reinterpret_cast<const uint8_t*>(memory_.get());
  }

 private:
  const Lines& x_;
  std::unique_ptr<char[]> memory_;
};

// A vector of a number a person, written in digits once for all lines and threads.
class DigitsOfPeople {
 public:
  DigitsOfPeople(const Lines& x, const Standard& s, const double* v, size_t k) {
    if (!kernels().packed.dot_digits || k != 1 || x.lines < kernels().digits.fewest_lines || !digits_hold(v, x.length)) return;
    DigitScratch scratch;
    for (size_t i = 0; i < x.length; i += places()) {
      const size_t count = std::min(places(), x.length - i);
      runs_.emplace_back(places());
      runs_.back().set(v + i, 1, count, true, digit_tolerance(x.length), scratch);
      totals_.push_back(0.0);
      for (size_t j = i; j < i + count; j++) totals_.back() += v[j];
    }
    if (s.fill) instead_.assign(v, v + x.length);
    else instead_.assign(x.length, 1.0);  // how many there are is what tells that one is missing
  }
  bool any() const { return !runs_.empty(); }
  // sums[line] += Σ value · v of lines with few missing calls; of each line there are four values, by code
  void dot(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t people, const double* value, double* sums) const {
    bool counts_missing = false;
    for (size_t l = 0; l < lines; l++) counts_missing |= !(value[4 * l + 1] == value[4 * l + 3]);  // a missing call is no copy
    std::vector<double> copies(lines), missing(lines);
    for (size_t run = 0; run < runs_.size(); run++) {
      const size_t begin = run * places(), count = std::min(places(), people - begin);
      std::fill(copies.begin(), copies.end(), 0.0), std::fill(missing.begin(), missing.end(), 0.0);
      const double* instead = counts_missing ? instead_.data() + begin : nullptr;
      for (const Digits& d : runs_[run]) {  // the first has all that is listed, even if its numbers are 0
        if (d.scale != 0 || instead)
          kernels().packed.dot_digits(packed + begin / 4, stride, lines, count, d.at(0), d.pitch(), d.scale, copies.data(), instead, missing.data());
        instead = nullptr;
      }
      for (size_t l = 0; l < lines; l++, value += 4) {
        sums[l] += (value[2] - value[3]) * copies[l] + value[3] * totals_[run];
        if (value[1] == value[1]) sums[l] += (value[1] - value[3]) * missing[l];
        else if (missing[l] != 0) sums[l] = value[1];  // NaN, whatever it is multiplied with
      }
      value -= 4 * lines;
    }
  }

 private:
  static size_t places() { return kernels().digits.places; }
  std::vector<DigitSets> runs_;
  std::vector<double> totals_, instead_;
};

// Whether one call in 32 at most is missing, as far as some of the lines tell.
bool few_are_missing(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t people) {
  constexpr size_t looks = 16, few = 32;
  size_t found = 0;
  for (size_t i = 0; i < looks; i++) {
    size_t of_code[4];
    const size_t spread = i * looks + i * 7 % looks;  // no steady distance, which the data may have, too
    kernels().count_calls(packed + ptrdiff_t(spread * lines / (looks * looks)) * stride, people, of_code);
    found += of_code[1];
  }
  return found * few <= looks * people;
}

// One for each thread.
template <class T, class... Arguments> std::vector<T> team_of(int threads, const Arguments&... arguments) {
  std::vector<T> team;
  for (int t = 0; t < std::max(threads, 1); t++) team.emplace_back(arguments...);
  return team;
}

class Worker {
 public:
  Worker(const Lines& x, const Standard& s, size_t k) : x_(x), s_(s), k_(k), near_(x), value_(lines_together(x) * 4) {}

  // Takes up to `lines_together` lines. Those in memory are brought near one after the other: the kernels go through them a
  // few people at a time, which the CPU does not foresee.
  void take(size_t first, size_t count) {
    count_ = count, lines_ = near_.at(first, count);
    if (x_.data)
      for (size_t l = 0; l < count; l++) kernels().read(lines_ + ptrdiff_t(l) * x_.stride, (x_.length + 3) / 4);
    for (size_t l = 0; l < count; l++)
      set_genotype_values(s_.fill ? s_.fill + first + l : nullptr, s_.centre ? s_.centre[first + l] : 0.0, 1.0, value_.data() + 4 * l);
  }
  // sums[line, j] += lines · vectors; v holds them one after the other, and `digits` the only one, if any
  void dot(const double* v, const DigitsOfPeople& digits, double* sums) const {
    if (digits.any() && few_are_missing(lines_, x_.stride, count_, x_.length)) return digits.dot(lines_, x_.stride, count_, x_.length, value_.data(), sums);
    for (size_t j = 0; j < k_; j += most_vectors) {
      const size_t here = std::min(most_vectors, k_ - j), stretch = near_values / here;
      for (size_t i = 0; i < x_.length; i += stretch)
        kernels().packed.dot(lines_ + i / 4, x_.stride, count_, std::min(stretch, x_.length - i), value_.data(), v + j * x_.length + i, x_.length, here, sums + j, k_);
    }
  }
  // y[j, person] += Σ w[line, j] · line
  void add(const double* w, double* y) const {
    for (size_t j = 0; j < k_; j += most_vectors) {
      const size_t here = std::min(most_vectors, k_ - j), stretch = near_values / here;
      for (size_t i = 0; i < x_.length; i += stretch)
        kernels().packed.add(lines_ + i / 4, x_.stride, count_, std::min(stretch, x_.length - i), value_.data(), w + j, k_, here, y + j * x_.length + i, x_.length);
    }
  }

 private:
  const Lines& x_;
  const Standard& s_;
  size_t k_, count_ = 0;
  const uint8_t* lines_ = nullptr;
  NearLines near_;
  std::vector<double> value_;
};

// body(worker, first line, count, sums): pieces of the lines, each with sums (k x people) of its own, which are added to `out`
// (people x k) in the end, in their order. There are more pieces than threads, where sums are small: a thread that has to
// wait for its CPU, or for the disk, leaves them to the others.
template <class F> void with_own_sums(const Lines& x, const Standard& s, size_t k, double* out, int threads, F body) {
  constexpr size_t most_pieces = 16, sums_bytes = size_t(4) << 20;
  const size_t fit = std::clamp<size_t>(sums_bytes / (k * x.length * sizeof(double)), 1, most_pieces);
  const size_t groups = (x.lines + lines_together(x) - 1) / lines_together(x);
  const size_t pieces = std::min(groups, std::max(fit, size_t(std::max(threads, 1))));
  std::vector<std::vector<double>> own(pieces);
  auto team = team_of<Worker>(threads, x, s, k);
  parallel_for(pieces, 1, threads, [&](size_t piece, size_t, int number) {
    Worker& worker = team[size_t(number)];
    own[piece].assign(k * x.length, 0.0);
    const size_t end = std::min(x.lines, groups * (piece + 1) / pieces * lines_together(x));
    for (size_t line = groups * piece / pieces * lines_together(x); line < end; line += lines_together(x)) {
      const size_t count = std::min(lines_together(x), end - line);
      worker.take(line, count);
      body(worker, line, count, own[piece].data());
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
  const DigitsOfPeople digits(x, s, vectors.data(), k);
  const int team = threads_for(x, k, threads);
  const size_t share = (x.lines / (4 * size_t(team)) + 7) / 8 * 8;  // of a block with many people there are few lines
  auto workers = team_of<Worker>(team, x, s, k);
  parallel_for(x.lines, std::clamp<size_t>(share, 8, lines_together(x)), team, [&](size_t line, size_t end, int number) {
    Worker& worker = workers[size_t(number)];
    worker.take(line, end - line);
    worker.dot(vectors.data(), digits, out + line * k);
    throw_if_interrupted();
  });
}

void packed_dot(const Lines& x, const Standard& s, const double* w, size_t k, double* out, int threads) {
  with_own_sums(x, s, k, out, threads_for(x, k, threads), [&](const Worker& worker, size_t line, size_t, double* sums) {
    worker.add(w + line * k, sums);
  });
}

void packed_normal(const Lines& x, const Standard& s, const double* a, size_t k, double* w, double* out, int threads) {
  const std::vector<double> vectors = turned(a, x.length, k);
  const DigitsOfPeople digits(x, s, vectors.data(), k);
  with_own_sums(x, s, k, out, threads_for(x, 2 * k, threads), [&](const Worker& worker, size_t line, size_t count, double* sums) {
    std::vector<double> scaled(count * k);
    std::fill_n(w + line * k, count * k, 0.0);
    worker.dot(vectors.data(), digits, w + line * k);
    for (size_t i = 0; i < count * k; i++) {
      const double factor = s.factor ? s.factor[line + i / k] : 1.0;
      w[line * k + i] *= factor;
      scaled[i] = w[line * k + i] * factor;
    }
    worker.add(scaled.data(), sums);
  });
}

// The numbers of people with each code say all, without rounding but at the end.
void packed_statistics(const Lines& x, const Moments& m, int threads) {
  auto near = team_of<NearLines>(threads, x);
  parallel_for(x.lines, lines_together(x), threads, [&](size_t begin, size_t end, int worker) {
    const uint8_t* line = near[size_t(worker)].at(begin, end - begin);
    for (size_t v = begin; v < end; v++, line += x.stride) {
      size_t of_code[4];
      kernels().count_calls(line, x.length, of_code);
      const size_t called = x.length - of_code[1], sum = 2 * of_code[0] + of_code[2], squares = 4 * of_code[0] + of_code[2];
      m.weight[v] = double(called), m.mean[v] = called ? double(sum) / double(called) : 0.0;
      m.deviation[v] = called ? double(__int128(called) * __int128(squares) - __int128(sum) * __int128(sum)) / double(called) : 0.0;
      m.nonzeros[v] = int64_t(of_code[0] + of_code[2]), m.missing[v] = int64_t(of_code[1]);
    }
    throw_if_interrupted();
  });
}

}  // namespace slimline
