// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The command line. Nothing else of the program includes CLI11.

#include "bench/host/arguments.hpp"

#include "bench/host/argument_checks.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <bit>
#include <iostream>
#include <limits>
#include <memory>
#include <set>
#include <utility>

namespace warpheap::bench {

namespace {

constexpr int bad_arguments = 2;

std::string flag_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

/// Adds an option that calls `take` with the value that is given.
template <class Take>
void add_option(CLI::App& app, const std::string& name, const parameter_info& info,
                const Take& take) {
  const parameter_limits& limits = info.limits;
  const std::string flag = flag_of(name);
  switch (info.kind) {
    case field_kind::integer:
      app.add_option_function<std::uint64_t>(flag, take)->check(whole(limits.least, limits.most));
      return;
    case field_kind::number:
      app.add_option_function<double>(flag, take)->check(above(limits.least, limits.most));
      return;
    default:
      CLI::Option* text = app.add_option_function<std::string>(flag, take);
      std::vector<std::string> choices;
      for (const char* choice : limits.choices) {
        if (choice != nullptr) choices.emplace_back(choice);
      }
      if (!choices.empty()) text->check(CLI::IsMember(choices));
  }
}

/// Sets what the words give, and returns the names that were given.
std::set<std::string> apply(const case_entry& entry, std::vector<std::string> words,
                            parameters& chosen) {
  std::set<std::string> given;
  CLI::App app;
  app.set_help_flag();
  const auto set = [&](const parameter_info& info) {
    return [&](const auto& value) {
      chosen.set(info, value);
      given.insert(info.name);
    };
  };
  std::map<std::string, std::vector<const parameter_info*>> aliases;
  for (const case_parameter& own : entry.parameters) {
    add_option(app, own.info->name, *own.info, set(*own.info));
    if (*own.info->limits.alias != '\0') aliases[own.info->limits.alias].push_back(own.info);
  }
  for (const auto& [alias, members] : aliases) {
    add_option(app, alias, *members.front(), [&](const auto& value) {
      for (const parameter_info* member : members) set (*member)(value);
    });
  }
  try {
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the end
    app.parse(words);
  } catch (const CLI::ParseError& problem) {
    throw usage_error(std::string(problem.what()) + "; the case '" + entry.name + "' takes " +
                      names_of(entry.parameters,
                               [](const case_parameter& own) { return flag_of(own.info->name); }));
  }
  for (const auto& [alias, members] : aliases) {
    const auto first = std::find_if(members.begin(), members.end(), [&](const auto* member) {
      return given.contains(member->name);
    });
    if (first == members.end()) continue;
    for (const parameter_info* member : members) {
      if (!given.contains(member->name)) chosen.set(*member, *chosen.find((*first)->name));
    }
  }
  return given;
}

void check_sizes(const parameters& chosen) {
  const std::uint64_t least = chosen[given::size_min];
  const std::uint64_t most = chosen[given::size_max];
  if (least > most) {
    throw usage_error("--size-min is " + std::to_string(least) + ", above --size-max, which is " +
                      std::to_string(most));
  }
  if (most - least >= std::numeric_limits<std::uint32_t>::max()) {
    throw usage_error("--size-min " + std::to_string(least) + " and --size-max " +
                      std::to_string(most) + " are 4 GiB or more apart");
  }
  if (chosen[given::distribution] != "powers") return;
  for (const std::uint64_t size : {least, most}) {
    if (!std::has_single_bit(size)) {
      throw usage_error("--distribution powers needs powers of two as --size-min and --size-max, " +
                        std::to_string(size) + " is not one");
    }
  }
}

}  // namespace

parameters parse_parameters(const case_entry& entry, const std::vector<std::string>& words,
                            std::uint64_t default_heap_bytes) {
  std::vector<std::string> standards;
  for (const case_parameter& own : entry.parameters) {
    const std::string standard =
        own.info->limits.by_backend ? std::to_string(default_heap_bytes) : own.standard;
    if (!standard.empty()) standards.push_back(flag_of(own.info->name) + "=" + standard);
  }
  parameters chosen;
  apply(entry, standards, chosen);
  apply(entry, words, chosen);
  for (const case_parameter& own : entry.parameters) {
    if (chosen.find(own.info->name) == nullptr) {
      throw usage_error("the case '" + entry.name + "' needs " + flag_of(own.info->name));
    }
  }
  check_sizes(chosen);
  return chosen;
}

int follow(int count, char** words, const commands& known) {
  CLI::App program("The survey's measurements of device-side memory managers, one per process.");
  program.require_subcommand(1);
  CLI::App* lists = program.add_subcommand("list", "lists what can be measured, as JSON");
  CLI::App* runs = program.add_subcommand(
      "run", "one measurement; prints its row as JSON. Each parameter of the case is an option");
  std::string case_name;
  std::string manager;
  runs->add_option("--case", case_name, "what is measured")->required();
  runs->add_option("--manager", manager, "whose heap")->required();
  runs->allow_extras();
  try {
    program.parse(count, words);
    if (lists->parsed()) known.list();
    if (runs->parsed()) known.run(case_name, manager, runs->remaining());
  } catch (const CLI::ParseError& problem) {
    return program.exit(problem) == 0 ? 0 : bad_arguments;
  } catch (const usage_error& problem) {
    std::cerr << "warpheap-bench: " << problem.what() << '\n';
    return bad_arguments;
  }
  return 0;
}

}  // namespace warpheap::bench
