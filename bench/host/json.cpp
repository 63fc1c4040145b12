// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/json.hpp"

#include "bench/host/summary_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <stdexcept>
#include <type_traits>
#include <variant>

namespace warpheap::bench {

namespace {

// Keeps the order in which fields are added.
using json = nlohmann::ordered_json;

template <class... Held>
json json_of(const std::variant<Held...>& value) {
  return std::visit(
      [](const auto& held) -> json {
        using held_type = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<held_type, std::monostate>) {
          return nullptr;
        } else {
          return held;
        }
      },
      value);
}

const char* name_of(field_role role) {
  switch (role) {
    case field_role::identity:
      return "identity";
    case field_role::axis:
      return "axis";
    case field_role::facet:
      return "facet";
    case field_role::detail:
      return "detail";
    case field_role::result:
      break;
  }
  return "result";
}

const char* name_of(field_kind kind) {
  switch (kind) {
    case field_kind::integer:
      return "integer";
    case field_kind::number:
      return "number";
    case field_kind::flag:
      return "flag";
    case field_kind::summary:
      return "summary";
    case field_kind::graph:
      return "graph";
    case field_kind::text:
      break;
  }
  return "text";
}

/// What every row has beside parameters and results.
constexpr field_info identities[]{
    {.name = "schema", .about = "version of this format", .kind = field_kind::integer},
    {.name = "case", .about = "what was measured"},
    {.name = "manager", .about = "which memory manager"},
    {.name = "backend", .about = "cpu (the model: correctness only) or cuda"},
    {.name = "device", .about = "name of the device"},
    {.name = "driver", .about = "version of the GPU's driver"},
    {.name = "toolkit", .about = "version of CUDA's toolkit or of the compiler"},
    {.name = "status", .about = "ok, skipped, timeout, crashed or failed"},
    {.name = "reason",
     .about = "why the status is not ok, or which measurement is missing and why"},
};

json field_json(const field_info& f) {
  json described{{"name", f.name}, {"kind", name_of(f.kind)}, {"role", name_of(f.role)}};
  const std::pair<const char*, const char*> texts[]{
      {"unit", f.unit}, {"about", f.about}, {"phrase", f.phrase}, {"better", f.better}};
  for (const auto& [name, text] : texts) {
    if (*text != '\0') described[name] = text;
  }
  if (f.always) described["always"] = true;
  return described;
}

json parameter_json(const parameter_info& p) {
  json described = field_json(p);
  const parameter_limits& limits = p.limits;
  if (p.kind == field_kind::integer || p.kind == field_kind::number) {
    described["least"] = limits.least;
    if (limits.most != most_whole) described["most"] = limits.most;
  }
  json choices = json::array();
  for (const char* choice : limits.choices) {
    if (choice != nullptr) choices.push_back(choice);
  }
  if (!choices.empty()) described["choices"] = std::move(choices);
  if (*limits.alias != '\0') described["alias"] = limits.alias;
  return described;
}

json fields_json() {
  json all = json::array();
  for (field_info identity : identities) {
    identity.role = field_role::identity;
    identity.always = true;
    all.push_back(field_json(identity));
  }
  const std::vector<const parameter_info*> parameters = all_parameters();
  for (const parameter_info* p : parameters) all.push_back(parameter_json(*p));
  for (const field_info* f : all_fields()) {
    if (std::find(parameters.begin(), parameters.end(), f) == parameters.end()) {
      all.push_back(field_json(*f));
    }
  }
  return all;
}

/// A standard value as the command line would read it; null without one.
json standard_json(const case_parameter& own, const backend_info& backend) {
  if (own.info->limits.by_backend) return backend.default_heap_bytes;
  if (own.standard.empty()) return nullptr;
  const bool text = own.info->kind == field_kind::text || own.info->kind == field_kind::graph;
  return text ? json(own.standard) : json::parse(own.standard);
}

json case_json(const case_entry& entry, const backend_info& backend) {
  json parameters = json::array();
  for (const case_parameter& own : entry.parameters) {
    json described{{"name", own.info->name}, {"default", standard_json(own, backend)}};
    if (own.info->limits.by_backend) described["by_backend"] = true;
    parameters.push_back(std::move(described));
  }
  json needed = json::array();
  for (const need* asked : entry.needs) {
    needed.push_back({{"name", asked->name}, {"reason", asked->reason}});
  }
  json fields = json::array();
  for (const field_info* own : entry.fields) fields.push_back(own->name);
  return {{"name", entry.name},
          {"about", entry.about},
          {"fills", entry.fills},
          {"needs", std::move(needed)},
          {"parameters", std::move(parameters)},
          {"fields", std::move(fields)}};
}

json manager_json(const manager_info& m, const json& reason) {
  json described{{"name", m.name}};
  for (const auto& [name, value] : m.about) described[name] = json_of(value);
  described["deviations"] = m.deviations;
  described["available"] = reason.is_null();
  described["reason"] = reason;
  json& claims = described["capabilities"] = json::object();
  for (const auto& [name, value] : m.claims) claims[name] = json_of(value);
  return described;
}

}  // namespace

std::string list_json(const backend_info& backend, const machine_info* there,
                      const std::string& reason) {
  json managers = json::array();
  for (const manager_info& m : backend.managers) managers.push_back(manager_json(m, nullptr));
  for (const missing_info& m : backend.missing) {
    managers.push_back(manager_json(m, m.reason));
  }
  json cases = json::array();
  for (const case_entry& entry : all_cases()) cases.push_back(case_json(entry, backend));
  const machine_info machine = there == nullptr ? machine_info{} : *there;
  const json list{{"schema", schema},
                  {"backend", backend.name},
                  {"device", there == nullptr ? json() : json(machine.device)},
                  {"device_memory_bytes", machine.memory_bytes},
                  {"driver", machine.driver},
                  {"toolkit", machine.toolkit},
                  {"available", there != nullptr},
                  {"reason", there == nullptr ? json(reason) : json()},
                  {"managers", std::move(managers)},
                  {"fields", fields_json()},
                  {"cases", std::move(cases)}};
  return list.dump(1);
}

std::string row_json(const backend_info& backend, const machine_info* there,
                     const case_entry& entry, const std::string& manager, const parameters& chosen,
                     const measurement& outcome) {
  json row{
      {"schema", schema}, {"case", entry.name}, {"manager", manager}, {"backend", backend.name}};
  if (there != nullptr) {
    row["device"] = there->device;
    if (!there->driver.empty()) row["driver"] = there->driver;
    if (!there->toolkit.empty()) row["toolkit"] = there->toolkit;
  }
  for (const field_info* f : all_fields()) {
    const parameters::value* value = chosen.find(f->name);
    if (value != nullptr) {
      row[f->name] = json_of(*value);
    } else if (f->always) {
      row[f->name] = nullptr;
    }
  }
  // Where lanes allocate: also if there is no choice.
  if (entry.asks(needs::bytes)) row[given::mode.name] = chosen[given::mode];
  row["status"] = outcome.status;
  row["reason"] = outcome.reason ? json(*outcome.reason) : json();
  for (const auto& [f, value] : outcome.values()) {
    const bool declared =
        f->always || std::find(entry.fields.begin(), entry.fields.end(), f) != entry.fields.end();
    if (!declared && row.count(f->name) == 0) {
      throw std::logic_error("the case '" + entry.name + "' does not declare its field '" +
                             f->name + "'");
    }
    row[f->name] = json_of(value);
  }
  // Names of files need not be UTF-8.
  return row.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace warpheap::bench
