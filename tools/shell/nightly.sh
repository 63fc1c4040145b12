# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sourced by ./dev: the command nightly, the home of what asks more than `./dev test` has time for.
# A stage is a function and a line in command_nightly. What `./dev test` can ask within its budget
# (docs/testing.md) stays there.
: "${root:?}"

# Every combination of subject, case and strategy as deep as results/checks/explorer.txt has it.
explore_deeply() {
  "$root/build/cpu-release/bench/warpheap-verify" check --schedules 100000 --seconds 600 >&2
}

# The tests that pytest leaves out of `./dev test`.
run_nightly_pytest() { run_pytest nightly -m nightly; }

command_nightly() {
  (($# == 0)) || fail_with 2 "nightly takes no arguments"
  need_system_packages build tool test
  need_python_packages test
  begin_stages
  stage build "The CPU half is built" build_step cpu-release
  stage explore "The explorer, 100,000 schedules of each combination" explore_deeply
  stage nightly "The tool's tests that take minutes" run_nightly_pytest
  end_stages
}
