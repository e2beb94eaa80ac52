// Products of blocks of packed genotypes without unpacking them (see packed_dot.cpp, packed_add.cpp and packed_fours.cpp).
#pragma once

#include "blocks.hpp"

namespace slimline {

// Whether the instruction set has the kernels.
bool genotypes_as_packed(const Lines&);

// out (variants x k) += X^T A, A people x k
void packed_tdot(const Lines&, const Standard&, const double* a, size_t k, double* out, int threads);
// out (people x k) += X W, W variants x k
void packed_dot(const Lines&, const Standard&, const double* w, size_t k, double* out, int threads);
// w (variants x k) = X^T A and out (people x k) += X X^T A
void packed_normal(const Lines&, const Standard&, const double* a, size_t k, double* w, double* out, int threads);
// of people that all count once; on any instruction set
void packed_statistics(const Lines&, const Moments&, int threads);

}  // namespace slimline
