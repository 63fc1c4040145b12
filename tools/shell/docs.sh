# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sourced by ./dev: the command docs.
: "${root:?}" "${venv:?}"

# Every warning is an error, of Doxygen's (docs/Doxyfile) as well: a broken link, a page that no other
# lists, a name in the reference that the headers lack.
_build_site() {
  cd "$root" && "$venv/bin/python" -m sphinx -q -W --keep-going -b html \
    -d build/docs/doctrees docs build/docs/html
}

command_docs() {
  (($# == 0)) || fail_with 2 "docs takes no arguments"
  need_system_packages docs
  need_python_packages docs
  quietly docs "Building the documentation site" _build_site || fail "the site has errors"
  note "build/docs/html/index.html is its first page"
}
