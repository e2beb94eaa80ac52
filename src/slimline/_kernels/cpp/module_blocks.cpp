// Bindings of what the passes over a matrix need: reading files, genotypes, products of blocks.
#include "module_blocks.hpp"

#include <errno.h>
#include <unistd.h>

#include <system_error>

#include "arguments.hpp"
#include "parallel.hpp"
#include "without_gil.hpp"

namespace slimline {
namespace {

// Fills a C-contiguous array with rows of a file that lie `stride` bytes apart. Returns -1, or where the file ended.
int64_t read_file(int descriptor, int64_t offset, int64_t stride, nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu> out) {
  const size_t item = out.dtype().bits / 8;
  size_t rows = out.shape(0), width = out.shape(1) * item;
  if (offset < 0 || stride < int64_t(width)) refuse("offset must be 0 or more, and rows must not overlap");
  char* to = static_cast<char*>(out.data());
  if (stride == int64_t(width)) width *= rows, rows = rows ? 1 : 0;
  int64_t short_at = -1;
  without_gil([&] {
    for (size_t i = 0; i < rows && short_at < 0; i++) {
      int64_t at = offset + int64_t(i) * stride;
      for (size_t left = width; left > 0;) {
        // A few megabytes a call, so that an interrupt is heard on a slow disk.
        const ssize_t got = ::pread(descriptor, to, left < (size_t(4) << 20) ? left : size_t(4) << 20, at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw std::system_error(errno, std::generic_category());
        if (got == 0) { short_at = at; return; }
        to += got, at += got, left -= size_t(got);
      }
    }
  });
  return short_at;
}

// out[person, variant]: copies of the first allele, -127 for a missing call.
void unpack_genotypes(nb::ndarray<nb::ro, uint8_t, nb::ndim<2>, nb::device::cpu> packed, size_t samples,
                      nb::ndarray<int8_t, nb::ndim<2>, nb::device::cpu> out, int threads) {
  const size_t variants = packed.shape(0);
  if (packed.shape(1) != (samples + 3) / 4 || (packed.shape(1) > 1 && packed.stride(1) != 1)) refuse("packed must have ceil(samples / 4) bytes a variant, in C order");
  if (out.shape(0) != samples || out.shape(1) != variants) refuse("out has the wrong shape");
  static constexpr int8_t calls[4] = {2, -127, 1, 0};
  without_gil([&] {
    parallel_for(variants, 64, threads, [&](size_t begin, size_t end, int) {
      for (size_t j = begin; j < end; j++) {
        const uint8_t* line = packed.data() + ptrdiff_t(j) * packed.stride(0);
        int8_t* to = out.data() + ptrdiff_t(j) * out.stride(1);
        for (size_t i = 0; i < samples; i++) to[ptrdiff_t(i) * out.stride(0)] = calls[line[i / 4] >> (2 * (i % 4)) & 3];
      }
    });
  });
}

}  // namespace

void bind_blocks(nb::module_& m) {
  using namespace nb::literals;
  m.def("read_file", &read_file, "descriptor"_a, "offset"_a, "stride"_a, "out"_a.noconvert(), "Fills out with rows of a file; -1, or the byte where it ended.");
  m.def("unpack_genotypes", &unpack_genotypes, "packed"_a.noconvert(), "samples"_a, "out"_a.noconvert(), "threads"_a, "Copies of the first allele, -127 for a missing call.");
}

}  // namespace slimline
