// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "commands.hpp"

#include "exploration.hpp"

#include <nlohmann/json.hpp>

#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

namespace {

const char* const limits_of_the_method =
    "There is a switch at every atomic, collective and backoff, and at no plain access. Memory sc\n"
    "is sequentially consistent; in memory weak a load may read older stores, but none that a "
    "later\n"
    "step makes. Schedules are drawn at random: that nothing is found is evidence, not proof.\n";

/// The subjects in the order of their names; those that global objects added first come first
/// otherwise, which is the linker's order.
std::vector<const subject*> sorted(bool mutants) {
  std::vector<const subject*> chosen;
  for (const subject& s : catalogue()) {
    if ((s.kind == subject_kind::mutant) == mutants) chosen.push_back(&s);
  }
  std::sort(chosen.begin(), chosen.end(),
            [](const subject* a, const subject* b) { return a->name < b->name; });
  return chosen;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Whether another process finds the same again.
bool found_again(const task_request& task, std::uint64_t seed) {
  const std::string number = std::to_string(seed);
  const pid_t child = fork();
  if (child < 0) throw error("cannot start another process for the replay");
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stdout) == nullptr) _exit(3);
    execl("/proc/self/exe", "warpheap-verify", "replay", "--subject", task.subject.c_str(),
          "--case", task.test.c_str(), "--strategy", task.strategy.c_str(), "--memory",
          task.memory.c_str(), "--seed", number.c_str(), static_cast<char*>(nullptr));
    _exit(3);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

/// A case under a strategy and in a memory.
struct combination {
  const named_case* test;
  std::pair<const char*, simt::strategy> how;
  std::pair<const char*, simt::memory_model> memory;
};

std::vector<combination> combinations(const subject& of, const std::string& only_memory) {
  if (!only_memory.empty()) find_memory(only_memory);
  std::vector<combination> all;
  for (const named_case& test : of.cases) {
    for (const auto& memory : memories) {
      if (!only_memory.empty() && only_memory != memory.first) continue;
      for (const auto& how : strategies) all.push_back({&test, how, memory});
    }
  }
  return all;
}

/// The combinations of a case follow each other and share a scenario: to make one takes as long as
/// many schedules.
class shared_scenario {
 public:
  scenario& of(const named_case& test) {
    if (made_ != &test) {
      explored_.reset();
      explored_ = test.make();
      made_ = &test;
    }
    return *explored_;
  }
  /// The next one is new: what was wrong may have left traces.
  void drop() { made_ = nullptr; }

 private:
  std::unique_ptr<scenario> explored_;
  const named_case* made_ = nullptr;  ///< what that is of
};

/// What was found of each combination of a subject. They take turns, so that when the subject's
/// time is over none has had fewer schedules than a turn has.
std::vector<std::pair<combination, exploration>> check_in_rounds(const subject& of,
                                                                 const std::string& only_memory,
                                                                 const budget& limits,
                                                                 double subject_seconds) {
  constexpr std::uint64_t schedules_of_a_turn = 100;
  std::vector<std::pair<combination, exploration>> all;
  for (const combination& one : combinations(of, only_memory)) all.emplace_back(one, exploration{});
  double spent = 0;
  for (std::uint64_t done = 0; done < limits.schedules; done += schedules_of_a_turn) {
    if (done != 0 && spent > subject_seconds) break;
    shared_scenario explored;
    for (auto& [part, sum] : all) {
      if (sum.found || sum.seconds > limits.seconds) continue;
      const budget turn{std::min(schedules_of_a_turn, limits.schedules - done),
                        limits.seconds - sum.seconds, limits.first_seed + done};
      exploration result =
          explore(explored.of(*part.test), part.how.second, part.memory.second, turn);
      sum.schedules += result.schedules;
      sum.seconds += result.seconds;
      sum.found = std::move(result.found);
      spent += result.seconds;
      if (sum.found) explored.drop();
    }
  }
  return all;
}

/// Explores a mutant until it is found.
class hunt {
 public:
  hunt(const subject& mutant, const std::string& only_memory, const budget& limits)
      : mutant_(mutant), limits_(limits), all_(combinations(mutant, only_memory)) {}

  /// False if the mutant survives, or if the replay finds nothing.
  bool run() {
    const std::optional<bool> where_it_is_met = look_where_it_is_met();
    if (where_it_is_met) return *where_it_is_met;
    const std::optional<bool> anywhere = look_everywhere();
    if (anywhere) return *anywhere;
    std::printf("SURVIVED  %-42s %6.2f s  %s\n", mutant_.name.c_str(), spent_,
                mutant_.about.c_str());
    return false;
  }

 private:
  /// In half of the time.
  std::optional<bool> look_where_it_is_met() {
    if (mutant_.met.empty()) return std::nullopt;
    const std::size_t end = mutant_.met.rfind('/');
    const std::string where = mutant_.met.substr(0, end);
    bool known = false;
    for (const combination& one : combinations(mutant_, "")) known |= name(one) == where;
    // ThreadSanitizer's build has one memory.
    if (!known && !WARPHEAP_THREAD_SANITIZER) {
      throw bad_request(mutant_.name + " cannot be met in " + where + ", which is unknown");
    }
    budget half = limits_;
    half.seconds /= 2;
    half.first_seed = std::stoull(mutant_.met.substr(end + 1));
    for (const combination& one : all_) {
      if (name(one) == where) return look(one, half);
    }
    return std::nullopt;
  }

  /// Each combination gets a few schedules first, then twice as many, and so on: some case may be
  /// blind to this mutant, and must not use up the time of those that are not. Most mutants are met
  /// within ten schedules of some combination.
  std::optional<bool> look_everywhere() {
    std::uint64_t done = 0;
    budget round = limits_;
    for (round.schedules = 10; done < limits_.schedules && spent_ < limits_.seconds;
         done += round.schedules, round.schedules *= 2) {
      round.first_seed = limits_.first_seed + done;
      for (const combination& one : all_) {
        round.seconds = limits_.seconds - spent_;
        const std::optional<bool> ended = look(one, round);
        if (ended) return ended;
      }
    }
    return std::nullopt;
  }

  /// Whether it is found again, if it is found.
  std::optional<bool> look(const combination& where, const budget& round) {
    exploration result;
    try {
      result = explore(explored_.of(*where.test), where.how.second, where.memory.second, round);
    } catch (const error& broken) {
      // An empty heap of it does not even serve what the cases need: the same every time.
      std::printf("found     %-42s %6.2f s  %s: %s\n", mutant_.name.c_str(), spent_,
                  where.test->name.c_str(), broken.what());
      return true;
    }
    spent_ += result.seconds;
    if (!result.found) return std::nullopt;
    const task_request task{mutant_.name, where.test->name, where.how.first, where.memory.first};
    const bool again = found_again(task, result.found->seed);
    const std::string place = name(where) + "/" + std::to_string(result.found->seed);
    std::printf("%s %-42s %6.2f s  %s%s: %s\n", again ? "found    " : "NOT AGAIN",
                mutant_.name.c_str(), spent_, place.c_str(),
                mutant_.met.empty() || mutant_.met == place ? "" : " (not where it was met)",
                first_line(result.found->what).c_str());
    return again;
  }

  static std::string name(const combination& of) {
    return of.test->name + "/" + of.how.first + "/" + of.memory.first;
  }

  const subject& mutant_;
  budget limits_;
  std::vector<combination> all_;
  shared_scenario explored_;
  double spent_ = 0;
};

/// The same in a process of its own: what a mutant does to the explorer's memory ends with it, and
/// a crash is a finding.
bool hunt_apart(const subject& mutant, const std::string& only_memory, const budget& limits) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw error("no process could be started for a mutant");
  if (child == 0) {
    const bool found = hunt(mutant, only_memory, limits).run();
    std::fflush(stdout);
    _exit(found ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) return WEXITSTATUS(status) == 0;
  const int by = WTERMSIG(status);
  const bool crashed = by == SIGSEGV || by == SIGBUS || by == SIGABRT || by == SIGFPE;
  std::printf("%s %-42s           ended by signal %d\n", crashed ? "found    " : "LOST     ",
              mutant.name.c_str(), by);
  return crashed;
}

}  // namespace

int print_list() {
  nlohmann::ordered_json answer;
  answer["schema"] = 1;
  answer["managers"] = nlohmann::json::array();
  answer["mutants"] = nlohmann::json::array();
  answer["structures"] = nlohmann::json::array();
  for (const auto& [name, how] : strategies) answer["strategies"].push_back(name);
  for (const auto& [name, memory] : memories) answer["memories"].push_back(name);
  answer["cases"] = nlohmann::json::object();
  for (const bool mutants : {false, true}) {
    for (const subject* s : sorted(mutants)) {
      if (mutants) {
        answer["mutants"].push_back(
            {{"name", s->name}, {"manager", s->original}, {"about", s->about}});
      } else {
        answer[s->kind == subject_kind::manager ? "managers" : "structures"].push_back(s->name);
      }
      for (const named_case& c : s->cases) answer["cases"][s->name].push_back(c.name);
    }
  }
  std::printf("%s\n", answer.dump().c_str());
  return 0;
}

int run_one(const task_request& task, const budget& limits) {
  const exploration result =
      explore(*find_case(find_subject(task.subject), task.test).make(),
              find_strategy(task.strategy), find_memory(task.memory), limits);
  nlohmann::ordered_json row{
      {"schema", 1},
      {"case", "verify"},
      {"subject", task.subject},
      {"test", task.test},
      {"strategy", task.strategy},
      {"memory", task.memory},
      {"first_seed", limits.first_seed},
      {"schedules", result.schedules},
      {"schedules_per_second", result.per_second()},
      {"status", result.found ? "failed" : "ok"},
      {"finding", nullptr},
  };
  if (result.found) row["finding"] = {{"seed", result.found->seed}, {"what", result.found->what}};
  std::printf("%s\n", row.dump().c_str());
  return result.found ? 1 : 0;
}

int replay_one(const task_request& task, std::uint64_t seed) {
  const auto explored = find_case(find_subject(task.subject), task.test).make();
  std::string trace;
  const std::string wrong =
      explored->run({find_strategy(task.strategy), seed, find_memory(task.memory)}, &trace);
  std::printf("subject %s, case %s, strategy %s, memory %s, seed %llu\n\n%s\n",
              task.subject.c_str(), task.test.c_str(), task.strategy.c_str(), task.memory.c_str(),
              static_cast<unsigned long long>(seed), limits_of_the_method);
  std::printf("The step at which each lane goes on:\n%s\n", trace.c_str());
  std::printf("%s%s\n", wrong.empty() ? "nothing is wrong" : "found: ", wrong.c_str());
  return wrong.empty() ? 0 : 1;
}

int check_all(const selection& only, const budget& limits, double subject_seconds) {
  if (!only.subject.empty()) find_subject(only.subject);
  std::uint64_t findings = 0;
  std::uint64_t schedules = 0;
  for (const subject* s : sorted(false)) {
    if (!only.subject.empty() && s->name != only.subject) continue;
    for (const auto& [part, result] : check_in_rounds(*s, only.memory, limits, subject_seconds)) {
      schedules += result.schedules;
      std::printf("%-16s %-16s %-8s %-4s %8llu schedules %8.0f/s  %s\n", s->name.c_str(),
                  part.test->name.c_str(), part.how.first, part.memory.first,
                  static_cast<unsigned long long>(result.schedules), result.per_second(),
                  result.found ? "FOUND" : "ok");
      if (!result.found) continue;
      ++findings;
      std::printf("  seed %llu: %s\n", static_cast<unsigned long long>(result.found->seed),
                  result.found->what.c_str());
    }
    std::fflush(stdout);
  }
  std::printf("%llu schedules, %llu findings\n%s", static_cast<unsigned long long>(schedules),
              static_cast<unsigned long long>(findings), limits_of_the_method);
  return findings == 0 ? 0 : 1;
}

int hunt_mutants(const selection& only, const budget& limits) {
  if (!only.subject.empty()) find_subject(only.subject);
  int hunted = 0;
  int survivors = 0;
  for (const subject* s : sorted(true)) {
    if (!only.subject.empty() && s->name != only.subject) continue;
    ++hunted;
    if (!hunt_apart(*s, only.memory, limits)) ++survivors;
    std::fflush(stdout);
  }
  std::printf("%d mutants, %d not found\n", hunted, survivors);
  return survivors == 0 && hunted != 0 ? 0 : 1;
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
