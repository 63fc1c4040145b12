// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "end_of_memory_cases.hpp"
#include "growth_cases.hpp"
#include "manager_cases.hpp"
#include "manager_world.hpp"
#include "managers/warpheap/scarce_cases.hpp"
#include "managers/warpheap/small.hpp"
#include "run_cases.hpp"
#include "untracked.hpp"

#include "warpheap/managers/warpheap/warpheap.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

using test::small_chunks;

/// The same for lanes that look as often as it takes: what others hold for a moment, they find
/// later.
inline constexpr warpheap_config patient_lanes = [] {
  warpheap_config how = small_chunks;
  how.most_looks = how.part_looks = 16;
  how.least_searching = 32;
  return how;
}();

/// Chunks of 64 small slots, so that a lane lets its class grow for others, which wait for that.
inline constexpr warpheap_config waiting_lanes = [] {
  warpheap_config how = patient_lanes;
  how.smallest_chunk = how.largest_chunk = 1024;
  how.word_slots = 16;
  how.scarce_doubled = 0;
  // With eight looks, old values hide a chunk from all of them once in 281,111 schedules.
  how.most_looks = how.part_looks = 12;
  return how;
}();

/// The same in a heap whose classes hand out slots in order from their first chunk on.
inline constexpr warpheap_config ordered_lanes = [] {
  warpheap_config how = patient_lanes;
  how.chunks_per_place = 16;
  return how;
}();

/// Blocks of 60, 16, 128 and 256 bytes that this many chunks of 256 bytes hold.
inline std::vector<block_count> in_chunks(int count) {
  return {count * 4, count * 16, count * 2, count};
}

/// 16 chunks behind 7936 bytes, and sizes that are slots of one class, of another, and large
/// blocks. There is always room for one chunk more, since regions may begin anywhere.
template <class M>
setup<M> few_chunks() {
  return {.region_bytes = 7936 + 17 * 256,
          .sizes = {60, 16, 128, 256},
          .holds = in_chunks(16),
          .exact = false};
}

/// More of them behind 10224 bytes, and null is an error while there is memory and nobody frees.
template <class M>
setup<M> exact_chunks() {
  return {.region_bytes = 10224 + 38 * 256,
          .sizes = {60, 16, 128, 256},
          .holds = in_chunks(37),
          .exact_beside_frees = false};
}

/// The same behind more bytes, of which the orders of classes take the rest.
template <class M>
setup<M> ordered_chunks() {
  return {.region_bytes = 16160 + 38 * 256,
          .sizes = {60, 16, 128, 256},
          .holds = in_chunks(37),
          .exact_beside_frees = false};
}

/// Five chunks behind 7152 bytes, which are blocks of the first size, or have slots of the others:
/// two in one word, four in two words, or three in one.
template <class M>
setup<M> blocks_of_chunks() {
  return {.region_bytes = 7152 + 6 * 256,
          .sizes = {256, 128, 60, 80},
          .holds = {5, 5 * 2, 5 * 4, 5 * 3},
          .exact = false};
}

/// What the manager of a case consists of.
template <class M>
const auto& parts_of(any_heap& heap) {
  return static_cast<manager_behind<M>&>(heap.manager()).get().parts();
}

/// An empty chunk of a class is wanted by a lane as one large block, while another lane takes a
/// slot of it and gives that back. A third one watches: as long as the chunk is being closed, so
/// that it can be found nowhere, a move is announced.
template <class M>
class closing_is_announced : public full_heap {
 public:
  static constexpr simt::grid shape{3, 1};

  explicit closing_is_announced(const any_setup& how) : full_heap(how, 60) {
    free_quietly({4, 5, 6, 7});
    begin_here({});
  }
  void reset(std::uint64_t seed) {
    full_heap::reset(seed);
    unannounced_ = false;
  }
  void lane() {
    const std::uint64_t rank = simt::thread_rank();
    if (rank == 0) {
      heap.take(256);
    } else if (rank == 1) {
      if (std::byte* const mine = heap.take(60)) heap.give(mine);
    } else {
      for (int look = 0; look < 20; ++look) {
        // No other lane runs between the two looks.
        const std::uint32_t state = parts().chunks().examine(watched);
        if ((state & M::supply::chunks_type::closing) != 0 && !is_announced()) unannounced_ = true;
      }
    }
  }
  std::string verdict() {
    return unannounced_ ? "a chunk is being closed, and no move is announced" : heap.problem();
  }

 private:
  static constexpr std::uint32_t watched = 1;  // of four blocks

  const auto& parts() { return parts_of<M>(heap); }
  WARPHEAP_UNTRACKED bool is_announced() {
    std::uint32_t lanes = 0;
    for (const auto& hand : parts().whole().moving) lanes |= hand.lanes;
    return lanes != 0;
  }

  untracked<bool> unannounced_ = false;
};

/// A lane that has looked for a run says so in the end, whatever it has seen: else no other one
/// ever finds out that there is none.
template <class M, bool InOneWarp>
class proofs_end : public empty_chunks_make_a_run<InOneWarp> {
 public:
  using empty_chunks_make_a_run<InOneWarp>::empty_chunks_make_a_run;

  std::string verdict() {
    if (parts_of<M>(this->heap).whole().run_prover != 0) return "a proof has not ended";
    return empty_chunks_make_a_run<InOneWarp>::verdict();
  }
};

/// One word of a full class is not marked. A lane finds that out and marks it, while another one
/// frees both of its slots and wants one.
template <class M>
class freed_beside_a_mark : public full_heap {
 public:
  static constexpr simt::grid shape{2, 2};

  explicit freed_beside_a_mark(const any_setup& how) : full_heap(how, 60) {
    // Four of these are offered, and the fifth makes its word known again, which nobody marks.
    const std::vector<std::size_t> five{0, 8, 16, 24, 32};
    free_quietly(five);
    heap.run_quietly([&] {
      for (std::size_t left = five.size(); left != 0; --left) heap.take(60);
    });
    begin_here({32, 33});
    is_prepared_ = !is_marked();
  }
  void reset(std::uint64_t seed) {
    full_heap::reset(seed);
    adopt_again();
    refused_ = false;
  }
  void lane() {
    if (simt::lane_id() != 0) return;
    if (simt::block_rank() == 0) {
      heap.take(60);
      return;
    }
    heap.give(block(32));
    heap.give(block(33));
    if (heap.take(60) == nullptr) refused_ = true;
  }
  std::string verdict() {
    if (!is_prepared_) return "the word is marked from the start";
    return refused_ ? "null to a lane that has freed two, of which another one wants one"
                    : heap.problem();
  }

 private:
  bool is_marked() {
    // Four blocks of a chunk, two of a word.
    return M::chunks::is_marked(parts_of<M>(heap).chunks().word(32 / 4, 0));
  }

  bool is_prepared_ = false;
  untracked<bool> refused_ = false;
};

/// Two warps, each of which frees two slots of one marked word together, and knows then that the
/// class has room. One of them makes the word known again; the other one must not go on before it
/// is counted.
/// \tparam Exhaustion how a lane finds out whether there is none
template <class M, class Exhaustion>
class freed_in_one_word : public full_heap {
 public:
  static constexpr simt::grid shape{2, 2};

  explicit freed_in_one_word(const any_setup& how) : full_heap(how, 16) {
    begin_here({0, 1, 2, 3});
  }
  void reset(std::uint64_t seed) {
    full_heap::reset(seed);
    adopt_again();
    is_out_ = false;
  }
  void lane() {
    heap.give(block(simt::thread_rank()));
    const auto& in = parts_of<M>(heap);
    const std::uint32_t of = in.classes().sizes().class_of(16);
    if (Exhaustion(in, of).is_out()) is_out_ = true;
  }
  std::string verdict() {
    return is_out_ ? "a lane that has freed a block finds that there is none" : heap.problem();
  }

 private:
  untracked<bool> is_out_ = false;
};

/// Two lanes close one chunk, of which others claim slots.
template <class M>
std::vector<named_case> closed_by_two() {
  const any_setup how = few_chunks<M>();
  return {case_of<two_close_one_chunk>("two_close_one_chunk", how),
          case_of<closing_is_announced<M>>("closing_is_announced", how)};
}
/// Lanes close the last chunk, to take it from its class, while others claim slots of it, or have
/// freed some and have yet to say so. Empty chunks of classes become large blocks.
template <class M>
std::vector<named_case> chunk_changes_class() {
  const any_setup five = blocks_of_chunks<M>();
  const any_setup more = few_chunks<M>();
  std::vector<named_case> cases = closed_by_two<M>();
  cases.push_back({"sizes_take_turns", [five] { return sizes_take_turns(five); }});
  cases.push_back(case_of<proofs_end<M, false>>("empty_chunks_make_a_run", more));
  cases.push_back(case_of<proofs_end<M, true>>("empty_chunks_for_a_warp", more));
  cases.push_back(case_of<collected_for_nobody>("collected_for_nobody", more));
  return cases;
}

/// All chunks but one are full of blocks of the first size, and that one is nobody's. So null is
/// wrong while nobody frees. A request may lose to others that free and take, but not if the chunk
/// is still there in the end. Parts of warps have other code than whole ones.
template <class M, bool IsPart>
class one_chunk_left : public heap_world {
 public:
  static constexpr simt::grid shape{3, IsPart ? 2 : 1};

  /// \param frees how many lanes free a block of a full chunk, which is offered to the others
  /// \param dry whether the heap is still marked as dry, as it may be by a lane that found no chunk
  ///   and was overtaken by the one that freed this
  one_chunk_left(const any_setup& how, std::uint64_t frees, bool dry)
      : heap_world(how), frees_(frees) {
    heap.run_quietly([&] {
      std::byte* const chunk = heap.take(chunk_bytes());
      while (heap.take(heap.size(0)) != nullptr) {
      }
      // Offers have been made before, and taken.
      heap.give(heap.blocks().at(1).start);
      heap.take(heap.size(0));
      heap.give(chunk);
      parts().whole().set_dry(dry);
    });
    // The lanes' blocks are in different words.
    for (std::uint64_t i = 0; i < frees_; ++i) {
      held_.push_back(heap.blocks().at(static_cast<int>(16 * i)).start);
    }
    for (std::byte* const block : held_) heap.blocks().remove(block);
    heap.keep_state();
  }

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    for (std::byte* const block : held_) heap.adopt(block, heap.size(0));
    refused_ = false;
  }

  void lane() {
    if (simt::lane_id() != 0) return;
    const std::uint64_t rank = simt::block_rank();
    if (rank < frees_) heap.give(held_[rank]);
    if (heap.take(heap.size(0)) == nullptr) refused_ = true;
  }

  std::string verdict() {
    if (refused_ && (frees_ == 0 || parts().pool().any())) {
      return "null, and a chunk was free all the time";
    }
    return heap.problem();
  }

 private:
  const auto& parts() { return parts_of<M>(heap); }
  std::uint32_t chunk_bytes() { return parts().classes().sizes().chunk_bytes(); }

  std::uint64_t frees_;
  std::vector<std::byte*> held_;
  untracked<bool> refused_ = false;
};

/// What only a manager shows whose lanes look until they know.
template <class M>
std::vector<named_case> exact_cases(const any_setup& how) {
  std::vector<named_case> cases = manager_cases(how);
  using whole = one_chunk_left<M, false>;
  cases.push_back(case_of<whole>("one_chunk_left", how, std::uint64_t{0}, false));
  using part = one_chunk_left<M, true>;
  cases.push_back(case_of<part>("one_chunk_left_dry", how, std::uint64_t{2}, true));
  cases.push_back(case_of<offers_for_all>("offers_for_all", how));
  cases.push_back(case_of<freed_beside_a_mark<M>>("freed_beside_a_mark", how));
  cases.push_back(case_of<empty_chunk_for_a_part>("empty_chunk_for_a_part", how));
  cases.push_back(case_of<chunk_or_slot>("chunk_or_slot", how));
  return cases;
}

/// Some lanes ask for the last chunk, and the others wait for them: it has a slot for each. There
/// are three behind 8192 bytes, and room for one more, as in `few_chunks`.
template <class M, class Exhaustion>
std::vector<named_case> growth_for_all_cases() {
  const setup<M> how{
      .region_bytes = 8192 + 4 * 1024, .sizes = {16}, .holds = {3 * 64}, .exact = false};
  using whole = one_chunk_left<M, false>;
  using part = one_chunk_left<M, true>;
  return {case_of<whole>("one_chunk_for_all", how, std::uint64_t{0}, false),
          case_of<part>("one_chunk_for_all_dry", how, std::uint64_t{0}, true),
          case_of<freed_in_one_word<M, Exhaustion>>("freed_in_one_word", how)};
}

/// Chunks 63 and 64 of 96, behind 15872 bytes, are in different words of the pool.
template <class M>
std::vector<named_case> runs_of_chunks() {
  std::vector<named_case> cases;
  const setup<M> how{
      .region_bytes = 80 * 512, .sizes = {60, 256, 512}, .holds = {96 * 4, 96, 96 / 2}};
  add_run_cases(how, 256, 63, cases);
  add_runs_in_one_place(how, 256, 65, cases);
  add_aligned_run_cases(how, 256, 63, cases);
  return cases;
}

/// 85 chunks behind 15088 bytes, and room for one more. 62 chunks at first, so that what is added
/// begins in one word of the pool's tree and ends in the next one.
template <class M>
setup<M> growing_chunks() {
  return {.region_bytes = 15088 + 86 * 256,
          .options = {.initial_bytes = 62 * 256},
          .sizes = {60, 16, 128, 256},
          .holds = in_chunks(62),
          .grows = {.steps = 85 - 62, .blocks_a_step = 4},
          .exact = false};
}

template <class M>
std::vector<named_case> all_cases() {
  std::vector<named_case> cases = manager_cases(few_chunks<M>());
  for (named_case& one : chunk_changes_class<M>()) cases.push_back(std::move(one));
  for (named_case& one : runs_of_chunks<M>()) cases.push_back(std::move(one));
  for (named_case& one : growth_cases(growing_chunks<M>())) cases.push_back(std::move(one));
  return cases;
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
