// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Schedules of the directory of linked chunks by itself, without what a queue around it orders.

#include "scenario.hpp"

#include "warpheap/simt/simt.hpp"

#include <array>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// A directory with two fingers over words that another one has left, whose chunks had the same
/// numbers and other successors.
template <class Directory>
class list_world {
 public:
  void reset(std::uint64_t /*seed*/) {
    anchor_ = {rubbish, rubbish};
    for (std::uint64_t number = 0; number < links_.size(); ++number) {
      links_[number] = (queue << 27 | number) << 32 | links_.size();
    }
    fingers_.fill(rubbish);
    cleared_ = {};
    wrong_.clear();
    directory().format(0, 1, 0);
  }
  std::string verdict() {
    for (std::size_t i = used; i < fingers_.size(); ++i) {
      if (fingers_[i] != rubbish) return "a word behind the fingers was written";
    }
    return wrong_;
  }

 protected:
  static constexpr std::uint64_t rubbish = 0xabadcafe;
  static constexpr std::uint64_t queue = 3;
  static constexpr std::size_t used = 2;

  Directory directory() { return {&anchor_, links_.data(), fingers_.data(), 1, queue}; }

  /// Whether chunk `number` has this number, as one that comes late finds it.
  bool is_found(std::uint32_t number) {
    fingers_ = {rubbish, rubbish, rubbish, rubbish};
    std::uint32_t chunk = 0;
    return directory().find(number, chunk) && chunk == number;
  }

  void clear_and_publish(std::uint32_t number) {
    simt::atomic_ref(cleared_[number]).store(1, simt::order::relaxed);
    directory().publish(number, number);
  }
  /// Progress: waits for a lane that publishes, which never waits.
  void look_for(std::uint32_t number) {
    std::uint32_t chunk = 0;
    while (!directory().find(number, chunk)) simt::backoff(1);
    if (chunk != number) {
      wrong_ = "another chunk was found";
    } else if (simt::atomic_ref(cleared_[chunk]).load(simt::order::relaxed) != 1) {
      wrong_ = "a chunk was found that does not look cleared";
    }
  }

  std::string wrong_;

 private:
  std::array<std::uint32_t, 8> cleared_;
  typename Directory::anchor anchor_;
  std::array<std::uint64_t, 8> links_;
  std::array<std::uint64_t, used + 2> fingers_;
};

/// One lane clears and publishes chunks, two find them, by whatever way, and see them cleared.
template <class Directory>
class found_cleared : public list_world<Directory> {
 public:
  static constexpr simt::grid shape{3, 1};

  void lane() {
    for (std::uint32_t number = 1; number <= published; ++number) {
      if (simt::thread_rank() == 0) {
        this->clear_and_publish(number);
      } else {
        this->look_for(number);
      }
    }
    // The finger of this one was overwritten: on foot.
    if (simt::thread_rank() != 0) this->look_for(2);
  }

 private:
  static constexpr std::uint32_t published = 4;
};

/// Chunks of one slot each, which are given back when they are finished.
template <class Directory>
class finishing_world : public list_world<Directory> {
 public:
  void reset(std::uint64_t seed) {
    list_world<Directory>::reset(seed);
    finished_ = {};
    given_ = {};
  }

 protected:
  struct chunk_pool {
    finishing_world* home;
    static constexpr int slots_log2() { return 0; }
    std::uint32_t* finished(std::uint32_t chunk) const { return &home->finished_[chunk]; }
    void give(std::uint32_t chunk) const { ++home->given_[chunk]; }
  };
  chunk_pool pool() { return {this}; }

  /// Whether the first `count` chunks were given back, once each, and no other one.
  bool is_given(std::size_t count) const {
    for (std::size_t i = 0; i < given_.size(); ++i) {
      if (given_[i] != (i < count ? 1 : 0)) return false;
    }
    return true;
  }

  std::array<std::uint32_t, 4> finished_;

 private:
  std::array<untracked<int>, 4> given_;
};

/// Three lanes clear and publish a chunk each, the first of them also moves the head, and a fourth
/// one finds them: what it learns of a later chunk says nothing of an earlier one.
template <class Directory>
class found_at_once : public finishing_world<Directory> {
 public:
  static constexpr simt::grid shape{4, 1};

  void reset(std::uint64_t seed) {
    finishing_world<Directory>::reset(seed);
    this->finished_ = {1};
  }
  void lane() {
    const auto me = static_cast<std::uint32_t>(simt::thread_rank()) + 1;
    if (me <= publishers) {
      this->clear_and_publish(me);
      if (me == 1) this->directory().tidy(simt::coalesced(nullptr), this->pool());
      return;
    }
    for (std::uint32_t number = publishers; number > 0; --number) this->look_for(number);
  }

 private:
  static constexpr std::uint32_t publishers = 3;
};

/// The first chunk is finished, those behind it have been in another life and are not: the lane
/// that tidies, alone or in a group, gives back the first one, once.
template <class Directory>
class one_finished : public finishing_world<Directory> {
 public:
  static constexpr simt::grid shape{2, 2};

  void reset(std::uint64_t seed) {
    finishing_world<Directory>::reset(seed);
    this->finished_ = {1, 1, 1, 1};
  }
  void lane() {
    if (simt::thread_rank() == 0) {
      const simt::group self = simt::coalesced(nullptr).match(0u);
      for (std::uint32_t number = 1; number < 4; ++number) {
        simt::atomic_ref(this->finished_[number]).store(0, simt::order::relaxed);
        this->directory().publish(number, number);
      }
      this->directory().tidy(self, this->pool());
    } else if (simt::thread_rank() == 1) {
      const simt::group self = simt::coalesced(nullptr).match(1u);
      for (int i = 0; i < 3; ++i) this->directory().tidy(self, this->pool());
    } else {
      for (int i = 0; i < 3; ++i) this->directory().tidy(simt::coalesced(nullptr), this->pool());
    }
  }
  std::string verdict() {
    if (!this->is_given(1)) return "not the first chunk, once";
    for (std::uint32_t number = 1; number < 4; ++number) {
      if (!this->is_found(number)) return "a chunk that is in use is not found";
    }
    return finishing_world<Directory>::verdict();
  }
};

/// Two chunks are finished while another lane tidies, or links the successor of the second one:
/// the last one to come gives it back. \tparam Linked whether it has its successor from the start
template <class Directory, bool Linked>
class last_one_tidies : public finishing_world<Directory> {
 public:
  static constexpr simt::grid shape{2, 2};

  void reset(std::uint64_t seed) {
    finishing_world<Directory>::reset(seed);
    this->finished_ = {1};
    this->directory().publish(1, 1);
    if (Linked) this->directory().publish(2, 2);
  }
  void lane() {
    const simt::group all = simt::coalesced(nullptr);
    if (simt::thread_rank() < 2) {
      if (simt::thread_rank() != 0) return;
      if (!Linked) this->directory().publish(2, 2);
      this->directory().tidy(simt::coalesced(nullptr), this->pool());
      return;
    }
    // The leader has finished the chunk that another member is going to look at.
    if (all.is_leader()) simt::atomic_ref(this->finished_[1]).store(1, simt::order::release);
    this->directory().retire(all, 1, 1, this->pool());
  }
  std::string verdict() {
    if (!this->is_given(2)) return "not the first two chunks, once";
    return this->is_found(2) ? finishing_world<Directory>::verdict()
                             : "the last chunk is not found";
  }
};

/// Two lanes finish the first chunk, a third one links its successor: the one that gives it back
/// sees all that the two have done.
template <class Directory>
class given_after_use : public list_world<Directory> {
 public:
  static constexpr simt::grid shape{3, 1};

  void reset(std::uint64_t seed) {
    list_world<Directory>::reset(seed);
    finished_ = 0;
    used_ = {};
    given_ = 0;
  }
  void lane() {
    const auto me = static_cast<std::uint32_t>(simt::thread_rank());
    if (me == 2) {
      this->directory().publish(1, 1);
      this->directory().tidy(simt::coalesced(nullptr), pool{this});
      return;
    }
    simt::atomic_ref(used_[me]).store(1, simt::order::relaxed);
    if (simt::atomic_ref(finished_).fetch_add(1, simt::order::acq_rel) != 1) return;
    this->directory().retire(simt::coalesced(nullptr), 0, 0, pool{this});
  }
  std::string verdict() {
    if (given_ != 1) return "the chunk was not given back once";
    return list_world<Directory>::verdict();
  }

 private:
  struct pool {
    given_after_use* home;
    static constexpr int slots_log2() { return 1; }
    std::uint32_t* finished(std::uint32_t chunk) const {
      return chunk == 0 ? &home->finished_ : &home->of_others_;
    }
    void give(std::uint32_t chunk) const {
      ++home->given_;
      for (std::uint32_t& used : home->used_) {
        if (chunk != 0 || simt::atomic_ref(used).load(simt::order::relaxed) != 1) {
          home->wrong_ = "a chunk was given back before its users were done with it";
        }
      }
    }
  };

  std::uint32_t finished_ = 0;
  std::uint32_t of_others_ = 0;
  std::array<std::uint32_t, 2> used_{};
  untracked<int> given_ = 0;
};

template <class Directory>
std::vector<named_case> list_directory_cases() {
  return {case_of<found_cleared<Directory>>("found_cleared"),
          case_of<found_at_once<Directory>>("found_at_once"),
          case_of<one_finished<Directory>>("one_finished"),
          case_of<last_one_tidies<Directory, true>>("finished_last"),
          case_of<last_one_tidies<Directory, false>>("linked_last"),
          case_of<given_after_use<Directory>>("given_after_use")};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
