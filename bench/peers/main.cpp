// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Measures join and group-by of cuCollections or cuDF on the tables of the survey's cases `join`
/// and `group_by`. It is called as the survey's programs are, so that bench/workloads/gpu_rows.py
/// drives it too, and its rows are of these cases.
#include "bench/host/statistics.hpp"
#include "bench/peers/peer.hpp"
#include "bench/workloads/tables/generated.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <exception>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace warpheap::bench::peers {
namespace {

using json = nlohmann::ordered_json;

/// The parameters with the standard values of the cases.
struct given {
  std::string build_table = "generated";
  std::string probe_table = "generated";
  std::string input_table = "generated";
  std::uint64_t rows = 65536;
  std::uint64_t distinct_keys = 0;
  double key_skew = 1e-9;
  double match_percent = 100;
  std::uint64_t iterations = 10;
  std::uint64_t seed = 1;
};

/// What the case's own code makes of the same parameters.
template <class Generate>
table chosen_table(const std::string& named, const Generate& generate) {
  return named == "generated" ? generate() : read_csv(named);
}

json summarized(const std::vector<double>& times) {
  const summary s = summarize_warm(times);
  return {{"first", s.first}, {"median", s.median}, {"mean", s.mean}, {"std", s.std},
          {"min", s.min},     {"max", s.max},       {"p50", s.p50},   {"p99", s.p99}};
}

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
  const double bytes = static_cast<double>(rows * 2 * sizeof(std::uint32_t) + result_bytes);
  row["row_rate"] = static_cast<double>(rows) / ms / 1e3;
  row["bandwidth"] = bytes / ms / 1e6;
}

void add_state(json& row, std::uint64_t wrong) {
  row["corrupted"] = wrong;
  row["status"] = wrong == 0 ? "ok" : "failed";
  row["reason"] = wrong == 0 ? json() : json("the result is not the expected one");
}

void run_join(json& row, const peer& by, const given& chosen) {
  const std::uint64_t distinct = chosen.distinct_keys == 0 ? 65536 : chosen.distinct_keys;
  const table build =
      chosen_table(chosen.build_table, [&] { return primary_keys(distinct, chosen.seed); });
  const table probe = chosen_table(chosen.probe_table, [&] {
    return foreign_keys(chosen.rows, {distinct, chosen.key_skew}, chosen.match_percent,
                        chosen.seed);
  });
  row["distinct_keys"] = distinct;
  row["match_percent"] = chosen.match_percent;
  row["build_table"] = chosen.build_table;
  row["probe_table"] = chosen.probe_table;
  const outcome expected = expected_join(build, probe);
  std::uint64_t wrong = 0;
  const join_times times = by.join(build, probe, expected, chosen.iterations + 1, wrong);
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

void run_group_by(json& row, const peer& by, const given& chosen) {
  const std::uint64_t distinct = chosen.distinct_keys == 0 ? 4096 : chosen.distinct_keys;
  const table input = chosen_table(chosen.input_table, [&] {
    return spread_keys(foreign_keys(chosen.rows, {distinct, chosen.key_skew}, 100, chosen.seed));
  });
  row["distinct_keys"] = distinct;
  row["input_table"] = chosen.input_table;
  const outcome expected = expected_groups(input);
  std::uint64_t wrong = 0;
  const group_times times = by.group_by(input, expected, chosen.iterations + 1, wrong);
  add_state(row, wrong);
  row["hash_aggregate_ms"] = summarized(times.aggregate_ms);
  if (!times.retrieve_ms.empty()) row["hash_retrieve_ms"] = summarized(times.retrieve_ms);
  row["group_ms"] = summarized(sums({&times.aggregate_ms, &times.retrieve_ms}));
  add_rates(row, input.rows(), expected.rows * sizeof(group_by_data::row_group), row["group_ms"]);
  row["input_rows"] = input.rows();
  row["result_rows"] = expected.rows;
  row["digest"] = hexadecimal(expected.digest);
}

void run(const std::string& case_name, const peer& by, const given& chosen) {
  const machine on = open_machine();
  // A peer takes no heap: a number that a caller names for the managers is not one of its row.
  json row{{"schema", 1},           {"case", case_name},
           {"manager", by.name},    {"backend", "cuda"},
           {"device", on.device},   {"driver", on.driver},
           {"toolkit", on.toolkit}, {"heap_bytes", nullptr},
           {"rows", chosen.rows},   {"key_skew", chosen.key_skew},
           {"seed", chosen.seed},   {"iterations", chosen.iterations}};
  case_name == "join" ? run_join(row, by, chosen) : run_group_by(row, by, chosen);
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
json listed(const program& here, const std::vector<std::string>& cases) {
  const machine on = open_machine();
  json managers = json::array();
  for (const peer& each : here.peers) {
    managers.push_back({{"name", each.name}, {"available", true}});
  }
  json described = json::array();
  for (const std::string& name : cases) {
    described.push_back({{"name", name}, {"parameters", json::array()}, {"fields", json::array()}});
  }
  return {{"schema", 1},
          {"backend", "cuda"},
          {"command", {here.name, "run"}},
          {"device", on.device},
          {"device_memory_bytes", 0},
          {"driver", on.driver},
          {"toolkit", on.toolkit},
          {"available", true},
          {"managers", managers},
          {"fields", own_fields()},
          {"cases", described}};
}

}  // namespace
}  // namespace warpheap::bench::peers

int main(int count, char** words) {
  using namespace warpheap::bench::peers;
  given chosen;
  std::string case_name;
  std::string name;
  std::uint64_t unused = 0;
  const std::vector<std::string> cases{"join", "group_by"};
  const program here = this_program();
  std::vector<std::string> known;
  for (const peer& each : here.peers) known.emplace_back(each.name);

  CLI::App app("Measures join and group-by of peers.");
  app.require_subcommand(1);
  CLI::App* const list = app.add_subcommand("list", "lists what can be measured, as JSON");
  CLI::App* const measure = app.add_subcommand("run", "one measurement, as a row");
  measure->add_option("--case", case_name)->required()->check(CLI::IsMember(cases));
  measure->add_option("--manager", name, "the peer")->required()->check(CLI::IsMember(known));
  measure->add_option("--build-table", chosen.build_table);
  measure->add_option("--probe-table", chosen.probe_table);
  measure->add_option("--input-table", chosen.input_table);
  measure->add_option("--rows", chosen.rows)->check(CLI::Range(1u, 1u << 31));
  measure->add_option("--distinct-keys", chosen.distinct_keys)->check(CLI::Range(1u, 1u << 31));
  measure->add_option("--key-skew", chosen.key_skew)->check(CLI::Range(0.0, 8.0));
  measure->add_option("--match-percent", chosen.match_percent)->check(CLI::Range(0.0, 100.0));
  measure->add_option("--iterations", chosen.iterations)->check(CLI::PositiveNumber);
  measure->add_option("--seed", chosen.seed);
  measure->add_option("--heap-bytes", unused, "for the managers; a peer has no heap");
  CLI11_PARSE(app, count, words);

  try {
    if (list->parsed()) {
      std::cout << listed(here, cases) << std::endl;
    } else {
      for (const peer& each : here.peers) {
        if (each.name == name) run(case_name, each, chosen);
      }
    }
  } catch (const std::exception& problem) {
    std::cerr << here.name << ": " << problem.what() << '\n';
    return 1;
  }
  return 0;
}
