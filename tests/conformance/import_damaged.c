/* SPDX-License-Identifier: MIT
 *
 * conformance-import --damaged COUNT: damaged copies of a sample. Its beginnings are all tried if there are
 * at most COUNT, else those that end after a record or at random places; then COUNT mutations, each of one to six
 * changes: bytes, numbers, pieces of JSON, repeated and missing parts. The random numbers depend on the
 * name of the sample and the number of the mutation only, so a number that is printed can be tried alone:
 * --damaged +NUMBER.
 *
 * Each copy is read by the format of the sample, or refused with a reason, which has a position unless the file is a
 * database. Results have sound links, and their canonical form is the same after it has been read again. A sample
 * of them is imported into a store. No copy takes long. Beginnings are never taken for another format; a mutation
 * may turn a file into one. */
#define _GNU_SOURCE /* SIGALRM, clock_gettime */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "import_facts.h"
#include "importers/database.h"

enum {
	CHANGES_MAX = 6,
	PART_MAX = 200,          /* bytes that a change moves or drops, in most cases */
	SMALL = 32 * 1024,       /* files of which every result is written, and not just a sample */
	WRITTEN_EACH = 16,       /* of the results of larger files */
	STORED_EACH = 32,        /* of all results */
	SECONDS_MAX = 3,         /* of processor time, for any copy */
	ALARM_SECONDS = 300      /* for one that never ends */
};

static const char *current_name;
static volatile size_t current;

static void
hangs(int signal)
{
	(void)signal;
	fprintf(stderr, "%s: mutation or size %zu takes more than %d s\n", current_name, current,
		(int)ALARM_SECONDS);
	_exit(1);
}

/* ---- one copy ---- */

static bool
is_text(rt_str s)
{
	return rt_utf8_valid_size(s) == s.size;
}

static void
check_outline(rt_case *c, const char *what, rt_outline *o)
{
	rt_report report;
	bool is_sound = is_text(o->name);

	rt_report_init(&report, rt_alloc_libc());
	rt_check(c, o->head < (int64_t)o->node_count, "%s: the head is no entry", what);
	for (size_t t = 0; t < o->take_count; t++)
		for (size_t i = 0; i < o->takes[t].node_count; i++)
			is_sound = is_sound && o->takes[t].nodes[i] >= 0 &&
				   o->takes[t].nodes[i] < (int64_t)o->node_count;
	for (size_t i = 0; i < o->node_count; i++)
		is_sound = is_sound && is_text(o->nodes[i].id) && is_text(o->nodes[i].role) &&
			   (o->nodes[i].body_format == RT_BODY_PI || is_text(o->nodes[i].body));
	rt_check(c, is_sound, "%s: a text or a take of \"%.*s\" is damaged", what, RT_STR_ARG(o->name));
	rt_check(c,
		 rt_outline_repair(rt_alloc_libc(), o, NULL, &report) == RT_OK && report.repaired == 0,
		 "%s: the links of \"%.*s\" are damaged", what, RT_STR_ARG(o->name));
	rt_report_deinit(&report);
}

static void
check_result(rt_case *c, const char *what, rt_outlines *outlines, bool is_written, bool is_stored)
{
	for (size_t i = 0; i < outlines->count; i++) {
		rt_outline *o = &outlines->items[i];

		check_outline(c, what, o);
		/* canonical JSON names the head by its id, which every entry of a store has */
		if (o->head >= 0 && o->nodes[o->head].id.size == 0)
			o->has_head = false;
	}
	if (is_written)
		check_written(c, &rt_format_canonical, outlines);
	if (is_stored)
		check_stored(c, outlines);
}

static double
seconds_used(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) != 0)
		abort();
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* number: its size, or the number of the mutation. */
static void
try_copy(rt_case *c, const rt_format *format, rt_str copy, bool is_mutation, size_t number)
{
	char what[60];
	char *bytes = malloc(copy.size + (copy.size == 0)); /* no byte more, for sanitizers */
	rt_str text = rt_str_at(bytes, copy.size);
	bool is_written = copy.size <= SMALL || number % WRITTEN_EACH == 0;
	const rt_format *detected;
	rt_error err = {.text = ""};
	rt_outlines outlines;
	rt_report report;
	double start = seconds_used();
	size_t failures = c->failures;
	rt_status st;

	if (bytes == NULL)
		abort();
	memcpy(bytes, copy.ptr, copy.size);
	current = number;
	(void)alarm(ALARM_SECONDS);
	snprintf(what, sizeof(what), is_mutation ? "mutation %zu" : "%zu bytes", number);
	detected = detect(text);
	rt_check(c, is_mutation || detected == NULL || detected == format, "%s: mistaken for %s", what,
		 detected == NULL ? "" : detected->name);
	rt_report_init(&report, rt_alloc_libc());
	st = format->read(rt_alloc_libc(), text, &outlines, &report, &err);
	rt_check(c, seconds_used() - start < SECONDS_MAX, "%s: reading takes %.1f s", what,
		 seconds_used() - start);
	if (st == RT_OK) {
		check_result(c, what, &outlines, is_written, number % STORED_EACH == 0);
		rt_outlines_deinit(&outlines);
	} else {
		/* SQLite reports no position, even if the header is damaged. */
		bool has_place = rt_db_is(text) || strstr(err.text, "SQLite database") != NULL ||
				 err.has_at || strstr(err.text, "line ") != NULL ||
				 strstr(err.text, "byte ") != NULL;

		rt_check(c, (st == RT_USAGE || st == RT_LIMIT) && strlen(err.text) > 10,
			 "%s: refused with status %d, \"%s\"", what, (int)st, err.text);
		rt_check(c, has_place && (!err.has_at || err.at <= text.size),
			 "%s: refused without a position: \"%s\"", what, err.text);
	}
	if (c->failures > failures)
		printf("%s: the above is about %s of %s\n", c->name, what, format->name);
	(void)alarm(0);
	rt_report_deinit(&report);
	free(bytes);
}

/* ---- changes ---- */

static uint64_t
next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static size_t
below(uint64_t *state, size_t end)
{
	return end == 0 ? 0 : (size_t)(next_random(state) % end);
}

/* Replaces a part of a text. */
static void
replace(rt_buf *text, size_t at, size_t size, rt_str by)
{
	rt_buf out;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add(&out, text->ptr, at);
	rt_buf_add_str(&out, by);
	rt_buf_add(&out, text->ptr + at + size, text->size - at - size);
	if (out.status != RT_OK)
		abort();
	rt_buf_deinit(text);
	*text = out;
}

static const char *const pieces[] = {
	"\"", "\\", "{", "}", "[", "]", ",", ":", "\n", "null", "true", "{}", "[]", "\"\"", "-1", "0",
	"1e999", "9223372036854775808", "18446744073709551616", "0.0000000001", "253402300800",
	"\\ud800", "\\u0000", "\xff", "\xef\xbb\xbf", "\xed\xa0\x80", "\r\n", "\t", "\"id\":\"\",",
	"\"parent\":", "[[[[[[[[", "{\"a\":{\"a\":{\"a\":", "# ", "SQLite format 3",
};

static void
change(rt_buf *text, uint64_t *state)
{
	size_t at = below(state, text->size), rest = text->size - at, from, size;
	char byte = (char)next_random(state);

	if (text->size == 0)
		return;
	size = below(state, 8) == 0 ? below(state, rest) : below(state, rest < PART_MAX ? rest : PART_MAX);
	from = below(state, text->size - size + 1);
	switch (below(state, 8)) {
	case 0: text->ptr[at] = byte; break;
	case 1: text->ptr[at] = (char)(text->ptr[at] ^ 1 << below(state, 8)); break;
	case 2: replace(text, at, size, RT_STR("")); break;
	case 3: replace(text, at, 0, rt_str_at(text->ptr + from, size)); break;
	case 4: replace(text, at, size, rt_str_at(text->ptr + from, size)); break;
	case 5: replace(text, at, 0, rt_str_of(pieces[below(state, sizeof(pieces) / sizeof(*pieces))])); break;
	case 6: /* a value or a name at that place */
		for (size = 0; size < rest && strchr("\"{}[],: \n", text->ptr[at + size]) == NULL; size++)
			;
		replace(text, at, size,
			rt_str_of(pieces[below(state, sizeof(pieces) / sizeof(*pieces))]));
		break;
	default: /* the end of another part */
		replace(text, at, rest, rt_str_at(text->ptr + from, text->size - from));
	}
}

static void
try_mutation(rt_case *c, const rt_format *format, rt_str file, size_t number)
{
	uint64_t state = rt_hash(c->name, strlen(c->name), number) | 1;
	rt_buf text;

	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_str(&text, file);
	if (text.status != RT_OK)
		abort();
	for (size_t i = 1 + below(&state, CHANGES_MAX); i > 0; i--)
		change(&text, &state);
	try_copy(c, format, rt_buf_str(&text), true, number);
	rt_buf_deinit(&text);
}

static void
try_beginnings(rt_case *c, const rt_format *format, rt_str file, size_t count)
{
	size_t ends = 0, step, seen = 0;
	uint64_t state = 88172645463325252u;

	if (file.size <= count) {
		for (size_t i = 0; i < file.size; i++)
			try_copy(c, format, rt_str_at(file.ptr, i), false, i);
		return;
	}
	for (size_t i = 0; i < file.size; i++)
		ends += file.ptr[i] == '\n' || file.ptr[i] == '}';
	step = ends / (count / 2 + 1) + 1;
	for (size_t i = 0; i < file.size; i++)
		if ((file.ptr[i] == '\n' || file.ptr[i] == '}') && seen++ % step == 0)
			try_copy(c, format, rt_str_at(file.ptr, i + 1), false, i + 1);
	for (size_t i = 0; i < count / 2; i++) {
		size_t size = below(&state, file.size + 1);

		try_copy(c, format, rt_str_at(file.ptr, size), false, size);
	}
}

void
check_damaged(rt_case *c, const rt_format *format, rt_str file, const char *count)
{
	size_t number = (size_t)strtoul(count, NULL, 10);

	current_name = c->name;
	(void)signal(SIGALRM, hangs);
	if (count[0] == '+') {
		try_mutation(c, format, file, number);
		return;
	}
	try_beginnings(c, format, file, number);
	for (size_t i = 0; i < number; i++)
		try_mutation(c, format, file, i);
}
