# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sourced by ./dev: the command coverage, and nightly, the home of what asks more than `./dev test`
# has time for.
# A stage is a function and a line in command_nightly. What `./dev test` can ask within its budget
# (docs/testing.md) stays there.
: "${root:?}" "${reports:?}"

# explored_subjects default|other: of the default manager, or of all else; a line each. The default manager's
# are that of all users, and those that look longer.
explored_subjects() {
  "$root/build/cpu-release/bench/warpheap-verify" list | "$(_base_python)" -c '
import json, sys
known = json.load(sys.stdin)
for name in known["managers"] + known["structures"]:
    if (name == "warpheap" or name.startswith("warpheap_")) == (sys.argv[1] == "default"):
        print(name)' "$1"
}

# The seed of all that is drawn at random: another one each night.
date_as_seed() { date +%Y%m%d; }

# explore default|other SCHEDULES: as many of each combination of subject, case, strategy and memory. An hour of
# a processor is far more than any of them takes. Seeds ascend from the first one; the next night's are a million on.
explore() {
  local subjects subject only=() seed
  seed=$(date_as_seed)000000
  subjects=$(explored_subjects "$1") || return
  [[ -n $subjects ]] || { note "the explorer has no such subjects: $1" && return 1; }
  for subject in $subjects; do only+=(--subject "$subject"); done
  note "the first seed is $seed"
  (run_tool verify --build-dir "$root/build/cpu-release" "${only[@]}" --schedules "$2" --seed "$seed" \
    --seconds 3600 --jobs "$(jobs)" >&2)
}

# 66,000 laps of each exhausted heap, where `./dev test` waits 300 ms: counters go beyond 2^16.
lap_all() {
  "$root/build/cpu-release/tests/conformance/warpheap-conformance" --all-laps \
    --gtest_filter='*.a_heap_that_runs_out_again_and_again_stays_exact/*' \
    --gtest_brief=1 --gtest_output="xml:$reports/laps.xml" >&2 &&
    all_lapped "$reports/laps.xml"
}

# Whether each case that ran has laps, and all 66,000 of each of its heaps; and whether any ran.
all_lapped() {
  awk '
    function end_case() { if (laps > 0 && laps == full) lapped++; laps = full = 0 }
    /<testcase / { end_case(); if (/ result="completed"/) ran++ }
    /name="laps_of_[0-9]+_bytes"/ { laps++; if (/ value="66000"/) full++ }
    END {
      end_case()
      printf "%d of %d cases that ran have 66,000 laps of each heap\n", lapped, ran
      exit !(ran > 0 && lapped == ran)
    }' "$1" >&2
}

# A hundred mutants, others each night: the date is the seed. What the hour does not suffice for is
# open in mutation.jsonl, with which `./dev mutation --resume` goes on. A survivor fails the stage: a
# test must kill it, or equivalent.toml say why none can.
run_fresh_mutants() { run_campaign mutation --sample 100 --minutes 60 --without-equivalent; }

# Of the mutants that count as equivalent, some others each night. An entry of equivalent.toml whose
# mutant is killed is wrong, and fails the stage.
doubt_equivalents() { run_campaign equivalents --sample 20 --minutes 20 --only-equivalent; }

# run_campaign NAME OPTION...: with the date as the seed; the report and the verdicts are called NAME.
run_campaign() {
  local name=$1 code=0 options
  shift
  options=("$@" --seed "$(date_as_seed)")
  {
    echo "campaign.py ${options[*]}, $(git -C "$root" describe --always)"
    command_mutation "${options[@]}" --jobs "$(jobs)" --json "$reports/$name.jsonl" || code=$?
  } >"$reports/$name.txt"
  cat "$reports/$name.txt" >&2
  return "$code"
}

# Where there is no GPU, `./dev test` compiles the CUDA half without optimising it, and asks for the
# registers of one kernel a manager.
optimise_cuda() {
  find_nvcc || { note "nvcc was not found: the CUDA half was not compiled" && return; }
  build_step cuda-release bench/all examples/all managers-registers-said &&
    run_ctest nightly-cuda nightly-cuda
}

# The tests that pytest leaves out of `./dev test`.
run_nightly_pytest() { run_pytest nightly -m nightly; }

# Runs the CPU tests of the device code, counts the lines that they run, and leaves the table in
# build/reports/coverage.txt.
measure_coverage() {
  local build=$root/build/cpu-coverage
  build_step cpu-coverage tests/all || return
  find "$build" -name '*.gcda' -delete
  run_ctest coverage cpu-coverage || return
  {
    echo "CPU tests of the device code, $(git -C "$root" describe --always), $(c++ --version | head -n 1)"
    "$(_base_python)" "$root/tools/coverage.py" "$build"
  } >"$reports/coverage.txt"
}

command_coverage() {
  (($# == 0)) || fail_with 2 "coverage takes no arguments"
  need_system_packages build tool
  begin_stages
  stage coverage "Coverage of the device code by the CPU tests" measure_coverage
  [[ ! -e $reports/coverage.txt ]] || cat "$reports/coverage.txt"
  end_stages
}

command_nightly() {
  (($# == 0)) || fail_with 2 "nightly takes no arguments"
  need_system_packages build tool test
  need_python_packages test
  begin_stages
  stage build "The CPU half is built" build_step cpu-release
  # A case has six combinations: three strategies in two memories.
  stage explore "The explorer, 100,000 schedules of each case" explore other 17000
  stage explore-default "The default manager, 1,000,000 schedules of each case" explore default 167000
  stage laps "Heaps that run out 66,000 times" lap_all
  stage mutation "A hundred fresh mutants, for an hour at most" run_fresh_mutants
  stage equivalents "Twenty mutants that count as equivalent, for 20 minutes at most" doubt_equivalents
  # What the sanitizers' builds of `./dev test --all` leave out: every configuration of every manager,
  # a quarter of an hour of each fuzzer, and, under ThreadSanitizer, all suites of managers.
  stage nightly-asan "All configurations under AddressSanitizer" build_and_ctest nightly-asan
  stage nightly-tsan "All configurations under ThreadSanitizer" build_and_ctest nightly-tsan
  stage cuda-compile "The CUDA half is compiled and optimised" optimise_cuda
  stage nightly "The tool's tests that take minutes" run_nightly_pytest
  stage coverage "Coverage of the device code by the CPU tests" measure_coverage
  end_stages
}
