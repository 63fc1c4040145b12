// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Managers of slots whose faults and virtues are known, and rows of cases over them.

#include "bench/backend/cpu_machine.hpp"
#include "bench/backend/describe.hpp"
#include "bench/backend/heap_of.hpp"
#include "bench/host/arguments.hpp"
#include "bench/host/support.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE

enum class fault {
  none,
  same_block_twice,  ///< every second request gets the block before it again
  crooked,           ///< blocks start 8 bytes behind a multiple of 16
  interleaved,       ///< a block starts in the middle of the one before, where nothing is written
  one_way,           ///< what is freed is lost until a reset
  not_portable,      ///< needs a heap that nobody has
};

constexpr const char* name_of(fault f) {
  constexpr const char* names[]{"good", "twice", "crooked", "interleaved", "one_way", "huge"};
  return names[static_cast<int>(f)];
}

/// Slots of 1 KiB behind one lock-free bitmap word for each: the simplest manager that frees.
template <fault Fault>
class slots {
 public:
  using options = no_options;
  static constexpr std::size_t slot_bytes = 1024;
  static constexpr capabilities about{.name = name_of(Fault), .largest_block = slot_bytes};

  slots(const region& memory, const simt::device_properties&, const options&) {
    if (Fault == fault::not_portable) throw invalid_argument("a heap of that size is too small");
    region_cursor cursor(memory, about.name);
    count_ = static_cast<std::uint32_t>(memory.bytes / (slot_bytes + 4) - 1);
    used_ = cursor.take<std::uint32_t>(count_);
    base_ = cursor.take<std::byte>(count_ * slot_bytes, 16);
  }

  void format(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < count_; i += count) used_[i] = 0;
  }

  std::size_t largest_block() const { return slot_bytes; }

  void* malloc(std::size_t /*bytes*/) const {
    const std::uint32_t taken = take([] {});
    return taken == bench::no_page ? nullptr : block(taken);
  }

  void free(void* pointer) const {
    if (Fault == fault::one_way) return;
    const auto i = static_cast<std::size_t>(static_cast<std::byte*>(pointer) - base_) / slot_bytes;
    give(static_cast<std::uint32_t>(i));
  }

  void inspect(std::uint64_t rank, std::uint64_t count, inspection& findings) const {
    for (std::uint64_t i = rank; i < count_; i += count) {
      if (used_[i] != 0) findings.in_use(1, slot_bytes);
    }
  }

 protected:
  std::uint32_t count() const { return count_; }

  /// The number of the first free slot, or `no_page`. `looked()` at each.
  template <class Looked>
  std::uint32_t take(Looked looked) const {
    for (std::uint32_t i = 0; i < count_; ++i) {
      looked();
      if (simt::atomic_ref(used_[i]).exchange(1, simt::order::acquire) == 0) return i;
    }
    return bench::no_page;
  }
  void give(std::uint32_t i) const { simt::atomic_ref(used_[i]).store(0, simt::order::release); }

 private:
  void* block(std::uint32_t i) const {
    if (Fault == fault::same_block_twice) return base_ + (i & ~1u) * slot_bytes;
    if (Fault == fault::crooked) return base_ + i * slot_bytes + 8;
    if (Fault == fault::interleaved) return base_ + i * slot_bytes / 2;
    return base_ + i * slot_bytes;
  }

  std::uint32_t* used_;
  std::byte* base_;
  std::uint32_t count_;
};

/// The slots by number; a lane takes the first free one. What the survey must know stands here
/// alone.
class numbered_slots : public slots<fault::none> {
 public:
  using slots::slots;
  static constexpr capabilities about{.name = "numbered", .largest_block = slot_bytes};
  static constexpr int word_bits = 1;
  static constexpr const char* search = "in order";

  struct counted {
    const numbered_slots& in;
    std::uint32_t* steps;
    std::uint32_t take_page() const {
      return in.take([this] { ++steps[simt::thread_rank()]; });
    }
  };

  std::uint32_t page_count() const { return count(); }
  counted counting(std::uint32_t* steps) const { return {*this, steps}; }
  void give_page(std::uint32_t page) const { give(page); }
};

inline bench::measurement run_slots(const std::string& manager, const std::string& case_name,
                                    const std::map<std::string, std::string>& given) {
  const backend::catalog entries{
      backend::entry_of<slots<fault::none>>(),
      backend::entry_of<slots<fault::same_block_twice>>(),
      backend::entry_of<slots<fault::crooked>>(),
      backend::entry_of<slots<fault::interleaved>>(),
      backend::entry_of<slots<fault::one_way>>(),
      backend::entry_of<slots<fault::not_portable>>(),
      backend::entry_of<numbered_slots>(),
  };
  backend::cpu_machine here(device::cpu(), entries);
  const bench::case_entry& entry = *bench::find_case(case_name);
  std::vector<std::string> words;
  for (const auto& [name, value] : given) {
    std::string flag = "--" + name + "=" + value;
    std::replace(flag.begin(), flag.begin() + 2 + static_cast<std::ptrdiff_t>(name.size()), '_',
                 '-');
    words.push_back(flag);
  }
  // 64 slots, their words, and one to spare.
  const bench::parameters chosen = bench::parse_parameters(entry, words, 66820);
  for (const backend::catalog_entry& known : entries) {
    if (known.info.name != manager) continue;
    return bench::run_case(entry, {}, {here, known.info, chosen});
  }
  throw std::logic_error("no such manager");
}

template <class T>
T get(const bench::measurement& row, const std::string& name) {
  for (const auto& [field, value] : row.values()) {
    if (field->name == name) return std::get<T>(value);
  }
  throw std::logic_error("no field " + name);
}

WARPHEAP_END_NAMESPACE
