#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiles the drop-in's programs with plain nvcc and runs them on the GPU of this machine.
#
# usage: tests/drop_in/run.sh [--compile-only | --run-only] OUT
#
# Prints a line a program, PASS, FAIL or SKIP, and exits 1 if any has failed. OUT gets the binaries,
# the programs' output, and the lines in results.txt as they come; --run-only takes the binaries
# that are there. NVCC and ARCH (sm_90) choose the compiler and the GPU, LIMIT (60) the seconds that
# a program may take.
set -uo pipefail

compile=true
run=true
case ${1:-} in
  --compile-only) run=false && shift ;;
  --run-only) compile=false && shift ;;
esac
out=${1:?usage: run.sh [--compile-only | --run-only] OUT}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
programs=$root/tests/drop_in/programs
malloc=$root/src/malloc/cuda
nvcc=${NVCC:-nvcc}
arch=${ARCH:-sm_90}
limit=${LIMIT:-60}
failed=0
mkdir -p "$out"
out=$(cd "$out" && pwd)
: >"$out/results.txt"

say() { echo "$*" | tee -a "$out/results.txt"; }
# judge NAME COMMAND...: runs it; its last line of output, and whether it exited 0.
judge() {
  local name=$1 status
  shift
  "$@" >"$out/$name.log" 2>"$out/$name.err"
  status=$?
  if [[ $status == 0 ]]; then
    say "PASS $name: $(tail -n 1 "$out/$name.log")"
  else
    say "FAIL $name (exit $status): $(tail -q -n 3 "$out/$name.log" "$out/$name.err" | tr '\n' ' ')"
    failed=1
  fi
}
compile() {
  local name=$1
  shift
  $compile || return 0
  judge "compile-$name" "$nvcc" -arch="$arch" -O3 -I "$root/include" "$@"
  # nvlink only warns. Such a kernel gets cudaLimitStackSize bytes, also if its frame is larger.
  if grep -q 'cannot be statically determined' "$out/compile-$name.err"; then
    say "FAIL stack-$name: $(grep -c 'cannot be statically determined' "$out/compile-$name.err")" \
      "kernels have a stack of unknown size"
    failed=1
  fi
}
# program NAME SOURCE [NVCC'S ARGUMENT...]: relocatable device code, the two objects, the linker's
# options.
program() {
  local name=$1 source=$2
  shift 2
  compile "$name" -std=c++17 -rdc=true --options-file "$malloc/link_options.txt" \
    "$source" "$out/device_malloc.o" "$out/launch_hooks.o" -o "$out/$name" "$@"
}
# run NAME BINARY COMMAND...: unless there is no such binary.
run() {
  local name=$1 binary=$2
  shift 2
  $run || return 0
  if [[ ! -e $out/$binary ]]; then
    say "SKIP $name: $binary is not there"
  else
    judge "$name" timeout -k 2 "$limit" "$@"
  fi
}

options=(-std=c++20 -rdc=true -Xcompiler -fPIC --options-file "$malloc/compile_options.txt")
compile device_malloc "${options[@]}" -c "$malloc/device_malloc.cu" -o "$out/device_malloc.o"
compile launch_hooks "${options[@]}" -c "$malloc/launch_hooks.cu" -o "$out/launch_hooks.o"
compile fatbin "${options[@]}" -fatbin "$malloc/device_malloc.cu" -o "$out/device_malloc.fatbin"

# An executable and a library with one CUDA runtime, and with one each: linked, and opened later.
for runtime in shared static; do
  library=libmodules_$runtime.so
  compile "$library" -std=c++17 -rdc=true -shared -Xcompiler -fPIC -cudart $runtime \
    --options-file "$malloc/link_options.txt" "$programs/modules_library.cu" \
    -Xlinker -soname=$library "$out/device_malloc.o" "$out/launch_hooks.o" -o "$out/$library"
  program "modules_$runtime" "$programs/modules.cu" -cudart $runtime -DLIBRARY_IS_LINKED \
    "$out/$library"
  program "modules_opened_$runtime" "$programs/modules.cu" -cudart $runtime -ldl
  if $compile; then
    judge "linkage_$runtime" "$root/tests/drop_in/linkage.sh" "$out/modules_$runtime" "$out/$library"
    judge "linkage_opened_$runtime" "$root/tests/drop_in/linkage.sh" \
      "$out/modules_opened_$runtime" "$out/$library" "$out/$library"
  fi
done
program jit "$programs/jit.cu" -lnvrtc -lnvJitLink -lcuda

# The same program over CUDA's heap, with the hooks, and with one object and no option at all.
compile unchanged_cuda -std=c++14 "$programs/unchanged.cu" -o "$out/unchanged_cuda"
program unchanged "$programs/unchanged.cu"
compile unchanged_object -std=c++14 -rdc=true "$programs/unchanged.cu" "$out/device_malloc.o" \
  -o "$out/unchanged_object"
program bounded "$root/tests/install/consumer/allocates.cu"
compile table_cuda -std=c++14 "$root/examples/chained_table.cu" -o "$out/table_cuda"
program table "$root/examples/chained_table.cu"
for name in says_size captured no_heap whole_warps large_frames attached; do
  program $name "$programs/$name.cu"
done

export WARPHEAP_MALLOC_REPORT=1
export LD_LIBRARY_PATH=$out${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
small=(env WARPHEAP_MALLOC_BYTES=256M)
large=(env WARPHEAP_MALLOC_BYTES=1G)
memory_mib=$(nvidia-smi --query-gpu=memory.free --format=csv,noheader,nounits 2>/dev/null | head -n 1)
[[ $memory_mib =~ ^[0-9]+$ ]] || memory_mib=0
for runtime in shared static; do
  run "modules_$runtime" "modules_$runtime" "${small[@]}" "$out/modules_$runtime"
  run "modules_opened_$runtime" "modules_opened_$runtime" "${small[@]}" \
    "$out/modules_opened_$runtime" "$out/libmodules_$runtime.so"
done
# Of the heap's default size, of one that is smaller, and beyond 16 GiB, where chunks are larger.
for program in jit whole_warps; do
  arguments=()
  [[ $program == jit ]] && arguments=("$out/device_malloc.fatbin" "$arch")
  run "$program" "$program" "$out/$program" "${arguments[@]}"
  run "${program}_1g" "$program" "${large[@]}" "$out/$program" "${arguments[@]}"
  if $run && ((memory_mib < 24000)); then
    say "SKIP ${program}_18g: $memory_mib MiB of the GPU are free"
  else
    run "${program}_18g" "$program" env WARPHEAP_MALLOC_BYTES=18G "$out/$program" "${arguments[@]}"
  fi
done
run unchanged unchanged "${large[@]}" "$out/unchanged" 1000000 5
run unchanged_gallatin unchanged "${large[@]}" WARPHEAP_MALLOC_MANAGER=gallatin \
  "$out/unchanged" 1000000 5
run unchanged_object unchanged_object "${large[@]}" "$out/unchanged_object" 1000000 5
run bounded bounded "${large[@]}" "$out/bounded"
run table table "$out/table"
run says_size says_size "$out/says_size"
run captured captured "$out/captured"
run large_frames large_frames "${large[@]}" "$out/large_frames"
run attached attached "${large[@]}" "$out/attached"
run no_heap no_heap env WARPHEAP_MALLOC_BYTES=1 "$out/no_heap"
run no_heap_manager no_heap env WARPHEAP_MALLOC_MANAGER=unknown "$out/no_heap"
run table_cuda table_cuda "$out/table_cuda"
run unchanged_cuda unchanged_cuda "$out/unchanged_cuda" 1000000 1
if $run && ! command -v compute-sanitizer >/dev/null; then
  say "SKIP memcheck: there is no compute-sanitizer"
else
  run memcheck unchanged "${large[@]}" compute-sanitizer --error-exitcode 99 \
    "$out/unchanged" 10000 1
fi
# Kernels of Python, where the framework is; the first one compiles, for about a minute.
export PYTHONPATH=$root/python${PYTHONPATH:+:$PYTHONPATH} WARPHEAP_CACHE=$out/cache
for framework in cupy_kernel:cupy numba_kernel:numba.cuda numba_arrays:numba.cuda; do
  $run || continue
  name=${framework%:*}
  if timeout -k 2 "$limit" python3 -c "import ${framework#*:}" 2>"$out/$name.log"; then
    judge "$name" timeout -k 2 $((3 * limit)) python3 "$root/examples/$name.py"
  else
    say "SKIP $name: $(tail -n 1 "$out/$name.log")"
  fi
done
exit $failed
