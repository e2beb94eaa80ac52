// Sparse families: where each feature goes, and rows of X interleaved.
#include "families/gaps.hpp"
#include "families/philox.hpp"
#include "families/interleave.hpp"
#include "isa/table.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

constexpr size_t batch = 256;  // counters whose words are made together

// The run of a stack that a word chooses.
SLIMLINE_INLINE uint32_t place_in_stack(const Scatter& scatter, uint32_t word) { return uint32_t((uint64_t(word) * scatter.width) >> 32); }

// Columns of R: stack u of hash i has `width` runs of one column a bucket, from column (i * stacks + u) * width * buckets on.

// Group B of 16 features, hash i: counter (B, i). Word 0 chooses the group of 16 buckets, word 1 the key that
// permutes the lanes (its `common_key` is that of hash 0), words 2 and 3 hold the signs of the first four stacks; further ones
// follow in chunks of eight. The run of a stack is the same for all 16; words for four stacks come from one counter.
void grouped_table(const Scatter& scatter, uint64_t first_group, size_t groups, GroupEntry* out) {
  const Key seed = key_of(scatter.seed);
  const uint32_t buckets = scatter.buckets(), stacks = scatter.stacks, entries = scatter.entries();
  uint32_t words[4 * batch];
  for (size_t b0 = 0; b0 < groups; b0 += batch) {
    const size_t here = groups - b0 < batch ? groups - b0 : batch;
    for (uint32_t i = 0; i < scatter.nonzeros; i++) {
      GroupEntry* first = out + b0 * entries + i * stacks;
      fill_words(first_group + b0, here, i, stream_grouped, seed, words);
      for (size_t b = 0; b < here; b++) {
        const uint32_t* w = words + 4 * b;
        const uint64_t group = ((uint64_t(w[0]) * (buckets / group_width)) >> 32) * group_width;
        uint64_t key = w[1] & (group_width - 1);
        if (i > 0) key ^= (key ^ out[(b0 + b) * entries] >> 16) & common_key;
        for (uint32_t u = 0; u < stacks; u++) {
          const uint64_t column = uint64_t(i * stacks + u) * scatter.width * buckets + group;
          const uint64_t signs = u < 4 ? (w[2 + u / 2] >> (16 * (u & 1))) & 0xFFFFu : 0;
          first[b * entries + u] = (column << 4 | key) << 16 | signs;
        }
      }
      for (uint32_t u0 = 4; u0 < stacks; u0 += 8) {
        fill_words(first_group + b0, here, i | (1 + (u0 - 4) / 8) << 16, stream_grouped, seed, words);
        for (size_t b = 0; b < here; b++)
          for (uint32_t u = u0; u < stacks && u < u0 + 8; u++)
            first[b * entries + u] |= (words[4 * b + (u - u0) / 2] >> (16 * (u & 1))) & 0xFFFFu;
      }
      for (uint32_t u0 = 0; u0 < stacks && scatter.width > 1; u0 += 4) {
        fill_words(first_group + b0, here, i | u0 / 4 << 16, stream_grouped_stack, seed, words);
        for (size_t b = 0; b < here; b++)
          for (uint32_t u = u0; u < stacks && u < u0 + 4; u++)
            first[b * entries + u] += (uint64_t(place_in_stack(scatter, words[4 * b + (u - u0)])) * buckets) << 20;
      }
    }
  }
}

// Feature a, hash i: word a mod 4 of counter (a / 4, i): the low bit is the sign in the first stack, the others choose
// the bucket; signs of further stacks follow in chunks of 32. The run of stack u has a word of its own.
void independent_table(const Scatter& scatter, uint64_t feature, size_t count, Entry* out) {
  const Key key = key_of(scatter.seed);
  const uint32_t buckets = scatter.buckets(), stacks = scatter.stacks, entries = scatter.entries();
  uint32_t words[4 * batch];
  for (size_t f0 = 0; f0 < count;) {
    const uint64_t a0 = feature + f0;
    const size_t skip = size_t(a0 % 4), room = 4 * batch - skip, here = count - f0 < room ? count - f0 : room;
    const size_t counters = (skip + here + 3) / 4;
    for (uint32_t i = 0; i < scatter.nonzeros; i++) {
      Entry* first = out + f0 * entries + i * stacks;
      fill_words(a0 / 4, counters, i, stream_independent, key, words);
      for (size_t f = 0; f < here; f++) {
        const uint32_t word = words[skip + f], bucket = uint32_t((uint64_t(word >> 1) * buckets) >> 31);
        for (uint32_t u = 0; u < stacks; u++) first[f * entries + u] = ((i * stacks + u) * scatter.width * buckets + bucket) << 1;
        first[f * entries] |= word & 1u;
      }
      for (uint32_t u0 = 1; u0 < stacks; u0 += 32) {
        fill_words(a0 / 4, counters, i | (1 + (u0 - 1) / 32) << 16, stream_independent, key, words);
        for (size_t f = 0; f < here; f++)
          for (uint32_t u = u0; u < stacks && u < u0 + 32; u++)
            first[f * entries + u] |= (words[skip + f] >> (u - u0)) & 1u;
      }
      for (uint32_t u = 0; u < stacks && scatter.width > 1; u++) {
        fill_words(a0 / 4, counters, i | u << 16, stream_independent_stack, key, words);
        for (size_t f = 0; f < here; f++) first[f * entries + u] += place_in_stack(scatter, words[skip + f]) * buckets << 1;
      }
    }
    f0 += here;
  }
}

size_t sparse_sign_row(const Scatter& scatter, uint64_t feature, Entry* out) {
  Entry* end = out;
  for_each_nonzero(scatter.gaps, feature, scatter.columns, key_of(scatter.seed),
                   [&](size_t column, uint32_t negative) { *end++ = Entry(column << 1) | negative; });
  return size_t(end - out);
}

constexpr size_t tile = 64;  // features transposed at a time: 256 bytes of a float32 row

template <class T>
void add_lanes(const Entry* entry, const uint32_t* pointer, size_t features, const T* x, ptrdiff_t row_stride, size_t rows, T* scratch, T* out) {
  using V = vector_of<T>;
  constexpr int parts = int(lane_rows) / lanes<T>, step = lanes<T>;
  for (size_t f0 = 0; f0 < features; f0 += tile) {
    const size_t here = features - f0 < tile ? features - f0 : tile;
    interleave_rows(x + f0, row_stride, rows, here, scratch);
    for (size_t f = 0; f < here; f++) {
      V v[parts];
      SLIMLINE_UNROLL
      for (int p = 0; p < parts; p++) v[p] = load<V>(scratch + f * lane_rows + size_t(p * step));
      for (uint32_t e = pointer[f0 + f]; e < pointer[f0 + f + 1]; e++) {
        T* o = out + size_t(entry[e] >> 1) * lane_rows;
        const bits_of<T> mask = bits_of<T>{} + (word_of<T>(entry[e] & 1u) << (sizeof(T) * 8 - 1));
        SLIMLINE_UNROLL
        for (int p = 0; p < parts; p++) store(o + p * step, load<V>(o + p * step) + flip(v[p], mask));
      }
    }
  }
}

// In squares that stay in the nearest cache.
template <class T>
void write_transposed(const T* sums, size_t pitch, T scale, bool add, size_t rows, size_t columns, T* out, size_t stride) {
  constexpr size_t side = 16;
  for (size_t i = 0; i < rows; i += side) {
    const size_t high = rows - i < side ? rows - i : side;
    for (size_t k = 0; k < columns; k += side) {
      if (add && i + 2 * side <= rows)  // rows lie far apart: those of the next square are on their way
        for (size_t l = side; l < 2 * side; l++) __builtin_prefetch(out + (i + l) * stride + k, 1, 2);
      const size_t wide = columns - k < side ? columns - k : side;
      const T* from = sums + k * pitch + i;
      T* to = out + i * stride + k;
#if SLIMLINE_VECTOR_BYTES >= 32
      if constexpr (sizeof(T) == 4)
        if (high == side && wide == side) {
          alignas(64) float square[side * side];
          for (size_t a = 0; a < side; a += 8)
            for (size_t b = 0; b < side; b += 8) transpose8(from + a * pitch + b, ptrdiff_t(pitch), square + b * side + a, side);
          for (size_t l = 0; l < side; l++)
            for (size_t c = 0; c < side; c++) to[l * stride + c] = (add ? to[l * stride + c] : 0.0f) + square[l * side + c] * scale;
          continue;
        }
#endif
      for (size_t l = 0; l < high; l++)
        for (size_t c = 0; c < wide; c++) to[l * stride + c] = (add ? to[l * stride + c] : T(0)) + from[c * pitch + l] * scale;
    }
  }
}

// Columns of X, each added to a few rows of `out`; `changed` is done to what is loaded, by the number of the column.
template <class T, class Change>
SLIMLINE_INLINE void add_changed(const Entry* entry, const uint32_t* pointer, size_t features, const T* x, ptrdiff_t column_stride, size_t rows,
                                 T* to, size_t stride, Change changed) {
  using V = vector_of<T>;
  constexpr size_t step = size_t(lanes<T>), ahead = 8;  // short stretches of columns: the machine's own prefetcher does not see them coming
  const size_t whole = rows / step * step;
  for (size_t f = 0; f < features; f++, x += column_stride) {
    if (f + ahead < features)
      for (size_t l = 0; l < rows; l += 64 / sizeof(T)) __builtin_prefetch(x + ptrdiff_t(ahead) * column_stride + l);
    for (uint32_t e = pointer[f]; e < pointer[f + 1]; e++) {
      T* out = to + size_t(entry[e] >> 1) * stride;
      const bits_of<T> mask = bits_of<T>{} + (word_of<T>(entry[e] & 1u) << (sizeof(T) * 8 - 1));
      for (size_t l = 0; l < whole; l += step) store(out + l, load<V>(out + l) + flip(changed(load<V>(x + l), f), mask));
      for (size_t l = whole; l < rows; l++) out[l] += flip(changed(x[l], f), entry[e] & 1u);
    }
  }
}

template <class T>
void add_columns(const Entry* entry, const uint32_t* pointer, size_t features, const T* x, ptrdiff_t column_stride, size_t rows, T* to, size_t stride) {
  add_changed(entry, pointer, features, x, column_stride, rows, to, stride, [](auto z, size_t) { return z; });
}

template <class T>
void add_columns_standard(const Entry* entry, const uint32_t* pointer, size_t features, const Standardise<T>& s, const T* x, ptrdiff_t column_stride,
                          size_t rows, T* to, size_t stride) {
  auto run = [&](auto changed) { add_changed(entry, pointer, features, x, column_stride, rows, to, stride, changed); };
  auto centred = [&](auto z, size_t f) { return (z - s.near[f]) * s.factor[f]; };
  if (!s.instead) return run(centred);
  run([&](auto z, size_t f) { return z == z ? centred(z, f) : decltype(z){} + s.instead[f]; });
}

template <class T> void add_type(FamilyKernels<T>& k) {
  k.lanes = add_lanes<T>;
  k.columns = add_columns<T>;
  k.columns_standard = add_columns_standard<T>;
  k.write_transposed = write_transposed<T>;
}

}  // namespace

void add_scatter_kernels(Kernels& table) {
  table.random.grouped_table = grouped_table;
  table.random.independent_table = independent_table;
  table.random.sparse_sign_row = sparse_sign_row;
  add_type(table.f32.families), add_type(table.f64.families);
}

}  // namespace slimline::SLIMLINE_ISA
