# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sourced by ./dev: the Debian packages that it installs, in sets (environment.sh does it).

# A word is PACKAGE or PACKAGE:COMMAND: with a command, any program of that name will do. Names with a
# leading '?' are wanted but not needed: wheels take their place.
_packages_build=(
  g++:c++ cmake:cmake ninja-build:ninja libboost-context-dev libgtest-dev libgmock-dev
  libcli11-dev nlohmann-json3-dev git:git '?ccache:ccache'
)
_packages_tool=(
  python3:python3 python3-venv '?python3-typer' '?python3-rich' '?python3-matplotlib'
  '?python3-numpy' '?python3-pandas' '?python3-scipy' '?python3-jinja2'
)
_packages_test=(
  '?clang:clang++' '?libclang-rt-dev' '?python3-pytest' '?python3-pytest-xdist' '?python3-hypothesis'
)
_packages_docs=(python3:python3 python3-venv doxygen:doxygen)
_packages_lint=(python3:python3 python3-venv git:git)
