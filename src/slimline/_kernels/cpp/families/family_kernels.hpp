// What the families of projections need of an instruction set, and the plain structs that describe R.
#pragma once

#include <cstddef>
#include <cstdint>

namespace slimline {

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
  stream_grouped_stack = 9,
  stream_independent_stack = 10,
};

// Lengths of the runs of zeros in a row of a sparse sign matrix: at least k zeros if and only if a 31-bit draw is below
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
  size_t first = 0;  // normal: the first column that is written, a multiple of `normal_columns`
};
constexpr size_t normal_columns = 64;

enum class Hash : int { grouped, independent, sparse_sign };

// A family with few non-zeros a feature.
struct Scatter {
  Hash hash;
  uint64_t seed;
  size_t columns;     // r
  uint32_t nonzeros;  // s: independent buckets a feature
  uint32_t stacks;    // a: non-zeros in a bucket, one a stack
  Gaps gaps;
  uint32_t width = 1;  // v: columns of a stack in a bucket
  uint32_t buckets() const { return uint32_t(columns / (size_t(nonzeros) * stacks * width)); }
  uint32_t entries() const { return nonzeros * stacks; }  // grouped and independent: non-zeros a feature
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

// Rows that are interleaved: one cache line of float32.
constexpr size_t lane_rows = 16;
// Features that are looked up together; groups of them whose tables fill the nearest cache, or half of it; columns come in
// multiples.
constexpr size_t sign_features = 4;
constexpr size_t sign_groups = 16;
constexpr size_t sign_columns = 4;
// Rows of X that share the work of decoding a table.
constexpr size_t grouped_rows = 8;
// The same where values are standardised on the way, which takes three numbers a column.
constexpr size_t standard_rows = 32;
constexpr size_t hadamard_rows = 8;

// A little more than the columns: rows a power of two apart would compete for the same lines of the cache.
inline size_t sums_stride(const Scatter& scatter) { return scatter.columns + 2 * group_width; }

// Random numbers, and the tables that are made from them.
struct RandomKernels {
  void (*philox)(const uint32_t* counters, size_t count, uint64_t seed, uint32_t* words);
  void (*sign_bits)(uint64_t seed, uint64_t first_word, size_t words, uint32_t* out);
  // The signs of `sign_groups` groups of four features: codes[column * sign_groups + group] has bit 4 + i set if feature i
  // of the group has -1; the codes of columns up to `padded` are 0.
  void (*sign_codes)(uint64_t seed, uint64_t feature, size_t columns, size_t padded, uint8_t* codes);
  void (*grouped_table)(const Scatter&, uint64_t first_group, size_t groups, GroupEntry* out);
  void (*independent_table)(const Scatter&, uint64_t feature, size_t count, Entry* out);
  size_t (*sparse_sign_row)(const Scatter&, uint64_t feature, Entry* out);  // at most `columns`; returns how many
};

// What is done to the values of each column on their way into a sketch: (x - near) · factor, or `instead` where x is NaN; null:
// NaN stays NaN.
template <class T> struct Standardise {
  const T *near, *factor, *instead;
};

// Products with R for X and sums of type T, float or double.
template <class T> struct FamilyKernels {
  // rows of R, `stride` apart
  void (*rows)(const DenseRows&, uint64_t feature, size_t count, T* out, size_t stride);
  // out[feature * lane_rows + row] = X[row, feature]: one of the strides is 1, at most `lane_rows` rows, 0 in lanes without a row
  void (*interleave)(const T* x, ptrdiff_t row_stride, ptrdiff_t column_stride, size_t rows, size_t features, T* out);
  // sums[column, lane] += interleaved[feature, lane] R for `sign_groups` groups and whole `sign_columns` columns; tables:
  // 16 rows of lanes a group
  void (*sign_sums)(const T* interleaved, const uint8_t* codes, size_t columns, T* tables, T* sums);
  // sums[row] += X[row] S for rows in C order and `groups` whole groups of 16 features; rows of sums: `sums_stride` apart
  void (*grouped)(const Scatter&, const GroupEntry* table, size_t groups, const T* x, ptrdiff_t row_stride, size_t rows, T* sums);
  // sums += x S for the non-zeros of one sparse row; the table has 4 bytes a group and part (see GroupTable), `first_lane` is
  // the lane of index 0. false: an index is not below `columns`. [64-bit indices]
  bool (*grouped_sparse[2])(const uint32_t* table, size_t each, size_t first_lane, size_t columns, const void* index, const T* value,
                            size_t count, double scale, T* sums);
  // sums[:, row] += X[row] S, for up to `lane_rows` rows in C order, interleaved; scratch: 64 features of them
  void (*lanes)(const Entry* entry, const uint32_t* pointer, size_t features, const T* x, ptrdiff_t row_stride, size_t rows, T* scratch, T* sums);
  // sums[:, row] += X[row] S for rows whose features lie apart: a column of X is added to a few rows of the sums, which are
  // `stride` apart
  void (*columns)(const Entry* entry, const uint32_t* pointer, size_t features, const T* x, ptrdiff_t column_stride, size_t rows, T* sums, size_t stride);
  // the same two, each value standardised on the way; the first for up to `standard_rows` rows
  void (*grouped_standard)(const Scatter&, const GroupEntry* table, size_t groups, const Standardise<T>&, const T* x, ptrdiff_t row_stride, size_t rows, T* sums);
  void (*columns_standard)(const Entry* entry, const uint32_t* pointer, size_t features, const Standardise<T>&, const T* x, ptrdiff_t column_stride,
                           size_t rows, T* sums, size_t stride);
  // out[row * stride + column] = or += scale * sums[column * pitch + row]
  void (*write_transposed)(const T* sums, size_t pitch, T scale, bool add, size_t rows, size_t columns, T* out, size_t stride);
  // Walsh-Hadamard: of one row in place; of rows, with signs and sampled columns; of a sparse row; and back from the samples
  void (*transform)(T* x, size_t n);
  void (*hadamard)(const Hadamard&, const uint32_t* signs, uint64_t feature, size_t features, const T* x, ptrdiff_t row_stride, size_t rows,
                   uint32_t* sampled, T* scratch, T* out);
  void (*hadamard_row)(const Hadamard&, uint64_t seed, const uint64_t* index, const T* value, size_t count, uint32_t* sampled, T* scratch, T* out);
  void (*hadamard_lift)(const Hadamard&, const uint32_t* signs, uint64_t feature, size_t features, const T* v, size_t rows, size_t v_stride,
                        T scale, uint32_t* sampled, T* scratch, T* out, size_t out_stride);
};

}  // namespace slimline
