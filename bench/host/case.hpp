// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/needs.hpp"
#include "bench/host/row.hpp"

#include <string>
#include <vector>

namespace warpheap::bench {

/// A case that is run: where, over what, and how.
struct case_run {
  machine& on;
  const manager_info& manager;
  const parameters& chosen;
};

/// The case cannot be run with this manager or on this machine; the message is the row's reason.
class not_claimed : public error {
 public:
  using error::error;
};

/// A parameter of a case. An empty standard value must be given; of `heap_bytes` it is the
/// program's.
struct case_parameter {
  const parameter_info* info;
  std::string standard;
};

/// A case of the survey: everything that is to be known of it.
struct case_entry {
  std::string name, about;
  std::vector<case_parameter> parameters;
  std::vector<const need*> needs{};
  /// Fields of its rows beside the parameters. Those that every row has need not be named.
  std::vector<const field_info*> fields{};
  measurement (*run)(const case_run& c);
  /// Goes on until the heap is exhausted: null is what it waits for.
  bool fills = false;

  bool has(const parameter_info& parameter) const;
  bool asks(const need& wanted) const;
};

/// Sizes, heap and seed: what every case that allocates drawn sizes has after its own parameters.
std::vector<case_parameter> with_sizes(std::vector<case_parameter> own,
                                       const std::string& size = "16");

/// A case's file has one global object of this type for each of its cases.
class case_registration {
 public:
  explicit case_registration(case_entry entry);
};

/// In the order of their names.
const std::vector<case_entry>& all_cases();

/// The declarations that the cases refer to, each once, parameters first.
std::vector<const parameter_info*> all_parameters();
std::vector<const field_info*> all_fields();

/// Null if there is no such case.
const case_entry* find_case(const std::string& name);

/// Why this manager is not measured like this, as far as that is known before the device is opened;
/// empty if nothing speaks against it.
std::string why_not(const case_entry& entry, const wanted& w);

/// Why a manager serves no block of that size; empty if it may.
std::string too_large(const manager_info& manager, std::uint64_t bytes);

/// Runs a case. What the manager does not claim becomes `skipped`, what the device or the manager
/// does wrong becomes `failed`, both with the reason.
/// \throws usage_error for files that cannot be used
measurement run_case(const case_entry& entry, const backend_info& backend, const case_run& c);

/// A row without a result.
measurement without_result(const char* status, std::string reason);

}  // namespace warpheap::bench
