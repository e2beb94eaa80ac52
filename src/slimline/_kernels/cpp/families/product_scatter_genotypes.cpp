// Packed genotypes times a sparse R: the variants of a column of R are added up for many samples, one column after the other;
// some columns are then brought into the rows of the result.
#include "families/scatter_table.hpp"
#include "products/genotype_values.hpp"

namespace slimline {
namespace {

// R by columns: variant << 1 | negative of column c are entry[pointer[c]] to entry[pointer[c + 1]].
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

bool scatter_genotypes(const Scatter& scatter, const Packed& x, const ColumnTransform& s, uint64_t feature, double scale, Out<float> out, int threads) {
  const auto kernel = kernels().packed.sketch;
  if (!kernel) return false;
  constexpr size_t columns = 64, most_samples = 4096;  // whose sums stay in the second-level cache
  const size_t pitch = std::min((x.samples + 15) / 16 * 16, most_samples) + 16;  // no power of two: see ColumnSums
  Table table;
  std::vector<float> value;
  for (size_t first = 0, count; first < x.variants; first += count) {
    count = std::min(x.variants - first, features_a_table(scatter));
    table.begin();
    table.append(scatter, feature + first, count);
    const ByColumn r(table, out.columns);
    value.resize(4 * count);
    for (size_t v = 0; v < count; v++)
      set_genotype_values(s.fill ? s.fill + first + v : nullptr, s.mean ? s.mean[first + v] : 0.0, s.scale ? s.scale[first + v] * scale : scale, value.data() + 4 * v);
    const int team = worthwhile_threads(double(x.samples) * double(table.entry.size()) * 0.05, threads);
    Scratch<float> sums(team, pitch * columns);
    // samples are shared out, too, where R has too few columns for all threads
    const size_t groups = (out.columns + columns - 1) / columns, share = x.samples * groups / (4 * size_t(team)) / 256 * 256;
    const size_t step = std::clamp<size_t>(share, 256, most_samples), stretches = (x.samples + step - 1) / step;
    parallel_for(groups * stretches, 1, team, [&](size_t piece, size_t, int worker) {
      const size_t begin = piece / stretches * columns, wide = std::min(columns, out.columns - begin);
      const size_t sample = piece % stretches * step, samples = std::min(step, x.samples - sample);
      const PackedSketch part{x.data + ptrdiff_t(first) * x.stride + ptrdiff_t(sample / 4), x.stride, samples, value.data(), r.entry.data(), r.pointer.data() + begin};
      kernel(part, wide, sums.of(worker), pitch);
      kernels().f32.families.write_transposed(sums.of(worker), pitch, 1.0f, true, samples, wide, out.data + sample * out.stride + begin, out.stride);
    });
  }
  return true;
}

}  // namespace slimline
