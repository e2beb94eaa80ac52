// Bindings of products and statistics of compressed sparse blocks.
#include "bindings/modules.hpp"

#include <algorithm>

#include "base/half.hpp"
#include "bindings/arguments.hpp"
#include "bindings/without_gil.hpp"
#include "products/compressed.hpp"

namespace slimline {
namespace {

using Table = nb::ndarray<nb::ro, double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Sums = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OwnCounts = nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// CSR, or CSC read as the rows of the transpose.
struct NativeCompressed {
  Array pointer, index, value;
  NativeCompressed(Array pointer_, Array index_, Array value_) : pointer(std::move(pointer_)), index(std::move(index_)), value(std::move(value_)) {
    for (const Array* a : {&pointer, &index, &value}) {
      if (a->ndim() != 1 || (a->shape(0) > 1 && a->stride(0) != 1)) refuse("the parts of a sparse matrix must be contiguous vectors");
      require_aligned(*a, "a sparse matrix");
    }
    if (pointer.shape(0) < 1 || index.shape(0) != value.shape(0)) refuse("the sparse matrix is damaged: its parts do not fit together");
    if (pointer.dtype() != index.dtype()) refuse("indptr and indices must be int32 or int64, both alike");
  }
};

// Weights of the rows, if any, in two parts whose sums are exact, or nearly so.
struct NativeWeights {
  Maybe all, coarse, rest;
};

// What `compressed_totals` adds to, by column.
struct NativeTotals {
  Sums sums;
  std::optional<Sums> weights;
  OwnCounts zeros, absent;
};

template <class A> void require_shape(const A& array, size_t rows, size_t columns, const char* name) {
  if (array.shape(0) != rows || array.shape(1) != columns) refuse(std::string(name) + " has the wrong shape");
  require_aligned(array, name);
}

// body(lines): a compressed matrix of any element type. line_fill, index_fill: what a stored NaN counts as, one number a line or an index.
template <class F>
void with_sparse_lines(const NativeCompressed& x, size_t width, const double* line_fill, const double* index_fill, F body) {
  const auto& [pointer, index, value] = x;
  by_index(index, [&](auto i) {
    using Index = decltype(i);
    auto run = [&](auto element) {
      using T = decltype(element);
      const SparseLines<Index, T> lines{static_cast<const Index*>(pointer.data()), static_cast<const Index*>(index.data()),
                                    static_cast<const T*>(value.data()), pointer.shape(0) - 1, width, value.shape(0), line_fill, index_fill};
      without_gil([&] { body(lines); });
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
void compressed(const NativeCompressed& x, Table v, Maybe line_fill, Maybe index_fill, Sums out, int threads) {
  const size_t lines = std::max<size_t>(x.pointer.size(), 1) - 1, width = gathers ? v.shape(0) : out.shape(0), k = v.shape(1);
  require_shape(v, gathers ? width : lines, k, "the right-hand sides");
  require_shape(out, gathers ? lines : width, k, "out");
  with_sparse_lines(x, width, vector_of(line_fill, lines, "the fill"), vector_of(index_fill, width, "the fill"), [&](const auto& of) {
    if constexpr (gathers) gather(of, v.data(), k, out.data(), threads);
    else scatter(of, v.data(), k, out.data(), threads);
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
  int64_t* counts(const OwnCounts& v, const char* name) const {
    if (v.shape(0) != columns) refuse(std::string(name) + " must have one entry a column");
    require_aligned(v, name);
    return v.data();
  }
  size_t rows, columns;
};

void compressed_totals(const NativeCompressed& x, bool by_row, size_t rows, const NativeTransform& transform, const NativeWeights& weights, const NativeTotals& totals, int threads) {
  const SparseShape shape(x.pointer, by_row, rows, totals.sums.shape(0));
  const SparseWeights w{shape.of_rows(weights.all, "the weights"), shape.of_rows(weights.coarse, "the weights"), shape.of_rows(weights.rest, "the weights")};
  if (bool(w.all) != bool(w.coarse) || bool(w.all) != bool(w.rest) || bool(w.all) != totals.weights.has_value())
    refuse("weights come with their coarse part, their rest, and room for their sums");
  require_shape(totals.sums, shape.columns, 2, "the sums");
  if (totals.weights) require_shape(*totals.weights, shape.columns, 3, "the sums of the weights");
  const SparseTotals to{reinterpret_cast<double(*)[2]>(totals.sums.data()), totals.weights ? reinterpret_cast<double(*)[3]>(totals.weights->data()) : nullptr,
                        shape.counts(totals.zeros, "zeros"), shape.counts(totals.absent, "absent")};
  with_sparse_lines(x, by_row ? shape.columns : rows, nullptr, nullptr,
                    [&, t = transform.of(shape.columns)](const auto& of) { sparse_totals(of, by_row, t, w, to, threads); });
}

void compressed_deviations(const NativeCompressed& x, bool by_row, size_t rows, const NativeTransform& transform, Maybe weights, Sums mean_and_deviation, int threads) {
  const SparseShape shape(x.pointer, by_row, rows, mean_and_deviation.shape(0));
  const double* w = shape.of_rows(weights, "the weights");
  require_shape(mean_and_deviation, shape.columns, 2, "mean and deviation");
  with_sparse_lines(x, by_row ? shape.columns : rows, nullptr, nullptr, [&, t = transform.of(shape.columns)](const auto& of) {
    sparse_deviations(of, by_row, t, w, reinterpret_cast<double(*)[2]>(mean_and_deviation.data()), threads);
  });
}

}  // namespace

void bind_sparse(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<NativeCompressed>(m, "Compressed", "A sparse block, CSR or CSC.")
      .def(nb::init<Array, Array, Array>(), "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert());
  nb::class_<NativeWeights>(m, "RowWeights", "Weights of the rows, if any, and two parts of them that add up to all.")
      .def(nb::init<Maybe, Maybe, Maybe>(), "all"_a.noconvert().none() = nb::none(), "coarse"_a.noconvert().none() = nb::none(), "rest"_a.noconvert().none() = nb::none());
  nb::class_<NativeTotals>(m, "Totals", "What compressed_totals adds to, by column.")
      .def(nb::init<Sums, std::optional<Sums>, OwnCounts, OwnCounts>(), "sums"_a.noconvert(), "weights"_a.noconvert().none(), "zeros"_a.noconvert(), "absent"_a.noconvert());
  m.def("compressed_gather", &compressed<true>, "x"_a, "V"_a.noconvert(), "line_fill"_a.noconvert().none(), "index_fill"_a.noconvert().none(), "out"_a.noconvert(), "threads"_a,
        "out[line] += value V[index].");
  m.def("compressed_scatter", &compressed<false>, "x"_a, "V"_a.noconvert(), "line_fill"_a.noconvert().none(), "index_fill"_a.noconvert().none(), "out"_a.noconvert(), "threads"_a,
        "out[index] += value V[line].");
  m.def("compressed_totals", &compressed_totals, "x"_a, "by_row"_a, "rows"_a, "transform"_a, "weights"_a, "totals"_a, "threads"_a, "Numbers and weighted sums of what each column stores.");
  m.def("compressed_deviations", &compressed_deviations, "x"_a, "by_row"_a, "rows"_a, "transform"_a, "weights"_a.noconvert().none(), "mean_and_deviation"_a.noconvert(), "threads"_a,
        "deviation += weighted squares of what each column stores, less its mean.");
}

}  // namespace slimline
