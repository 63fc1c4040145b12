// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/incident.hpp"
#include "warpheap/heap/layers/checked/records.hpp"
#include "warpheap/simt/simt.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace checking {

/// The live blocks of a table, summed up by size and tag, the most bytes first. Copies the table to
/// the host piece by piece. \pre the device is idle
inline std::vector<leak_group> leaks_of(const device& on, const block_table& table) {
  constexpr std::uint64_t piece = std::uint64_t{1} << 20;
  std::vector<block_record> records;
  std::map<std::pair<std::uint64_t, std::uint32_t>, leak_group> groups;
  for (std::uint64_t first = 0; first < table.size(); first += piece) {
    records.resize(std::min(piece, table.size() - first));
    on.copy_to_host(records.data(), table.records() + first, records.size() * sizeof records[0]);
    for (std::uint64_t i = 0; i < records.size(); ++i) {
      const block_record& record = records[i];
      if (record.freed != caller::nobody || !table.is_sealed(first + i, record.extent)) continue;
      const caller by{record.allocated};
      const std::uint64_t bytes = block_table::bytes_of(record.extent);
      leak_group& group = groups[{bytes, by.tag()}];
      group.bytes = bytes;
      group.tag = by.tag();
      ++group.blocks;
      if (group.examples.size() < leak_group::most_examples) {
        const auto* block = table.base() + block_table::block_offset(first + i, record.extent);
        group.examples.push_back({reinterpret_cast<std::uintptr_t>(block), by});
      }
    }
  }
  std::vector<leak_group> sorted;
  sorted.reserve(groups.size());
  for (auto& [key, group] : groups) sorted.push_back(std::move(group));
  std::stable_sort(sorted.begin(), sorted.end(), [](const leak_group& a, const leak_group& b) {
    return a.blocks * a.bytes > b.blocks * b.bytes;
  });
  return sorted;
}

}  // namespace checking
WARPHEAP_END_NAMESPACE
