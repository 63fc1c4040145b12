// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sync/index_queue_cases.hpp"

#include <array>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

template <class Memory>
registrar queue(const char* name) {
  return registrar{{name, subject_kind::structure, index_queue_cases<Memory>(), "", ""}};
}

/// Lanes make units in batches of four, as a semaphore tells them, and use them up.
class makers {
 public:
  static constexpr simt::grid shape{2, 4};
  static constexpr std::uint32_t batch = 4;

  void reset(std::uint64_t /*seed*/) {
    word_ = sync::bulk_semaphore::initial(1);
    made_ = 1;
    used_ = 0;
  }

 protected:
  /// Uses one unit. \param batches_left how many more can be made
  bool use(std::uint32_t& batches_left) {
    const sync::bulk_semaphore units(word_);
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
    const auto now = sync::bulk_semaphore(word_).read();
    if (now.balance != 0) return "somebody is at work for ever: " + std::to_string(now.balance);
    if (now.count != made_ - used_) return std::to_string(now.count) + " units are left";
    return used_ == expected ? "" : std::to_string(used_) + " units were used";
  }

  std::uint64_t word_ = 0;
  book<std::int64_t> made_ = 0;
  book<std::int64_t> used_ = 0;
};

/// There is enough for all, and not much more is made than is needed.
class plenty : public makers {
 public:
  void reset(std::uint64_t seed) {
    makers::reset(seed);
    batches_ = 100;
  }
  void lane() {
    use(batches_);
    use(batches_);
  }
  std::string verdict() { return common_verdict(16); }

 private:
  std::uint32_t batches_ = 0;
};

/// One batch and one unit for eight lanes: five are served, three are told that there is no more.
class scarce : public makers {
 public:
  void reset(std::uint64_t seed) {
    makers::reset(seed);
    batches_ = 1;
  }
  void lane() { use(batches_); }
  std::string verdict() { return common_verdict(5); }

 private:
  std::uint32_t batches_ = 0;
};

const registrar added[]{
    queue<test::static_memory>("static_queue"),
    queue<test::array_memory<>>("virtual_array_queue"),
    registrar{{"array_directory", subject_kind::structure,
               array_directory_cases<sync::array_directory>(), "", ""}},
    queue<test::list_memory>("virtual_list_queue"),
    registrar{{"bulk_semaphore",
               subject_kind::structure,
               {case_of<plenty>("plenty"), case_of<scarce>("scarce")},
               "",
               ""}},
};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
