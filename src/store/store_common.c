/* SPDX-License-Identifier: MIT */
#include "store/store_common.h"

#include <stdarg.h>
#include <stdio.h> /* snprintf, vsnprintf */

void
rt_store_check_gates(rt_scope *s, const rt_store_gates *gates, uint64_t format, const char *place,
		     bool is_read_only)
{
	rt_str by = rt_str_of(gates->written_by);
	char program[40] = "a newer Retake";

	if (by.size > 0 && by.size <= 20 && rt_utf8_valid_size(by) == by.size)
		(void)snprintf(program, sizeof(program), "Retake %.*s", RT_STR_ARG(by));
	if (gates->reader > format)
		rt_scope_fail(s, RT_TOO_NEW,
			      "%s was written by %s in format %llu; this is Retake %s, which reads "
			      "up to format %llu",
			      place, program, (unsigned long long)gates->reader, RT_VERSION,
			      (unsigned long long)format);
	else if (gates->writer > format && !is_read_only)
		rt_scope_fail(s, RT_TOO_NEW,
			      "%s was written by %s in format %llu; this is Retake %s, which can "
			      "open it for reading only",
			      place, program, (unsigned long long)gates->writer, RT_VERSION);
}

bool
rt_store_range(const rt_rows *rows, uint64_t *out_first, uint64_t *out_last, bool *out_down)
{
	bool is_log = rows->table == RT_STORE_LOG, down = is_log && rows->first > rows->last;
	uint64_t first = down ? rows->last : rows->first, last = down ? rows->first : rows->last;

	RT_ASSERT(rows->table < RT_STORE_INDEX);
	if (rows->table != RT_STORE_PROJECTS &&
	    (rows->project == 0 || rows->project > RT_STORE_PROJECT_MAX))
		return false;
	*out_first = is_log && first == 0 ? 1 : first;
	*out_last = last < RT_STORE_NUMBER_MAX ? last : RT_STORE_NUMBER_MAX;
	*out_down = down;
	return *out_first <= *out_last && (rows->numbers == NULL || rows->number_count > 0);
}

void
rt_store_no_project(rt_scope *s, uint64_t project)
{
	rt_scope_fail(s, RT_NOT_FOUND, "there is no project %llu", (unsigned long long)project);
}

void
rt_store_name_used(rt_scope *s, rt_str name)
{
	rt_scope_fail(s, RT_REFUSED, "a project \"%.*s\" already exists", RT_STR_ARG(name));
}

void
rt_store_check_last(rt_scope *s, uint64_t last_project)
{
	if (last_project >= RT_STORE_PROJECT_MAX)
		rt_scope_fail(s, RT_LIMIT,
			      "the store already contains %d projects, which is the maximum",
			      RT_STORE_PROJECT_MAX);
}

void
rt_store_check_size(rt_scope *s, size_t size, size_t size_max)
{
	if (size > size_max)
		rt_scope_fail(s, RT_LIMIT, "%zu bytes exceed the maximum size of a row (%zu)", size,
			      size_max);
}

void
rt_store_check_number(rt_scope *s, const char *noun, uint64_t number)
{
	if (number < 1 || number > RT_STORE_NUMBER_MAX)
		rt_scope_fail(s, RT_USAGE, "%llu is not the number of a %s",
			      (unsigned long long)number, noun);
}

void
rt_store_check_append(rt_scope *s, uint64_t project, uint64_t head, uint64_t expected,
		      const rt_store_row *rows, size_t row_count, uint64_t last,
		      const rt_store_row *bodies, size_t body_count, size_t size_max)
{
	if (head != expected)
		rt_scope_fail(s, RT_CONFLICT, "the log is at %llu, not at %llu",
			      (unsigned long long)head, (unsigned long long)expected);
	if (row_count > RT_STORE_NUMBER_MAX - head)
		rt_scope_fail(s, RT_LIMIT, "the log of project %llu is full",
			      (unsigned long long)project);
	for (size_t i = 0; i < row_count; i++)
		rt_store_check_size(s, rows[i].data.size, size_max);
	for (size_t i = 0; i < body_count; i++) {
		if (bodies[i].number <= last || bodies[i].number > RT_STORE_NUMBER_MAX)
			rt_scope_fail(s, RT_USAGE, "body %llu cannot follow body %llu",
				      (unsigned long long)bodies[i].number,
				      (unsigned long long)last);
		rt_store_check_size(s, bodies[i].data.size, size_max);
		last = bodies[i].number;
	}
}

/* --- findings --- */

void
rt_store_report(rt_store_findings *k, const char *id, const char *format, ...)
{
	char text[400];
	va_list ap;

	if (k->stop)
		return;
	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	/* The sentences of a database may quote damaged bytes. */
	for (char *p = text; *p != 0; p++) {
		if ((unsigned char)*p < 0x20 || (unsigned char)*p > 0x7e)
			*p = '?';
	}
	k->stop = !k->fn(k->ctx, id, text);
}

void
rt_store_report_row(rt_store_findings *k, enum rt_row_table table, uint64_t key)
{
	/* With the number, which in tables without one is the project, and the project. */
	static const struct {
		const char *id, *text;
	} of[] = {
		[RT_TABLE_PROJECT] = {"store-project-damaged", "the row of project %llu"},
		[RT_TABLE_LOG] = {"store-log-damaged", "log row %llu of project %llu"},
		[RT_TABLE_BODY] = {"store-body-damaged", "body %llu of project %llu"},
		[RT_TABLE_NODE] = {"store-node-damaged", "node %llu of project %llu"},
		[RT_TABLE_ROOT] = {"store-root-damaged", "the root of project %llu"},
		[RT_TABLE_SIDE] = {"store-side-damaged", "a side row of project %llu"},
		[RT_TABLE_MARK] = {"store-index-damaged", "the index mark of project %llu"},
	};
	char what[60];

	(void)snprintf(what, sizeof(what), of[table].text,
		       (unsigned long long)(key & RT_STORE_NUMBER_MAX),
		       (unsigned long long)(key >> 43));
	rt_store_report(k, of[table].id, "%s was altered", what);
}

void
rt_store_check_log(rt_store_findings *k, uint64_t key, uint64_t *before)
{
	uint64_t project = key >> 43;
	uint64_t expected = project == *before >> 43 ? *before + 1 : rt_row_key(project, 1);

	if (key != expected)
		rt_store_report(k, "store-log-gap", "the log of project %llu has no row %llu",
				(unsigned long long)project,
				(unsigned long long)(expected & RT_STORE_NUMBER_MAX));
	*before = key;
}
