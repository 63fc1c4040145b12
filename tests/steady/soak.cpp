// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A soak: one heap, round after round of launches with drawn sizes, blocks of threads, numbers of
// lanes and queues, whose blocks live on from round to round and are freed by other launches than
// those that took them. Contents of blocks are checked, and the invariants after each round.
//
//   soak MANAGER SECONDS HEAP_BYTES LANES [SEED]
//
// Fails at the first round in which contents were wrong or the invariants do not hold, and at the
// end if a block was lost, by the manager's books or by what the heap holds then and when it was
// new, or if no request was served. Prints what it has done every ten seconds.
#include "bench/cases/steady/kernels.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/core/random.hpp"
#include "warpheap/core/type_list.hpp"
#include "warpheap/default_manager.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/registry.hpp"

#include "device_array.hpp"
#include "machine.hpp"
#include "refill.hpp"
#include "requests.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using steady_load::request;

/// Those that can be asked for. The tests name the default manager: builds with a sanitizer are for
/// tests, and compile no other.
using soaked = std::conditional_t<sanitized, type_list<default_manager>, managers>;

/// What has happened so far.
struct progress {
  std::uint64_t rounds = 0;
  std::uint64_t launches = 0;
  double longest_ms = 0;
  std::string longest_of;  ///< what that launch did
};

template <class M>
class soak {
 public:
  explicit soak(const request& asked)
      : asked_(asked), memory_(on_, asked.heap_bytes), random_(asked.seed), report_(1), left_(1) {
    most_bytes_ = floor_log2(std::min<std::size_t>(memory_.largest_block(), asked.heap_bytes / 64));
  }

  int run() {
    const filling full = fill_and_empty(on_, memory_, asked_.lanes);
    start_ = std::chrono::steady_clock::now();
    double said = 0;
    do {
      round();
      if (const std::string why = wrong(); !why.empty()) return say(why);
      if (elapsed() - said >= 10) {
        said = elapsed();
        say("so far");
      }
    } while (elapsed() < asked_.seconds);
    const validation valid = memory_.validate();
    if (!valid.ok()) return say(valid.describe());
    std::string why;
    const std::uint64_t lost = memory_.stats().blocks_in_use;
    if (lost != 0) why += std::to_string(lost) + " blocks were lost; ";
    if (report_.read().front().served == 0) why += "no request was served; ";
    why += wrong_with<M>(fill_and_empty(on_, memory_, asked_.lanes), full);
    return say(why.empty() ? "ok" : why);
  }

 private:
  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  /// A number below `bound`.
  std::uint64_t draw(std::uint64_t bound) { return random_.next() % bound; }

  /// Launches with more demand than memory, or less; then all blocks are freed.
  void round() {
    bench::exchanging load;
    const int most = 4 + static_cast<int>(draw(static_cast<std::uint64_t>(most_bytes_) - 3));
    const int least = 3 + static_cast<int>(draw(static_cast<std::uint64_t>(most) - 2));
    load.sizes.size_min = std::uint64_t{1} << least;
    load.sizes.size_max = std::uint64_t{1} << most;
    // Between a hundredth and twice of what the heap holds, if all slots had blocks of mean size.
    const std::uint64_t mean = (load.sizes.size_min + load.sizes.size_max) / 2;
    load.slot_count = std::max<std::uint64_t>(1, asked_.heap_bytes * (1 + draw(200)) / 100 / mean);
    load.slot_count = std::min<std::uint64_t>(load.slot_count, 16 * asked_.lanes);
    const device_array<std::uint64_t> slots(load.slot_count);
    load.slots = slots.get();
    load.alignment = M::about.alignment;
    // One lane writes and checks a block: megabytes would take it seconds.
    load.whole = most <= 12;
    load.rounds = 1 + draw(16);
    load.report = report_.get();
    const std::uint64_t waves = 1 + draw(4);
    for (std::uint64_t wave = 0; wave < waves; ++wave) launch_together(load);
    on_.launch(covering(load.slot_count), lanes::bound<lanes::steady::empty_slots, handle<M>>{
                                              memory_.ref(), {{load, left_.get()}}});
    on_.synchronize();
    ++done_.rounds;
  }

  void launch_together(bench::exchanging load) {
    std::vector<device> queues;
    for (std::uint64_t i = 1 + draw(4); i != 0; --i) queues.push_back(on_.queue());
    std::vector<simt::timed_launch> together;
    for (device& queue : queues) {
      load.threads = 1 + draw(asked_.lanes);
      load.sizes.seed = random_.next();
      load.sizes.sizes = draw(2) == 0 ? bench::distribution::powers : bench::distribution::uniform;
      const auto threads =
          static_cast<std::uint32_t>(1 + draw(std::min<std::uint64_t>(load.threads, 1024)));
      using kernel = lanes::bound<lanes::steady::exchange_blocks, handle<M>>;
      together.push_back(
          queue.start(simt::grid::covering(load.threads, threads), kernel{memory_.ref(), {load}}));
    }
    for (const simt::timed_launch& one : together) {
      if (one.ms() <= done_.longest_ms) continue;
      done_.longest_ms = one.ms();
      done_.longest_of = "round " + std::to_string(done_.rounds + 1) + ", " +
                         std::to_string(load.sizes.size_min) + " to " +
                         std::to_string(load.sizes.size_max) + " B, " +
                         std::to_string(load.rounds) + " requests per lane";
    }
    done_.launches += together.size();
  }

  /// Why the round was wrong; empty if it was not.
  std::string wrong() {
    const std::uint64_t corrupted =
        report_.read().front().corrupted + left_.read().front().corrupted;
    if (corrupted != 0) return std::to_string(corrupted) + " blocks with wrong contents";
    const validation valid = memory_.validate();
    return valid.ok() ? std::string() : valid.describe();
  }

  int say(const std::string& what) {
    const bench::exchange_report found = report_.read().front();
    std::printf(
        "%s, seed %llu: %.0f s, %llu rounds, %llu launches, longest %.1f ms (%s), "
        "%llu served, %llu null: %s\n",
        M::about.name, static_cast<unsigned long long>(asked_.seed), elapsed(),
        static_cast<unsigned long long>(done_.rounds),
        static_cast<unsigned long long>(done_.launches), done_.longest_ms, done_.longest_of.c_str(),
        static_cast<unsigned long long>(found.served), static_cast<unsigned long long>(found.nulls),
        what.c_str());
    std::fflush(stdout);
    return what == "ok" ? 0 : 1;
  }

  const request& asked_;
  const device on_ = machine();
  heap<M> memory_;
  random_sequence random_;
  device_array<bench::exchange_report> report_;
  device_array<bench::block_report> left_;
  std::chrono::steady_clock::time_point start_;
  int most_bytes_ = 0;  // log2
  progress done_;
};

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE

int warpheap::steady_load::run_soak(const request& asked) {
  int result = 2;
  test::soaked::for_each([&]<class M>(std::type_identity<M>) {
    if (asked.manager != M::about.name) return;
    if constexpr (block_manager<M> && M::about.frees && M::about.keeps_blocks_apart()) {
      result = test::soak<M>(asked).run();
    }
  });
  if (result == 2) {
    std::fprintf(stderr, "soak: no manager '%s' that frees single blocks, which stay apart\n",
                 asked.manager.c_str());
  }
  return result;
}
