#include "isa/table.hpp"

#define SLIMLINE_TEXT_(name) #name
#define SLIMLINE_TEXT(name) SLIMLINE_TEXT_(name)

namespace slimline::SLIMLINE_ISA {

const Kernels& table() {
  static const Kernels built = [] {
    Kernels t{};
    t.name = SLIMLINE_TEXT(SLIMLINE_ISA);
    add_vector_kernels(t);
    add_row_kernels(t);
    add_sign_kernels(t);
    add_scatter_kernels(t);
    add_grouped_kernels(t);
    add_grouped_sparse_kernels(t);
    add_packed_sketch_kernels(t);
    add_hadamard_kernels(t);
    add_line_kernels(t);
    add_square_kernels(t);
    add_genotype_kernels(t);
    add_lut4_kernels(t);
    add_packed_pair_kernels(t);
    add_descent_kernels(t);
    add_descent_gram_kernels(t);
    add_descent_sparse_kernels(t);
    add_simplex_kernels(t);
    return t;
  }();
  return built;
}

}  // namespace slimline::SLIMLINE_ISA
