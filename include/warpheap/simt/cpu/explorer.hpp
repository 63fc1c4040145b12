// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Runs one small grid many times, each time in a different order of its steps.
///
/// There is one host thread. At every atomic, fence, collective and backoff, a seed chooses the
/// lane that continues. A number is therefore enough to replay a failure. What this cannot show:
/// with `memory_model::sequential`, a memory order that is too weak is invisible; with
/// `memory_model::weak`, no load reads a store that comes later (load buffering); schedules do not
/// switch at plain accesses; and a random search that finds nothing is evidence, not proof.

#include "warpheap/simt/types.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE
namespace simt {

/// How the next lane is chosen.
enum class strategy {
  /// Stays with the running lane seven times out of eight: long runs with few preemptions.
  sticky,
  /// Any lane that can run, with equal probability.
  uniform,
  /// The lane with the highest random priority; at three random points, the running lane drops to
  /// the lowest (S. Burckhardt et al., "A Randomized Scheduler with Probabilistic Guarantees of
  /// Finding Bugs", ASPLOS 2010).
  pct,
};

/// What lanes see of each other's atomic accesses.
enum class memory_model {
  /// Every load reads the newest store, whatever its order: schedules are interleavings.
  sequential,
  /// A load may read any store that C++20 allows it to read, so an order that is too weak has
  /// effects. Not available under ThreadSanitizer, which judges orders itself.
  weak,
};

/// One order of steps.
struct schedule {
  strategy how = strategy::sticky;
  std::uint64_t seed = 1;
  memory_model memory = memory_model::sequential;
};

/// The outcome of one schedule.
struct schedule_outcome {
  /// Empty if all lanes finished; otherwise, the lanes that did not, and why.
  std::string stuck;
  std::uint64_t steps = 0;
};

class explorer {
 public:
  /// \param shape at most 64 lanes in total; every block is resident from the start
  /// \param step_limit switches after which a schedule counts as stuck
  explicit explorer(const grid& shape, std::uint64_t step_limit = 20'000);
  ~explorer();
  explorer(const explorer&) = delete;
  explorer& operator=(const explorer&) = delete;

  /// Runs `functor()` in every lane, in the order that `order` stands for. The same order, shape
  /// and functor produce the same run in every process. Must be called on the thread that created
  /// the explorer. Lanes of a schedule that gets stuck are dropped without running destructors.
  /// \param trace if given, a line is appended whenever a different lane continues, a group forms,
  ///   a load reads a store other than the newest, a store takes effect before earlier ones, or a
  ///   lane makes a remark
  template <class Functor>
  schedule_outcome run(const schedule& order, const Functor& functor,
                       std::string* trace = nullptr) {
    return run(
        order, [](const void* f) { (*static_cast<const Functor*>(f))(); }, &functor, trace);
  }

 private:
  schedule_outcome run(const schedule& order, void (*body)(const void*), const void* functor,
                       std::string* trace);

  class implementation;
  std::unique_ptr<implementation> implementation_;
};

/// Whether the schedule that runs on this thread is traced, so that remarks are worth composing.
bool traced();

/// Appends a line to the trace of the schedule that runs on this thread: "block B thread T: TEXT".
/// Does nothing if there is no trace. Lanes do not switch here.
void remark(const char* text);

}  // namespace simt
WARPHEAP_END_NAMESPACE
