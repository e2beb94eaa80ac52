// Packed genotypes times a sparse R: people lie side by side as it is, so the variants of a column of R are added up for all
// people, one column after the other; sixteen columns are then brought into the rows of the result.
#include "genotype_values.hpp"
#include "scatter_table.hpp"

namespace slimline {
namespace {

// R by columns: variants << 1 | negative of column c are entry[pointer[c]] to entry[pointer[c + 1]].
struct ByColumn {
  ByColumn(const Table& table, size_t columns) : pointer(columns + 1, 0), entry(table.entry.size()) {
    for (const Entry e : table.entry) pointer[(e >> 1) + 1]++;
    for (size_t c = 0; c < columns; c++) pointer[c + 1] += pointer[c];
    std::vector<uint32_t> next(pointer.begin(), pointer.end() - 1);
    for (size_t f = 0; f + 1 < table.pointer.size(); f++)
      for (uint32_t e = table.pointer[f]; e < table.pointer[f + 1]; e++) entry[next[table.entry[e] >> 1]++] = uint32_t(f) << 1 | (table.entry[e] & 1u);
  }
  std::vector<uint32_t> pointer, entry;
};

}  // namespace

bool sketches_packed() { return kernels().packed.sketch != nullptr; }

void scatter_genotypes(const Scatter& scatter, const Packed& x, const Columns& s, uint64_t feature, double scale, Out<float> out, bool turned, int threads) {
  Table table;
  std::vector<float> value;
  constexpr size_t columns = 64;         // some cache lines of the result
  constexpr size_t most_people = 4096;  // whose sums stay in the second-level cache
  const size_t pitch = std::min((x.people + 15) / 16 * 16, most_people) + 16;  // no power of two: those would get in each other's way in the cache
  for (size_t first = 0; first < x.variants;) {
    table.begin();
    const size_t count = std::min(x.variants - first, features_a_table(scatter));
    table.append(scatter, feature + first, count);
    value.resize(4 * count);
    for (size_t v = 0; v < count; v++) {
      const double centre = s.centre ? s.centre[first + v] : 0.0, factor = s.factor ? s.factor[first + v] : 1.0;
      set_genotype_values(s.fill ? s.fill + first + v : nullptr, centre, factor * scale, value.data() + 4 * v);
    }
    const ByColumn r(table, out.columns);
    const int team = worthwhile_threads(double(x.people) * double(table.entry.size()) * 0.05, threads);
    Scratch<float> sums(team, pitch * columns);
    // people are shared out, too, where R has too few columns for all threads
    const size_t groups = (out.columns + columns - 1) / columns, share = x.people * groups / (4 * size_t(team)) / 256 * 256;
    const size_t step = std::clamp<size_t>(share, 256, most_people), stretches = (x.people + step - 1) / step;
    parallel_for(groups * stretches, 1, team, [&](size_t piece, size_t, int worker) {
      const size_t begin = piece / stretches * columns, wide = std::min(columns, out.columns - begin);
      const size_t person = piece % stretches * step, people = std::min(step, x.people - person);
      const auto* data = x.data + ptrdiff_t(first) * x.stride + ptrdiff_t(person / 4);
      kernels().packed.sketch(data, x.stride, people, value.data(), r.entry.data(), r.pointer.data() + begin, wide, sums.of(worker), pitch);
      if (!turned) Rows<float>::write_turned()(sums.of(worker), pitch, 1.0f, true, people, wide, out.data + person * out.stride + begin, out.stride);
      else for (size_t c = 0; c < wide; c++) kernels().axpy_f32(1.0f, sums.of(worker) + c * pitch, out.data + (begin + c) * out.stride + person, people);
    });
    first += count;
  }
}

void turn(const float* from, size_t pitch, Out<float> out, int threads) {
  const int team = worthwhile_threads(double(out.rows) * double(out.columns) * 2.0, threads);
  constexpr size_t rows = 256;  // whose pages are near
  parallel_for(out.rows, rows, team, [&](size_t begin, size_t end, int) {
    Rows<float>::write_turned()(from + begin, pitch, 1.0f, false, end - begin, out.columns, out.data + begin * out.stride, out.stride);
  });
}

}  // namespace slimline
