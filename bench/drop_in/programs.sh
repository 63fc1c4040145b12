#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Times five public CUDA programs that allocate in kernels, as they are and relinked with the
# drop-in malloc (docs/drop-in.md). Their sources stay where they are and as they are.
#
# usage: bench/drop_in/programs.sh --build OUT SAMPLES PATH_TRACER SKIP_LIST HECBENCH
#        bench/drop_in/programs.sh --run OUT
#
#   SAMPLES      checkout of github.com/NVIDIA/cuda-samples: its samples newdelete, and
#                cdpBezierTessellation, whose kernel calls cudaMalloc and launches kernels
#   PATH_TRACER  checkout of github.com/rogerallen/raytracinginoneweekendincuda, at the branch
#                ch12_where_next_cuda: builds its scene by new in a kernel
#   SKIP_LIST    checkout of github.com/hcho3/skiplist_cuda: 500,000 insertions, two mallocs each
#   HECBENCH     checkout of github.com/zjin-lcf/HeCBench: its logic-rewrite-cuda, a tool for logic
#                synthesis whose warps allocate the memory for their truth tables
#
# --build needs nvcc only; OUT then has all that --run needs on a machine with a GPU. ARCH (sm_90)
# names the GPU, LIMIT (60) the seconds that a run may take, REPEAT (3) how often each is run.
# Prints and writes to OUT/results.txt the median milliseconds of each kernel, and the factor.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
malloc=$root/src/malloc/cuda
mode=${1:?usage: programs.sh --build OUT SAMPLES PATH_TRACER SKIP_LIST HECBENCH, or --run OUT}
out=${2:?usage: programs.sh $mode OUT}
mkdir -p "$out"
out=$(cd "$out" && pwd)

# build NAME [NVCC'S ARGUMENT...]: the program over CUDA's heap, and over warpheap's. With the
# runtime as a shared library, so that launches can be timed from outside.
build() {
  local name=$1
  shift
  local nvcc=(nvcc -arch="${ARCH:-sm_90}" -O3 -cudart shared -w)
  "${nvcc[@]}" "$@" -o "$out/$name.cuda" &&
    "${nvcc[@]}" -rdc=true --options-file "$malloc/link_options.txt" "$@" "$out/device_malloc.o" \
      "$out/launch_hooks.o" -o "$out/$name.warpheap" &&
    echo "built $name"
}

build_all() {
  local samples=${1:?SAMPLES is missing} tracer=${2:?PATH_TRACER is missing}
  local list=${3:?SKIP_LIST is missing} object
  local rewrite=${4:?HECBENCH is missing}/src/logic-rewrite-cuda
  for object in device_malloc launch_hooks; do
    nvcc -arch="${ARCH:-sm_90}" -O3 -std=c++20 -rdc=true -I "$root/include" \
      --options-file "$malloc/compile_options.txt" -c "$malloc/$object.cu" -o "$out/$object.o" ||
      return 1
  done
  nvcc -O2 -cudart shared -shared -Xcompiler -fPIC "$root/bench/drop_in/cuda/launch_times.cpp" -ldl \
    -o "$out/launch_times.so" || return 1
  local features=$samples/Samples/3_CUDA_Features
  build newdelete -I "$samples/Common" "$features/newdelete/newdelete.cu" &&
    build bezier -rdc=true -I "$samples/Common" "$features/cdpBezierTessellation/BezierLineCDP.cu" \
      -lcudadevrt &&
    build path_tracer "$tracer/main.cu" &&
    build_skip_list skip_list "$list" &&
    # Its loads go past the L1 cache: what one multiprocessor publishes without a fence is not hidden
    # from another by an older copy of the same sector.
    build_skip_list skip_list_uncached "$list" -Xptxas -dlcm=cg &&
    build logic_rewrite -rdc=true -std=c++17 --use_fast_math "$rewrite"/*.cu &&
    cp "$rewrite/benchmarks/arithmetic/hyp.aig" "$out/"
}
build_skip_list() {
  local name=$1 list=$2
  build "$name" -rdc=true "${@:3}" "$list"/{tester_parallel,skip_parallel,safety}.cu
}

say() { echo "$*" | tee -a "$out/results.txt"; }

# median FILE...: of the lines `launches ms kernel` of several runs: `ms launches kernel`.
median() {
  sort -k3 -k2,2g "$@" | awk '
    function put() { if (n) printf "%s %s %s\n", ms[int((n + 1) / 2)], launches, kernel }
    { launched = $1; time = $2; sub(/^[^ ]+ [^ ]+ /, "")
      if ($0 != kernel) { put(); n = 0; kernel = $0 }
      ms[++n] = time; launches = launched }
    END { put() }'
}

# What a program says but for times and sizes of memory, which differ from run to run.
comparable() { grep -vE 'time|sec\b|memory|[Hh]eap' "$1"; }

# run NAME [ARGUMENT...]: each variant REPEAT times, in turn.
run() {
  local name=$1 variant i status
  shift
  rm -f "$out/$name".*.times.*
  for ((i = 0; i < ${REPEAT:-3}; ++i)); do
    for variant in cuda warpheap; do
      LAUNCH_TIMES=$out/$name.$variant.times.$i LD_PRELOAD=$out/launch_times.so \
        timeout -k 2 "${LIMIT:-60}" "$out/$name.$variant" "$@" >"$out/$name.$variant.out" \
        2>"$out/$name.$variant.err"
      status=$?
      [[ $status == 0 ]] && continue
      say "FAIL $name.$variant: exit $status: $(tail -q -n 2 "$out/$name.$variant.out" \
        "$out/$name.$variant.err" | tr '\n' ' ' | cut -c1-300)"
      return 1
    done
  done
  local other
  other=$(diff <(comparable "$out/$name.cuda.out") <(comparable "$out/$name.warpheap.out") |
    grep -c '^[<>]')
  if ((other == 0)); then
    say "$name: same output, but for lines with times and sizes"
  else
    say "$name: output differs: $other lines, of $(comparable "$out/$name.cuda.out" | wc -l)"
  fi
  for variant in cuda warpheap; do
    median "$out/$name.$variant".times.* >"$out/$name.$variant.ms"
  done
  awk -v name="$name" '
    { ms = $1; launches = $2; sub(/^[^ ]+ [^ ]+ /, "") }
    NR == FNR { cuda[$0] = ms; next }
    $0 in cuda { printf "%-12s %11.3f %11.3f %9.2f  %s launches  %s\n",
                 name, cuda[$0], ms, cuda[$0] / (ms > 0 ? ms : 1e-6), launches, $0; next }
    { printf "%-12s %11s %11.3f %9s  %s launches  %s\n", name, "", ms, "", launches, $0 }
  ' "$out/$name.cuda.ms" "$out/$name.warpheap.ms" | cut -c1-150 | tee -a "$out/results.txt"
}

case $mode in
  --build) build_all "${@:3}" ;;
  --run)
    : >"$out/results.txt"
    export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$out
    say "milliseconds    CUDA's heap    warpheap    factor  kernel"
    failed=0
    for name in skip_list skip_list_uncached path_tracer newdelete bezier; do
      run $name || failed=1
    done
    run logic_rewrite -c "read $out/hyp.aig; resyn2; ps" || failed=1
    exit $failed
    ;;
  *) echo "programs.sh: unknown mode $mode: --build or --run" >&2 && exit 2 ;;
esac
