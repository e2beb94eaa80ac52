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

// Those that are copied stay near; the kernels fetch a few lines ahead, so there should be several times that many.
size_t together(const Standard& s) { return s.has_missing ? 32 : group_lines; }

size_t stretch_of(size_t k) { return k == 1 ? 4096 : 1024; }  // places that are done together; a multiple of 256

int threads_for(const Lines& x, size_t k, int threads) {
  return worthwhile_threads(double(x.lines) * double(x.length) * double(k) * 0.06, threads);
}

// Bytes of some lines at some places, missing ones as 0; and where those are.
class Source {
 public:
  // Lines are not a power of two apart: those would get in each other's way in the cache.
  Source(const Lines& x, const Standard& s, size_t stretch) : x_(x), s_(s), pitch_((std::min(stretch, x.length) + 63) / 64 * 64 + 64) {
    if (!may_miss()) return;
    const size_t lines = std::min(group_lines, x.lines);
    memory_.resize(lines * pitch_);
    places_.resize(lines * pitch_ + 2);
  }
  // `count` <= group_lines lines; `from` is a multiple of 256, to - from at most the stretch
  void fetch(size_t first, size_t count, size_t from, size_t to) {
    if (!may_miss()) {
      data = x_.data + ptrdiff_t(first) * x_.stride + ptrdiff_t(from), stride = x_.stride;
      return;
    }
    data = reinterpret_cast<const char*>(memory_.data()), stride = ptrdiff_t(pitch_);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
      found = clean(first + i, i, from, to, found);
      ends_[i + 1] = found;
    }
  }
  bool may_miss() const { return s_.has_missing; }
  size_t missing(size_t count) const { return ends_[count]; }
  // f(place) for the missing values of one of the lines that were fetched, places counted from the first that was
  template <class F> void for_missing(size_t i, F f) const {
    for (size_t m = ends_[i]; m < ends_[i + 1]; m++) f(places_[m]);
  }
  const char* data = nullptr;
  ptrdiff_t stride = 0;

 private:
  size_t clean(size_t line, size_t i, size_t from, size_t to, size_t found) {
    const uint8_t code = x_.type == Type::i8 ? uint8_t(int8_t(s_.missing)) : uint8_t(s_.missing);
    const char* bytes = x_.data + ptrdiff_t(line) * x_.stride + ptrdiff_t(from);
    // the line that will be in its place next is on its way while these are added up
    const char* next = bytes + ptrdiff_t(together(s_)) * x_.stride;
    for (size_t t = 0; t < to - from; t += 64) __builtin_prefetch(next + t);
    return found + kernels().clean_bytes(bytes, to - from, code, memory_.data() + i * pitch_, places_.data() + found);
  }
  const Lines& x_;
  const Standard& s_;
  size_t pitch_;
  Aligned<int8_t> memory_;
  std::vector<uint32_t> places_;  // of all lines, one line after the other
  size_t ends_[group_lines + 1] = {};
};

class Worker {
 public:
  Worker(const Lines& x, const Standard& s, size_t k, size_t stretch)
      : source(x, s, stretch), x_(x), s_(s), kernel_(kernels().bytes[x.type == Type::u8]), k_(k), stretch_(stretch) {}

  // What the places [from, to) are multiplied with from now on.
  void set_vectors(const double* v, size_t from, size_t to) {
    const size_t runs = (to - from + digit_places - 1) / digit_places;
    while (along_.size() < runs * k_) along_.emplace_back(digit_places);
    shift_.assign(k_, 0.0);
    if (source.may_miss()) instead_.resize(k_ * stretch_);
    for (size_t j = 0; j < k_; j++) {
      if (source.may_miss())
        for (size_t t = from; t < to; t++) instead_[j * stretch_ + t - from] = x_.along ? fill(t) * v[t * k_ + j] : v[t * k_ + j];
      for (size_t r = 0; r < runs; r++) {
        const size_t begin = from + r * digit_places;
        along_[r * k_ + j].set(v + begin * k_ + j, k_, std::min(digit_places, to - begin), true, tolerance(x_.length));
      }
      // centred along the line: the same for all lines; by line: the sum of the vector, times the line's centre
      if (s_.centre)
        for (size_t t = from; t < to; t++) shift_[j] += (x_.along ? s_.centre[t] : 1.0) * v[t * k_ + j];
    }
  }
  // out[line, j] += lines · vectors, for what the source has fetched
  void dot(size_t first, size_t count, size_t from, size_t to, double* out) {
    for (size_t j = 0; j < k_; j++)
      for (size_t r = 0; r * digit_places < to - from; r++) {
        const DigitSets& sets = along_[r * k_ + j];
        for (size_t i = 0; i < sets.size(); i++)
          if (sets[i].scale != 0)
            kernel_.dot(source.data + ptrdiff_t(r * digit_places), source.stride, count, std::min(digit_places, to - from - r * digit_places),
                        sets[i].data(), sets[i].pitch(), sets[i].scale, out + j, k_);
      }
    for (size_t i = 0; i < count && source.missing(count) > 0; i++)
      for (size_t j = 0; j < k_; j++) {
        const double* instead = instead_.data() + j * stretch_;
        double sum = 0;
        bool any = false;
        source.for_missing(i, [&](uint32_t place) { sum += instead[place], any = true; });
        if (any) out[i * k_ + j] += x_.along ? sum : fill(first + i) * sum;
      }
    if (s_.centre)
      for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < k_; j++) out[i * k_ + j] -= shift_[j] * (x_.along ? 1.0 : s_.centre[first + i]);
  }

  // y[j * pitch + place - from] += Σ a[line, j] · line, over the lines [first, last)
  void add(size_t first, size_t last, size_t from, size_t to, const double* a, double* y, size_t pitch) {
    while (weights_.size() < k_) weights_.emplace_back(digit_lines);
    sums_.resize(k_ * digits * stretch_);
    std::vector<double> shift(k_, 0.0);
    for (size_t run = first; run < last; run += digit_lines) {
      const size_t end = std::min(last, run + digit_lines);
      for (size_t i = 0, sets = set_weights(a, run, end - run); i < sets; i++) {
        for (size_t line = run; line < end; line += together(s_)) {
          const size_t count = std::min(together(s_), end - line);
          source.fetch(line, count, from, to);
          add_fetched(i, line, count, run, from, to, a, y, pitch);
        }
        flush(i, to - from, y, pitch);
      }
      if (s_.centre)
        for (size_t l = run; l < end; l++)
          for (size_t j = 0; j < k_; j++) shift[j] += a[l * k_ + j] * (x_.along ? 1.0 : s_.centre[l]);
    }
    if (s_.centre)
      for (size_t j = 0; j < k_; j++)
        for (size_t t = from; t < to; t++) y[j * pitch + t - from] -= shift[j] * (x_.along ? s_.centre[t] : 1.0);
  }
  // as `add`, for lines that the source has fetched already
  void add_group(size_t first, size_t count, size_t from, size_t to, const double* a, double* y, size_t pitch) {
    while (weights_.size() < k_) weights_.emplace_back(digit_lines);
    sums_.resize(k_ * digits * stretch_);
    for (size_t i = 0, sets = set_weights(a, first, count); i < sets; i++) {
      add_fetched(i, first, count, first, from, to, a, y, pitch);
      flush(i, to - from, y, pitch);
    }
    for (size_t j = 0; j < k_ && s_.centre; j++) {
      double shift = 0;
      for (size_t l = first; l < first + count; l++) shift += a[l * k_ + j] * s_.centre[l];  // only where lines are columns
      for (size_t t = from; t < to; t++) y[j * pitch + t - from] -= shift;
    }
  }
  Source source;

 private:
  double fill(size_t column) const { return s_.fill ? s_.fill[column] : std::numeric_limits<double>::quiet_NaN(); }
  // What a number loses in digits is no more than a sum of so many terms loses in float64.
  static double tolerance(size_t terms) { return 0x1p-53 * double(std::max<size_t>(terms, 16)); }

  // Returns how many sets of digits the weights of some lines need, at most.
  size_t set_weights(const double* a, size_t first, size_t count) {
    size_t sets = 0;
    for (size_t j = 0; j < k_; j++) {
      weights_[j].set(a + first * k_ + j, k_, count, false, tolerance(x_.lines));
      sets = std::max(sets, weights_[j].size());
    }
    return sets;
  }
  void flush(size_t set, size_t length, double* y, size_t pitch) {
    for (size_t j = 0; j < k_; j++)
      if (set < weights_[j].size())
        kernels().flush_bytes(sums_.data() + j * digits * stretch_, stretch_, length, weights_[j][set].scale, y + j * pitch);
  }
  void add_fetched(size_t set, size_t line, size_t count, size_t run, size_t from, size_t to, const double* a, double* y, size_t pitch) {
    for (size_t j = 0; j < k_; j++) {
      if (set >= weights_[j].size() || weights_[j][set].scale == 0) continue;
      const Digits& d = weights_[j][set];
      kernel_.add(source.data, source.stride, count, to - from, d.data() + (line - run), d.pitch(), sums_.data() + j * digits * stretch_, stretch_);
    }
    if (set > 0) return;
    for (size_t i = 0; i < count && source.missing(count) > 0; i++)
      for (size_t j = 0; j < k_; j++) {
        double* sums = y + j * pitch;
        const double weight = a[(line + i) * k_ + j];
        if (x_.along && s_.fill) {
          const double* by_place = s_.fill + from;
          source.for_missing(i, [&](uint32_t place) { sums[place] += by_place[place] * weight; });
        } else {
          const double all = fill(line + i) * weight;  // by line, or NaN
          source.for_missing(i, [&](uint32_t place) { sums[place] += all; });
        }
      }
  }
  const Lines& x_;
  const Standard& s_;
  const ByteKernels& kernel_;
  size_t k_, stretch_;
  std::vector<DigitSets> along_, weights_;
  std::vector<double> shift_, instead_;  // instead_: what a missing value adds, by place (by line: before it is filled)
  Aligned<int32_t> sums_;
};

}  // namespace

// Missing values are added one by one, so there must not be too many; a few lines tell.
static bool many_missing(const Lines& x, const Standard& s) {
  if (!s.has_missing) return false;
  Source source(x, s, 256);
  size_t seen = 0, gone = 0;
  const size_t length = std::min<size_t>(x.length, 256), start = (x.length - length) / 2 / 256 * 256;
  for (size_t i = 0; i < 16; i++) {
    source.fetch(x.lines * i / 16, 1, start, start + length);
    seen += length, gone += source.missing(1);
  }
  return gone * 16 > seen;
}

bool bytes_by_digits(const Lines& x, const Standard& s, const double* v, size_t rows, size_t k) {
  if (x.packed || (x.type != Type::i8 && x.type != Type::u8) || k > 3 || !kernels().bytes[0].dot) return false;
  if (many_missing(x, s)) return false;
  // powers of two near the ends of float64 have no room for the digits
  for (size_t i = 0; i < rows * k; i++) {
    const double size = std::fabs(v[i]);
    if (!(size < 1e250) || (size != 0 && size < 1e-250)) return false;
  }
  return true;
}

void byte_lines_dot(const Lines& x, const Standard& s, const double* v, size_t k, double* out, int threads) {
  const size_t stretch = stretch_of(k);
  in_ranges(x.lines, 4, threads_for(x, k, threads), [&](size_t begin, size_t end, size_t) {
    Worker worker(x, s, k, stretch);
    for (size_t t = 0; t < x.length; t += stretch) {
      const size_t to = std::min(x.length, t + stretch);
      worker.set_vectors(v, t, to);
      for (size_t line = begin; line < end; line += together(s)) {
        const size_t count = std::min(together(s), end - line);
        worker.source.fetch(line, count, t, to);
        worker.dot(line, count, t, to, out + line * k);
      }
      throw_if_interrupted();
    }
  });
}

void byte_lines_add(const Lines& x, const Standard& s, const double* a, size_t k, double* out, int threads) {
  const size_t stretch = stretch_of(k);
  threads = threads_for(x, k, threads);
  auto by_places = [&](size_t first, size_t last, size_t begin, size_t end, double* sums) {
    Worker worker(x, s, k, stretch);
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
    in_ranges(x.length, 256, threads, [&](size_t begin, size_t end, size_t) { by_places(0, x.lines, begin, end, out); });
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
  std::vector<std::vector<double>> own(static_cast<size_t>(threads));
  if (x.along) {
    // panels of columns, narrow enough to be still in the cache when they are used a second time
    const size_t width = std::clamp<size_t>((size_t(4) << 20) / x.lines / 256 * 256, 256, 1024);
    in_ranges(x.length, 256, threads, [&](size_t begin, size_t end, size_t id) {
      Worker worker(x, s, k, width);
      std::vector<double> y(k * width), scaled(width * k);
      own[id].assign(x.lines * k, 0.0);
      for (size_t t = begin; t < end; t += width) {
        const size_t to = std::min(end, t + width);
        std::fill(y.begin(), y.end(), 0.0);
        worker.add(0, x.lines, t, to, a, y.data(), width);
        for (size_t c = t; c < to; c++)
          for (size_t j = 0; j < k; j++) {
            const double factor = s.factor ? s.factor[c] : 1.0, sum = y[j * width + c - t] * factor;
            w[c * k + j] = sum;
            scaled[(c - t) * k + j] = sum * factor;
          }
        const double* v = scaled.data() - ptrdiff_t(t * k);  // counted from the first place of the block
        worker.set_vectors(v, t, to);
        for (size_t line = 0; line < x.lines; line += together(s)) {
          const size_t count = std::min(together(s), x.lines - line);
          worker.source.fetch(line, count, t, to);
          worker.dot(line, count, t, to, own[id].data() + line * k);
        }
        throw_if_interrupted();
      }
    });
    for (const auto& sums : own)
      for (size_t i = 0; i < sums.size(); i++) out[i] += sums[i];
    return;
  }
  const size_t length = (x.length + 255) / 256 * 256;
  in_ranges(x.lines, group_lines, threads, [&](size_t begin, size_t end, size_t id) {
    Worker worker(x, s, k, length);
    worker.set_vectors(a, 0, x.length);
    own[id].assign(k * x.length, 0.0);
    std::vector<double> scaled(group_lines * k);
    for (size_t line = begin; line < end; line += group_lines) {
      const size_t count = std::min(group_lines, end - line);
      worker.source.fetch(line, count, 0, x.length);
      double* sums = w + line * k;
      std::fill_n(sums, count * k, 0.0);
      worker.dot(line, count, 0, x.length, sums);
      for (size_t i = 0; i < count * k; i++) {
        const double factor = s.factor ? s.factor[line + i / k] : 1.0;
        sums[i] *= factor;
        scaled[i] = sums[i] * factor;
      }
      worker.add_group(line, count, 0, x.length, scaled.data() - ptrdiff_t(line * k), own[id].data(), x.length);
      throw_if_interrupted();
    }
  });
  for (const auto& sums : own)
    if (!sums.empty())
      for (size_t i = 0; i < x.length; i++)
        for (size_t j = 0; j < k; j++) out[i * k + j] += sums[j * x.length + i];
}

}  // namespace slimline
