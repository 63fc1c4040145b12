// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Explores schedules of managers, of the structures that they are made of, and of mutants; see
// docs/tool.md. Prints JSON for the tool (`list`, `run`) and text for people (`replay`, `check`,
// `mutants`). Exit code 1: something was found that should not be; 2: bad arguments.
#include "commands.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <limits>

int main(int count, char** arguments) {
  using namespace warpheap::verify;
  CLI::App app{"Hunts for concurrency errors with seeded schedules on the CPU model"};
  app.require_subcommand(1);
  task_request task;
  budget limits;
  const auto add_task = [&](CLI::App* command) {
    command->add_option("--subject", task.subject, "Manager, structure or mutant")->required();
    command->add_option("--case", task.test, "Case of the subject")->required();
    command->add_option("--strategy", task.strategy, "sticky, uniform or pct")->required();
    command->add_option("--memory", task.memory, "sc (sequentially consistent) or weak")
        ->default_val("sc");
  };
  selection only;
  const auto add_selection = [&](CLI::App* command) {
    command->add_option("--subject", only.subject, "Only this one");
    command->add_option("--memory", only.memory, "Only this memory: sc or weak");
  };
  const auto add_limits = [&](CLI::App* command) {
    command->add_option("--schedules", limits.schedules, "Schedules of each combination");
    command->add_option("--seconds", limits.seconds, "Processor time of each combination, at most");
    command->add_option("--seed", limits.first_seed, "The first seed");
  };
  auto* list = app.add_subcommand("list", "Subjects, cases and strategies, as JSON");
  auto* run = app.add_subcommand("run", "Explores one combination; prints a line of JSON");
  add_task(run);
  add_limits(run);
  auto* replay = app.add_subcommand("replay", "Runs one schedule again and tells what happens");
  add_task(replay);
  replay->add_option("--seed", limits.first_seed, "The seed of the schedule")->required();
  auto* check = app.add_subcommand("check", "Explores all managers and structures");
  add_limits(check);
  add_selection(check);
  double subject_seconds = std::numeric_limits<double>::infinity();
  check->add_option("--subject-seconds", subject_seconds,
                    "Processor time after which a subject gets no further round of schedules");
  auto* mutants = app.add_subcommand("mutants", "Fails unless every mutant is found and replayed");
  add_limits(mutants);
  add_selection(mutants);
  int times = 8;
  auto* damage = app.add_subcommand("damage", "Fails unless damaged heaps can be inspected");
  damage->add_option("--subject", only.subject, "Only this one");
  damage->add_option("--times", times, "Changes of each word");
  CLI11_PARSE(app, count, arguments);
  try {
    if (*list) return print_list();
    if (*run) return run_one(task, limits);
    if (*replay) return replay_one(task, limits.first_seed);
    if (*check) return check_all(only, limits, subject_seconds);
    if (*damage) return damage_managers(only, times);
    return hunt_mutants(only, limits);
  } catch (const bad_request& refused) {
    std::fprintf(stderr, "warpheap-verify: %s\n", refused.what());
    return 2;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "warpheap-verify: %s\n", failure.what());
    return 3;
  }
}
