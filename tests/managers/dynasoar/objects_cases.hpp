// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The cases that DynaSOAr's objects are explored in. All types are asked for where memory ends,
/// and objects are destroyed by other lanes than those that made them.

#include "managers/dynasoar/objects_world.hpp"

#include "warpheap/core/hash.hpp"
#include "warpheap/core/type_list.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

using object_types = type_list<speck, half, whole>;

/// Blocks for all that eight lanes hold in these cases, each object in one of its own, and for what
/// lanes hold of blocks that have just changed their type.
inline constexpr int blocks_for_all = 3 * case_lanes;

/// Each lane makes an object of a type and one of the next, and destroys them.
template <class M, simt::grid Shape>
class make_and_destroy : public object_world<M, Shape> {
 public:
  make_and_destroy() : object_world<M, Shape>(blocks_for_all) {}

  void lane() {
    const auto rank = simt::thread_rank();
    for (std::uint64_t round = 0; round < 2; ++round) {
      const auto first = this->make(rank + round, true);
      const auto second = this->make(rank + round + 1, true);
      this->destroy(first);
      this->destroy(second);
    }
  }
};

/// Each lane destroys the object that a lane of the other warp has made, and makes one of another
/// type, which it keeps.
template <class M>
class destroyed_by_others : public object_world<M> {
 public:
  destroyed_by_others() : object_world<M>(blocks_for_all) {}

  void reset(std::uint64_t seed) {
    object_world<M>::reset(seed);
    full_ = {};
  }

  void lane() {
    const auto rank = simt::thread_rank();
    boxes_[rank] = this->make(rank + this->seed(), true);
    // Pairs with the acquire of the lane that destroys it.
    simt::atomic_ref(full_[rank]).store(1, simt::order::release);
    // Ends: the other lane fills its box before it waits itself.
    const auto other = (rank + case_lanes / 2) % case_lanes;
    while (simt::atomic_ref(full_[other]).load(simt::order::acquire) == 0) simt::backoff(1);
    this->destroy(boxes_[other]);
    this->make(rank + this->seed() + 1, true);
  }

 private:
  std::array<typename object_world<M>::object, case_lanes> boxes_;
  alignas(8) std::array<std::uint32_t, case_lanes> full_{};
};

/// A free block, and one with room for an object more of a type: lanes make what they can and
/// destroy nothing. So what there is room for in the end was there all the time.
template <class M>
class types_meet : public object_world<M> {
 public:
  types_meet() : object_world<M>(4) {
    std::vector<typename object_world<M>::object> held;
    this->run_alone([&] {
      held.push_back(this->make(1, true));
      held.push_back(this->make(2, true));
      held.push_back(this->make(2, true));
    });
    this->keep_state(held);
  }

  void reset(std::uint64_t seed) {
    object_world<M>::reset(seed);
    refused_ = {};
  }

  void lane() {
    // Which lanes want which type differs from schedule to schedule.
    const std::uint64_t first = mix64(this->seed()) ^ mix64(simt::thread_rank() + 1);
    for (std::uint64_t i = 0; i < 2; ++i) {
      const std::uint64_t which = (first + i) % this->types;
      if (!this->make(which)) refused_[which] = true;
    }
  }

  std::string verdict() {
    for (std::uint64_t which = 0; which < this->types; ++which) {
      if (!refused_[which] || this->room(which) == 0) continue;
      return "type " + std::to_string(which) + " was refused, and there was room all the time";
    }
    return object_world<M>::verdict();
  }

 private:
  std::array<untracked<bool>, 3> refused_{};
};

/// Objects of all types come and go in three blocks, and each is destroyed by the lane that comes
/// next to where it was left.
template <class M>
class types_alternate : public object_world<M> {
 public:
  types_alternate() : object_world<M>(3) {}

  void reset(std::uint64_t seed) {
    object_world<M>::reset(seed);
    left_ = 0;
  }

  void lane() {
    const auto rank = simt::thread_rank();
    for (std::uint64_t round = 0; round < 3; ++round) {
      auto& mine = made_[rank * 3 + round];
      mine = this->make(1 + (mix64(this->seed() + round) ^ mix64(rank + 1)) % 2);
      if (!mine) continue;
      // Release hands the object over, with its contents; acquire takes one from the lane before.
      const auto other =
          simt::atomic_ref(left_).exchange(rank * 3 + round + 1, simt::order::acq_rel);
      if (other != 0) this->destroy(made_[other - 1]);
    }
  }

 private:
  std::array<typename object_world<M>::object, 3 * case_lanes> made_;
  alignas(8) std::uint64_t left_ = 0;
};

/// All memory is held, and each lane destroys the object of another one and wants a new one of its
/// type: so none is refused.
template <class M>
class destroyed_and_made_again : public object_world<M> {
 public:
  destroyed_and_made_again() : object_world<M>(case_lanes / 2) {
    std::vector<typename object_world<M>::object> held;
    this->run_alone([&] {
      while (const auto one = this->make(1)) held.push_back(one);
    });
    this->keep_state(held);
  }

  void reset(std::uint64_t seed) {
    object_world<M>::reset(seed);
    for (std::size_t i = 0; i < held_.size(); ++i) held_[i] = this->kept()[i];
    full_ = {1, 1, 1, 1, 1, 1, 1, 1};
  }

  void lane() {
    const auto rank = simt::thread_rank();
    for (std::uint64_t round = 0; round < 2; ++round) {
      const auto of = (rank + 3 * round) % case_lanes;
      // Acquire pairs with the release below. Ends: the lane that puts an object there in a round
      // waits for one of the round before at most, and those of the first are there.
      while (simt::atomic_ref(full_[of]).load(simt::order::acquire) != round + 1) {
        simt::backoff(1);
      }
      this->destroy(held_[of]);
      held_[of] = this->make(1, true);
      simt::atomic_ref(full_[of]).store(static_cast<std::uint32_t>(round) + 2,
                                        simt::order::release);
    }
  }

 private:
  std::array<typename object_world<M>::object, case_lanes> held_;
  alignas(8) std::array<std::uint32_t, case_lanes> full_{};
};

/// One block, which warps want for another type each. The lane that ends last knows that all others
/// have destroyed what they had: it is served.
template <class M>
class types_in_turn : public object_world<M> {
 public:
  types_in_turn() : object_world<M>(1) {}

  void reset(std::uint64_t seed) {
    object_world<M>::reset(seed);
    ended_ = 0;
  }

  void lane() {
    for (std::uint64_t round = 0; round < 2; ++round) {
      this->destroy(this->make(1 + (this->seed() + simt::block_rank() + round) % 2));
    }
    const simt::atomic_ref<std::uint32_t> ended(ended_);
    // Pairs with itself: the last lane has acquired what all others destroyed.
    if (ended.fetch_add(1, simt::order::acq_rel) + 1 != case_lanes) return;
    this->destroy(this->make(this->seed() / 2, true));
  }

 private:
  alignas(8) std::uint32_t ended_ = 0;
};

/// Lanes fill two blocks with objects of the smallest type, 64 of a block.
template <class M>
class filled : public object_world<M> {
 public:
  filled() : object_world<M>(2) {}

  void lane() {
    while (this->make(0)) {
    }
  }

  std::string verdict() {
    if (this->room(0) != 0) return "lanes were refused, and there was room all the time";
    return object_world<M>::verdict();
  }
};

/// Objects of two types were noted, some with gaps between them. All those of one type are visited:
/// each is destroyed and leaves two of other types, or of the same, which are not visited.
template <class M>
class visited_once : public object_world<M> {
 public:
  visited_once() : object_world<M>(blocks_for_all) {
    std::vector<typename object_world<M>::object> held;
    this->run_alone([&] {
      for (int i = 0; i < 6; ++i) held.push_back(this->make(1, true));
      for (int i = 0; i < 3; ++i) held.push_back(this->make(2, true));
      this->destroy(held[3]);
      held.erase(held.begin() + 3);
    });
    this->keep_state(held);
  }

  void reset(std::uint64_t seed) {
    object_world<M>::reset(seed);
    visits_ = 0;
    for (std::uint64_t rank = 0; rank < case_lanes; ++rank) {
      this->manager().template snapshot<half>(rank, case_lanes);
    }
  }

  void lane() {
    this->manager().template visit<half>(simt::thread_rank(), case_lanes,
                                         [this](typename M::template pointer<half> given) {
                                           ++visits_;
                                           this->make(1, true);
                                           this->destroy(this->template visited<half>(given));
                                           this->make(2, true);
                                         });
  }

  std::string verdict() {
    if (visits_ != noted) return std::to_string(visits_) + " visits to five objects";
    return object_world<M>::verdict();
  }

 private:
  static constexpr int noted = 5;

  untracked<int> visits_ = 0;
};

template <class M>
std::vector<named_case> object_cases() {
  return {
      case_of<make_and_destroy<M, two_warps>>("make_and_destroy"),
      case_of<make_and_destroy<M, one_warp>>("one_warp"),
      case_of<destroyed_by_others<M>>("destroyed_by_others"),
      case_of<types_meet<M>>("types_meet"),
      case_of<types_alternate<M>>("types_alternate"),
      case_of<destroyed_and_made_again<M>>("destroyed_and_made_again"),
      case_of<types_in_turn<M>>("types_in_turn"),
      case_of<filled<M>>("filled"),
      case_of<visited_once<M>>("visited_once"),
  };
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
