// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The peers without a GPU: hash tables of the standard library, and times that are made up. With
/// WARPHEAP_PEER_FAULT in the environment they lose a row of every result.
#include "bench/peers/peer.hpp"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

namespace warpheap::bench::peers {

namespace {

template <class Row>
std::uint64_t count_wrong(std::vector<Row> rows, const outcome& expected, std::uint64_t runs) {
  if (std::getenv("WARPHEAP_PEER_FAULT") != nullptr) rows.pop_back();
  return outcome_of(rows) == expected ? 0 : runs;
}

template <int Milliseconds>
join_times join(const table& build, const table& probe, const outcome& expected, std::uint64_t runs,
                std::uint64_t& wrong) {
  std::unordered_multimap<std::uint32_t, std::uint32_t> built;
  for (std::uint64_t i = 0; i < build.rows(); ++i) built.emplace(build.keys[i], build.values[i]);
  std::vector<join_data::match> matches;
  for (std::uint64_t i = 0; i < probe.rows(); ++i) {
    const auto [begin, end] = built.equal_range(probe.keys[i]);
    for (auto at = begin; at != end; ++at) {
      matches.push_back({probe.keys[i], at->second, probe.values[i]});
    }
  }
  wrong = count_wrong(matches, expected, runs);
  const double ms = Milliseconds;
  std::vector<double> part(runs, ms);
  part.front() = 100;  // the first run is apart
  return {part, part, part};
}

template <int Milliseconds>
group_times group_by(const table& input, const outcome& expected, std::uint64_t runs,
                     std::uint64_t& wrong) {
  std::unordered_map<std::uint32_t, group_by_data::row_group> found;
  for (std::uint64_t i = 0; i < input.rows(); ++i) {
    group_by_data::row_group& group = found[input.keys[i]];
    const std::uint32_t value = input.values[i];
    group.key = input.keys[i];
    group.max = std::max(group.max, value);
    group.min_complement = std::max(group.min_complement, ~value);
    ++group.count;
    group.sum += value;
  }
  std::vector<group_by_data::row_group> groups;
  for (const auto& [key, group] : found) groups.push_back(group);
  wrong = count_wrong(groups, expected, runs);
  const double ms = Milliseconds;
  return {std::vector<double>(runs, ms), std::vector<double>(runs, ms)};
}

}  // namespace

program this_program() {
  return {"warpheap-bench-peers",
          {{"cuco", join<2>, group_by<2>}, {"cuco_as_cudf", join<1>, group_by<1>}}};
}

machine open_machine() { return {"a stub", "0 (CUDA 0.0)", "CUDA 0.0"}; }

}  // namespace warpheap::bench::peers
