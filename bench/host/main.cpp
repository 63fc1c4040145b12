// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The program `warpheap-bench-cpu` and `warpheap-bench-cuda`: what it offers, one measurement, or
/// a plan of many. Exit status 0 with a row, whatever it says; 2 for arguments that cannot be
/// followed.

#include "bench/host/batch.hpp"
#include "bench/host/json.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace warpheap::bench {

namespace {

constexpr int bad_arguments = 2;

struct run_request {
  std::string case_name, manager;
  /// By parameter name, as given.
  std::map<std::string, std::string> given;
};

/// The machine, if it is there, and what the rows say about it.
struct opened {
  std::unique_ptr<machine> on;
  machine_or_reason where;
};

opened open_if_there() {
  opened result;
  try {
    result.on = open_machine();
    result.where.machine = result.on->info();
  } catch (const error& reason) {
    result.where.reason = reason.what();
  }
  return result;
}

template <class Things, class Name>
std::string names_of(const Things& things, Name name) {
  std::string all;
  for (const auto& thing : things) all += (all.empty() ? "" : ", ") + name(thing);
  return all;
}

const case_entry& known_case(const std::string& name) {
  const case_entry* entry = find_case(name);
  if (entry == nullptr) {
    throw usage_error("there is no case '" + name + "'; there are: " +
                      names_of(all_cases(), [](const case_entry& c) { return c.name; }));
  }
  return *entry;
}

template <class Infos>
auto find_named(const Infos& infos, const std::string& name) {
  return std::find_if(infos.begin(), infos.end(),
                      [&](const auto& info) { return info.name == name; });
}

measurement skipped(std::string reason) {
  measurement row;
  row.status = "skipped";
  row.reason = std::move(reason);
  return row;
}

void list() {
  const opened here = open_if_there();
  std::cout << list_json(describe_backend(), here.where) << '\n';
}

void run(const run_request& request) {
  const backend_info backend = describe_backend();
  const case_entry& entry = known_case(request.case_name);
  const auto manager = find_named(backend.managers, request.manager);
  const auto missing = find_named(backend.missing, request.manager);
  if (manager == backend.managers.end() && missing == backend.missing.end()) {
    const auto name = [](const auto& info) { return info.name; };
    const std::string others = names_of(backend.missing, name);
    throw usage_error("there is no manager '" + request.manager + "'; there are: " +
                      names_of(backend.managers, name) + (others.empty() ? "" : ", " + others));
  }
  const parameters chosen = parameters_of(entry, request.given, backend.default_heap_bytes);
  const opened here = open_if_there();
  const measurement outcome = manager == backend.managers.end() ? skipped(missing->reason)
                              : here.on == nullptr              ? skipped(here.where.reason)
                                                   : run_case(entry, {*here.on, *manager, chosen});
  std::cout << row_json(backend, here.where, entry, request.manager, chosen, outcome) << '\n';
}

void batch(const std::string& path, const batch_options& options) {
  if (path == "-") {
    run_batch(std::cin, "standard input", options, std::cout);
    return;
  }
  std::ifstream plan(path);
  if (!plan) throw usage_error(path + ": cannot be opened");
  run_batch(plan, path, options, std::cout);
}

std::string flag_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

int main_with_errors(int count, char** words) {
  CLI::App program("The survey's measurements of device-side memory managers, one a process.");
  program.require_subcommand(1);
  CLI::App* lists = program.add_subcommand("list", "what there is to measure, as JSON");
  CLI::App* runs = program.add_subcommand("run", "one measurement; prints its row as JSON");
  run_request request;
  runs->add_option("--case", request.case_name, "what is measured")->required();
  runs->add_option("--manager", request.manager, "whose heap")->required();
  std::map<std::string, std::string> texts;
  for (const parameter_info& known : known_parameters()) {
    const std::string unit = known.unit.empty() ? "" : " (" + known.unit + ")";
    runs->add_option(flag_of(known.name), texts[known.name], known.about + unit);
  }
  CLI::App* batches = program.add_subcommand(
      "batch", "the measurements of a plan, a JSON object a line, each in a process of its own");
  std::string plan;
  batch_options options;
  batches->add_option("plan", plan, "file, or - for the standard input")->required();
  batches->add_option("--time-limit", options.time_limit_s, "seconds a measurement");
  batches->add_option("--commit", options.commit, "goes into every row");
  try {
    program.parse(count, words);
  } catch (const CLI::ParseError& problem) {
    return program.exit(problem) == 0 ? 0 : bad_arguments;
  }
  for (const auto& [name, text] : texts) {
    if (runs->count(flag_of(name)) != 0) request.given[name] = text;
  }
  if (lists->parsed()) list();
  if (runs->parsed()) run(request);
  if (batches->parsed()) batch(plan, options);
  return 0;
}

}  // namespace

}  // namespace warpheap::bench

int main(int count, char** words) {
  try {
    return warpheap::bench::main_with_errors(count, words);
  } catch (const warpheap::bench::usage_error& problem) {
    std::cerr << "warpheap-bench: " << problem.what() << '\n';
    return 2;
  } catch (const std::exception& problem) {
    std::cerr << "warpheap-bench: " << problem.what() << '\n';
    return 1;
  }
}
