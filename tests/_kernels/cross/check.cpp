// The kernels of one instruction set, with no Python around them: built by another compiler, or run where Python is
// not to be had (an emulator, another architecture).
//
// Prints one line for each kernel: a hash of its bits where they are part of the definition of R, and the largest
// difference from a plain loop where only rounding may differ. The hashes must be the same for every build; the exit
// code is 1 if a difference is too large.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "isa/kernels.hpp"

namespace slimline::CHECKED { const Kernels& table(); }

using namespace slimline;

static int failures = 0;

static void hash(const char* what, const void* data, size_t bytes) {
  uint64_t h = 1469598103934665603ull;
  for (size_t i = 0; i < bytes; i++) h = (h ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211ull;
  std::printf("%-28s %016llx\n", what, static_cast<unsigned long long>(h));
}

static void within(const char* what, double error, double limit) {
  const bool fine = error <= limit;
  if (!fine) failures++;
  std::printf("# %-20s %s (%.1e)\n", what, fine ? "ok" : "WRONG", error);
}

static uint16_t half_of(float x) {  // small whole numbers only
  uint32_t u;
  std::memcpy(&u, &x, 4);
  if (x == 0) return 0;
  return uint16_t((u >> 16 & 0x8000u) | (((u >> 23 & 0xFFu) - 112) << 10) | (u >> 13 & 0x3FFu));
}

// The same whole numbers in every element type.
struct Data {
  std::vector<float> f32; std::vector<double> f64; std::vector<uint16_t> f16; std::vector<int8_t> i8; std::vector<uint8_t> u8; std::vector<int16_t> i16;
  Data(size_t n, unsigned below) {
    std::mt19937 draw(7);
    for (size_t i = 0; i < n; i++) {
      const int x = int(draw() % below);
      f32.push_back(float(x)); f64.push_back(x); f16.push_back(half_of(float(x)));
      i8.push_back(int8_t(x)); u8.push_back(uint8_t(x)); i16.push_back(int16_t(x));
    }
  }
  const void* of(Type t, size_t i) const {
    switch (t) {
      case Type::f32: return &f32[i];
      case Type::f64: return &f64[i];
      case Type::f16: return &f16[i];
      case Type::i8: return &i8[i];
      case Type::u8: return &u8[i];
      default: return &i16[i];
    }
  }
  template <class T> const T* as() const {
    if constexpr (sizeof(T) == 4) return f32.data();
    else return f64.data();
  }
};

static double value(Type t, const void* sums, size_t i) {
  return t == Type::f64 ? static_cast<const double*>(sums)[i] : double(static_cast<const float*>(sums)[i]);
}

// Sums over lines: whole numbers, so that every order of summation gives the same.
template <class T> static void check_lines(const Kernels& k, const Data& data, const char* name) {
  constexpr size_t lines = 11, length = 77, stride = 83;
  std::vector<double> along_centre, along_fill, by_line_centre, by_line_fill, v, a;
  for (size_t i = 0; i < length; i++) along_centre.push_back(double(i % 5)), along_fill.push_back(double(i % 3) + 20);
  for (size_t i = 0; i < lines; i++) by_line_centre.push_back(double(i % 4)), by_line_fill.push_back(double(i) - 30);
  for (size_t i = 0; i < 4 * length; i++) v.push_back(double(i * 7 % 13) - 6);
  for (size_t i = 0; i < 4 * lines; i++) a.push_back(double(i * 5 % 11) - 5);
  double error = 0;
  for (int mode = 0; mode < 3; mode++)
    for (int along = 0; along < 2; along++) {
      std::vector<T> x(data.f64.begin(), data.f64.begin() + ptrdiff_t(lines * stride));
      if (mode == 2)
        for (size_t i = 0; i < x.size(); i += 7) x[i] = T(NAN);
      auto value = [&](size_t line, size_t element) {
        double z = x[line * stride + element];
        if (mode == 2 && z != z) z = along ? along_fill[element] : by_line_fill[line];
        if (mode > 0) z -= along ? along_centre[element] : by_line_centre[line];
        return z;
      };
      const Shift shift{along ? along_centre.data() : by_line_centre.data(), along ? along_fill.data() : by_line_fill.data()};
      const LineKernels<T>& kernel = k.of<T>().lines;
      for (size_t four = 0; four < 2; four++) {
        const size_t count = four ? 4 : 1;
        std::vector<double> sums(lines * count, 1.0), y(4 * length, 2.0);
        kernel.dot[mode][along][four](shift, x.data(), stride, lines, length, v.data(), length, sums.data());
        kernel.add[mode][along][four](shift, x.data(), stride, lines, length, a.data(), y.data(), length);
        for (size_t j = 0; j < count; j++) {
          for (size_t l = 0; l < lines; l++) {
            double sum = 1;
            for (size_t p = 0; p < length; p++) sum += value(l, p) * v[j * length + p];
            error = std::max(error, std::fabs(sum - sums[l * count + j]));
          }
          for (size_t p = 0; p < length; p++) {
            double sum = 2;
            for (size_t l = 0; l < lines; l++) sum += value(l, p) * a[l * count + j];
            error = std::max(error, std::fabs(sum - y[j * length + p]));
          }
        }
      }
      std::vector<float> single(lines * length);
      kernel.write_f32[mode][along](shift, nullptr, x.data(), stride, lines, length, single.data(), length);
      for (size_t l = 0; l < lines; l++)
        for (size_t p = 0; p < length; p++) error = std::max(error, std::fabs(double(single[l * length + p]) - value(l, p)));
    }
  within(name, error, 0);
}

static void check_genotypes(const Kernels& k) {
  constexpr size_t variants = 70, samples = 301, bytes = 76;
  std::mt19937 draw(3);
  std::vector<uint8_t> packed(variants * bytes);
  for (auto& b : packed) b = uint8_t(draw());
  std::vector<int8_t> transposed(samples * variants), line(samples);
  k.genotypes.unpack_transposed(packed.data(), bytes, variants, samples, transposed.data(), variants);
  double wrong = 0;
  for (size_t v = 0; v < variants; v++) {
    bool gone = false;
    const bool told = k.genotypes.unpack(packed.data() + v * bytes, samples, line.data());
    for (size_t i = 0; i < samples; i++) {
      const int code = packed[v * bytes + i / 4] >> (2 * (i % 4)) & 3;
      const int call = code == 0 ? 2 : code == 2 ? 1 : 0;
      gone |= code == 1;
      wrong += line[i] != (code == 1 ? int(missing_call) : call);
      wrong += transposed[i * variants + v] != (code == 1 ? int(missing_call) : call);
    }
    wrong += gone != told;
  }
  within("genotypes", wrong, 0);
}

// Sign projections by look-up, against R's rows written out.
template <class T> static void check_signs(const Kernels& k, const Data& data, uint64_t seed, uint64_t feature, const char* name) {
  constexpr size_t d = sign_groups * sign_features, columns = 203, padded = 204;
  std::vector<double> written(d * columns);
  k.f64.families.rows({Entries::sign, seed, columns, {}}, feature, d, written.data(), columns);
  std::vector<uint8_t> codes(padded * sign_groups, 255);
  k.random.sign_codes(seed, feature, columns, padded, codes.data());
  double error = 0;
  for (const size_t rows : {lane_rows, lane_rows - 3}) for (const bool by_row : {true, false}) {
    const ptrdiff_t row = by_row ? ptrdiff_t(d) : 1, column = by_row ? 1 : ptrdiff_t(rows);
    std::vector<T> interleaved(d * lane_rows), tables(sign_groups * 16 * lane_rows), sums(padded * lane_rows, T(0));
    k.of<T>().families.interleave(data.as<T>(), row, column, rows, d, interleaved.data());
    k.of<T>().families.sign_sums(interleaved.data(), codes.data(), padded, tables.data(), sums.data());
    for (size_t i = 0; i < lane_rows; i++)
      for (size_t c = 0; c < columns; c++) {
        double sum = 0;
        for (size_t f = 0; i < rows && f < d; f++) sum += data.f64[i * size_t(row) + f * size_t(column)] * written[f * columns + c];
        error = std::max(error, std::fabs(sum - double(sums[c * lane_rows + i])));
      }
  }
  within(name, error, 0);
}

// Sparse embeddings, against the tables written out.
template <class T>
static void check_scatter(const Kernels& k, const Data& data, const Scatter& scatter, const std::vector<GroupEntry>& groups, const std::vector<Entry>& independent,
                          const std::vector<uint32_t>& pointer, size_t n, size_t d) {
  const FamilyKernels<T>& kernel = k.of<T>().families;
  const size_t stride = sums_stride(scatter);
  for (size_t rows : {size_t(3), grouped_rows}) {
    std::vector<T> sums(grouped_rows * stride, T(0));
    std::vector<double> expected(rows * stride, 0.0);
    kernel.grouped(scatter, groups.data(), d / 16, data.as<T>(), d, rows, sums.data());
    for (size_t q = 0; q < rows; q++)
      for (size_t f = 0; f < d; f++)
        for (uint32_t e = 0; e < scatter.entries(); e++) {
          const Entry entry = entry_of(groups[f / 16 * scatter.entries() + e], uint32_t(f % 16));
          expected[q * stride + (entry >> 1)] += (entry & 1u ? -1 : 1) * data.f64[q * d + f];
        }
    double error = 0;
    for (size_t i = 0; i < rows * stride; i++) error = std::max(error, std::fabs(double(sums[i]) - expected[i]));
    within("grouped", error, 0);
  }
  // the same numbers as rows, interleaved, and as columns: d features of n rows
  for (size_t rows : {size_t(5), lane_rows, n}) {
    const bool by_column = rows == n;
    const size_t apart = by_column ? n + 3 : lane_rows;
    std::vector<T> sums(scatter.columns * apart, T(0)), scratch(64 * lane_rows, T(0));
    std::vector<double> expected(scatter.columns * apart, 0.0);
    if (by_column) kernel.columns(independent.data(), pointer.data(), d, data.as<T>(), ptrdiff_t(n), n, sums.data(), apart);
    else kernel.lanes(independent.data(), pointer.data(), d, data.as<T>(), d, rows, scratch.data(), sums.data());
    for (size_t q = 0; q < rows; q++)
      for (size_t f = 0; f < d; f++)
        for (uint32_t e = pointer[f]; e < pointer[f + 1]; e++)
          expected[(independent[e] >> 1) * apart + q] += (independent[e] & 1u ? -1 : 1) * data.f64[by_column ? f * n + q : q * d + f];
    double error = 0;
    for (size_t i = 0; i < expected.size(); i++) error = std::max(error, std::fabs(double(sums[i]) - expected[i]));
    within(by_column ? "columns" : "lanes", error, 0);
  }
}

template <class T>
static void check_hadamard(const Kernels& k, const Hadamard& h, const std::vector<uint32_t>& signs, uint64_t feature, size_t d, const Data& data,
                           const std::vector<double>& expected) {
  std::vector<uint32_t> sampled(h.columns);
  std::vector<T> scratch(h.block), sums(h.columns, T(0));
  k.of<T>().families.hadamard(h, signs.data() + feature / 128 * 4, feature, d, data.as<T>(), d, 1, sampled.data(), scratch.data(), sums.data());
  double error = 0;
  for (size_t c = 0; c < h.columns; c++) error = std::max(error, std::fabs(double(sums[c]) - expected[c]));
  within("hadamard", error, 0);
}

int main() {
  const Kernels& k = CHECKED::table();
  std::printf("# %s\n", k.name);
  const uint64_t seed = 0x0123456789ABCDEFull;
  // Features on both sides of where a counter carries into its second word: the counter is the feature, the group of
  // sixteen features, or the four features that share a draw.
  const uint64_t far = (1ull << 32) - 5, far_group = (1ull << 32) - 5, far_four = (1ull << 34) - 5;
  const char* types[] = {"f32", "f64", "f16", "i8", "u8", "i16"};
  char name[64];

  std::vector<uint32_t> threshold, guide(256, 0);
  for (double p = 2147483648.0; p >= 1 && threshold.size() < 300; p *= 0.9) threshold.push_back(uint32_t(p));
  const Gaps gaps{threshold.data(), uint32_t(threshold.size()), guide.data()};
  const char* entries[] = {"normal", "sign", "sparse_sign"};
  for (int e = 0; e < 3; e++) {
    const size_t columns = 203, count = 37;
    DenseRows rows{Entries(e), seed, columns, gaps};
    std::vector<float> r32(count * columns);
    std::vector<double> r64(count * columns);
    k.f32.families.rows(rows, far, count, r32.data(), columns);
    k.f64.families.rows(rows, far, count, r64.data(), columns);
    double error = 0;
    for (size_t i = 0; i < r32.size(); i++) error = std::max(error, std::fabs(r32[i] - r64[i]));
    hash(entries[e], r32.data(), r32.size() * 4);
    within("  in float64", error, 0);
  }
  std::vector<uint32_t> signs(64 + 2, 0);
  k.random.sign_bits(seed, 0, 64, signs.data());
  hash("sign_bits", signs.data(), 64 * 4);

  const size_t d = 1024, n = 19;
  const Data data(n * d, 100);
  check_signs<float>(k, data, seed, far, "signs f32"), check_signs<double>(k, data, seed, far, "signs f64");
  struct Parts { uint32_t nonzeros, stacks, width; };
  for (const auto& [nonzeros, stacks, width] : {Parts{1, 1, 1}, Parts{4, 1, 1}, Parts{1, 7, 1}, Parts{4, 7, 1}, Parts{1, 6, 3}, Parts{4, 1, 3}}) {
    Scatter scatter{Hash::grouped, seed, size_t(32) * width * stacks * nonzeros, nonzeros, stacks, gaps, width};
    std::vector<GroupEntry> groups(d / 16 * scatter.entries());
    for (uint64_t first : {far / 16, far_group}) {
      k.random.grouped_table(scatter, first, d / 16, groups.data());
      std::snprintf(name, sizeof name, "grouped_table_s%u_a%u_v%u%s", nonzeros, stacks, width, first == far_group ? "_far" : "");
      hash(name, groups.data(), groups.size() * sizeof(GroupEntry));
    }
    std::vector<Entry> independent(d * scatter.entries());
    for (uint64_t first : {far, far_four}) {
      k.random.independent_table(scatter, first, d, independent.data());
      std::snprintf(name, sizeof name, "independent_table_s%u_a%u_v%u%s", nonzeros, stacks, width, first == far_four ? "_far" : "");
      hash(name, independent.data(), independent.size() * 4);
    }
    std::vector<uint32_t> pointer;
    for (size_t f = 0; f <= d; f++) pointer.push_back(uint32_t(f * scatter.entries()));
    check_scatter<float>(k, data, scatter, groups, independent, pointer, n, d);
    check_scatter<double>(k, data, scatter, groups, independent, pointer, n, d);
  }

  for (size_t size : {1, 2, 8, 64, 128, 1024, 16384, 131072}) {
    std::vector<float> x(size);
    for (size_t i = 0; i < size; i++) x[i] = float(int(uint32_t(i) * 2654435761u >> 28) - 8);
    std::vector<float> y = x;
    std::vector<double> z(x.begin(), x.end());
    k.f32.families.transform(y.data(), size);
    k.f64.families.transform(z.data(), size);
    double error = 0;
    for (size_t j = 0; j < size; j += size / 64 + 1) {
      double sum = 0;
      for (size_t i = 0; i < size; i++) sum += (__builtin_popcountll(i & j) & 1 ? -1.0 : 1.0) * x[i];
      error = std::max({error, std::fabs(y[j] - sum), std::fabs(z[j] - sum)});
    }
    std::snprintf(name, sizeof name, "transform %zu", size);
    within(name, error, 0);
  }

  std::vector<uint32_t> sample, places(100);
  std::mt19937 draw(3);
  for (int i = 0; i < 100; i++) sample.push_back(draw() & 2047u);
  for (size_t block : {size_t(16), size_t(256), size_t(2048)}) {
    const Hadamard h{sample.data(), sample.size(), block};
    const uint64_t feature = 301;
    auto sign = [&](uint64_t a) { return signs[a / 32] >> (a % 32) & 1u ? -1.0 : 1.0; };
    auto walsh = [&](uint64_t a, size_t c) { return sign(a) * (__builtin_popcountll(a & sample[c]) & 1 ? -1.0 : 1.0); };
    std::vector<double> scratch(block), expected(sample.size(), 0.0);
    for (size_t f = 0; f < d; f++)
      for (size_t c = 0; c < sample.size(); c++) expected[c] += walsh(feature + f, c) * data.f64[f];
    check_hadamard<float>(k, h, signs, feature, d, data, expected), check_hadamard<double>(k, h, signs, feature, d, data, expected);
    std::vector<uint64_t> index;
    for (size_t f = 0; f < d; f++) index.push_back(feature + f);
    std::vector<double> by_row(sample.size(), 0.0);
    k.f64.families.hadamard_row(h, seed, index.data(), data.f64.data(), d, places.data(), scratch.data(), by_row.data());
    double error = 0;
    for (size_t c = 0; c < sample.size(); c++) error = std::max(error, std::fabs(by_row[c] - expected[c]));
    within("hadamard_row", error, 0);
    std::vector<double> lifted(block);
    const uint64_t first = 2048 / block > 1 ? block : 0;
    std::vector<uint32_t> from(signs.begin() + ptrdiff_t(first / 128 * 4), signs.end());
    k.f64.families.hadamard_lift(h, from.data(), first, block, data.f64.data(), 1, sample.size(), 1.0, places.data(), scratch.data(), lifted.data(), block);
    error = 0;
    for (size_t f = 0; f < block; f++) {
      double sum = 0;
      for (size_t c = 0; c < sample.size(); c++) sum += walsh(first + f, c) * data.f64[c];
      error = std::max(error, std::fabs(lifted[f] - sum));
    }
    within("hadamard_lift", error, 0);
  }

  for (int t = 0; t < type_count; t++) {
    std::vector<double> out(d);
    k.convert[t](data.of(Type(t), 0), d - 3, {}, out.data());
    double error = 0;
    for (size_t i = 0; i < d - 3; i++) error = std::max(error, std::fabs(value(Type(t), out.data(), i) - data.f64[i]));
    std::snprintf(name, sizeof name, "convert %s", types[t]);
    within(name, error, 0);
  }
  check_lines<float>(k, data, "lines f32"), check_lines<double>(k, data, "lines f64");
  check_genotypes(k);
  std::printf("# %d wrong\n", failures);
  return failures != 0;
}
