// Numbers of float64 as whole numbers in digits, for the kernels of bytes.cpp and bytes_vnni.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels.hpp"

namespace slimline {

// Whether numbers, and what becomes of them, can be written in digits: powers of two near the ends of float64 have no room.
inline bool digits_hold(const double* v, size_t count, double most = 1e100) {
  bool inside = true;
  for (size_t i = 0; i < count; i++) {
    const double size = std::fabs(v[i]);
    inside &= size < most && (size == 0 || size > 1 / most);  // NaN is not
  }
  return inside;
}

// What a number may lose in digits: no more than a sum of so many terms loses in float64.
constexpr size_t least_lost = 16, most_lost = 16384;  // in units of its rounding
inline double digit_tolerance(size_t terms) { return 0x1p-53 * double(std::clamp(terms, least_lost, most_lost)); }

// Memory that begins with a cache line: a vector that lies across two of them takes twice as long to read.
template <class T> class Aligned {
 public:
  Aligned() = default;
  explicit Aligned(size_t count) { resize(count); }
  void resize(size_t count) {  // new memory is cleared, and what was there is lost
    if (count + 64 / sizeof(T) <= memory_.size()) return;
    memory_.assign(count + 64 / sizeof(T), T(0));
  }
  T* data() { return aligned(memory_.data()); }
  const T* data() const { return aligned(memory_.data()); }

 private:
  template <class P> static P* aligned(P* p) { return reinterpret_cast<P*>((reinterpret_cast<uintptr_t>(p) + 63) / 64 * 64); }
  std::vector<T> memory_;
};

// Numbers as whole multiples of one power of two, written as the kernels want them.
class Digits {
 public:
  explicit Digits(size_t most)
      : pitch_((most + digit_unit - 1) / digit_unit * digit_unit), digit_(size_t(kernels().digits.count) * kernels().digits.item * pitch_) {}
  // `by_place`: for `dot`. What the digits leave out of each number stays in v; returns whether it exceeds the bound of any.
  bool set(double* v, size_t count, const double* bound, bool by_place) {
    const DigitKernels& kernel = kernels().digits;
    double most = kernel.largest(v, count);
    const bool finite = std::isfinite(most);
    if (!finite) most = 0;
    int exponent = 0;
    std::frexp(most, &exponent);
    exponent = std::max(exponent, -960);
    scale = !finite ? std::numeric_limits<double>::quiet_NaN() : most > 0 ? std::ldexp(1.0, exponent - kernel.bits) : 0.0;
    if (most * std::ldexp(1.0, kernel.bits - exponent) < 1) scale = 0;  // far below what digits can say
    if (scale == 0 || !finite) return false;
    return kernel.write(v, count, std::ldexp(1.0, kernel.bits - exponent), scale, bound, by_place, digit_.data(), pitch_);
  }
  const void* at(size_t number) const { return digit_.data() + number * kernels().digits.item; }
  size_t pitch() const { return pitch_; }
  double scale = 0;  // 0: all numbers are, and there are no digits; NaN: one of them is not finite

 private:
  size_t pitch_;
  Aligned<char> digit_;
};

// Numbers in as many sets of digits as it takes: what is left out of each is at most `tolerance` times the number. One
// set is enough unless some numbers are far smaller than others.
struct DigitScratch {
  std::vector<double> rest, bound;
};
class DigitSets {
 public:
  static constexpr size_t most_sets = 40;  // 58 bits each: more than float64 can span

  explicit DigitSets(size_t most) : most_(most) {}
  // every `step`-th number from v on
  void set(const double* v, size_t step, size_t count, bool by_place, double tolerance, DigitScratch& scratch) {
    scratch.rest.resize(std::max(scratch.rest.size(), count)), scratch.bound.resize(scratch.rest.size());
    for (size_t i = 0; i < count; i++) scratch.rest[i] = v[i * step], scratch.bound[i] = tolerance * std::fabs(scratch.rest[i]);
    used_ = 0;
    bool more = true;
    while (more && used_ < most_sets) {
      if (sets_.size() == used_) sets_.emplace_back(most_);
      more = sets_[used_++].set(scratch.rest.data(), count, scratch.bound.data(), by_place);
    }
  }
  auto begin() const { return sets_.begin(); }
  auto end() const { return sets_.begin() + ptrdiff_t(used_); }

 private:
  size_t most_, used_ = 0;
  std::vector<Digits> sets_;
};

}  // namespace slimline
