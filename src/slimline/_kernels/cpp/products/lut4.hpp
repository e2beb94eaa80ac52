// Packed genotypes added up over variants, with one weight a variant.
#pragma once

#include "isa/simd.hpp"

#if SLIMLINE_VECTOR_BYTES >= 32
namespace slimline::SLIMLINE_ISA {

// As PackedKernels::add for one vector.
void lut4_add_vector(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t samples, const double* value, const double* w, size_t step, double* y);

}  // namespace slimline::SLIMLINE_ISA
#endif
