/* SPDX-License-Identifier: MIT
 *
 * zip: archives of files in any other format, as ChatGPT, Claude.ai and other programs export them.
 *
 * Each member is read as if it were given alone: its format is detected by its content, and a
 * discussion without a name gets that of its file. Members of no known format, such as pictures, are
 * counted; those that cannot be read are reported by name. An archive inside an archive is not
 * opened. All of an archive is one import. */
#include <stdio.h> /* snprintf */

#include "formats/formats.h"
#include "formats/formats_reader.h"
#include "importers/archive.h"
#include "importers/database.h"

enum {
	IN_MEMORY_MAX = 64 << 20 /* of a member that is not read from its beginning to its end */
};

typedef struct unpacking {
	rt_scope s; /* of the archive */
	const rt_alloc *alloc;
	const rt_reader_to *to;
	rt_build b; /* of the whole, if it is wanted at once */
	rt_report *report;
	rt_archive archive;
	const rt_archive_member *member;
	rt_status passed; /* the failure of the receiver */
	bool goes_on;     /* the last outline was not complete */
	size_t found, failed, unknown;
	char first[200];  /* the first failure of a member */
} unpacking;

/* ---- outlines ---- */

/* The name of a file without folders and extension. */
static rt_str
base_name(rt_str name)
{
	size_t end = name.size;

	for (size_t i = name.size; i-- > 0;) {
		if (name.ptr[i] == '/' || name.ptr[i] == '\\')
			return rt_str_at(name.ptr + i + 1, end - i - 1);
		if (name.ptr[i] == '.' && end == name.size && i > 0)
			end = i;
	}
	return rt_str_at(name.ptr, end);
}

static void
copy_takes(rt_build *b, const rt_outline *o, rt_outline *made)
{
	for (size_t i = 0; i < o->take_count; i++) {
		const rt_outline_take *take = &o->takes[i];

		rt_build_take(b, rt_build_copy(b, take->name), rt_build_copy(b, take->git_commit),
			      take->nodes, take->node_count);
		if (take->files.ptr != NULL)
			rt_build_take_files(b, rt_build_copy(b, take->files));
	}
	made->active_take = o->active_take;
}

static void
copy_outline(rt_build *b, const rt_outline *o)
{
	rt_outline *made = rt_build_discussion(b);

	if (made == NULL)
		return;
	made->name = rt_build_copy(b, o->name);
	made->called = rt_build_copy(b, o->called);
	made->source = rt_build_copy(b, o->source);
	made->has_head = o->has_head;
	made->head = o->head;
	for (size_t i = 0; i < o->node_count; i++) {
		if (o->nodes[i].body_format == RT_BODY_TEXT)
			rt_build_body_open(b, o->nodes[i].body, false);
		else
			rt_build_body_verbatim(b, o->nodes[i].body);
		(void)rt_build_node(b, &o->nodes[i]);
	}
	copy_takes(b, o, made);
	for (size_t i = 0; i < o->field_count; i++)
		rt_build_field(b, o->fields[i].name, o->fields[i].json);
}

static void
copy_batch(unpacking *u, const rt_outlines *batch)
{
	for (size_t i = 0; i < batch->field_count; i++)
		rt_build_field_in(&u->b, true, "", batch->fields[i].name, batch->fields[i].json);
	for (size_t i = 0; i < batch->count; i++)
		copy_outline(&u->b, &batch->items[i]);
}

static rt_status
pass(void *ctx, const rt_outlines *batch, rt_error *err)
{
	unpacking *u = ctx;

	for (size_t i = 0; i < batch->count; i++)
		if (batch->items[i].name.size == 0)
			batch->items[i].called = base_name(u->member->name);
	if (u->to->fn == NULL) {
		copy_batch(u, batch);
		return RT_OK;
	}
	u->goes_on = batch->count > 0 && batch->items[batch->count - 1].more;
	u->passed = u->to->fn(u->to->ctx, batch, err);
	return u->passed;
}

/* ---- members ---- */

static bool
is_ignored(const rt_archive_member *m)
{
	rt_str name = base_name(m->name);

	return m->is_link || m->size == 0 || name.size == 0 || name.ptr[0] == '.' ||
	       rt_str_starts(m->name, RT_STR("__MACOSX/"));
}

/* Reads the whole input, for readers that do not read from beginning to end. */
static rt_str
read_all(rt_scope *s, const rt_input *in)
{
	char *bytes = in->size > IN_MEMORY_MAX ? NULL : rt_scope_get(s, (size_t)in->size + 1);
	size_t size = 0, got = 1;

	if (in->size > IN_MEMORY_MAX)
		(void)rt_scope_fail(s, RT_LIMIT,
				    "it is larger than %d MiB and cannot be read inside an archive; "
				    "unpack it first",
				    (int)(IN_MEMORY_MAX >> 20));
	for (; rt_ok(s) && got > 0; size += got) {
		got = 0;
		RT_TRY(s, in->read_at(in->ctx, size, bytes + size, (size_t)in->size + 1 - size, &got,
				      &s->error));
	}
	return rt_str_at(bytes, rt_ok(s) ? size : 0);
}

/* Remarks of a member, with its name. */
static void
take_remarks(unpacking *u, const rt_format *format, const rt_report *report)
{
	size_t kept[3] = {0, 0, 0};

	for (size_t i = 0; i < report->remark_count; i++) {
		const rt_remark *r = &report->remarks[i];

		kept[r->level]++;
		rt_report_add(u->report, r->level, r->line, "%.*s (%s): %.120s",
			      (int)rt_utf8_cut(u->member->name, 50), u->member->name.ptr, format->name,
			      r->text);
	}
	if (u->report == NULL)
		return;
	u->report->repaired += report->repaired - kept[RT_REMARK_REPAIRED];
	u->report->skipped += report->skipped - kept[RT_REMARK_SKIPPED];
	u->report->noted += report->noted - kept[RT_REMARK_NOTE];
	u->report->empty += report->empty;
}

static void
read_member(unpacking *u, rt_scope *s, const rt_format *format, const rt_input *in)
{
	rt_report report;
	rt_outlines whole;
	rt_str bytes;

	rt_report_init(&report, u->alloc);
	if (u->to->fn != NULL) {
		RT_TRY(s, rt_format_stream(format, u->alloc, in, pass, u, &report, &s->error));
	} else {
		bytes = read_all(s, in);
		rt_outlines_init(&whole);
		RT_TRY(s, format->read(u->alloc, bytes, &whole, &report, &s->error));
		if (rt_ok(s))
			(void)pass(u, &whole, NULL);
		rt_outlines_deinit(&whole);
	}
	take_remarks(u, format, &report);
	rt_report_deinit(&report);
	u->found += rt_ok(s);
}

static void
open_member(unpacking *u, rt_scope *s)
{
	rt_archive_input in;
	rt_str head, bytes;
	rt_input all;
	const rt_format *format;

	rt_archive_read(s, &u->archive, u->member, &in);
	format = rt_ok(s) ? rt_format_detect(s, &in.in, &head) : NULL;
	if (!rt_ok(s))
		return;
	if (format == &rt_format_zip) {
		(void)rt_scope_fail(s, RT_USAGE, "it is an archive itself; unpack it first");
	} else if (format == NULL || format->read == NULL) {
		u->unknown++;
	} else if (rt_db_is(head) && in.inflate != NULL) {
		bytes = read_all(s, &in.in);
		all = rt_input_of(&bytes);
		read_member(u, s, format, &all);
	} else {
		read_member(u, s, format, &in.in);
	}
}

/* The failure of a member is a remark, unless the receiver failed or has half of a discussion. */
static void
try_member(unpacking *u)
{
	bool is_own;
	rt_scope s;

	rt_scope_init(&s, u->alloc);
	open_member(u, &s);
	is_own = s.status == RT_USAGE || s.status == RT_LIMIT;
	if (is_own && u->passed == RT_OK && !u->goes_on) {
		if (u->failed++ == 0)
			(void)snprintf(u->first, sizeof(u->first), "%.*s: %.120s",
				       (int)rt_utf8_cut(u->member->name, 50), u->member->name.ptr,
				       s.error.text);
		rt_report_add(u->report, RT_REMARK_SKIPPED, 0, "skipped %.*s: %.120s",
			      (int)rt_utf8_cut(u->member->name, 50), u->member->name.ptr,
			      s.error.text);
		rt_scope_deinit(&s);
	} else {
		(void)rt_scope_join(&u->s, &s);
	}
}

static void
finish(unpacking *u)
{
	rt_scope *s = &u->s;

	if (rt_ok(s) && u->found == 0 && u->failed > 0)
		(void)rt_scope_fail(s, RT_USAGE,
				    "no file in the archive can be read; unpack it and import "
				    "the directory. The first: %s",
				    u->first);
	else if (rt_ok(s) && u->found == 0)
		(void)rt_scope_fail(s, RT_USAGE, "none of the %zu files in the archive is a conversation",
				    u->archive.count);
	if (rt_ok(s) && u->unknown > 0)
		rt_report_add(u->report, RT_REMARK_NOTE, 0,
			      "skipped %zu file%s of unrecognised type in the archive", u->unknown,
			      u->unknown == 1 ? "" : "s");
}

static rt_status
zip_to(const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to, rt_report *report,
       rt_error *err)
{
	unpacking u = {.alloc = alloc, .to = to, .report = report};

	rt_scope_init(&u.s, alloc);
	rt_build_init(&u.b, alloc, NULL);
	rt_archive_open(&u.s, in, &u.archive);
	for (size_t i = 0; i < u.archive.count && rt_ok(&u.s) && rt_ok(&u.b.s); i++) {
		u.member = &u.archive.members[i];
		if (!is_ignored(u.member))
			try_member(&u);
	}
	finish(&u);
	if (rt_ok(&u.s) && to->fn == NULL)
		RT_TRY(&u.s, rt_build_finish(&u.b, to->whole, &u.s.error));
	rt_build_deinit(&u.b);
	return rt_scope_end(&u.s, err);
}
RT_READER_FUNCTIONS(zip, zip_to)

void
rt_zip_each(const rt_alloc *alloc, const rt_input *in, const char *end, size_t max,
	    bool (*fn)(void *ctx, const rt_input *file), void *ctx)
{
	rt_archive archive = {.in = in};
	size_t size = strlen(end);
	bool is_done = false;
	rt_scope s;

	rt_scope_init(&s, alloc);
	rt_archive_open(&s, in, &archive);
	for (size_t i = 0; rt_ok(&s) && !is_done && max > 0 && i < archive.count; i++) {
		rt_str name = archive.members[i].name;
		rt_archive_input file;
		rt_scope own;

		if (name.size < size || !rt_str_is(rt_str_skip(name, name.size - size), end) ||
		    is_ignored(&archive.members[i]))
			continue;
		max--;
		rt_scope_init(&own, alloc);
		rt_archive_read(&own, &archive, &archive.members[i], &file);
		is_done = rt_ok(&own) && fn(ctx, &file.in);
		rt_scope_deinit(&own);
	}
	rt_scope_deinit(&s);
}

static int
zip_sniff(rt_str head)
{
	return rt_archive_is(head) ? 100 : 0;
}

const rt_format rt_format_zip = {
	.name = "zip",
	.extension = ".zip",
	.about = "zip archives of files in the other formats",
	.sniff = zip_sniff,
	.read = zip_read,
	.stream = zip_stream,
	.is_container = true,
};
