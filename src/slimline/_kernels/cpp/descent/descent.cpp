// Coordinate descent over the rows of an array.
#include "descent/descent_loop.hpp"

#include "descent/descent_vectors.hpp"
#include "isa/table.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

// A short row is fetched as early as its coordinate: its neighbour's products are done before it could arrive. Of a long
// one, that would put more on the way than the CPU can wait for; each of its lines is fetched while the row before is read.
constexpr size_t short_row = 512;  // bytes

template <class T, class V> struct Rows {
  static constexpr bool joined = true;
  const T* first;
  ptrdiff_t stride;
  size_t width;
  double constant;

  SLIMLINE_INLINE const T* at(size_t i) const { return first + ptrdiff_t(i) * stride; }
  SLIMLINE_INLINE void fetch(size_t i) const {
    if (width * sizeof(T) > short_row) return;
    for (size_t b = 0; b < width * sizeof(T); b += 64) __builtin_prefetch((const char*)at(i) + b);
  }
  SLIMLINE_INLINE double times(size_t i, const V* v, size_t next) const {
    const double sum = dot(at(i), v, at(next), width);
    return constant == 0 ? sum : sum + constant * double(v[width]);
  }
  SLIMLINE_INLINE void add(double amount, size_t i, V* v) const {
    add_row(amount, at(i), v, width);
    if (constant != 0) v[width] = V(double(v[width]) + amount * constant);
  }
  SLIMLINE_INLINE bool holds_well(double amount) const { return holds<V>(amount); }
  SLIMLINE_INLINE double add_and_times(double amount, size_t i, V* v, size_t other, size_t next) const {
    const double sum = add_and_dot(amount, at(i), v, at(other), at(next), width);
    if (constant == 0) return sum;
    v[width] = V(double(v[width]) + amount * constant);
    return sum + constant * double(v[width]);
  }
};

template <class T, class V>
Descent descend_rows(const Matrix& z, double lam, Coordinate* coordinates, size_t count, void* v, uint32_t* order, const Effort& effort) {
  return descend(Rows<T, V>{(const T*)z.data, z.stride, z.width, z.constant}, lam, coordinates, count, (V*)v, order, effort);
}

template <class T> void squares(const Matrix& z, size_t rows, double* out) {
  for (size_t i = 0; i < rows; i++) {
    const T* row = (const T*)z.data + ptrdiff_t(i) * z.stride;
    out[i] = square_norm(row, z.width) + z.constant * z.constant;
  }
}

template <class T> void combine(const Matrix& z, size_t rows, const double* weight, double* out) {
  const T* row[combined_rows];
  double amount[combined_rows];
  size_t found = 0;
  for (size_t i = 0; i < rows; i++) {
    if (weight[i] == 0) continue;
    if (z.constant != 0) out[z.width] += weight[i] * z.constant;
    row[found] = (const T*)z.data + ptrdiff_t(i) * z.stride;
    amount[found] = weight[i];
    if (++found < combined_rows) continue;
    add_rows(amount, row, out, z.width);
    found = 0;
  }
  for (size_t k = 0; k < found; k++) add_row(amount[k], row[k], out, z.width);
}

template <class T> void add(DescentKernels& kernels) {
  kernels.rows = descend_rows<T, T>;
  kernels.rows_wide = descend_rows<T, double>;
  kernels.squares = squares<T>;
  kernels.combine = combine<T>;
}

}  // namespace

void add_descent_kernels(Kernels& table) {
  add<float>(table.descent[int(Type::f32)]);
  add<double>(table.descent[int(Type::f64)]);
}

}  // namespace slimline::SLIMLINE_ISA
