// X R with signs for entries, by look-up: what four features of a row can add up to are sixteen numbers, made once and used
// for all columns of R. One addition then does the work of four multiplications, sixteen rows interleaved: more than
// twice as fast as a product of matrices.
#include "families/philox.hpp"
#include "families/interleave.hpp"
#include "isa/table.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

// The highest bit of each lane, lane 0 in bit 0.
SLIMLINE_INLINE uint32_t top_bits(vu v) {
#if SLIMLINE_VECTOR_BYTES == 64
  return uint32_t(_mm512_movepi32_mask((__m512i)v));
#elif SLIMLINE_VECTOR_BYTES == 32
  return uint32_t(_mm256_movemask_ps((__m256)v));
#elif defined(__x86_64__)
  return uint32_t(_mm_movemask_ps((__m128)v));
#else
  uint32_t bits = 0;
  for (int l = 0; l < float_lanes; l++) bits |= v[l] >> 31 << l;
  return bits;
#endif
}

// Four bits a byte, in its upper half.
SLIMLINE_INLINE uint32_t spread(uint32_t bits) {
  bits = (bits | bits << 8) & 0x00FF00FFu;
  return ((bits | bits << 4) & 0x0F0F0F0Fu) << 4;
}

// As in rows.cpp: column j of a feature is bit j mod 128 of counter (j / 128, feature), and lanes run over features.
void sign_codes(uint64_t seed, uint64_t feature, size_t columns, size_t padded, uint8_t* codes) {
  constexpr size_t step = size_t(float_lanes) / sign_features;  // groups whose signs come together: 1, 2 or 4
  static_assert(sign_groups % step == 0 && step <= sizeof(uint32_t), "the codes of a column are written as one number");
  const Key key = key_of(seed);
  std::memset(codes + columns * sign_groups, 0, (padded - columns) * sign_groups);
  for (size_t g = 0; g < sign_groups; g += step) {
    const Lanes features = counting(feature + g * sign_features), high = high_half(features);
    WordLanes words;
    for (size_t j = 0; j < columns; j += 32) {
      const size_t here = columns - j < 32 ? columns - j : 32;
      if (j % 128 == 0) {
        const Lanes chunk = same(uint32_t(j / 128));
        philox<1>(&chunk, &features, &high, stream_sign, key, &words);
      }
      vu bits = words.w[j % 128 / 32] << uint32_t(32 - here);
      for (size_t c = here; c-- > 0; bits += bits) {
        const uint32_t code = spread(top_bits(bits));
        std::memcpy(codes + (j + c) * sign_groups + g, &code, step);
      }
    }
  }
}

// table[code] = ±x0 ± x1 ± x2 ± x3, lane by lane; code as `sign_codes` writes it is where that begins.
template <class A> SLIMLINE_INLINE void make_table(const A* x, A* table) {
  using V = vector_of<A>;
  for (size_t l = 0; l < lane_rows; l += size_t(lanes<A>)) {
    V first[4], second[4];
    auto pair = [&](const A* of, V (&sums)[4]) {
      const V a = load<V>(of + l), b = load<V>(of + lane_rows + l);
      sums[0] = a + b, sums[1] = b - a, sums[2] = a - b, sums[3] = -a - b;
    };
    pair(x, first), pair(x + 2 * lane_rows, second);
    SLIMLINE_UNROLL
    for (size_t c = 0; c < 16; c++) store(table + c * lane_rows + l, first[c % 4] + second[c / 4]);
  }
}

template <class A> void sign_sums(const A* interleaved, const uint8_t* codes, size_t columns, A* tables, A* sums) {
  using V = vector_of<A>;
  constexpr size_t table = 16 * lane_rows, together = 4;  // more groups together would need more registers than there are
  constexpr int parts = int(lane_rows) / lanes<A>, at_once = parts >= 8 ? 1 : parts >= 2 ? 2 : 4;
  static_assert(sign_columns % at_once == 0, "columns come in whole batches");
  for (size_t g = 0; g < sign_groups; g++) make_table(interleaved + g * sign_features * lane_rows, tables + g * table);
  for (size_t j = 0; j < columns; j += at_once, codes += at_once * sign_groups, sums += at_once * lane_rows) {
    V sum[at_once][parts] = {};
    SLIMLINE_NO_UNROLL
    for (size_t first = 0; first < sign_groups; first += together) {
      SLIMLINE_UNROLL
      for (size_t g = first; g < first + together; g++) {
        SLIMLINE_UNROLL
        for (int c = 0; c < at_once; c++) {
          const A* entry = tables + g * table + codes[size_t(c) * sign_groups + g];
          SLIMLINE_UNROLL
          for (int p = 0; p < parts; p++) sum[c][p] += load<V>(entry + p * lanes<A>);
        }
      }
    }
    SLIMLINE_UNROLL
    for (int c = 0; c < at_once; c++) {
      A* out = sums + size_t(c) * lane_rows;
      SLIMLINE_UNROLL
      for (int p = 0; p < parts; p++) store(out + p * lanes<A>, load<V>(out + p * lanes<A>) + sum[c][p]);
    }
  }
}

template <class T>
void interleave(const T* x, ptrdiff_t row_stride, ptrdiff_t column_stride, size_t rows, size_t features, T* out) {
  if (column_stride == 1) interleave_rows(x, row_stride, rows, features, out);
  else interleave_columns(x, column_stride, rows, features, out);
}

template <class T> void add_type(FamilyKernels<T>& k) {
  k.sign_sums = sign_sums<T>;
  k.interleave = interleave<T>;
}

}  // namespace

void add_sign_kernels(Kernels& table) {
  table.random.sign_codes = sign_codes;
  add_type(table.f32.families), add_type(table.f64.families);
}

}  // namespace slimline::SLIMLINE_ISA
