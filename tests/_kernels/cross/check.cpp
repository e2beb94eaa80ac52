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

#include "kernels.hpp"

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
};

static double value(Type t, const void* sums, size_t i) {
  return t == Type::f64 ? static_cast<const double*>(sums)[i] : double(static_cast<const float*>(sums)[i]);
}

// Sums over lines: whole numbers, so that every order of summation gives the same.
static void check_lines(const Kernels& k, const Data& data) {
  constexpr size_t lines = 11, length = 77, stride = 83;
  std::vector<double> along_centre, along_fill, by_line_centre, by_line_fill, v, a;
  for (size_t i = 0; i < length; i++) along_centre.push_back(double(i % 5)), along_fill.push_back(double(i % 3) + 20);
  for (size_t i = 0; i < lines; i++) by_line_centre.push_back(double(i % 4)), by_line_fill.push_back(double(i) - 30);
  for (size_t i = 0; i < 4 * length; i++) v.push_back(double(i * 7 % 13) - 6);
  for (size_t i = 0; i < 4 * lines; i++) a.push_back(double(i * 5 % 11) - 5);
  constexpr double missing = 1;  // counts only where whole numbers are filled
  auto value = [&](Type t, int mode, bool along, size_t line, size_t place) {
    double z = data.f64[line * stride + place];
    const bool whole = t == Type::i8 || t == Type::u8 || t == Type::i16;
    if (mode == 2 && whole && z == missing) z = along ? along_fill[place] : by_line_fill[line];
    if (mode > 0) z -= along ? along_centre[place] : by_line_centre[line];
    return z;
  };
  for (int t = 0; t < type_count; t++) {
    const void* x = data.of(Type(t), 0);
    double error = 0;
    for (int mode = 0; mode < 3; mode++)
      for (int along = 0; along < 2; along++) {
        const Shift shift{along ? along_centre.data() : by_line_centre.data(), along ? along_fill.data() : by_line_fill.data(), missing};
        for (size_t four = 0; four < 2; four++) {
          const size_t count = four ? 4 : 1;
          std::vector<double> sums(lines * count, 1.0), y(4 * length, 2.0);
          k.lines[t].dot[mode][along][four](shift, x, stride, lines, length, v.data(), length, sums.data());
          k.lines[t].add[mode][along][four](shift, x, stride, lines, length, a.data(), y.data(), length);
          for (size_t j = 0; j < count; j++) {
            for (size_t l = 0; l < lines; l++) {
              double sum = 1;
              for (size_t p = 0; p < length; p++) sum += value(Type(t), mode, along, l, p) * v[j * length + p];
              error = std::max(error, std::fabs(sum - sums[l * count + j]));
            }
            for (size_t p = 0; p < length; p++) {
              double sum = 2;
              for (size_t l = 0; l < lines; l++) sum += value(Type(t), mode, along, l, p) * a[l * count + j];
              error = std::max(error, std::fabs(sum - y[j * length + p]));
            }
          }
        }
        std::vector<float> single(lines * length);
        k.lines[t].write_f32[mode][along](shift, nullptr, x, stride, lines, length, single.data(), length);
        for (size_t l = 0; l < lines; l++)
          for (size_t p = 0; p < length; p++) error = std::max(error, std::fabs(double(single[l * length + p]) - value(Type(t), mode, along, l, p)));
      }
    char name[64];
    std::snprintf(name, sizeof name, "lines of type %d", t);
    within(name, error, 0);
  }
  for (int u = 0; u < 2; u++) {
    const DigitKernels& d = k.digits;
    if (!d.count) continue;  // this instruction set has no such kernels
    const void* x = data.of(u ? Type::u8 : Type::i8, 0);
    constexpr size_t pitch = 128;
    std::vector<double> of_places(length), of_lines(lines), bound(pitch, 0.0), sums(lines, 0.0), y(length, 0.0);
    for (size_t i = 0; i < length; i++) of_places[i] = double(i * 37 % 301) - 150;
    for (size_t i = 0; i < lines; i++) of_lines[i] = double(i * 53 % 211) - 105;
    const size_t room = size_t(d.count) * pitch * d.item;
    std::vector<char> by_place(room), by_line(room);
    std::vector<int32_t> parts(size_t(d.count) * pitch, 0);
    const double up = 0x1p40, down = 0x1p-40;  // whole numbers have nothing left
    if (d.write(of_places.data(), length, up, down, bound.data(), true, by_place.data(), pitch) ||
        d.write(of_lines.data(), lines, up, down, bound.data(), false, by_line.data(), pitch))
      within("digits", 1, 0);
    const int all = int(Counted::all);
    k.bytes[u].dot[all](x, stride, 0, lines, length, by_place.data(), pitch, down, sums.data());
    k.bytes[u].add[all](x, stride, 0, lines, length, by_line.data(), pitch, parts.data(), pitch);
    d.flush(parts.data(), pitch, length, down, y.data());
    double error = 0;
    for (size_t l = 0; l < lines; l++) {
      double sum = 0;
      for (size_t p = 0; p < length; p++) sum += data.f64[l * stride + p] * (double(p * 37 % 301) - 150);
      error = std::max(error, std::fabs(sum - sums[l]));
    }
    for (size_t p = 0; p < length; p++) {
      double sum = 0;
      for (size_t l = 0; l < lines; l++) sum += data.f64[l * stride + p] * (double(l * 53 % 211) - 105);
      error = std::max(error, std::fabs(sum - y[p]));
    }
    within(u ? "bytes u8" : "bytes i8", error, 1e-10);
  }
}

static void check_genotypes(const Kernels& k) {
  constexpr size_t variants = 70, people = 301, bytes = 76;
  std::mt19937 draw(3);
  std::vector<uint8_t> packed(variants * bytes);
  for (auto& b : packed) b = uint8_t(draw());
  std::vector<int8_t> turned(people * variants), line(people);
  k.unpack_turned(packed.data(), bytes, variants, people, turned.data(), variants);
  double wrong = 0;
  for (size_t v = 0; v < variants; v++) {
    bool gone = false;
    const bool told = k.unpack(packed.data() + v * bytes, people, -9, line.data());
    for (size_t i = 0; i < people; i++) {
      const int code = packed[v * bytes + i / 4] >> (2 * (i % 4)) & 3;
      const int call = code == 0 ? 2 : code == 2 ? 1 : 0;
      gone |= code == 1;
      wrong += line[i] != (code == 1 ? -9 : call);
      wrong += turned[i * variants + v] != (code == 1 ? int(missing_call) : call);
    }
    wrong += gone != told;
  }
  within("genotypes", wrong, 0);
}

// Sign projections by look-up, against R's rows written out.
static void check_signs(const Kernels& k, const Data& data, uint64_t seed, uint64_t feature) {
  constexpr size_t d = sign_groups * sign_features, columns = 203, padded = 204;
  std::vector<double> written(d * columns);
  k.rows_f64({Entries::sign, seed, columns, {}}, feature, d, written.data(), columns);
  std::vector<uint8_t> codes(padded * sign_groups, 255);
  k.sign_codes(seed, feature, columns, padded, codes.data());
  for (int t = 0; t < type_count; t++) {
    double error = 0;
    for (const size_t rows : {lane_rows, lane_rows - 3}) for (const bool by_row : {true, false}) {
      const ptrdiff_t row = by_row ? ptrdiff_t(d) : 1, column = by_row ? 1 : ptrdiff_t(rows);
      const bool wide = Type(t) == Type::f64;
      std::vector<double> side(d * lane_rows), tables(sign_groups * 16 * lane_rows), sums(padded * lane_rows, 0.0);
      k.side_by_side[t](data.of(Type(t), 0), row, column, rows, d, side.data());
      auto* single = reinterpret_cast<float*>(sums.data());
      if (wide) k.sign_sums_f64(side.data(), codes.data(), padded, tables.data(), sums.data());
      else k.sign_sums_f32(reinterpret_cast<float*>(side.data()), codes.data(), padded, reinterpret_cast<float*>(tables.data()), single);
      for (size_t i = 0; i < lane_rows; i++)
        for (size_t c = 0; c < columns; c++) {
          double sum = 0;
          for (size_t f = 0; i < rows && f < d; f++) sum += data.f64[i * size_t(row) + f * size_t(column)] * written[f * columns + c];
          error = std::max(error, std::fabs(sum - (wide ? sums[c * lane_rows + i] : double(single[c * lane_rows + i]))));
        }
    }
    char name[64];
    std::snprintf(name, sizeof name, "signs of type %d", t);
    within(name, error, 0);
  }
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
    k.rows_f32(rows, far, count, r32.data(), columns);
    k.rows_f64(rows, far, count, r64.data(), columns);
    double error = 0;
    for (size_t i = 0; i < r32.size(); i++) error = std::max(error, std::fabs(r32[i] - r64[i]));
    hash(entries[e], r32.data(), r32.size() * 4);
    within("  in float64", error, 0);
  }
  std::vector<uint32_t> signs(64 + 2, 0);
  k.sign_bits(seed, 0, 64, signs.data());
  hash("sign_bits", signs.data(), 64 * 4);

  const size_t d = 1024, n = 19;
  const Data data(n * d, 100), small(n * d, 3);  // small bytes are added in another way
  check_signs(k, data, seed, far);
  for (uint32_t width : {1u, 7u})
    for (uint32_t nonzeros : {1u, 4u}) {
      Scatter scatter{Hash::grouped, seed, size_t(32) * width * nonzeros, nonzeros, width, gaps};
      std::vector<GroupEntry> groups(d / 16 * scatter.entries());
      for (uint64_t first : {far / 16, far_group}) {
        k.grouped_table(scatter, first, d / 16, groups.data());
        std::snprintf(name, sizeof name, "grouped_table_s%u_v%u%s", nonzeros, width, first == far_group ? "_far" : "");
        hash(name, groups.data(), groups.size() * sizeof(GroupEntry));
      }
      std::vector<Entry> independent(d * scatter.entries());
      for (uint64_t first : {far, far_four}) {
        k.independent_table(scatter, first, d, independent.data());
        std::snprintf(name, sizeof name, "independent_table_s%u_v%u%s", nonzeros, width, first == far_four ? "_far" : "");
        hash(name, independent.data(), independent.size() * 4);
      }
      const size_t stride = sums_stride(scatter);
      std::vector<uint32_t> pointer;
      for (size_t f = 0; f <= d; f++) pointer.push_back(uint32_t(f * scatter.entries()));
      for (int t = 0; t < type_count; t++) {
        const Type type = Type(t);
        uint32_t most = 0;
        std::vector<uint32_t> hits(scatter.columns, 0);
        for (GroupEntry entry : groups) most = std::max(most, ++hits[size_t(entry >> 20)]);
        for (size_t rows : {size_t(3), grouped_rows, grouped_rows + 1}) {
          const Data& numbers = rows > grouped_rows ? small : data;
          rows = std::min(rows, grouped_rows);
          std::vector<double> sums(grouped_rows * stride, 0.0), space(grouped_rows * stride + 4, 0.0), expected(rows * stride, 0.0);
          void* scratch = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(space.data()) + 31) / 32 * 32);
          k.grouped_dense[t](scatter, groups.data(), d / 16, &most, numbers.of(type, 0), d, rows, scratch, sums.data());
          for (size_t q = 0; q < rows; q++)
            for (size_t f = 0; f < d; f++)
              for (uint32_t e = 0; e < scatter.entries(); e++) {
                const Entry entry = entry_of(groups[f / 16 * scatter.entries() + e], uint32_t(f % 16));
                expected[q * stride + (entry >> 1)] += (entry & 1u ? -1 : 1) * numbers.f64[q * d + f];
              }
          double error = 0;
          for (size_t i = 0; i < rows * stride; i++) error = std::max(error, std::fabs(value(type, sums.data(), i) - expected[i]));
          std::snprintf(name, sizeof name, "grouped %s s%u v%u", types[t], nonzeros, width);
          within(name, error, 0);
        }
        for (size_t rows : {size_t(5), lane_rows}) {
          std::vector<double> sums(scatter.columns * lane_rows, 0.0), side(64 * lane_rows, 0.0), expected(scatter.columns * lane_rows, 0.0);
          k.lanes_dense[t](independent.data(), pointer.data(), d, data.of(type, 0), d, rows, side.data(), sums.data());
          for (size_t q = 0; q < rows; q++)
            for (size_t f = 0; f < d; f++)
              for (uint32_t e = pointer[f]; e < pointer[f + 1]; e++)
                expected[(independent[e] >> 1) * lane_rows + q] += (independent[e] & 1u ? -1 : 1) * data.f64[q * d + f];
          double error = 0;
          for (size_t i = 0; i < expected.size(); i++) error = std::max(error, std::fabs(value(type, sums.data(), i) - expected[i]));
          std::snprintf(name, sizeof name, "lanes %s", types[t]);
          within(name, error, 0);
        }
        {  // the same numbers read as columns: d features of n rows
          const size_t apart = n + 3;
          std::vector<double> sums(scatter.columns * apart, 0.0), expected(scatter.columns * apart, 0.0);
          k.columns_dense[t](independent.data(), pointer.data(), d, data.of(type, 0), ptrdiff_t(n), n, sums.data(), apart);
          for (size_t q = 0; q < n; q++)
            for (size_t f = 0; f < d; f++)
              for (uint32_t e = pointer[f]; e < pointer[f + 1]; e++)
                expected[(independent[e] >> 1) * apart + q] += (independent[e] & 1u ? -1 : 1) * data.f64[f * n + q];
          double error = 0;
          for (size_t i = 0; i < expected.size(); i++) error = std::max(error, std::fabs(value(type, sums.data(), i) - expected[i]));
          std::snprintf(name, sizeof name, "columns %s", types[t]);
          within(name, error, 0);
        }
      }
    }

  for (size_t size : {1, 2, 8, 64, 128, 1024, 16384, 131072}) {
    std::vector<float> x(size);
    for (size_t i = 0; i < size; i++) x[i] = float(int(uint32_t(i) * 2654435761u >> 28) - 8);
    std::vector<float> y = x;
    std::vector<double> z(x.begin(), x.end());
    k.transform_f32(y.data(), size);
    k.transform_f64(z.data(), size);
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
    std::vector<double> scratch(block), expected(sample.size(), 0.0), sums;
    for (size_t f = 0; f < d; f++)
      for (size_t c = 0; c < sample.size(); c++) expected[c] += walsh(feature + f, c) * data.f64[f];
    for (int t = 0; t < type_count; t++) {
      sums.assign(sample.size(), 0.0);
      k.hadamard_dense[t](h, signs.data() + feature / 128 * 4, feature, d, data.of(Type(t), 0), d, 1, places.data(), scratch.data(), sums.data());
      double error = 0;
      for (size_t c = 0; c < sample.size(); c++) error = std::max(error, std::fabs(value(Type(t), sums.data(), c) - expected[c]));
      std::snprintf(name, sizeof name, "hadamard %s b%zu", types[t], block);
      within(name, error, 0);
    }
    std::vector<uint64_t> index;
    for (size_t f = 0; f < d; f++) index.push_back(feature + f);
    std::vector<double> by_row(sample.size(), 0.0);
    k.hadamard_row_f64(h, seed, index.data(), data.f64.data(), d, places.data(), scratch.data(), by_row.data());
    double error = 0;
    for (size_t c = 0; c < sample.size(); c++) error = std::max(error, std::fabs(by_row[c] - expected[c]));
    within("hadamard_row", error, 0);
    std::vector<double> lifted(block);
    const uint64_t first = 2048 / block > 1 ? block : 0;
    std::vector<uint32_t> from(signs.begin() + ptrdiff_t(first / 128 * 4), signs.end());
    k.hadamard_lift_f64(h, from.data(), first, block, data.f64.data(), 1, sample.size(), 1.0, places.data(), scratch.data(), lifted.data(), block);
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
    k.convert[t](data.of(Type(t), 0), d - 3, out.data());
    double error = 0;
    for (size_t i = 0; i < d - 3; i++) error = std::max(error, std::fabs(value(Type(t), out.data(), i) - data.f64[i]));
    std::snprintf(name, sizeof name, "convert %s", types[t]);
    within(name, error, 0);
  }
  check_lines(k, data);
  check_genotypes(k);
  std::printf("# %d wrong\n", failures);
  return failures != 0;
}
