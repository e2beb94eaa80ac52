// Products of blocks of bytes, by whole numbers (see bytes.cpp, bytes_vnni.hpp).
#pragma once

#include "blocks.hpp"

namespace slimline {

// Whether this is the way: the instruction set has the kernels, the vectors can be written in digits, and they are few where
// many had better share the work of turning bytes into float64.
bool bytes_by_digits(const Lines&, const Standard&, const double* v, size_t rows, size_t k);

// How many roundings of float64 the sum of so many products of a line loses as much as, at most.
size_t longest_byte_sum(size_t length);
// out (lines x k) += lines · v, v length x k
void byte_lines_dot(const Lines&, const Standard&, const double* v, size_t k, double* out, int threads);
// out (length x k) += Σ a[line] · line, a lines x k
void byte_lines_add(const Lines&, const Standard&, const double* a, size_t k, double* out, int threads);
void byte_normal(const Lines&, const Standard&, const double* a, size_t k, double* w, double* out, int threads);

}  // namespace slimline
