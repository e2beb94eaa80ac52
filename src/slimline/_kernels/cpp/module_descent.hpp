#pragma once

#include <nanobind/nanobind.h>

namespace slimline {

void bind_descent(nanobind::module_& m);

}  // namespace slimline
