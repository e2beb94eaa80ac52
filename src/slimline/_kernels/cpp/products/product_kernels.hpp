// What products of blocks in float64 need of an instruction set.
//
// A line is what lies together in memory: a row of X in C order, a column in Fortran order or of packed genotypes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace slimline {

// What is done to the values of some lines before they are used: NaN (int8: `missing`) counts as `fill`, then `centre` is subtracted. One number
// an element if the columns of X run along the lines, else one a line. Scales are applied to results.
struct Shift {
  const double* centre;
  const double* fill;
  double missing = 0;
};

// Statistics of some columns.
struct Moments {
  double *weight, *mean, *deviation;
  int64_t *nonzeros, *missing;
};

// Sums in float64 over lines of T: float, double, or int8, which has `dot` and `add` alone. [mode]: 0 the values as they are, 1 centred, 2 filled and centred; [along]: 1
// if the columns of X run along the lines; [1]: four vectors at a time, [0]: one. Strides count elements.
template <class T> struct LineKernels {
  // sums[line, k] += line · v[k], vectors `pitch` apart
  void (*dot[3][2][2])(const Shift&, const T* x, ptrdiff_t stride, size_t lines, size_t length, const double* v, size_t pitch, double* sums);
  // y[k] += Σ a[line, k] · line
  void (*add[3][2][2])(const Shift&, const T* x, ptrdiff_t stride, size_t lines, size_t length, const double* a, double* y, size_t pitch);
  // the values themselves, times a factor (null: 1)
  void (*write_f32[3][2])(const Shift&, const double* factor, const T* x, ptrdiff_t stride, size_t lines, size_t length, float* out, ptrdiff_t out_stride);
  void (*write_f64[3][2])(const Shift&, const double* factor, const T* x, ptrdiff_t stride, size_t lines, size_t length, double* out, ptrdiff_t out_stride);
  // the squares of the values, each times the factor of its column before: added to the sum of its line and to that of its
  // element; in the sums of the columns of X it counts with the weight of its row
  void (*squares[3][2])(const Shift&, const double* factor, const T* x, ptrdiff_t stride, size_t lines, size_t length, const double* weight,
                        double* of_lines, double* of_elements);
  // of each line, or of each element over the lines, merged with those of earlier lines unless these are the `first`; NaN is
  // a missing value
  void (*line_statistics)(const T* x, size_t length, const double* weights, const Moments&);
  void (*element_statistics)(const T* x, ptrdiff_t stride, size_t lines, size_t length, const double* weights, bool first, const Moments&);
};

// Some samples of packed genotypes, four values a line (by code) that its calls count, and R by columns: line << 1 | negative of
// column c are entry[pointer[c]] to entry[pointer[c + 1]].
struct PackedSketch {
  const uint8_t* packed;
  ptrdiff_t stride;
  size_t samples;
  const float* value;
  const uint32_t *entry, *pointer;
};

// Lines of packed genotypes, four values a line (by code) that its calls count. Null where there is no fast way.
struct PackedKernels {
  // sums[line * step + j] += Σ value · v[j], vectors `pitch` apart; one to four of them
  void (*dot)(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t samples, const double* value, const double* v, size_t pitch, size_t k, double* sums, size_t step);
  // y[j * pitch + sample] += Σ value · w[line * step + j]; one to four vectors
  void (*add)(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t samples, const double* value, const double* w, size_t step, size_t k, double* y, size_t pitch);
  // sums[column * pitch + sample] = X R for the first columns of R; writes whole vectors of samples
  void (*sketch)(const PackedSketch&, size_t columns, float* sums, size_t pitch);
};

// Two-bit genotypes of one variant, four samples a byte.
struct GenotypeKernels {
  // copies of the first allele, `missing_call` where there is no call; returns whether there is such a call
  bool (*unpack)(const uint8_t* packed, size_t samples, int8_t* out);
  // how many samples have each of the codes 00, 01, 10, 11
  void (*count_calls)(const uint8_t* packed, size_t samples, size_t (&of_code)[4]);
  // as `unpack`, for `variants` variants, transposed: out[sample * stride + variant]
  void (*unpack_transposed)(const uint8_t* packed, ptrdiff_t packed_stride, size_t variants, size_t samples, int8_t* out, ptrdiff_t stride);
};

// What stands for a missing call among unpacked genotypes.
constexpr int8_t missing_call = -127;

}  // namespace slimline
