// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/files.hpp"
#include "bench/workloads/group_by/input.hpp"
#include "bench/workloads/group_by/radix_group_by.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace warpheap::bench {

namespace {

constexpr field<std::uint64_t> input_rows{{.name = "input_rows",
                                           .unit = "rows",
                                           .about = "that were grouped",
                                           .role = field_role::detail}};
constexpr field<std::uint64_t> passes{
    {.name = "passes",
     .unit = "passes",
     .about = "over eight bits of the key, until no chain was long",
     .role = field_role::detail}};
constexpr field<summary> group_ms{
    {.name = "group_ms",
     .unit = "ms",
     .about = "grouping in pages of the heap, frees included, on the host's clock",
     .better = "less"}};

void write_result(const std::string& path, const paged_groups& found) {
  std::ofstream groups(path);
  groups << "key,count,sum,min,max\n";
  for (const group_by_data::row_group& g : found.done.groups.to_host(found.done.count)) {
    groups << g.key << ',' << g.count << ',' << g.sum << ',' << g.min() << ',' << g.max << '\n';
  }
  std::ofstream lost(path + ".lost");
  lost << "key,value\n";
  for (std::uint64_t i = 0; i < found.lost.rows(); ++i) {
    lost << found.lost.keys[i] << ',' << found.lost.values[i] << '\n';
  }
  if (!groups.flush() || !lost.flush()) throw cannot_write(path);
}

/// Compares the groups made in pages with those of two passes. Returns the number of differences.
std::uint64_t count_wrong(machine& on, const paged_groups& paged, const grouped_rows& all) {
  if (paged.lost.rows() != 0) return paged.done.count <= all.count ? 0 : 1;
  return digest(on, paged.done) != digest(on, all) ? 1 : 0;
}

measurement measure_group_by(const case_run& c) {
  const auto page = static_cast<std::uint32_t>(c.chosen[given::page_bytes]);
  const auto heap = open_heap(c, page);
  const table input = input_side(c.chosen);
  const radix_group_by group_by(c.on, input);
  const auto occupied = occupy_with_pages(c, *heap);
  const std::uint64_t blocks_before = heap->state().blocks_in_use;
  std::vector<double> grouping, freeing, baseline;
  std::optional<paged_groups> first;
  tally wrong;
  for (std::uint64_t run = 0; run <= c.chosen[given::iterations]; ++run) {
    std::optional<grouped_rows> all;
    std::optional<paged_groups> paged;
    baseline.push_back(host_ms([&] { all.emplace(group_by.two_pass()); }));
    grouping.push_back(host_ms([&] { paged.emplace(group_by.run(*heap, page)); }));
    freeing.push_back(paged->free_ms);
    wrong.add_corrupted(count_wrong(c.on, *paged, *all));
    wrong.add_nulls(paged->lost.rows());
    if (run == 0) first = std::move(paged);
  }
  const std::string path(c.chosen[given::output]);
  if (path != "none") write_result(path, *first);
  const device_array<call_time> time(c.on, 1);
  if (c.on.info().has_clock) group_by.run(*heap, page, time.data());
  expect_empty(*heap, blocks_before);

  measurement row;
  wrong.put_into(row);
  const double ms = summarize_warm(grouping).median;
  const std::uint64_t moved = group_by.rows() * sizeof(group_by_data::keyed_row) +
                              first->done.count * sizeof(group_by_data::row_group);
  row.add(fields::free_ms, summarize_warm(freeing));
  row.add(group_ms, summarize_warm(grouping));
  row.add(fields::baseline_ms, summarize_warm(baseline));
  add_rates(row, group_by.rows(), moved, ms);
  row.add(fields::malloc_share, time.to_host().front().malloc_share());
  row.add(fields::free_share, summarize_warm(freeing).median / ms);
  row.add(input_rows, input.rows());
  row.add(passes, first->passes);
  row.add(fields::result_rows, first->done.count);
  row.add(fields::lost_rows, first->lost.rows());
  row.add(fields::peak_bytes, first->peak_pages * page);
  return row;
}

const case_registration group_by{
    {.name = "group_by",
     .about = "a radix group-by in chains of pages that each pass frees, against two passes",
     .parameters = with_pages(group_by_parameters()),
     .needs = {&needs::bytes, &needs::frees, &needs::runs_out},
     .fields = {&group_ms, &fields::baseline_ms, &fields::row_rate, &fields::bandwidth,
                &fields::malloc_share, &fields::free_share, &input_rows, &passes,
                &fields::result_rows, &fields::lost_rows, &fields::peak_bytes},
     .run = measure_group_by}};

}  // namespace

}  // namespace warpheap::bench
