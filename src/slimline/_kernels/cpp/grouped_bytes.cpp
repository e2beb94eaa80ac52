// The grouped embedding of bytes.
#include "grouped.hpp"
#include "table.hpp"

namespace slimline::SLIMLINE_ISA {

#if SLIMLINE_VECTOR_BYTES >= 32
namespace {

// Bytes are permuted as bytes. Where they are small, and few of them meet in a sum, they are added as bytes too: two rows
// of a group in one vector. Larger ones are added as int16, and as float32 where even that could overflow.

SLIMLINE_INLINE __m256i two_rows(const void* low, const void* high) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i*)low)), _mm_loadu_si128((const __m128i*)high), 1);
}

// The largest absolute value among bytes that were seen.
template <class S> class Largest {
 public:
  SLIMLINE_INLINE void see(__m256i v) {
    if constexpr (S(-1) < S(0)) v = _mm256_abs_epi8(v);  // -128 becomes 128, read without a sign
    most_ = _mm256_max_epu8(most_, v);
  }
  SLIMLINE_INLINE void see_line(const int8_t* at) {
    see(_mm256_loadu_si256((const __m256i*)at)), see(_mm256_loadu_si256((const __m256i*)(at + 32)));
  }
  uint32_t found() const {
    alignas(32) uint8_t each[32];
    _mm256_store_si256((__m256i*)each, most_);
    uint32_t most = 0;
    for (uint8_t e : each) most = e > most ? e : most;
    return most;
  }

 private:
  __m256i most_ = _mm256_setzero_si256();
};

// In rows of `count` entries, a multiple of 16.
template <class S> uint32_t largest(const int8_t* x, ptrdiff_t row_stride, size_t rows, size_t count) {
  Largest<S> most;
  for (size_t k = 0; k < count; k += 64)  // line by line, so that the memory sees a few steady streams
    for (size_t q = 0; q < rows; q++) {
      const int8_t* row = x + ptrdiff_t(q) * row_stride;
      if (k + 64 <= count) most.see_line(row + k);
      else for (size_t l = k; l < count; l += 16) most.see(two_rows(row + l, row + l));
    }
  return most.found();
}

// Sums of bytes: 16 sums of row 2 p and the same 16 of row 2 p + 1 lie side by side, pair p begins at sums + 2 p stride. A
// single pair may lack its second row. `looks_ahead`: eight rows and a whole chunk, and another one behind it, whose largest
// value is found on the way: the memory is kept busy, and what comes from there is looked at while it is near.
template <class S, int pairs, bool looks_ahead>
__attribute__((noinline)) uint32_t add_small(uint32_t entries, const GroupEntry* table, size_t groups, const int8_t* x,
                                             ptrdiff_t row_stride, bool second_row, int8_t* sums, size_t stride) {
  const __m256i iota = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  const __m256i bit = _mm256_set1_epi64x(int64_t(0x8040201008040201ull));
  const __m256i one = _mm256_set1_epi8(1), key_byte = _mm256_set1_epi8(2);
  const __m256i sign_bytes = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1));
  const ptrdiff_t three = 3 * row_stride, pair_stride = 2 * ptrdiff_t(stride);
  const GroupEntry* const last = table + groups * entries;
  const int8_t* next = x + byte_chunk * group_width;
  Largest<S> most;
  for (size_t b = 0; table < last; b++, x += group_width) {
    if constexpr (looks_ahead) {  // a line of two rows, so that four groups see one of all eight
      constexpr ptrdiff_t ahead = 1024;
      const int8_t* line = next + ptrdiff_t(b % 4 * 2) * row_stride;
      __builtin_prefetch(line + ahead, 0, 2), __builtin_prefetch(line + row_stride + ahead, 0, 2);
      most.see_line(line), most.see_line(line + row_stride);
      next += b % 4 == 3 ? 64 : 0;
    }
    __m256i v[pairs];
    v[0] = two_rows(x, second_row ? x + row_stride : x);
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
  return most.found();
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

  // Groups [begin, begin + count), no more than `hits` of which meet in one sum; `more` of them follow.
  void add(const GroupEntry* table, size_t begin, size_t count, uint32_t hits, size_t more) {
    const S* x = x_ + begin * group_width;
    table += begin * entries_;
    if (count * entries_ < 2 * stride_ / group_width)  // too few to repay clearing and emptying the small sums
      return add_rows(entries_, table, count, x, row_stride_, rows_, sums_, stride_);
    const uint32_t growth = hits * (seen_ ? ahead_ : largest<S>((const int8_t*)x, row_stride_, rows_, count * group_width));
    seen_ = false;
    if (growth == 0) return;
    if (growth <= 127) {
      if (small_bound_ + growth > 127) widen_small();
      if (small_bound_ == 0) std::memset(small_, 0, grouped_rows * stride_);
      small_bound_ += growth;
      add_bytes(table, count, x, more);
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

  void add_bytes(const GroupEntry* table, size_t count, const S* x, size_t more) {
    const auto* bytes = (const int8_t*)x;
    if (rows_ == grouped_rows && count == byte_chunk && more >= byte_chunk) {
      ahead_ = add_small<S, int(grouped_rows) / 2, true>(entries_, table, count, bytes, row_stride_, true, small_, stride_);
      seen_ = true;
    } else if (rows_ == grouped_rows) {
      add_small<S, int(grouped_rows) / 2, false>(entries_, table, count, bytes, row_stride_, true, small_, stride_);
    } else {
      for (size_t q = 0; q < rows_; q += 2)  // an odd one is taken twice
        add_small<S, 1, false>(entries_, table, count, bytes + ptrdiff_t(q) * row_stride_, row_stride_, q + 1 < rows_, small_ + q * stride_, stride_);
    }
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
  uint32_t ahead_ = 0;  // the largest value of the chunk to come,
  bool seen_ = false;   // if that has been looked at
};

template <class S>
void grouped_bytes(const Scatter& scatter, const GroupEntry* table, size_t groups, const uint32_t* hits, const void* x,
                   ptrdiff_t row_stride, size_t rows, void* scratch, void* to) {
  ByteSums<S> sums(scatter, (const S*)x, row_stride, rows, scratch, (float*)to);
  for (size_t b = 0; b < groups; b += byte_chunk, hits++) {
    const size_t count = groups - b < byte_chunk ? groups - b : byte_chunk;
    sums.add(table, b, count, *hits, groups - b - count);
  }
  sums.finish();
}

}  // namespace

void add_grouped_byte_kernels(Kernels& table) {
  table.grouped_dense[int(Type::i8)] = grouped_bytes<int8_t>;
  table.grouped_dense[int(Type::u8)] = grouped_bytes<uint8_t>;
}

#else  // as any other type

void add_grouped_byte_kernels(Kernels&) {}

#endif

}  // namespace slimline::SLIMLINE_ISA
