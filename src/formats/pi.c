/* SPDX-License-Identifier: MIT
 *
 * Pi: session files of the pi coding agent as a format.
 *
 * Reading gives one outline: a node for every entry in file order, each with its record
 * as its body, byte for byte. What is not an entry goes to the discussion's fields, so
 * that writing can give back the same file:
 *
 *   "pi.header"    the header's line
 *   "pi.junk"      [[n, line]…]: line n of the file, from 1, where it is no entry
 *   "pi.unended"   the number of lines, where the last one has no line end
 *
 * A line is a JSON string, or {"hex":"…"} where its bytes are not UTF-8. Lines without
 * their \n; a \r before it belongs to the line. Writing is in pi_write.c. */
#include "base/encode.h"
#include "formats/formats.h"
#include "formats/formats_scan.h"
#include "formats/pi_impl.h"
#include "formats/pi_rows.h"

static void
add_line(rt_buf *buf, rt_str line)
{
	if (rt_utf8_valid_size(line) == line.size) {
		rt_json_add_string(buf, line);
		return;
	}
	rt_buf_add_c(buf, "{\"hex\":\"");
	rt_buf_add_hex(buf, line);
	rt_buf_add_c(buf, "\"}");
}

static bool
is_message_role(rt_str role)
{
	static const char *const roles[] = {"user",   "assistant", "toolResult",
					    "system", "custom",    "bashExecution"};
	size_t i;

	for (i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (rt_str_is(role, roles[i]))
			return true;
	return false;
}

static void
fill_node(const rt_pi_entry *e, rt_node *node)
{
	memset(node, 0, sizeof(*node));
	if (!e->is_duplicate)
		node->id = e->id;
	node->parent = e->parent;
	node->role = e->retake_role.size > 0 ? e->retake_role : rt_pi_entry_role(e);
	if (e->retake_kind.size > 0)
		node->kind = e->retake_kind;
	else if (e->kind != RT_PI_MESSAGE || !is_message_role(e->role))
		node->kind = rt_pi_entry_kind(e);
	node->ts = e->ts;
	node->has_ts = e->ts_from != RT_PI_TS_NONE;
	node->muted = e->muted;
	node->collapsed = e->collapsed;
	node->read_mode = e->read_mode;
	node->body_format = RT_BODY_PI;
	node->body = e->line;
	node->label = e->label;
}

/* Add a field whose JSON text is in buf; buf is cleared. */
static rt_status
add_field(rt_outline *outline, rt_arena *arena, const char *name, rt_buf *buf)
{
	rt_outline_field *field = &outline->fields[outline->field_count];

	if (buf->status != RT_OK)
		return buf->status;
	field->name = rt_str_of(name);
	if (!rt_pi_copy(arena, rt_buf_str(buf), &field->json))
		return RT_NOMEM;
	outline->field_count++;
	rt_buf_clear(buf);
	return RT_OK;
}

static rt_status
fill_fields(const rt_pi_session *s, rt_outline *outline)
{
	enum { FIELDS_MAX = 3 };
	rt_buf buf;
	rt_status st;
	size_t i;

	outline->fields = rt_arena_get(s->arena, FIELDS_MAX * sizeof(*outline->fields));
	if (outline->fields == NULL)
		return RT_NOMEM;
	rt_buf_init(&buf, s->alloc, RT_BUF_UNLIMITED);
	add_line(&buf, s->header);
	st = add_field(outline, s->arena, "pi.header", &buf);
	if (st == RT_OK && s->junk_count > 0) {
		rt_buf_add_byte(&buf, '[');
		for (i = 0; i < s->junk_count; i++) {
			rt_buf_add_c(&buf, i == 0 ? "[" : ",[");
			rt_buf_add_u64(&buf, s->junk[i].number);
			rt_buf_add_byte(&buf, ',');
			add_line(&buf, s->junk[i].line);
			rt_buf_add_byte(&buf, ']');
		}
		rt_buf_add_byte(&buf, ']');
		st = add_field(outline, s->arena, "pi.junk", &buf);
	}
	if (st == RT_OK && !s->is_ended) {
		rt_buf_add_u64(&buf, 1 + s->entry_count + s->junk_count);
		st = add_field(outline, s->arena, "pi.unended", &buf);
	}
	rt_buf_deinit(&buf);
	return st;
}

static rt_status
fill_outline(const rt_pi_session *s, rt_outline **out)
{
	rt_outline *outline = rt_arena_get(s->arena, sizeof(*outline));
	rt_buf source;
	size_t i;
	rt_status st = RT_OK;

	if (outline == NULL)
		return RT_NOMEM;
	memset(outline, 0, sizeof(*outline));
	outline->nodes = rt_arena_get(s->arena, s->entry_count * sizeof(*outline->nodes));
	if (outline->nodes == NULL)
		return RT_NOMEM;
	for (i = 0; i < s->entry_count; i++)
		fill_node(&s->entries[i], &outline->nodes[i]);
	outline->node_count = s->entry_count;
	outline->head = s->leaf;
	outline->has_head = true;
	outline->name = s->name;
	rt_buf_init(&source, s->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&source, "pi:");
	rt_buf_add_str(&source, s->id);
	if (source.status != RT_OK || !rt_pi_copy(s->arena, rt_buf_str(&source), &outline->source))
		st = RT_NOMEM;
	rt_buf_deinit(&source);
	*out = outline;
	return st == RT_OK ? fill_fields(s, outline) : st;
}

static rt_status
pi_read(const rt_alloc *alloc, rt_str input, rt_outlines *out, rt_report *report, rt_error *err)
{
	rt_pi_session session;
	rt_outline *outline = NULL;
	rt_status st;

	if (input.size == 0)
		return rt_fail_at(err, RT_USAGE, 0, "the file is empty");
	st = rt_pi_session_read(alloc, input, NULL, &session, report, err);
	if (st != RT_OK)
		return st;
	st = fill_outline(&session, &outline);
	if (st != RT_OK) {
		rt_pi_session_deinit(&session);
		return rt_fail(err, st, "out of memory while reading a session");
	}
	rt_outlines_init(out);
	out->items = outline;
	out->count = 1;
	out->has_active = true;
	out->arena = session.arena; /* handed over: every view of the session stays valid */
	session.arena = NULL;
	rt_pi_session_deinit(&session);
	return RT_OK;
}

/* The first line that says anything decides, as in reading. */
/* Without memory: does a line's object say that it is a session? Answering no instead would
 * turn the file into one of another kind, or of none. */
static int
sniff_plainly(rt_str line)
{
	rt_members m;
	rt_str key, value;

	if (!rt_members_open(&m, line) || m.close != '}')
		return 0;
	while (rt_members_next(&m, &key, &value))
		if (rt_scan_key_is(key, "type"))
			return rt_scan_key_is(value, "session") ? 60 : 0;
	return 0;
}

static int
pi_sniff(rt_str head)
{
	const rt_alloc *alloc = rt_alloc_libc();
	rt_arena *arena = rt_arena_new(alloc);
	rt_pi_reader reader;
	rt_pi_record record;
	size_t at = 0;
	int sure = -1;

	if (arena == NULL)
		return sniff_plainly(head);
	rt_pi_reader_init(&reader, alloc, arena);
	while (at < head.size && sure < 0) {
		const char *nl = memchr(head.ptr + at, '\n', head.size - at);
		size_t end = nl == NULL ? head.size : (size_t)(nl - head.ptr);
		rt_str line = rt_str_at(head.ptr + at, end - at);

		if (rt_pi_reader_read(&reader, line, &record) != RT_OK) {
			sure = sniff_plainly(line);
			break;
		}
		if (record.what == RT_PI_LINE_OBJECT || record.what == RT_PI_LINE_VALUE)
			sure = record.is_header && record.entry.id.ptr != NULL ? 98 : 0;
		else if (nl == NULL && rt_str_starts(line, RT_STR("{\"type\":\"session\",")))
			sure = 60; /* a header so long that its end is not in sight */
		at = end + 1;
	}
	rt_pi_reader_deinit(&reader);
	rt_arena_free(arena);
	return sure < 0 ? 0 : sure;
}

const rt_format rt_format_pi = {
	.name = "pi",
	.extension = ".jsonl",
	.about = "session files of the pi coding agent (JSON Lines)",
	.sniff = pi_sniff,
	.read = pi_read,
	.whole_max = 64 << 20,
	.write = rt_pi_write,
};
