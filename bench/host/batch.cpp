// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/batch.hpp"

#include "bench/host/child.hpp"
#include "bench/host/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <istream>
#include <ostream>
#include <vector>

namespace warpheap::bench {

namespace {

using json = nlohmann::ordered_json;

constexpr int bad_arguments = 2;

json parse_line(const std::string& line, const std::string& place) {
  const json wanted = json::parse(line, nullptr, false);
  if (!wanted.is_object() || !wanted.value("case", json()).is_string() ||
      !wanted.value("manager", json()).is_string()) {
    throw usage_error(place + ": a JSON object with \"case\" and \"manager\" is needed");
  }
  return wanted;
}

std::vector<std::string> arguments_of(const json& wanted) {
  std::vector<std::string> arguments{"run"};
  for (const auto& [name, value] : wanted.items()) {
    if (name == "time_limit") continue;
    std::string flag = "--" + name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    arguments.push_back(flag);
    arguments.push_back(value.is_string() ? value.get<std::string>() : value.dump());
  }
  return arguments;
}

std::string now_in_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

/// What every row says of the machine. Asked in a process of its own: this one keeps off the
/// device.
json machine_fields() {
  const child_outcome asked = run_child("/proc/self/exe", {"list"}, 60);
  const json offered = json::parse(asked.output, nullptr, false);
  json fields;
  for (const char* name : {"backend", "device", "driver", "toolkit"}) {
    if (offered.is_object() && offered.contains(name)) fields[name] = offered[name];
  }
  return fields;
}

/// The row that the process printed, or one that says what became of it.
json row_of(const json& wanted, const child_outcome& outcome) {
  if (outcome.end == "done" && outcome.status == 0) {
    json row = json::parse(outcome.output, nullptr, false);
    if (row.is_object()) return row;
  }
  json row{{"schema", schema}};
  for (const auto& [name, value] : wanted.items()) row[name] = value;
  static const json machine = machine_fields();
  row.update(machine);
  if (outcome.end == "timeout") {
    row["status"] = "timeout";
    row["reason"] = "not finished in time";
  } else {
    const bool refused = outcome.end == "done" && outcome.status == bad_arguments;
    row["status"] = refused ? "failed" : "crashed";
    row["reason"] = outcome.reason;
  }
  return row;
}

}  // namespace

void run_batch(std::istream& plan, const std::string& name, const batch_options& options,
               std::ostream& rows) {
  std::string line;
  for (std::uint64_t number = 1; std::getline(plan, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const json wanted = parse_line(line, name + ":" + std::to_string(number));
    const json limit = wanted.value("time_limit", json());
    const child_outcome outcome =
        run_child("/proc/self/exe", arguments_of(wanted),
                  limit.is_number() ? limit.get<double>() : options.time_limit_s);
    json row = row_of(wanted, outcome);
    if (!options.commit.empty()) row["commit"] = options.commit;
    row["time"] = now_in_utc();
    row["wall_s"] = outcome.wall_s;
    rows << row.dump() << std::endl;  // one by one, so that nothing is lost at an interruption
  }
}

}  // namespace warpheap::bench
