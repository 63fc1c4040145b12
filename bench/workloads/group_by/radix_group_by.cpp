// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/workloads/group_by/radix_group_by.hpp"

#include "bench/host/metered_request.hpp"
#include "bench/workloads/tables/digest.hpp"
#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace warpheap::bench {

using namespace group_by_data;

namespace {

constexpr int key_bits = 32;
constexpr int pass_bits = floor_log2(std::uint64_t{row_distribution::children});
constexpr std::uint32_t most_short_rows = short_grouping::places / 2;
/// The rows, a sorted copy of them, what the sort needs, and a group for each row.
constexpr std::uint64_t bytes_a_row =
    3 * sizeof(keyed_row) + sizeof(std::uint64_t) + sizeof(row_group);

std::uint64_t rows_in_page(std::uint32_t page_bytes) { return page_bytes / sizeof(keyed_row); }

/// Which rows the next pass distributes.
struct pass_input {
  std::uint64_t parents;
  std::uint64_t segments;
};

/// The chains that one pass fills. Their pages belong to the heap until `release`.
class pass_chains {
 public:
  pass_chains(machine& on, const pass_input& from, std::uint64_t rows, std::uint32_t page_bytes)
      : on_(on),
        chains_(from.parents * row_distribution::children),
        row_counts_(on, chains_),
        starts_(on, chains_ + 1),
        // All pages that a segment takes for a child are full, except the last.
        taken_(on, rows / rows_in_page(page_bytes) +
                       std::min(from.segments * row_distribution::children, rows)),
        taken_count_(on, 1),
        pages_(on, 0),
        segments_(on, 0),
        page_bytes_(page_bytes) {
    row_counts_.clear();
    starts_.clear();
    taken_count_.clear();
  }

  /// For the pass that fills them.
  row_chains view() const {
    return {chains_,       row_counts_.data(),  starts_.data(),
            taken_.data(), taken_count_.data(), page_bytes_};
  }

  /// Puts the pages in order. Returns their number. \pre the pass has filled the chains
  std::uint64_t list() {
    on_.exclusive_scan(starts_.data(), starts_.size());
    page_count_ = starts_.at(chains_);
    pages_ = pooled_array<row_page>(on_, page_count_);
    const std::uint64_t taken = taken_count_.at(0);
    on_.launch(taken, page_listing{taken_.data(), taken, listed()});
    return page_count_;
  }
  const row_page* pages() const { return pages_.data(); }
  const row_segment* segments() const { return segments_.data(); }

  /// Groups the short chains, and returns the others for the next pass. \pre `list` was called
  pass_input group_short(std::uint64_t rows, const group_list& done) {
    using counts = chain_sorting::counts;
    // Each chain that continues has more rows than a short one; its last segment may not be full.
    const std::uint64_t most_parents = std::min(chains_, rows / (most_short_rows + 1));
    segments_ =
        pooled_array<row_segment>(on_, most_parents + page_count_ / row_segment::most_pages);
    const pooled_array<std::uint32_t> short_chains(on_, std::min(chains_, rows));
    const pooled_array<counts> found_here(on_, 1);
    found_here.clear();
    on_.launch(chains_, chain_sorting{listed(), most_short_rows, short_chains.data(),
                                      segments_.data(), found_here.data()});
    const counts found = found_here.at(0);
    if (found.short_chains != 0) {
      on_.launch_blocks(found.short_chains, lanes_per_warp, short_grouping::shared_bytes,
                        short_grouping{listed(), short_chains.data(), done});
    }
    return {found.parents, found.segments};
  }

  /// After the last pass: every chain is a group. \pre `list` was called
  void group_all(const group_list& done) const {
    const pooled_array<std::uint32_t> numbers(on_, chains_);
    on_.launch(chains_, group_naming{listed(), numbers.data(), done});
    on_.launch(page_count_ * lanes_per_warp,
               page_grouping{pages_.data(), page_count_, numbers.data(), done});
  }

  /// Frees all pages. Returns milliseconds.
  double release(test_heap& heap) const {
    const std::uint64_t taken = taken_count_.at(0);
    return heap.launch(taken, page_freeing{taken_.data(), taken});
  }

 private:
  listed_chains listed() const {
    return {chains_, row_counts_.data(), starts_.data(), pages_.data()};
  }

  machine& on_;
  std::uint64_t chains_;
  pooled_array<std::uint32_t> row_counts_;
  pooled_array<std::uint64_t> starts_;
  pooled_array<taken_page> taken_;
  pooled_array<std::uint64_t> taken_count_;
  pooled_array<row_page> pages_;
  pooled_array<row_segment> segments_;
  std::uint32_t page_bytes_;
  std::uint64_t page_count_ = 0;
};

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
  pass_input input{rows == 0 ? 0u : 1u,
                   ceil_div(rows, rows_in_page(page_bytes) * row_segment::most_pages)};
  std::optional<pass_chains> before;
  std::uint64_t pages_before = 0;
  for (int shift = key_bits - pass_bits; input.parents != 0; shift -= pass_bits) {
    pass_chains chains(on_, input, rows, page_bytes);
    pass.shift = static_cast<std::uint32_t>(shift);
    pass.into = chains.view();
    heap.launch_blocks(input.segments, row_distribution::threads_per_block,
                       row_distribution::shared_bytes,
                       metered_request<row_distribution>{pass, time});
    const std::uint64_t pages = chains.list();
    result.peak_pages = std::max(result.peak_pages, pages_before + pages);
    if (before) result.free_ms += before->release(heap);
    if (shift != 0) {
      input = chains.group_short(rows, done);
    } else {
      chains.group_all(done);
      input = {0, 0};
    }
    ++result.passes;
    before.emplace(std::move(chains));
    pass.keys = nullptr;
    pass.pages = before->pages();
    pass.segments = before->segments();
    pages_before = pages;
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
  on_.exclusive_scan(runs.data(), rows + 1);
  const std::uint64_t count = runs.at(rows);
  grouped_rows found{pooled_array<row_group>(on_, count), count};
  found.groups.clear();
  on_.launch(ceil_div(rows, run_grouping::rows_per_lane),
             run_grouping{rows, keys.data(), values.data(), runs.data(), found.groups.data()});
  return found;
}

std::uint64_t digest(machine& on, const grouped_rows& found) {
  const device_array<std::uint64_t> sum(on, 1);
  if (found.count != 0) {
    on.launch(found.count, result_digest<row_group>{found.groups.data(), found.count, sum.data()});
  }
  return sum.to_host().front();
}

}  // namespace warpheap::bench
