// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/files.hpp"
#include "bench/workloads/join/hash_join.hpp"
#include "bench/workloads/join/sides.hpp"

#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace warpheap::bench {

namespace {

constexpr field<std::uint64_t> build_rows{
    {.name = "build_rows", .unit = "rows", .about = "hashed", .role = field_role::detail}};
constexpr field<std::uint64_t> probe_rows{
    {.name = "probe_rows", .unit = "rows", .about = "looked up", .role = field_role::detail}};
constexpr field<summary> partition_ms{
    {.name = "partition_ms",
     .unit = "ms",
     .about = "partitioning both sides, which pages and two passes have in common",
     .better = "less"}};
constexpr field<summary> join_ms{{.name = "join_ms",
                                  .unit = "ms",
                                  .about = "the join into pages of the heap, on the host's clock",
                                  .better = "less"}};
constexpr field<summary> gather_ms{
    {.name = "gather_ms",
     .unit = "ms",
     .about = "copying the pages into one array, which a reader of the pages does not need",
     .better = "less"}};

std::vector<join_data::match> matches_of(const paged_join& joined) {
  const pooled_array<join_data::match> gathered = joined.gather();
  return gathered.to_host(gathered.size());
}

void write_result(const std::string& path, const paged_join& joined) {
  std::ofstream matches(path);
  matches << "key,build,probe\n";
  for (const join_data::match& m : matches_of(joined)) {
    matches << m.key << ',' << m.build << ',' << m.probe << '\n';
  }
  std::ofstream lost(path + ".lost");
  lost << "key,probe,matches\n";
  for (const auto& row : joined.lost_rows()) {
    lost << row.key << ',' << row.value << ',' << row.count << '\n';
  }
  if (!matches.flush() || !lost.flush()) throw cannot_write(path);
}

/// Compares what the pages hold with the join in two passes. Returns the number of differences.
std::uint64_t count_wrong(machine& on, const paged_join& paged,
                          const pooled_array<join_data::match>& all) {
  const std::uint64_t lost = paged.lost();
  if (paged.size() + lost != all.size()) return 1;
  return lost == 0 && digest(on, paged.gather()) != digest(on, all) ? 1 : 0;
}

measurement measure_join(const case_run& c) {
  const std::uint64_t page = c.chosen[given::page_bytes];
  const auto heap = open_heap(c, page);
  const table build = build_side(c.chosen);
  const table probe = probe_side(c.chosen);
  hash_join join(c.on, build, probe);
  const auto occupied = occupy_with_pages(c, *heap);
  const std::uint64_t blocks_before = heap->state().blocks_in_use;
  paged_join paged(join, *heap, static_cast<std::uint32_t>(page));
  std::vector<double> partitioning, joining, freeing, gathering, baseline;
  std::uint64_t matches = 0, lost = 0, bytes = 0;
  tally wrong;
  for (std::uint64_t run = 0; run <= c.chosen[given::iterations]; ++run) {
    partitioning.push_back(join.partition());
    std::optional<pooled_array<join_data::match>> all;
    baseline.push_back(host_ms([&] { all.emplace(join.two_pass()); }));
    joining.push_back(host_ms([&] { paged.run(); }));
    gathering.push_back(host_ms([&] { paged.gather(); }));
    wrong.add_corrupted(count_wrong(c.on, paged, *all));
    if (run == 0) {
      matches = all->size();
      lost = paged.lost();
      bytes = (heap->state().blocks_in_use - blocks_before) * page;
      const std::string path(c.chosen[given::output]);
      if (path != "none") write_result(path, paged);
    }
    wrong.add_nulls(paged.lost());
    freeing.push_back(paged.release());
  }
  const device_array<call_time> time(c.on, 1);
  if (c.on.info().has_clock) {
    paged.run(time.data());
    paged.release();
  }
  expect_empty(*heap, blocks_before);

  measurement row;
  wrong.put_into(row);
  const double ms = summarize_warm(joining).median;
  const double free_ms = summarize_warm(freeing).median;
  const std::uint64_t moved =
      join.rows() * 2 * sizeof(std::uint32_t) + matches * sizeof(join_data::match);
  row.add(fields::free_ms, summarize_warm(freeing));
  row.add(join_ms, summarize_warm(joining));
  row.add(fields::baseline_ms, summarize_warm(baseline));
  row.add(partition_ms, summarize_warm(partitioning));
  row.add(gather_ms, summarize_warm(gathering));
  add_rates(row, join.rows(), moved, ms);
  row.add(fields::malloc_share, time.to_host().front().malloc_share());
  row.add(fields::free_share, free_ms / (ms + free_ms));
  row.add(build_rows, build.rows());
  row.add(probe_rows, probe.rows());
  row.add(fields::result_rows, matches - lost);
  row.add(fields::lost_rows, lost);
  row.add(fields::peak_bytes, bytes);
  return row;
}

const case_registration join{
    {.name = "join",
     .about =
         "a radix hash join that writes its matches into pages of the heap, against two passes",
     .parameters = with_pages(join_parameters()),
     .needs = {&needs::bytes, &needs::frees, &needs::runs_out},
     .fields = {&join_ms, &fields::baseline_ms, &partition_ms, &gather_ms, &fields::row_rate,
                &fields::bandwidth, &fields::malloc_share, &fields::free_share, &build_rows,
                &probe_rows, &fields::result_rows, &fields::lost_rows, &fields::peak_bytes},
     .run = measure_join}};

}  // namespace

}  // namespace warpheap::bench
