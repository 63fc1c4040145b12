#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiles the drop-in's programs with plain nvcc and runs them on the GPU of this machine.
#
# usage: tests/dropin/run.sh [--compile-only | --run-only] OUT
#
# Prints a line a program, PASS or FAIL, and exits 1 if any has failed. OUT gets the binaries and the
# programs' output; --run-only takes the binaries that are there. NVCC and ARCH (sm_90) choose the
# compiler and the GPU.
set -uo pipefail

compile=true
run=true
case ${1:-} in
  --compile-only) run=false && shift ;;
  --run-only) compile=false && shift ;;
esac
out=${1:?usage: run.sh [--compile-only | --run-only] OUT}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
programs=$root/tests/dropin/programs
malloc=$root/src/malloc/cuda
nvcc=${NVCC:-nvcc}
arch=${ARCH:-sm_90}
failed=0
mkdir -p "$out"
out=$(cd "$out" && pwd)

# judge NAME COMMAND...: runs it; its last line of output, and whether it exited 0.
judge() {
  local name=$1
  shift
  if "$@" >"$out/$name.log" 2>"$out/$name.err"; then
    echo "PASS $name: $(tail -n 1 "$out/$name.log")"
  else
    echo "FAIL $name: $(tail -q -n 3 "$out/$name.log" "$out/$name.err" | tr '\n' ' ')"
    failed=1
  fi
}
compile() {
  local name=$1
  shift
  $compile || return 0
  judge "compile-$name" "$nvcc" -arch="$arch" -O3 -I "$root/include" "$@"
}
# program NAME [NVCC'S ARGUMENT...]: relocatable device code, the two objects, the linker's options.
program() {
  local name=$1
  shift
  compile "$name" -std=c++17 -rdc=true --options-file "$malloc/link_options.txt" \
    "$programs/$name.cu" "$out/device_malloc.o" "$out/launch_hooks.o" -o "$out/$name" "$@"
}
run() {
  local name=$1
  shift
  $run || return 0
  judge "$name" "$@"
}

options=(-std=c++20 -rdc=true -Xcompiler -fPIC --options-file "$malloc/compile_options.txt")
compile device_malloc "${options[@]}" -c "$malloc/device_malloc.cu" -o "$out/device_malloc.o"
compile launch_hooks "${options[@]}" -c "$malloc/launch_hooks.cu" -o "$out/launch_hooks.o"
compile fatbin "${options[@]}" -fatbin "$malloc/device_malloc.cu" -o "$out/device_malloc.fatbin"

# The same program over CUDA's heap, with the hooks, and with one object and no option at all.
compile unchanged_cuda -std=c++14 "$programs/unchanged.cu" -o "$out/unchanged_cuda"
program unchanged
compile unchanged_object -std=c++14 -rdc=true "$programs/unchanged.cu" "$out/device_malloc.o" \
  -o "$out/unchanged_object"
# What the limit of compile_options.txt costs: the same with more registers.
for registers in 64 255; do
  compile "device_malloc_$registers" -std=c++20 -rdc=true -maxrregcount=$registers \
    -c "$malloc/device_malloc.cu" -o "$out/device_malloc_$registers.o"
  compile "unchanged_$registers" -std=c++14 -rdc=true "$programs/unchanged.cu" \
    "$out/device_malloc_$registers.o" -o "$out/unchanged_$registers"
done
compile bounded -std=c++17 -rdc=true --options-file "$malloc/link_options.txt" \
  "$root/tests/install/consumer/allocates.cu" "$out/device_malloc.o" "$out/launch_hooks.o" \
  -o "$out/bounded"
compile table_cuda -std=c++14 "$root/examples/chained_table.cu" -o "$out/table_cuda"
compile table -std=c++14 -rdc=true --options-file "$malloc/link_options.txt" \
  "$root/examples/chained_table.cu" "$out/device_malloc.o" "$out/launch_hooks.o" -o "$out/table"
program says_size
program captured
program no_heap
program jit -lnvrtc -lnvJitLink -lcuda
compile modules_library -std=c++17 -rdc=true -shared -Xcompiler -fPIC -cudart shared \
  --options-file "$malloc/link_options.txt" "$programs/modules_library.cu" \
  -Xlinker -soname=libmodules_library.so \
  "$out/device_malloc.o" "$out/launch_hooks.o" -o "$out/libmodules_library.so"
program modules -cudart shared "$out/libmodules_library.so"

export WARPHEAP_MALLOC_REPORT=1
run unchanged_cuda "$out/unchanged_cuda" 1000000 1
run unchanged env WARPHEAP_MALLOC_BYTES=1G "$out/unchanged" 1000000 5
run unchanged_gallatin env WARPHEAP_MALLOC_BYTES=1G WARPHEAP_MALLOC_MANAGER=gallatin \
  "$out/unchanged" 1000000 5
run unchanged_object env WARPHEAP_MALLOC_BYTES=1G "$out/unchanged_object" 1000000 5
for registers in 64 255; do
  run "unchanged_$registers" env WARPHEAP_MALLOC_BYTES=1G "$out/unchanged_$registers" 1000000 5
done
run bounded env WARPHEAP_MALLOC_BYTES=1G "$out/bounded"
run table_cuda "$out/table_cuda"
run table "$out/table"
run says_size "$out/says_size"
run captured "$out/captured"
run no_heap env WARPHEAP_MALLOC_BYTES=1 "$out/no_heap"
run no_heap_manager env WARPHEAP_MALLOC_MANAGER=unknown "$out/no_heap"
run modules env WARPHEAP_MALLOC_BYTES=256M \
  LD_LIBRARY_PATH="$out${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$out/modules"
run jit "$out/jit" "$out/device_malloc.fatbin" "$arch"
# Kernels of Python, where the framework is; the first one compiles, for about a minute.
export PYTHONPATH=$root/python${PYTHONPATH:+:$PYTHONPATH} WARPHEAP_CACHE=$out/cache
for framework in cupy_kernel:cupy numba_kernel:numba.cuda numba_arrays:numba.cuda; do
  $run || continue
  if python3 -c "import ${framework#*:}" 2>"$out/${framework%:*}.log"; then
    run "${framework%:*}" python3 "$root/examples/${framework%:*}.py"
  else
    echo "SKIP ${framework%:*}: $(tail -n 1 "$out/${framework%:*}.log")"
  fi
done
if $run && command -v compute-sanitizer >/dev/null; then
  run memcheck env WARPHEAP_MALLOC_BYTES=1G compute-sanitizer --error-exitcode 99 \
    "$out/unchanged" 10000 1
fi
exit $failed
