/* SPDX-License-Identifier: MIT
 *
 * The ways a secret is written in: as it stands, behind escapes, in base64. Each way is a
 * text of its own with a map back to the one that was asked about:
 *
 *   text          a \ u 0 0 7 3 k - …        JSON escapes and %XX, a round each
 *   next round    a s k - …                  map: 0 1 7 8 …
 *   base64        the bytes of a run         all of it: the run
 */
#include <stdlib.h> /* qsort */

#include "formats/secret_impl.h"

enum {
	ROUNDS_MAX = 4,      /* of escapes within escapes */
	BASE64_MIN = 20,     /* letters of a run that is worth a look */
	BASE64_LINE = 40,    /* a line of base64 that may go on in the next */
	PRINTABLE_MIN = 8,   /* bytes in it that could be words */
	BASE64_DEEP_MAX = 2  /* base64 in base64 */
};

const char *
rt_secret_word(rt_secret_kind kind)
{
	static const char *const words[RT_SECRET_KIND_COUNT] = {
		[RT_SECRET_PRIVATE_KEY] = "private key", [RT_SECRET_API_KEY] = "api key",
		[RT_SECRET_GITHUB] = "github token",     [RT_SECRET_AWS] = "aws key",
		[RT_SECRET_SLACK] = "slack token",       [RT_SECRET_GIVEN] = "configured key",
		[RT_SECRET_JWT] = "token",               [RT_SECRET_PASSWORD] = "password",
		[RT_SECRET_BEARER] = "bearer token",     [RT_SECRET_ASSIGNED] = "secret",
		[RT_SECRET_HOME] = "home directory",     [RT_SECRET_EMAIL] = "email address",
	};

	return kind < RT_SECRET_KIND_COUNT ? words[kind] : "secret";
}

void
rt_secrets_init(rt_secrets *list, const rt_alloc *alloc)
{
	memset(list, 0, sizeof(*list));
	list->alloc = alloc;
}

void
rt_secrets_deinit(rt_secrets *list)
{
	rt_free(list->alloc, list->items);
	memset(list, 0, sizeof(*list));
}

static rt_status
add(rt_secrets *list, rt_secret secret)
{
	if (list->count == list->room) {
		size_t room = list->room == 0 ? 16 : list->room * 2;
		rt_secret *items = rt_resize(list->alloc, list->items, room * sizeof(*items));

		if (items == NULL)
			return RT_NOMEM;
		list->items = items;
		list->room = room;
	}
	list->items[list->count++] = secret;
	return RT_OK;
}

/* A text in one of its ways: map[i] is where byte i of it begins in the text that was asked
 * about, map[size] its end. Without one it is that text. */
typedef struct way {
	rt_buf text;
	size_t *map;
} way;

static size_t
back(const size_t *map, size_t at)
{
	return map == NULL ? at : map[at];
}

static rt_status
find_plain(rt_secrets *list, rt_str text, const size_t *map, const rt_secret_options *options)
{
	size_t at = 0;
	rt_secret found;
	rt_status st = RT_OK;

	while (st == RT_OK && rt_secret_next(text, options, &at, &found)) {
		found.from = back(map, found.from);
		found.to = back(map, found.to);
		st = add(list, found);
	}
	return st;
}

/* ---- base64 ---- */

static int
base64_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+' || c == '-')
		return 62;
	return c == '/' || c == '_' ? 63 : -1;
}

static void
decode(rt_str run, size_t from, rt_buf *out)
{
	uint32_t bits = 0;
	unsigned count = 0;
	size_t i;

	rt_buf_clear(out);
	for (i = from; i < run.size; i++) {
		int six = base64_of(run.ptr[i]);

		if (six < 0)
			continue; /* a line's end */
		bits = bits << 6 | (uint32_t)six;
		count += 6;
		if (count >= 8) {
			count -= 8;
			rt_buf_add_byte(out, (char)(bits >> count & 0xFF));
		}
	}
}

/* Does it hold a secret? Only its words are looked at: the rest are bytes of something. */
static bool
words_hold(rt_str text, const rt_secret_options *options, rt_secret_kind *kind)
{
	size_t from, to, at;
	rt_secret found;

	for (from = 0; from < text.size; from = to + 1) {
		for (to = from; to < text.size && (text.ptr[to] == '\n' || text.ptr[to] == '\r' || text.ptr[to] == '\t' ||
						   (text.ptr[to] >= ' ' && text.ptr[to] <= '~'));)
			to++;
		at = 0;
		if (to - from >= PRINTABLE_MIN &&
		    rt_secret_next(rt_str_at(text.ptr + from, to - from), options, &at, &found)) {
			*kind = found.kind;
			return true;
		}
	}
	return false;
}

/* The end of the run of base64 at from, and of its padding. Lines go on. */
static size_t
run_end(rt_str text, size_t from)
{
	size_t at = from, line = from;

	for (; at < text.size; at++) {
		size_t next = at;

		if (base64_of(text.ptr[at]) >= 0)
			continue;
		if (text.ptr[next] == '\r')
			next++;
		if (next >= text.size || text.ptr[next] != '\n' || at - line < BASE64_LINE ||
		    (at - line) % 4 != 0 || next + 1 >= text.size || base64_of(text.ptr[next + 1]) < 0)
			break;
		at = next;
		line = next + 1;
	}
	while (at < text.size && text.ptr[at] == '=')
		at++;
	return at;
}

static bool run_holds(rt_str run, const rt_secret_options *options, unsigned depth, rt_buf *scratch,
		      rt_secret_kind *kind);

/* Runs of base64 within what came out of base64. depth is bounded by BASE64_DEEP_MAX. */
static bool
runs_hold(rt_str text, const rt_secret_options *options, unsigned depth, rt_buf *scratch,
	  rt_secret_kind *kind)
{
	size_t at, end;

	for (at = 0; at < text.size; at = end) {
		end = base64_of(text.ptr[at]) < 0 ? at + 1 : run_end(text, at);
		if (end - at >= BASE64_MIN &&
		    run_holds(rt_str_at(text.ptr + at, end - at), options, depth, scratch, kind))
			return true;
	}
	return false;
}

static bool
run_holds(rt_str run, const rt_secret_options *options, unsigned depth, rt_buf *scratch,
	  rt_secret_kind *kind)
{
	size_t shift;

	for (shift = 0; shift < 4 && shift < run.size; shift++) {
		decode(run, shift, &scratch[depth]);
		if (scratch[depth].status != RT_OK)
			return false; /* the caller sees why */
		if (words_hold(rt_buf_str(&scratch[depth]), options, kind) ||
		    (depth + 1 < BASE64_DEEP_MAX &&
		     runs_hold(rt_buf_str(&scratch[depth]), options, depth + 1, scratch, kind)))
			return true;
	}
	return false;
}

static rt_status
find_base64(rt_secrets *list, rt_str text, const size_t *map, const rt_secret_options *options)
{
	rt_buf scratch[BASE64_DEEP_MAX];
	rt_secret_kind kind = RT_SECRET_API_KEY;
	size_t at, end, i;
	rt_status st = RT_OK;

	for (i = 0; i < BASE64_DEEP_MAX; i++)
		rt_buf_init(&scratch[i], list->alloc, RT_BUF_UNLIMITED);
	for (at = 0; st == RT_OK && at < text.size; at = end) {
		end = base64_of(text.ptr[at]) < 0 ? at + 1 : run_end(text, at);
		if (end - at >= BASE64_MIN &&
		    run_holds(rt_str_at(text.ptr + at, end - at), options, 0, scratch, &kind))
			st = add(list, (rt_secret){back(map, at), back(map, end), kind});
		for (i = 0; st == RT_OK && i < BASE64_DEEP_MAX; i++)
			st = scratch[i].status;
	}
	for (i = 0; i < BASE64_DEEP_MAX; i++)
		rt_buf_deinit(&scratch[i]);
	return st;
}

/* ---- escapes ---- */

static int
hex_at(rt_str text, size_t at, size_t count)
{
	int number = 0;

	if (at + count > text.size)
		return -1;
	for (; count > 0; at++, count--) {
		char c = text.ptr[at];
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
			    : c >= 'A' && c <= 'F' ? c - 'A' + 10
						   : -1;

		if (digit < 0)
			return -1;
		number = number * 16 + digit;
	}
	return number;
}

/* The byte that an escape at at stands for and how many bytes it takes; 0: there is none.
 * What is not ASCII comes out as one byte, for no secret has it. */
static size_t
escape_at(rt_str text, size_t at, bool has_percent, char *out)
{
	static const char from[] = "\"\\/bfnrt'", to[] = "\"\\/\b\f\n\r\t'";
	const char *found;
	int code;

	if (text.ptr[at] == '%' && has_percent) {
		code = hex_at(text, at + 1, 2);
		*out = (char)code;
		return code >= 0 ? 3 : 0;
	}
	if (text.ptr[at] != '\\' || at + 1 >= text.size)
		return 0;
	if (text.ptr[at + 1] == 'u') {
		code = hex_at(text, at + 2, 4);
		*out = code < 0x80 ? (char)code : '\x80';
		return code >= 0 ? 6 : 0;
	}
	if (text.ptr[at + 1] == '\0')
		return 0;
	found = strchr(from, text.ptr[at + 1]);
	if (found == NULL)
		return 0;
	*out = to[found - from];
	return 2;
}

/* The next round of a text. *changed: it had escapes. */
static rt_status
unescape(const rt_alloc *alloc, rt_str text, const size_t *map, bool has_percent, way *out,
	 bool *changed)
{
	size_t at = 0, size;
	char c;

	rt_buf_init(&out->text, alloc, RT_BUF_UNLIMITED);
	*changed = false;
	out->map = rt_new_array(alloc, text.size + 1, sizeof(*out->map));
	if (out->map == NULL)
		return RT_NOMEM;
	while (at < text.size && out->text.status == RT_OK) {
		size = escape_at(text, at, has_percent, &c);
		out->map[out->text.size] = back(map, at);
		rt_buf_add_byte(&out->text, size > 0 ? c : text.ptr[at]);
		*changed = *changed || size > 0;
		at += size > 0 ? size : 1;
	}
	out->map[out->text.size] = back(map, text.size);
	return out->text.status;
}

static void
way_deinit(const rt_alloc *alloc, way *w)
{
	if (w->text.alloc != NULL)
		rt_buf_deinit(&w->text);
	rt_free(alloc, w->map);
	memset(w, 0, sizeof(*w));
}

static bool
may_have_escapes(rt_str text)
{
	return text.size > 0 && (memchr(text.ptr, '\\', text.size) != NULL ||
				 memchr(text.ptr, '%', text.size) != NULL);
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

/* In their order, what overlaps as one. */
static void
join(rt_secrets *list)
{
	size_t i, kept = 0;

	if (list->count == 0)
		return;
	qsort(list->items, list->count, sizeof(*list->items), by_place);
	for (i = 1; i < list->count; i++) {
		rt_secret *last = &list->items[kept], *next = &list->items[i];

		if (next->from < last->to) {
			if (next->to > last->to)
				last->to = next->to;
			if (next->kind < last->kind)
				last->kind = next->kind;
		} else {
			list->items[++kept] = *next;
		}
	}
	list->count = kept + 1;
}

rt_status
rt_secrets_find(rt_secrets *list, rt_str text, bool is_json, const rt_secret_options *options)
{
	way ways[2];
	rt_str now = text;
	const size_t *map = NULL;
	bool changed = true;
	unsigned round;
	rt_status st = RT_OK;

	memset(ways, 0, sizeof(ways));
	list->count = 0;
	for (round = 0; st == RT_OK && changed && round < ROUNDS_MAX; round++) {
		way *next = &ways[round % 2];
		/* within JSON what stands before the first round is no text yet */
		bool is_text = !is_json || round > 0 ||
			       (text.size > 0 && memchr(text.ptr, '\\', text.size) == NULL);

		if (is_text)
			st = find_plain(list, now, map, options);
		if (st == RT_OK && is_text)
			st = find_base64(list, now, map, options);
		if (st != RT_OK || !may_have_escapes(now))
			break;
		way_deinit(list->alloc, next);
		st = unescape(list->alloc, now, map, !is_json || round > 0, next, &changed);
		if (is_json && round == 0)
			changed = true;
		now = rt_buf_str(&next->text);
		map = next->map;
	}
	way_deinit(list->alloc, &ways[0]);
	way_deinit(list->alloc, &ways[1]);
	if (st == RT_OK)
		join(list);
	return st;
}
