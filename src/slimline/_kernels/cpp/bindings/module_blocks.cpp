// Bindings of what the passes over a matrix need: reading files, genotypes, products of blocks.
#include "bindings/modules.hpp"

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <system_error>

#include "bindings/arguments.hpp"
#include "products/blocks.hpp"
#include "products/compressed.hpp"
#include "base/file_rows.hpp"
#include "base/half.hpp"
#include "base/parallel.hpp"
#include "bindings/without_gil.hpp"

namespace slimline {
namespace {

using Vector = nb::ndarray<nb::ro, double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<nb::ro, double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Sums = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OwnVector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OwnCounts = nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Maybe = std::optional<Vector>;

struct Stretch {
  char* to;
  int64_t at;
  size_t size;
};

PyObject* read_error = nullptr;

[[noreturn]] void raise_read_error(int code, int64_t at) {
  PyErr_SetObject(read_error, nb::make_tuple(code, at).ptr());
  throw nb::python_error();
}

// Work that reads a file. Raises ReadError(what the system says, 0), or ReadError(0, first byte that the file does not have).
template <class F> void reading(F work) {
  try {
    without_gil(work);
  } catch (const std::system_error& error) {
    raise_read_error(error.code().value(), 0);
  } catch (const FileEnded& end) {
    raise_read_error(0, end.at);
  }
}

// Reads stretch(0), stretch(1), …
template <class F> void read_stretches(int descriptor, size_t count, int threads, F stretch) {
  reading([&] {
    parallel_for(count, std::max<size_t>(1, count / 64), threads, [&](size_t begin, size_t end, int) {
      for (size_t i = begin; i < end; i++) {
        const Stretch s = stretch(i);
        read_bytes(descriptor, s.at, s.to, s.size);
      }
    });
  });
}

// Fills a C-contiguous array with rows of a file that lie `stride` bytes apart.
void read_file(int descriptor, int64_t offset, int64_t stride, nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu> out, int threads) {
  const size_t item = out.dtype().bits / 8;
  const size_t rows = out.shape(0), width = out.shape(1) * item;
  if (offset < 0 || stride < int64_t(width)) refuse("offset must be 0 or more, and rows must not overlap");
  char* to = static_cast<char*>(out.data());
  if (stride == int64_t(width)) {
    // one long row, cut: a megabyte a call is as fast as all at once
    constexpr size_t piece = size_t(1) << 20;
    const size_t size = width * rows;
    return read_stretches(descriptor, (size + piece - 1) / piece, threads, [&](size_t i) {
      return Stretch{to + i * piece, offset + int64_t(i * piece), std::min(piece, size - i * piece)};
    });
  }
  return read_stretches(descriptor, rows, threads, [&](size_t i) { return Stretch{to + i * width, offset + int64_t(i) * stride, width}; });
}

// `samples` = 0: an array; else genotypes of two bits, one row of bytes a variant.
Lines lines_of(const Array& x, size_t samples) {
  if (x.ndim() != 2) refuse("X must have two dimensions");
  if (samples) {
    if (x.dtype() != nb::dtype<uint8_t>() || x.shape(1) != (samples + 3) / 4) refuse("packed genotypes must have ceil(samples / 4) bytes a variant");
    if ((x.shape(1) > 1 && x.stride(1) != 1) || (x.shape(0) > 1 && x.stride(0) < int64_t(x.shape(1)))) refuse("packed genotypes must be in C order");
    return {Type::i8, static_cast<const char*>(x.data()), x.shape(0), samples, x.stride(0), false, true};
  }
  const Dense d = dense_of(x);
  const bool one_column = d.columns == 1 && d.row_stride == 1;  // in either order, but one long line is faster than many short ones
  const bool by_row = d.column_stride == 1 && (d.rows <= 1 || d.row_stride >= ptrdiff_t(d.columns)) && !one_column;
  return by_row ? Lines{d.type, d.data, d.rows, d.columns, d.row_stride, true, false} : Lines{d.type, d.data, d.columns, d.rows, d.column_stride, false, false};
}

Lines lines_of(const FileRows& x, size_t samples) {
  const Lines lines{Type::i8, nullptr, x.rows, samples, ptrdiff_t(x.width), false, true, x.descriptor, x.offset};
  if (!multiplies_packed()) refuse("this instruction set cannot compute while it reads: read the genotypes first");
  if (!samples || x.width != (samples + 3) / 4 || x.offset < 0) refuse("packed genotypes must have ceil(samples / 4) bytes a variant");
  return lines;
}

const double* vector_of(const Maybe& v, size_t size, const char* name) {
  if (!v) return nullptr;
  if (v->shape(0) != size) refuse(std::string(name) + " must have one entry a column");
  require_aligned(*v, name);
  return v->data();
}

// A number that the type does not have stands for nothing.
bool among(Type type, int number) {
  switch (type) {
    case Type::i8: return number >= -128 && number <= 127;
    case Type::u8: return number >= 0 && number <= 255;
    case Type::i16: return number >= -32768 && number <= 32767;
    default: return false;
  }
}

ColumnTransform transform_of(Lines& x, std::optional<int> missing, const Maybe& mean, const Maybe& scale, const Maybe& fill) {
  x.missing = {missing.has_value() && among(x.type, *missing), missing.value_or(0)};
  return {vector_of(mean, x.columns(), "centre"), vector_of(scale, x.columns(), "factor"), vector_of(fill, x.columns(), "fill")};
}

template <class A> void require_shape(const A& array, size_t rows, size_t columns, const char* name) {
  if (array.shape(0) != rows || array.shape(1) != columns) refuse(std::string(name) + " has the wrong shape");
  require_aligned(array, name);
}

void unpack_genotypes(Array packed, size_t samples, nb::ndarray<int8_t, nb::ndim<2>, nb::device::cpu> out, int threads) {
  if (!samples) return;
  const Lines x = lines_of(packed, samples);
  if (out.shape(0) != samples || out.shape(1) != x.lines) refuse("out has the wrong shape");
  const bool by_row = x.lines <= 1 || out.stride(1) == 1, by_column = samples <= 1 || out.stride(0) == 1;
  if (!by_row && !by_column) refuse("out must lie in memory by rows or by columns");
  without_gil([&] { unpack_block(x, out.data(), out.stride(0), by_row ? 1 : out.stride(1), threads); });
}

using Samples = nb::ndarray<nb::ro, int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Packed = nb::ndarray<uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void pick_genotypes(Array packed, size_t samples, Samples chosen, Packed out, int threads) {
  if (!chosen.shape(0)) return;
  const Lines x = lines_of(packed, samples);
  if (out.shape(0) != x.lines || out.shape(1) != (chosen.shape(0) + 3) / 4) refuse("out has the wrong shape");
  without_gil([&] { pick_block(x, chosen.data(), chosen.shape(0), out.data(), threads); });
}

template <class X> void dot(X x, size_t samples, std::optional<int> missing, Table w, Maybe centre, Maybe fill, Sums out, int threads) {
  Lines lines = lines_of(x, samples);
  const ColumnTransform s = transform_of(lines, missing, centre, {}, fill);
  const size_t k = w.shape(1);
  require_shape(w, lines.columns(), k, "W");
  require_shape(out, lines.rows(), k, "out");
  reading([&] { block_dot(lines, s, w.data(), k, out.data(), threads); });
}

template <class X> void tdot(X x, size_t samples, std::optional<int> missing, Table a, Maybe centre, Maybe fill, Sums out, int threads) {
  Lines lines = lines_of(x, samples);
  const ColumnTransform s = transform_of(lines, missing, centre, {}, fill);
  const size_t k = a.shape(1);
  require_shape(a, lines.rows(), k, "A");
  require_shape(out, lines.columns(), k, "out");
  reading([&] { block_tdot(lines, s, a.data(), k, out.data(), threads); });
}

template <class X> void normal(X x, size_t samples, std::optional<int> missing, Table a, Maybe centre, Maybe factor, Maybe fill, Sums w, Sums out, int threads) {
  Lines lines = lines_of(x, samples);
  const ColumnTransform s = transform_of(lines, missing, centre, factor, fill);
  const size_t k = a.shape(1);
  require_shape(a, lines.rows(), k, "A");
  require_shape(w, lines.columns(), k, "W");
  require_shape(out, lines.rows(), k, "out");
  reading([&] { block_normal(lines, s, a.data(), k, w.data(), out.data(), threads); });
}

void tile(Array x, size_t samples, std::optional<int> missing, Maybe centre, Maybe factor, Maybe fill, Writable out, int threads) {
  Lines lines = lines_of(x, samples);
  const ColumnTransform s = transform_of(lines, missing, centre, factor, fill);
  if (out.ndim() != 2 || out.shape(0) != lines.rows() || out.shape(1) != lines.columns()) refuse("out has the wrong shape");
  require_aligned(out, "out");
  const int line = lines.along ? 0 : 1, place = 1 - line;
  if ((lines.length > 1 && out.stride(place) != 1) || (lines.lines > 1 && out.stride(line) < int64_t(lines.length)))
    refuse("out must be in the order of the block: C, or Fortran for columns and packed genotypes");
  by_result(out, [&](auto zero) {
    using T = decltype(zero);
    without_gil([&] { block_tile<T>(lines, s, static_cast<T*>(out.data()), out.stride(line), threads); });
  });
}

template <class X> void statistics(X x, size_t samples, std::optional<int> missing, Maybe weights, OwnVector weight, OwnVector mean, OwnVector deviation,
                OwnCounts nonzeros, OwnCounts absent, int threads) {
  Lines lines = lines_of(x, samples);
  transform_of(lines, missing, {}, {}, {});
  const double* by_row = vector_of(weights, lines.rows(), "weights");
  for (size_t size : {weight.shape(0), mean.shape(0), deviation.shape(0), nonzeros.shape(0), absent.shape(0)})
    if (size != lines.columns()) refuse("results must have one entry a column");
  if (!lines.data && by_row) refuse("weights go with genotypes in memory");
  const Moments m{weight.data(), mean.data(), deviation.data(), nonzeros.data(), absent.data()};
  reading([&] { block_statistics(lines, by_row, m, threads); });
}

void squares(Array x, size_t samples, std::optional<int> missing, Maybe centre, Maybe factor, Maybe fill, Maybe weight, OwnVector rows,
             OwnVector columns, int threads) {
  Lines lines = lines_of(x, samples);
  const ColumnTransform s = transform_of(lines, missing, centre, factor, fill);
  if (weight && weight->shape(0) != lines.rows()) refuse("weight must have one entry a row");
  if (rows.shape(0) != lines.rows() || columns.shape(0) != lines.columns()) refuse("results must have one entry a row and one a column");
  if (weight) require_aligned(*weight, "weight");
  require_aligned(rows, "rows"), require_aligned(columns, "columns");
  without_gil([&] { block_squares(lines, s, weight ? weight->data() : nullptr, rows.data(), columns.data(), threads); });
}

// Whether all numbers of an array are finite.
template <class T> bool all_finite(nb::ndarray<nb::ro, T, nb::ndim<1>, nb::c_contig, nb::device::cpu> x, int threads) {
  require_aligned(x, "x");
  const size_t count = x.shape(0);
  std::atomic<bool> all{true};
  without_gil([&] {
    parallel_for(count, size_t(1) << 17, worthwhile_threads(double(count) * sizeof(T) * 0.05, threads), [&](size_t begin, size_t end, int) {
      if (!kernels().of<T>().finite(x.data() + begin, end - begin)) all = false;
    });
  });
  return all;
}

// Whether a byte is among those of an array, by rows or by columns.
bool holds_byte(Array x, int number, int threads) {
  const Lines lines = lines_of(x, 0);
  if (lines.item() != 1) refuse("X must hold bytes");
  if (!among(lines.type, number)) return false;
  std::atomic<bool> found{false};
  constexpr size_t piece = size_t(1) << 16;
  const size_t pieces = (lines.length + piece - 1) / piece;
  const int team = worthwhile_threads(double(lines.lines) * double(lines.length) * 0.05, threads);
  without_gil([&] {
    parallel_for(lines.lines * pieces, std::max<size_t>(1, piece / std::max<size_t>(lines.length, 1)), team, [&](size_t begin, size_t end, int) {
      for (size_t i = begin; i < end && !found; i++) {
        const size_t from = i % pieces * piece, size = std::min(piece, lines.length - from);
        if (std::memchr(lines.data + ptrdiff_t(i / pieces) * lines.stride + ptrdiff_t(from), number, size)) found = true;
      }
    });
  });
  return found;
}

// body(lines): a compressed matrix of any element type. by_place: one number a place, that a stored NaN counts as; by_line: the same.
template <class F>
void with_sparse_lines(const Array& pointer, const Array& index, const Array& value, size_t places, const double* by_line, const double* by_place, F body) {
  for (const Array* a : {&pointer, &index, &value}) {
    if (a->ndim() != 1 || (a->shape(0) > 1 && a->stride(0) != 1)) refuse("the parts of a sparse matrix must be contiguous vectors");
    require_aligned(*a, "a sparse matrix");
  }
  if (pointer.shape(0) < 1 || index.shape(0) != value.shape(0)) refuse("the sparse matrix is damaged: its parts do not fit together");
  if (pointer.dtype() != index.dtype()) refuse("indptr and indices must be int32 or int64, both alike");
  by_index(index, [&](auto i) {
    using Index = decltype(i);
    auto run = [&](auto element) {
      using T = decltype(element);
      const SparseLines<Index, T> x{static_cast<const Index*>(pointer.data()), static_cast<const Index*>(index.data()),
                                    static_cast<const T*>(value.data()), pointer.shape(0) - 1, places, value.shape(0), by_line, by_place};
      without_gil([&] { body(x); });
    };
    switch (type_of(value.dtype())) {
      case Type::f32: return run(float());
      case Type::f64: return run(double());
      case Type::f16: return run(Half());
      case Type::i8: return run(int8_t());
      case Type::u8: return run(uint8_t());
      case Type::i16: return run(int16_t());
    }
  });
}

template <bool gathers>
void compressed(Array pointer, Array index, Array value, Table v, Maybe line_fill, Maybe place_fill, Sums out, int threads) {
  const size_t lines = std::max<size_t>(pointer.size(), 1) - 1, places = gathers ? v.shape(0) : out.shape(0), k = v.shape(1);
  require_shape(v, gathers ? places : lines, k, "the right-hand sides");
  require_shape(out, gathers ? lines : places, k, "out");
  with_sparse_lines(pointer, index, value, places, vector_of(line_fill, lines, "the fill"), vector_of(place_fill, places, "the fill"), [&](const auto& x) {
    if constexpr (gathers) gather(x, v.data(), k, out.data(), threads);
    else scatter(x, v.data(), k, out.data(), threads);
  });
}

// Rows and columns of a compressed matrix.
struct SparseShape {
  SparseShape(const Array& pointer, bool by_row, size_t rows, size_t columns) : rows(rows), columns(columns) {
    if (pointer.size() != (by_row ? rows : columns) + 1) refuse("indptr does not fit the shape");
  }
  const double* of_rows(const Maybe& v, const char* name) const {
    if (!v) return nullptr;
    if (v->shape(0) != rows) refuse(std::string(name) + " must have one entry a row");
    require_aligned(*v, name);
    return v->data();
  }
  const double* of_columns(const Maybe& v, const char* name) const { return vector_of(v, columns, name); }
  int64_t* counts(const OwnCounts& v, const char* name) const {
    if (v.shape(0) != columns) refuse(std::string(name) + " must have one entry a column");
    require_aligned(v, name);
    return v.data();
  }
  size_t rows, columns;
};

void compressed_totals(Array pointer, Array index, Array value, bool by_row, size_t rows, Maybe weights, Maybe coarse, Maybe rest, Maybe centre, Maybe factor, Maybe fill,
                       Sums sums, std::optional<Sums> weight_sums, OwnCounts zeros, OwnCounts absent, int threads) {
  const SparseShape shape(pointer, by_row, rows, sums.shape(0));
  const SparseWeights w{shape.of_rows(weights, "the weights"), shape.of_rows(coarse, "the weights"), shape.of_rows(rest, "the weights")};
  if (bool(w.all) != bool(w.coarse) || bool(w.all) != bool(w.rest) || bool(w.all) != weight_sums.has_value())
    refuse("weights come with their coarse part, their rest, and room for their sums");
  require_shape(sums, shape.columns, 2, "the sums");
  if (weight_sums) require_shape(*weight_sums, shape.columns, 3, "the sums of the weights");
  const SparseChange change{shape.of_columns(centre, "centre"), shape.of_columns(factor, "factor"), shape.of_columns(fill, "fill")};
  const SparseTotals to{reinterpret_cast<double(*)[2]>(sums.data()), weight_sums ? reinterpret_cast<double(*)[3]>(weight_sums->data()) : nullptr,
                        shape.counts(zeros, "zeros"), shape.counts(absent, "absent")};
  with_sparse_lines(pointer, index, value, by_row ? shape.columns : rows, nullptr, nullptr,
                    [&](const auto& x) { sparse_totals(x, by_row, change, w, to, threads); });
}

void compressed_deviations(Array pointer, Array index, Array value, bool by_row, size_t rows, Maybe weights, Maybe centre, Maybe factor, Maybe fill,
                           Sums mean_and_deviation, int threads) {
  const SparseShape shape(pointer, by_row, rows, mean_and_deviation.shape(0));
  const SparseChange change{shape.of_columns(centre, "centre"), shape.of_columns(factor, "factor"), shape.of_columns(fill, "fill")};
  const double* w = shape.of_rows(weights, "the weights");
  require_shape(mean_and_deviation, shape.columns, 2, "mean and deviation");
  with_sparse_lines(pointer, index, value, by_row ? shape.columns : rows, nullptr, nullptr,
                    [&](const auto& x) { sparse_deviations(x, by_row, change, w, reinterpret_cast<double(*)[2]>(mean_and_deviation.data()), threads); });
}

// X: an array, or the rows of a file.
template <class X> void bind_sums(nb::module_& m) {
  using namespace nb::literals;
  m.def("block_dot", &dot<X>, "x"_a.noconvert(), "samples"_a, "missing"_a.none(), "W"_a.noconvert(), "centre"_a.noconvert().none(), "fill"_a.noconvert().none(),
        "out"_a.noconvert(), "threads"_a, "out += X W.");
  m.def("block_tdot", &tdot<X>, "x"_a.noconvert(), "samples"_a, "missing"_a.none(), "A"_a.noconvert(), "centre"_a.noconvert().none(), "fill"_a.noconvert().none(),
        "out"_a.noconvert(), "threads"_a, "out += X^T A.");
  m.def("block_normal", &normal<X>, "x"_a.noconvert(), "samples"_a, "missing"_a.none(), "A"_a.noconvert(), "centre"_a.noconvert().none(), "factor"_a.noconvert().none(),
        "fill"_a.noconvert().none(), "W"_a.noconvert(), "out"_a.noconvert(), "threads"_a, "W = X^T A and out += X X^T A of a block with all rows.");
  m.def("block_statistics", &statistics<X>, "x"_a.noconvert(), "samples"_a, "missing"_a.none(), "weights"_a.noconvert().none(), "weight"_a.noconvert(), "mean"_a.noconvert(),
        "deviation"_a.noconvert(), "nonzeros"_a.noconvert(), "absent"_a.noconvert(), "threads"_a, "Weight, mean, squared deviations, non-zeros and missing values of each column.");
}

}  // namespace

void bind_blocks(nb::module_& m) {
  using namespace nb::literals;
  read_error = PyErr_NewExceptionWithDoc("slimline._kernels._native.ReadError", "A file could not be read: what the system says (or 0), and the byte where the file ended.", nullptr, nullptr);
  m.attr("ReadError") = nb::borrow(read_error);
  m.def("read_file", &read_file, "descriptor"_a, "offset"_a, "stride"_a, "out"_a.noconvert(), "threads"_a, "Fills out with rows of a file.");
  m.def("pick_genotypes", &pick_genotypes, "packed"_a.noconvert(), "samples"_a, "chosen"_a.noconvert(), "out"_a.noconvert(), "threads"_a, "Some samples, whose numbers rise, packed again.");
  m.def("unpack_genotypes", &unpack_genotypes, "packed"_a.noconvert(), "samples"_a, "out"_a.noconvert(), "threads"_a, "Copies of the first allele, -127 for a missing call.");
  nb::class_<FileRows>(m, "FileRows", "Rows of bytes that follow each other in a file.")
      .def(nb::init<int, int64_t, size_t, size_t>(), "descriptor"_a, "offset"_a, "rows"_a, "width"_a);
  m.def("reads_genotypes", &multiplies_packed, "Whether the kernels take packed genotypes from a file.");
  m.def("longest_row_sum", &longest_row_sum, "length"_a, "of_bytes"_a, "threads"_a, "How many additions, one after the other, lose as much as the sum of a row does, at most.");
  m.def("longest_line_sum", &longest_line_sum, "lines"_a, "of_bytes"_a, "threads"_a, "How many additions, one after the other, lose as much as a sum over columns in Fortran order does, at most.");
  bind_sums<Array>(m);
  bind_sums<FileRows>(m);
  m.def("block_tile", &tile, "x"_a.noconvert(), "samples"_a, "missing"_a.none(), "centre"_a.noconvert().none(), "factor"_a.noconvert().none(),
        "fill"_a.noconvert().none(), "out"_a.noconvert(), "threads"_a, "The standardised values.");
  m.def("block_squares", &squares, "x"_a.noconvert(), "samples"_a, "missing"_a.none(), "centre"_a.noconvert().none(), "factor"_a.noconvert().none(),
        "fill"_a.noconvert().none(), "weight"_a.noconvert().none(), "rows"_a.noconvert(), "columns"_a.noconvert(), "threads"_a,
        "rows += the sum of the squares of each row, columns += that of each column, by the weights of the rows.");
  m.def("all_finite", &all_finite<float>, "x"_a.noconvert(), "threads"_a, "Whether all numbers of X are finite.");
  m.def("all_finite", &all_finite<double>, "x"_a.noconvert(), "threads"_a);
  m.def("holds_byte", &holds_byte, "x"_a.noconvert(), "number"_a, "threads"_a, "Whether a number is among the bytes of X.");
  m.def("compressed_gather", &compressed<true>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "V"_a.noconvert(), "line_fill"_a.noconvert().none(),
        "index_fill"_a.noconvert().none(), "out"_a.noconvert(), "threads"_a, "out[line] += value V[index].");
  m.def("compressed_scatter", &compressed<false>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "V"_a.noconvert(), "line_fill"_a.noconvert().none(),
        "index_fill"_a.noconvert().none(), "out"_a.noconvert(), "threads"_a, "out[index] += value V[line].");
  m.def("compressed_totals", &compressed_totals, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "by_row"_a, "rows"_a, "weights"_a.noconvert().none(),
        "coarse"_a.noconvert().none(), "rest"_a.noconvert().none(), "centre"_a.noconvert().none(), "factor"_a.noconvert().none(), "fill"_a.noconvert().none(),
        "sums"_a.noconvert(), "weight_sums"_a.noconvert().none(), "zeros"_a.noconvert(), "absent"_a.noconvert(),
        "threads"_a, "Numbers and weighted sums of what each column stores.");
  m.def("compressed_deviations", &compressed_deviations, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "by_row"_a, "rows"_a,
        "weights"_a.noconvert().none(), "centre"_a.noconvert().none(), "factor"_a.noconvert().none(), "fill"_a.noconvert().none(),
        "mean_and_deviation"_a.noconvert(), "threads"_a, "deviation += weighted squares of what each column stores, less its mean.");
}

}  // namespace slimline
