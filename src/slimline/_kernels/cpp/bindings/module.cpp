// The native module: its parts, and what belongs to none of them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <vector>

#include "bindings/arguments.hpp"
#include "bindings/modules.hpp"
#include "base/parallel.hpp"
#include "bindings/without_gil.hpp"

namespace slimline {
namespace {

bool interrupted() {
  nb::gil_scoped_acquire hold;
  return PyErr_CheckSignals() != 0;
}

void walsh_hadamard(Writable x, int threads) {
  if (x.ndim() != 2) refuse("x must have two dimensions");
  const size_t n = x.shape(1);
  if (n < 1 || (n & (n - 1))) refuse("rows must have a power of two entries");
  by_result(x, [&](auto zero) {
    using T = decltype(zero);
    auto o = out_of<T>(x, x.shape(0), n, true);
    without_gil([&] {
      parallel_for(o.rows, std::max<size_t>(1, 16384 / n), worthwhile_threads(double(o.rows * n), threads), [&](size_t begin, size_t end, int) {
        for (size_t i = begin; i < end; i++) {
          kernels().of<T>().families.transform(o.data + i * o.stride, n);
        }
      });
    });
  });
}

void philox(Vector32 counters, uint64_t seed, nb::ndarray<uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> words) {
  require_aligned(counters, "counters");
  require_aligned(words, "words");
  if (counters.shape(0) % 4 || words.shape(0) != counters.shape(0)) refuse("counters and words come in fours");
  kernels().random.philox(counters.data(), counters.shape(0) / 4, seed, words.data());
}

uint64_t read_all(nb::ndarray<nb::ro, uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> bytes, int threads) {
  const size_t size = bytes.shape(0);
  std::vector<uint64_t> sums(size_t(std::max(threads, 1)) * 8, 0);
  without_gil([&] {
    parallel_for(size, size_t(1) << 20, threads, [&](size_t begin, size_t end, int worker) {
      sums[size_t(worker) * 8] ^= kernels().read(bytes.data() + begin, end - begin);
    });
  });
  uint64_t total = 0;
  for (uint64_t s : sums) total ^= s;
  return total;
}

std::vector<std::string> supported_names() {
  std::vector<std::string> names;
  for (const char* const* n = supported(); *n; n++) names.emplace_back(*n);
  return names;
}

}  // namespace
}  // namespace slimline

NB_MODULE(_native, m) {
  using namespace slimline;
  using namespace nb::literals;
  nb::set_leak_warnings(false);  // a projection that is alive when the interpreter ends (a global, a cache) is no leak
  // noconvert: an array of another type is refused, never copied; what a kernel writes must reach the caller.
  set_interrupt_check(interrupted);
  m.doc() = "The kernels of slimline.";

  bind_families(m);
  bind_blocks(m);
  bind_sparse(m);
  bind_blas(m);
  bind_descent(m);
  bind_simplex(m);
  bind_text(m);
  m.def("walsh_hadamard", &walsh_hadamard, "x"_a.noconvert(), "threads"_a, "Unnormalised Walsh-Hadamard transform of each row, in place.");
  m.def("philox", &philox, "counters"_a.noconvert(), "seed"_a, "words"_a.noconvert(), "Philox 4x32-10 of each counter.");
  m.def("read_all", &read_all, "data"_a.noconvert(), "threads"_a, "Reads every byte: the yardstick of the benchmarks.");
  m.def("supported", &supported_names, "Instruction sets this CPU has, best first.");
  m.def("current", [] { return std::string(kernels().name); }, "The instruction set in force.");
  m.def("select", [](const std::string& name) { return select_isa(name.c_str()); }, "name"_a, "Use another instruction set; False if it is not to be had.");
}
