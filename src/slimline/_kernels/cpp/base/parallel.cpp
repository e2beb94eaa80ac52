#include "base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace slimline {
namespace {

bool (*interrupt_check)() = nullptr;

// Whether the work that this thread takes part in is to end: only one thread of a team can ask about interrupts, and the
// others may be in the middle of a long piece.
thread_local const std::atomic<bool>* team_stop = nullptr;

// At most one question every 50 ms, counted through all calls of a thread: work may be cut into many short ones.
bool interrupted() {
  thread_local auto last = std::chrono::steady_clock::now();
  if (!interrupt_check) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now - last < std::chrono::milliseconds(50)) return false;
  last = now;
  return interrupt_check();
}

}  // namespace

void set_interrupt_check(bool (*check)()) { interrupt_check = check; }

void throw_if_interrupted() {
  if ((team_stop && *team_stop) || interrupted()) throw Interrupted();
}

int worthwhile_threads(double nanoseconds, int most) {
  return int(std::clamp(nanoseconds / 5e5, 1.0, double(std::max(most, 1))));
}

void parallel_for(size_t count, size_t grain, int threads, const std::function<void(size_t, size_t, int)>& body) {
  if (count == 0) return;
  const size_t chunks = (count + grain - 1) / grain;
  threads = int(std::min<size_t>(size_t(std::max(threads, 1)), chunks));
  std::atomic<size_t> next{0};
  std::atomic<bool> stop{false};
  std::exception_ptr error;
  std::mutex error_lock;
  auto work = [&](int worker) {
    const auto* outer = team_stop;
    team_stop = &stop;
    try {
      for (size_t c; !stop && (c = next++) < chunks;) {
        body(c * grain, std::min(count, (c + 1) * grain), worker);
        if (worker == 0 && interrupted()) throw Interrupted();
      }
    } catch (...) {
      std::lock_guard<std::mutex> hold(error_lock);
      if (!error) error = std::current_exception();
      stop = true;
    }
    team_stop = outer;
  };
  std::vector<std::thread> team;
  team.reserve(size_t(threads));
  try {
    for (int t = 1; t < threads; t++) team.emplace_back(work, t);
  } catch (const std::system_error&) {
    // no further thread to be had: those that started share the work
  }
  work(0);
  for (auto& t : team) t.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace slimline
