# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sourced by ./dev: builds the presets of CMakePresets.json. Needs $root and steps.sh.
: "${root:?}"

# Processes at a time: one per core, and no more than fit into memory at 1.5 GiB each.
jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 1572864) }' /proc/meminfo 2>/dev/null)
  memory=${memory:-$cores}
  echo "${WARPHEAP_JOBS:-$((memory < 1 ? 1 : memory < cores ? memory : cores))}"
}

have_gpu() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU '; }

# Succeeds when there is an nvcc, and tells CMake of one that is not on the PATH.
find_nvcc() {
  [[ -n ${CUDACXX:-} ]] && return
  command -v nvcc >/dev/null && return
  [[ -x /usr/local/cuda/bin/nvcc ]] && export CUDACXX=/usr/local/cuda/bin/nvcc
}

# What `configure` tells CMake beyond the preset: -D NAME=VALUE ...
settings=()

# configure PRESET: runs CMake when it has not run for this compiler, these presets and settings.
# CMake itself sees to changes of its own files.
configure() {
  local folder=$root/build/$1 key fresh=()
  key="${CXX:-} ${CXXFLAGS:-} ${CUDACXX:-} ${settings[*]:-} $(cksum <"$root/CMakePresets.json")"
  [[ -e $folder/build.ninja && $(cat "$folder/stamp" 2>/dev/null) == "$key" ]] && return
  [[ -e $folder/CMakeCache.txt ]] && fresh=(--fresh)
  (cd "$root" && quietly "configure-$1" "Configuring $1" cmake --preset "$1" "${fresh[@]}" "${settings[@]}") || return
  echo "$key" >"$folder/stamp"
}

# AddressSanitizer's builds take clang where it is and nobody chose another: it compiles them in half
# of g++'s time, and two compilers see each source. ThreadSanitizer's do not: that of clang 14 takes
# a read-modify-write that only releases for one that acquires, too, and misses planted races.
clang_has_address_sanitizer() {
  local program result=0
  program=$(mktemp) || return
  clang++ -fsanitize=address,undefined -x c++ -o "$program" - <<<'int main() {}' &>/dev/null ||
    result=1
  rm -f "$program"
  return "$result"
}

# build_step PRESET [TARGET...]: configures and builds; returns the exit code.
build_step() {
  local preset=$1
  shift
  require_cmake
  if command -v ccache >/dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache
    # Another clone of the same sources finds the same objects.
    export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
    # Without these it caches nothing that uses a compiled header (WarpheapCompiledHeader.cmake). No source
    # of ours has the time in it.
    export CCACHE_SLOPPINESS=pch_defines,time_macros
  fi
  if [[ -z ${CXX:-} && $preset == *-asan ]] && clang_has_address_sanitizer; then local -x CXX=clang++; fi
  configure "$preset" || return
  title "Building $preset"
  cmake --build "$root/build/$preset" --parallel "$(jobs)" ${1:+--target "$@"} >&2
}

# build PRESET [TARGET...]: the same, and ends when that fails.
build() { build_step "$@" || fail "building $1 failed"; }

require_cmake() {
  local version
  version=$(cmake --version | awk 'NR == 1 { print $3 }')
  if ! printf '%s\n' 3.25 "$version" | sort --check=quiet --version-sort; then
    fail "$(command -v cmake) is CMake $version: 3.25 is the oldest that warpheap is written for"
  fi
}
