// The table of kernels: one for each instruction set.
//
// A kernel works on one range, on one thread, and allocates nothing. Drivers (product_*.cpp, block_*.cpp) cut the work, own the
// scratch memory and call kernels. DevNotes.md says how this fits together.
#pragma once

#include <cstddef>
#include <cstdint>

#include "descent/descent.hpp"
#include "descent/simplex.hpp"
#include "families/family_kernels.hpp"
#include "products/product_kernels.hpp"

namespace slimline {

// Element types of X. Sums are kept in float64 for float64 and in float32 for all others.
enum class Type : int { f32, f64, f16, i8, u8, i16 };
constexpr int type_count = 6;

// The whole number that stands for a missing value, if any does.
struct Missing {
  bool any = false;
  int code = 0;
};

// Kernels for values of type T, float or double. What has another type is converted first, a few lines at a time.
template <class T> struct TypedKernels {
  FamilyKernels<T> families;
  LineKernels<T> lines;
  void (*axpy)(T a, const T* x, T* y, size_t count);
  bool (*finite)(const T* x, size_t count);  // whether all of them are
};

struct Kernels {
  const char* name;
  RandomKernels random;
  TypedKernels<float> f32;
  TypedKernels<double> f64;
  LineKernels<int8_t> i8;
  // x as T, the type of its sums; missing values become NaN
  void (*convert[type_count])(const void* x, size_t count, const Missing&, void* out);
  GenotypeKernels genotypes;
  PackedKernels packed;
  DescentKernels descent[2];            // float32, float64
  DescentKernels descent_sparse[2][2];  // with indices of 32 and of 64 bits
  SimplexDescent (*simplex)(const SimplexProblem&, double* scratch, const SimplexEffort&);
  uint64_t (*read)(const void* x, size_t bytes);

  template <class T> const TypedKernels<T>& of() const {
    if constexpr (sizeof(T) == sizeof(float)) return f32;
    else return f64;
  }
  template <class T> const LineKernels<T>& lines() const {
    if constexpr (sizeof(T) == 1) return i8;
    else return of<T>().lines;
  }
};

const Kernels& kernels();            // of the instruction set in force
const char* const* supported();      // names this CPU can run, best first, null-terminated
bool select_isa(const char* name);   // false: unknown, or not supported by this CPU

}  // namespace slimline
