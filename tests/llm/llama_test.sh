#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A conversation with a real engine: llama.cpp, with a model of a few hundred words that is
# made on the spot, over the API that it shares with OpenAI.
#
# What runs it is not small (85 MB), so it is fetched by `make llama` alone; without it, or
# without the folder ../shared/llm that makes the model, this is skipped.
set -u
cd "$(dirname "$0")/../.." || exit 1
retake=${RETAKE:-$PWD/build/retake}
deps=${RETAKE_DEPS:-$PWD/build/deps}
maker=${LLAMA_MAKER:-$PWD/../shared/llm/mkgguf.py}
node=node
[ ! -x "$deps/node/node" ] || node=$deps/node/node
skip() {
	echo "$1: skipped"
	exit 77
}
[ -x "$retake" ] || skip "$retake is not built (make build)"
[ -d "$deps/llama/node_modules/node-llama-cpp" ] || skip 'llama.cpp was not fetched (make llama)'
[ -f "$maker" ] || skip "$maker, which makes the model, is not there"
exec python3 tests/llm/llama_checks.py "$retake" "$node" "$deps/llama" "$maker"
