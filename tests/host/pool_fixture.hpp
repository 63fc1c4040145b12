// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "warpheap/host/policies/registry.hpp"
#include "warpheap/host/pools/make_pool.hpp"
#include "warpheap/host/upstreams/reserved_upstream.hpp"

namespace warpheap::host {

/// A number of steps, fewer where a sanitizer makes each of them slow.
constexpr int steps(int full) { return WARPHEAP_TEST_SANITIZED ? full / 8 : full; }

/// The name of every policy, for tests that run over all of them.
inline std::vector<std::string> all_policy_names() {
  std::vector<std::string> names;
  for_each_policy([&](auto policy) { names.emplace_back(policy.name); });
  return names;
}

/// Addresses without access rights (so that a pool that touches what it manages dies), counted, and
/// refused beyond a budget. They are aligned as an upstream promises, and no better.
class counted_upstream : public upstream {
 public:
  explicit counted_upstream(std::size_t budget = std::size_t{1} << 40) : budget_(budget) {}

  void* allocate(std::size_t bytes) override { return reserve(bytes, bytes); }
  void deallocate(void* memory, std::size_t bytes) noexcept override {
    release(memory, bytes, bytes);
  }
  std::string_view name() const override { return "counted"; }

  std::size_t held() const { return held_; }
  std::size_t regions() const { return given_.size(); }
  std::size_t calls() const { return calls_; }
  /// Whether all of these bytes are of one region.
  bool gave(const void* memory, std::size_t bytes) const {
    const auto base = reinterpret_cast<address>(memory);
    const auto above = given_.upper_bound(base);
    return above != given_.begin() &&
           std::prev(above)->first + std::prev(above)->second >= base + bytes;
  }

 protected:
  /// Counts `bytes` of a region that has `addresses`.
  void* reserve(std::size_t bytes, std::size_t addresses) {
    ++calls_;
    if (held_ + bytes > budget_) return nullptr;
    void* const start = source_.allocate(addresses + alignment);
    if (start == nullptr) return nullptr;
    const address base = reinterpret_cast<address>(start) + alignment;
    given_[base] = bytes;
    held_ += bytes;
    return reinterpret_cast<void*>(base);
  }
  void release(void* memory, std::size_t bytes, std::size_t addresses) noexcept {
    const auto base = reinterpret_cast<address>(memory);
    EXPECT_EQ(given_[base], bytes) << "another size than it got";
    given_.erase(base);
    held_ -= bytes;
    source_.deallocate(reinterpret_cast<void*>(base - alignment), addresses + alignment);
  }
  bool add(void* memory, std::size_t bytes, std::size_t more) {
    if (held_ + more > budget_) return false;
    EXPECT_EQ(given_[reinterpret_cast<address>(memory)], bytes) << "another size than it got";
    given_[reinterpret_cast<address>(memory)] += more;
    held_ += more;
    return true;
  }

 private:
  reserved_upstream source_;
  std::map<address, std::size_t> given_;  ///< the sizes of the regions
  std::size_t budget_;
  std::size_t held_ = 0;
  std::size_t calls_ = 0;
};

/// Regions that can grow where they are: each reserves 64 MiB of addresses.
class growing_upstream final : public counted_upstream {
 public:
  static constexpr std::size_t room = std::size_t{64} << 20;

  explicit growing_upstream(std::size_t budget = room) : counted_upstream(budget) {}

  void* allocate(std::size_t bytes) override {
    return bytes > room ? nullptr : reserve(bytes, room);
  }
  void deallocate(void* memory, std::size_t bytes) noexcept override {
    release(memory, bytes, room);
  }
  bool extend(void* memory, std::size_t bytes, std::size_t more) override {
    return bytes + more <= room && add(memory, bytes, more);
  }
  std::string_view name() const override { return "growing"; }
};

/// Pages that come and go, with a budget of memory and of addresses. Remembers which have memory,
/// and refuses to see one get memory twice or lose what it has not got.
class paged_upstream final : public upstream {
 public:
  static constexpr std::size_t page = std::size_t{64} << 10;

  explicit paged_upstream(std::size_t budget = std::size_t{1} << 40,
                          std::size_t region_bytes = std::size_t{1} << 30)
      : source_(page, region_bytes), room_(region_bytes), budget_(budget) {}

  void* allocate(std::size_t bytes) override {
    void* memory = bytes > room_ || held() + bytes > budget_ ? nullptr : source_.allocate(bytes);
    if (memory != nullptr && !commit(memory, bytes)) {
      source_.deallocate(memory, bytes);
      return nullptr;
    }
    regions_ += memory != nullptr;
    return memory;
  }
  void deallocate(void* memory, std::size_t bytes) noexcept override {
    const auto base = reinterpret_cast<address>(memory);
    pages_.erase(pages_.lower_bound(base), pages_.lower_bound(base + bytes));
    --regions_;
    source_.deallocate(memory, bytes);
  }
  bool extend(void* memory, std::size_t bytes, std::size_t more) override {
    return bytes + more <= room_ && commit(at(memory, bytes), more);
  }
  std::size_t available_bytes() const override { return budget_ - held() + overstated; }
  std::size_t page_bytes() const override { return page; }
  bool commit(void* place, std::size_t bytes) override {
    if (held() + bytes > budget_) return false;
    EXPECT_EQ(reinterpret_cast<address>(place) % page, 0u);
    EXPECT_EQ(bytes % page, 0u);
    for (std::size_t offset = 0; offset < bytes; offset += page) {
      EXPECT_TRUE(pages_.insert(reinterpret_cast<address>(at(place, offset))).second) << "twice";
    }
    return true;
  }
  void decommit(void* place, std::size_t bytes) noexcept override {
    EXPECT_EQ(bytes % page, 0u);
    for (std::size_t offset = 0; offset < bytes; offset += page) {
      EXPECT_EQ(pages_.erase(reinterpret_cast<address>(at(place, offset))), 1u) << "had none";
    }
    decommitted += bytes;
  }
  std::string_view name() const override { return "paged"; }

  /// Whether all of these bytes have memory.
  bool backs(const void* memory, std::size_t bytes) const {
    const auto base = reinterpret_cast<address>(memory);
    for (address page_base = base & ~(page - 1); page_base < base + bytes; page_base += page) {
      if (!pages_.contains(page_base)) return false;
    }
    return true;
  }
  std::size_t held() const { return pages_.size() * page; }
  std::size_t regions() const { return regions_; }

  std::size_t decommitted = 0;
  std::size_t overstated = 0;  ///< what it says to have beyond what it has

 private:
  static void* at(const void* memory, std::size_t offset) {
    return reinterpret_cast<void*>(reinterpret_cast<address>(memory) + offset);
  }

  reserved_pages_upstream source_;
  std::set<address> pages_;
  std::size_t room_;
  std::size_t budget_;
  std::size_t regions_ = 0;
};

inline void* at(const void* memory, std::size_t offset) {
  return reinterpret_cast<void*>(reinterpret_cast<address>(memory) + offset);
}

/// The blocks that a test holds, checked for overlap when one is added.
class held_blocks {
 public:
  void add(void* memory, std::size_t bytes) {
    const auto where = reinterpret_cast<address>(memory);
    const auto above = blocks_.lower_bound(where);
    if (above != blocks_.end()) {
      ASSERT_GE(above->first, where + bytes) << "overlap";
    }
    if (above != blocks_.begin()) {
      ASSERT_LE(std::prev(above)->first + std::prev(above)->second, where) << "overlap";
    }
    blocks_.emplace_hint(above, where, bytes);
    bytes_ += bytes;
  }
  void remove(void* memory) {
    const auto found = blocks_.find(reinterpret_cast<address>(memory));
    bytes_ -= found->second;
    blocks_.erase(found);
  }
  void resize(void* memory, std::size_t bytes) {
    auto& known = blocks_.at(reinterpret_cast<address>(memory));
    bytes_ -= known - bytes;
    known = bytes;
  }
  /// Some block, chosen by a random number.
  void* pick(std::size_t which) const {
    auto found = blocks_.lower_bound(which * 0x9e3779b97f4a7c15ull % (std::size_t{1} << 47));
    if (found == blocks_.end()) found = blocks_.begin();
    return reinterpret_cast<void*>(found->first);
  }
  bool empty() const { return blocks_.empty(); }
  std::size_t size() const { return blocks_.size(); }
  std::size_t bytes() const { return bytes_; }
  const std::map<address, std::size_t>& all() const { return blocks_; }

 private:
  std::map<address, std::size_t> blocks_;
  std::size_t bytes_ = 0;
};

}  // namespace warpheap::host
