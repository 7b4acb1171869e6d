#!/usr/bin/env bash
# What the scripts that install, fetch, build and test say when something is missing, and that the next run goes on. A folder plays the package
# registry, with packages of a few bytes, and the scripts run in a copy of the project that has nothing but them.
#
#     first_contact_test.sh PROJECT
set -euo pipefail

project=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
copy=$folder/project registry=$folder/registry cache=$folder/cache
machine=$(uname -m)
failures=0

# expect STATUS TEXT COMMAND...: the command ends so, and says this on its standard error.
expect() {
  local status=0 wanted=$1 text=$2
  shift 2
  "$@" >"$folder/out" 2>"$folder/err" </dev/null || status=$?
  if [[ $status != "$wanted" ]] || ! grep -q -F -- "$text" "$folder/err"; then
    echo "FAILED: ${*//$folder/FOLDER}: ended with $status, not $wanted, or did not say '$text':"
    cat "$folder/err"
    failures=$((failures + 1))
  fi
}
# is WHAT CONDITION...
is() {
  local what=$1
  shift
  "$@" || { echo "FAILED: $what" && failures=$((failures + 1)); }
}

# --- a project, and a registry with a source and ready-made libraries ------------------------------------------------------------------------------

mkdir -p "$copy/cmake"
cp -r "$project/scripts" "$copy/"
git_in() { git -C "$folder/source" -c user.name=test -c user.email=test@example.org -c init.defaultBranch=main "$@"; }
mkdir -p "$folder/source/include" "$folder/source/ggml/include"
touch "$folder/source/LICENSE" "$folder/source/include/llama.h"
for header in ggml ggml-alloc ggml-backend ggml-cpu ggml-opt gguf; do touch "$folder/source/ggml/include/$header.h"; done
git_in init -q
git_in add -A
git_in commit -q -m source
# pack NAME PACKAGE FOLDER: an archive in the registry, and its line in the pins.
pack() {
  local file=$registry/$2/-/${2##*/}-1.0.tgz
  mkdir -p "${file%/*}"
  tar -czf "$file" -C "$3" package
  echo "package $1 $2 1.0 $(stat -c %s "$file") $(sha512sum "$file" | cut -d ' ' -f 1)" >>"$copy/cmake/llama.pins"
}
printf 'version 9.9\nregistry https://127.0.0.1:9\n' >"$copy/cmake/llama.pins"
mkdir -p "$folder/a/package/llama" "$folder/b/package/bins/toy"
git_in bundle create -q "$folder/a/package/llama/gitRelease.bundle" HEAD main
echo '{"release":"v9.9"}' >"$folder/b/package/bins/toy/_nlcBuildMetadata.json"
head -c 300000 /dev/urandom >"$folder/b/package/bins/toy/libllama.v1.so"
touch "$folder/b/package/bins/toy/libggml.so" "$folder/b/package/bins/toy/libggml-base.so"
pack source toy-llama "$folder/a"
pack "cpu-$machine" @toys/linux "$folder/b"
libraries=$registry/@toys/linux/-/linux-1.0.tgz

# llama [NAME=VALUE...]
llama() { env METACTRL_CACHE="$cache" METACTRL_NPM_REGISTRY="file://$registry" "$@" "$copy/scripts/llama"; }
# A folder with all programs of the system.
tools=$folder/tools
mkdir "$tools"
ln -s -t "$tools" /usr/bin/*
[[ -L /bin ]] || ln -sf -t "$tools" /bin/*
replaced=()
# without NAME...: all but these.
without() {
  local program
  for program in "${replaced[@]}"; do
    rm -f "$tools/$program"
    ! command -v "$program" >/dev/null || ln -s "$(command -v "$program")" "$tools/$program"
  done
  replaced=("$@")
  for program in "$@"; do rm -f "$tools/$program"; done
}
# stand_in NAME BODY: a program that does this.
stand_in() {
  replaced+=("$1")
  rm -f "$tools/$1"
  printf '#!/bin/bash\n%s\n' "$2" >"$tools/$1"
  chmod +x "$tools/$1"
}

# --- llama -----------------------------------------------------------------------------------------------------------------------------------------

expect 30 "usage: scripts/llama" "$copy/scripts/llama" --nonsense
expect 30 "usage: scripts/llama" "$copy/scripts/llama" --cuda
expect 1 "is the network reachable?" llama METACTRL_NPM_REGISTRY=https://127.0.0.1:9
expect 1 "is the network reachable?" llama METACTRL_NPM_REGISTRY=
expect 1 "set METACTRL_NPM_REGISTRY" llama METACTRL_NPM_REGISTRY="file://$folder/nowhere"
expect 1 "cannot be written; set METACTRL_CACHE" llama METACTRL_CACHE=/dev/null/cache
expect 1 "let METACTRL_CACHE name a folder" env -u HOME -u XDG_CACHE_HOME -u METACTRL_CACHE "$copy/scripts/llama"
without curl apt-get
expect 1 "curl is needed; install it" llama PATH="$tools"
without
stand_in curl 'exit 23'
expect 1 "no room for toy-llama under $cache" llama PATH="$tools"
without
stand_in tar 'echo "tar: no space left on device" >&2; exit 2'
stand_in df 'printf "Filesystem\nx 1 1 0 100%% /\n"'
expect 1 "no room for llama.cpp under $cache" llama PATH="$tools"
stand_in df 'printf "Filesystem\nx 1 1 99999999 1%% /\n"'
expect 1 "this did not work (see above)" llama PATH="$tools"
# Killed in the middle of the second package: half of it is there, and something that was being made.
mkdir -p "$cache/downloads" "$cache/llama-build.old"
head -c 100000 "$libraries" >"$cache/downloads/@toys+linux-1.0.tgz.part"
expect 0 "llama: done in" llama
is "the prefix is complete" test -s "$cache/llama.cpp-9.9-$machine/complete"
is "the library is whole" cmp -s "$cache/llama.cpp-9.9-$machine/lib/libllama.v1.so" "$folder/b/package/bins/toy/libllama.v1.so"
is "nothing is left over" test -z "$(find "$cache" -name '*.part' -o -name 'llama-build.*')"
is "it is found without a registry" test "$(llama METACTRL_NPM_REGISTRY=file:///nowhere)" = "$cache/llama.cpp-9.9-$machine"
# Something else under the package's name is not used, and not kept.
rm -rf "$cache"
mv "$libraries" "$folder/whole"
head -c 500 "$folder/whole" >"$libraries"
expect 1 "has another checksum than the pinned one" llama
is "it is not kept" test ! -e "$cache/downloads/@toys+linux-1.0.tgz"
mv "$folder/whole" "$libraries"
# Where the system has a CMake, and knows of no GPU.
if [[ -x /usr/bin/cmake && ! -x /usr/bin/nvidia-smi ]]; then
  expect 1 "say what to compile for" env METACTRL_CACHE="$cache" PATH="/usr/bin:/bin" CUDAARCHS= "$copy/scripts/llama" --source --cuda
fi

# --- setup -----------------------------------------------------------------------------------------------------------------------------------------

expect 30 "usage: scripts/setup" "$copy/scripts/setup" --nonsense
without apt-get
expect 0 "there is no apt here, so nothing was installed; the counterparts of these Debian packages are needed: toy" \
  env PATH="$tools" "$copy/scripts/setup" --packages toy
without
stand_in dpkg-query 'exit 1'
stand_in dpkg 'exit 0'
stand_in apt-get 'exit 0'
stand_in id 'echo 1000'
expect 1 "sudo apt-get install --no-install-recommends toy" env PATH="$tools" "$copy/scripts/setup" --packages toy
expect 1 "these packages are missing" env PATH="$tools" "$copy/scripts/setup" --check style
is "style needs no browser" test "$(tail -n 1 "$folder/err")" = "    sudo apt-get install --no-install-recommends python3 clang-format"
stand_in id 'echo 0'
expect 0 "setup: installing toy" env PATH="$tools" "$copy/scripts/setup" --packages toy
stand_in apt-cache 'printf "%s:\n  Candidate: (none)\n" "$2"'
expect 0 "apt knows no package chromium here" env PATH="$tools" "$copy/scripts/setup" --packages chromium
expect 0 "setup: installing toy chromium" env PATH="$tools" "$copy/scripts/setup" --packages toy chromium
stand_in apt-get 'echo "E: Unable to fetch some archives"; exit 100'
expect 1 "is the network reachable?" env PATH="$tools" "$copy/scripts/setup" --packages toy
stand_in apt-get "echo \"E: You don't have enough free space in /var/cache/apt/archives/.\"; exit 100"
expect 1 "the disk is full; make some room" env PATH="$tools" "$copy/scripts/setup" --packages toy
stand_in dpkg 'echo "dpkg: error: dpkg frontend lock was locked by another process with pid 7"; exit 2'
expect 1 "another program is installing packages" env PATH="$tools" "$copy/scripts/setup" --packages toy
stand_in dpkg-query 'echo installed'
is "nothing is installed twice" env PATH="$tools" "$copy/scripts/setup" --packages toy

# --- build, test, check, page ----------------------------------------------------------------------------------------------------------------------

# script NAME [ARGUMENT...]: with the stand-ins, and all packages there.
script() { env -u CXX -u CMAKE_PREFIX_PATH PATH="$tools" METACTRL_CACHE="$cache" METACTRL_NPM_REGISTRY="file://$registry" "$copy/scripts/$1" "${@:2}"; }
without cmake apt-get
expect 1 "build: cmake is needed; install it" script build
without c++ g++ clang++ apt-get
expect 1 "build: a C++ compiler is needed; install g++" script build
without clang-format apt-get
expect 1 "FAILED: set-up: clang-format is needed; install it" script check style
without
stand_in dpkg-query 'echo installed'
stand_in c++ 'cat >/dev/null; exit 1'
expect 1 "build: CLI11 nlohmann-json not found; install the package" script build
stand_in c++ 'if grep -q gtest; then exit 1; fi'
expect 1 "FAILED: set-up: GoogleTest not found; install the package" script test
stand_in c++ 'cat >/dev/null'
stand_in cmake 'echo "a message of cmake" >&2; exit 1'
expect 1 "build: cmake did not find what it needs (see above)" script build
expect 1 "FAILED: build: cmake did not find what it needs (see above)" script test
stand_in cmake '[[ $1 != --build ]]'
expect 1 "FAILED: build: the compiler failed (see above)" script test
stand_in df 'printf "Filesystem\nx 1 1 0 100%% /\n"'
expect 1 "build: the disk is full, where $copy is; make some room" script build
expect 1 "FAILED: build: the disk is full, where $copy is; make some room" script test
expect 1 "FAILED: slow tests: the disk is full, where $copy is; make some room" script check slow
without npm
expect 1 "page: npm is needed; install it" script page
stand_in npm 'exit 1'
expect 1 "page: there is no Chromium; install it" env CHROMIUM=/nowhere "$copy/scripts/page" --check /bin/sh
mkdir -p "$copy/web/page"
touch "$copy/web/page/package-lock.json"
expect 1 "page: npm could not fetch the packages of web/page (see above); is the network reachable?" script page

# --- what CI leaves out ----------------------------------------------------------------------------------------------------------------------------

mkdir -p "$folder/ci/scripts" "$folder/ci/.ci"
cp "$project/.ci/run" "$folder/ci/.ci/"
for name in test check; do printf '#!/bin/sh\necho "%s $*" >&2\n' "$name" >"$folder/ci/scripts/$name" && chmod +x "$folder/ci/scripts/$name"; done
expect 0 "check slow" "$folder/ci/.ci/run"
expect 1 "FAILED: not run, since 75 minutes had passed: style tidy" env SECONDS=4500 "$folder/ci/.ci/run"

[[ $failures -eq 0 ]] || exit 1
echo "passed"
