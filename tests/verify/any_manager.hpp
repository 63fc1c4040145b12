// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/call_counts.hpp"
#include "warpheap/heap/manager.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// How many blocks of a size an empty heap holds.
struct block_count {
  block_count(int exactly)  // NOLINT(google-explicit-constructor): mostly it is known
      : least(exactly), most(exactly) {}
  /// Where it depends on where the manager puts them.
  block_count(int at_least, int at_most) : least(at_least), most(at_most) {}

  int least;
  int most;
};

/// What a manager that grows can add to the memory that it begins with.
struct growth_count {
  int steps = 0;
  /// Blocks of the first size that each step adds.
  int blocks_a_step = 0;
};

/// Whom freed memory serves once all lanes have ended: then nobody holds it for a moment, and a
/// null cannot be excused by a race.
enum class reuse_at_rest {
  of_any_size,
  of_any_size_once_empty,  ///< not while any block is in use
  of_its_size,
  none,
};

/// What a manager promises of freed memory.
struct freed_memory {
  reuse_at_rest serves;
  /// Where it does not serve requests of any size at once: why not, as the manager's header has it.
  const char* reason;
};

/// What follows from the claims of a manager.
template <block_manager M>
constexpr freed_memory freed_memory_of() {
  if (!M::about.frees) return {reuse_at_rest::none, "single blocks cannot be freed"};
  if (M::about.reuse == memory_reuse::none || M::about.reuse == memory_reuse::unchecked) {
    return {reuse_at_rest::none, "what was freed is not handed out again before a reset"};
  }
  return {reuse_at_rest::of_any_size, ""};
}

/// How a manager is set up for exploration: as small as possible, so that a schedule takes
/// microseconds and lanes meet.
template <block_manager M>
struct setup {
  std::size_t region_bytes;
  typename M::options options{};
  /// Requests that the cases make; the first one is used where one size will do.
  std::vector<std::uint32_t> sizes{16, 40, 64};
  /// For each size: arithmetic from the layout, and not what the manager yields. Exact for the
  /// first size. Empty if the heap never ends.
  std::vector<block_count> holds{};
  /// Arithmetic as well.
  growth_count grows{};
  /// Null is given only when there was no free block at some moment of the call.
  bool exact = true;
  /// The same while all lanes want one size and none frees; where `exact`, in any case.
  bool exact_for_one_size = false;
  /// An empty heap has room for all that the lanes of a case make at once, so that null is wrong
  /// there if it is exact. Where memory ends on purpose, it is judged anyway.
  bool fits = true;
  /// Also while others free and allocate: no lane loses to those that take what others free.
  bool exact_beside_frees = true;
  /// Freed blocks of one size are available again to requests of that size.
  bool reuses = M::about.reuse == memory_reuse::all;
  /// Judged at the end of every case, whatever `exact` says (`any_heap::refused_at_rest`).
  freed_memory freed = freed_memory_of<M>();
  /// `inspect` counts the blocks that callers hold.
  bool counts = M::about.frees;
  /// Null comes when the heap is full.
  bool ends = M::about.keeps_blocks_apart();
};

/// A manager behind virtual functions. The cases are compiled once, and not for each of the
/// managers and mutants that are explored in them, which is what took most of the time to build the
/// tests.
class any_manager {
 public:
  virtual ~any_manager() = default;
  virtual void* malloc(std::size_t bytes) = 0;
  virtual void free(void* block) = 0;
  /// Null, too, from a manager that takes no alignments.
  virtual void* aligned_malloc(std::size_t alignment, std::size_t bytes) = 0;
  /// What lane `rank` of `count` does to make the heap empty.
  virtual void format(std::uint64_t rank, std::uint64_t count) = 0;
  virtual void inspect(inspection& found) = 0;
  /// Pages of a manager of numbered pages.
  virtual std::optional<std::uint64_t> page_count() = 0;
  /// What a manager that counts its calls has counted; null for others.
  virtual const call_counts* counts() = 0;
  /// What the sizes of growths are multiples of; 0: the manager does not grow.
  virtual std::size_t growth_step() = 0;
  /// Adds the next `bytes` of the region; whether there were as many. A collective.
  virtual bool grow(const simt::group& together, std::size_t bytes) = 0;
};

template <block_manager M>
class manager_behind final : public any_manager {
 public:
  manager_behind(const region& where, const simt::device_properties& machine,
                 const typename M::options& options)
      : manager_(where, machine, options) {}

  void* malloc(std::size_t bytes) override { return manager_.malloc(bytes); }
  void free(void* block) override { manager_.free(block); }
  void* aligned_malloc([[maybe_unused]] std::size_t alignment,
                       [[maybe_unused]] std::size_t bytes) override {
    if constexpr (aligns_blocks<M>) return manager_.aligned_malloc(alignment, bytes);
    return nullptr;
  }
  void format(std::uint64_t rank, std::uint64_t count) override { manager_.format(rank, count); }
  void inspect(inspection& found) override { manager_.inspect(0, 1, found); }
  std::optional<std::uint64_t> page_count() override {
    if constexpr (requires { manager_.page_count(); }) return manager_.page_count();
    return std::nullopt;
  }
  const call_counts* counts() override {
    if constexpr (counts_calls<M>) return manager_.counts();
    return nullptr;
  }
  std::size_t growth_step() override {
    if constexpr (growing_manager<M>) return manager_.growth_step();
    return 0;
  }
  bool grow([[maybe_unused]] const simt::group& together,
            [[maybe_unused]] std::size_t bytes) override {
    if constexpr (growing_manager<M>) {
      return manager_.grow(together, bytes) == growth_outcome::grown;
    }
    return false;
  }

  const M& get() const { return manager_; }

 private:
  M manager_;
};

/// What a manager in such a heap is told that it runs on.
inline simt::device_properties explored_machine() {
  simt::device_properties properties;
  properties.backend = "cpu";
  properties.name = "explorer";
  properties.multiprocessors = 2;
  properties.resident_threads = 8;
  return properties;
}

/// A setup of any manager.
struct any_setup {
  template <class M>
  any_setup(const setup<M>& how)  // NOLINT(google-explicit-constructor): it is that setup
      : name(M::about.name),
        region_bytes(how.region_bytes),
        sizes(how.sizes),
        holds(how.holds),
        grows(how.grows),
        exact(how.exact),
        exact_for_one_size(how.exact || how.exact_for_one_size),
        fits(how.fits),
        exact_beside_frees(how.exact && how.fits && how.exact_beside_frees),
        reuses(how.reuses),
        freed(how.freed),
        counts(how.counts),
        ends(how.ends),
        frees(M::about.frees),
        alignment(M::about.alignment),
        make([options = how.options](const region& where) -> std::unique_ptr<any_manager> {
          return std::make_unique<manager_behind<M>>(where, explored_machine(), options);
        }) {}

  std::string name;
  std::size_t region_bytes;
  std::vector<std::uint32_t> sizes;
  std::vector<block_count> holds;
  growth_count grows;
  bool exact;
  bool exact_for_one_size;
  bool fits;
  bool exact_beside_frees;
  bool reuses;
  freed_memory freed;
  bool counts;
  bool ends;
  bool frees;
  std::size_t alignment;
  std::function<std::unique_ptr<any_manager>(const region&)> make;
};

}  // namespace verify
WARPHEAP_END_NAMESPACE
