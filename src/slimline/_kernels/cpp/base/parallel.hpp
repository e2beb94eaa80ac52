// Threads for one call: started for it and joined before it returns, so that fork, worker threads and process
// pools never meet a thread of ours.
#pragma once

#include <cstddef>
#include <functional>
#include <stdexcept>

namespace slimline {

struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

// Asked now and then by the calling thread; true stops the work with `Interrupted`.
void set_interrupt_check(bool (*check)());
void throw_if_interrupted();

// body(begin, end, worker) over [0, count) in pieces of `grain`, on at most `threads` threads, worker < threads.
void parallel_for(size_t count, size_t grain, int threads, const std::function<void(size_t, size_t, int)>& body);

// As many threads as pay: starting one costs tens of microseconds, so each should have half a millisecond to do.
int worthwhile_threads(double nanoseconds, int most);

}  // namespace slimline
