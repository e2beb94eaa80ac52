// The parts of the module, each in a file of its own.
#pragma once

#include <nanobind/nanobind.h>

namespace slimline {

void bind_families(nanobind::module_&);
void bind_blocks(nanobind::module_&);
void bind_sparse(nanobind::module_&);
void bind_blas(nanobind::module_&);
void bind_descent(nanobind::module_&);
void bind_simplex(nanobind::module_&);
void bind_text(nanobind::module_&);

}  // namespace slimline
