# Sourced by scripts/test and scripts/check: steps with a name, how long each took, and what the tests counted.
#
#     begin "unit tests"       ends the step before and begins this one
#     run_tests dev -L unit    ctest in build/dev; what it counted goes to the summary
#     finish_well              says that all passed; anything else that ends the script is a failure
jobs=${METACTRL_JOBS:-$(nproc)}
passed=false
summary=()
step=
began=0
spent=0

finish() {
  end_step
  printf '\n== summary (%d s, %d CPU s)\n' "$SECONDS" "$cpu"
  [[ ${#summary[@]} -eq 0 ]] || printf '%s\n' "${summary[@]}"
  if $passed; then echo "all passed"; else echo "FAILED: $step"; fi
}
trap finish EXIT

# Sets `cpu`: user and system time of everything that was started and has ended. In this shell: another one has started nothing.
cpu=0
measure_cpu() {
  local file
  file=$(mktemp)
  times >"$file"
  cpu=$(awk 'NR == 2 { for (i = 1; i <= 2; ++i) { split($i, part, /[ms]/); sum += 60 * part[1] + part[2] } printf "%d", sum }' "$file")
  rm -f "$file"
}

end_step() {
  measure_cpu
  [[ -z $step ]] || summary+=("$step: $((SECONDS - began)) s, $((cpu - spent)) CPU s")
}

begin() {
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
  export CCACHE_DIR=${METACTRL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/metactrl}/ccache
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=3G
  # What was precompiled is known by what it was made from, not by when.
  export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
}
