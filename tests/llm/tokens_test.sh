#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Token counts, text by text, against gpt-tokenizer, the JavaScript package that the ranks come
# from: random texts of many scripts, symbols, digits, white space and code, and some edge cases.
# SEED and COUNT choose which and how many.
#
# Excluded are characters that the two treat differently: U+0085 and U+FEFF, of which one is white
# space in Unicode and the other in JavaScript, the long s in contractions, and letters and marks
# newer than Unicode 15, which not every library knows.
set -u
cd "$(dirname "$0")/../.." || exit 1
counter=$PWD/${RETAKE_COUNT_TOKENS:-build/obj/tests/llm/count_tokens}
deps=${RETAKE_DEPS:-build/deps}
RETAKE_TOKENS=${RETAKE_TOKENS:-$deps/tokens}
export RETAKE_TOKENS
archive=$(ls "$deps"/cache/gpt-tokenizer-*.tgz 2>/dev/null | head -n 1)
node=node
[ ! -x "$deps/node/node" ] || node=$deps/node/node
skip() {
	echo "$1: token counts are not compared"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
}
[ -x "$counter" ] || skip "$counter is not built (make build)"
[ -n "$archive" ] || skip 'the package gpt-tokenizer was not fetched'
"$node" -e 'process.exit(+process.versions.node.split(".")[0] >= 18 ? 0 : 1)' 2>/dev/null ||
	skip 'there is no Node 18 or newer'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xf "$archive" -C "$work" package/package.json package/cjs || exit 1

cat >"$work/compare.cjs" <<'JS'
const {spawnSync} = require("child_process");
const [counter, work, seed, count] = process.argv.slice(2);

let state = BigInt(seed);
function random(below) { // splitmix64
	state = (state + 0x9E3779B97F4A7C15n) & 0xFFFFFFFFFFFFFFFFn;
	let z = state;
	z = ((z ^ (z >> 30n)) * 0xBF58476D1CE4E5B9n) & 0xFFFFFFFFFFFFFFFFn;
	z = ((z ^ (z >> 27n)) * 0x94D049BB133111EBn) & 0xFFFFFFFFFFFFFFFFn;
	return Number((z ^ (z >> 31n)) % BigInt(below));
}
const pick = (list) => list[random(list.length)];
const between = (first, last) => String.fromCodePoint(first + random(last - first + 1));
const times = (least, most, make) =>
	Array.from({length: least + random(most - least + 1)}, make).join("");

const words = ("the of and to in is you that it he was for on are as with his they at be this have from " +
	"HelloWorld JSONParser iPhone McDonald naïve Straße ÉCOLE ŒUVRE kubectl antidisestablishmentarianism " +
	"don't I'LL we'Ve they'RE it'S 'tis o'clock rock'n'roll y'all'd've 'S 's ''s L'École qu'il l'D " +
	"Δοκιμή ПРИВЕТ привет Мир İstanbul ǅ ǅungla ʰello ªº ⅷ ½ ٣٤٥ ४५६ ⅣⅤ").split(" ");
const code = ["for (int i = 0; i < n; i++) {\n\t\tsum += a[i];\n\t}\n", "if x == 'a':\n        return None\n\n\n",
	"https://example.org/a/b?c=d&e=%20#f", "<div class=\"x\">\r\n  </div>\r\n", "// ///\n/\n/* */ */\n",
	"{\"a\": [1, 2.5e-10, null]}", "SELECT * FROM t WHERE id='5';", "<|endoftext|>", "<|im_start|>user<|im_sep|>",
	"=== --- *** ___ ...", "->::<<=>>=", "$HOME/.config\\n", "0x7fff5fbff8a0", "a_b_c __init__"];
const scripts = [[0x0370, 0x03FF], [0x0400, 0x04FF], [0x0530, 0x058F], [0x05D0, 0x05EA], [0x0620, 0x064A],
	[0x0905, 0x0939], [0x0E01, 0x0E30], [0x10A0, 0x10C5], [0x10D0, 0x10FA], [0x13A0, 0x13F5],
	[0x3041, 0x3096], [0x30A1, 0x30FA], [0x4E00, 0x9FA5], [0xAC00, 0xD7A3], [0x20000, 0x2A6D6],
	[0x10400, 0x1044F], [0x1D400, 0x1D454], [0xFF21, 0xFF5A], [0x2C00, 0x2C2E], [0x1E00, 0x1EFF]];
const marks = [[0x0300, 0x036F], [0x0591, 0x05BD], [0x064B, 0x065F], [0x093E, 0x094C], [0x0E31, 0x0E3A],
	[0x20D0, 0x20F0], [0xFE00, 0xFE0F], [0x302A, 0x302D], [0x1AB0, 0x1ABE]];
const digits = [[0x30, 0x39], [0x0660, 0x0669], [0x0966, 0x096F], [0x2150, 0x2188], [0xFF10, 0xFF19], [0xB2, 0xB3],
	[0x1D7CE, 0x1D7FF], [0x2460, 0x249B]];
const signs = [[0x21, 0x2F], [0x3A, 0x40], [0x5B, 0x60], [0x7B, 0x7E], [0xA1, 0xA9], [0x2010, 0x2027],
	[0x2190, 0x21FF], [0x2500, 0x257F], [0x3001, 0x3020], [0x1, 0x8], [0x200B, 0x200F], [0xE000, 0xE010], [0x24B6, 0x24E9]];
const planes = [[0x1F300, 0x1F64F], [0x12000, 0x12399], [0xE0100, 0xE01EF], [0xF0000, 0xFFFFD], [0x16800, 0x16A38]];
const blanks = [" ", " ", " ", "\n", "\n", "\r\n", "\r", "\t", "\v", "\f", "\u00A0", "\u3000", "\u2003", "\u2028",
	"\u1680", "\u202F"];
const emoji = ["😀", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "1️⃣", "👍🏽", "❤️", "\u{1F9D1}\u{1F3FF}\u200D\u{1F680}"];
const from = (ranges) => { const [a, b] = pick(ranges); return between(a, b); };

const parts = [
	() => pick(words), () => " " + pick(words), () => " " + pick(words), () => pick(code), () => pick(emoji),
	() => times(1, 8, () => from(scripts)),
	() => { const [a, b] = pick(scripts); return times(1, 12, () => between(a, b)); },
	() => times(1, 3, () => from(marks)), () => pick(words) + times(1, 4, () => from(marks)),
	() => times(1, 7, () => from(digits)), () => times(1, 9, () => between(0x30, 0x39)),
	() => times(1, 6, () => from(signs)), () => times(1, 6, () => pick(blanks)), () => times(1, 4, () => " "),
	() => pick(signs.slice(0, 4).map(([a]) => String.fromCodePoint(a))).repeat(1 + random(40)),
	() => "'" + pick(["s", "T", "re", "VE", "m", "lL", "d", "x", "l", "r", "v", ""]),
	() => times(1, 6, () => pick(["a", "A", "é", "É", "日", "ʰ", "ǅ", "\u0301", "ß", "ª", "İ", "ı", "K"])),
	() => times(1, 20, () => { // anything
		for (;;) {
			const c = random(20) === 0 ? from(planes) : between(0, 0x2FFB);
			if (/\p{Assigned}/u.test(c))
				return c;
		}
	}),
	() => pick(["ab", "é", "日本", "=", "a", "xX", " \n", "\t"]).repeat(1 + random(random(50) === 0 ? 700 : 30)),
];
const differs = /[\u0085\uFEFF\u017F\u0897\u088F\u0C5C\u0CDC\u1ACF-\u1AEB\u1C89\u1C8A]/gu;
const texts = ["", " ", "  ", "\n", " \n", "\n ", " a", "  a", "\na", " \n a", "a ", "a  ", "a\n  ", "\r\n\r\n", "'s", "'", "''",
	"a's", "A'S", "'ll'", "日本ABC", "ABC日本", "ABCdef", "abcDEF", "\u0301", "\u0301\u0301A", "!\u0301\u0301", " \u0301a", "\u0301ABC",
	"1234", "12345678", "!!\n\n/", "//\n/", " //\r\n", "\u00A0a", "\u00A0\u00A0a", "\ta", "\r\na", "x\n\n\n y", "\u0000", "<|endoftext|>"];
while (texts.length < +count)
	texts.push(times(1, 1 + random(12), () => pick(parts)()).replace(differs, ""));

const input = Buffer.concat(texts.flatMap((t) => {
	const bytes = Buffer.from(t);
	return [Buffer.from(bytes.length + "\n"), bytes, Buffer.from("\n")];
}));
let passed = 0, failed = 0;
for (const name of ["cl100k_base", "o200k_base"]) {
	const api = require(work + "/package/cjs/encoding/" + name + ".js");
	const done = spawnSync(counter, [name], {input, maxBuffer: 1 << 28});
	if (done.status === 77) {
		console.log("the token ranks are not there: token counts are not compared");
		console.log("0 passed, 0 failed, 1 skipped");
		process.exit(0);
	}
	const counts = done.stdout.toString().split("\n");
	texts.forEach((text, i) => {
		const want = api.countTokens(text, {disallowedSpecial: new Set()});
		if (counts[i] === String(want)) {
			passed++;
			return;
		}
		failed++;
		if (failed <= 10)
			console.log(`FAILED: ${name}, seed ${seed}: ${JSON.stringify(text)}: ${counts[i]}, not ${want}`);
	});
}
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exit(failed === 0 ? 0 : 1);
JS
"$node" "$work/compare.cjs" "$counter" "$work" "${SEED:-1}" "${COUNT:-3000}"
