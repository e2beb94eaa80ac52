// A new order of what is there, by the numbers of one stretch of the random stream.
#pragma once

#include "isa/kernels.hpp"
#include "families/philox.hpp"

namespace slimline::SLIMLINE_ISA {

inline void shuffle(uint32_t* order, size_t count, uint32_t epoch, Key key) {
  constexpr size_t batch = 256;
  uint32_t words[batch];
  for (size_t s = 0; s < count; s += batch) {
    const size_t here = count - s < batch ? count - s : batch;
    fill_words(s / 4, (here + 3) / 4, epoch, stream_descent, key, words);
    for (size_t k = 0; k < here; k++) {
      const size_t other = s + k + size_t((uint64_t(words[k]) * (count - s - k)) >> 32);
      const uint32_t kept = order[s + k];
      order[s + k] = order[other];
      order[other] = kept;
    }
  }
}

}  // namespace slimline::SLIMLINE_ISA
