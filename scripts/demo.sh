#!/usr/bin/env bash
# Builds flambeau on a fresh Debian 12 and shows its main job on a real checkpoint: examples/digits.pt,
# a small network that scripts/train_example.py trained with PyTorch, with its optimizer.
#
#   ./scripts/demo.sh
#
# Root is needed only while a package is missing. A second run takes seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/steps.sh

step "Install what the build needs"
# shellcheck disable=SC2086 # a list of words
install_packages $BUILD_PACKAGES

step "Build the program (preset \`release\`, in build/release)"
run cmake --preset release >/dev/null
run cmake --build --preset release --target flambeau_program

flambeau=build/release/flambeau
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

step "List the tensors of examples/digits.pt"
run $flambeau ls examples/digits.pt

step "Print one of them, as PyTorch would"
run $flambeau show examples/digits.pt model.output.bias

step "Look at something that is no tensor"
run $flambeau show examples/digits.pt config

step "Take a tensor out as a numpy file"
run $flambeau get examples/digits.pt model.conv1.weight -o "$out/conv1.npy"
ls -l "$out/conv1.npy"
head -c 128 "$out/conv1.npy" | tr -c '[:print:]' ' '
echo

step "Take a bfloat16 tensor out, which numpy does not have, as float32"
run $flambeau get examples/digits.pt ema.output.weight -o "$out/ema.npy" --as float32
ls -l "$out/ema.npy"

printf '\nDone. The program is %s; try it on a file of your own: %s ls FILE\n' "$flambeau" "$flambeau"
