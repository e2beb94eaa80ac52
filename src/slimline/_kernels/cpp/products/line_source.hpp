// Lines of a block on their way to the kernels: a few at a time, as float or double, with what is done to their values.
#pragma once

#include <limits>
#include <vector>

#include "base/parallel.hpp"
#include "products/blocks.hpp"

namespace slimline {

constexpr size_t group_lines = 32;  // lines that are worked on while they are in the nearest cache

inline int threads_for(const Lines& x, size_t k, int threads) {
  return worthwhile_threads(double(x.lines) * double(x.length) * double(k) * 0.12, threads);
}

// body(T()): the type that lines of X are brought to.
template <class F> auto with_line_type(const Lines& x, F body) {
  return x.type == Type::f64 ? body(double()) : body(float());
}

// Imputing and centring, with every vector there that a mode needs.
class Changes {
 public:
  Changes(const Lines& x, const ColumnTransform& s)
      : along_(x.along), shift_{s.mean, s.fill, double(x.missing.code)}, mode_(s.fill || marked_missing(x) ? 2 : s.mean ? 1 : 0), mode_if_none_(s.mean ? 1 : 0) {
    // What nothing imputes makes a sum NaN, which is how it is found.
    if (mode_ == 2 && !shift_.fill) nothing_.assign(x.columns(), std::numeric_limits<double>::quiet_NaN()), shift_.fill = nothing_.data();
    if (mode_ == 2 && !shift_.centre) zeros_.assign(x.columns(), 0.0), shift_.centre = zeros_.data();
  }
  int mode(bool any_missing = true) const { return any_missing ? mode_ : mode_if_none_; }
  Shift at(size_t line, size_t element) const {
    const size_t skip = along_ ? element : line;
    return {shift_.centre ? shift_.centre + skip : nullptr, shift_.fill ? shift_.fill + skip : nullptr, shift_.missing};
  }

 private:
  // int8 is read as it is: the others' missing values become NaN when they are converted
  static bool marked_missing(const Lines& x) { return x.type == Type::i8 && !x.packed && x.missing.any; }
  bool along_;
  Shift shift_;
  int mode_, mode_if_none_;
  std::vector<double> zeros_, nothing_;
};

// A few lines ready to be read, missing values NaN.
template <class T> struct Group {
  const T* data;
  ptrdiff_t stride;
  bool any_missing;  // false: certainly none
};

// Lines in place if they are of type T, else converted or unpacked.
template <class T> class Source {  // one for each worker
 public:
  explicit Source(const Lines& x) : x_(x), direct_(!x.packed && x.type == (sizeof(T) == 8 ? Type::f64 : sizeof(T) == 4 ? Type::f32 : Type::i8)) {}
  // Lines to take at a time, and elements of them, at most: what is converted stays in the nearest cache.
  size_t most_lines() const { return direct_ ? group_lines : 8; }
  size_t most_elements() const { return direct_ ? 4096 : 1024; }
  // The elements [from, to) of `count` lines from `first` on; `from` is a multiple of 4.
  Group<T> group(size_t first, size_t count, size_t from, size_t to) {
    if (direct_) return {reinterpret_cast<const T*>(x_.data) + ptrdiff_t(first) * x_.stride + ptrdiff_t(from), x_.stride, sizeof(T) > 1 || x_.missing.any};
    const size_t length = to - from, pitch = (length + 63) / 64 * 64 + 16;  // no power of two
    if (memory_.size() < count * pitch) memory_.resize(count * pitch);
    if (x_.packed) return unpacked(first, count, from, length, pitch);
    for (size_t i = 0; i < count; i++)
      kernels().convert[int(x_.type)](x_.data + (ptrdiff_t(first + i) * x_.stride + ptrdiff_t(from)) * ptrdiff_t(x_.item()), length, x_.missing, memory_.data() + i * pitch);
    return {memory_.data(), ptrdiff_t(pitch), x_.missing.any || x_.type == Type::f16};
  }

 private:
  Group<T> unpacked(size_t first, size_t count, size_t from, size_t length, size_t pitch) {
    bool any = false;
    calls_.resize(std::max(calls_.size(), length));
    for (size_t i = 0; i < count; i++) {
      const auto* packed = reinterpret_cast<const uint8_t*>(x_.data) + ptrdiff_t(first + i) * x_.stride + from / 4;
      any |= kernels().genotypes.unpack(packed, length, calls_.data());
      kernels().convert[int(Type::i8)](calls_.data(), length, {true, missing_call}, memory_.data() + i * pitch);
    }
    return {memory_.data(), ptrdiff_t(pitch), any};
  }

  const Lines& x_;
  const bool direct_;
  std::vector<T> memory_;
  std::vector<int8_t> calls_;
};

}  // namespace slimline
