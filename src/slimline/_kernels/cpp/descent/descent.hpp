// Coordinate descent for the dual of hinge and squared hinge: minimise over 0 <= a <= upper
//
//   1/(2 lam) (y a)^T K (y a) + 1/2 sum diag a^2 + sum (y q - 1) a
//
// K = Z Z^T through the rows of Z, or written out. What a step reads of one coordinate lies together.
#pragma once

#include <cstddef>
#include <cstdint>

namespace slimline {

struct Coordinate {
  double a;
  double sign;       // y
  double linear;     // y q - 1
  double diag;
  double upper;
  double curvature;  // K_ii / lam + diag
};

// Rows of Z, or of K: `width` elements each, `stride` apart. Of a sparse Z, `data` are the stored values, with their columns
// and with where each row begins among them. A constant other than 0 is one element more of every row, its last.
struct Matrix {
  const void* data;
  ptrdiff_t stride;
  size_t width;  // the constant not counted
  const void* index = nullptr;
  const void* pointer = nullptr;
  double constant = 0;
};

struct Effort {
  uint32_t first_epoch;   // numbers the shuffles, so that a call that goes on does not repeat one
  uint32_t epochs;        // at most
  double tolerance;
  double floor;           // of the largest |K (y a) / lam|: what rounding blurs anyhow, so that more epochs would gain nothing
  double largest_square;  // of a row
  uint64_t seed;
  void (*look_up)();      // called between epochs; throws where the user wants an end
};

struct Descent {
  uint32_t epochs;
  uint64_t steps;    // changes of a coordinate
  double violation;  // largest projected gradient of the last epoch, in which every coordinate was looked at
  double magnitude;  // of K (y a) / lam, at most or nearly so
  bool overflow;     // a product was not finite; nothing else is then known
};

// Coordinates of a Gram matrix that are looked at together.
constexpr size_t gram_block = 32;
constexpr size_t gram_padded(size_t count) { return (count + gram_block - 1) / gram_block * gram_block; }

// In the precision of the matrix, or in float64 ("wide"): `v` is Z^T (y a) / lam, moved along; `product` is K (y a) / lam at
// the start, and `scratch` has room for 3 numbers a coordinate, padded. `order` is scratch of one entry a coordinate.
// A sparse matrix has `rows_wide`, `squares` and `combine` alone.
struct DescentKernels {
  using Rows = Descent(const Matrix&, double lam, Coordinate*, size_t count, void* v, uint32_t* order, const Effort&);
  using Gram = Descent(const Matrix&, double lam, Coordinate*, size_t count, const double* product, void* scratch, uint32_t* order, const Effort&);
  Rows *rows, *rows_wide;
  Gram *gram, *gram_wide;
  void (*squares)(const Matrix&, size_t rows, double* out);
  // out += sum of weight times row, over the rows
  void (*combine)(const Matrix&, size_t rows, const double* weight, double* out);
};

}  // namespace slimline
