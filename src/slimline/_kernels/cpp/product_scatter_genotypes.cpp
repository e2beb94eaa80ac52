// Packed genotypes times a sparse R: people lie side by side as it is, so a variant is added to the sums of a few columns.
#include "genotype_values.hpp"
#include "scatter_table.hpp"

namespace slimline {

bool sketches_packed() { return kernels().packed.sketch != nullptr; }

void scatter_genotypes(const Scatter& scatter, const Packed& x, const ByteStandard& s, uint64_t feature, double scale, Out<float> out, int threads) {
  clear_unless_added(out);
  Table table;
  std::vector<float> value;
  const ColumnSums<float> tile(out.columns);
  for (size_t first = 0; first < x.variants;) {
    table.begin();
    const size_t count = std::min(x.variants - first, features_a_table(scatter));
    table.append(scatter, feature + first, count);
    value.resize(4 * count);
    for (size_t v = 0; v < count; v++) {
      const double centre = s.centre ? s.centre[first + v] : 0.0, factor = s.factor ? s.factor[first + v] : 1.0;
      set_genotype_values(s.fill ? s.fill + first + v : nullptr, centre, factor * scale, value.data() + 4 * v);
    }
    const int team = worthwhile_threads(double(x.people) * double(table.entry.size()) * 0.15, threads);
    Scratch<float> sums(team, tile.pitch * out.columns);
    parallel_for(x.people, tile.rows, team, [&](size_t person, size_t end, int worker) {
      float* acc = sums.of(worker);
      std::fill_n(acc, tile.pitch * out.columns, 0.0f);
      kernels().packed.sketch(x.data + ptrdiff_t(first) * x.stride + person / 4, x.stride, count, end - person, value.data(), table.entry.data(), table.pointer.data(), acc, tile.pitch);
      write_turned(acc, tile.pitch, 1.0, true, out, person, end);
    });
    first += count;
  }
}

}  // namespace slimline
