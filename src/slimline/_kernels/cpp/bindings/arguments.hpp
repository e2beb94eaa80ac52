// From Python's arrays to the structs of products.hpp; every size is checked here, before any pointer is used.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <string>
#include <utility>

#include "families/products.hpp"

namespace slimline {

namespace nb = nanobind;

using Array = nb::ndarray<nb::ro, nb::device::cpu>;
using Writable = nb::ndarray<nb::device::cpu>;
using Vector32 = nb::ndarray<nb::ro, uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

[[noreturn]] inline void refuse(const std::string& why) { throw std::invalid_argument(why); }

inline Type type_of(nb::dlpack::dtype t) {
  using Code = nb::dlpack::dtype_code;
  if (t.lanes == 1) {
    if (t.code == uint8_t(Code::Float) && t.bits == 32) return Type::f32;
    if (t.code == uint8_t(Code::Float) && t.bits == 64) return Type::f64;
    if (t.code == uint8_t(Code::Float) && t.bits == 16) return Type::f16;
    if (t.code == uint8_t(Code::Int) && t.bits == 8) return Type::i8;
    if (t.code == uint8_t(Code::UInt) && t.bits == 8) return Type::u8;
    if (t.code == uint8_t(Code::Bool) && t.bits == 8) return Type::u8;
    if (t.code == uint8_t(Code::Int) && t.bits == 16) return Type::i16;
  }
  refuse("X must hold float64, float32, float16, int8, uint8, int16 or bool");
}

using Vector = nb::ndarray<nb::ro, double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Maybe = std::optional<Vector>;

template <class A> void require_aligned(const A& array, const char* name) {
  const size_t item = std::max<size_t>(1, array.dtype().bits / 8);
  if (reinterpret_cast<uintptr_t>(array.data()) % item) refuse(std::string(name) + " must be aligned in memory: copy it");
}

inline Dense dense_of(const Array& x) {
  if (x.ndim() != 2) refuse("X must have two dimensions");
  Dense d{type_of(x.dtype()), static_cast<const char*>(x.data()), x.shape(0), x.shape(1), x.stride(0), x.stride(1)};
  if (d.columns <= 1) d.column_stride = 1;
  if (d.rows <= 1) d.row_stride = d.column_stride == 1 ? ptrdiff_t(std::max<size_t>(d.columns, 1)) : 1;
  const bool by_row = d.column_stride == 1 && d.row_stride >= ptrdiff_t(d.columns);
  const bool by_column = d.row_stride == 1 && d.column_stride >= ptrdiff_t(d.rows);
  if (!by_row && !by_column) refuse("X must lie in memory by rows or by columns");
  require_aligned(x, "X");
  return d;
}

inline Packed packed_of(const Array& x, size_t samples) {
  if (x.ndim() != 2) refuse("X must have two dimensions");
  if (x.dtype() != nb::dtype<uint8_t>() || x.shape(1) != (samples + 3) / 4) refuse("packed genotypes must have ceil(samples / 4) bytes a variant");
  if ((x.shape(1) > 1 && x.stride(1) != 1) || (x.shape(0) > 1 && x.stride(0) < int64_t(x.shape(1)))) refuse("packed genotypes must be in C order");
  return {static_cast<const uint8_t*>(x.data()), x.shape(0), samples, x.stride(0)};
}

template <class T> Out<T> out_of(Writable& out, size_t rows, size_t columns, bool accumulate) {
  if (out.ndim() != 2 || out.shape(0) != rows || out.shape(1) != columns) refuse("out has the wrong shape");
  if (out.dtype() != nb::dtype<T>()) refuse("out has the wrong element type");
  require_aligned(out, "out");
  const bool one_row = rows <= 1, empty = rows == 0 || columns == 0;
  if (!empty && ((columns > 1 && out.stride(1) != 1) || (!one_row && out.stride(0) < int64_t(columns)))) refuse("out must be in C order");
  return {static_cast<T*>(out.data()), rows, columns, one_row ? std::max<size_t>(columns, 1) : size_t(out.stride(0)), accumulate};
}

template <class T> const T* rows_of(const Array& v, size_t columns) {
  if (v.ndim() != 2 || v.shape(1) != columns) refuse("V must have one column for each component");
  if (v.dtype() != nb::dtype<T>()) refuse("V has the wrong element type");
  require_aligned(v, "V");
  if (v.shape(0) > 0 && columns > 0 && ((columns > 1 && v.stride(1) != 1) || (v.shape(0) > 1 && v.stride(0) != int64_t(columns))))
    refuse("V must be C-contiguous");
  return static_cast<const T*>(v.data());
}

template <class Index, class T> Compressed<Index, T> compressed_of(const Array& pointer, const Array& index, const Array& value, size_t columns) {
  for (const Array* a : {&pointer, &index, &value}) require_aligned(*a, "a sparse matrix");
  for (const Array* a : {&pointer, &index, &value})
    if (a->ndim() != 1 || (a->shape(0) > 1 && a->stride(0) != 1)) refuse("the parts of a sparse matrix must be contiguous vectors");
  if (pointer.dtype() != nb::dtype<Index>() || index.dtype() != nb::dtype<Index>()) refuse("indptr and indices must be int32 or int64, both alike");
  if (value.dtype() != nb::dtype<T>()) refuse("sparse data and out must have the same element type");
  if (pointer.shape(0) < 1 || index.shape(0) != value.shape(0)) refuse("the sparse matrix is damaged: its parts do not fit together");
  return {static_cast<const Index*>(pointer.data()), static_cast<const Index*>(index.data()), static_cast<const T*>(value.data()),
          pointer.shape(0) - 1, columns, value.shape(0)};
}

// Calls f<T>() for the type of the result.
template <class F> auto by_result(const Writable& out, F f) {
  if (out.dtype() == nb::dtype<float>()) return f(float());
  if (out.dtype() == nb::dtype<double>()) return f(double());
  refuse("out must be float32 or float64");
}
template <class F> auto by_index(const Array& index, F f) {
  if (index.dtype() == nb::dtype<int32_t>()) return f(int32_t());
  if (index.dtype() == nb::dtype<int64_t>()) return f(int64_t());
  refuse("indices must be int32 or int64");
}

inline const double* vector_of(const Maybe& v, size_t size, const char* name) {
  if (!v) return nullptr;
  if (v->shape(0) != size) refuse(std::string(name) + " must have one entry a column");
  require_aligned(*v, name);
  return v->data();
}

// What is done to the values of each column, with the arrays that say it.
class NativeTransform {
 public:
  NativeTransform(Maybe mean, Maybe scale, Maybe fill) : mean_(std::move(mean)), scale_(std::move(scale)), fill_(std::move(fill)) {}
  ColumnTransform of(size_t columns) const {
    return {vector_of(mean_, columns, "mean"), vector_of(scale_, columns, "scale"), vector_of(fill_, columns, "fill")};
  }

 private:
  Maybe mean_, scale_, fill_;
};

// The missing value of a type: a number that the type does not have stands for nothing.
inline Missing missing_of(Type type, std::optional<int> number) {
  const int low = type == Type::i8 ? -128 : type == Type::i16 ? -32768 : 0;
  const int high = type == Type::u8 ? 255 : type == Type::i8 || type == Type::i16 ? -1 - low : -1;
  return {number && *number >= low && *number <= high, number.value_or(0)};
}

inline void match(const Dense& x, bool wide) {
  if ((x.type == Type::f64) != wide) refuse("out must be float64 for float64 X and float32 for any other");
}

inline Gaps gaps_of(const Vector32& threshold, const Vector32& guide) {
  if (threshold.shape(0) < 1 || guide.shape(0) != 256) refuse("the table of gaps is damaged");
  for (size_t t = 0; t < 256; t++)
    if (guide.data()[t] >= threshold.shape(0)) refuse("the table of gaps is damaged");
  return {threshold.data(), uint32_t(threshold.shape(0)), guide.data()};
}

}  // namespace slimline
