// A few lines of a block that are multiplied together; and those of packed genotypes, by look-up.
#pragma once

#include <memory>

#include "products/blocks.hpp"

namespace slimline {

// Multiplies a few lines, on one thread: first `set_vectors` if they meet vectors, then `take`, then `dot` and `add`.
class Multiplier {
 public:
  virtual ~Multiplier() = default;
  // Lines to take at a time, at most.
  virtual size_t most_lines() const = 0;
  // What elements [from, to) of lines are multiplied with from now on; v is length x k.
  virtual void set_vectors(const double* v, size_t from, size_t to) = 0;
  // The lines, and the elements of them, that the next products are about.
  virtual void take(size_t first, size_t count, size_t from, size_t to) = 0;
  virtual size_t lines_taken() const = 0;
  // sums[line * k + j] += line · vector j
  virtual void dot(double* sums) = 0;
  // y[j * pitch + element] += Σ a[line * k + j] · line
  virtual void add(const double* a, double* y, size_t pitch) = 0;
};

// Whole lines of packed genotypes without unpacking them (see lut4_dot.cpp), from memory or from a file.
std::unique_ptr<Multiplier> packed_lines(const Lines&, const ColumnTransform&, size_t k);
// of samples that all count once; on any instruction set
void packed_statistics(const Lines&, const Moments&, int threads);

}  // namespace slimline
