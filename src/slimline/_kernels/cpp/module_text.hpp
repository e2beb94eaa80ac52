#pragma once

#include <nanobind/nanobind.h>

namespace slimline {

void bind_text(nanobind::module_& m);

}  // namespace slimline
