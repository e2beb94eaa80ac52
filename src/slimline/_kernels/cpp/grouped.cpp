// The grouped embedding of dense rows: 16 consecutive features are loaded, their signs flipped, their lanes
// permuted, and added to 16 consecutive sums. No scatter, so it runs as fast as X can be read.
#include "elements.hpp"
#include "table.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

// What an entry of the table does to the vectors of a group: lanes moved by the key, signs flipped.
template <class S> struct Move {
  using A = sum_of<S>;
  using V = vector_of<A>;
  static SLIMLINE_INLINE V load_common(const S* x, uint32_t) { return load_wide(x); }

  const uint32_t bits, key;
  const LaneXor permute;
  explicit SLIMLINE_INLINE Move(GroupEntry entry)
      : bits(uint32_t(entry & 0xFFFFu)), key(uint32_t(entry >> 16) & uint32_t(group_width - 1)),
        permute((key * uint32_t(sizeof(A) / 4)) & uint32_t(float_lanes - 1)) {}
  SLIMLINE_INLINE V lanes_of(V v) const { return permute(v); }
  SLIMLINE_INLINE V signs(int p) const {
    if constexpr (lanes<A> == int(group_width)) return sign_values<A>((bits << 16 | bits) >> (key & 8), 0);
    return sign_values<A>(bits >> ((uint32_t(p * lanes<A>) ^ key ^ (key & 8)) & ~uint32_t(lanes<A> - 1)), 0);
  }
};

#if SLIMLINE_VECTOR_BYTES == 32
// Crossing the halves of a 32-byte vector costs twice as much as moving inside them, so the bit of the key that does it is
// the same in all parts of the hash, and is applied while loading. The rest needs nothing but one broadcast of the entry.
template <> struct Move<float> {
  static SLIMLINE_INLINE vf load_common(const float* x, uint32_t common) {
    const __m256 low = _mm256_castps128_ps256(_mm_loadu_ps(x + common));
    return (vf)_mm256_insertf128_ps(low, _mm_loadu_ps(x + (common ^ common_key)), 1);
  }

  const vu word;
  const __m256i order;
  explicit SLIMLINE_INLINE Move(GroupEntry entry) : word(vu{} + uint32_t(entry)), order((__m256i)(iota32() ^ (word >> 16))) {}
  SLIMLINE_INLINE vf lanes_of(vf v) const { return (vf)_mm256_permutevar_ps((__m256)v, order); }  // looks at two bits only
  SLIMLINE_INLINE vf signs(int p) const {
    vu shift;
    SLIMLINE_UNROLL
    for (int i = 0; i < 8; i++) shift[i] = uint32_t(31 - 8 * p - i);
    return flip(vf{} + 1.0f, (word << shift) & 0x80000000u);
  }
};
#endif

// Bytes of each row that are fetched ahead: without it a core reads a tenth to a fifth less than memory gives.
constexpr ptrdiff_t ahead = 1024;

// Row q of X: x + q * row_stride; row q of the sums: sums + q * stride.
template <class S, int rows>
SLIMLINE_INLINE void add_groups(uint32_t entries, const GroupEntry* table, size_t groups, const S* x,
                                ptrdiff_t row_stride, sum_of<S>* sums, size_t stride) {
  using A = sum_of<S>;
  using V = vector_of<A>;
  constexpr int vectors = int(group_width) / lanes<A>;
  A* row[rows];
  SLIMLINE_UNROLL
  for (int q = 0; q < rows; q++) row[q] = sums + size_t(q) * stride;
  for (size_t b = 0; b < groups; b++) {
    const uint32_t common = uint32_t(*table >> 16) & common_key;
    V v[rows][vectors];
    SLIMLINE_UNROLL
    for (int q = 0; q < rows; q++) {
      const S* at = x + q * row_stride + ptrdiff_t(b * group_width);
      SLIMLINE_UNROLL
      for (int p = 0; p < vectors; p++) v[q][p] = Move<S>::load_common(at + p * lanes<A>, common);
      SLIMLINE_UNROLL
      for (int byte = 0; byte < int(group_width * sizeof(S)); byte += 64) __builtin_prefetch((const char*)at + ahead + byte);
    }
    for (uint32_t t = 0; t < entries; t++) {
      const GroupEntry entry = *table++;
      const Move<S> move(entry);
      const size_t first = size_t(entry >> 20) | (size_t(entry >> 16) & (group_width - size_t(lanes<A>)));
      SLIMLINE_UNROLL
      for (int p = 0; p < vectors; p++) {
        const V sign = move.signs(p);
        SLIMLINE_UNROLL
        for (int q = 0; q < rows; q++) {
          A* place = row[q] + (first ^ size_t(p * lanes<A>));
          store(place, add_signed(move.lanes_of(v[q][p]), sign, load<V>(place)));
        }
      }
    }
  }
}

template <class S>
void add_rows(uint32_t entries, const GroupEntry* table, size_t groups, const S* x, ptrdiff_t row_stride, size_t rows,
              sum_of<S>* sums, size_t stride) {
  constexpr int together = 4;  // what the registers of AVX2 hold
  size_t q = 0;
  for (; q + together <= rows; q += together)
    add_groups<S, together>(entries, table, groups, x + ptrdiff_t(q) * row_stride, row_stride, sums + q * stride, stride);
  for (; q < rows; q++) add_groups<S, 1>(entries, table, groups, x + ptrdiff_t(q) * row_stride, row_stride, sums + q * stride, stride);
}

template <class S>
void grouped_dense(const Scatter& scatter, const GroupEntry* table, size_t groups, const uint32_t*, const void* x,
                   ptrdiff_t row_stride, size_t rows, void*, void* sums) {
  add_rows(scatter.entries(), table, groups, (const S*)x, row_stride, rows, (sum_of<S>*)sums, sums_stride(scatter));
}

// Bytes, each changed on the way into float32.
template <class S> SLIMLINE_INLINE vf load_bytes(const S* x, uint32_t common) {
#if SLIMLINE_VECTOR_BYTES == 32  // as Move<float>::load_common
  const __m128i halves = _mm_xor_si128(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), _mm_set1_epi8(char(common)));
  const __m128i bytes = _mm_shuffle_epi8(_mm_loadl_epi64((const __m128i*)x), halves);
  return (vf)_mm256_cvtepi32_ps(S(-1) < S(0) ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes));
#else
  (void)common;
  return load_wide(x);
#endif
}

template <class S, int rows>
SLIMLINE_INLINE void add_changed(uint32_t entries, const GroupEntry* table, size_t groups, const ByteChange& change, const S* x,
                                 ptrdiff_t row_stride, float* sums, size_t stride) {
  constexpr int vectors = int(group_width) / float_lanes;
  const vf missing = vf{} + change.missing;
  float* row[rows];
  SLIMLINE_UNROLL
  for (int q = 0; q < rows; q++) row[q] = sums + size_t(q) * stride;
  for (size_t b = 0; b < groups; b++) {
    const uint32_t common = uint32_t(*table >> 16) & common_key;
    vf v[rows][vectors];
    SLIMLINE_UNROLL
    for (int p = 0; p < vectors; p++) {
      const size_t at = b * group_width + size_t(p * float_lanes);
      const vf near = Move<float>::load_common(change.near + at, common), rest = Move<float>::load_common(change.rest + at, common);
      const vf factor = Move<float>::load_common(change.factor + at, common), instead = Move<float>::load_common(change.instead + at, common);
      SLIMLINE_UNROLL
      for (int q = 0; q < rows; q++) {
        const vf z = load_bytes(x + q * row_stride + ptrdiff_t(at), common);
        v[q][p] = z == missing ? instead : (z - near) * factor + rest;
      }
    }
    for (uint32_t t = 0; t < entries; t++) {
      const GroupEntry entry = *table++;
      const Move<float> move(entry);
      const size_t first = size_t(entry >> 20) | (size_t(entry >> 16) & (group_width - size_t(float_lanes)));
      SLIMLINE_UNROLL
      for (int p = 0; p < vectors; p++) {
        const vf sign = move.signs(p);
        SLIMLINE_UNROLL
        for (int q = 0; q < rows; q++) {
          float* place = row[q] + (first ^ size_t(p * float_lanes));
          store(place, add_signed(move.lanes_of(v[q][p]), sign, load<vf>(place)));
        }
      }
    }
  }
}

template <class S>
void grouped_changed(const Scatter& scatter, const GroupEntry* table, size_t groups, const ByteChange& change, const void* data,
                     ptrdiff_t row_stride, size_t rows, float* sums) {
  constexpr size_t chunk = 512;  // what belongs to the columns of a chunk is fetched once for all rows
  constexpr int together = 4;
  const size_t stride = sums_stride(scatter);
  const uint32_t entries = scatter.entries();
  for (size_t b = 0; b < groups; b += chunk) {
    const size_t here = groups - b < chunk ? groups - b : chunk, at = b * group_width;
    const ByteChange part{change.near + at, change.rest + at, change.factor + at, change.instead + at, change.missing};
    const S* x = (const S*)data + at;
    size_t q = 0;
    for (; q + together <= rows; q += together)
      add_changed<S, together>(entries, table + b * entries, here, part, x + ptrdiff_t(q) * row_stride, row_stride, sums + q * stride, stride);
    for (; q < rows; q++)
      add_changed<S, 1>(entries, table + b * entries, here, part, x + ptrdiff_t(q) * row_stride, row_stride, sums + q * stride, stride);
  }
}

#if SLIMLINE_VECTOR_BYTES >= 32

// Bytes are permuted as bytes. Where they are small, and few of them meet in a sum, they are added as bytes too: two rows
// of a group in one vector. Larger ones are added as int16, and as float32 where even that could overflow.

SLIMLINE_INLINE __m256i two_rows(const void* low, const void* high) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i*)low)), _mm_loadu_si128((const __m128i*)high), 1);
}

// Largest absolute value in rows of `count` entries, a multiple of 16.
template <class S> uint32_t largest(const S* x, ptrdiff_t row_stride, size_t rows, size_t count) {
  __m256i most = _mm256_setzero_si256();
  auto see = [&](__m256i v) {
    if constexpr (S(-1) < S(0)) v = _mm256_abs_epi8(v);  // -128 becomes 128, read without a sign
    most = _mm256_max_epu8(most, v);
  };
  for (size_t k = 0; k < count; k += 64)  // line by line, so that the memory sees a few steady streams
    for (size_t q = 0; q < rows; q++) {
      const S* row = x + ptrdiff_t(q) * row_stride;
      if (k + 64 <= count) {
        see(_mm256_loadu_si256((const __m256i*)(row + k)));
        see(_mm256_loadu_si256((const __m256i*)(row + k + 32)));
      } else {
        for (size_t l = k; l < count; l += 16) see(two_rows(row + l, row + l));
      }
    }
  alignas(32) uint8_t each[32];
  _mm256_store_si256((__m256i*)each, most);
  uint32_t found = 0;
  for (uint8_t e : each) found = e > found ? e : found;
  return found;
}

// Sums of bytes: 16 sums of row 2 p and the same 16 of row 2 p + 1 lie side by side, pair p begins at sums + 2 p stride.
template <int pairs>
__attribute__((noinline)) void add_pairs(uint32_t entries, const GroupEntry* table, size_t groups, const int8_t* x,
                                         ptrdiff_t row_stride, int8_t* sums, size_t stride) {
  const __m256i iota = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  const __m256i bit = _mm256_set1_epi64x(int64_t(0x8040201008040201ull));
  const __m256i one = _mm256_set1_epi8(1), key_byte = _mm256_set1_epi8(2);
  const __m256i sign_bytes = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1));
  const ptrdiff_t three = 3 * row_stride, pair_stride = 2 * ptrdiff_t(stride);
  const GroupEntry* const last = table + groups * entries;
  for (size_t b = 0; table < last; b++, x += group_width) {
    // While this chunk is added up the next one is fetched: each line of eight rows once (a single pair: of its first).
    const int8_t* next = x + byte_chunk * group_width + ptrdiff_t(b % 4 * (pairs / 2)) * row_stride;
    SLIMLINE_UNROLL
    for (int p = 0; p < (pairs + 1) / 2; p++, next += row_stride) __builtin_prefetch(next, 0, 2);
    __m256i v[pairs];
    v[0] = two_rows(x, x + row_stride);
    if constexpr (pairs == 4) {
      const int8_t* y = x + 4 * row_stride;
      v[1] = two_rows(x + 2 * row_stride, x + three);
      v[2] = two_rows(y, y + row_stride);
      v[3] = two_rows(y + 2 * row_stride, y + three);
    }
    const GroupEntry* const end = table + entries;
    do {
      const GroupEntry entry = *table++;
      const __m256i word = _mm256_set1_epi32(int(uint32_t(entry)));  // signs in bytes 0 and 1, the key in byte 2
      const __m256i order = _mm256_xor_si256(iota, _mm256_shuffle_epi8(word, key_byte));
      const __m256i bits = _mm256_shuffle_epi8(_mm256_shuffle_epi8(word, sign_bytes), order);
      const __m256i signs = _mm256_or_si256(_mm256_cmpeq_epi8(_mm256_and_si256(bits, bit), bit), one);  // -1 or 1
      int8_t* place = sums + (entry >> 20) * 2;
      SLIMLINE_UNROLL
      for (int p = 0; p < pairs; p++, place += pair_stride) {
        const __m256i moved = _mm256_sign_epi8(_mm256_shuffle_epi8(v[p], order), signs);
        _mm256_store_si256((__m256i*)place, _mm256_add_epi8(_mm256_load_si256((const __m256i*)place), moved));
      }
    } while (table < end);
  }
}

template <class S, int rows>
SLIMLINE_INLINE void add_wide(uint32_t entries, const GroupEntry* table, size_t groups, const S* x, ptrdiff_t row_stride,
                              int16_t* sums, size_t stride) {
  const __m128i iota = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m256i bit = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, -32768);
  const __m256i one = _mm256_set1_epi16(1);
  for (size_t b = 0; b < groups; b++) {
    __m128i v[rows];
    SLIMLINE_UNROLL
    for (int q = 0; q < rows; q++) v[q] = _mm_loadu_si128((const __m128i*)(x + q * row_stride + ptrdiff_t(b * group_width)));
    for (uint32_t t = 0; t < entries; t++) {
      const GroupEntry entry = *table++;
      const uint32_t key = uint32_t(entry >> 16) & uint32_t(group_width - 1), once = uint32_t(entry & 0xFFFFu);
      const __m128i order = _mm_xor_si128(iota, _mm_set1_epi8(char(key)));
      const __m256i bits = _mm256_set1_epi16(short((once << 16 | once) >> (key & 8)));
      const __m256i signs = _mm256_or_si256(_mm256_cmpeq_epi16(_mm256_and_si256(bits, bit), bit), one);
      int16_t* first = sums + (entry >> 20);
      SLIMLINE_UNROLL
      for (int q = 0; q < rows; q++) {
        const __m128i moved = _mm_shuffle_epi8(v[q], order);
        __m256i wide;
        if constexpr (S(-1) < S(0)) wide = _mm256_cvtepi8_epi16(moved); else wide = _mm256_cvtepu8_epi16(moved);
        __m256i* place = (__m256i*)(first + size_t(q) * stride);
        _mm256_storeu_si256(place, _mm256_add_epi16(_mm256_loadu_si256(place), _mm256_sign_epi16(wide, signs)));
      }
    }
  }
}

// The sums of up to `grouped_rows` rows in three sizes. `bound` is what no sum of that size can exceed; 0: none is in use.
template <class S> class ByteSums {
 public:
  ByteSums(const Scatter& scatter, const S* x, ptrdiff_t row_stride, size_t rows, void* scratch, float* sums)
      : entries_(scatter.entries()), x_(x), row_stride_(row_stride), rows_(rows), stride_(sums_stride(scatter)),
        wide_((int16_t*)scratch), small_((int8_t*)(wide_ + grouped_rows * stride_)), sums_(sums) {}

  // Groups [begin, begin + count), no more than `hits` of which meet in one sum.
  void add(const GroupEntry* table, size_t begin, size_t count, uint32_t hits) {
    const S* x = x_ + begin * group_width;
    table += begin * entries_;
    if (count * entries_ < 2 * stride_ / group_width)  // too few to repay clearing and emptying the small sums
      return add_rows(entries_, table, count, x, row_stride_, rows_, sums_, stride_);
    const uint32_t growth = hits * largest(x, row_stride_, rows_, count * group_width);
    if (growth == 0) return;
    if (growth <= 127) {
      if (small_bound_ + growth > 127) widen_small();
      if (small_bound_ == 0) std::memset(small_, 0, grouped_rows * stride_);
      small_bound_ += growth;
      add_small(table, count, x);
    } else if (growth <= 32767) {
      if (wide_bound_ + growth > 32767) spill_wide();
      clear_wide();
      wide_bound_ += growth;
      size_t q = 0;
      for (; q + 4 <= rows_; q += 4) add_wide<S, 4>(entries_, table, count, row(x, q), row_stride_, wide_ + q * stride_, stride_);
      for (; q < rows_; q++) add_wide<S, 1>(entries_, table, count, row(x, q), row_stride_, wide_ + q * stride_, stride_);
    } else {
      add_rows(entries_, table, count, x, row_stride_, rows_, sums_, stride_);
    }
  }
  void finish() {
    widen_small();
    spill_wide();
  }

 private:
  const S* row(const S* x, size_t q) const { return x + ptrdiff_t(q) * row_stride_; }

  void add_small(const GroupEntry* table, size_t count, const S* x) {
    const int8_t* bytes = (const int8_t*)x;
    if (rows_ == grouped_rows) return add_pairs<int(grouped_rows) / 2>(entries_, table, count, bytes, row_stride_, small_, stride_);
    for (size_t q = 0; q < rows_; q += 2)  // an odd one is taken twice
      add_pairs<1>(entries_, table, count, bytes + ptrdiff_t(q) * row_stride_, q + 1 < rows_ ? row_stride_ : 0, small_ + q * stride_, stride_);
  }
  void widen_small() {
    if (small_bound_ == 0) return;
    if (wide_bound_ + small_bound_ > 32767) spill_wide();
    clear_wide();
    for (size_t q = 0; q < rows_; q++) {
      const int8_t* from = small_ + (q & ~size_t(1)) * stride_ + (q & 1) * group_width;
      for (size_t k = 0; k < stride_; k += group_width)
        for (size_t l = 0; l < group_width; l++) wide_[q * stride_ + k + l] = int16_t(wide_[q * stride_ + k + l] + from[2 * k + l]);
    }
    wide_bound_ += small_bound_;
    small_bound_ = 0;
  }
  void clear_wide() {
    if (wide_bound_ == 0) std::memset(wide_, 0, rows_ * stride_ * sizeof(int16_t));
  }
  void spill_wide() {
    if (wide_bound_ == 0) return;
    for (size_t k = 0; k < rows_ * stride_; k++) sums_[k] += float(wide_[k]);
    wide_bound_ = 0;
  }

  const uint32_t entries_;
  const S* const x_;
  const ptrdiff_t row_stride_;
  const size_t rows_, stride_;
  int16_t* const wide_;
  int8_t* const small_;
  float* const sums_;
  uint32_t small_bound_ = 0, wide_bound_ = 0;
};

template <class S>
void grouped_bytes(const Scatter& scatter, const GroupEntry* table, size_t groups, const uint32_t* hits, const void* x,
                   ptrdiff_t row_stride, size_t rows, void* scratch, void* to) {
  ByteSums<S> sums(scatter, (const S*)x, row_stride, rows, scratch, (float*)to);
  for (size_t b = 0; b < groups; b += byte_chunk, hits++) sums.add(table, b, groups - b < byte_chunk ? groups - b : byte_chunk, *hits);
  sums.finish();
}

#endif

}  // namespace

void add_grouped_kernels(Kernels& table) {
  table.grouped_changed[0] = grouped_changed<int8_t>;
  table.grouped_changed[1] = grouped_changed<uint8_t>;
  table.grouped_dense[int(Type::f32)] = grouped_dense<float>;
  table.grouped_dense[int(Type::f64)] = grouped_dense<double>;
  table.grouped_dense[int(Type::f16)] = grouped_dense<half>;
  table.grouped_dense[int(Type::i16)] = grouped_dense<int16_t>;
#if SLIMLINE_VECTOR_BYTES >= 32
  table.grouped_dense[int(Type::i8)] = grouped_bytes<int8_t>;
  table.grouped_dense[int(Type::u8)] = grouped_bytes<uint8_t>;
#else
  table.grouped_dense[int(Type::i8)] = grouped_dense<int8_t>;
  table.grouped_dense[int(Type::u8)] = grouped_dense<uint8_t>;
#endif
}

}  // namespace slimline::SLIMLINE_ISA
