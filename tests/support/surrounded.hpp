// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine.hpp"

#include "warpheap/heap/region.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// A manager's region in the middle of memory that nothing may change.
template <class M>
class surrounded {
 public:
  surrounded()
      : around_(3 * bytes, std::byte{0x5a}),
        base_(around_.data() + bytes +
              (4096 - reinterpret_cast<std::uintptr_t>(around_.data()) % 4096)),
        manager_(region{base_, bytes}, machine().properties(), {}) {
    manager_.format(0, 1);
  }

  /// Calls `act(manager, pointer)` in a lane with pointers before and behind the region; whether
  /// nothing has changed.
  template <class Act>
  bool stays_as_it_is(const Act& act) {
    const std::vector<std::byte> before(around_);
    machine().launch({1, 1}, [&] {
      for (std::byte* foreign :
           {base_ - 16, base_ - 4096, base_ - bytes / 2, base_ + bytes, base_ + bytes + 4096,
            base_ + bytes + bytes / 2, reinterpret_cast<std::byte*>(std::uintptr_t{64}),
            reinterpret_cast<std::byte*>(~std::uintptr_t{63})}) {
        act(manager_, foreign);
      }
    });
    return around_ == before;
  }

  const M& manager() const { return manager_; }

 private:
  static constexpr std::size_t bytes = std::size_t{4} << 20;

  std::vector<std::byte> around_;
  std::byte* base_;
  M manager_;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
