// The values of a block written out, their statistics, and genotypes unpacked.
#include <algorithm>

#include "base/ranges.hpp"
#include "products/line_source.hpp"
#include "products/packed_lines.hpp"

namespace slimline {

template <class Out> void block_tile(const Lines& x, const ColumnTransform& s, Out* out, ptrdiff_t stride, int threads) {
  if (x.lines == 0 || x.length == 0) return;
  const Changes changes(x, s);
  constexpr size_t stretch = 4096;
  with_line_type(x, [&](auto zero) {
    using T = decltype(zero);
    const LineKernels<T>& kernel = kernels().of<T>().lines;
    in_ranges(x.lines, group_lines, threads_for(x, 4, threads), [&](size_t begin, size_t end, size_t) {
      Source<T> source(x);
      const size_t most = source.most_lines();
      for (size_t line = begin; line < end; line += most)
        for (size_t t = 0; t < x.length; t += stretch) {
          const size_t count = std::min(most, end - line), length = std::min(stretch, x.length - t);
          const Group<T> g = source.group(line, count, t, t + length);
          const double* factor = s.scale ? s.scale + (x.along ? t : line) : nullptr;
          const int mode = changes.mode(g.any_missing);
          Out* to = out + ptrdiff_t(line) * stride + ptrdiff_t(t);
          if constexpr (sizeof(Out) == 4) kernel.write_f32[mode][x.along](changes.at(line, t), factor, g.data, g.stride, count, length, to, stride);
          else kernel.write_f64[mode][x.along](changes.at(line, t), factor, g.data, g.stride, count, length, to, stride);
        }
    });
  });
}
template void block_tile<float>(const Lines&, const ColumnTransform&, float*, ptrdiff_t, int);
template void block_tile<double>(const Lines&, const ColumnTransform&, double*, ptrdiff_t, int);

namespace {

template <class T> void statistics_of(const Lines& x, const double* weights, const Moments& m, int threads) {
  const LineKernels<T>& kernel = kernels().of<T>().lines;
  auto from = [&](size_t c) { return Moments{m.weight + c, m.mean + c, m.deviation + c, m.nonzeros + c, m.missing + c}; };
  if (!x.along) {
    in_ranges(x.lines, group_lines, threads, [&](size_t begin, size_t end, size_t) {
      Source<T> source(x);
      const size_t most = source.most_lines();
      for (size_t line = begin; line < end; line += most) {
        const size_t count = std::min(most, end - line);
        const Group<T> g = source.group(line, count, 0, x.length);
        for (size_t i = 0; i < count; i++) kernel.line_statistics(g.data + ptrdiff_t(i) * g.stride, x.length, weights, from(line + i));
        throw_if_interrupted();
      }
    });
    return;
  }
  in_ranges(x.length, 64, threads, [&](size_t begin, size_t end, size_t) {
    const bool direct = x.type == (sizeof(T) == 8 ? Type::f64 : Type::f32);
    const size_t panel = direct ? 2048 : 256, rows = direct ? std::max<size_t>(x.lines, 1) : 256;  // what is converted stays in the cache
    Source<T> source(x);
    for (size_t t = begin; t < end; t += panel) {
      const size_t to = std::min(end, t + panel);
      for (size_t line = 0; line < std::max<size_t>(x.lines, 1); line += rows) {
        const size_t count = std::min(rows, x.lines - line);
        const Group<T> g = source.group(line, count, t, to);
        kernel.element_statistics(g.data, g.stride, count, to - t, weights ? weights + line : nullptr, line == 0, from(t));
      }
      throw_if_interrupted();
    }
  });
}

}  // namespace

void block_statistics(const Lines& x, const double* weights, const Moments& m, int threads) {
  threads = threads_for(x, 8, threads);
  if (x.packed && !weights) return packed_statistics(x, m, threads);
  with_line_type(x, [&](auto zero) { statistics_of<decltype(zero)>(x, weights, m, threads); });
}

void unpack_block(const Lines& x, int8_t* out, ptrdiff_t row_stride, ptrdiff_t column_stride, int threads) {
  const auto* packed = reinterpret_cast<const uint8_t*>(x.data);
  const GenotypeKernels& kernel = kernels().genotypes;
  in_ranges(x.lines, 64, threads_for(x, 1, threads), [&](size_t begin, size_t end, size_t) {
    if (row_stride == 1 && column_stride != 1) {
      for (size_t j = begin; j < end; j++) kernel.unpack(packed + ptrdiff_t(j) * x.stride, x.length, out + ptrdiff_t(j) * column_stride);
    } else {
      kernel.unpack_transposed(packed + ptrdiff_t(begin) * x.stride, x.stride, end - begin, x.length, out + begin, row_stride);
    }
  });
}

}  // namespace slimline
