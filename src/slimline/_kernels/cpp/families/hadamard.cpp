// The subsampled randomised Hadamard transform, trimmed: H of size d' is H_{d'/b} (x) H_b, so each block of b
// features is transformed where it lies in cache, and only the r sampled columns are added up, each with the
// sign (-1)^popcount(block number & high bits of the sample). Work n d' log b with b a few times r, no padded copy
// of X, and the blocks of zeros between d and d' are never touched.
#include "isa/elements.hpp"
#include "families/philox.hpp"
#include "isa/table.hpp"
#include "families/transform.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

SLIMLINE_INLINE uint32_t parity(uint32_t x) {
  x ^= x >> 16;
  x ^= x >> 8;
  x ^= x >> 4;
  return (0x6996u >> (x & 15u)) & 1u;
}

// Where each sample lies in one block, with its sign there on top.
constexpr uint32_t sign_bit = 0x80000000u;

void set_samples(const Hadamard& h, uint32_t block_number, uint32_t* sampled) {
  const uint32_t low = uint32_t(h.block - 1), high = uint32_t(uint64_t(block_number) * h.block);
  for (size_t k = 0; k < h.columns; k++) sampled[k] = (h.sample[k] & low) | parity(h.sample[k] & high) << 31;
}

SLIMLINE_INLINE float masked(float x, uint32_t mask) {
  uint32_t u; std::memcpy(&u, &x, 4); u ^= mask; std::memcpy(&x, &u, 4); return x;
}
SLIMLINE_INLINE double masked(double x, uint32_t mask) {
  uint64_t u; std::memcpy(&u, &x, 8); u ^= uint64_t(mask) << 32; std::memcpy(&x, &u, 8); return x;
}

template <class T> SLIMLINE_INLINE void add_samples(const uint32_t* sampled, size_t count, const T* block, T* out) {
  size_t k = 0;
#if SLIMLINE_VECTOR_BYTES >= 32
  if constexpr (sizeof(T) == 4)
    for (; k + 8 <= count; k += 8) {
      const __m256i place = _mm256_loadu_si256((const __m256i*)(sampled + k)), sign = _mm256_set1_epi32(int(sign_bit));
      const __m256 value = _mm256_i32gather_ps(block, _mm256_andnot_si256(sign, place), 4);
      const __m256 mask = _mm256_castsi256_ps(_mm256_and_si256(place, sign));
      _mm256_storeu_ps(out + k, _mm256_add_ps(_mm256_loadu_ps(out + k), _mm256_xor_ps(value, mask)));
    }
#endif
  for (; k < count; k++) out[k] += masked(block[sampled[k] & ~sign_bit], sampled[k] & sign_bit);
}

// signs: bit a of the stream for the features from the one whose number is a multiple of 128 at or below `feature`
SLIMLINE_INLINE uint32_t sign_at(const uint32_t* signs, size_t bit) { return signs[bit / 32] >> (bit % 32) & 1u; }

template <class T>
SLIMLINE_INLINE void transform_signed(const T* x, size_t count, size_t offset, const uint32_t* signs, size_t bit,
                                      size_t block, const T* next, T* out) {
  if (count == block && block >= smallest<T> && bit % 32 == 0) {
    const uint32_t* words = signs + bit / 32;
    transform_block<T>(
        [=](size_t b, int k) {
          // what comes next is fetched while this is transformed: the passes leave the machine's own prefetcher idle
          if (k * int(sizeof(T)) % 64 == 0) __builtin_prefetch(next + b + k, 0, 2);
          return flip(load<vector_of<T>>(x + b + k), sign_mask<T>(words[b / 32 + size_t(k) / 32], k % 32));
        },
        out, block);
    return;
  }
  std::memset(out, 0, block * sizeof(T));
  for (size_t i = 0; i < count; i++) out[offset + i] = flip(x[i], sign_at(signs, bit + i));
  transform(out, block);
}

template <class T>
void hadamard_dense(const Hadamard& h, const uint32_t* signs, uint64_t feature, size_t features, const T* x,
                    ptrdiff_t row_stride, size_t rows, uint32_t* sampled, T* block, T* out) {
  const uint64_t origin = feature / 128 * 128;
  for (uint64_t begin = feature; begin < feature + features;) {
    const uint64_t number = begin / h.block, limit = (number + 1) * h.block;
    const uint64_t end = limit < feature + features ? limit : feature + features;
    set_samples(h, uint32_t(number), sampled);
    for (size_t q = 0; q < rows; q++) {
      const T* here = x + ptrdiff_t(q) * row_stride + ptrdiff_t(begin - feature);
      const T* next = q + 1 < rows ? here + row_stride : x + ptrdiff_t(end - feature);
      transform_signed(here, size_t(end - begin), size_t(begin % h.block), signs, size_t(begin - origin), h.block, next, block);
      add_samples(sampled, h.columns, block, out + q * h.columns);
    }
    begin = end;
  }
}

SLIMLINE_INLINE uint32_t feature_sign(uint64_t feature, Key key) {
  const uint64_t counter = feature / 128;
  const Words words = philox(uint32_t(counter), uint32_t(counter >> 32), 0, stream_hadamard_sign, key);
  return (words.w[feature % 128 / 32] >> (feature % 32)) & 1u;
}

// Without a transform: one feature's row of R is a Walsh function, read off sample by sample.
template <class T> SLIMLINE_INLINE void add_walsh(const Hadamard& h, uint32_t feature, T value, T* out) {
  for (size_t k = 0; k < h.columns; k++) out[k] += masked(value, parity(h.sample[k] & feature) << 31);
}

// One sparse row, features in ascending order: block by block whichever is cheaper.
template <class T>
void hadamard_row(const Hadamard& h, uint64_t seed, const uint64_t* index, const T* value, size_t count,
                  uint32_t* sampled, T* block, T* out) {
  const Key key = key_of(seed);
  int log_block = 0;
  while ((size_t(1) << log_block) < h.block) log_block++;
  // measured: a butterfly costs about an eighth of a Walsh sign, a sampled addition about four times one
  const size_t transform_cost = h.block * size_t(log_block) / 8 + 4 * h.columns;
  for (size_t i = 0; i < count;) {
    const uint64_t number = index[i] / h.block;
    size_t end = i + 1;
    while (end < count && index[end] / h.block == number) end++;
    if ((end - i) * h.columns <= transform_cost) {
      for (; i < end; i++) add_walsh(h, uint32_t(index[i]), flip(value[i], feature_sign(index[i], key)), out);
      continue;
    }
    std::memset(block, 0, h.block * sizeof(T));
    for (; i < end; i++) block[index[i] % h.block] += flip(value[i], feature_sign(index[i], key));
    transform(block, h.block);
    set_samples(h, uint32_t(number), sampled);
    add_samples(sampled, h.columns, block, out);
  }
}

// rows of V R^T for the features [feature, feature + features), all in one block of h.block features
template <class T>
void hadamard_lift(const Hadamard& h, const uint32_t* signs, uint64_t feature, size_t features, const T* v, size_t rows,
                   size_t v_stride, T scale, uint32_t* sampled, T* block, T* out, size_t out_stride) {
  const uint64_t origin = feature / 128 * 128;
  set_samples(h, uint32_t(feature / h.block), sampled);
  for (size_t q = 0; q < rows; q++) {
    std::memset(block, 0, h.block * sizeof(T));
    for (size_t k = 0; k < h.columns; k++) block[sampled[k] & ~sign_bit] += masked(v[q * v_stride + k], sampled[k] & sign_bit);
    transform(block, h.block);
    const T* from = block + feature % h.block;
    for (size_t i = 0; i < features; i++)
      out[q * out_stride + i] = flip(from[i], sign_at(signs, size_t(feature - origin) + i)) * scale;
  }
}

template <class T> void add_type(FamilyKernels<T>& k) {
  k.transform = transform<T>;
  k.hadamard = hadamard_dense<T>;
  k.hadamard_row = hadamard_row<T>;
  k.hadamard_lift = hadamard_lift<T>;
}

}  // namespace

void add_hadamard_kernels(Kernels& table) {
  add_type(table.f32.families), add_type(table.f64.families);
}

}  // namespace slimline::SLIMLINE_ISA
