#pragma once

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "parallel.hpp"
#include "products.hpp"

namespace slimline {

template <class T> struct Rows;  // the kernels of one type of sum
template <> struct Rows<float> {
  static auto fill() { return kernels().rows_f32; }
  static auto sign_sums() { return kernels().sign_sums_f32; }
  static auto axpy() { return kernels().axpy_f32; }
  static auto hadamard_row() { return kernels().hadamard_row_f32; }
  static auto hadamard_lift() { return kernels().hadamard_lift_f32; }
  static auto write_turned() { return kernels().write_turned_f32; }
};
template <> struct Rows<double> {
  static auto fill() { return kernels().rows_f64; }
  static auto sign_sums() { return kernels().sign_sums_f64; }
  static auto axpy() { return kernels().axpy_f64; }
  static auto hadamard_row() { return kernels().hadamard_row_f64; }
  static auto hadamard_lift() { return kernels().hadamard_lift_f64; }
  static auto write_turned() { return kernels().write_turned_f64; }
};

// One buffer a worker, a cache line apart at least.
template <class T> class Scratch {
 public:
  Scratch(int workers, size_t each) : each_((each + 63) / 64 * 64 + 64), memory_(size_t(workers) * each_) {}
  T* of(int worker) {
    auto address = reinterpret_cast<uintptr_t>(memory_.data() + size_t(worker) * each_);
    return reinterpret_cast<T*>((address + 63) / 64 * 64);
  }

 private:
  size_t each_;
  std::vector<T> memory_;
};

// A random sign as a flipped bit: a branch on it would be guessed wrong half of the time.
inline float with_sign(float x, uint32_t negative) {
  uint32_t u; std::memcpy(&u, &x, 4); u ^= negative << 31; std::memcpy(&x, &u, 4); return x;
}
inline double with_sign(double x, uint32_t negative) {
  uint64_t u; std::memcpy(&u, &x, 8); u ^= uint64_t(negative) << 63; std::memcpy(&x, &u, 8); return x;
}

template <class T> void write_row(const T* sums, T scale, bool add, T* out, size_t count) {
  if (add)
    for (size_t k = 0; k < count; k++) out[k] += sums[k] * scale;
  else
    for (size_t k = 0; k < count; k++) out[k] = sums[k] * scale;
}

template <class T> void clear_unless_added(const Out<T>& out) {
  if (!out.accumulate)
    for (size_t i = 0; i < out.rows; i++) std::fill_n(out.data + i * out.stride, out.columns, T(0));
}

template <class Index, class T> void check_row(const Compressed<Index, T>& x, size_t row) {
  const Index begin = x.pointer[row], end = x.pointer[row + 1];
  if (begin < 0 || end < begin || size_t(end) > x.stored)
    throw std::invalid_argument("the sparse matrix is damaged: its indptr does not rise from 0 to the number of stored values");
}

[[noreturn]] inline void bad_index() {
  throw std::invalid_argument("the sparse matrix is damaged: an index lies outside its shape");
}

constexpr size_t tile_bytes = size_t(8) << 20;  // of R written out, and of a converted piece of X

template <class T> size_t tile_features(const DenseRows& rows) {
  return std::clamp<size_t>(tile_bytes / sizeof(T) / rows.columns, 16, 4096);
}

// Rows of R for features [feature, feature + count), one after the other.
template <class T> void draw(const DenseRows& rows, uint64_t feature, size_t count, T* out, int threads) {
  parallel_for(count, 16, worthwhile_threads(double(count) * double(rows.columns) * 1.5, threads), [&](size_t begin, size_t end, int) {
    Rows<T>::fill()(rows, feature + begin, end - begin, out + begin * rows.columns, rows.columns);
  });
}

}  // namespace slimline
