// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Measures join and group-by of cuCollections or cuDF on the tables of the survey's cases `join`
/// and `group_by`. It is called as the survey's programs are, so that bench/workloads/gpu_rows.py
/// drives it too, and its rows are of these cases.
#include "bench/host/arguments.hpp"
#include "bench/host/summary_json.hpp"
#include "bench/peers/peer.hpp"
#include "bench/workloads/group_by/input.hpp"
#include "bench/workloads/join/sides.hpp"

#include <nlohmann/json.hpp>

#include <exception>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

namespace warpheap::bench::peers {
namespace {

using json = nlohmann::ordered_json;

json summarized(const std::vector<double>& times) { return summarize_warm(times); }

/// The time of each run: the sum of its parts.
std::vector<double> sums(const std::vector<const std::vector<double>*>& parts) {
  std::vector<double> all(parts.front()->size());
  for (const std::vector<double>* part : parts) {
    for (std::size_t run = 0; run < part->size(); ++run) all[run] += (*part)[run];
  }
  return all;
}

/// As text: readers of JSON keep fewer than 64 bits of a whole number.
std::string hexadecimal(std::uint64_t word) {
  std::ostringstream written;
  written << std::hex << std::setfill('0') << std::setw(16) << word;
  return written.str();
}

/// The rates, over the whole time.
void add_rates(json& row, std::uint64_t rows, std::uint64_t result_bytes, const json& time) {
  const double ms = time["median"];
  measurement rates;
  bench::add_rates(rates, rows, rows * 2 * sizeof(std::uint32_t) + result_bytes, ms);
  for (const auto* rate : {&fields::row_rate, &fields::bandwidth}) {
    row[rate->name] = *rates.get(*rate);
  }
}

void add_state(json& row, std::uint64_t wrong) {
  row["corrupted"] = wrong;
  row["status"] = wrong == 0 ? "ok" : "failed";
  row["reason"] = wrong == 0 ? json() : json("the result is not the expected one");
}

void run_join(json& row, const peer& by, const parameters& chosen) {
  const table build = build_side(chosen);
  const table probe = probe_side(chosen);
  const outcome expected = expected_join(build, probe);
  std::uint64_t wrong = 0;
  const join_times times = by.join(build, probe, expected, chosen[given::iterations] + 1, wrong);
  add_state(row, wrong);
  row["hash_insert_ms"] = summarized(times.insert_ms);
  row["hash_count_ms"] = summarized(times.count_ms);
  row["hash_retrieve_ms"] = summarized(times.retrieve_ms);
  row["join_ms"] = summarized(sums({&times.insert_ms, &times.count_ms, &times.retrieve_ms}));
  add_rates(row, build.rows() + probe.rows(), expected.rows * sizeof(join_data::match),
            row["join_ms"]);
  row["build_rows"] = build.rows();
  row["probe_rows"] = probe.rows();
  row["result_rows"] = expected.rows;
  row["digest"] = hexadecimal(expected.digest);
}

void run_group_by(json& row, const peer& by, const parameters& chosen) {
  const table input = input_side(chosen);
  const outcome expected = expected_groups(input);
  std::uint64_t wrong = 0;
  const group_times times = by.group_by(input, expected, chosen[given::iterations] + 1, wrong);
  add_state(row, wrong);
  row["hash_aggregate_ms"] = summarized(times.aggregate_ms);
  if (!times.retrieve_ms.empty()) row["hash_retrieve_ms"] = summarized(times.retrieve_ms);
  row["group_ms"] = summarized(sums({&times.aggregate_ms, &times.retrieve_ms}));
  add_rates(row, input.rows(), expected.rows * sizeof(group_by_data::row_group), row["group_ms"]);
  row["input_rows"] = input.rows();
  row["result_rows"] = expected.rows;
  row["digest"] = hexadecimal(expected.digest);
}

struct peer_case {
  std::string name;
  std::vector<case_parameter> takes;
  void (*run)(json& row, const peer& by, const parameters& chosen);
};

/// A peer takes no heap: a number that a caller names for the managers is not one of its row.
std::vector<case_parameter> with_runs(std::vector<case_parameter> own) {
  own.insert(own.end(),
             {{&given::iterations, "10"}, {&given::seed, "1"}, {&given::heap_bytes, ""}});
  return own;
}

const std::vector<peer_case>& all_peer_cases() {
  static const std::vector<peer_case> all{
      {"join", with_runs(join_parameters()), run_join},
      {"group_by", with_runs(group_by_parameters()), run_group_by}};
  return all;
}

template <class Things>
const auto& named(const char* what, const std::string& name, const Things& things) {
  for (const auto& each : things) {
    if (each.name == name) return each;
  }
  throw usage_error("unknown " + std::string(what) + " '" + name +
                    "'; known: " + names_of(things, [](const auto& each) { return each.name; }));
}

void run(const std::string& case_name, const std::string& peer_name,
         const std::vector<std::string>& words) {
  const peer_case& measured = named("case", case_name, all_peer_cases());
  const program here = this_program();
  const peer& by = named("peer", peer_name, here.peers);
  const case_entry described{
      .name = case_name, .about = "", .parameters = measured.takes, .run = nullptr};
  const parameters chosen = parse_parameters(described, words, 1);
  const machine on = open_machine();
  json row{{"schema", 1},           {"case", case_name},    {"manager", by.name},
           {"backend", "cuda"},     {"device", on.device},  {"driver", on.driver},
           {"toolkit", on.toolkit}, {"heap_bytes", nullptr}};
  for (const case_parameter& own : measured.takes) {
    if (own.info == &given::heap_bytes) continue;
    std::visit([&](const auto& value) { row[own.info->name] = value; },
               *chosen.find(own.info->name));
  }
  measured.run(row, by, chosen);
  std::cout << row << std::endl;
}

/// What peers measure beside the fields that the cases of the same names have in the survey's
/// programs.
json own_fields() {
  const auto part = [](const char* name, const char* about) -> json {
    return {{"name", name},     {"unit", "ms"},   {"kind", "summary"},
            {"role", "result"}, {"about", about}, {"better", "less"}};
  };
  return {part("hash_insert_ms", "making the hash table and inserting the build side"),
          part("hash_count_ms", "counting the matches"),
          part("hash_aggregate_ms", "making the hash table and adding every row to its group"),
          part("hash_retrieve_ms", "writing the matches or the groups one behind the other")};
}

/// As the survey's programs list themselves. How much memory the device has, no peer must know.
void list() {
  const program here = this_program();
  const machine on = open_machine();
  json managers = json::array();
  for (const peer& each : here.peers) {
    managers.push_back({{"name", each.name}, {"available", true}});
  }
  json described = json::array();
  for (const peer_case& each : all_peer_cases()) {
    described.push_back(
        {{"name", each.name}, {"parameters", json::array()}, {"fields", json::array()}});
  }
  std::cout << json{{"schema", 1},
                    {"backend", "cuda"},
                    {"command", {here.name, "run"}},
                    {"device", on.device},
                    {"device_memory_bytes", 0},
                    {"driver", on.driver},
                    {"toolkit", on.toolkit},
                    {"available", true},
                    {"managers", managers},
                    {"fields", own_fields()},
                    {"cases", described}}
            << std::endl;
}

}  // namespace
}  // namespace warpheap::bench::peers

int main(int count, char** words) {
  using namespace warpheap::bench;
  try {
    return follow(count, words, {peers::list, peers::run});
  } catch (const std::exception& problem) {
    std::cerr << peers::this_program().name << ": " << problem.what() << '\n';
    return 1;
  }
}
