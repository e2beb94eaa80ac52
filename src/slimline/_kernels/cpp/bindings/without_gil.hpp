// The GIL is released around the work; an interrupt leaves Python's own exception behind.
#pragma once

#include <nanobind/nanobind.h>

#include "base/parallel.hpp"

namespace slimline {

template <class F> void without_gil(F work) {
  try {
    nanobind::gil_scoped_release release;
    work();
  } catch (const Interrupted&) {
    throw nanobind::python_error();
  }
}

}  // namespace slimline
