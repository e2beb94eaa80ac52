// Each kernel file adds its functions to the table of its instruction set.
#pragma once

#include "isa/kernels.hpp"

namespace slimline::SLIMLINE_ISA {

void add_vector_kernels(Kernels&);
void add_row_kernels(Kernels&);
void add_sign_kernels(Kernels&);
void add_scatter_kernels(Kernels&);
void add_grouped_kernels(Kernels&);
void add_grouped_sparse_kernels(Kernels&);
void add_packed_sketch_kernels(Kernels&);
void add_hadamard_kernels(Kernels&);
void add_line_kernels(Kernels&);
void add_square_kernels(Kernels&);
void add_genotype_kernels(Kernels&);
void add_lut4_kernels(Kernels&);
void add_packed_pair_kernels(Kernels&);  // after lut4: AVX-512 has its own
void add_descent_kernels(Kernels&);
void add_descent_gram_kernels(Kernels&);
void add_descent_sparse_kernels(Kernels&);
void add_simplex_kernels(Kernels&);

const Kernels& table();

}  // namespace slimline::SLIMLINE_ISA
