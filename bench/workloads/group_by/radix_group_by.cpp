// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/workloads/group_by/radix_group_by.hpp"

#include "warpheap/core/align.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace warpheap::bench {

namespace {

constexpr int key_bits = 32;
constexpr int pass_bits = 8;
/// A row and its copy in order, what the sort needs, and a group for each row.
constexpr std::uint64_t bytes_a_row =
    3 * sizeof(keyed_row) + sizeof(std::uint64_t) + sizeof(row_group);

std::uint64_t page_rows(std::uint32_t page_bytes) {
  return (page_bytes - sizeof(std::uint64_t)) / sizeof(keyed_row);
}

/// The chains that one pass fills. Their pages belong to the heap until `release`.
class pass_chains {
 public:
  pass_chains(machine& on, std::uint64_t parents, std::uint64_t rows, std::uint32_t page_bytes)
      : on_(on),
        chains_(parents << pass_bits),
        tails_(on, chains_),
        // All pages but the last of a chain are full, and a chain without rows has none.
        pages_(on, rows / page_rows(page_bytes) + std::min(chains_, rows)),
        page_count_(on, 1),
        numbers_(on, chains_),
        page_bytes_(page_bytes) {
    page_count_.clear();
    on.launch(chains_, tail_preparing{view()});
  }

  row_chains view() const {
    return {tails_.data(), chains_, pages_.data(), page_count_.data(), page_bytes_};
  }
  std::uint64_t page_count() const { return page_count_.at(0); }
  std::uint32_t* numbers() const { return numbers_.data(); }

  /// Groups what is short, or all after the last pass. How many chains go on.
  std::uint32_t sort(bool last_pass, const group_list& done) const {
    const std::uint64_t pages = page_count();
    const pooled_array<std::uint32_t> sizes(on_, chains_);
    const pooled_array<std::uint32_t> short_chains(on_, chains_);
    const pooled_array<std::uint32_t> counts(on_, 2);
    sizes.clear();
    counts.clear();
    on_.launch(pages, chain_sizing{view(), pages, sizes.data()});
    const chain_fates fates{numbers(), counts.data(), short_chains.data(), counts.data() + 1};
    on_.launch(chains_, chain_sorting{view(), sizes.data(), short_grouping::places / 2, last_pass,
                                      fates, done});
    if (last_pass) {
      on_.launch(pages * lanes_a_warp, page_grouping{view(), pages, numbers(), done});
      return 0;
    }
    const std::vector<std::uint32_t> found = counts.to_host(2);
    if (found[1] != 0) {
      on_.launch_blocks(found[1], lanes_a_warp, short_grouping::shared_bytes,
                        short_grouping{view(), short_chains.data(), done});
    }
    return found[0];
  }

  /// Frees all pages; milliseconds.
  double release(test_heap& heap) const {
    const std::uint64_t pages = page_count();
    return heap.launch(pages, page_freeing{pages_.data(), pages});
  }

 private:
  machine& on_;
  std::uint64_t chains_;
  pooled_array<std::uint64_t> tails_;
  pooled_array<page_entry> pages_;
  pooled_array<std::uint64_t> page_count_;
  pooled_array<std::uint32_t> numbers_;
  std::uint32_t page_bytes_;
};

/// Lanes for work that is dealt out in strides, in whole warps.
std::uint64_t striding_lanes(const machine& on, std::uint64_t work) {
  return round_up<std::uint64_t>(std::clamp<std::uint64_t>(work, 1, on.info().resident_threads),
                                 lanes_a_warp);
}

}  // namespace

radix_group_by::radix_group_by(machine& on, const table& rows)
    : on_((require_memory(on, "a group-by", rows.rows(), rows.rows() * bytes_a_row), on)),
      rows_(on, rows) {}

paged_groups radix_group_by::run(test_heap& heap, std::uint32_t page_bytes, call_time* time) const {
  const std::uint64_t rows = rows_.rows;
  const pooled_array<std::uint32_t> lost_keys(on_, rows);
  const pooled_array<std::uint32_t> lost_values(on_, rows);
  const pooled_array<std::uint64_t> lost_count(on_, 1);
  const pooled_array<std::uint32_t> group_count(on_, 1);
  lost_count.clear();
  group_count.clear();
  paged_groups result{{pooled_array<row_group>(on_, rows), 0}, {}, 0, 0, 0};
  const group_list done{result.done.groups.data(), group_count.data()};

  row_distribution pass;
  pass.rows = rows;
  pass.keys = rows_.keys.data();
  pass.values = rows_.values.data();
  pass.lost = {lost_keys.data(), lost_values.data(), lost_count.data()};
  pass.time = time;
  std::optional<pass_chains> before;
  std::uint64_t parents = rows == 0 ? 0 : 1;
  for (int shift = key_bits - pass_bits; parents != 0; shift -= pass_bits) {
    pass_chains chains(on_, parents, rows, page_bytes);
    pass.shift = static_cast<std::uint32_t>(shift);
    pass.into = chains.view();
    heap.launch(striding_lanes(on_, rows), pass);
    result.peak_pages = std::max(result.peak_pages, pass.from_pages + chains.page_count());
    if (before) result.free_ms += before->release(heap);
    parents = chains.sort(shift == 0, done);
    ++result.passes;
    before.emplace(std::move(chains));
    pass.keys = nullptr;
    pass.from = before->view();
    pass.from_pages = before->page_count();
    pass.numbers = before->numbers();
  }
  if (before) result.free_ms += before->release(heap);
  result.done.count = group_count.at(0);
  const std::uint64_t lost = lost_count.at(0);
  result.lost = {lost_keys.to_host(lost), lost_values.to_host(lost)};
  return result;
}

grouped_rows radix_group_by::two_pass() const {
  const std::uint64_t rows = rows_.rows;
  if (rows == 0) return {pooled_array<row_group>(on_, 0), 0};
  const pooled_array<std::uint32_t> keys(on_, rows);
  const pooled_array<std::uint32_t> values(on_, rows);
  on_.sort(rows_.data(), {keys.data(), values.data()}, rows, 0, key_bits);
  const pooled_array<std::uint64_t> runs(on_, rows + 1);
  on_.launch(rows, run_marking{rows, keys.data(), runs.data()});
  on_.sum_before(runs.data(), rows + 1);
  const std::uint64_t count = runs.at(rows);
  grouped_rows found{pooled_array<row_group>(on_, count), count};
  found.groups.clear();
  on_.launch(ceil_div(rows, run_grouping::rows_a_lane),
             run_grouping{rows, keys.data(), values.data(), runs.data(), found.groups.data()});
  return found;
}

std::uint64_t digest(machine& on, const grouped_rows& found) {
  const device_array<std::uint64_t> sum(on, 1);
  if (found.count != 0) {
    on.launch(found.count, group_digest{found.groups.data(), found.count, sum.data()});
  }
  return sum.to_host().front();
}

}  // namespace warpheap::bench
