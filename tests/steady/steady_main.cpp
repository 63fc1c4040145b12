// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arguments.hpp"

#include <string>

int main(int argc, char** argv) {
  warpheap::steady_load::request asked;
  std::string limited;
  CLI::App app("Steady load with more demand than memory. MANAGER is a name or all.");
  CLI::App* const limits =
      app.add_subcommand("limits", "print a line NAME FOLDER LIMIT_MS for each");
  const auto arguments = warpheap::steady_load::add_arguments(app, asked);
  app.add_option("limited", limited, "a launch above its manager's limit fails")
      ->check(CLI::IsMember({"limited"}));
  CLI11_PARSE(app, argc, argv);

  if (limits->parsed()) {
    warpheap::steady_load::list_limits();
    return 0;
  }
  // `required()` would take the name of the subcommand for that of a manager.
  for (const CLI::Option* argument : arguments) {
    if (argument->count() == 0) return app.exit(CLI::RequiredError(argument->get_name()));
  }
  asked.limited = !limited.empty();
  return warpheap::steady_load::run_steady(asked);
}
