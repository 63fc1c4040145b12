// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Schedules of the bulk semaphore: units are made in batches while others wait for them.

#include "scenario.hpp"

#include "warpheap/sync/bulk_semaphore.hpp"

#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Lanes make units in batches of four, as a semaphore tells them, and use them up.
template <class Semaphore>
class makers {
 public:
  static constexpr simt::grid shape{2, 4};
  static constexpr std::uint32_t batch = 4;

  void reset(std::uint64_t /*seed*/) {
    word_ = Semaphore::initial(1);
    made_ = 1;
    used_ = 0;
  }

 protected:
  /// Uses one unit. \param batches_left how many more can be made
  bool use(std::uint32_t& batches_left) {
    const Semaphore units(word_);
    for (bool in_vain = false;;) {
      const auto asked = units.ask(1, batch, in_vain);
      in_vain = false;
      if (asked.missing == 0) break;
      const bool can = simt::atomic_ref(batches_left).load(simt::order::relaxed) != 0;
      if (can && asked.batches != 0) {
        const std::uint32_t kept = units.promise(asked, batch);
        const std::uint32_t before =
            simt::atomic_ref(batches_left).fetch_sub(1, simt::order::relaxed);
        const bool success = static_cast<std::int32_t>(before) > 0;
        if (!success) simt::atomic_ref(batches_left).fetch_add(1, simt::order::relaxed);
        if (success) made_ += 4;
        units.deliver(4 - kept, success ? 4 - kept : 0);
        if (success) break;
      } else if (can || asked.covered) {
        in_vain = units.await(asked) == 0;
        if (!in_vain) break;
      } else if (!units.decline(asked)) {
        return false;
      }
    }
    ++used_;
    return true;
  }
  std::string common_verdict(int expected) {
    const auto now = Semaphore(word_).read();
    if (now.balance != 0) return "a lane is still at work: " + std::to_string(now.balance);
    if (now.count != made_ - used_) return std::to_string(now.count) + " units are left";
    return used_ == expected ? "" : std::to_string(used_) + " units were used";
  }

  std::uint64_t word_ = 0;
  untracked<std::int64_t> made_ = 0;
  untracked<std::int64_t> used_ = 0;
};

/// There is enough for all, and not much more is made than is needed.
template <class Semaphore>
class plenty : public makers<Semaphore> {
 public:
  void reset(std::uint64_t seed) {
    makers<Semaphore>::reset(seed);
    batches_ = 100;
  }
  void lane() {
    this->use(batches_);
    this->use(batches_);
  }
  std::string verdict() { return this->common_verdict(16); }

 private:
  std::uint32_t batches_ = 0;
};

/// One batch and one unit for eight lanes: five are served, three are told that there is no more.
template <class Semaphore>
class scarce : public makers<Semaphore> {
 public:
  void reset(std::uint64_t seed) {
    makers<Semaphore>::reset(seed);
    batches_ = 1;
  }
  void lane() { this->use(batches_); }
  std::string verdict() { return this->common_verdict(5); }

 private:
  std::uint32_t batches_ = 0;
};

/// A lane writes what three units stand for and adds them, by a signal or as a loan that ends. A
/// lane that is granted one sees that, in whichever way it has asked.
template <class Semaphore>
class handed_on {
 public:
  static constexpr simt::grid shape{4, 1};

  void reset(std::uint64_t seed) {
    lent_ = seed % 2 == 0;
    word_ = Semaphore::initial(lent_ ? 3 : 0);
    if (lent_) Semaphore(word_).borrow_all(3);
    data_ = 0;
    wrong_ = nullptr;
  }
  void lane() {
    const Semaphore units(word_);
    switch (simt::thread_rank()) {
      case 0:
        simt::atomic_ref(data_).store(1, simt::order::relaxed);
        if (lent_) {
          units.deliver(3, 3);
        } else {
          units.signal(3);
        }
        return;
      case 1:
        if (units.take_up_to(1) == 1) look("take_up_to grants what is not there");
        return;
      case 2:
        if (units.borrow_up_to(1) == 0) return;
        look("borrow_up_to grants what is not there");
        units.deliver(1, 0);
        return;
      default: {
        const auto asked = units.ask(1, 4);
        if (asked.missing == 0) {
          look("ask grants what is not there");
        } else if (units.await(asked) != 0) {
          look("await grants what is not there");
        }
      }
    }
  }
  std::string verdict() { return wrong_ == nullptr ? "" : wrong_; }

 private:
  void look(const char* otherwise) {
    if (simt::atomic_ref(data_).load(simt::order::relaxed) != 1) wrong_ = otherwise;
  }

  bool lent_ = false;
  std::uint64_t word_ = 0;
  std::uint64_t data_ = 0;
  const char* wrong_ = nullptr;
};

/// A lane borrows the only unit, and says where it has gone before it gives up the loan. Another
/// one that misses the unit for good finds it there.
template <class Semaphore>
class gone_elsewhere {
 public:
  static constexpr simt::grid shape{2, 1};

  void reset(std::uint64_t /*seed*/) {
    word_ = Semaphore::initial(1);
    there_ = 0;
    wrong_ = nullptr;
  }
  void lane() {
    const Semaphore units(word_);
    if (simt::thread_rank() == 0) {
      if (units.borrow_up_to(1) == 0) return;
      simt::atomic_ref(there_).store(1, simt::order::relaxed);
      units.deliver(1, 0);
      return;
    }
    for (int times = 0; times < 3; ++times) {
      const auto asked = units.ask(1, 1);
      if (asked.missing == 0) return;
      if (units.decline(asked)) continue;
      if (simt::atomic_ref(there_).load(simt::order::relaxed) != 1) wrong_ = "the unit is nowhere";
      return;
    }
  }
  std::string verdict() { return wrong_ == nullptr ? "" : wrong_; }

 private:
  std::uint64_t word_ = 0;
  std::uint64_t there_ = 0;
  const char* wrong_ = nullptr;
};

template <class Semaphore>
std::vector<named_case> bulk_semaphore_cases() {
  return {case_of<plenty<Semaphore>>("plenty"), case_of<scarce<Semaphore>>("scarce"),
          case_of<handed_on<Semaphore>>("handed_on"),
          case_of<gone_elsewhere<Semaphore>>("gone_elsewhere")};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
