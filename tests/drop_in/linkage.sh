#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Checks, without a GPU, that a program and a shared library that are both linked with
# warpheap::malloc share the table of heaps and nothing else. nvcc gives the functions that register
# an object's device code the same names in both. When the dynamic linker binds the library's calls
# to the program's functions, the library's kernels and variables are never registered.
#
# usage: tests/drop_in/linkage.sh PROGRAM LIBRARY [PROGRAM'S ARGUMENT...]
set -uo pipefail

program=${1:?usage: linkage.sh PROGRAM LIBRARY}
library=${2:?usage: linkage.sh PROGRAM LIBRARY}
shift 2
table=warpheap_malloc_heaps
one=$(basename "$program")
other=$(basename "$library")
path=$(dirname "$library")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# What the dynamic linker binds between the two, in either direction. Without a GPU the program
# itself fails, which does not matter here.
bound=$(LD_BIND_NOW=1 LD_DEBUG=bindings LD_LIBRARY_PATH=$path "$program" "$@" 2>&1 |
  sed -nE "s#.*binding file (.*/)?($one|$other) \[0\] to (.*/)?($one|$other) \[0\]: [a-z]+ symbol .([^']*)'.*#\2 \4 \5#p" |
  awk '$1 != $2 { print $3 }' | sort -u)

status=0
wrong=$(c++filt <<<"$bound" | grep -E "warpheap|^__cudaRegister|^__fatbinwrap" | grep -vx "$table")
if [[ -n $wrong ]]; then
  echo "linkage: $one and $other share what each must have for itself:"
  cut -c1-160 <<<"$wrong"
  status=1
fi
if ! grep -qx "$table" <<<"$bound"; then
  echo "linkage: $one and $other do not share $table: each would make a heap of its own"
  status=1
fi
[[ $status == 0 ]] && echo "linkage: $one and $other share $table, and each has its device code"
exit $status
