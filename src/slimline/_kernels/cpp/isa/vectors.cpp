// Plain work on vectors: elements widened, sums, and a look at whether numbers are finite.
#include "isa/elements.hpp"
#include "isa/table.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

// Elements as the sums of their type are. A whole number that stands for a missing value becomes NaN.
template <class S> void convert(const void* from, size_t count, const Missing& missing, void* to) {
  using A = sum_of<S>;
  const S* x = static_cast<const S*>(from);
  A* out = static_cast<A*>(to);
  size_t i = 0;
  if (!is_float<S> && missing.any) {
    const A code = A(missing.code), nan = A(__builtin_nan(""));
    for (; i + lanes<A> <= count; i += lanes<A>) {
      const auto z = load_wide(x + i);
      store(out + i, z == code ? decltype(z){} + nan : z);
    }
    for (; i < count; i++) out[i] = A(widen(x[i])) == code ? nan : A(widen(x[i]));
    return;
  }
  for (; i + lanes<A> <= count; i += lanes<A>) store(out + i, load_wide(x + i));
  for (; i < count; i++) out[i] = widen(x[i]);
}

template <class T> void axpy(T a, const T* x, T* y, size_t count) {
  using V = vector_of<T>;
  size_t i = 0;
  for (; i + lanes<T> <= count; i += lanes<T>) store(y + i, load<V>(y + i) + load<V>(x + i) * a);
  for (; i < count; i++) y[i] += x[i] * a;
}

template <class T> bool finite(const T* x, size_t count) {
  using V = vector_of<T>;
  V zero[4] = {};  // 0 · x is 0 for every number, and NaN for what is none
  size_t i = 0;
  for (; i + 4 * lanes<T> <= count; i += 4 * lanes<T>)
    SLIMLINE_UNROLL
    for (int k = 0; k < 4; k++) zero[k] += load<V>(x + i + k * lanes<T>) * T(0);
  T sum = 0;
  for (int k = 0; k < 4; k++)
    for (int l = 0; l < lanes<T>; l++) sum += zero[k][l];
  for (; i < count; i++) sum += x[i] * T(0);
  return sum == 0;
}

// The cheapest thing that can be done with every byte: the yardstick of the benchmarks.
uint64_t read_all(const void* from, size_t bytes) {
  const char* p = (const char*)from;
  vq sum[4] = {};
  size_t i = 0;
  for (; i + 4 * vector_bytes <= bytes; i += 4 * vector_bytes)
    SLIMLINE_UNROLL
    for (int k = 0; k < 4; k++) sum[k] ^= load<vq>(p + i + k * vector_bytes);
  uint64_t total = 0;
  for (int k = 0; k < 4; k++)
    for (int l = 0; l < lanes<double>; l++) total ^= sum[k][l];
  for (; i < bytes; i++) total ^= uint64_t((unsigned char)p[i]);
  return total;
}

}  // namespace

void add_vector_kernels(Kernels& table) {
  table.convert[int(Type::f32)] = convert<float>;
  table.convert[int(Type::f64)] = convert<double>;
  table.convert[int(Type::f16)] = convert<half>;
  table.convert[int(Type::i8)] = convert<int8_t>;
  table.convert[int(Type::u8)] = convert<uint8_t>;
  table.convert[int(Type::i16)] = convert<int16_t>;
  table.f32.axpy = axpy<float>, table.f64.axpy = axpy<double>;
  table.f32.finite = finite<float>, table.f64.finite = finite<double>;
  table.read = read_all;
}

}  // namespace slimline::SLIMLINE_ISA
