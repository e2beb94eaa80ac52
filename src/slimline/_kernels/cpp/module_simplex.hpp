#pragma once

#include <nanobind/nanobind.h>

namespace slimline {

void bind_simplex(nanobind::module_& m);

}  // namespace slimline
