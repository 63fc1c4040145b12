// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/case.hpp"

#include "bench/host/requests.hpp"
#include "warpheap/core/align.hpp"

#include <algorithm>
#include <exception>
#include <initializer_list>
#include <stdexcept>
#include <utility>

namespace warpheap::bench {

namespace {

std::vector<case_entry>& registered() {
  static std::vector<case_entry> cases;
  return cases;
}

/// Adds a declaration that is not there yet.
/// \throws std::logic_error if another one has its name
template <class Info>
void add_once(std::vector<const Info*>& all, const Info* declared) {
  for (const Info* known : all) {
    if (known == declared) return;
    if (std::string(known->name) == declared->name) {
      throw std::logic_error(std::string("two fields are declared as ") + declared->name);
    }
  }
  all.push_back(declared);
}

/// Before a manager computes its layout: no product of a heap that the device can hold overflows.
void check_memory(const case_run& c) {
  const machine_info& there = c.on.info();
  const std::uint64_t heap = c.chosen[given::heap_bytes];
  if (there.memory_bytes == 0 || heap <= there.memory_bytes) return;
  throw out_of_memory("cannot allocate " + std::to_string(heap) + " bytes: " + there.device +
                      " has " + std::to_string(there.memory_bytes) + " bytes of memory");
}

/// Why one launch cannot be served; empty if it can, or if the case waits for null.
std::string does_not_fit(const case_entry& entry, const parameters& chosen) {
  if (entry.fills || !entry.has(given::heap_bytes)) return {};
  const std::uint64_t lanes = chosen[given::mode] == "warp" ? lanes_per_warp : 1;
  const std::uint64_t blocks = ceil_div(chosen[given::threads], lanes);
  const std::uint64_t size = chosen[given::size_max];
  const std::uint64_t heap = chosen[given::heap_bytes];
  if (size == 0 || blocks <= heap / size) return {};
  return std::to_string(blocks) + " blocks of " + std::to_string(size) +
         " bytes do not fit into a heap of " + std::to_string(heap) + " bytes";
}

}  // namespace

bool case_entry::has(const parameter_info& parameter) const {
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const case_parameter& own) { return own.info == &parameter; });
}

bool case_entry::asks(const need& wanted) const {
  return std::find(needs.begin(), needs.end(), &wanted) != needs.end();
}

std::vector<case_parameter> with_sizes(std::vector<case_parameter> own, const std::string& size) {
  own.insert(own.end(), {{&given::size_min, size},
                         {&given::size_max, size},
                         {&given::distribution, "uniform"},
                         {&given::heap_bytes, ""},
                         {&given::seed, "1"}});
  return own;
}

case_registration::case_registration(case_entry entry) {
  std::vector<case_entry>& all = registered();
  const auto after = std::find_if(all.begin(), all.end(),
                                  [&](const case_entry& other) { return other.name > entry.name; });
  all.insert(after, std::move(entry));
}

const std::vector<case_entry>& all_cases() { return registered(); }

std::vector<const parameter_info*> all_parameters() {
  std::vector<const parameter_info*> all;
  for (const case_entry& entry : all_cases()) {
    for (const case_parameter& own : entry.parameters) add_once(all, own.info);
  }
  return all;
}

std::vector<const field_info*> all_fields() {
  std::vector<const field_info*> all;
  for (const parameter_info* parameter : all_parameters()) {
    add_once<field_info>(all, parameter);
  }
  for (const field_info* common : std::initializer_list<const field_info*>{
           &fields::null_returns, &fields::corrupted, &fields::malloc_ms, &fields::free_ms}) {
    add_once(all, common);
  }
  for (const case_entry& entry : all_cases()) {
    for (const field_info* own : entry.fields) add_once(all, own);
  }
  return all;
}

const case_entry* find_case(const std::string& name) {
  for (const case_entry& entry : all_cases()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

std::string too_large(const manager_info& manager, std::uint64_t bytes) {
  if (manager.largest_block == 0 || bytes <= manager.largest_block) return {};
  return std::to_string(bytes) + " bytes are more than the largest block of " + manager.name +
         ", which is " + std::to_string(manager.largest_block);
}

std::string why_not(const case_entry& entry, const wanted& w) {
  for (const need* asked : entry.needs) {
    if (!asked->met(w)) return asked->reason;
  }
  const std::string obstacle = too_large(w.manager, w.chosen[given::size_max]);
  return obstacle.empty() ? does_not_fit(entry, w.chosen) : obstacle;
}

measurement without_result(const char* status, std::string reason) {
  measurement row;
  row.status = status;
  row.reason = std::move(reason);
  return row;
}

measurement run_case(const case_entry& entry, const backend_info& backend, const case_run& c) {
  const std::string obstacle = why_not(entry, {backend, c.manager, c.chosen});
  if (!obstacle.empty()) return without_result("skipped", obstacle);
  try {
    check_memory(c);
    measurement row = entry.run(c);
    const std::uint64_t wrong = row.get(fields::corrupted).value_or(0);
    if (wrong != 0) {
      row.status = "failed";
      row.reason = std::to_string(wrong) + " blocks were overwritten, overlapping or misaligned";
    }
    return row;
  } catch (const usage_error&) {
    throw;
  } catch (const not_claimed& reason) {
    return without_result("skipped", reason.what());
  } catch (const invalid_argument& reason) {
    return without_result("skipped", reason.what());
  } catch (const out_of_memory& reason) {
    return without_result("skipped", reason.what());
  } catch (const std::exception& reason) {
    return without_result("failed", reason.what());
  }
}

}  // namespace warpheap::bench
