// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// cuDF's hash join and hash group-by, with the driver's pool as memory resource.
#include <variant>
// cuDF's headers use it and do not include it.
#include "bench/peers/cuda/memory.hpp"
#include "bench/peers/peer.hpp"

#include <cudf/aggregation.hpp>
#include <cudf/column/column.hpp>
#include <cudf/copying.hpp>
#include <cudf/groupby.hpp>
#include <cudf/join/hash_join.hpp>
#include <cudf/table/table.hpp>
#include <cudf/utilities/type_dispatcher.hpp>
#include <rmm/mr/cuda_async_memory_resource.hpp>
#include <rmm/mr/per_device_resource.hpp>

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace warpheap::bench::peers {

namespace {

using group_by_data::row_group;

void use_the_drivers_pool() {
  static const bool done = [] {
    rmm::mr::set_current_device_resource(rmm::mr::cuda_async_memory_resource{});
    return true;
  }();
  static_cast<void>(done);
}

cudf::column_view column_of(const array<std::uint32_t>& data, std::uint64_t rows) {
  return {cudf::data_type{cudf::type_id::UINT32}, static_cast<cudf::size_type>(rows), data.data(),
          nullptr, 0};
}

cudf::column_view column_of(const rmm::device_uvector<cudf::size_type>& data) {
  return {cudf::data_type{cudf::type_id::INT32}, static_cast<cudf::size_type>(data.size()),
          data.data(), nullptr, 0};
}

/// \throws std::logic_error if the column holds something else
template <class T>
std::vector<T> to_host(const cudf::column_view& column) {
  if (column.type().id() != cudf::type_to_id<T>()) {
    throw std::logic_error("cuDF's result has another type than expected");
  }
  return copy_to_host(column.data<T>(), static_cast<std::size_t>(column.size()));
}

join_times join(const table& build, const table& probe, const outcome& expected, std::uint64_t runs,
                std::uint64_t& wrong) {
  use_the_drivers_pool();
  const array<std::uint32_t> build_keys(build.keys), build_values(build.values);
  const array<std::uint32_t> probe_keys(probe.keys), probe_values(probe.values);
  const cudf::column_view build_key = column_of(build_keys, build.rows());
  const cudf::column_view probe_key = column_of(probe_keys, probe.rows());
  const cudf::table_view build_value({column_of(build_values, build.rows())});
  const cudf::table_view probe_row({probe_key, column_of(probe_values, probe.rows())});
  wait();
  join_times times;
  for (std::uint64_t run = 0; run < runs; ++run) {
    std::unique_ptr<cudf::hash_join> built;
    std::size_t matches = 0;
    std::unique_ptr<cudf::table> from_build, from_probe;
    timed(times.insert_ms, [&] {
      built = std::make_unique<cudf::hash_join>(cudf::table_view({build_key}),
                                                cudf::null_equality::EQUAL);
    });
    timed(times.count_ms, [&] { matches = built->inner_join_size(cudf::table_view({probe_key})); });
    timed(times.retrieve_ms, [&] {
      const auto [probe_rows, build_rows] =
          built->inner_join(cudf::table_view({probe_key}), matches);
      from_probe = cudf::gather(probe_row, column_of(*probe_rows));
      from_build = cudf::gather(build_value, column_of(*build_rows));
    });
    const auto keys = to_host<std::uint32_t>(from_probe->view().column(0));
    const auto probed = to_host<std::uint32_t>(from_probe->view().column(1));
    const auto values = to_host<std::uint32_t>(from_build->view().column(0));
    std::vector<join_data::match> all(keys.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = {keys[i], values[i], probed[i]};
    if (outcome_of(all) != expected) ++wrong;
  }
  return times;
}

cudf::groupby::aggregation_request aggregations_of(const cudf::column_view& values) {
  using kind = cudf::groupby_aggregation;
  cudf::groupby::aggregation_request request{values, {}};
  request.aggregations.push_back(cudf::make_count_aggregation<kind>());
  request.aggregations.push_back(cudf::make_sum_aggregation<kind>());
  request.aggregations.push_back(cudf::make_min_aggregation<kind>());
  request.aggregations.push_back(cudf::make_max_aggregation<kind>());
  return request;
}

group_times group_by(const table& input, const outcome& expected, std::uint64_t runs,
                     std::uint64_t& wrong) {
  use_the_drivers_pool();
  const array<std::uint32_t> keys(input.keys), values(input.values);
  std::vector<cudf::groupby::aggregation_request> requests;
  requests.push_back(aggregations_of(column_of(values, input.rows())));
  wait();
  group_times times;
  for (std::uint64_t run = 0; run < runs; ++run) {
    decltype(std::declval<cudf::groupby::groupby>().aggregate(requests)) found;
    timed(times.aggregate_ms, [&] {
      cudf::groupby::groupby grouped(cudf::table_view({column_of(keys, input.rows())}));
      found = grouped.aggregate(requests);
    });
    const auto& columns = found.second.front().results;
    const auto key = to_host<std::uint32_t>(found.first->view().column(0));
    const auto count = to_host<std::int32_t>(columns[0]->view());
    const auto sum = to_host<std::int64_t>(columns[1]->view());
    const auto min = to_host<std::uint32_t>(columns[2]->view());
    const auto max = to_host<std::uint32_t>(columns[3]->view());
    std::vector<row_group> groups(key.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
      groups[i] = {key[i],
                   max[i],
                   ~min[i],
                   0,
                   static_cast<std::uint64_t>(count[i]),
                   static_cast<std::uint64_t>(sum[i])};
    }
    if (outcome_of(groups) != expected) ++wrong;
  }
  return times;
}

}  // namespace

program this_program() { return {"warpheap-bench-cudf", {{"cudf", join, group_by}}}; }

}  // namespace warpheap::bench::peers
