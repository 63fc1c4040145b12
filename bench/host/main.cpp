// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The program `warpheap-bench-cpu` and `warpheap-bench-cuda`: what it offers, or one measurement.
/// Exit status 0 with a row, whatever it says; 2 for arguments that cannot be followed.

#include "bench/host/arguments.hpp"
#include "bench/host/json.hpp"

#include <algorithm>
#include <exception>
#include <iostream>
#include <memory>

namespace warpheap::bench {

namespace {

const case_entry& known_case(const std::string& name) {
  const case_entry* entry = find_case(name);
  if (entry == nullptr) {
    throw usage_error("unknown case '" + name + "'; known cases: " +
                      names_of(all_cases(), [](const case_entry& c) { return c.name; }));
  }
  return *entry;
}

template <class Infos>
auto find_named(const Infos& infos, const std::string& name) {
  return std::find_if(infos.begin(), infos.end(),
                      [&](const auto& info) { return info.name == name; });
}

/// The machine if it is there, else the reason.
std::unique_ptr<machine> open_if_there(std::string& reason) {
  try {
    return open_machine();
  } catch (const error& problem) {
    reason = problem.what();
    return nullptr;
  }
}

void list() {
  std::string reason;
  const auto on = open_if_there(reason);
  std::cout << list_json(describe_backend(), on ? &on->info() : nullptr, reason) << '\n';
}

void run(const std::string& case_name, const std::string& manager_name,
         const std::vector<std::string>& words) {
  const backend_info backend = describe_backend();
  const case_entry& entry = known_case(case_name);
  const auto manager = find_named(backend.managers, manager_name);
  const auto missing = find_named(backend.missing, manager_name);
  if (manager == backend.managers.end() && missing == backend.missing.end()) {
    const auto name = [](const auto& info) { return info.name; };
    const std::string others = names_of(backend.missing, name);
    throw usage_error("unknown manager '" + manager_name + "'; known managers: " +
                      names_of(backend.managers, name) + (others.empty() ? "" : ", " + others));
  }
  const parameters chosen = parse_parameters(entry, words, backend.default_heap_bytes);
  // The device is not opened for a row that is skipped: that takes longer than all else.
  std::string obstacle = manager == backend.managers.end()
                             ? missing->reason
                             : why_not(entry, {backend, *manager, chosen});
  std::unique_ptr<machine> on;
  if (obstacle.empty()) on = open_if_there(obstacle);
  const measurement outcome =
      on ? run_case(entry, backend, {*on, *manager, chosen}) : without_result("skipped", obstacle);
  std::cout << row_json(backend, on ? &on->info() : nullptr, entry, manager_name, chosen, outcome)
            << '\n';
}

}  // namespace

}  // namespace warpheap::bench

int main(int count, char** words) {
  try {
    return warpheap::bench::follow(count, words, {warpheap::bench::list, warpheap::bench::run});
  } catch (const std::exception& problem) {
    std::cerr << "warpheap-bench: " << problem.what() << '\n';
    return 1;
  }
}
