#include "products/packed_lines.hpp"
#include "products/genotype_values.hpp"

#include <algorithm>
#include <vector>

#include "base/file_rows.hpp"
#include "base/parallel.hpp"
#include "base/ranges.hpp"

namespace slimline {
namespace {

constexpr size_t most_vectors = 4;       // that share the work of looking codes up
constexpr size_t near_values = 3072;     // of vectors that stay in the nearest cache; samples of a stretch are a multiple of 32
constexpr size_t near_bytes = 256 << 10;  // of lines that are taken together, and gone through several times

size_t lines_together(const Lines& x) { return std::clamp<size_t>(near_bytes / std::max<size_t>((x.length + 3) / 4, 1), 32, 512); }

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

class PackedLines final : public Multiplier {
 public:
  PackedLines(const Lines& x, const ColumnTransform& s, size_t k) : x_(x), s_(s), k_(k), near_(x), value_(lines_together(x) * 4) {}
  size_t most_lines() const override { return lines_together(x_); }
  size_t lines_taken() const override { return count_; }
  void set_vectors(const double* v, size_t, size_t) override {  // of all samples
    if (k_ == 1) return void(vectors_ = v);
    transposed_.resize(x_.length * k_);
    for (size_t i = 0; i < x_.length; i++)
      for (size_t j = 0; j < k_; j++) transposed_[j * x_.length + i] = v[i * k_ + j];
    vectors_ = transposed_.data();
  }
  // Lines in memory are brought near one after the other: the kernels go through them a few samples at a time, which the CPU
  // does not foresee.
  void take(size_t first, size_t count, size_t, size_t) override {
    count_ = count, lines_ = near_.at(first, count);
    if (x_.data)
      for (size_t l = 0; l < count; l++) kernels().read(lines_ + ptrdiff_t(l) * x_.stride, (x_.length + 3) / 4);
    for (size_t l = 0; l < count; l++)
      set_genotype_values(s_.fill ? s_.fill + first + l : nullptr, s_.mean ? s_.mean[first + l] : 0.0, 1.0, value_.data() + 4 * l);
  }
  void dot(double* sums) override {
    by_stretches([&](size_t i, size_t samples, size_t j, size_t k) {
      kernels().packed.dot(lines_ + i / 4, x_.stride, count_, samples, value_.data(), vectors_ + j * x_.length + i, x_.length, k, sums + j, k_);
    });
  }
  void add(const double* a, double* y, size_t pitch) override {
    by_stretches([&](size_t i, size_t samples, size_t j, size_t k) {
      kernels().packed.add(lines_ + i / 4, x_.stride, count_, samples, value_.data(), a + j, k_, k, y + j * pitch + i, pitch);
    });
  }

 private:
  // body(first sample, samples, first vector, vectors)
  template <class F> void by_stretches(F body) const {
    for (size_t j = 0; j < k_; j += most_vectors) {
      const size_t here = std::min(most_vectors, k_ - j), stretch = near_values / here;
      for (size_t i = 0; i < x_.length; i += stretch) body(i, std::min(stretch, x_.length - i), j, here);
    }
  }

  const Lines& x_;
  const ColumnTransform& s_;
  size_t k_, count_ = 0;
  const uint8_t* lines_ = nullptr;
  const double* vectors_ = nullptr;
  NearLines near_;
  std::vector<double> value_, transposed_;
};

}  // namespace

bool multiplies_packed() { return kernels().packed.dot != nullptr; }

std::unique_ptr<Multiplier> packed_lines(const Lines& x, const ColumnTransform& s, size_t k) { return std::make_unique<PackedLines>(x, s, k); }

// The numbers of samples with each code say all, without rounding but at the end.
void packed_statistics(const Lines& x, const Moments& m, int threads) {
  const size_t step = lines_together(x);
  parallel_for(x.lines, step, threads, [&](size_t begin, size_t end, int) {
    NearLines near(x);
    const uint8_t* line = near.at(begin, end - begin);
    for (size_t v = begin; v < end; v++, line += x.stride) {
      size_t of_code[4];
      kernels().genotypes.count_calls(line, x.length, of_code);
      const size_t called = x.length - of_code[1], sum = 2 * of_code[0] + of_code[2], squares = 4 * of_code[0] + of_code[2];
      m.weight[v] = double(called), m.mean[v] = called ? double(sum) / double(called) : 0.0;
      m.deviation[v] = called ? double(__int128(called) * __int128(squares) - __int128(sum) * __int128(sum)) / double(called) : 0.0;
      m.nonzeros[v] = int64_t(of_code[0] + of_code[2]), m.missing[v] = int64_t(of_code[1]);
    }
    throw_if_interrupted();
  });
}

}  // namespace slimline
