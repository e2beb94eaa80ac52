// Rows of R written out, one feature a row.
#include "families/gaps.hpp"
#include "families/normal.hpp"
#include "families/philox.hpp"
#include "isa/table.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

template <class T> SLIMLINE_INLINE void put(const float* from, T* to, size_t count) {
  for (size_t i = 0; i < count; i++) to[i] = T(from[i]);
}

// Column j of a feature: counter (16 (j / 64) + j mod 16, feature), number (j mod 64) / 16 of its four normals.
constexpr size_t normal_batch = normal_columns;

template <int sets> SLIMLINE_INLINE void normals(uint64_t feature, uint32_t first_counter, Key key, float* out) {
  // `sets` vectors of counters; counter c of the call fills out[64 (c / 16) + c mod 16 + 16 k], k = 0..3
  Lanes c0[sets], c1[sets], c2[sets];
  WordLanes words[sets];
  SLIMLINE_UNROLL
  for (int s = 0; s < sets; s++) {
    c0[s] = counting(first_counter + uint32_t(s * float_lanes));
    c1[s] = same(uint32_t(feature));
    c2[s] = same(uint32_t(feature >> 32));
  }
  philox<sets>(c0, c1, c2, stream_normal, key, words);
  SLIMLINE_UNROLL
  for (int s = 0; s < sets; s++) {
    const int counter = s * float_lanes;
    float* o = out + 64 * (counter / 16) + counter % 16;
    vf n0, n1;
    box_muller(words[s].w[0], words[s].w[1], &n0, &n1);
    store(o, n0); store(o + 16, n1);
    box_muller(words[s].w[2], words[s].w[3], &n0, &n1);
    store(o + 32, n0); store(o + 48, n1);
  }
}

template <class T> void normal_row(uint64_t feature, size_t first, size_t columns, Key key, T* out) {
  constexpr int sets = 2;  // two batches interleaved hide the latency of the multiplications
  constexpr int step = sets * float_lanes;  // counters a call: 8, 16 or 32
  alignas(64) float buffer[step <= 16 ? normal_batch : normal_batch * step / 16];
  constexpr size_t batch = sizeof buffer / sizeof(float);
  for (size_t j = 0; j < columns; j += batch) {
    const size_t left = columns - j < batch ? columns - j : batch;
    const uint32_t counter = uint32_t((first + j) / normal_batch * 16);
    if constexpr (sizeof(T) == sizeof(float))
      if (left == batch) {
        for (int c = 0; c < (step < 16 ? 16 : step); c += step) normals<sets>(feature, counter + uint32_t(c), key, (float*)out + j + c);
        continue;
      }
    for (int c = 0; c < (step < 16 ? 16 : step); c += step) normals<sets>(feature, counter + uint32_t(c), key, buffer + c);
    put(buffer, out + j, left);
  }
}

template <class T> SLIMLINE_INLINE void expand_signs(uint32_t bits, T* out) {
  using V = vector_of<T>;
  const V one = V{} + T(1);
  SLIMLINE_UNROLL
  for (int j = 0; j < 32; j += lanes<T>) store(out + j, flip(one, sign_mask<T>(bits, j)));
}

// Column j of a feature: counter (j / 128, feature), bit j mod 128 of its four words. Lanes run over features.
template <class T>
void sign_rows(uint64_t feature, size_t count, size_t columns, Key key, T* out, size_t stride) {
  T buffer[32];
  for (size_t f = 0; f < count; f += float_lanes) {
    const size_t here = count - f < size_t(float_lanes) ? count - f : size_t(float_lanes);
    const Lanes features = counting(feature + f), high = high_half(features);
    for (size_t j = 0; j < columns; j += 128) {
      const Lanes chunk = same(uint32_t(j / 128));
      WordLanes words;
      philox<1>(&chunk, &features, &high, stream_sign, key, &words);
      for (int w = 0; w < 4; w++) {
        const size_t column = j + 32 * size_t(w);
        if (column >= columns) break;
        uint32_t bits[float_lanes];
        store(bits, words.w[w]);
        const size_t left = columns - column < 32 ? columns - column : 32;
        for (size_t l = 0; l < here; l++) {
          T* o = out + (f + l) * stride + column;
          if (left == 32) { expand_signs(bits[l], o); continue; }
          expand_signs(bits[l], buffer);
          std::memcpy(o, buffer, left * sizeof(T));
        }
      }
    }
  }
}

template <class T> void sparse_sign_row(const DenseRows& rows, uint64_t feature, Key key, T* out) {
  std::memset(out, 0, rows.columns * sizeof(T));
  for_each_nonzero(rows.gaps, feature, rows.columns, key, [&](size_t column, uint32_t negative) {
    out[column] = flip(T(1), negative);
  });
}

template <class T> void fill(const DenseRows& rows, uint64_t feature, size_t count, T* out, size_t stride) {
  const Key key = key_of(rows.seed);
  switch (rows.entries) {
    case Entries::normal:
      for (size_t f = 0; f < count; f++) normal_row(feature + f, rows.first, rows.columns, key, out + f * stride);
      break;
    case Entries::sign:
      sign_rows(feature, count, rows.columns, key, out, stride);
      break;
    case Entries::sparse_sign:
      for (size_t f = 0; f < count; f++) sparse_sign_row(rows, feature + f, key, out + f * stride);
      break;
  }
}

void philox_words(const uint32_t* counters, size_t count, uint64_t seed, uint32_t* words) {
  const Key key = key_of(seed);
  for (size_t i = 0; i < count; i++) {
    const uint32_t* c = counters + 4 * i;
    Words w = philox(c[0], c[1], c[2], c[3], key);
    std::memcpy(words + 4 * i, w.w, sizeof w.w);
  }
}

// Bit a of the stream is the sign of feature a; words of 32 bits, from a word number that is a multiple of 4.
void sign_bits(uint64_t seed, uint64_t first_word, size_t words, uint32_t* out) {
  const Key key = key_of(seed);
  fill_words(first_word / 4, words / 4, 0, stream_hadamard_sign, key, out);
  if (words % 4) {
    uint32_t last[4];
    fill_words((first_word + words) / 4, 1, 0, stream_hadamard_sign, key, last);
    std::memcpy(out + words / 4 * 4, last, words % 4 * sizeof(uint32_t));
  }
}

}  // namespace

void add_row_kernels(Kernels& table) {
  table.random.philox = philox_words;
  table.random.sign_bits = sign_bits;
  table.f32.families.rows = fill<float>;
  table.f64.families.rows = fill<double>;
}

}  // namespace slimline::SLIMLINE_ISA
