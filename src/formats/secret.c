/* SPDX-License-Identifier: MIT
 *
 * The encodings of secrets. A secret is searched in the text itself, after each of several rounds
 * of unescaping, and in decoded runs of base64. A map leads from each byte of an unescaped text
 * back to its origin in the original:
 *
 *   text          a \ u 0 0 7 3 k - …        JSON escapes and %XX, one level a round
 *   next round    a s k - …                  map: 0 1 7 8 …
 *   base64        the decoded bytes          map: the whole run
 */
#include "formats/secret.h"

#include <stdlib.h> /* qsort */

#include "base/encode.h"

enum {
	ROUNDS_MAX = 4,      /* of escapes within escapes */
	BASE64_MIN = 20,     /* characters of a run that is worth decoding */
	BASE64_LINE = 40,    /* of a line of base64 that may continue on the next */
	PRINTABLE_MIN = 8,   /* bytes that may be text */
	BASE64_DEPTH_MAX = 2 /* base64 in base64 */
};

const char *
rt_secret_word(rt_secret_kind kind)
{
	static const char *const words[RT_SECRET_KIND_COUNT] = {
		[RT_SECRET_PRIVATE_KEY] = "private key",
		[RT_SECRET_API_KEY] = "api key",
		[RT_SECRET_GITHUB] = "github token",
		[RT_SECRET_AWS] = "aws key",
		[RT_SECRET_SLACK] = "slack token",
		[RT_SECRET_GIVEN] = "configured key",
		[RT_SECRET_JWT] = "token",
		[RT_SECRET_PASSWORD] = "password",
		[RT_SECRET_BEARER] = "bearer token",
		[RT_SECRET_ASSIGNED] = "secret",
		[RT_SECRET_HOME] = "home directory",
		[RT_SECRET_EMAIL] = "email address",
	};

	return kind < RT_SECRET_KIND_COUNT ? words[kind] : "secret";
}

/* A text under search. */
typedef struct search {
	rt_scope scope; /* of the search */
	rt_scope *s;    /* of the list */
	rt_items *list;
	const rt_secret_options *options;
	rt_str text;
	size_t *map; /* of text, and its end; NULL: text is the original */
	rt_buf *decoded[BASE64_DEPTH_MAX];
} search;

static void
found(search *s, size_t from, size_t to, rt_secret_kind kind)
{
	rt_secret *secret = rt_items_push(s->s, s->list, sizeof(*secret));

	(void)rt_scope_note(&s->scope, s->s->status);
	if (secret != NULL && s->map == NULL)
		*secret = (rt_secret){from, to, kind};
	else if (secret != NULL)
		*secret = (rt_secret){s->map[from], s->map[to], kind};
}

static void
find_plain(search *s)
{
	rt_secret secret;

	for (size_t at = 0; rt_ok(&s->scope) && rt_secret_next(s->text, s->options, &at, &secret);)
		found(s, secret.from, secret.to, secret.kind);
}

/* ---- base64 ---- */

/* Characters outside of the alphabet are line ends. */
static rt_str
decode(search *s, rt_str run, rt_buf *out)
{
	uint32_t bits = 0;
	unsigned count = 0;

	rt_buf_clear(out);
	for (size_t i = 0; i < run.size; i++) {
		int six = rt_base64_digit(run.ptr[i]);

		if (six < 0)
			continue;
		bits = bits << 6 | (uint32_t)six;
		count += 6;
		if (count >= 8) {
			count -= 8;
			rt_buf_add_byte(out, (char)(bits >> count & 0xFF));
		}
	}
	return rt_scope_str(&s->scope, out);
}

static bool
is_printable(char c)
{
	return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t';
}

/* Is there a secret in the printable parts of decoded bytes? */
static bool
has_secret(search *s, rt_str bytes, rt_secret_kind *kind)
{
	rt_secret secret;

	for (size_t from = 0, to; from < bytes.size; from = to + 1) {
		size_t at = 0;

		for (to = from; to < bytes.size && is_printable(bytes.ptr[to]);)
			to++;
		if (to - from >= PRINTABLE_MIN &&
		    rt_secret_next(rt_str_at(bytes.ptr + from, to - from), s->options, &at,
				   &secret)) {
			*kind = secret.kind;
			return true;
		}
	}
	return false;
}

/* The end of the run of base64 at `from`, over lines, with its padding. */
static size_t
run_end(rt_str text, size_t from)
{
	size_t at = from, line = from;

	for (; at < text.size; at++) {
		size_t next = at;

		if (rt_base64_digit(text.ptr[at]) >= 0)
			continue;
		next += text.ptr[next] == '\r';
		if (next + 1 >= text.size || text.ptr[next] != '\n' || at - line < BASE64_LINE ||
		    (at - line) % 4 != 0 || rt_base64_digit(text.ptr[next + 1]) < 0)
			break;
		at = next;
		line = next + 1;
	}
	while (at < text.size && text.ptr[at] == '=')
		at++;
	return at;
}

/* The next run of base64 that is worth decoding, from *at on. */
static bool
next_run(rt_str text, size_t *at, rt_str *out_run)
{
	while (*at < text.size) {
		size_t from = *at;

		*at = rt_base64_digit(text.ptr[from]) < 0 ? from + 1 : run_end(text, from);
		if (*at - from >= BASE64_MIN) {
			*out_run = rt_str_at(text.ptr + from, *at - from);
			return true;
		}
	}
	return false;
}

/* Does a run hold a secret, whichever of its first four characters begins the encoding? Runs within
 * the decoded bytes count too. */
static bool
run_has_secret(search *s, rt_str run, unsigned depth, rt_secret_kind *kind)
{
	for (size_t shift = 0; shift < 4 && shift < run.size; shift++) {
		rt_str bytes = decode(s, rt_str_at(run.ptr + shift, run.size - shift),
				      s->decoded[depth]);
		rt_str inner;

		if (has_secret(s, bytes, kind))
			return true;
		for (size_t at = 0; depth + 1 < BASE64_DEPTH_MAX && next_run(bytes, &at, &inner);)
			if (run_has_secret(s, inner, depth + 1, kind))
				return true;
	}
	return false;
}

static void
find_base64(search *s)
{
	rt_secret_kind kind;
	rt_str run;

	for (size_t at = 0; rt_ok(&s->scope) && next_run(s->text, &at, &run);)
		if (run_has_secret(s, run, 0, &kind))
			found(s, at - run.size, at, kind);
}

/* ---- escapes ---- */

/* The byte that the escape at `at` stands for, and its size; 0: there is none. A character outside
 * ASCII becomes one byte: no secret contains it. */
static size_t
escape_at(rt_str text, size_t at, bool has_percent, char *out)
{
	static const char from[] = "\"\\/bfnrt'", to[] = "\"\\/\b\f\n\r\t'";
	char next = at + 1 < text.size ? text.ptr[at + 1] : '\0';
	const char *known;
	int code;

	if (text.ptr[at] == '%' && has_percent) {
		code = rt_hex_number(text, at + 1, 2);
		*out = (char)code;
		return code >= 0 ? 3 : 0;
	}
	if (text.ptr[at] != '\\' || next == '\0')
		return 0;
	if (next == 'u') {
		code = rt_hex_number(text, at + 2, 4);
		*out = code < 0x80 ? (char)code : '\x80';
		return code >= 0 ? 6 : 0;
	}
	known = strchr(from, next);
	if (known == NULL)
		return 0;
	*out = to[known - from];
	return 2;
}

/* A copy of the text with its map, for unescape. */
static void
copy_text(search *s)
{
	rt_str text = s->text;

	s->text = rt_scope_copy(&s->scope, text);
	s->map = rt_scope_array(&s->scope, text.size + 1, sizeof(*s->map));
	for (size_t i = 0; s->map != NULL && i <= text.size; i++)
		s->map[i] = i;
}

/* One level of escapes, in place. False: there were none. */
static bool
unescape(search *s, bool has_percent)
{
	char *bytes = (char *)(uintptr_t)s->text.ptr;
	size_t kept = 0;
	bool changed = false;

	for (size_t at = 0, size; at < s->text.size; at += size) {
		char c = bytes[at];

		size = escape_at(s->text, at, has_percent, &c);
		changed = changed || size > 0;
		if (size == 0) {
			c = bytes[at];
			size = 1;
		}
		s->map[kept] = s->map[at];
		bytes[kept++] = c;
	}
	s->map[kept] = s->map[s->text.size];
	s->text.size = kept;
	return changed;
}

/* ---- all of them ---- */

static int
by_place(const void *a, const void *b)
{
	const rt_secret *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/* In order, those that overlap as one. */
static void
join(rt_items *list)
{
	rt_secret *items = list->items;
	size_t kept = 0;

	if (list->count == 0)
		return;
	qsort(items, list->count, sizeof(*items), by_place);
	for (size_t i = 1; i < list->count; i++) {
		rt_secret *last = &items[kept], *next = &items[i];

		if (next->from >= last->to) {
			items[++kept] = *next;
			continue;
		}
		if (next->to > last->to)
			last->to = next->to;
		if (next->kind < last->kind)
			last->kind = next->kind;
	}
	list->count = kept + 1;
}

void
rt_secrets_find(rt_scope *s, rt_items *list, rt_str text, bool is_json,
		const rt_secret_options *options)
{
	search find = {.s = s, .list = list, .options = options, .text = text};
	bool has_slash = text.size > 0 && memchr(text.ptr, '\\', text.size) != NULL;
	bool has_escapes = has_slash || (text.size > 0 && memchr(text.ptr, '%', text.size) != NULL);

	list->count = 0;
	if (!rt_ok(s))
		return;
	rt_scope_init(&find.scope, s->alloc);
	for (unsigned i = 0; i < BASE64_DEPTH_MAX; i++)
		find.decoded[i] = rt_scope_buf(&find.scope);
	for (unsigned round = 0; rt_ok(&find.scope) && round < ROUNDS_MAX; round++) {
		bool is_escaped = is_json && round == 0; /* not the text yet */

		if (!is_escaped || !has_slash) {
			find_plain(&find);
			find_base64(&find);
		}
		if (has_escapes && find.map == NULL)
			copy_text(&find);
		if (!has_escapes || !rt_ok(&find.scope) ||
		    (!unescape(&find, !is_escaped) && !is_escaped))
			break;
	}
	(void)rt_scope_join(s, &find.scope);
	if (rt_ok(s))
		join(list);
}
