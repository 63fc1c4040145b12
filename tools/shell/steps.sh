# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sourced by ./dev: what a person sees while it works. Needs $logs, a folder for the output of quiet
# steps. Messages go to standard error, so that standard output is the command's own.
: "${logs:?}"

if [[ -t 2 && -z ${NO_COLOR:-} ]]; then
  _bold=$'\e[1m' _red=$'\e[31m' _plain=$'\e[0m'
else
  _bold='' _red='' _plain=''
fi

# title TEXT: announces a step whose own output follows.
title() { printf '%s==> %s%s\n' "$_bold" "$1" "$_plain" >&2; }

# note TEXT...: one sentence a line that the reader should know.
note() { printf 'dev: %s\n' "$@" | fit; }

# fail_with CODE TEXT...: says what is wrong and ends. Lines keep their length: they may have a command
# to copy, and the programs that fit needs may be among what is missing.
fail_with() {
  local code=$1
  shift
  printf '%sdev: %s%s\n' "$_red" "$1" "$_plain" >&2
  (($# < 2)) || printf '     %s\n' "${@:2}" >&2
  exit "$code"
}

fail() { fail_with 1 "$@"; }

# _width: the terminal's columns, or 100 where messages go elsewhere.
_width() {
  local size
  size=$(stty size <&2 2>/dev/null) || true
  echo "${COLUMNS:-${size:+${size#* }}}" | grep -E '^[1-9][0-9]+$' || echo 100
}

# fit: standard input to standard error, with no line longer than the terminal. Of ctest's lines only
# the results stay, the name of the test last; of a typed test the name that the suite gives the type,
# without the type that CMake appends.
fit() {
  sed --unbuffered --regexp-extended \
    -e '/^ +Start +[0-9]+: /d' \
    -e '/ Test +#/s|\.  # TypeParam = .*>|>|' \
    -e 's|^ *([0-9]+/[0-9]+) Test +#[0-9]+: ([^ ]+) [ .]*(.*[^ ]) +([0-9.]+ sec)|\1 \3 \4  \2|' |
    fold --spaces --width="$(_width)" >&2
}

# quietly NAME TITLE COMMAND...: runs a step whose output matters only when it fails, and then shows
# the end of it. Returns the command's exit code.
quietly() {
  local log=$logs/$1.log label=$2 code=0 start=$SECONDS
  shift 2
  printf '%s==> %s%s' "$_bold" "$label" "$_plain" >&2
  "$@" >"$log" 2>&1 </dev/null || code=$?
  if ((code == 0)); then
    printf ' (%d s)\n' $((SECONDS - start)) >&2
  else
    printf '\n' >&2
    tail -n 30 "$log" | fit
    note "failed with exit code $code; the whole output is in $log"
  fi
  return "$code"
}
