// What the kernels are called with: plain structs, one table of functions for each instruction set.
//
// A kernel works on one range, on one thread, and allocates nothing; the products (product_*.cpp) cut the
// work, own the scratch memory and call them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "descent.hpp"
#include "simplex.hpp"

namespace slimline {

// Element types of X. Sums are kept in float64 for float64 and in float32 for all others.
enum class Type : int { f32, f64, f16, i8, u8, i16 };
constexpr int type_count = 6;

// Streams of the random generator: the last word of the counter, so that no two uses share a number.
enum Stream : uint32_t {
  stream_normal = 1,
  stream_sign = 2,
  stream_sparse_sign = 3,
  stream_hadamard_sign = 4,
  stream_hadamard_sample = 5,
  stream_grouped = 6,
  stream_independent = 7,
  stream_descent = 8,
};

// Lengths of the runs of zeros in a row of a sparse sign matrix: at least k zeros iff a 31-bit draw is below
// threshold[k]. `guide[t]` is a run length at or below the answer for every draw whose top 8 bits are t.
struct Gaps {
  const uint32_t* threshold;
  uint32_t count;
  const uint32_t* guide;
};

enum class Entries : int { normal, sign, sparse_sign };

// A family whose rows of R are written out: unscaled values, one row a feature.
struct DenseRows {
  Entries entries;
  uint64_t seed;
  size_t columns;
  Gaps gaps;
  size_t first = 0;  // normal: the first of the columns that are written, a multiple of `normal_columns`
};
constexpr size_t normal_columns = 64;

enum class Hash : int { grouped, independent, sparse_sign };

// A family with few non-zeros a feature.
struct Scatter {
  Hash hash;
  uint64_t seed;
  size_t columns;   // r
  uint32_t nonzeros;  // s: independent positions a feature
  uint32_t width;     // v: signs a position
  Gaps gaps;
  uint32_t buckets() const { return uint32_t(columns / (size_t(nonzeros) * width)); }
  uint32_t entries() const { return nonzeros * width; }  // grouped and independent: non-zeros a feature
};

// One non-zero of R: column << 1 | negative.
using Entry = uint32_t;
// 16 features of the grouped hash at once: (first column << 4 | lane key) << 16 | 16 sign bits. Feature 16 g + l goes
// to column first + (l ^ key), with sign bit l ^ (key mod 8).
using GroupEntry = uint64_t;
constexpr size_t group_width = 16;
// The bit of the lane key that all parts of a group's hash share.
constexpr uint32_t common_key = 4;

inline Entry entry_of(GroupEntry group, uint32_t lane) {
  const uint32_t key = uint32_t(group >> 16) & uint32_t(group_width - 1);
  return Entry((group >> 20) + (lane ^ key)) << 1 | (uint32_t(group >> (lane ^ (key & 7))) & 1u);
}

struct Hadamard {
  const uint32_t* sample;  // r column numbers of the Walsh-Hadamard matrix
  size_t columns;          // r
  size_t block;            // b, a power of two up to 2^31: the transform is done in blocks of b features
};

// What is done to the values of some lines before they are used: a missing one counts as `fill`, then `centre` is
// subtracted. One number a place where the columns of X run along the lines, else one a line.
struct Shift {
  const double* centre;
  const double* fill;
  double missing;  // whole numbers: what stands for a missing value; floating point: NaN does
};

// Statistics of some columns.
struct Moments {
  double *weight, *mean, *deviation;
  int64_t *nonzeros, *missing;
};

// Sums in float64 over lines of a block. [mode]: 0 the values as they are, 1 centred, 2 filled and centred; [along]: 1 if the
// columns of X run along the lines; [1]: four vectors at a time, [0]: one. Strides count elements.
struct LineKernels {
  // sums[line, k] += line · v[k], vectors `pitch` apart
  void (*dot[3][2][2])(const Shift&, const void* x, ptrdiff_t stride, size_t lines, size_t length, const double* v, size_t pitch, double* sums);
  // y[k] += Σ a[line, k] · line
  void (*add[3][2][2])(const Shift&, const void* x, ptrdiff_t stride, size_t lines, size_t length, const double* a, double* y, size_t pitch);
  // the values themselves, times a factor (none: 1)
  void (*write_f32[3][2])(const Shift&, const double* factor, const void* x, ptrdiff_t stride, size_t lines, size_t length, float* out, ptrdiff_t out_stride);
  void (*write_f64[3][2])(const Shift&, const double* factor, const void* x, ptrdiff_t stride, size_t lines, size_t length, double* out, ptrdiff_t out_stride);
  // the squares of the values, each times the factor of its column before: added to the sum of its line and to that of its
  // place; in those of the columns of X it counts with the weight of its row
  void (*squares[3][2])(const Shift&, const double* factor, const void* x, ptrdiff_t stride, size_t lines, size_t length, const double* weight, double* of_lines, double* of_places);
  void (*line_statistics)(const void* x, size_t length, bool has_missing, double missing, const double* weights, Moments&);
  void (*place_statistics)(const void* x, ptrdiff_t stride, size_t lines, size_t length, bool has_missing, double missing, const double* weights, Moments&);
};

// Sums of bytes times digits stay below 2^31 with so many lines at once.
constexpr size_t digit_lines = 512;
// Digits are written, and sums kept, in whole multiples of so many.
constexpr size_t digit_unit = 64;

// A number of float64 as a whole multiple of some power of two, in digits that a byte is multiplied with.
struct DigitKernels {
  int count;            // digits of a number; 0: the instruction set has no fast way
  int bits;             // of the whole numbers
  size_t item;          // bytes of a digit
  size_t places;        // of a line that `dot` takes at once, at most
  size_t most_vectors;  // above which other kernels are faster,
  size_t fewest_lines;  // and below which, as writing the digits would take longer than using them
  // the largest absolute value; not finite if one of them is not
  double (*largest)(const double* v, size_t count);
  // Digit p of up · v[i], rounded, goes to p * pitch + i; `by_place`: in the order that `dot` wants. Up to the next whole unit
  // the rest is 0. What was rounded away, times `down`, stays in v; returns whether it exceeds a bound anywhere.
  bool (*write)(double* v, size_t count, double up, double down, const double* bound, bool by_place, void* digit, size_t pitch);
  // y += scale · sums, which are cleared
  void (*flush)(int32_t* sums, size_t pitch, size_t length, double scale, double* y);
};

// What counts of the bytes of a line: all of them, all but a code, or 1 for each that is the code.
enum class Counted : int { all, present, absent };

// Lines of bytes against one vector written in digits; [Counted].
struct ByteKernels {
  // out[line] += scale · line · vector, for at most `places` places
  void (*dot[3])(const void* x, ptrdiff_t stride, uint8_t code, size_t lines, size_t length, const void* digit, size_t pitch, double scale, double* out);
  // sums += Σ weight · line, at most `digit_lines` lines before they are flushed; sums[p * pitch] has room for whole units
  void (*add[3])(const void* x, ptrdiff_t stride, uint8_t code, size_t lines, size_t length, const void* digit, size_t digit_pitch, int32_t* sums, size_t pitch);
  // The same of what is present, and what is there `instead` of absent values, added up: for each line the numbers of its places, for each
  // place those of its lines. Faster where few are absent; null where the instruction set has no fast way.
  void (*dot_listing)(const void* x, ptrdiff_t stride, uint8_t code, size_t lines, size_t length, const void* digit, size_t pitch, double scale, double* out, const double* instead, double* absent);
  void (*add_listing)(const void* x, ptrdiff_t stride, uint8_t code, size_t lines, size_t length, const void* digit, size_t digit_pitch, int32_t* sums, size_t pitch, const double* instead, double* absent);
};

// Lines of packed genotypes, four values a line (by code) that its calls count: one number and the copies, rounded, or what
// counts for a missing call. All null where there is no fast way.
struct PackedKernels {
  size_t near_bytes;  // of lines that should be given at once, and are gone through several times
  // sums[line * step + j] += Σ value · v[j], vectors `pitch` apart; one to four of them
  void (*dot)(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t people, const double* value, const double* v, size_t pitch, size_t k, double* sums, size_t step);
  // One vector in digits, of at most `digits.places` people: copies[line] += scale · Σ copies · digit, and, unless `instead` is null,
  // missing[line] += Σ of it over the people without a call, which had better be few; null where there is no fast way.
  void (*dot_digits)(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t people, const void* digit, size_t pitch, double scale, double* copies, const double* instead, double* missing);
  // y[j * pitch + person] += Σ value · w[line * step + j]; one to four vectors
  void (*add)(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t people, const double* value, const double* w, size_t step, size_t k, double* y, size_t pitch);
  // sums[column * pitch + person] = Σ ± value over the variants of a column of R: those are entry[pointer[column]] to
  // entry[pointer[column + 1]], each line << 1 | negative. Behind the last person up to 15 places are written, too.
  void (*sketch)(const uint8_t* packed, ptrdiff_t stride, size_t people, const float* value, const uint32_t* entry, const uint32_t* pointer, size_t columns, float* sums, size_t pitch);
};

// What is done to the values of each column on their way into a sketch: (x - near) · factor, or `instead` where x is missing,
// which `missing` stands for among whole numbers, and NaN among others. T is the type of the sums; `instead` is null where
// nothing is looked for: whole numbers are all there, and NaN stays NaN.
template <class T> struct Standardise {
  const T *near, *factor, *instead;
  T missing;
};

struct Kernels {
  const char* name;
  // random numbers
  void (*philox)(const uint32_t* counters, size_t count, uint64_t seed, uint32_t* words);
  void (*rows_f32)(const DenseRows&, uint64_t feature, size_t count, float* out, size_t stride);
  void (*rows_f64)(const DenseRows&, uint64_t feature, size_t count, double* out, size_t stride);
  void (*sign_bits)(uint64_t seed, uint64_t first_word, size_t words, uint32_t* out);
  // sign projections by look-up. The signs of sign_groups groups of four features: codes[column * sign_groups + group] has
  // bit 4 + i set where feature i of the group has -1; those of columns up to `padded` are 0.
  void (*sign_codes)(uint64_t seed, uint64_t feature, size_t columns, size_t padded, uint8_t* codes);
  // sums[column, lane] += side[feature, lane] R for sign_groups groups and whole `sign_columns` columns; tables: 16 rows of
  // lanes a group
  void (*sign_sums_f32)(const float* side, const uint8_t* codes, size_t columns, float* tables, float* sums);
  void (*sign_sums_f64)(const double* side, const uint8_t* codes, size_t columns, double* tables, double* sums);
  // out[feature * lane_rows + row] = X[row, feature] as sums are; one of the strides is 1, at most `lane_rows` rows, and lanes
  // without one are 0
  void (*side_by_side[type_count])(const void* x, ptrdiff_t row_stride, ptrdiff_t column_stride, size_t rows, size_t features, void* out);
  // tables of the sparse families
  void (*grouped_table)(const Scatter&, uint64_t first_group, size_t groups, GroupEntry* out);
  void (*independent_table)(const Scatter&, uint64_t feature, size_t count, Entry* out);
  size_t (*sparse_sign_row)(const Scatter&, uint64_t feature, Entry* out);  // at most `columns`; returns how many
  // sums[row] += X[row] S for up to `grouped_rows` rows in C order and `groups` whole groups of 16 features; rows of
  // sums are `sums_stride` apart. Bytes: hits[c] is how many of the groups [c, c + 1) * byte_chunk meet in one sum at
  // most, and scratch has room for 3 bytes a sum.
  void (*grouped_dense[type_count])(const Scatter&, const GroupEntry* table, size_t groups, const uint32_t* hits,
                                    const void* x, ptrdiff_t row_stride, size_t rows, void* scratch, void* sums);
  // the same, each value standardised on the way (Standardise<float>, or <double> for those), for up to `standard_rows` rows
  void (*grouped_standard[type_count])(const Scatter&, const GroupEntry* table, size_t groups, const void* standardise,
                                       const void* x, ptrdiff_t row_stride, size_t rows, void* sums);
  // sums += x S for the non-zeros of one sparse row; the table has 4 bytes a group and part (see GroupTable), `first_lane` is
  // the lane of index 0. false: an index is not below `columns`. [64-bit indices][float64]
  bool (*grouped_sparse[2][2])(const uint32_t* table, size_t each, size_t first_lane, size_t columns, const void* index,
                               const void* value, size_t count, double scale, void* sums);
  // out[:, row] += X[row] S, for up to `lane_rows` rows in C order, side by side
  void (*lanes_dense[type_count])(const Entry* entry, const uint32_t* pointer, size_t features, const void* x,
                                  ptrdiff_t row_stride, size_t rows, void* scratch, void* out);
  // out[:, row] += X[row] S for `rows` rows whose features lie apart: a column of X is added to a few rows of `out`,
  // which are `stride` apart
  void (*columns_dense[type_count])(const Entry* entry, const uint32_t* pointer, size_t features, const void* x,
                                    ptrdiff_t column_stride, size_t rows, void* out, size_t stride);
  // the same with columns that are filled, centred and scaled on the way; `standardise`: a Standardise of the type of `out`
  void (*columns_standard[type_count])(const Entry* entry, const uint32_t* pointer, size_t features, const void* standardise, const void* x,
                                       ptrdiff_t column_stride, size_t rows, void* out, size_t stride);
  // out[row * stride + column] = or += scale · sums[column * pitch + row]
  void (*write_turned_f32)(const float* sums, size_t pitch, float scale, bool add, size_t rows, size_t columns, float* out, size_t stride);
  void (*write_turned_f64)(const double* sums, size_t pitch, double scale, bool add, size_t rows, size_t columns, double* out, size_t stride);
  // Walsh-Hadamard
  void (*transform_f32)(float* x, size_t n);
  void (*transform_f64)(double* x, size_t n);
  void (*hadamard_dense[type_count])(const Hadamard&, const uint32_t* signs, uint64_t feature, size_t features,
                                     const void* x, ptrdiff_t row_stride, size_t rows, uint32_t* places, void* scratch,
                                     void* out);
  void (*hadamard_row_f32)(const Hadamard&, uint64_t seed, const uint64_t* index, const float* value, size_t count,
                           uint32_t* places, float* scratch, float* out);
  void (*hadamard_row_f64)(const Hadamard&, uint64_t seed, const uint64_t* index, const double* value, size_t count,
                           uint32_t* places, double* scratch, double* out);
  void (*hadamard_lift_f32)(const Hadamard&, const uint32_t* signs, uint64_t feature, size_t features, const float* v,
                            size_t rows, size_t v_stride, float scale, uint32_t* places, float* scratch, float* out,
                            size_t out_stride);
  void (*hadamard_lift_f64)(const Hadamard&, const uint32_t* signs, uint64_t feature, size_t features, const double* v,
                            size_t rows, size_t v_stride, double scale, uint32_t* places, double* scratch, double* out,
                            size_t out_stride);
  LineKernels lines[type_count];
  DigitKernels digits;
  ByteKernels bytes[2];  // int8, uint8
  PackedKernels packed;
  // two-bit genotypes of one variant, four people a byte: copies of the first allele, `missing` where there is no call;
  // returns whether one is missing
  bool (*unpack)(const uint8_t* packed, size_t people, int8_t missing, int8_t* out);
  // how many people have each of the codes 00, 01, 10, 11
  void (*count_calls)(const uint8_t* packed, size_t people, size_t (&of_code)[4]);
  // as `unpack`, for `variants` variants, turned: out[person * stride + variant]
  void (*unpack_turned)(const uint8_t* packed, ptrdiff_t packed_stride, size_t variants, size_t people, int8_t* out, ptrdiff_t stride);
  DescentKernels descent[2];            // float32, float64
  DescentKernels descent_sparse[2][2];  // with indices of 32 and of 64 bits
  SimplexDescent (*simplex)(const SimplexProblem&, double* scratch, const SimplexEffort&);
  // plain vector work
  void (*convert[type_count])(const void* x, size_t count, void* out);
  void (*axpy_f32)(float a, const float* x, float* y, size_t count);
  void (*axpy_f64)(double a, const double* x, double* y, size_t count);
  // whether all of them are finite
  bool (*finite_f32)(const float* x, size_t count);
  bool (*finite_f64)(const double* x, size_t count);
  uint64_t (*read)(const void* x, size_t bytes);
};

// What stands for a missing call among unpacked genotypes.
constexpr int8_t missing_call = -127;

// Rows that are taken side by side: one cache line of float32.
constexpr size_t lane_rows = 16;
// Features that are looked up together; groups of them whose tables fill the nearest cache, or half of it; columns
// come in multiples.
constexpr size_t sign_features = 4;
constexpr size_t sign_groups = 16;
constexpr size_t sign_columns = 4;
// Rows of X that share the work of decoding a table.
constexpr size_t grouped_rows = 8;
// The same where values are standardised on the way, which takes three numbers a column.
constexpr size_t standard_rows = 32;
// Groups of features between two looks at how large bytes are: 64 KB of eight rows, which stay in the cache.
constexpr size_t byte_chunk = 512;
constexpr size_t hadamard_rows = 8;

// A little more than the columns: rows a power of two apart would get in each other's way in the cache.
inline size_t sums_stride(const Scatter& scatter) { return scatter.columns + 2 * group_width; }

const Kernels& kernels();            // of the instruction set in force
const char* const* supported();      // names this CPU can run, best first, null-terminated
bool select_isa(const char* name);   // false: unknown or not to be had here

}  // namespace slimline
