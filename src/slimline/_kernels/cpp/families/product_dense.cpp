// Gaussian and Achlioptas projections, and lifting: tiles of R are drawn, used by BLAS, and forgotten.
#include "families/product_common.hpp"

namespace slimline {

size_t Dense::item() const {
  switch (type) {
    case Type::f64: return 8;
    case Type::f32: return 4;
    case Type::f16: case Type::i16: return 2;
    default: return 1;
  }
}

namespace {

void gemm(const Blas& b, char ta, char tb, int m, int n, int k, float alpha, const float* a, int lda, const float* x,
          int ldx, float beta, float* c, int ldc) {
  b.sgemm(&ta, &tb, &m, &n, &k, &alpha, a, &lda, x, &ldx, &beta, c, &ldc);
}
void gemm(const Blas& b, char ta, char tb, int m, int n, int k, double alpha, const double* a, int lda, const double* x,
          int ldx, double beta, double* c, int ldc) {
  b.dgemm(&ta, &tb, &m, &n, &k, &alpha, a, &lda, x, &ldx, &beta, c, &ldc);
}

// parts(begin, end) over [0, count) cut into as many multiples of `unit` as there are threads. BLAS is called from our
// own threads, one each: its own would still be waiting in a busy loop while ours draw the next tile.
template <class F> void cut(size_t count, size_t unit, int team, F parts) {
  const size_t piece = (count + size_t(team) * unit - 1) / (size_t(team) * unit) * unit;
  parallel_for(count, piece, team, [&](size_t begin, size_t end, int) { parts(begin, end); });
}

int product_threads(double flop, int threads) { return worthwhile_threads(flop / 60, threads); }  // 60 GFLOP/s a thread

// BLAS counts in int: pieces of rows and leading dimensions stay below that.
constexpr size_t most_rows = size_t(1) << 20;
constexpr size_t most_stride = size_t(1) << 30;

template <class T> constexpr Type native = sizeof(T) == 8 ? Type::f64 : Type::f32;

// rows [begin, begin + count) of the tile's columns, converted; C order if X is, else F order
template <class T>
void convert_tile(const Dense& x, size_t begin, size_t count, size_t column, size_t width, T* out, int threads) {
  const auto convert = kernels().convert[int(x.type)];
  const bool by_row = x.column_stride == 1;
  const size_t lines = by_row ? count : width, length = by_row ? width : count;
  parallel_for(lines, std::max<size_t>(1, 16384 / length), worthwhile_threads(double(count) * double(width) * 0.3, threads),
               [&](size_t from, size_t to, int) {
                 for (size_t l = from; l < to; l++)
                   convert(by_row ? x.at(begin + l, column) : x.at(begin, column + l), length, {}, out + l * length);
               });
}

// What BLAS is given of X: the array itself, or a piece of it that is converted first.
template <class T> class Operand {
 public:
  Operand(const Dense& x, size_t most_columns) : x_(x), by_row_(x.column_stride == 1) {
    direct_ = x.type == native<T> && size_t(by_row_ ? x.row_stride : x.column_stride) < most_stride;
    rows_ = direct_ ? most_rows : std::clamp<size_t>(tile_bytes / sizeof(T) / std::max<size_t>(most_columns, 1), 16, most_rows);
    if (!direct_) converted_.resize(std::min(rows_, x.rows) * most_columns);
  }
  size_t rows() const { return rows_; }  // of a piece, at most
  void set(size_t row, size_t count, size_t column, size_t width, int threads) {
    source_ = reinterpret_cast<const T*>(x_.at(row, column));
    stride_ = size_t(by_row_ ? x_.row_stride : x_.column_stride);
    if (!direct_) {
      convert_tile(x_, row, count, column, width, converted_.data(), threads);
      source_ = converted_.data();
      stride_ = by_row_ ? width : count;
    }
    stride_ = std::max(stride_, by_row_ ? width : count);  // a single row or column has any stride
    width_ = width;
  }
  // out = rows [first, first + count) of the piece times R, or added to it
  void multiply(const Blas& blas, size_t first, size_t count, const T* r, size_t columns, size_t pitch, T scale, bool add, T* out, size_t out_stride) const {
    gemm(blas, 'N', by_row_ ? 'N' : 'T', int(columns), int(count), int(width_), scale, r, int(pitch),
         source_ + (by_row_ ? first * stride_ : first), int(stride_), T(add), out, int(out_stride));
  }

 private:
  const Dense& x_;
  bool by_row_, direct_;
  size_t rows_, stride_ = 0, width_ = 0;
  const T* source_ = nullptr;
  std::vector<T> converted_;
};

// Each thread draws some of the columns of R, and multiplies with them while they are near: nobody waits for anybody. For
// few threads, since each of them reads all of X.
template <class T>
void column_slabs(const DenseRows& rows, const Blas& blas, const Dense& x, uint64_t feature, double scale, Out<T> out, int team) {
  constexpr size_t slab_bytes = size_t(1) << 20;
  constexpr size_t widest = 1024;  // with more columns a tile would have too few features for BLAS
  const size_t share = std::min(widest, (rows.columns + size_t(team) - 1) / size_t(team));
  const size_t slab = (share + normal_columns - 1) / normal_columns * normal_columns;
  parallel_for(rows.columns, slab, team, [&](size_t begin, size_t end, int) {
    DenseRows own = rows;
    own.first = begin, own.columns = end - begin;
    const size_t most = std::min(x.columns, std::clamp<size_t>(slab_bytes / sizeof(T) / own.columns, 16, 4096));
    std::vector<T> tile(most * own.columns);
    Operand<T> operand(x, most);
    for (size_t column = 0; column < x.columns; column += most) {
      const size_t width = std::min(most, x.columns - column);
      kernels().of<T>().families.rows(own, feature + column, width, tile.data(), own.columns);
      for (size_t row = 0; row < x.rows; row += operand.rows()) {
        const size_t count = std::min(operand.rows(), x.rows - row);
        operand.set(row, count, column, width, 1);
        operand.multiply(blas, 0, count, tile.data(), own.columns, own.columns, T(scale), out.accumulate || column > 0,
                         out.data + row * out.stride + begin, out.stride);
        throw_if_interrupted();
      }
    }
  });
}

}  // namespace

template <class T>
void dense_product(const DenseRows& rows, const Blas& blas, const Dense& x, uint64_t feature, double scale, Out<T> out, int threads) {
  if (x.columns == 0) return clear_unless_added(out);
  if (rows.entries == Entries::sign) return sign_product(rows, x, feature, scale, out, threads);
  const int all = product_threads(2.0 * double(rows.columns) * double(x.rows) * double(x.columns), threads);
  constexpr size_t wide = 256;  // columns of a slab: with fewer BLAS would be slower
  if (rows.entries == Entries::normal && rows.columns >= wide * size_t(all)) return column_slabs(rows, blas, x, feature, scale, out, all);
  const size_t most = std::min(x.columns, tile_features<T>(rows));
  std::vector<T> tile(most * rows.columns);
  Operand<T> operand(x, most);
  for (size_t column = 0; column < x.columns; column += most) {
    const size_t width = std::min(most, x.columns - column);
    draw(rows, feature + column, width, tile.data(), threads);
    for (size_t row = 0; row < x.rows; row += operand.rows()) {
      const size_t count = std::min(operand.rows(), x.rows - row);
      operand.set(row, count, column, width, threads);
      const int team = product_threads(2.0 * double(rows.columns) * double(count) * double(width), threads);
      auto multiply = [&](size_t first, size_t rows_here, size_t left, size_t columns_here) {
        operand.multiply(blas, first, rows_here, tile.data() + left, columns_here, rows.columns, T(scale), out.accumulate || column > 0,
                         out.data + (row + first) * out.stride + left, out.stride);
      };
      if (count >= rows.columns) cut(count, 8, team, [&](size_t begin, size_t end) { multiply(begin, end - begin, 0, rows.columns); });
      else cut(rows.columns, 16, team, [&](size_t begin, size_t end) { multiply(0, count, begin, end - begin); });
      throw_if_interrupted();
    }
  }
}

template <class T>
void dense_lift(const DenseRows& rows, const Blas& blas, const T* v, size_t count, uint64_t feature, double scale, Out<T> out, int threads) {
  const size_t most = std::min(out.columns, tile_features<T>(rows));
  std::vector<T> tile(most * rows.columns);
  for (size_t column = 0; column < out.columns; column += most) {
    const size_t width = std::min(most, out.columns - column);
    draw(rows, feature + column, width, tile.data(), threads);
    const size_t piece = out.stride < most_stride ? most_rows : 1;  // one row has no leading dimension to overflow
    for (size_t row = 0; row < count; row += piece) {
      const size_t here = std::min(piece, count - row), stride = piece == 1 ? width : out.stride;
      const int team = product_threads(2.0 * double(rows.columns) * double(here) * double(width), threads);
      cut(width, 16, team, [&](size_t begin, size_t end) {
        gemm(blas, 'T', 'N', int(end - begin), int(here), int(rows.columns), T(scale), tile.data() + begin * rows.columns, int(rows.columns),
             v + row * rows.columns, int(rows.columns), T(0), out.data + row * out.stride + column + begin, int(stride));
      });
    }
    throw_if_interrupted();
  }
}

#define SLIMLINE_INSTANTIATE(T)                                                                                 \
  template void dense_product<T>(const DenseRows&, const Blas&, const Dense&, uint64_t, double, Out<T>, int); \
  template void dense_lift<T>(const DenseRows&, const Blas&, const T*, size_t, uint64_t, double, Out<T>, int);
SLIMLINE_INSTANTIATE(float)
SLIMLINE_INSTANTIATE(double)

}  // namespace slimline
