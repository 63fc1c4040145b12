// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What `warpheap-verify` explores: subjects, each with cases.
///
/// A case is a *world*, a class with
/// - `static constexpr simt::grid shape`, at most 64 lanes;
/// - `void reset(std::uint64_t seed)`: the state that every schedule starts from. Whatever is
///   random in the case, the schedule apart, must come from `seed` alone;
/// - `void lane()`: what each lane does;
/// - `std::string verdict()`: after all lanes have ended, what is wrong; empty if nothing is;
/// - `any_heap& explored()` if it runs in a manager's heap: what a lane alone asks for then, after
///   the verdict, must be served, and its words can be damaged;
/// - `damaged_heap damaged()` instead, if it runs in a heap of another kind;
/// - `static constexpr bool races = true` if the lanes' own use of memory is wrong, so that races
///   which ThreadSanitizer reports are none of the subject's.
///
/// A subject is added by a global object, see tests/sync/explore_exhaustion.cpp for a
/// structure and tests/managers/random_walk/explore_pages.cpp for managers.

#include "races.hpp"
#include "untracked.hpp"

#include "warpheap/heap/inspection.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

class any_heap;

/// A heap whose words can be damaged, to see what its inspection says.
struct damaged_heap {
  std::span<std::uint32_t> words;
  std::function<void(inspection&)> inspect;
  /// Puts blocks into use, always the same.
  std::function<void()> populate;
};
damaged_heap damaged_heap_of(any_heap& heap);

/// What a lane alone is refused wrongly when all lanes of a case have ended; empty if nothing is.
std::string refused_at_rest(any_heap& heap);

/// A case, ready to be run in any number of orders.
class scenario {
 public:
  virtual ~scenario() = default;
  /// Runs the lanes once. What is wrong then; empty if nothing is.
  /// \param trace if given, every switch from lane to lane is appended
  virtual std::string run(const simt::schedule& order, std::string* trace) = 0;
  /// What the case runs in, if that is a heap that can be damaged.
  virtual std::optional<damaged_heap> damaged() = 0;
};

template <class World>
class scenario_over final : public scenario {
 public:
  template <class... Arguments>
  explicit scenario_over(const Arguments&... arguments) : world_(arguments...) {}

  std::string run(const simt::schedule& order, std::string* trace) override {
    world_.reset(order.seed);
    const auto outcome = explorer_.run(
        order, [this] { world_.lane(); }, trace);
    if (!outcome.stuck.empty()) return outcome.stuck;
    const std::string race = race_since_last_call();
    if constexpr (!requires { World::races; }) {
      if (!race.empty()) return race;
    }
    std::string wrong = world_.verdict();
    if constexpr (requires { world_.explored(); }) {
      if (wrong.empty()) wrong = refused_at_rest(world_.explored());
    }
    return wrong;
  }

  std::optional<damaged_heap> damaged() override {
    if constexpr (requires { world_.explored(); }) {
      return damaged_heap_of(world_.explored());
    } else if constexpr (requires { world_.damaged(); }) {
      return world_.damaged();
    } else {
      return std::nullopt;
    }
  }

 private:
  /// Where groups form late and lanes spin meanwhile, a case that ends can take 20,000 steps.
  static constexpr std::uint64_t step_limit = 200'000;

  World world_;
  simt::explorer explorer_{World::shape, step_limit};
};

enum class subject_kind { manager, structure, mutant };

struct named_case {
  std::string name;
  std::function<std::unique_ptr<scenario>()> make;
};

struct subject {
  std::string name;
  subject_kind kind;
  std::vector<named_case> cases;
  /// Only for a mutant: the subject that it is a mutant of, and what is broken.
  std::string original;
  std::string about;
  /// Only for a mutant that is rarely met: where it was, as CASE/STRATEGY/MEMORY/SEED.
  std::string met = {};
};

/// A case whose world is made from `arguments`.
template <class World, class... Arguments>
named_case case_of(std::string name, Arguments... arguments) {
  return {std::move(name), [=]() -> std::unique_ptr<scenario> {
            return std::make_unique<scenario_over<World>>(arguments...);
          }};
}

/// All subjects of the program.
inline std::vector<subject>& catalogue() {
  static std::vector<subject> all;
  return all;
}

/// A global object of this class adds a subject.
struct registrar {
  explicit registrar(subject added) { catalogue().push_back(std::move(added)); }
};

}  // namespace verify
WARPHEAP_END_NAMESPACE
