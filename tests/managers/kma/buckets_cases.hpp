// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Schedules of KMA's buckets by themselves: how long a request looks.

#include "scenario.hpp"

#include "warpheap/heap/region.hpp"
#include "warpheap/managers/kma/buckets.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Some superblocks, of which the queue keeps one, and a bucket for each class.
template <class Buckets, std::uint32_t Count = 2>
class some_superblocks {
 public:
  static constexpr simt::grid shape{2, 1};

  void reset(std::uint64_t /*seed*/) {
    superblocks().format(0, 1);
    buckets().format(0, 1);
    wrong_ = nullptr;
  }
  std::string verdict() { return wrong_ == nullptr ? "" : wrong_; }

 protected:
  using of_superblocks = typename Buckets::superblocks;
  static constexpr std::size_t bytes = 1024 + std::size_t{64} * Count;

  of_superblocks superblocks() {
    region_cursor cursor({memory_.data(), bytes}, "a case");
    return {cursor, Count, 1};
  }
  Buckets buckets() {
    region_cursor cursor({memory_.data() + bytes, bytes}, "a case");
    return {cursor, 1};
  }
  std::uint64_t& bucket_of(std::uint32_t of_class) {
    return reinterpret_cast<std::uint64_t*>(memory_.data() + bytes)[of_class];
  }
  bool served(std::uint32_t of_class) {
    return bool(buckets().reserve(superblocks(), of_class, 1, 0));
  }

  const char* wrong_ = nullptr;

 private:
  alignas(128) std::array<std::byte, 2 * bytes> memory_;
};

/// One lane has all of the memory and asks for more, while the other one always has something on
/// its way, and ends such moves until the first lane has its answer.
template <class Buckets>
class always_on_the_way : public some_superblocks<Buckets> {
 public:
  void reset(std::uint64_t seed) {
    some_superblocks<Buckets>::reset(seed);
    answered_ = 0;
  }
  void lane() {
    const simt::atomic_ref answered(answered_);
    const auto all = this->superblocks();
    if (simt::thread_rank() == 0) {
      const std::uint32_t largest = Buckets::sizes::classes - 1;
      if (!this->served(largest)) this->wrong_ = "a superblock is not found";
      if (this->served(largest)) this->wrong_ = "a superblock is handed out twice";
      answered.store(1, simt::order::relaxed);
      return;
    }
    all.announce();
    while (answered.load(simt::order::relaxed) == 0) {
      all.announce();
      all.conclude();
      simt::backoff(100);  // so that the other lane gets on
    }
    all.conclude();
  }

 private:
  std::uint32_t answered_ = 0;
};

/// A lane waits for its bucket, to which others attach superblocks for a long time, all of which
/// others use up. But there is another one.
template <class Buckets>
class in_a_crowd : public some_superblocks<Buckets> {
 public:
  void reset(std::uint64_t seed) {
    some_superblocks<Buckets>::reset(seed);
    this->bucket_of(0) = kma_bucket::poison;
  }
  void lane() {
    if (simt::thread_rank() == 0) {
      if (!this->served(0)) this->wrong_ = "null, and memory is free";
      return;
    }
    for (int attached = 0; attached < 100; ++attached) {
      this->superblocks().announce();
      this->superblocks().conclude();
      simt::backoff(100);
    }
    simt::atomic_ref(this->bucket_of(0)).store(kma_bucket::none, simt::order::release);
  }
};

/// A set seems to have superblocks as long as a lane that has taken the last one has not said so
/// above. Here it never does.
template <class Buckets>
class always_seems_more : public some_superblocks<Buckets, 70> {
 public:
  static constexpr simt::grid shape{1, 1};

  void lane() {
    const auto all = this->superblocks();
    while (all.empty_ones().dequeue() != all.none) {
    }
    all.partial(0).format_words([](std::uint64_t, std::uint64_t span) { return span == 1 ? 0 : 1; },
                                0, 1);
    if (!all.obtainable(0)) this->wrong_ = "the set does not seem to have a superblock";
    if (this->served(0)) this->wrong_ = "a superblock from nowhere";
  }
};

/// Lanes take superblocks, or halves of them. A lane loses to the others more often than it would
/// look near exhaustion, but there are plenty.
template <class Buckets, std::uint32_t Slots>
class enough_for_many : public some_superblocks<Buckets, 40> {
 public:
  static constexpr simt::grid shape{12, 1};

  void lane() {
    const std::uint32_t of_class = Buckets::sizes::classes - Slots;
    for (int round = 0; round < 3; ++round) {
      if (!this->served(of_class)) this->wrong_ = "null, and memory is free";
    }
  }
};

template <class Buckets>
std::vector<named_case> kma_look_cases() {
  return {case_of<always_on_the_way<Buckets>>("always_on_the_way"),
          case_of<in_a_crowd<Buckets>>("in_a_crowd"),
          case_of<always_seems_more<Buckets>>("always_seems_more"),
          case_of<enough_for_many<Buckets, 1>>("enough_for_many"),
          case_of<enough_for_many<Buckets, 2>>("enough_halves_for_many")};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
