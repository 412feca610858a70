#!/usr/bin/env bash
# Builds flambeau twice, plainly and under AddressSanitizer and UndefinedBehaviorSanitizer, and runs
# all tests.
#
#   ./scripts/test.sh                  everything; installs PyTorch into the user's cache folder
#   ./scripts/test.sh --without-torch  leaves out the tests that ask PyTorch, and names them
#
# FLAMBEAU_PYTHON      a Python that has torch and numpy; no virtual environment is made then
# FLAMBEAU_FIXTURES    a folder with more checkpoints for the tests to read
# CI=true              a test that is skipped because PyTorch is missing counts as failed
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/steps.sh

with_torch=1
for argument in "$@"; do
  case $argument in
    --without-torch) with_torch=0 ;;
    -h | --help) sed -n '2,/^set/{s/^# \{0,1\}//;/^set/!p}' "$0"; exit 0 ;;
    *) echo "unknown option $argument; see --help" >&2; exit 2 ;;
  esac
done

# Makes a virtual environment with what tests/requirements.txt names, or takes the one that is there.
prepare_python() {
  local folder stamp
  folder=${XDG_CACHE_HOME:-$HOME/.cache}/flambeau/venv-$(sha256sum tests/requirements.txt | cut -c1-12)
  stamp=$folder/complete
  if [ -e "$stamp" ] && "$folder/bin/python" -c 'import torch, numpy' 2>/dev/null; then
    echo "reusing $folder"
  else
    rm -rf "$folder"
    run python3 -m venv "$folder"
    run "$folder/bin/pip" install --quiet --no-compile -r tests/requirements.txt
    touch "$stamp"
  fi
  export FLAMBEAU_PYTHON=$folder/bin/python
}

# Configures and builds a preset.
build() {
  run cmake --preset "$1" >/dev/null
  run cmake --build --preset "$1"
}

step "Install what the build and the tests need"
# shellcheck disable=SC2086 # lists of words
install_packages $BUILD_PACKAGES $TEST_PACKAGES

plain=()
if [ $with_torch = 1 ]; then
  step "Prepare a Python with PyTorch"
  if [ -n "${FLAMBEAU_PYTHON:-}" ]; then
    echo "taking FLAMBEAU_PYTHON=$FLAMBEAU_PYTHON"
  else
    prepare_python
  fi
else
  plain=(-LE torch)
fi

step "Build with sanitizers (build/asan) and run the tests"
echo "Tests that compile something, or ask PyTorch, run in the plain build only."
build asan
run ctest --test-dir build/asan --output-on-failure -j "$(nproc)" -LE 'torch|build'

step "Build plainly (build/dev) and run the tests"
build dev
if [ $with_torch = 0 ]; then
  echo "Left out, since they need PyTorch:"
  ctest --test-dir build/dev -N -L torch | sed -n 's/^ *Test *#[0-9]*: /  /p'
fi
run ctest --test-dir build/dev --output-on-failure -j "$(nproc)" "${plain[@]}"
