// Lines of a block on their way to the kernels: a few at a time, unpacked where they are packed, with what is done to them.
#pragma once

#include <limits>
#include <vector>

#include "blocks.hpp"
#include "parallel.hpp"

namespace slimline {

constexpr size_t group_lines = 32;  // lines that are worked on while they are in the nearest cache

inline int threads_for(const Lines& x, size_t k, int threads) {
  return worthwhile_threads(double(x.lines) * double(x.length) * double(k) * 0.12, threads);
}

// What a block does to its values, with every vector there that a mode needs.
class Changes {
 public:
  Changes(const Lines& x, const Standard& s) : along_(x.along) {
    const bool floating = x.type == Type::f32 || x.type == Type::f64 || x.type == Type::f16;
    shift_ = {s.centre, s.fill, x.packed ? double(missing_call) : s.missing};
    const bool may_miss = x.packed || (floating ? s.fill != nullptr : s.has_missing);
    mode_ = may_miss ? 2 : s.centre ? 1 : 0;
    if (mode_ == 2 && !shift_.centre) zeros_.assign(x.columns(), 0.0), shift_.centre = zeros_.data();
    // A missing value that nothing fills makes the sum NaN, which is how it is found.
    if (mode_ == 2 && !shift_.fill) gone_.assign(x.columns(), std::numeric_limits<double>::quiet_NaN()), shift_.fill = gone_.data();
    mode_if_none_ = s.centre ? 1 : 0;
  }
  int mode(bool any_missing = true) const { return any_missing ? mode_ : mode_if_none_; }
  Shift at(size_t line, size_t place) const {
    const size_t skip = along_ ? place : line;
    return {shift_.centre ? shift_.centre + skip : nullptr, shift_.fill ? shift_.fill + skip : nullptr, shift_.missing};
  }

 private:
  bool along_;
  Shift shift_;
  int mode_, mode_if_none_;
  std::vector<double> zeros_, gone_;
};

// A few lines ready to be read: in place, or unpacked.
struct Group {
  const char* data;
  ptrdiff_t stride;
  bool any_missing;
};

class Source {  // one for each worker
 public:
  explicit Source(const Lines& x) : x_(x), pitch_((x.length + 63) / 64 * 64) {
    if (x.packed) memory_.resize(group_lines * pitch_);
  }
  // `count` <= group_lines lines from `first` on
  Group group(size_t first, size_t count) {
    if (!x_.packed) return {x_.data + ptrdiff_t(first) * x_.stride * ptrdiff_t(x_.item()), x_.stride, true};
    bool any = false;
    for (size_t i = 0; i < count; i++) {
      const auto* packed = reinterpret_cast<const uint8_t*>(x_.data) + ptrdiff_t(first + i) * x_.stride;
      any |= kernels().unpack(packed, x_.length, missing_call, memory_.data() + i * pitch_);
    }
    return {reinterpret_cast<const char*>(memory_.data()), ptrdiff_t(pitch_), any};
  }

 private:
  const Lines& x_;
  size_t pitch_;
  std::vector<int8_t> memory_;
};

}  // namespace slimline
