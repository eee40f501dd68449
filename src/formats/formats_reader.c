/* SPDX-License-Identifier: MIT
 *
 * The batch is the arena that the builder fills: it is passed on, then emptied. */
#include "formats/formats_reader.h"

#include <stdarg.h>
#include <stdio.h> /* vsnprintf only */

void
rt_reader_init(rt_reader *r, const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to,
	       rt_report *report)
{
	memset(r, 0, sizeof(*r));
	rt_build_init(&r->b, alloc, report);
	rt_walk_init(&r->w, alloc, in);
	r->report = report;
	r->to = *to;
	r->name = rt_scope_buf(&r->b.s);
	r->source = rt_scope_buf(&r->b.s);
}

bool
rt_reader_ok(rt_reader *r)
{
	if (r->w.status != RT_OK && rt_ok(&r->b.s)) {
		r->b.s.error = r->w.error;
		(void)rt_scope_note(&r->b.s, r->w.status);
	}
	return rt_ok(&r->b.s);
}

void
rt_reader_refuse(rt_reader *r, uint64_t at, const char *format, ...)
{
	char text[RT_ERROR_TEXT_SIZE];
	va_list args;

	if (!rt_reader_ok(r))
		return;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (r->cut_at > 0)
		(void)rt_scope_fail(&r->b.s, RT_USAGE, "the file is truncated at byte %llu; before that, %.200s",
				    (unsigned long long)r->cut_at, text);
	else
		(void)RT_TRY(&r->b.s, rt_fail_at(&r->b.s.error, RT_USAGE, at, "%s", text));
}

/* ---- records ---- */

/* Into the array of the wrapper, if the input begins with such an object; otherwise the walk does not
 * move. */
static void
open_wrapper(rt_reader *r)
{
	rt_walk *w = &r->w;
	rt_walk_mark start = rt_walk_here(w);
	rt_walk_level level;
	rt_str key;

	if (!rt_walk_open(w, &level) || level.close != '}')
		return;
	while (rt_walk_next(w, &level, &key)) {
		if (rt_scan_key_is(key, r->wrapper) && rt_walk_peek(w) == '[') {
			(void)rt_walk_open(w, &r->records);
			return;
		}
		if (!rt_walk_skip(w, &level))
			break;
	}
	rt_walk_seek(w, start);
}

/* The text of the next record; false: no more. */
static bool
next_record(rt_reader *r)
{
	rt_walk *w = &r->w;
	rt_str key;
	uint64_t line;
	bool in_array;

	if (rt_walk_here(w).offset == 0) {
		rt_walk_unmark(w);
		if (rt_walk_blank(w) && rt_walk_peek(w) == '[')
			(void)rt_walk_open(w, &r->records);
		else if (r->wrapper != NULL && rt_walk_peek(w) == '{')
			open_wrapper(r);
	}
	in_array = r->records.close != '\0';
	if (in_array ? !rt_walk_next(w, &r->records, &key) : !rt_walk_blank(w))
		return false;
	line = rt_walk_here(w).line;
	r->is_cut = rt_walk_value(w, in_array ? &r->records : NULL, SIZE_MAX, &r->record) != RT_WALK_WHOLE;
	if (r->is_cut && (in_array || rt_walk_line(w, SIZE_MAX, &r->record) != RT_WALK_WHOLE))
		return false;
	rt_reader_hold(r, r->record, line);
	return true;
}

/* Is the walk at the end of an input whose last line has no end? */
static bool
is_at_end(rt_walk *w)
{
	return rt_walk_peek(w) < 0 && w->at > 0 && w->bytes[w->at - 1] != '\n';
}

/* The input ends within a record. */
static void
note_cut(rt_reader *r, uint64_t line, const char *lost)
{
	while (rt_walk_find(&r->w, RT_STR("\377\377"))) /* to its end */
		;
	r->cut_at = rt_walk_here(&r->w).offset;
	rt_report_add(r->report, RT_REMARK_SKIPPED, line,
		      "the file is truncated at byte %llu, within a record: %s",
		      (unsigned long long)r->cut_at, lost);
}

yyjson_val *
rt_reader_record(rt_reader *r)
{
	r->is_cut = false;
	while (rt_reader_ok(r) && next_record(r)) {
		rt_error fault = {.text = ""};
		yyjson_val *value = rt_build_parse(&r->b, r->record, &r->repaired, &fault);

		if (value != NULL)
			return value;
		if (r->is_cut && is_at_end(&r->w))
			note_cut(r, r->lines.first, "it was left out");
		else
			rt_reader_skipped(r, "skipped a record: %.150s", fault.text);
		if (r->records.close == '\0' && rt_walk_here(&r->w).line == r->lines.first)
			rt_walk_skip_line(&r->w); /* the text after it is not a record either */
	}
	if (r->records.bad && r->is_cut && rt_reader_ok(r))
		note_cut(r, r->records.fault.line, "it and those after it are missing");
	else if (r->records.bad && rt_reader_ok(r))
		rt_report_add(r->report, RT_REMARK_SKIPPED, r->records.fault.line,
			      "the records end early: malformed JSON");
	return NULL;
}

bool
rt_sniff_members(rt_str head, const char *words)
{
	rt_members m;
	rt_str key, value, word;

	head = rt_scan_unmark(head);
	if (rt_members_open(&m, head) && m.close == ']') {
		size_t at = m.at;

		if (!rt_members_next(&m, &key, &head))
			head = rt_str_at(head.ptr + at, head.size - at);
	}
	while (rt_next_word(&words, &word)) {
		bool found = false;

		if (!rt_members_open(&m, head) || m.close != '}')
			return false;
		while (!found && (rt_members_next(&m, &key, &value) || key.size > 1))
			found = rt_str_eq(word, rt_str_at(key.ptr + 1, key.size - 2));
		if (!found)
			return false;
	}
	return true;
}

size_t
rt_reader_count(const rt_reader *r)
{
	return r->begun + rt_build_count(&r->b) - (r->in_piece ? 1 : 0);
}

bool
rt_reader_has_none(const rt_reader *r)
{
	return rt_reader_count(r) + r->empty == 0;
}

bool
rt_reader_is_batched(const rt_reader *r)
{
	return r->to.fn != NULL;
}

bool
rt_reader_is_long(const rt_reader *r)
{
	return rt_reader_is_batched(r) && rt_build_node_count(&r->b) > 0 &&
	       rt_build_discussion_size(&r->b) >= RT_READER_BATCH_BYTES;
}

/* more: the last outline is not complete. */
static void
hand_over(rt_reader *r, bool more)
{
	rt_outlines batch;
	size_t first = r->begun - (r->in_piece ? 1 : 0), count = rt_reader_count(r);

	if (rt_build_finish(&r->b, &batch, NULL) != RT_OK)
		return;
	if (more && batch.count > 0)
		batch.items[batch.count - 1].more = true;
	if (r->has_active && r->active >= first && r->active - first < batch.count) {
		batch.has_active = true;
		batch.active = r->active - first;
	}
	if (!rt_reader_is_batched(r)) {
		*r->to.whole = batch;
		return;
	}
	if (batch.count > 0 || batch.field_count > 0)
		(void)RT_TRY(&r->b.s, r->to.fn(r->to.ctx, &batch, &r->b.s.error));
	r->begun = count;
	r->in_piece = false;
	rt_build_again(&r->b, batch.arena);
}

void
rt_reader_next(rt_reader *r)
{
	if (rt_reader_is_batched(r) && (rt_build_size(&r->b) >= RT_READER_BATCH_BYTES ||
					rt_build_count(&r->b) >= RT_READER_BATCH_DISCUSSIONS))
		hand_over(r, false);
}

void
rt_reader_leave_out(rt_reader *r)
{
	rt_build_drop_discussion(&r->b);
	r->empty++;
	if (r->report != NULL)
		r->report->empty++;
}

rt_outline *
rt_reader_piece(rt_reader *r)
{
	const rt_outline *current;
	rt_outline *outline;

	if (!rt_ok(&r->b.s) || r->b.outlines.count == 0)
		return NULL;
	current = (const rt_outline *)r->b.outlines.items + (r->b.outlines.count - 1);
	rt_buf_clear(r->name);
	rt_buf_clear(r->source);
	rt_buf_add_str(r->name, current->name);
	rt_buf_add_str(r->source, current->source);
	hand_over(r, true);
	r->in_piece = true;
	outline = rt_build_discussion(&r->b);
	if (outline == NULL)
		return NULL;
	outline->name = rt_build_copy(&r->b, rt_scope_str(&r->b.s, r->name));
	outline->source = rt_build_copy(&r->b, rt_scope_str(&r->b.s, r->source));
	return rt_ok(&r->b.s) ? outline : NULL;
}

rt_status
rt_reader_end(rt_reader *r, rt_error *err)
{
	rt_status st;

	if (rt_reader_ok(r))
		hand_over(r, false);
	if (r->b.s.status == RT_NOMEM && r->b.s.error.status == RT_NOMEM &&
	    strcmp(r->b.s.error.text, "out of memory") == 0)
		(void)rt_fail(&r->b.s.error, RT_NOMEM, "out of memory while importing");
	st = r->b.s.status;
	if (st != RT_OK && err != NULL)
		*err = r->b.s.error;
	rt_walk_deinit(&r->w);
	rt_build_deinit(&r->b);
	return st;
}

void
rt_reader_hold(rt_reader *r, rt_str text, uint64_t line)
{
	rt_scan_lines_init(&r->lines, text, line);
}

void
rt_reader_remark(rt_reader *r, rt_remark_level level, const char *where, const char *format, ...)
{
	char text[sizeof(((rt_remark *)NULL)->text)];
	va_list args;

	if (r->report == NULL)
		return;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	rt_report_add(r->report, level, rt_scan_lines_of(&r->lines, where), "%s", text);
}
