// Packed genotypes added up over variants, with one weight a variant.
#pragma once

#include "simd.hpp"

#if SLIMLINE_VECTOR_BYTES == 32
namespace slimline::SLIMLINE_ISA {

// As PackedKernels::add for one vector.
void packed_add_vector(const uint8_t* packed, ptrdiff_t stride, size_t lines, size_t people, const double* value, const double* w, size_t step, double* y);

}  // namespace slimline::SLIMLINE_ISA
#endif
