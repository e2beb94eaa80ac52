#include "table.hpp"

#define SLIMLINE_TEXT_(name) #name
#define SLIMLINE_TEXT(name) SLIMLINE_TEXT_(name)

namespace slimline::SLIMLINE_ISA {

const Kernels& table() {
  static const Kernels built = [] {
    Kernels t{};
    t.name = SLIMLINE_TEXT(SLIMLINE_ISA);
    add_row_kernels(t);
    add_sign_kernels(t);
    add_scatter_kernels(t);
    add_grouped_kernels(t);
    add_grouped_byte_kernels(t);
    add_grouped_sparse_kernels(t);
    add_hadamard_kernels(t);
    add_line_kernels(t);
    add_square_kernels(t);
    add_byte_kernels(t);
#if defined(SLIMLINE_HAS_VNNI)
    if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2")) add_vnni_kernels(t);
#endif
    add_genotype_kernels(t);
    add_packed_dot_kernels(t);
    add_packed_add_kernels(t);
    add_packed_four_kernels(t);
    add_packed_sketch_kernels(t);
    add_descent_kernels(t);
    add_descent_gram_kernels(t);
    add_descent_sparse_kernels(t);
    add_simplex_kernels(t);
    return t;
  }();
  return built;
}

}  // namespace slimline::SLIMLINE_ISA
