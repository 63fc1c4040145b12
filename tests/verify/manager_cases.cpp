// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "manager_cases.hpp"

#include "end_of_memory_cases.hpp"
#include "full_reuse.hpp"
#include "manager_world.hpp"

#include "warpheap/core/hash.hpp"
#include "warpheap/core/random.hpp"

#include <array>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

/// Each lane takes a block, fills it, and frees it, twice.
template <simt::grid Shape>
class malloc_free : public heap_world {
 public:
  static constexpr simt::grid shape = Shape;
  using heap_world::heap_world;

  void lane() {
    for (int round = 0; round < 2; ++round) {
      std::byte* block = must_take(heap.size(0));
      simt::backoff(1);
      give(block);
    }
  }
};

/// The odd lanes of each warp wait until the even ones have been served: a manager that takes
/// the whole warp for converged waits for lanes that do not come.
class divergent : public heap_world {
 public:
  static constexpr simt::grid shape = one_warp;
  using heap_world::heap_world;

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    served_ = 0;
  }

  void lane() {
    const simt::atomic_ref<std::uint32_t> served(served_);
    if (simt::lane_id() % 2 == 0) {
      std::byte* block = must_take(heap.size(0));
      give(block);
      served.fetch_add(1, simt::order::relaxed);
    } else {
      // Ends: the even lanes never wait.
      while (served.load(simt::order::relaxed) != case_lanes / 2) simt::backoff(1);
      give(must_take(heap.size(0)));
    }
  }

 private:
  alignas(8) std::uint32_t served_ = 0;
};

/// Lanes take blocks of all sizes from an empty heap, and free them. That must not cost capacity:
/// filling the heap takes as long as several schedules, so only some of them are followed by it,
/// with blocks of a size that the seed draws.
class mixing_world : public heap_world {
 public:
  using heap_world::heap_world;

  std::string verdict() {
    const std::string wrong = heap.problem();
    if (!wrong.empty() || !heap.how().ends || !serves_all_sizes(heap.how())) return wrong;
    constexpr std::uint64_t schedules_a_refill = 16;
    if (seed() % schedules_a_refill != 0) return "";
    const std::string lost = heap.wrong_room(mix64(seed()) % heap.how().sizes.size());
    heap.empty_quietly();
    return lost.empty() ? heap.problem() : "once all was freed, " + lost;
  }
};

/// Each lane holds blocks of two sizes at once, others than its neighbours.
class mixed_sizes : public mixing_world {
 public:
  using mixing_world::mixing_world;

  void lane() {
    const auto rank = simt::thread_rank();
    std::byte* first = must_take(heap.size(rank));
    std::byte* second = must_take(heap.size(rank + 1));
    give(first);
    std::byte* third = must_take(heap.size(rank + 2));
    give(second);
    give(third);
  }
};

/// The lanes of a warp call at one place, every second one with another heap.
class two_heaps : public heap_world {
 public:
  static constexpr simt::grid shape = one_warp;
  explicit two_heaps(const any_setup& how) : heap_world(how), other_(how) {}

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    other_.restore();
  }

  void lane() {
    any_heap& mine = simt::lane_id() % 2 == 0 ? heap : other_;
    for (std::uint64_t round = 0; round < 2; ++round) {
      std::byte* block = mine.take(mine.size(static_cast<std::uint64_t>(simt::lane_id()) / 4));
      if (block == nullptr && mine.how().exact && mine.how().fits) {
        mine.blocks().note("null although memory is free");
      }
      simt::backoff(1);
      if (block != nullptr && mine.how().frees) mine.give(block);
    }
  }

  std::string verdict() {
    const std::string wrong = heap.problem();
    return wrong.empty() ? other_.problem() : wrong;
  }

 private:
  any_heap other_;
};

/// Each lane frees the block of a lane of the other warp, which gets it through a mailbox.
class cross_free : public heap_world {
 public:
  using heap_world::heap_world;

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    boxes_ = {};
  }

  void lane() {
    constexpr std::uint64_t nothing = 1;  // no block's address
    for (int round = 0; round < 2; ++round) {
      const auto rank = simt::thread_rank();
      std::byte* mine = must_take(heap.size(0));
      simt::atomic_ref(box(round, rank))
          .store(mine == nullptr ? nothing : reinterpret_cast<std::uint64_t>(mine),
                 simt::order::release);
      // Ends: the other lane has put its block into the box before it waits itself.
      const simt::atomic_ref<std::uint64_t> theirs(box(round, (rank + 4) % case_lanes));
      std::uint64_t found = theirs.load(simt::order::acquire);
      while (found == 0) {
        simt::backoff(1);
        found = theirs.load(simt::order::acquire);
      }
      if (found != nothing) heap.give(reinterpret_cast<std::byte*>(found));
    }
  }

 private:
  std::uint64_t& box(int round, std::uint64_t rank) {
    return boxes_[static_cast<std::size_t>(round) * case_lanes + rank];
  }
  alignas(8) std::array<std::uint64_t, 2 * case_lanes> boxes_{};
};

/// Each lane takes and frees at random, two blocks at most at a time.
class churn : public mixing_world {
 public:
  using mixing_world::mixing_world;

  void lane() {
    random_sequence random(lane_seed());
    std::byte* held[2] = {};
    for (int step = 0; step < 6; ++step) {
      std::byte*& slot = held[random.below(2)];
      if (slot != nullptr) {
        heap.give(slot);
        slot = nullptr;
      } else {
        slot = must_take(heap.size(random.next()));
      }
    }
    for (std::byte* block : held) give(block);
  }
};

/// A heap that is full but for `free_blocks` blocks.
class nearly_full : public heap_world {
 public:
  nearly_full(const any_setup& how, int free_blocks) : heap_world(how), free_(free_blocks) {
    heap.fill_quietly();
    free_ = free_ < heap.capacity() ? free_ : heap.capacity();
    heap.empty_quietly(heap.capacity() - free_);
    heap.keep_state();
  }

 protected:
  /// The blocks that were free can be allocated, no more and no less, and again once they have been
  /// freed.
  std::string recount() {
    std::string wrong = heap.problem();
    for (int round = 0; round < 2 && wrong.empty(); ++round) {
      heap.fill_quietly();
      if (heap.blocks().count() != free_) {
        return std::to_string(heap.blocks().count()) + " blocks can be allocated, and " +
               std::to_string(free_) + " were free";
      }
      heap.empty_quietly();
      wrong = heap.problem();
    }
    return wrong;
  }

  int free_;
};

/// As many free blocks as lanes, so all lanes work on the same few words.
class contention : public nearly_full {
 public:
  explicit contention(const any_setup& how) : nearly_full(how, case_lanes) {}

  void lane() {
    for (int round = 0; round < 3; ++round) {
      std::byte* block = heap.take(heap.size(0));
      if (block != nullptr) heap.give(block);
    }
  }
  std::string verdict() { return recount(); }
};

/// Fewer free blocks than lanes: exactly that many lanes get one.
class out_of_memory_case : public nearly_full {
 public:
  explicit out_of_memory_case(const any_setup& how) : nearly_full(how, 3) {}

  void lane() { heap.take(heap.size(0)); }

  std::string verdict() {
    const int got = heap.blocks().count();
    if (got > free_ || (heap.how().exact_for_one_size && got != free_)) {
      return std::to_string(got) + " lanes got a block, and " + std::to_string(free_) +
             " were free";
    }
    return recount();
  }
};

/// Lanes of one warp ask until they get a block; those of the other one free theirs meanwhile.
class wait_for_memory : public nearly_full {
 public:
  explicit wait_for_memory(const any_setup& how) : nearly_full(how, case_lanes / 2) {}

  void reset(std::uint64_t seed) {
    nearly_full::reset(seed);
    heap.fill_quietly();
    for (int i = 0; i < case_lanes / 2; ++i) {
      mine_[i] = i < heap.blocks().count() ? heap.blocks().at(i).start : nullptr;
    }
  }

  void lane() {
    const auto rank = simt::thread_rank();
    if (rank < case_lanes / 2) {
      if (mine_[rank] != nullptr) heap.give(mine_[rank]);
    } else if (mine_[rank - case_lanes / 2] != nullptr) {
      // Ends: there is a block for each lane that waits, as soon as the others have freed theirs.
      while (heap.take(heap.size(0)) == nullptr) simt::backoff(1);
    }
  }
  std::string verdict() { return recount(); }

 private:
  std::array<std::byte*, case_lanes / 2> mine_{};
};

/// All lanes take until there is nothing left; then everything is freed and taken once more.
class fill : public heap_world {
 public:
  using heap_world::heap_world;

  void lane() {
    while (heap.take(heap.size(0)) != nullptr) {
    }
  }

  std::string verdict() {
    auto& all = heap;
    const int got = all.blocks().count();
    std::string wrong = all.problem();
    if (wrong.empty()) wrong = all.wrong_capacity();
    if (all.how().exact_for_one_size && got != all.capacity()) wrong = miscount(got);
    if (wrong.empty() && got != all.capacity()) {
      all.fill_quietly();
      if (all.blocks().count() != all.capacity()) wrong = miscount(all.blocks().count());
    }
    if (!wrong.empty() || !all.how().frees) return wrong;
    all.empty_quietly();
    wrong = all.problem();
    if (wrong.empty() && all.fill_quietly() != all.capacity()) {
      wrong = miscount(all.blocks().count()) + ", once it was emptied";
    }
    return wrong.empty() ? all.problem() : wrong;
  }

 private:
  std::string miscount(int got) const {
    return std::to_string(got) + " blocks came from a heap that holds " +
           std::to_string(heap.capacity());
  }
};

}  // namespace

std::string refused_at_rest(any_heap& heap) { return heap.refused_at_rest(); }

damaged_heap damaged_heap_of(any_heap& heap) {
  // Lanes of two warps keep two blocks each, and free a third.
  const auto populate = [&heap] {
    heap.restore();
    simt::explorer lanes(two_warps, 2'000'000);
    lanes.run({simt::strategy::uniform, 1}, [&heap] {
      const std::uint64_t rank = simt::thread_rank();
      for (std::uint64_t i = 0; i < 3; ++i) {
        std::byte* const block = heap.take(heap.size(rank + i));
        if (i == 1 && block != nullptr && heap.how().frees) heap.give(block);
      }
    });
  };
  return {heap.words(), [&heap](inspection& found) { heap.manager().inspect(found); }, populate};
}

std::vector<named_case> manager_cases(const any_setup& how) {
  std::vector<named_case> cases{
      case_of<malloc_free<two_warps>>("malloc_free", how),
      case_of<malloc_free<one_warp>>("one_warp", how),
      case_of<divergent>("divergent", how),
      case_of<mixed_sizes>("mixed_sizes", how),
      case_of<two_heaps>("two_heaps", how),
  };
  if (!how.ends) return cases;
  cases.push_back(case_of<fill>("fill", how));
  if (how.frees && how.reuses) {
    cases.push_back(case_of<cross_free>("cross_free", how));
    cases.push_back(case_of<churn>("churn", how));
    cases.push_back(case_of<contention>("contention", how));
    cases.push_back(case_of<out_of_memory_case>("out_of_memory", how));
    cases.push_back(case_of<wait_for_memory>("wait_for_memory", how));
  }
  add_end_of_memory_cases(how, cases);
  return cases;
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
