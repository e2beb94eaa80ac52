#pragma once

#include <nanobind/nanobind.h>

namespace slimline {

void bind_blocks(nanobind::module_& m);

}  // namespace slimline
