// Bindings of the families of projections: small classes that hold what defines R, and what can be done with it.
#include "bindings/modules.hpp"

#include <nanobind/stl/string.h>

#include <vector>

#include "base/parallel.hpp"
#include "bindings/arguments.hpp"
#include "bindings/without_gil.hpp"

namespace slimline {
namespace {

// What every family does with its arguments before its product is called, for dense data and for sparse rows.
template <class Product>
void with_dense(const Array& x, Writable out, size_t columns, bool accumulate, Product product) {
  const Dense d = dense_of(x);
  by_result(out, [&](auto zero) {
    using T = decltype(zero);
    match(d, sizeof(T) == 8);
    auto o = out_of<T>(out, d.rows, columns, accumulate);
    without_gil([&] { product(d, o); });
  });
}
template <class Product>
void with_rows(const Array& pointer, const Array& index, const Array& value, size_t features, Writable out, size_t columns,
               bool accumulate, Product product) {
  by_result(out, [&](auto zero) {
    using T = decltype(zero);
    by_index(index, [&](auto i) {
      auto x = compressed_of<decltype(i), T>(pointer, index, value, features);
      auto o = out_of<T>(out, x.rows, columns, accumulate);
      without_gil([&] { product(x, o); });
    });
  });
}

std::vector<uint32_t> copy_of(const Vector32& v) {
  require_aligned(v, "the table of gaps");
  return {v.data(), v.data() + v.shape(0)};
}

constexpr size_t most_columns = size_t(1) << 30;

size_t checked_columns(size_t columns) {
  if (columns < 1 || columns > most_columns) refuse("n_components must lie between 1 and 2^30");
  return columns;
}

class NativeRows {  // R with all its entries: normal, sign, sparse_sign
 public:
  NativeRows(const std::string& entries, uint64_t seed, size_t columns, Vector32 threshold, Vector32 guide, nb::capsule sgemm, nb::capsule dgemm)
      : threshold_(copy_of(threshold)), guide_(copy_of(guide)) {
    rows_.entries = entries == "normal" ? Entries::normal : entries == "sign" ? Entries::sign : Entries::sparse_sign;
    if (rows_.entries == Entries::sparse_sign) {
      if (entries != "sparse_sign") refuse("entries must be 'normal', 'sign' or 'sparse_sign'");
      gaps_of(threshold, guide);
    }
    rows_.seed = seed;
    rows_.columns = checked_columns(columns);
    rows_.gaps = {threshold_.data(), uint32_t(threshold_.size()), guide_.data()};
    blas_ = {reinterpret_cast<Blas::Sgemm*>(sgemm.data()), reinterpret_cast<Blas::Dgemm*>(dgemm.data())};
  }
  NativeRows(const NativeRows&) = delete;

  void rows(uint64_t feature, Writable out) const {
    by_result(out, [&](auto zero) {
      using T = decltype(zero);
      auto o = out_of<T>(out, out.ndim() ? out.shape(0) : 0, rows_.columns, false);
      auto fill = [&](size_t begin, size_t end, int) {
        kernels().of<T>().families.rows(rows_, feature + begin, end - begin, o.data + begin * o.stride, o.stride);
      };
      without_gil([&] { parallel_for(o.rows, 256, 1, fill); });
    });
  }
  void apply(Array x, uint64_t feature, double scale, Writable out, bool accumulate, int threads) const {
    with_dense(x, out, rows_.columns, accumulate, [&](const Dense& d, auto o) { dense_product(rows_, blas_, d, feature, scale, o, threads); });
  }
  // the columns of X, each with its sample numbers and values (CSC)
  void apply_columns(Array pointer, Array index, Array value, uint64_t feature, double scale, Writable out, bool accumulate, int threads) const {
    by_result(out, [&](auto zero) {
      using T = decltype(zero);
      by_index(index, [&](auto i) {
        auto o = out_of<T>(out, out.ndim() ? out.shape(0) : 0, rows_.columns, accumulate);
        auto x = compressed_of<decltype(i), T>(pointer, index, value, o.rows);
        without_gil([&] { dense_sparse_columns<decltype(i), T>(rows_, x, feature, scale, o, threads); });
      });
    });
  }
  void apply_rows(Array pointer, Array index, Array value, size_t features, uint64_t feature, double scale, Writable out, bool accumulate, int threads) const {
    with_rows(pointer, index, value, features, out, rows_.columns, accumulate, [&](const auto& x, auto o) { dense_sparse_rows(rows_, x, feature, scale, o, threads); });
  }
  void lift(Array v, uint64_t feature, double scale, Writable out, int threads) const {
    by_result(out, [&](auto zero) {
      using T = decltype(zero);
      const T* rows = rows_of<T>(v, rows_.columns);
      auto o = out_of<T>(out, v.shape(0), out.ndim() == 2 ? out.shape(1) : 0, false);
      without_gil([&] { dense_lift<T>(rows_, blas_, rows, o.rows, feature, scale, o, threads); });
    });
  }

 private:
  DenseRows rows_;
  Blas blas_;
  std::vector<uint32_t> threshold_, guide_;
};

class NativeScatter {  // R with few non-zeros a feature
 public:
  NativeScatter(const std::string& hash, uint64_t seed, size_t columns, uint32_t nonzeros, uint32_t stacks, Vector32 threshold, Vector32 guide, uint32_t width)
      : threshold_(copy_of(threshold)), guide_(copy_of(guide)) {
    checked_columns(columns);
    scatter_.hash = hash == "grouped" ? Hash::grouped : hash == "independent" ? Hash::independent : Hash::sparse_sign;
    if (scatter_.hash == Hash::sparse_sign) {
      if (hash != "sparse_sign") refuse("hash must be 'grouped', 'independent' or 'sparse_sign'");
      gaps_of(threshold, guide);
      nonzeros = stacks = width = 1;
    }
    for (uint32_t size : {nonzeros, stacks, width})
      if (size < 1 || size > 0xFFFF) refuse("nnz_per_feature, n_stacks and bucket_width must lie between 1 and 65535");
    const size_t parts = size_t(nonzeros) * stacks * width;  // below 2^48
    if (parts > columns || columns % parts) refuse("n_components must be a multiple of nnz_per_feature * n_stacks * bucket_width");
    if (scatter_.hash == Hash::grouped && columns / parts % 16) refuse("the grouped hash needs a multiple of 16 buckets");
    scatter_.seed = seed;
    scatter_.columns = columns;
    scatter_.nonzeros = nonzeros;
    scatter_.stacks = stacks;
    scatter_.width = width;
    scatter_.gaps = {threshold_.data(), uint32_t(threshold_.size()), guide_.data()};
  }
  NativeScatter(const NativeScatter&) = delete;

  size_t count(uint64_t feature, size_t features) const {
    size_t total = 0;
    without_gil([&] { total = scatter_count(scatter_, feature, features); });
    return total;
  }
  void rows(uint64_t feature, nb::ndarray<uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> pointer,
            nb::ndarray<uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> entries) const {
    if (pointer.shape(0) < 1) refuse("pointer is too short");
    require_aligned(pointer, "pointer");
    require_aligned(entries, "entries");
    const size_t features = pointer.shape(0) - 1;
    if (entries.shape(0) != count(feature, features)) refuse("entries has the wrong length");
    without_gil([&] { scatter_rows(scatter_, feature, features, pointer.data(), entries.data()); });
  }
  void apply(Array x, uint64_t feature, double scale, Writable out, bool accumulate, int threads) const {
    with_dense(x, out, scatter_.columns, accumulate, [&](const Dense& d, auto o) { scatter_product(scatter_, d, feature, scale, o, threads); });
  }
  // X in either order, each value filled, centred and scaled on the way; false: not to be done in float32
  bool apply_standard(Array x, std::optional<int> missing, const NativeTransform& transform, uint64_t feature, double scale, Writable out, int threads) const {
    const Dense of = dense_of(x);
    if (of.column_stride == 1 && scatter_.hash != Hash::grouped) refuse("only the grouped hash standardises rows on the way");
    const ColumnTransform s = transform.of(of.columns);
    const Missing absent = missing_of(of.type, missing);
    bool done = true;
    with_dense(x, out, scatter_.columns, true, [&](const Dense& d, auto o) { done = scatter_standard(scatter_, d, absent, s, feature, scale, o, threads); });
    return done;
  }
  // false: not on this instruction set
  bool apply_genotypes(Array packed, size_t samples, const NativeTransform& transform, uint64_t feature, double scale, Writable out, int threads) const {
    const Packed x = packed_of(packed, samples);
    const ColumnTransform s = transform.of(x.variants);
    const auto o = out_of<float>(out, samples, scatter_.columns, true);
    bool done = false;
    without_gil([&] { done = scatter_genotypes(scatter_, x, s, feature, scale, o, threads); });
    return done;
  }
  void apply_rows(Array pointer, Array index, Array value, size_t features, uint64_t feature, double scale, Writable out, bool accumulate, int threads) const {
    with_rows(pointer, index, value, features, out, scatter_.columns, accumulate, [&](const auto& x, auto o) { scatter_compressed(scatter_, x, feature, scale, o, threads); });
  }
  void lift(Array v, uint64_t feature, double scale, Writable out, int threads) const {
    by_result(out, [&](auto zero) {
      using T = decltype(zero);
      const T* rows = rows_of<T>(v, scatter_.columns);
      auto o = out_of<T>(out, v.shape(0), out.ndim() == 2 ? out.shape(1) : 0, false);
      without_gil([&] { scatter_lift<T>(scatter_, rows, o.rows, feature, scale, o, threads); });
    });
  }

 private:
  Scatter scatter_;
  std::vector<uint32_t> threshold_, guide_;
};

class NativeHadamard {
 public:
  NativeHadamard(uint64_t seed, uint64_t size, size_t columns, bool replace, size_t block) : seed_(seed), size_(size), sample_(checked_columns(columns)) {
    if (size < 1 || size > uint64_t(1) << 32 || (size & (size - 1))) refuse("the size of a Walsh-Hadamard matrix must be a power of two, at most 2^32");
    if (!replace && columns > size) refuse("n_components is above the number of columns to sample from without replacement");
    if (block < 1 || block > size || (block & (block - 1))) refuse("the block must be a power of two, at most the size");
    hadamard_samples(seed, size, columns, replace, sample_.data());
    hadamard_ = {sample_.data(), columns, block};
  }
  NativeHadamard(const NativeHadamard&) = delete;

  nb::ndarray<nb::numpy, uint32_t, nb::ndim<1>> samples() const {
    auto* copy = new std::vector<uint32_t>(sample_);
    nb::capsule owner(copy, [](void* p) noexcept { delete static_cast<std::vector<uint32_t>*>(p); });
    return {copy->data(), {copy->size()}, owner};
  }
  void signs(uint64_t feature, nb::ndarray<uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> words) const {
    if (feature % 128) refuse("signs are made from a multiple of 128 on");
    require_aligned(words, "words");
    kernels().random.sign_bits(seed_, feature / 32, words.shape(0), words.data());
  }
  void apply(Array x, uint64_t feature, double scale, Writable out, bool accumulate, int threads) const {
    check(feature, dense_of(x).columns);
    with_dense(x, out, hadamard_.columns, accumulate, [&](const Dense& d, auto o) { hadamard_product(hadamard_, seed_, d, feature, scale, o, threads); });
  }
  void apply_rows(Array pointer, Array index, Array value, size_t features, uint64_t feature, double scale, Writable out, bool accumulate, int threads) const {
    check(feature, features);
    with_rows(pointer, index, value, features, out, hadamard_.columns, accumulate, [&](const auto& x, auto o) { hadamard_compressed(hadamard_, seed_, x, feature, scale, o, threads); });
  }
  void lift(Array v, uint64_t feature, double scale, Writable out, int threads) const {
    by_result(out, [&](auto zero) {
      using T = decltype(zero);
      const T* rows = rows_of<T>(v, hadamard_.columns);
      auto o = out_of<T>(out, v.shape(0), out.ndim() == 2 ? out.shape(1) : 0, false);
      check(feature, o.columns);
      without_gil([&] { hadamard_lift<T>(hadamard_, seed_, rows, o.rows, feature, scale, o, threads); });
    });
  }

 private:
  void check(uint64_t feature, size_t features) const {
    if (feature > size_ || features > size_ - feature) refuse("more features than the Walsh-Hadamard matrix has rows");
  }
  uint64_t seed_, size_;
  std::vector<uint32_t> sample_;
  Hadamard hadamard_;
};

}  // namespace

void bind_families(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<NativeRows>(m, "Rows", "R with all its entries, drawn in tiles.")
      .def(nb::init<const std::string&, uint64_t, size_t, Vector32, Vector32, nb::capsule, nb::capsule>(), "entries"_a, "seed"_a, "columns"_a,
           "threshold"_a.noconvert(), "guide"_a.noconvert(), "sgemm"_a, "dgemm"_a)
      .def("rows", &NativeRows::rows, "feature"_a, "out"_a.noconvert(), "Unscaled rows of R from `feature` on.")
      .def("apply", &NativeRows::apply, "x"_a.noconvert(), "feature"_a, "scale"_a, "out"_a.noconvert(), "accumulate"_a, "threads"_a, "out (+)= x R of a dense block.")
      .def("apply_columns", &NativeRows::apply_columns, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "feature"_a, "scale"_a, "out"_a.noconvert(), "accumulate"_a,
           "threads"_a, "out (+)= x R of a CSC block.")
      .def("apply_rows", &NativeRows::apply_rows, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "features"_a, "feature"_a,
           "scale"_a, "out"_a.noconvert(), "accumulate"_a, "threads"_a, "out (+)= x R of a CSR block whose indices ascend in each row.")
      .def("lift", &NativeRows::lift, "v"_a.noconvert(), "feature"_a, "scale"_a, "out"_a.noconvert(), "threads"_a, "out = v R^T for the features of out.");

  nb::class_<NativeScatter>(m, "Scatter", "R with few non-zeros a feature.")
      .def(nb::init<const std::string&, uint64_t, size_t, uint32_t, uint32_t, Vector32, Vector32, uint32_t>(), "hash"_a, "seed"_a, "columns"_a,
           "nonzeros"_a, "stacks"_a, "threshold"_a.noconvert(), "guide"_a.noconvert(), "width"_a = 1)
      .def("count", &NativeScatter::count, "feature"_a, "features"_a, "How many non-zeros the rows from `feature` on have.")
      .def("rows", &NativeScatter::rows, "feature"_a, "pointer"_a.noconvert(), "entries"_a.noconvert(), "Entries (column << 1 | negative) of the rows from `feature` on.")
      .def("apply", &NativeScatter::apply, "x"_a.noconvert(), "feature"_a, "scale"_a, "out"_a.noconvert(), "accumulate"_a, "threads"_a, "out (+)= x R of a dense block.")
      .def("apply_standard", &NativeScatter::apply_standard, "x"_a.noconvert(), "missing"_a.none(), "transform"_a, "feature"_a, "scale"_a, "out"_a.noconvert(), "threads"_a,
           "out += x R of values that are filled, centred and scaled on the way. False: float32 does not hold what is done.")
      .def("apply_genotypes", &NativeScatter::apply_genotypes, "packed"_a.noconvert(), "samples"_a, "transform"_a, "feature"_a, "scale"_a, "out"_a.noconvert(), "threads"_a,
           "out += x R of packed genotypes, imputed, centred and scaled on the way. False: not on this instruction set.")
      .def("apply_rows", &NativeScatter::apply_rows, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "features"_a, "feature"_a, "scale"_a, "out"_a.noconvert(),
           "accumulate"_a, "threads"_a, "out (+)= x R of a CSR block.")
      .def("lift", &NativeScatter::lift, "v"_a.noconvert(), "feature"_a, "scale"_a, "out"_a.noconvert(), "threads"_a, "out = v R^T for the features of out.");

  nb::class_<NativeHadamard>(m, "Hadamard", "Random signs, Walsh-Hadamard transform, sampled columns.")
      .def(nb::init<uint64_t, uint64_t, size_t, bool, size_t>(), "seed"_a, "size"_a, "columns"_a, "replace"_a, "block"_a)
      .def("samples", &NativeHadamard::samples, "The sampled column numbers.")
      .def("signs", &NativeHadamard::signs, "feature"_a, "words"_a.noconvert(), "Sign bits of the features from `feature` on.")
      .def("apply", &NativeHadamard::apply, "x"_a.noconvert(), "feature"_a, "scale"_a, "out"_a.noconvert(), "accumulate"_a, "threads"_a, "out (+)= x R of a dense block.")
      .def("apply_rows", &NativeHadamard::apply_rows, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "features"_a, "feature"_a, "scale"_a, "out"_a.noconvert(),
           "accumulate"_a, "threads"_a, "out (+)= x R of a CSR block.")
      .def("lift", &NativeHadamard::lift, "v"_a.noconvert(), "feature"_a, "scale"_a, "out"_a.noconvert(), "threads"_a, "out = v R^T for the features of out.");
}

}  // namespace slimline
