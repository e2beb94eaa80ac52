// Bytes of a file, read by position.
#pragma once

#include <cstddef>
#include <cstdint>

namespace slimline {

// Rows of bytes that follow each other in a file.
struct FileRows {
  int descriptor;
  int64_t offset;
  size_t rows, width;
};

// A file had no byte where one was needed.
struct FileEnded {
  int64_t at;
};

// Fills `to` with the bytes from `at` on; throws FileEnded, or std::system_error where the system refuses.
void read_bytes(int descriptor, int64_t at, char* to, size_t size);

}  // namespace slimline
