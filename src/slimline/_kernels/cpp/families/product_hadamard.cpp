// The subsampled randomised Hadamard transform of dense rows, sparse rows, and its transpose.
#include <numeric>
#include <unordered_map>

#include "families/product_common.hpp"

namespace slimline {

namespace {

uint64_t draw(uint64_t seed, uint64_t k) {
  const uint32_t counter[4] = {uint32_t(k), uint32_t(k >> 32), 0, stream_hadamard_sample};
  uint32_t word[4];
  kernels().random.philox(counter, 1, seed, word);
  return word[0] | uint64_t(word[1]) << 32;
}

// Signs of features [feature, feature + count), from a multiple of 128 on, with the word of padding kernels read.
std::vector<uint32_t> feature_signs(uint64_t seed, uint64_t feature, size_t count) {
  const uint64_t first = feature / 128 * 4;
  const size_t words = size_t((feature + count + 31) / 32 - first);
  std::vector<uint32_t> signs(words + 2, 0);
  kernels().random.sign_bits(seed, first, words, signs.data());
  return signs;
}

constexpr size_t apart = 64;  // more than the block between transposed rows: a power of two would put all into one cache set

// R with the block, at most that of h, that makes the least work for these features: one that they fill in part is
// transformed whole, and not as fast. In additions; a sampled column of a block costs about 15, as measured.
Hadamard for_panel(Hadamard h, uint64_t feature, size_t columns) {
  constexpr size_t smallest = 1024;
  const uint64_t end = feature + columns;
  double least = 0;
  size_t best = h.block;
  for (size_t block = h.block; block == h.block || block >= smallest; block /= 2) {
    const uint64_t touched = (end + block - 1) / block - feature / block, whole = std::max<uint64_t>(end / block, (feature + block - 1) / block) - (feature + block - 1) / block;
    double stages = 1;
    for (size_t n = block; n > 1; n /= 2) stages++;
    const double work = double(touched) * (double(block) * stages + 15.0 * double(h.columns)) + double(touched - whole) * double(block) * 4.0;
    if (block == h.block || work < least) least = work, best = block;
  }
  h.block = best;
  return h;
}

}  // namespace

template <class T>
void hadamard_product(const Hadamard& all, uint64_t seed, const Dense& x, uint64_t feature, double scale, Out<T> out, int threads) {
  const Hadamard h = for_panel(all, feature, x.columns);
  const size_t stretch = std::max<size_t>(h.block, size_t(1) << 20);  // signs in memory: 128 KB
  const bool by_row = x.column_stride == 1;
  const auto kernel = kernels().of<T>().families.hadamard;
  const int team = worthwhile_threads(double(x.rows) * double(x.columns) * 0.6, threads);
  const size_t rows_at_once = by_row ? hadamard_rows : lane_rows;  // by column: a cache line of each
  Scratch<uint32_t> sampled(team, h.columns);
  Scratch<T> block(team, h.block), sums(team, rows_at_once * h.columns);
  Scratch<T> transposed(team, by_row ? 0 : rows_at_once * (h.block + apart));
  auto widened = team_of<Widened<T>>(team, x);
  for (uint64_t begin = feature; begin < feature + x.columns;) {
    const uint64_t end = std::min<uint64_t>(feature + x.columns, (begin / stretch + 1) * stretch);
    const std::vector<uint32_t> signs = feature_signs(seed, begin, size_t(end - begin));
    const bool add = out.accumulate || begin > feature;
    const uint64_t origin = begin / 128 * 128;
    parallel_for(x.rows, rows_at_once, team, [&](size_t row, size_t row_end, int worker) {
      const size_t rows = row_end - row;
      T* acc = sums.of(worker);
      std::fill_n(acc, rows * h.columns, T(0));
      if (by_row && widened[size_t(worker)].direct()) {
        const auto tile = widened[size_t(worker)].at(row, rows, size_t(begin - feature), size_t(end - begin));
        kernel(h, signs.data(), begin, size_t(end - begin), tile.data, tile.row_stride, rows, sampled.of(worker), block.of(worker), acc);
      } else {  // one block of features at a time, converted, or transposed into rows
        for (uint64_t from = begin; from < end;) {
          const uint64_t to = std::min<uint64_t>(end, (from / h.block + 1) * h.block);
          const size_t count = size_t(to - from);
          auto tile = widened[size_t(worker)].at(row, rows, size_t(from - feature), count);
          if (!by_row) {
            T* const in_rows = transposed.of(worker);
            for (size_t f = 0; f < count; f++)
              for (size_t q = 0; q < rows; q++) in_rows[q * (count + apart) + f] = tile.data[ptrdiff_t(f) * tile.column_stride + ptrdiff_t(q)];
            tile = {in_rows, ptrdiff_t(count + apart), 1};
          }
          kernel(h, signs.data() + (from / 128 * 128 - origin) / 32, from, count, tile.data, tile.row_stride, rows, sampled.of(worker), block.of(worker), acc);
          from = to;
        }
      }
      for (size_t q = 0; q < rows; q++) write_row(acc + q * h.columns, T(scale), add, out.data + (row + q) * out.stride, h.columns);
    });
    begin = end;
  }
}

template <class Index, class T>
void hadamard_compressed(const Hadamard& h, uint64_t seed, const Compressed<Index, T>& x, uint64_t feature, double scale, Out<T> out, int threads) {
  const int team = worthwhile_threads(double(x.stored) * double(h.columns), threads);
  Scratch<uint32_t> sampled(team, h.columns);
  Scratch<T> block(team, h.block), sums(team, h.columns);
  struct Row { std::vector<uint64_t> index; std::vector<T> value; std::vector<size_t> order; };
  std::vector<Row> row_of(static_cast<size_t>(team));
  parallel_for(x.rows, 1, team, [&](size_t begin, size_t end, int worker) {
    Row& row = row_of[size_t(worker)];
    for (size_t i = begin; i < end; i++) {
      check_row(x, i);
      const size_t first = size_t(x.pointer[i]), count = size_t(x.pointer[i + 1]) - first;
      row.index.resize(count);
      row.value.assign(x.value + first, x.value + first + count);
      bool sorted = true;
      for (size_t e = 0; e < count; e++) {
        const Index column = x.index[first + e];
        if (column < 0 || size_t(column) >= x.columns) bad_index();
        row.index[e] = feature + uint64_t(column);
        sorted = sorted && (e == 0 || row.index[e - 1] <= row.index[e]);
      }
      if (!sorted) {
        row.order.resize(count);
        std::iota(row.order.begin(), row.order.end(), size_t(0));
        std::stable_sort(row.order.begin(), row.order.end(), [&](size_t a, size_t b) { return row.index[a] < row.index[b]; });
        for (size_t e = 0; e < count; e++) row.value[e] = x.value[first + row.order[e]];
        std::sort(row.index.begin(), row.index.end());
      }
      T* acc = sums.of(worker);
      std::fill_n(acc, h.columns, T(0));
      kernels().of<T>().families.hadamard_row(h, seed, row.index.data(), row.value.data(), count, sampled.of(worker), block.of(worker), acc);
      write_row(acc, T(scale), out.accumulate, out.data + i * out.stride, h.columns);
    }
  });
}

template <class T>
void hadamard_lift(const Hadamard& h, uint64_t seed, const T* v, size_t rows, uint64_t feature, double scale, Out<T> out, int threads) {
  const uint64_t first = feature / h.block, last = (feature + out.columns + h.block - 1) / h.block;
  const int team = worthwhile_threads(double(rows) * double(out.columns) * 2, threads);
  Scratch<uint32_t> sampled(team, h.columns);
  Scratch<T> block(team, h.block);
  parallel_for(size_t(last - first), 1, team, [&](size_t b, size_t, int worker) {
    const uint64_t from = std::max(feature, (first + b) * h.block), to = std::min<uint64_t>(feature + out.columns, (first + b + 1) * h.block);
    const std::vector<uint32_t> signs = feature_signs(seed, from, size_t(to - from));
    kernels().of<T>().families.hadamard_lift(h, signs.data(), from, size_t(to - from), v, rows, h.columns, T(scale), sampled.of(worker), block.of(worker),
                             out.data + (from - feature), out.stride);
  });
}

void hadamard_samples(uint64_t seed, uint64_t size, size_t count, bool replace, uint32_t* out) {
  std::unordered_map<uint64_t, uint64_t> moved;  // a shuffle of 0..size-1, of which only what moved is stored
  for (size_t k = 0; k < count; k++) {
    const uint64_t word = draw(seed, k);
    if (replace) {
      out[k] = uint32_t(word & (size - 1));
      continue;
    }
    const uint64_t j = k + uint64_t((static_cast<unsigned __int128>(word) * (size - k)) >> 64);
    auto value_at = [&](uint64_t i) { auto found = moved.find(i); return found == moved.end() ? i : found->second; };
    out[k] = uint32_t(value_at(j));
    moved[j] = value_at(k);
    moved.erase(k);
  }
}

#define SLIMLINE_INSTANTIATE(T)                                                                                            \
  template void hadamard_product<T>(const Hadamard&, uint64_t, const Dense&, uint64_t, double, Out<T>, int);             \
  template void hadamard_lift<T>(const Hadamard&, uint64_t, const T*, size_t, uint64_t, double, Out<T>, int);            \
  template void hadamard_compressed<int32_t, T>(const Hadamard&, uint64_t, const Compressed<int32_t, T>&, uint64_t, double, Out<T>, int); \
  template void hadamard_compressed<int64_t, T>(const Hadamard&, uint64_t, const Compressed<int64_t, T>&, uint64_t, double, Out<T>, int);
SLIMLINE_INSTANTIATE(float)
SLIMLINE_INSTANTIATE(double)

}  // namespace slimline
