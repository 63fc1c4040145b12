// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "any_manager.hpp"

#include "warpheap/heap/contracts/warp_heaps.hpp"
#include "warpheap/heap/inspection.hpp"
#include "warpheap/heap/region.hpp"
#include "warpheap/simt/simt.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// A warp heap of any manager: the contract allows it eight bytes.
struct any_warp_heap {
  std::array<std::byte, 8> handle{};
  bool is_there = false;
  explicit operator bool() const { return is_there; }
};

/// A manager of warp heaps behind virtual functions, as `any_manager` has one of blocks: its cases
/// are compiled once for all of its mutants.
class any_warp_heaps {
 public:
  virtual ~any_warp_heaps() = default;
  virtual any_warp_heap begin(const simt::group& together) = 0;
  virtual void* malloc(const any_warp_heap& from, std::size_t bytes) = 0;
  virtual void tidy_up(const any_warp_heap& heap) = 0;
  virtual void end(const any_warp_heap& heap) = 0;
  /// What lane `rank` of `count` does to make the heap empty.
  virtual void format(std::uint64_t rank, std::uint64_t count) = 0;
  virtual void inspect(inspection& found) = 0;
};

template <warp_heap_manager M>
class warp_heaps_behind final : public any_warp_heaps {
 public:
  explicit warp_heaps_behind(const region& where) : manager_(where, explored_machine(), {}) {}

  any_warp_heap begin(const simt::group& together) override {
    const warp_heap mine = manager_.begin(together);
    any_warp_heap any{.handle = {}, .is_there = static_cast<bool>(mine)};
    std::memcpy(any.handle.data(), &mine, sizeof mine);
    return any;
  }
  void* malloc(const any_warp_heap& from, std::size_t bytes) override {
    return manager_.malloc(own(from), bytes);
  }
  void tidy_up(const any_warp_heap& heap) override { manager_.tidy_up(own(heap)); }
  void end(const any_warp_heap& heap) override { manager_.end(own(heap)); }
  void format(std::uint64_t rank, std::uint64_t count) override { manager_.format(rank, count); }
  void inspect(inspection& found) override { manager_.inspect(0, 1, found); }

 private:
  using warp_heap = typename M::warp_heap;

  static warp_heap own(const any_warp_heap& any) {
    warp_heap mine;
    std::memcpy(&mine, any.handle.data(), sizeof mine);
    return mine;
  }

  M manager_;
};

/// Which manager of warp heaps a case is for.
struct warp_heap_maker {
  std::string name;
  std::size_t alignment;
  std::function<std::unique_ptr<any_warp_heaps>(const region&)> make;
};

template <warp_heap_manager M>
warp_heap_maker warp_heaps_of() {
  return {.name = M::about.name,
          .alignment = M::about.alignment,
          .make = [](const region& where) -> std::unique_ptr<any_warp_heaps> {
            return std::make_unique<warp_heaps_behind<M>>(where);
          }};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
