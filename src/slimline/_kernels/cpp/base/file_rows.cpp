#include "base/file_rows.hpp"

#include <errno.h>
#include <unistd.h>

#include <system_error>

namespace slimline {

void read_bytes(int descriptor, int64_t at, char* to, size_t size) {
  while (size > 0) {
    const ssize_t got = ::pread(descriptor, to, size, at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw std::system_error(errno, std::generic_category());
    if (got == 0) throw FileEnded{at};
    to += got, at += got, size -= size_t(got);
  }
}

}  // namespace slimline
