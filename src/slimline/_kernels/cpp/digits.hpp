// Numbers of float64 as whole numbers in digits of 15 bits, for the kernels of bytes.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels.hpp"

namespace slimline {

// Memory that begins with a cache line: a vector that lies across two of them takes twice as long to read.
template <class T> class Aligned {
 public:
  Aligned() = default;
  explicit Aligned(size_t count) { resize(count); }
  void resize(size_t count) {  // cleared; what was there is lost
    if (count + 64 / sizeof(T) <= memory_.size()) return;
    memory_.assign(count + 64 / sizeof(T), T(0));
  }
  T* data() { return aligned(memory_.data()); }
  const T* data() const { return aligned(memory_.data()); }

 private:
  template <class P> static P* aligned(P* p) { return reinterpret_cast<P*>((reinterpret_cast<uintptr_t>(p) + 63) / 64 * 64); }
  std::vector<T> memory_;
};

// Numbers as whole multiples of one power of two, in digits: digit[p * pitch + i].
class Digits {
 public:
  explicit Digits(size_t most) : pitch_((most + 31) / 32 * 32), digit_(digits * pitch_) {}
  // `by_place`: in the order of digit_place. What the digits leave out of each number stays in v.
  void set(double* v, size_t count, bool by_place) {
    double most = 0;
    bool finite = true;
    for (size_t i = 0; i < count; i++) most = std::max(most, std::fabs(v[i])), finite &= std::isfinite(v[i]);
    int exponent = 0;
    if (!finite) most = 0;
    std::frexp(most, &exponent);
    exponent = std::max(exponent, -960);
    const double up = std::ldexp(1.0, 58 - exponent);
    scale = !finite ? std::numeric_limits<double>::quiet_NaN() : most > 0 ? std::ldexp(1.0, exponent - 58) : 0.0;
    constexpr int64_t half = 1 << 14;
    for (size_t i = 0; i < count; i++) {
      const size_t at = by_place ? digit_place(i) : i;
      const double scaled = most > 0 ? v[i] * up : 0.0;
      int64_t whole = std::llrint(scaled);
      v[i] = std::fabs(scaled) < 0x1p53 ? (scaled - double(whole)) * scale : 0.0;  // larger ones are whole
      for (int p = 0; p < digits - 1; p++) {
        const int64_t d = ((whole + half) & 32767) - half;
        digit_.data()[size_t(p) * pitch_ + at] = int16_t(d);
        whole = (whole - d) >> 15;
      }
      digit_.data()[size_t(digits - 1) * pitch_ + at] = int16_t(whole);
    }
  }
  const int16_t* data() const { return digit_.data(); }
  size_t pitch() const { return pitch_; }
  double scale = 0;

 private:
  size_t pitch_;
  Aligned<int16_t> digit_;
};

// Numbers in as many sets of digits as it takes: what is left out of each is at most `tolerance` times the number. One
// set is enough unless some numbers are far smaller than others.
class DigitSets {
 public:
  explicit DigitSets(size_t most) : most_(most), rest_(most) {}
  // every `step`-th number from v on
  void set(const double* v, size_t step, size_t count, bool by_place, double tolerance) {
    for (size_t i = 0; i < count; i++) rest_[i] = v[i * step];
    used_ = 0;
    bool more = true;
    while (more && used_ < most_sets) {
      if (sets_.size() == used_) sets_.emplace_back(most_);
      sets_[used_++].set(rest_.data(), count, by_place);
      more = false;
      for (size_t i = 0; i < count; i++) more |= std::fabs(rest_[i]) > tolerance * std::fabs(v[i * step]);
    }
  }
  size_t size() const { return used_; }
  const Digits& operator[](size_t i) const { return sets_[i]; }

 private:
  static constexpr size_t most_sets = 40;  // 58 bits each: more than float64 can span
  size_t most_, used_ = 0;
  std::vector<double> rest_;
  std::vector<Digits> sets_;
};

}  // namespace slimline
