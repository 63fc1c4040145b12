# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sourced by ./dev: installs what is missing. Needs $root and steps.sh.
: "${root:?}" "${logs:?}"

venv=$root/.venv

_unavailable=$root/build/unavailable-packages

# as_root COMMAND...: runs it as root, or fails without asking for a password.
as_root() {
  if ((EUID == 0)); then
    "$@"
  else
    sudo -n -- "$@"
  fi
}

may_install() {
  [[ ${WARPHEAP_INSTALL:-yes} != no ]] && command -v apt-get >/dev/null &&
    { ((EUID == 0)) || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }; }
}

# _find_missing RESULT WORD...: fills the array RESULT with the packages among the words that are
# neither installed nor have a stand-in. (No process substitution here or below: it needs /proc.)
_find_missing() {
  local -n result=$1
  local word package command installed
  shift
  result=()
  # dpkg-query exits 1 when it does not know one of them, which is the case to find out.
  installed=$(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' "${@%%:*}" 2>/dev/null || true)
  for word in "$@"; do
    package=${word%%:*} command=${word#*:}
    if [[ $command == "$word" ]]; then
      # Without dpkg there is no telling: CMake will say what it does not find.
      command -v dpkg-query >/dev/null || continue
      [[ $installed == *"ii $package"$'\n'* || $installed == *"ii $package" ]] && continue
    else
      # The compiler that the user chose replaces ours.
      [[ $package == g++ && -n ${CXX:-} ]] && command=${CXX%% *}
      command -v "$command" >/dev/null && continue
    fi
    result+=("$package")
  done
}

_apt_update() { as_root apt-get -o Acquire::Retries=3 update; }

_apt_install() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 \
    -o DPkg::Lock::Timeout=120 install -y --no-install-recommends "$@"
}

# need_system_packages SET...: installs what is missing of the sets; fails when it cannot.
need_system_packages() {
  local set word needed=() wanted=() missing optional=() unavailable=''
  [[ -e $_unavailable ]] && unavailable=$(<"$_unavailable")
  for set in "$@"; do
    # A user who brings a Python uses wheels with it.
    [[ $set == tool && -n ${WARPHEAP_PYTHON:-} ]] && continue
    local -n words=_packages_$set
    for word in "${words[@]}"; do
      if [[ $word != \?* ]]; then
        needed+=("$word")
      elif [[ $'\n'$unavailable$'\n' != *$'\n'"${word#\?}"$'\n'* ]]; then
        wanted+=("${word#\?}")
      fi
    done
  done
  _find_missing missing "${needed[@]}"
  _find_missing wanted "${wanted[@]}"
  if ((${#missing[@]} + ${#wanted[@]} == 0)); then return; fi
  if may_install; then
    quietly apt-update "Reading the package lists" _apt_update || fail "apt-get update failed"
    # Wheels stand in for what this distribution does not have; it is not looked for again.
    for word in "${wanted[@]}"; do
      if apt-cache show "$word" >/dev/null 2>&1; then
        optional+=("$word")
      else
        echo "$word" >>"$_unavailable"
      fi
    done
    if ((${#missing[@]} + ${#optional[@]} == 0)); then return; fi
    quietly apt-install "Installing ${missing[*]} ${optional[*]}" \
      _apt_install "${missing[@]}" "${optional[@]}" || fail "apt-get install failed"
  elif ((${#missing[@]})); then
    if command -v apt-get >/dev/null; then
      fail "these packages are missing and ./dev may not install them here: ${missing[*]}" \
        "Type:  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" \
        "and start the same command again."
    fi
    fail "these are missing (by their Debian names): ${missing[*]}" \
      "Install them with your system's package manager and start the same command again."
  fi
}

# The interpreter for .venv: the distribution's own where there is one, as its packages are used.
_base_python() {
  if [[ -n ${WARPHEAP_PYTHON:-} ]]; then
    echo "$WARPHEAP_PYTHON"
  elif [[ -x /usr/bin/python3 ]]; then
    echo /usr/bin/python3
  else
    command -v python3
  fi
}

_make_venv() {
  local python=$1
  rm -rf "$venv"
  "$python" -m venv --system-site-packages "$venv"
  "$venv/bin/python" "$root/tools/link_checkout.py" "$root/python"
}

_install_wheels() {
  local list=$venv/requirements.txt
  "$venv/bin/python" "$root/tools/requirements.py" "$root/pyproject.toml" "$@" >"$list" &&
    "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --retries 5 \
      --requirement "$list"
}

# need_python_packages [EXTRA...]: makes .venv, with the requirements of pyproject.toml and of its
# extras. Stamps remember for which interpreter it was made and for which pyproject.toml filled.
need_python_packages() {
  local python version made project extra stamp
  python=$(_base_python) || fail "no python3 was found"
  version=$("$python" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])')
  printf '3.11\n%s\n' "$version" | sort --check=quiet --version-sort ||
    fail "$python is Python $version: 3.11 is the oldest that warpheap is written for" \
      "Set WARPHEAP_PYTHON to a newer one."
  made="$python $version $root"
  if [[ ! -x $venv/bin/python || $(cat "$venv/stamp" 2>/dev/null) != "$made" ]]; then
    quietly venv "Making the Python environment .venv" _make_venv "$python" ||
      fail "no virtual environment could be made with $python"
    echo "$made" >"$venv/stamp"
  fi
  project=$(cksum <"$root/pyproject.toml")
  for extra in '' "$@"; do
    stamp=$venv/stamp-wheels${extra:+-$extra}
    [[ $(cat "$stamp" 2>/dev/null) == "$project" ]] && continue
    quietly "wheels$extra" "Looking for the Python packages of ${extra:-the tool}" \
      _install_wheels ${extra:+"$extra"} || fail "Python packages could not be installed"
    echo "$project" >"$stamp"
  done
}

# run_tool ARGUMENT...: becomes the warpheap tool.
run_tool() { exec "$venv/bin/python" -m warpheap "$@"; }

# pre_commit ARGUMENT...: with its tools' environments inside of .venv, so that removing that
# removes everything. Without standard input, as no hook may ask.
pre_commit() { PRE_COMMIT_HOME=$venv/pre-commit "$venv/bin/python" -m pre_commit "$@" </dev/null; }
