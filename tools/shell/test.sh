# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sourced by ./dev: the commands test and gpu-test. Every stage leaves a JUnit file in
# build/reports and a line in its table; what fails does not keep the later stages from running.
: "${root:?}" "${venv:?}"

reports=$root/build/reports

# stage NAME TITLE COMMAND...: runs one stage and remembers how it ended and how long it took.
stage() {
  local name=$1 label=$2 code=0 start=$SECONDS
  shift 2
  title "$label"
  "$@" || code=$?
  printf '%s\t%d\t%d\n' "$name" "$code" $((SECONDS - start)) >>"$reports/stages.tsv"
}

begin_stages() {
  rm -rf "$reports"
  mkdir -p "$reports"
  : >"$reports/stages.tsv"
}

# Prints the table of stages and, last, `N passed, N failed`; fails unless all passed.
end_stages() { "$(_base_python)" "$root/tools/sum_tests.py" "$reports"; }

# run_ctest NAME PRESET [ARGUMENT...]: the tests of a test preset.
run_ctest() {
  local name=$1 preset=$2
  shift 2
  # g++ 12's ThreadSanitizer knows only the address ranges of little address space randomisation.
  local prefix=()
  if [[ $preset == *-tsan ]] && setarch "$(uname -m)" -R true 2>/dev/null; then
    prefix=(setarch "$(uname -m)" -R)
  fi
  (cd "$root" && "${prefix[@]}" ctest --preset "$preset" --parallel "$(jobs)" \
    --output-junit "$reports/$name.xml" "$@" 2>&1 </dev/null | fit)
}

# build_and_ctest PRESET [TARGET...]: the tests of a preset; of what is built, the targets or all.
build_and_ctest() { build_step "$@" && run_ctest "$1" "$1"; }

# cpu_half ON|OFF: with or without mutants, which judge the explorer and not the managers, headers
# alone, of which other tests include nearly all, and the comparison of the host pools. They take long.
cpu_half() {
  # shellcheck disable=SC2034 # `configure` reads it.
  local settings=(-D "WARPHEAP_MUTANTS=$1" -D "WARPHEAP_TEST_HEADERS=$1") more=()
  # Half a minute of one core to compile, beside all else; the tool's tests run it where it is.
  if [[ $1 == ON ]]; then more=(all warpheap-bench-host-pools); fi
  build_and_ctest cpu-release "${more[@]}"
}

# run_pytest NAME [ARGUMENT...]: the tests of the tool. Many wait for a child, and leave their core
# to another process: three for two cores.
run_pytest() {
  local name=$1 processes
  shift
  processes=$((($(jobs) * 3 + 1) / 2))
  (cd "$root" && "$venv/bin/python" -m pytest --quiet --numprocesses "$processes" --dist loadgroup \
    --junit-xml "$reports/$name.xml" "$@" \
    2>&1 </dev/null | fit)
}

# Says what a manager costs, where all of them were built and tested.
report_cost() {
  [[ -e $reports/cpu-release.xml ]] || return 0
  "$(_base_python)" "$root/tools/cost.py" "$root/build/cpu-release" "$reports/cpu-release.xml" |
    fit || note "what a manager costs is unknown"
}

# Without a GPU the programs of the survey and the examples are enough: every manager in every case.
# No code of theirs will run, so that optimising it would be lost time. What can be tested of linked
# programs without a GPU is.
compile_cuda() {
  if have_gpu; then
    build_step cuda-release
  else
    build_step cuda-compile warpheap-bench-cuda examples/all drop_in-linked managers-registers-said \
      warpheap-host-driver-tests simt-errors-test &&
      run_ctest cuda-compile cuda-compile
  fi
}

command_test() {
  local all=no rest=OFF
  if [[ ${1:-} == --all ]]; then
    all=yes rest=ON
    shift
  fi
  (($# == 0)) || fail_with 2 "test takes --all or nothing; single tests run with" \
    "ctest --preset cpu-release -R NAME   or   .venv/bin/python -m pytest tests/python -k NAME"
  need_system_packages build tool test
  need_python_packages test
  begin_stages
  stage cpu-release "The CPU half" cpu_half "$rest"
  stage python "The tool" run_pytest python
  if [[ $all == yes ]]; then
    stage cpu-asan "The CPU half under AddressSanitizer and UBSan" build_and_ctest cpu-asan
    stage cpu-tsan "The CPU half under ThreadSanitizer" build_and_ctest cpu-tsan
  else
    note "left out: mutants, headers alone, the sanitizers and fuzzers; './dev test --all' has them, as CI"
  fi
  if find_nvcc; then
    stage cuda-compile "The CUDA half is compiled" compile_cuda
    if have_gpu; then
      stage cuda "The CUDA half runs" run_ctest cuda cuda-release
    else
      note "no GPU was found: nothing of the CUDA half was run"
    fi
  else
    note "nvcc was not found: the CUDA half was not compiled"
  fi
  report_cost
  end_stages
}

command_gpu_test() {
  (($# == 0)) || fail_with 2 "gpu-test takes no arguments"
  need_system_packages build
  find_nvcc || fail "gpu-test needs nvcc: install NVIDIA's CUDA toolkit or set CUDACXX"
  have_gpu || fail "gpu-test needs a GPU: nvidia-smi lists none"
  PATH=$PATH:$(dirname "$(command -v "${CUDACXX:-nvcc}")")
  command -v compute-sanitizer >/dev/null ||
    fail "gpu-test needs compute-sanitizer, which comes with NVIDIA's CUDA toolkit"
  begin_stages
  stage cuda-compile "The CUDA half is compiled" compile_cuda
  stage cuda "The CUDA half runs" run_ctest cuda cuda-release
  stage sanitizers "compute-sanitizer's tools" run_ctest sanitizers cuda-sanitizers
  local code=0
  {
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    "${CUDACXX:-nvcc}" --version | tail -n 2
    git -C "$root" describe --always --dirty
    end_stages
  } >"$reports/gpu-test.txt" || code=$?
  cat "$reports/gpu-test.txt"
  return "$code"
}
