// Products of one block of X in float64, whatever its elements; each value is imputed, centred and scaled on the way.
#pragma once

#include "families/products.hpp"
#include "isa/kernels.hpp"

namespace slimline {

// A block as lines in memory: rows (C order), columns (Fortran order), or packed genotypes (always columns).
struct Lines {
  Type type;
  const char* data;
  size_t lines, length;
  ptrdiff_t stride;      // elements; bytes of packed genotypes
  bool along;            // the columns of X run along the lines: C order
  bool packed;           // two bits a value; `type` is that of the unpacked values
  int descriptor = -1;   // of the file that holds packed genotypes which are not in memory: `data` is null
  int64_t offset = 0;    // where their first line begins; lines follow each other
  Missing missing = {};  // of whole numbers
  size_t rows() const { return along ? lines : length; }
  size_t columns() const { return along ? length : lines; }
  size_t item() const { return Dense{type, nullptr, 0, 0, 0, 0}.item(); }
};

// out (rows x k, C order) += X W, W columns x k; the scale is not applied
void block_dot(const Lines&, const ColumnTransform&, const double* w, size_t k, double* out, int threads);
// out (columns x k) += X^T A, A rows x k; the scale is not applied
void block_tdot(const Lines&, const ColumnTransform&, const double* a, size_t k, double* out, int threads);
// w (columns x k) = X^T A and out (rows x k) += X X^T A, for a block with all rows
void block_normal(const Lines&, const ColumnTransform&, const double* a, size_t k, double* w, double* out, int threads);
// How many additions in float64, one after the other, lose as much as the sum of a row of so many numbers does, at most.
size_t longest_row_sum(size_t length, bool of_bytes, int threads);
// The same of sums over so many columns that lie one after the other.
size_t longest_line_sum(size_t lines, bool of_bytes, int threads);

// rows[i] += Σ_j x_ij² and columns[j] += Σ_i weight[i] x_ij² (none: 1), in one sweep
void block_squares(const Lines&, const ColumnTransform&, const double* weight, double* rows, double* columns, int threads);
// the values, in lines as in the block, `stride` elements apart
template <class T> void block_tile(const Lines&, const ColumnTransform&, T* out, ptrdiff_t stride, int threads);
void block_statistics(const Lines&, const double* weights, const Moments&, int threads);

// Whether products of packed genotypes need no unpacking, so that they can be read from a file on the way.
bool multiplies_packed();
// samples x variants, by rows or by columns
void unpack_block(const Lines&, int8_t* out, ptrdiff_t row_stride, ptrdiff_t column_stride, int threads);
// some of the samples, whose numbers rise, packed again: `out` has ceil(count / 4) bytes a variant
void pick_block(const Lines&, const int64_t* samples, size_t count, uint8_t* out, int threads);

}  // namespace slimline
