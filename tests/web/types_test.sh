#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Type-checks web/: esbuild, which builds it, only strips types. The options are in
# web/tsconfig.json.
cd "$(dirname "$0")/../.." || exit 1
deps=${RETAKE_DEPS:-build/deps}
for needed in "$deps/typescript/lib/tsc.js" build/deps/preact/src/index.d.ts build/deps/highlight/types/index.d.ts build/deps/temml/dist/temml.d.ts; do
	if [ ! -e "$needed" ]; then
		echo "skipped: $needed is not there (setup/deps.sh types)"
		exit 77
	fi
done
node=$(command -v node) || node=$deps/node/node
[ -x "$node" ] || { echo "skipped: there is no node"; exit 77; }
failed=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$node" "$deps/typescript/lib/tsc.js" --project web || failed=$((failed + 1))

# The check itself must detect errors: a string as a number, an undefined name, an unused name, an implicit any.
cat >"$folder/wrong.ts" <<'END'
export const wrong: number = "text";
nobody();
export function any(what) { const unused = 1; return what; }
END
printf '{ "extends": "%s/web/tsconfig.json", "compilerOptions": { "skipLibCheck": true }, "include": ["wrong.ts"] }\n' "$PWD" >"$folder/tsconfig.json"
said=$("$node" "$deps/typescript/lib/tsc.js" --project "$folder")
for code in TS2322 TS2304 TS6133 TS7006; do
	case $said in
	*"$code"*) ;;
	*) echo "FAILED: $code is not found" "$said"; failed=$((failed + 1)) ;;
	esac
done
echo "$((5 - failed)) passed, $failed failed"
[ "$failed" = 0 ]
