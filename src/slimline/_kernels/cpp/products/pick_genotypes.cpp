// Some samples of packed genotypes, packed again: 32 of them a word, those that are kept pushed together.
#include <cstring>
#include <stdexcept>
#include <vector>

#include "products/blocks.hpp"
#include "base/parallel.hpp"

namespace slimline {
namespace {

constexpr size_t samples_of_a_word = 32;

// Which calls of a word are kept, and which of these move down by 1, 2, 4, 8 and 16 places, one after the other
// (Warren, Hacker's Delight, 2nd edition, section 7-4).
struct PickedWord {
  uint64_t kept = 0, moves[5] = {};
  unsigned bits = 0;

  void prepare() {
    uint64_t m = kept, after = ~kept << 1;  // bits that have something to pass on their way down
    for (int i = 0; i < 6; i++) {
      uint64_t odd = after;
      for (int s = 1; s < 64; s *= 2) odd ^= odd << s;
      const uint64_t move = odd & m;
      if (i) moves[i - 1] = move;  // two bits stay together: none moves by one
      m = (m ^ move) | (move >> (1 << i));
      after &= ~odd;
    }
  }

  uint64_t operator()(uint64_t x) const {
    x &= kept;
    for (int i = 0; i < 5; i++) {
      const uint64_t move = x & moves[i];
      x = (x ^ move) | (move >> (2 << i));
    }
    return x;
  }
};

std::vector<PickedWord> words_of(const int64_t* samples, size_t count, size_t all) {
  std::vector<PickedWord> words((all + samples_of_a_word - 1) / samples_of_a_word);
  for (size_t i = 0; i < count; i++) {
    if (samples[i] < 0 || size_t(samples[i]) >= all || (i && samples[i] <= samples[i - 1])) throw std::invalid_argument("samples must rise, and be there");
    PickedWord& word = words[size_t(samples[i]) / samples_of_a_word];
    word.kept |= uint64_t(3) << (2 * (size_t(samples[i]) % samples_of_a_word));
    word.bits += 2;
  }
  for (PickedWord& word : words) word.prepare();
  return words;
}

void pick(const uint8_t* packed, size_t bytes, const std::vector<PickedWord>& words, uint8_t* out) {
  uint64_t together = 0;
  unsigned filled = 0;
  for (size_t i = 0; i < words.size(); i++) {
    uint64_t x = 0;
    std::memcpy(&x, packed + 8 * i, bytes - 8 * i < 8 ? bytes - 8 * i : 8);
    x = words[i](x);
    together |= x << filled;
    if (filled + words[i].bits >= 64) {
      std::memcpy(out, &together, 8);
      out += 8;
      together = filled ? x >> (64 - filled) : 0;
      filled -= 64;  // comes back with the bits that follow
    }
    filled += words[i].bits;
  }
  std::memcpy(out, &together, (filled + 7) / 8);
}

}  // namespace

void pick_block(const Lines& x, const int64_t* samples, size_t count, uint8_t* out, int threads) {
  const std::vector<PickedWord> words = words_of(samples, count, x.length);
  const auto* packed = reinterpret_cast<const uint8_t*>(x.data);
  const size_t bytes = (x.length + 3) / 4, row = (count + 3) / 4;
  parallel_for(x.lines, 256, threads, [&](size_t begin, size_t end, int) {
    for (size_t j = begin; j < end; j++) pick(packed + ptrdiff_t(j) * x.stride, bytes, words, out + j * row);
  });
}

}  // namespace slimline
