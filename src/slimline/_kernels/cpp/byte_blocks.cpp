#include "byte_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "digits.hpp"
#include "parallel.hpp"
#include "ranges.hpp"

namespace slimline {
namespace {

constexpr size_t group_lines = 64;  // lines that are worked on together, at most
constexpr size_t shift_chains = 8;  // sums side by side, for centres

// Places that are done together, multiples of 256.
constexpr size_t long_stretch = 4096, short_stretch = 1024;
size_t stretch_of(size_t k) { return k <= 4 ? long_stretch : short_stretch; }

int threads_for(const Lines& x, size_t k, int threads) {
  return worthwhile_threads(double(x.lines) * double(x.length) * double(k) * 0.06, threads);
}

// What a missing value counts as: nothing, or a number, for which those that are missing are counted apart. One that nothing
// fills makes a sum NaN, which is how it is found.
enum class Missing { none, zero, filled, unfilled };
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

// Lines of bytes, and what is done about missing ones: looked at once for all workers.
struct Bytes {
  const Lines& x;
  const Standard& s;
  const ByteKernels& kernel = kernels().bytes[x.type == Type::u8];
  const uint8_t code = x.type == Type::i8 ? uint8_t(int8_t(s.missing)) : uint8_t(s.missing);
  const Missing missing = missing_of();
  const bool lists = (missing == Missing::filled || missing == Missing::unfilled) && kernel.dot_listing && few_are_missing();

  Bytes(const Lines& lines, const Standard& standard) : x(lines), s(standard) {}

 private:
  Missing missing_of() const {
    if (!s.has_missing) return Missing::none;
    if (!s.fill) return Missing::unfilled;
    return std::all_of(s.fill, s.fill + x.columns(), [](double fill) { return fill == 0; }) ? Missing::zero : Missing::filled;
  }
  // One value in 32 at most, as far as a look here and there tells: then a list of them takes less time than counting all.
  bool few_are_missing() const {
    constexpr size_t looks = 32, width = 64, few = 32;
    size_t seen = 0, found = 0;
    for (size_t i = 0; i < looks; i++)
      for (size_t j = 0; j < looks; j++) {
        const size_t spread = i * looks + i * 13 % looks;  // no steady distance, which the data may have, too
        const char* line = x.data + ptrdiff_t(spread * x.lines / (looks * looks)) * x.stride;
        const size_t from = j * x.length / looks, to = std::min(x.length, from + width);
        found += size_t(std::count(line + from, line + to, char(code)));
        seen += to - from;
      }
    return found * few <= seen;
  }
};

class Worker {
 public:
  Worker(const Bytes& bytes, size_t k, size_t stretch)
      : x_(bytes.x), s_(bytes.s), kernel_(bytes.kernel), k_(k), stretch_(stretch), missing_(bytes.missing), lists_(bytes.lists), code_(bytes.code) {}

  // What the places [from, to) are multiplied with from now on.
  void set_vectors(const double* v, size_t from, size_t to) {
    const size_t places = kernels().digits.places, runs = (to - from + places - 1) / places;
    shift_.assign(k_, 0.0);
    if (absent_apart() || lists_) numbers_.resize(k_ * (to - from));
    while (along_.size() < runs * k_) along_.emplace_back(places);
    while (absent_apart() && !lists_ && instead_.size() < runs * k_) instead_.emplace_back(places);
    for (size_t j = 0; j < k_; j++) {
      double* numbers = numbers_.data() + j * (to - from);
      if (!numbers_.empty()) for (size_t t = from; t < to; t++) numbers[t - from] = instead_of(v[t * k_ + j], t);
      for (size_t r = 0; r < runs; r++) {
        const size_t begin = r * places, count = std::min(places, to - from - begin);
        along_[r * k_ + j].set(v + (from + begin) * k_ + j, k_, count, true, digit_tolerance(x_.length), scratch_);
        if (absent_apart() && !lists_) instead_[r * k_ + j].set(numbers + begin, 1, count, true, digit_tolerance(x_.length), scratch_);
      }
      // centred along the line: the same for all lines; by line: the sum of the vector, times the line's centre
      if (s_.centre) {
        double part[shift_chains] = {};
        for (size_t t = from; t < to; t++) part[t % shift_chains] += (x_.along ? s_.centre[t] : 1.0) * v[t * k_ + j];
        for (double sum : part) shift_[j] += sum;
      }
    }
  }
  // out[line, j] += lines · vectors
  void dot(size_t first, size_t count, size_t from, size_t to, double* out) {
    double present[group_lines], absent[group_lines];
    const size_t places = kernels().digits.places;
    for (size_t j = 0; j < k_; j++) {
      std::fill_n(absent, count, 0.0);
      for (size_t t = from, run = j; t < to; t += places, run += k_) {
        const size_t length = std::min(places, to - t);
        std::fill_n(present, count, 0.0);
        if (lists_) {
          dot_listing(along_[run], first, count, t, length, present, numbers_.data() + j * (to - from) + (t - from), absent);
        } else {
          dot_run(values(), along_[run], first, count, t, length, present);
          if (counts_absent()) dot_run(Counted::absent, (absent_apart() ? instead_ : along_)[run], first, count, t, length, absent);
        }
        for (size_t i = 0; i < count; i++) out[i * k_ + j] += present[i];
      }
      for (size_t i = 0; i < count; i++) {
        double& sum = out[i * k_ + j];
        if (missing_ == Missing::unfilled && absent[i] != 0) sum = nothing;
        if (missing_ == Missing::filled) sum += x_.along ? absent[i] : s_.fill[first + i] * absent[i];
        if (s_.centre) sum -= shift_[j] * (x_.along ? 1.0 : s_.centre[first + i]);
      }
    }
  }

  // y[j * pitch + place - from] += Σ a[line, j] · line, over the lines [first, last)
  void add(size_t first, size_t last, size_t from, size_t to, const double* a, double* y, size_t pitch) {
    std::vector<double> shift(k_, 0.0), numbers(digit_lines);
    for (size_t run = first; run < last; run += digit_lines) {
      const size_t end = std::min(last, run + digit_lines);
      for (size_t j = 0; j < k_; j++) {
        weights_.set(a + run * k_ + j, k_, end - run, false, digit_tolerance(x_.lines), scratch_);
        if (!counts_absent()) {
          add_run(values(), weights_, run, end, from, to, y + j * pitch);
          continue;
        }
        absent_.assign(to - from, 0.0);
        for (size_t l = run; l < end; l++) numbers[l - run] = missing_ == Missing::unfilled ? 1.0 : (x_.along ? 1.0 : s_.fill[l]) * a[l * k_ + j];
        if (lists_) {
          add_listing(weights_, run, end, from, to, y + j * pitch, numbers.data());
        } else {
          add_run(values(), weights_, run, end, from, to, y + j * pitch);
          weights_.set(numbers.data(), 1, end - run, false, digit_tolerance(x_.lines), scratch_);
          add_run(Counted::absent, weights_, run, end, from, to, absent_.data());
        }
        for (size_t t = 0; t < to - from; t++) {
          double& sum = y[j * pitch + t];
          if (missing_ == Missing::filled) sum += (x_.along ? s_.fill[from + t] : 1.0) * absent_[t];
          else if (absent_[t] != 0) sum = nothing;
        }
      }
      if (s_.centre)
        for (size_t l = run; l < end; l++)
          for (size_t j = 0; j < k_; j++) shift[j] += a[l * k_ + j] * (x_.along ? 1.0 : s_.centre[l]);
    }
    if (s_.centre)
      for (size_t j = 0; j < k_; j++)
        for (size_t t = from; t < to; t++) y[j * pitch + t - from] -= shift[j] * (x_.along ? s_.centre[t] : 1.0);
  }

 private:
  Counted values() const { return missing_ == Missing::none ? Counted::all : Counted::present; }
  bool counts_absent() const { return missing_ == Missing::filled || missing_ == Missing::unfilled; }
  // `dot`: whether missing values are multiplied with other numbers than those that are there: their number is wanted where
  // nothing fills them, and a fill may differ from place to place
  bool absent_apart() const { return missing_ == Missing::unfilled || (missing_ == Missing::filled && x_.along); }
  const char* at(size_t line, size_t place) const { return x_.data + ptrdiff_t(line) * x_.stride + ptrdiff_t(place); }
  // What a missing value at place t, or on a line of its own fill, adds to the sum of a line, where v is what it is multiplied with.
  double instead_of(double v, size_t t) const { return missing_ == Missing::unfilled ? 1.0 : x_.along ? s_.fill[t] * v : v; }
  void dot_run(Counted part, const DigitSets& sets, size_t first, size_t count, size_t from, size_t length, double* out) const {
    for (const Digits& d : sets)
      if (d.scale != 0) kernel_.dot[int(part)](at(first, from), x_.stride, code_, count, length, d.at(0), d.pitch(), d.scale, out);
  }
  // The first set has all that is listed, even if all of its numbers are 0 and count nothing.
  void dot_listing(const DigitSets& sets, size_t first, size_t count, size_t from, size_t length, double* out, const double* instead, double* absent) const {
    bool listed = false;
    for (const Digits& d : sets) {
      const char* x = at(first, from);
      if (!listed) kernel_.dot_listing(x, x_.stride, code_, count, length, d.at(0), d.pitch(), d.scale, out, instead, absent);
      else if (d.scale != 0) kernel_.dot[int(Counted::present)](x, x_.stride, code_, count, length, d.at(0), d.pitch(), d.scale, out);
      listed = true;
    }
  }
  void add_run(Counted part, const DigitSets& sets, size_t first, size_t last, size_t from, size_t to, double* y) {
    for (const Digits& d : sets) {
      if (d.scale == 0) continue;
      throw_if_interrupted();
      kernel_.add[int(part)](at(first, from), x_.stride, code_, last - first, to - from, d.at(0), d.pitch(), room(), stretch_);
      kernels().digits.flush(sums_.data(), stretch_, to - from, d.scale, y);
    }
  }
  void add_listing(const DigitSets& sets, size_t first, size_t last, size_t from, size_t to, double* y, const double* instead) {
    bool listed = false;
    for (const Digits& d : sets) {
      if (listed && d.scale == 0) continue;
      throw_if_interrupted();
      const char* x = at(first, from);
      if (!listed) kernel_.add_listing(x, x_.stride, code_, last - first, to - from, d.at(0), d.pitch(), room(), stretch_, instead, absent_.data());
      else kernel_.add[int(Counted::present)](x, x_.stride, code_, last - first, to - from, d.at(0), d.pitch(), room(), stretch_);
      kernels().digits.flush(sums_.data(), stretch_, to - from, d.scale, y);
      listed = true;
    }
  }
  int32_t* room() {
    sums_.resize(size_t(kernels().digits.count) * stretch_);
    return sums_.data();
  }
  const Lines& x_;
  const Standard& s_;
  const ByteKernels& kernel_;
  const size_t k_, stretch_;
  const Missing missing_;
  const bool lists_;
  const uint8_t code_;
  std::vector<DigitSets> along_, instead_;  // instead_: what a missing value adds, where that is no multiple of along_
  DigitSets weights_{digit_lines};
  DigitScratch scratch_;
  std::vector<double> shift_, numbers_, absent_;
  Aligned<int32_t> sums_;
};

}  // namespace

bool bytes_by_digits(const Lines& x, const Standard& s, const double* v, size_t rows, size_t k) {
  const DigitKernels& kernel = kernels().digits;
  if (x.packed || (x.type != Type::i8 && x.type != Type::u8) || k > kernel.most_vectors || x.lines < kernel.fewest_lines) return false;
  return digits_hold(v, rows * k) && (!s.has_missing || !s.fill || digits_hold(s.fill, x.columns(), 1e50)) && (!s.factor || digits_hold(s.factor, x.columns(), 1e50));
}

size_t longest_byte_sum(size_t length) {
  // What digits leave out; three times nine roundings when they are put together (what they stand for, without signs, is up to
  // three times the number); the sets of digits of what is there in a run, or of what is absent in the runs of a stretch, and
  // the centres of a stretch, of which each has no more than its own; then runs, what is absent and centres, one after another.
  // A list of what is absent has four sums side by side, so fewer than a quarter of `length` and a few additions follow each other.
  const size_t stretches = length / short_stretch + 1, runs = 2 * stretches;
  const size_t of_digits = std::clamp(length, least_lost, most_lost) + 27 + 4 * DigitSets::most_sets;
  const size_t of_centres = std::min(length, long_stretch) / shift_chains + shift_chains + 1;
  return std::max(of_digits, of_centres) + runs + 2 * stretches;
}

void byte_lines_dot(const Lines& x, const Standard& s, const double* v, size_t k, double* out, int threads) {
  // Threads take pieces, one or more stretches, in turns, so that none waits for one that was held up, and what a piece adds has
  // room of its own, so that sums come out the same whoever is first; where pieces would be few, each thread has lines.
  constexpr size_t room = size_t(4) << 20, many = 8;  // bytes of all sums; pieces for each thread
  const size_t stretch = stretch_of(k), stretches = (x.length + stretch - 1) / stretch;
  const size_t pieces = std::min(stretches, room / (x.lines * k * sizeof(double)));
  threads = threads_for(x, k, threads);
  const Bytes bytes(x, s);
  auto lines_of_stretch = [&](Worker& worker, size_t t, size_t begin, size_t end, double* sums) {
    const size_t to = std::min(x.length, t + stretch);
    worker.set_vectors(v, t, to);
    for (size_t line = begin; line < end; line += group_lines) worker.dot(line, std::min(group_lines, end - line), t, to, sums + line * k);
    throw_if_interrupted();
  };
  if (threads == 1 || pieces < size_t(threads) * many) {
    in_ranges(x.lines, 4, threads, [&](size_t begin, size_t end, size_t) {
      Worker worker(bytes, k, stretch);
      for (size_t t = 0; t < x.length; t += stretch) lines_of_stretch(worker, t, begin, end, out);
    });
    return;
  }
  const size_t count = x.lines * k;
  std::vector<double> sums(pieces * count, 0.0);
  parallel_for(pieces, 1, threads, [&](size_t piece, size_t, int) {
    Worker worker(bytes, k, stretch);
    for (size_t i = stretches * piece / pieces; i < stretches * (piece + 1) / pieces; i++) lines_of_stretch(worker, i * stretch, 0, x.lines, sums.data() + piece * count);
  });
  for (size_t piece = 0; piece < pieces; piece++)
    for (size_t i = 0; i < count; i++) out[i] += sums[piece * count + i];
}

void byte_lines_add(const Lines& x, const Standard& s, const double* a, size_t k, double* out, int threads) {
  const size_t stretch = stretch_of(k);
  threads = threads_for(x, k, threads);
  const Bytes bytes(x, s);
  auto by_places = [&](size_t first, size_t last, size_t begin, size_t end, double* sums) {
    Worker worker(bytes, k, stretch);
    std::vector<double> y(k * stretch);
    for (size_t t = begin; t < end; t += stretch) {
      const size_t to = std::min(end, t + stretch);
      std::fill(y.begin(), y.end(), 0.0);
      worker.add(first, last, t, to, a, y.data(), stretch);
      for (size_t place = t; place < to; place++)
        for (size_t j = 0; j < k; j++) sums[place * k + j] += y[j * stretch + place - t];
      throw_if_interrupted();
    }
  };
  if (x.length >= size_t(threads) * stretch) {
    // in turns: every place has all of its lines from the same thread
    parallel_for(x.length, stretch, threads, [&](size_t begin, size_t end, int) { by_places(0, x.lines, begin, end, out); });
    return;
  }
  std::vector<std::vector<double>> own(static_cast<size_t>(threads));
  in_ranges(x.lines, group_lines, threads, [&](size_t begin, size_t end, size_t w) {
    own[w].assign(x.length * k, 0.0);
    by_places(begin, end, 0, x.length, own[w].data());
  });
  for (const auto& sums : own)
    for (size_t i = 0; i < sums.size(); i++) out[i] += sums[i];
}

void byte_normal(const Lines& x, const Standard& s, const double* a, size_t k, double* w, double* out, int threads) {
  threads = threads_for(x, 2 * k, threads);
  const Bytes bytes(x, s);
  std::vector<std::vector<double>> own(static_cast<size_t>(threads));
  const size_t length = (x.length + 255) / 256 * 256;
  in_ranges(x.lines, group_lines, threads, [&](size_t begin, size_t end, size_t id) {
    Worker worker(bytes, k, length);
    worker.set_vectors(a, 0, x.length);
    own[id].assign(k * x.length, 0.0);
    std::vector<double> scaled(group_lines * k);
    for (size_t line = begin; line < end; line += group_lines) {
      const size_t count = std::min(group_lines, end - line);
      double* sums = w + line * k;
      std::fill_n(sums, count * k, 0.0);
      worker.dot(line, count, 0, x.length, sums);
      for (size_t i = 0; i < count * k; i++) {
        const double factor = s.factor ? s.factor[line + i / k] : 1.0;
        sums[i] *= factor;
        scaled[i] = sums[i] * factor;
      }
      worker.add(line, line + count, 0, x.length, scaled.data() - ptrdiff_t(line * k), own[id].data(), x.length);
      throw_if_interrupted();
    }
  });
  for (const auto& sums : own)
    if (!sums.empty())
      for (size_t i = 0; i < x.length; i++)
        for (size_t j = 0; j < k; j++) out[i * k + j] += sums[j * x.length + i];
}

}  // namespace slimline
