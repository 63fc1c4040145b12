// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/json.hpp"

#include <nlohmann/json.hpp>

#include <charconv>
#include <type_traits>
#include <variant>

namespace warpheap::bench {

namespace {

// Keeps the order in which fields are added.
using json = nlohmann::ordered_json;

json to_json(const summary& s) {
  return {{"first", s.first}, {"median", s.median}, {"mean", s.mean}, {"std", s.std},
          {"min", s.min},     {"max", s.max},       {"p50", s.p50},   {"p99", s.p99}};
}

json to_json(const field& value) {
  return std::visit(
      [](const auto& held) -> json {
        using held_type = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<held_type, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<held_type, summary>) {
          return to_json(held);
        } else {
          return held;
        }
      },
      value);
}

template <class T>
json or_null(const std::optional<T>& value) {
  if (!value.has_value()) return nullptr;
  if constexpr (std::is_same_v<T, summary>) {
    return to_json(*value);
  } else {
    return *value;
  }
}

/// A text as a number where it is one; null where it is empty.
json standard_value(const std::string& text) {
  if (text.empty()) return nullptr;
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, number);
  if (status == std::errc() && stop == end) return number;
  return text;
}

const char* name_of(manager_scope scope) {
  switch (scope) {
    case manager_scope::thread:
      return "thread";
    case manager_scope::warp:
      return "warp";
    case manager_scope::object:
      return "object";
    case manager_scope::page:
      break;
  }
  return "page";
}

json manager_json(const manager_info& m, bool available, const std::string& reason) {
  return {{"name", m.name},
          {"description", m.description},
          {"folder", m.folder},
          {"title", m.title},
          {"authors", m.authors},
          {"venue", m.venue},
          {"year", m.year == 0 ? json() : json(m.year)},
          {"doi", m.doi},
          {"deviations", m.deviations},
          {"available", available},
          {"reason", reason.empty() ? json() : json(reason)},
          {"capabilities",
           {{"largest_block", m.largest_block == 0 ? json() : json(m.largest_block)},
            {"alignment", m.alignment},
            {"frees", m.frees},
            {"scope", name_of(m.scope)},
            {"reuse", m.reuse},
            {"growth", m.growth},
            {"resets", m.resets},
            {"numbered_pages", m.word_bits != 0}}}};
}

json case_json(const case_entry& entry, const backend_info& backend) {
  json parameters = json::array();
  for (const parameter_info& known : known_parameters()) {
    for (const auto& [name, standard] : entry.standards) {
      if (name != known.name) continue;
      json value = standard_value(standard);
      if (name == "heap_bytes") value = backend.default_heap_bytes;
      parameters.push_back({{"name", known.name},
                            {"unit", known.unit},
                            {"default", std::move(value)},
                            {"about", known.about}});
    }
  }
  return {{"name", entry.name},
          {"about", entry.about},
          {"modes", entry.modes()},
          {"needs_frees", entry.needs_frees},
          {"parameters", std::move(parameters)}};
}

/// A parameter's value in the row: null where the case has no such parameter.
template <class T>
json if_has(const case_entry& entry, const char* name, const T& value) {
  return entry.has_parameter(name) ? json(value) : json();
}

}  // namespace

std::string list_json(const backend_info& backend, const machine_or_reason& where) {
  const bool available = where.machine.has_value();
  json managers = json::array();
  for (const manager_info& m : backend.managers) managers.push_back(manager_json(m, true, ""));
  for (const missing_info& m : backend.missing) {
    managers.push_back(manager_json(m, false, m.reason));
  }
  json cases = json::array();
  for (const case_entry& entry : all_cases()) cases.push_back(case_json(entry, backend));
  const machine_info machine = where.machine.value_or(machine_info{});
  const json list{{"schema", schema},
                  {"backend", backend.name},
                  {"device", available ? json(machine.device) : json()},
                  {"device_memory_bytes", machine.memory_bytes},
                  {"driver", machine.driver},
                  {"toolkit", machine.toolkit},
                  {"available", available},
                  {"reason", available ? json() : json(where.reason)},
                  {"managers", std::move(managers)},
                  {"cases", std::move(cases)}};
  return list.dump(1);
}

std::string row_json(const backend_info& backend, const machine_or_reason& where,
                     const case_entry& entry, const std::string& manager, const parameters& chosen,
                     const measurement& outcome) {
  const machine_info machine = where.machine.value_or(machine_info{});
  json row{
      {"schema", schema},
      {"case", entry.name},
      {"manager", manager},
      {"backend", backend.name},
      {"device", where.machine.has_value() ? json(machine.device) : json()},
      {"mode", entry.allocates ? json(chosen.one_a_warp ? "warp" : "thread") : json()},
      {"threads", if_has(entry, "threads", chosen.threads)},
      {"size_min", if_has(entry, "size_min", chosen.size_min)},
      {"size_max", if_has(entry, "size_max", chosen.size_max)},
      {"heap_bytes", if_has(entry, "heap_bytes", chosen.heap_bytes)},
      {"iterations", if_has(entry, "iterations", chosen.iterations)},
      {"seed", if_has(entry, "seed", chosen.seed)},
      {"status", outcome.status},
      {"reason", or_null(outcome.reason)},
      {"null_returns", or_null(outcome.null_returns)},
      {"corrupted", or_null(outcome.corrupted)},
      {"malloc_ms", or_null(outcome.malloc_ms)},
      {"free_ms", or_null(outcome.free_ms)},
  };
  if (entry.has_parameter("distribution")) {
    row["distribution"] = chosen.sizes == distribution::powers ? "powers" : "uniform";
  }
  if (entry.has_parameter("free_percent")) row["free_percent"] = chosen.free_percent;
  if (entry.has_parameter("pages")) row["pages"] = chosen.pages;
  if (entry.has_parameter("rounds")) row["rounds"] = chosen.rounds;
  if (entry.has_parameter("graph")) row["graph"] = chosen.graph;
  for (const auto& [name, value] : outcome.more) row[name] = to_json(value);
  if (!machine.driver.empty()) row["driver"] = machine.driver;
  if (!machine.toolkit.empty()) row["toolkit"] = machine.toolkit;
  return row.dump();
}

}  // namespace warpheap::bench
