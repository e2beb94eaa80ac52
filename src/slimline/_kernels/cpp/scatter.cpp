// Sparse families: where each feature goes, and rows of X taken side by side.
#include "elements.hpp"
#include "gaps.hpp"
#include "philox.hpp"
#include "table.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

SLIMLINE_INLINE uint32_t below(uint32_t word, uint32_t bound) { return uint32_t((uint64_t(word) * bound) >> 32); }

// Group B of 16 features, hash i: counter (B, i). Word 0 chooses the group of 16 buckets, word 1 the key that
// permutes the lanes, words 2 and 3 hold the signs of the first four parts; further ones follow in chunks.
void grouped_table(const Scatter& scatter, uint64_t first_group, size_t groups, GroupEntry* out) {
  const Key key = key_of(scatter.seed);
  const uint32_t buckets = scatter.buckets();
  for (size_t b = 0; b < groups; b++) {
    const uint32_t low = uint32_t(first_group + b), high = uint32_t((first_group + b) >> 32);
    for (uint32_t i = 0; i < scatter.nonzeros; i++) {
      const Words place = philox(low, high, i, stream_grouped, key);
      const uint64_t group = uint64_t(below(place.w[0], buckets / group_width)) * group_width;
      const uint64_t lane_key = place.w[1] & (group_width - 1);
      Words more = place;
      for (uint32_t u = 0; u < scatter.width; u++) {
        if (u >= 4 && u % 8 == 4) more = philox(low, high, i | (1 + (u - 4) / 8) << 16, stream_grouped, key);
        const uint32_t pair = u < 4 ? place.w[2 + u / 2] : more.w[(u - 4) % 8 / 2];
        const uint64_t signs = (pair >> (16 * (u & 1))) & 0xFFFFu;
        const uint64_t column = uint64_t(i * scatter.width + u) * buckets + group;
        *out++ = (column << 4 | lane_key) << 16 | signs;
      }
    }
  }
}

// Feature a, hash i: word a mod 4 of counter (a / 4, i): the low bit is the sign, the others the bucket.
void independent_table(const Scatter& scatter, uint64_t feature, size_t count, Entry* out) {
  const Key key = key_of(scatter.seed);
  const uint32_t buckets = scatter.buckets(), entries = scatter.entries();
  for (uint32_t i = 0; i < scatter.nonzeros; i++)
    for (uint32_t chunk = 0; chunk <= (scatter.width + 30) / 32; chunk++) {
      Words words{};
      for (size_t f = 0; f < count; f++) {
        const uint64_t a = feature + f, counter = a / 4;
        if (f == 0 || a % 4 == 0)
          words = philox(uint32_t(counter), uint32_t(counter >> 32), i | chunk << 16, stream_independent, key);
        const uint32_t word = words.w[a % 4];
        Entry* place = out + f * entries + i * scatter.width;
        if (chunk == 0) {
          const uint32_t bucket = uint32_t((uint64_t(word >> 1) * buckets) >> 31);
          for (uint32_t u = 0; u < scatter.width; u++) place[u] = ((i * scatter.width + u) * buckets + bucket) << 1;
          place[0] |= word & 1u;
        } else {
          const uint32_t first = 1 + (chunk - 1) * 32;
          for (uint32_t u = first; u < scatter.width && u < first + 32; u++) place[u] |= (word >> (u - first)) & 1u;
        }
      }
    }
}

size_t sparse_sign_row(const Scatter& scatter, uint64_t feature, Entry* out) {
  Entry* end = out;
  for_each_nonzero(scatter.gaps, feature, scatter.columns, key_of(scatter.seed),
                   [&](size_t column, uint32_t negative) { *end++ = Entry(column << 1) | negative; });
  return size_t(end - out);
}

constexpr size_t tile = 64;  // features transposed at a time: 256 bytes of a float32 row

template <class S>
SLIMLINE_INLINE void side_by_side(const S* x, ptrdiff_t row_stride, ptrdiff_t column_stride, size_t rows,
                                  size_t features, sum_of<S>* out) {
  using A = sum_of<S>;
  if (row_stride == 1 && rows == lane_rows) {
    for (size_t f = 0; f < features; f++)
      for (size_t l = 0; l < lane_rows; l += lanes<A>) store(out + f * lane_rows + l, load_wide(x + ptrdiff_t(f) * column_stride + l));
    return;
  }
  if (rows < lane_rows) std::memset(out, 0, features * lane_rows * sizeof(A));
  if (column_stride == 1)
    for (size_t l = 0; l < rows; l++) {
      const S* row = x + ptrdiff_t(l) * row_stride;
      for (size_t f = 0; f < features; f++) out[f * lane_rows + l] = widen(row[f]);
    }
  else
    for (size_t f = 0; f < features; f++)
      for (size_t l = 0; l < rows; l++) out[f * lane_rows + l] = widen(x[ptrdiff_t(f) * column_stride + ptrdiff_t(l) * row_stride]);
}

template <class S>
void lanes_dense(const Entry* entry, const uint32_t* pointer, size_t features, const void* from, ptrdiff_t row_stride,
                 ptrdiff_t column_stride, size_t rows, void* scratch, void* to) {
  using A = sum_of<S>;
  using V = vector_of<A>;
  constexpr int parts = int(lane_rows) / lanes<A>;
  const S* x = (const S*)from;
  A* side = (A*)scratch;
  A* out = (A*)to;
  for (size_t f0 = 0; f0 < features; f0 += tile) {
    const size_t here = features - f0 < tile ? features - f0 : tile;
    side_by_side(x + ptrdiff_t(f0) * column_stride, row_stride, column_stride, rows, here, side);
    for (size_t f = 0; f < here; f++) {
      V v[parts];
      SLIMLINE_UNROLL
      for (int p = 0; p < parts; p++) v[p] = load<V>(side + f * lane_rows + size_t(p * lanes<A>));
      for (uint32_t e = pointer[f0 + f]; e < pointer[f0 + f + 1]; e++) {
        A* o = out + size_t(entry[e] >> 1) * lane_rows;
        const bits_of<A> mask = bits_of<A>{} + (word_of<A>(entry[e] & 1u) << (sizeof(A) * 8 - 1));
        SLIMLINE_UNROLL
        for (int p = 0; p < parts; p++) store(o + p * lanes<A>, load<V>(o + p * lanes<A>) + flip(v[p], mask));
      }
    }
  }
}

}  // namespace

void add_scatter_kernels(Kernels& table) {
  table.grouped_table = grouped_table;
  table.independent_table = independent_table;
  table.sparse_sign_row = sparse_sign_row;
  table.lanes_dense[int(Type::f32)] = lanes_dense<float>;
  table.lanes_dense[int(Type::f64)] = lanes_dense<double>;
  table.lanes_dense[int(Type::f16)] = lanes_dense<half>;
  table.lanes_dense[int(Type::i8)] = lanes_dense<int8_t>;
  table.lanes_dense[int(Type::u8)] = lanes_dense<uint8_t>;
  table.lanes_dense[int(Type::i16)] = lanes_dense<int16_t>;
}

}  // namespace slimline::SLIMLINE_ISA
