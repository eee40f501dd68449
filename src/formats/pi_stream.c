/* SPDX-License-Identifier: MIT
 *
 * Reading a session file that is too large to be kept in memory: twice, line by line. The first pass looks for
 * lines about other entries, which are labels and the session's name; the second passes the entries on in pieces.
 * Of the entries of earlier pieces only a part of a hash of their ids is kept, eight bytes for each.
 *
 * Differences to pi_read.c, which needs the whole file: parents have to come before their children, as pi writes
 * them, and versions 1 and 2 are refused. */
#include "base/hash.h"
#include "formats/formats.h"
#include "formats/formats_reader.h"
#include "formats/pi_impl.h"

/* An entry, found by its id. */
typedef struct place {
	uint32_t check;  /* of the hash */
	uint32_t number; /* 1 + its number in the file, from 0; 0: none */
} place;

typedef struct stream {
	rt_reader r;
	rt_scope *s; /* of the reader: failures */
	rt_report *report;
	rt_outline *outline;
	rt_pi_reader reader;
	rt_scope texts;  /* of a line */
	rt_scope kept;   /* of labels and the name */
	rt_index labels; /* id: index in label_list */
	rt_items label_list;
	rt_str name;
	place *places; /* by hash, open addressing */
	size_t room, entries;
	size_t first; /* the number of the first entry of the piece */
	rt_buf *junk, *line;
	uint64_t number; /* of the line, from 1 */
	uint64_t dropped;
	bool is_ended; /* the line has its \n */
} stream;

/* ---- ids ---- */

static place *
find_place(const stream *t, rt_str id)
{
	uint64_t hash = rt_hash(id.ptr, id.size, 3);
	size_t at = (size_t)hash & (t->room - 1);

	while (t->places[at].number != 0 && t->places[at].check != (uint32_t)(hash >> 32))
		at = (at + 1) & (t->room - 1);
	t->places[at].check = (uint32_t)(hash >> 32);
	return &t->places[at];
}

/* It is large enough for all lines, because entries cannot be moved to a larger one: only a part of their hashes is
 * kept. */
static void
make_places(stream *t, size_t entries)
{
	for (t->room = 1024; t->room < entries + entries / 2; t->room *= 2)
		continue;
	t->places = rt_scope_array(t->s, t->room, sizeof(*t->places));
}

/* ---- the first pass ---- */

/* The next line; it can be used until the next call. */
static bool
next_line(stream *t, rt_str *out)
{
	rt_walk *w = &t->r.w;

	while (rt_reader_ok(&t->r)) {
		uint64_t from = rt_walk_here(w).offset;
		rt_walked walked = rt_walk_line(w, RT_PI_LINE_MAX, out);

		if (walked == RT_WALK_CUT)
			return false;
		t->number++;
		if (walked == RT_WALK_WHOLE) {
			t->is_ended = rt_walk_here(w).offset - from > out->size;
			return true;
		}
		rt_walk_skip_line(w);
		t->dropped++;
	}
	return false;
}

/* Is it a line of this type? */
static bool
is_of_type(rt_str line, const char *type)
{
	rt_members m;
	rt_str key, value;

	if (!rt_members_open(&m, line) || m.close != '}')
		return false;
	while (rt_members_next(&m, &key, &value))
		if (rt_scan_key_is(key, "type")) /* usually the first member */
			return rt_scan_key_is(value, type);
	return false;
}

static void
note_label(stream *t, const rt_pi_entry *e)
{
	rt_str id = rt_scope_copy(&t->kept, e->target), *label;

	label = rt_items_push(&t->kept, &t->label_list, sizeof(*label));
	if (label == NULL || id.ptr == NULL)
		return;
	*label = rt_scope_copy(&t->kept, e->text);
	(void)rt_index_put(&t->kept, &t->labels, id, t->label_list.count - 1);
}

static void
look_ahead(stream *t)
{
	rt_pi_record record;
	size_t lines = 0;
	rt_str line;

	for (; rt_ok(t->s) && next_line(t, &line); lines++) {
		if (!is_of_type(line, "label") && !is_of_type(line, "session_info"))
			continue;
		rt_scope_reset(&t->texts);
		if (!rt_pi_reader_read(&t->reader, line, &record) || record.what != RT_PI_LINE_OBJECT)
			continue;
		if (record.entry.kind == RT_PI_LABEL && record.entry.target.ptr != NULL)
			note_label(t, &record.entry);
		else if (record.entry.kind == RT_PI_SESSION_INFO)
			t->name = rt_scope_copy(&t->kept, rt_pi_trim(record.entry.text));
		(void)rt_scope_adopt(t->s, &t->kept);
	}
	(void)rt_scope_adopt(t->s, &t->texts);
	if (rt_ok(t->s) && lines >= UINT32_MAX)
		(void)rt_scope_fail(t->s, RT_LIMIT, "a session of more than 2^32 - 2 entries");
	make_places(t, lines);
	rt_walk_seek(&t->r.w, (rt_walk_mark){0, 1});
	t->number = t->dropped = 0;
}

/* ---- the second pass ---- */

static void
add_field(stream *t, const char *name, rt_buf *json)
{
	rt_build_field(&t->r.b, rt_str_of(name), rt_scope_str(t->s, json));
	rt_buf_clear(json);
}

static void
read_header(stream *t, const rt_pi_record *record, rt_str line, uint64_t at)
{
	if (record->what != RT_PI_LINE_OBJECT || !record->is_header || record->entry.id.ptr == NULL) {
		rt_reader_refuse(&t->r, at, "Session file is not a valid pi session");
		t->s->error.line = t->number;
		return;
	}
	if (record->version < RT_PI_VERSION)
		(void)rt_scope_fail(t->s, RT_LIMIT,
				    "a session of version %d can be at most %zu MiB; open it in pi to convert it",
				    record->version, rt_format_pi.whole_max >> 20);
	t->outline = rt_build_discussion(&t->r.b);
	if (t->outline == NULL)
		return;
	rt_buf_clear(t->line);
	rt_buf_add_c(t->line, "pi:");
	rt_buf_add_str(t->line, record->entry.id);
	t->outline->name = rt_build_copy(&t->r.b, t->name);
	t->outline->source = rt_build_copy(&t->r.b, rt_scope_str(t->s, t->line));
	rt_buf_clear(t->line);
	rt_pi_add_line(t->line, line);
	add_field(t, "pi.header", t->line);
}

/* Sets the parent, or the entry of an earlier piece that the node follows. */
static void
find_parent(stream *t, const rt_pi_entry *e, rt_node *node)
{
	const place *parent = e->parent_id.ptr != NULL ? find_place(t, e->parent_id) : NULL;
	size_t number;

	node->parent = -1;
	node->after = RT_STR(""); /* a root */
	if (parent == NULL)
		return;
	if (e->id.ptr != NULL && rt_str_eq(e->id, e->parent_id))
		parent = NULL;
	if (parent == NULL || parent->number == 0) {
		rt_report_add(t->report, RT_REMARK_REPAIRED, t->number, "its parent %.*s does not come before it; made a root",
			      (int)rt_utf8_cut(e->parent_id, 40), e->parent_id.ptr);
		return;
	}
	number = parent->number - 1;
	if (number >= t->first) {
		node->parent = (int64_t)(number - t->first);
	} else if (number + 1 == t->first) {
		node->after = rt_str_at(NULL, 0); /* the last one */
	} else {
		node->after = e->parent_id;
	}
}

static void
add_entry(stream *t, rt_pi_entry *e, rt_str line)
{
	place *own;
	rt_node node;
	int64_t label;

	if (rt_reader_is_long(&t->r)) {
		t->outline = rt_reader_piece(&t->r);
		t->first = t->entries;
	}
	if (!rt_ok(t->s))
		return;
	e->line = line;
	rt_pi_fill_node(e, &node);
	find_parent(t, e, &node);
	own = e->id.ptr != NULL ? find_place(t, e->id) : NULL;
	if (own == NULL) {
		rt_report_add(t->report, RT_REMARK_NOTE, t->number, "an entry without an id");
	} else if (own->number != 0) {
		rt_reader_refuse(&t->r, rt_walk_here(&t->r.w).offset,
				 "two entries have the id %.*s, which is possible only in a session of at most %zu MiB",
				 (int)rt_utf8_cut(e->id, 40), e->id.ptr, rt_format_pi.whole_max >> 20);
		t->s->error.line = t->number;
	} else {
		label = rt_index_get(&t->labels, e->id);
		if (label >= 0)
			node.label = ((const rt_str *)t->label_list.items)[label];
		own->number = (uint32_t)++t->entries;
	}
	t->entries += own == NULL;
	rt_build_body_verbatim(&t->r.b, line);
	t->outline->head = (int64_t)rt_build_node(&t->r.b, &node);
	t->outline->has_head = true;
}

static void
add_junk(stream *t, rt_str line)
{
	if (t->junk->size == 0)
		rt_json_open(t->junk, NULL, '[');
	rt_json_open(t->junk, NULL, '[');
	rt_json_put_u64(t->junk, NULL, t->number - t->dropped);
	rt_json_add_comma(t->junk);
	rt_pi_add_line(t->junk, line);
	rt_json_close(t->junk, ']');
}

static void
read_line(stream *t, rt_str line, uint64_t at)
{
	rt_pi_record record;
	const char *reason;
	bool is_value;

	rt_scope_reset(&t->texts);
	if (!rt_pi_reader_read(&t->reader, line, &record)) {
		(void)rt_scope_adopt(t->s, &t->texts);
		return;
	}
	is_value = record.what == RT_PI_LINE_OBJECT || record.what == RT_PI_LINE_VALUE;
	if (is_value && t->outline == NULL) {
		read_header(t, &record, line, at);
	} else if (record.what == RT_PI_LINE_OBJECT && !record.is_header) {
		add_entry(t, &record.entry, line);
	} else {
		reason = rt_pi_line_reason(&record, t->is_ended);
		if (reason != NULL)
			rt_report_add(t->report, RT_REMARK_SKIPPED, t->number, "%s", reason);
		add_junk(t, line);
	}
}

static void
read_lines(stream *t)
{
	uint64_t at = 0;
	rt_str line;

	for (; rt_ok(t->s) && next_line(t, &line); at = rt_walk_here(&t->r.w).offset)
		read_line(t, line, at);
	if (rt_reader_ok(&t->r) && t->outline == NULL)
		rt_reader_refuse(&t->r, 0, "Session file is not a valid pi session");
	if (rt_ok(t->s) && t->dropped > 0)
		rt_report_add(t->report, RT_REMARK_SKIPPED, 0, "%llu lines longer than %zu bytes; skipped",
			      (unsigned long long)t->dropped, (size_t)RT_PI_LINE_MAX);
	if (t->junk->size > 0) {
		rt_json_close(t->junk, ']');
		add_field(t, "pi.junk", t->junk);
	}
	if (rt_ok(t->s) && !t->is_ended) {
		rt_buf_clear(t->line);
		rt_buf_add_u64(t->line, t->number - t->dropped);
		add_field(t, "pi.unended", t->line);
	}
}

rt_status
rt_pi_stream(const rt_alloc *alloc, const rt_input *in, rt_outlines_fn fn, void *ctx, rt_report *report,
	     rt_error *err)
{
	rt_reader_to to = {.fn = fn, .ctx = ctx};
	stream t = {.report = report};

	rt_reader_init(&t.r, alloc, in, &to, report);
	t.s = &t.r.b.s;
	rt_scope_init(&t.texts, alloc);
	rt_scope_init(&t.kept, alloc);
	t.reader.texts = &t.texts;
	t.junk = rt_scope_buf(t.s);
	t.line = rt_scope_buf(t.s);
	t.r.has_active = true;
	look_ahead(&t);
	read_lines(&t);
	rt_pi_reader_deinit(&t.reader);
	rt_scope_deinit(&t.texts);
	rt_scope_deinit(&t.kept);
	return rt_reader_end(&t.r, err);
}
