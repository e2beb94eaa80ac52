// Bindings of what the passes over a matrix need: reading files, genotypes, products of blocks.
#include "bindings/modules.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <system_error>

#include "bindings/arguments.hpp"
#include "products/blocks.hpp"
#include "base/file_rows.hpp"
#include "base/parallel.hpp"
#include "bindings/without_gil.hpp"

namespace slimline {
namespace {

using Table = nb::ndarray<nb::ro, double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Sums = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OwnVector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OwnCounts = nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

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
  if (samples) {
    const Packed p = packed_of(x, samples);
    return {Type::i8, reinterpret_cast<const char*>(p.data), p.variants, samples, p.stride, false, true};
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

// A block, with the array that holds it.
class Block {
 public:
  Block(Array x, size_t samples, std::optional<int> missing) : lines_(lines_of(x, samples)), array_(std::move(x)) { lines_.missing = missing_of(lines_.type, missing); }
  Block(const FileRows& x, size_t samples) : lines_(lines_of(x, samples)) {}
  const Lines& operator*() const { return lines_; }
  const Lines* operator->() const { return &lines_; }

 private:
  Lines lines_;
  std::optional<Array> array_;
};

// Where the statistics of columns are written.
struct NativeMoments {
  OwnVector weight, mean, deviation;
  OwnCounts nonzeros, missing;
};

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
using PackedOut = nb::ndarray<uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void pick_genotypes(Array packed, size_t samples, Samples chosen, PackedOut out, int threads) {
  if (!chosen.shape(0)) return;
  const Lines x = lines_of(packed, samples);
  if (out.shape(0) != x.lines || out.shape(1) != (chosen.shape(0) + 3) / 4) refuse("out has the wrong shape");
  without_gil([&] { pick_block(x, chosen.data(), chosen.shape(0), out.data(), threads); });
}

void dot(const Block& x, const NativeTransform& transform, Table w, Sums out, int threads) {
  const size_t k = w.shape(1);
  require_shape(w, x->columns(), k, "W");
  require_shape(out, x->rows(), k, "out");
  reading([&, t = transform.of(x->columns())] { block_dot(*x, t, w.data(), k, out.data(), threads); });
}

void tdot(const Block& x, const NativeTransform& transform, Table a, Sums out, int threads) {
  const size_t k = a.shape(1);
  require_shape(a, x->rows(), k, "A");
  require_shape(out, x->columns(), k, "out");
  reading([&, t = transform.of(x->columns())] { block_tdot(*x, t, a.data(), k, out.data(), threads); });
}

void normal(const Block& x, const NativeTransform& transform, Table a, Sums w, Sums out, int threads) {
  const size_t k = a.shape(1);
  require_shape(a, x->rows(), k, "A");
  require_shape(w, x->columns(), k, "W");
  require_shape(out, x->rows(), k, "out");
  reading([&, t = transform.of(x->columns())] { block_normal(*x, t, a.data(), k, w.data(), out.data(), threads); });
}

void require_memory(const Block& x) {
  if (!x->data && x->descriptor >= 0) refuse("read the genotypes first: this works in memory");
}

void tile(const Block& x, const NativeTransform& transform, Writable out, int threads) {
  require_memory(x);
  if (out.ndim() != 2 || out.shape(0) != x->rows() || out.shape(1) != x->columns()) refuse("out has the wrong shape");
  require_aligned(out, "out");
  const int line = x->along ? 0 : 1, element = 1 - line;
  if ((x->length > 1 && out.stride(element) != 1) || (x->lines > 1 && out.stride(line) < int64_t(x->length)))
    refuse("out must be in the order of the block: C, or Fortran for columns and packed genotypes");
  by_result(out, [&, t = transform.of(x->columns())](auto zero) {
    using T = decltype(zero);
    without_gil([&] { block_tile<T>(*x, t, static_cast<T*>(out.data()), out.stride(line), threads); });
  });
}

void statistics(const Block& x, Maybe weights, const NativeMoments& to, int threads) {
  const double* by_row = nullptr;
  if (weights) {
    if (weights->shape(0) != x->rows()) refuse("weights must have one entry a row");
    require_aligned(*weights, "weights");
    by_row = weights->data();
    if (!x->data && x->descriptor >= 0) refuse("weights go with genotypes in memory");
  }
  for (size_t size : {to.weight.shape(0), to.mean.shape(0), to.deviation.shape(0), to.nonzeros.shape(0), to.missing.shape(0)})
    if (size != x->columns()) refuse("results must have one entry a column");
  const Moments m{to.weight.data(), to.mean.data(), to.deviation.data(), to.nonzeros.data(), to.missing.data()};
  reading([&] { block_statistics(*x, by_row, m, threads); });
}

void squares(const Block& x, const NativeTransform& transform, Maybe weight, OwnVector rows, OwnVector columns, int threads) {
  require_memory(x);
  if (weight && weight->shape(0) != x->rows()) refuse("weight must have one entry a row");
  if (rows.shape(0) != x->rows() || columns.shape(0) != x->columns()) refuse("results must have one entry a row and one a column");
  if (weight) require_aligned(*weight, "weight");
  require_aligned(rows, "rows"), require_aligned(columns, "columns");
  without_gil([&, t = transform.of(x->columns())] { block_squares(*x, t, weight ? weight->data() : nullptr, rows.data(), columns.data(), threads); });
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
  if (!missing_of(lines.type, number).any) return false;
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
  nb::class_<NativeTransform>(m, "ColumnTransform", "What is done to the values of each column: missing ones imputed, the mean subtracted, the rest scaled.")
      .def(nb::init<Maybe, Maybe, Maybe>(), "mean"_a.noconvert().none() = nb::none(), "scale"_a.noconvert().none() = nb::none(), "fill"_a.noconvert().none() = nb::none());
  nb::class_<Block>(m, "Block", "Values of X: an array in C or Fortran order, or packed genotypes of so many samples, in memory or in a file.")
      .def(nb::init<Array, size_t, std::optional<int>>(), "x"_a.noconvert(), "samples"_a = 0, "missing"_a.none() = nb::none())
      .def(nb::init<const FileRows&, size_t>(), "x"_a, "samples"_a);
  nb::class_<NativeMoments>(m, "Moments", "Where the statistics of columns are written.")
      .def(nb::init<OwnVector, OwnVector, OwnVector, OwnCounts, OwnCounts>(), "weight"_a.noconvert(), "mean"_a.noconvert(), "deviation"_a.noconvert(), "nonzeros"_a.noconvert(),
           "missing"_a.noconvert());
  m.def("block_dot", &dot, "x"_a, "transform"_a, "W"_a.noconvert(), "out"_a.noconvert(), "threads"_a, "out += X W; the scale is not applied.");
  m.def("block_tdot", &tdot, "x"_a, "transform"_a, "A"_a.noconvert(), "out"_a.noconvert(), "threads"_a, "out += X^T A; the scale is not applied.");
  m.def("block_normal", &normal, "x"_a, "transform"_a, "A"_a.noconvert(), "W"_a.noconvert(), "out"_a.noconvert(), "threads"_a, "W = X^T A and out += X X^T A of a block with all rows.");
  m.def("block_statistics", &statistics, "x"_a, "weights"_a.noconvert().none(), "moments"_a, "threads"_a, "Weight, mean, squared deviations, non-zeros and missing values of each column.");
  m.def("block_tile", &tile, "x"_a, "transform"_a, "out"_a.noconvert(), "threads"_a, "The standardised values.");
  m.def("block_squares", &squares, "x"_a, "transform"_a, "weight"_a.noconvert().none(), "rows"_a.noconvert(), "columns"_a.noconvert(), "threads"_a,
        "rows += the sum of the squares of each row, columns += that of each column, by the weights of the rows.");
  m.def("all_finite", &all_finite<float>, "x"_a.noconvert(), "threads"_a, "Whether all numbers of X are finite.");
  m.def("all_finite", &all_finite<double>, "x"_a.noconvert(), "threads"_a);
  m.def("holds_byte", &holds_byte, "x"_a.noconvert(), "number"_a, "threads"_a, "Whether a number is among the bytes of X.");
}

}  // namespace slimline
