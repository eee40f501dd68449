# SPDX-License-Identifier: MIT
#
# The everyday commands. The work is done by meson and ninja under build/; this
# file installs what is missing, keeps the build folders up to date, and puts
# the programs at build/retake and build/retake-bench.
#
#   make run     install what is missing, build, and show what Retake does, in a browser too
#   make test    everything; ends with "N passed, N failed"
#   make t T=seq_test          one unit test
#   make build OBJ=build/mine  in a build folder of your own

.DEFAULT_GOAL := build
.PHONY: run build program test t bench bench-web fuzz sim torture access llama browser tsan install uninstall clean check-layers strings check-strings regenerate format \
	damage damaged-imports failures postgresql18 setup setup-test help

OBJ          ?= build/obj
JOBS         ?= $(shell nproc)
FUZZ_SECONDS ?= 1800
SECONDS      ?= 60
REQUESTS     ?= 100000
COPIES       ?= 10000
PREFIX       ?= /usr/local
DESTDIR      ?=
T            ?=
ARGS         ?=
# For example OPTIONS=-Dwerror=true: a warning is an error.
OPTIONS      ?=

# Concurrent makes wait for each other.
NINJA := flock $(OBJ).lock ninja -j$(JOBS) -C $(OBJ)

help:
	@sed -n '/^#   make/s/^#   //p' Makefile

setup:
	@setup/packages.sh build
	@setup/deps.sh

setup-test:
	@setup/packages.sh test
	@setup/deps.sh
	@setup/deps.sh types
	@setup/deps.sh browser maybe

build: setup
	@tools/configure.sh $(OBJ) $(OPTIONS)
	@$(NINJA)
ifeq ($(OBJ),build/obj)
	@tools/publish.sh $(OBJ)
endif

# The program alone, without tests and benchmarks.
program: setup
	@tools/configure.sh $(OBJ) $(OPTIONS)
	@$(NINJA) src/retake
	@tools/publish.sh $(OBJ)

# On a terminal it then serves the tour's store for a browser until Ctrl+C.
run: build
	@mkdir -p build/tour
	build/retake demo build/tour
	@if [ -t 0 ] && [ -t 1 ]; then \
		echo; \
		build/retake --db build/tour/demo.db serve || \
			build/retake --db build/tour/demo.db serve --port 0; \
	fi

test: setup-test
	@python3 tests/run.py --jobs $(JOBS)

t: setup-test
	@tools/configure.sh $(OBJ) $(OPTIONS)
	@program=$$(ninja -C $(OBJ) -t targets all | sed -n 's|^\(.*/$(T)\): .*|\1|p' | head -n 1); \
	test -n "$$program" || { echo "make t T=NAME: there is no test '$(T)'" >&2; exit 2; }; \
	$(NINJA) $$program && exec $(OBJ)/$$program $(ARGS)

bench: build
	@tools/bench.sh

fuzz: setup-test
	@CC=clang CXX=clang++ tools/configure.sh build/fuzz -Dfuzz=true -Dtests=disabled \
		-Db_sanitize=address,undefined
	@ninja -j$(JOBS) -C build/fuzz
	@tools/fuzz.sh build/fuzz $(FUZZ_SECONDS)

# Simulation tests run briefly in `make test`, and here for SECONDS each (they read
# RETAKE_TEST_SECONDS).
sim: setup-test
	@RETAKE_TEST_SECONDS=$(SECONDS) python3 tests/run.py --jobs $(JOBS) --variant normal --match '^sim'

# Every point of every command; `make test` tries the first 25 of each.
torture: setup-test build
	@tests/torture/torture.py --all --jobs $(JOBS)

# Every sector and half page of stores of up to 3,000 entries; `make test` tries a sample.
damage: setup-test
	@tools/configure.sh $(OBJ) $(OPTIONS)
	@$(NINJA) tests/damage_test
	@DAMAGE_FULL=1 $(OBJ)/tests/damage_test

# Up to COPIES beginnings, and COPIES mutations, of every file of other programs beside the
# repository; `make test` tries 40 of each.
damaged-imports: setup-test build
	@tests/conformance/import --damaged $(COPIES)

# A team's installation (examples/team), parts of which fail while 64 writers append: 20 runs of each
# kind (RUNS, KINDS), about 40 minutes.
failures: program
	@RETAKE=$(PWD)/build/retake python3 tests/failures/failures.py $(KINDS)

# Random requests of 50 users compared with a plain model: a million on SQLite, REQUESTS on PostgreSQL with
# row-level security; `make test` asks fewer.
access: setup-test
	@tools/configure.sh $(OBJ) $(OPTIONS)
	@$(NINJA) src/access_random_test src/retake
	@folder=$$(mktemp -d) && RETAKE_TEST_STORE=$$folder/access.db RETAKE_TEST_REQUESTS=1000000 $(OBJ)/src/access_random_test; \
		status=$$?; rm -rf "$$folder"; exit $$status
	@REQUESTS=$(REQUESTS) tests/postgresql/security_test.sh

# The tests of the PostgreSQL store with PostgreSQL 18, which this fetches (24 MB).
postgresql18: setup-test build
	@setup/deps.sh postgresql18
	@RETAKE_POSTGRESQL=$(CURDIR)/build/deps/postgresql18/native/bin python3 tests/run.py --jobs $(JOBS) --scripts \
		--match '^tests/postgresql/'

# A conversation with llama.cpp, which this fetches (85 MB); `make test` includes it from then on.
llama: build
	@setup/deps.sh llama
	@RETAKE=build/retake tests/llm/llama_test.sh

# All tests of the page and of exported pages in Debian's chromium: twelve minutes. `make test`
# runs a brief version (RETAKE_BROWSER=brief).
browser: setup-test build
	@setup/deps.sh browser
	@tests/web/types_test.sh
	@RETAKE=build/retake tests/web/web_test.sh
	@RETAKE=build/retake tests/web/panes_test.sh
	@RETAKE=build/retake tests/web/keys_test.sh
	@RETAKE=build/retake tests/web/axe_test.sh
	@RETAKE=build/retake tests/web/export_test.sh
	@RETAKE=build/retake tests/web/hostile_test.sh
	@RETAKE=build/retake tests/web/typing_test.sh
	@RETAKE=build/retake tests/server/browser_attack_test.sh

# Speed of the pages with 100,000 entries in chromium: bench/web.mjs, ten minutes.
bench-web: build
	@setup/deps.sh browser
	@RETAKE=build/retake node bench/web.mjs $(ARGS)

tsan: setup-test
	@python3 tests/run.py --jobs $(JOBS) --variant tsan

install: setup
	@tools/configure.sh build/release --buildtype=release --prefix=$(PREFIX) -Dtests=disabled
	@ninja -j$(JOBS) -C build/release
	DESTDIR=$(DESTDIR) meson install -C build/release --no-rebuild

# Removes the files of the last `make install`.
uninstall:
	@ninja -C build/release uninstall

# All checked-in files that are generated from the program. Check `git diff` afterwards.
regenerate: build
	@build/retake help --man >share/man/retake.1
	@build/retake completion bash >share/completions/retake.bash
	@build/retake completion zsh >share/completions/_retake
	@build/retake completion fish >share/completions/retake.fish
	@python3 tests/transcripts/transcripts.py --write
	@python3 tools/structure.py --write
	@RETAKE=$(CURDIR)/build/retake tests/docs_test.sh --write

# The strings that users see, by surface (docs/style.md).
strings:
	@python3 tools/strings.py

check-strings:
	@python3 tools/strings.py --check

check-layers:
	@python3 tools/check_layers.py

format:
	@clang-format -i $$(find src include examples tests fuzz bench -name '*.[ch]')

# Keeps build/deps, the fetched archives.
clean:
	@if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name deps -exec rm -rf {} +; fi
