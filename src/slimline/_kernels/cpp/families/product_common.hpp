#pragma once

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "base/parallel.hpp"
#include "families/products.hpp"

namespace slimline {

// One of these for each worker.
template <class T, class... Arguments> std::vector<T> team_of(int workers, const Arguments&... arguments) {
  std::vector<T> team;
  for (int w = 0; w < std::max(workers, 1); w++) team.emplace_back(arguments...);
  return team;
}

// X with elements of type T: as it is if they are, else converted a few rows and columns at a time.
template <class T> class Widened {
 public:
  struct Tile {
    const T* data;
    ptrdiff_t row_stride, column_stride;
  };
  explicit Widened(const Dense& x, const Missing& missing = {}) : x_(x), missing_(missing), direct_(x.type == (sizeof(T) == 8 ? Type::f64 : Type::f32)) {}
  bool direct() const { return direct_; }
  // Columns of so many rows to take at a time, a multiple of `group_width`: what is converted stays in the nearest cache.
  size_t columns(size_t rows) const {
    constexpr size_t bytes = size_t(32) << 10;
    return direct_ ? x_.columns : std::max<size_t>(bytes / sizeof(T) / rows / group_width, 1) * group_width;
  }
  Tile at(size_t row, size_t rows, size_t column, size_t columns) {
    if (direct_) return {reinterpret_cast<const T*>(x_.at(row, column)), x_.row_stride, x_.column_stride};
    const bool by_row = x_.column_stride == 1;
    const size_t lines = by_row ? rows : columns, length = by_row ? columns : rows, pitch = length + group_width;
    if (memory_.size() < lines * pitch) memory_.resize(lines * pitch);
    for (size_t l = 0; l < lines; l++) kernels().convert[int(x_.type)](by_row ? x_.at(row + l, column) : x_.at(row, column + l), length, missing_, memory_.data() + l * pitch);
    return by_row ? Tile{memory_.data(), ptrdiff_t(pitch), 1} : Tile{memory_.data(), 1, ptrdiff_t(pitch)};
  }

 private:
  const Dense& x_;
  Missing missing_;
  bool direct_;
  std::vector<T> memory_;
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
    kernels().of<T>().families.rows(rows, feature + begin, end - begin, out + begin * rows.columns, rows.columns);
  });
}

}  // namespace slimline
