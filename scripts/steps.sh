# Sourced by the scripts that build and check: what they cannot do without, steps with a name, how long each took, and what the tests counted.
#
#     needs_to_build           gives up where a compiler, cmake or a header is missing
#     begin "unit tests"       ends the step before and begins this one
#     run_tests dev -L unit    ctest in build/dev; what it counted goes to the summary
#     give_up "do this"        ends the script with one line that says what to do
#     finish_well              says that all passed; anything else that ends the script is a failure
jobs=${METACTRL_JOBS:-$(nproc)}
cache=${METACTRL_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/metactrl}
passed=false
summary=()
step=
began=0
spent=0
reason=

finish() {
  end_step
  printf '\n== summary (%d s, %d CPU s)\n' "$SECONDS" "$cpu"
  [[ ${#summary[@]} -eq 0 ]] || printf '%s\n' "${summary[@]}"
  if $passed; then
    echo "all passed"
  else
    reason=$(remedy "$reason")
    echo "FAILED: $step${reason:+: $reason}" >&2
  fi
}

# remedy TEXT: what to do about a failure. A full disk makes everything fail, and hardly anything says so.
remedy() {
  local folder free
  for folder in "$PWD" "${TMPDIR:-/tmp}" "$cache"; do
    free=$(df -Pk "$folder" 2>/dev/null | awk 'NR == 2 { print $4 }') || true
    if [[ -n $free && $free -lt 10000 ]]; then
      echo "the disk is full, where $folder is; make some room and run this again, it goes on where it stopped"
      return 0  # in a trap a status left out is that before the trap
    fi
  done
  echo "$1"
}

give_up() {
  reason=$1
  [[ -n $step ]] || echo "${0##*/}: $(remedy "$reason")" >&2  # otherwise the summary ends with it
  exit 1
}

# needs PROGRAM...
needs() {
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null || give_up "$program is needed; install it and run this again (docs/install.md and scripts/setup have what else is)"
  done
}

# needs_to_build [HEADER=NAME...] [-- CMAKE_ARGUMENT...]: looks before cmake does, which names packages as only it knows them.
needs_to_build() {
  local compiler=${CXX:-} program folder missing=()
  needs cmake make
  for program in c++ g++ clang++; do
    [[ -n $compiler ]] || compiler=$(command -v "$program" || true)
  done
  command -v "${compiler%% *}" >/dev/null ||
    give_up "a C++ compiler is needed; install g++ 12 or newer and run this again (docs/install.md and scripts/setup have what else is)"
  while [[ $# -gt 0 && $1 != -- ]]; do
    has_header "${1%%=*}" "${compiler%% *}" || missing+=("${1#*=}")
    shift
  done
  # Who names a folder to cmake knows where things are.
  [[ ${#missing[@]} -eq 0 || -n ${CMAKE_PREFIX_PATH:-} || "$*" == *-DCMAKE_PREFIX_PATH=* || "$*" == *-DCMAKE_TOOLCHAIN_FILE=* || "$*" == *_DIR=* ]] ||
    give_up "${missing[*]} not found; install the package (docs/install.md has its name), or let CMAKE_PREFIX_PATH name its folder, and run this again"
}

headers_of_tests=(CLI/CLI.hpp=CLI11 nlohmann/json.hpp=nlohmann-json gtest/gtest.h=GoogleTest)

# has_header HEADER COMPILER: where the compiler looks, and where cmake does, which is beside the programs.
has_header() {
  printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$1" | "$2" -x c++ -E - >/dev/null 2>&1 && return
  local folder
  while IFS= read -r folder; do [[ ! -e ${folder%/*}/include/$1 ]] || return 0; done <<<"${PATH//:/$'\n'}"
  return 1
}

# Sets `cpu`: user and system time of everything that was started and has ended. In this shell: another one has started nothing.
cpu=0
measure_cpu() {
  local file
  file=$(mktemp) || return 0  # a full disk is told of at the end
  times >"$file" || true
  cpu=$(awk 'NR == 2 { for (i = 1; i <= 2; ++i) { split($i, part, /[ms]/); sum += 60 * part[1] + part[2] } printf "%d", sum }' "$file")
  rm -f "$file"
}

end_step() {
  measure_cpu
  [[ -z $step ]] || summary+=("$step: $((SECONDS - began)) s, $((cpu - spent)) CPU s")
}

begin() {
  trap finish EXIT
  end_step
  began=$SECONDS
  spent=$cpu
  step=$1
  printf '\n== %s\n' "$step"
}

finish_well() { passed=true; }

# run_tests BUILD ARGUMENT...
wrapper=()
run_tests() {
  local build=$1 status=0 log
  shift
  log=$(mktemp)
  "${wrapper[@]}" scripts/run_tests "build/$build" -j "$jobs" "$@" | tee "$log" || status=$?
  summary+=("$build: $(grep -E '^[0-9]+ passed, ' "$log" | tail -n 1 || echo 'no count')")
  while IFS= read -r line; do summary+=("    $line"); done < <(grep -E '^skipped: ' "$log" || true)
  rm -f "$log"
  return "$status"
}

# What was compiled before, in this checkout or another, is taken from the cache. Paths are hashed as seen from the checkout.
use_compiler_cache() {
  command -v ccache >/dev/null || return 0
  export CCACHE_DIR=$cache/ccache
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=3G
  # What was precompiled is known by what it was made from, not by when.
  export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
}
