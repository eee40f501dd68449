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
 * A line is a JSON string without its \n, or {"hex":"…"} where its bytes are not UTF-8; a \r
 * before the \n belongs to the line. Writing is in pi_write.c. */
#include "base/encode.h"
#include "formats/formats.h"
#include "formats/formats_scan.h"
#include "formats/formats_writer.h"
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

static void
fill_node(const rt_pi_entry *e, rt_node *node)
{
	static const char *const message_roles[] = {
		"user", "assistant", "toolResult", "system", "custom", "bashExecution", NULL};

	*node = (rt_node){.parent = e->parent,
			  .role = e->retake_role.size > 0 ? e->retake_role : rt_pi_entry_role(e),
			  .ts = e->ts,
			  .has_ts = e->ts_from != RT_PI_TS_NONE,
			  .muted = e->muted,
			  .collapsed = e->collapsed,
			  .read_mode = e->read_mode,
			  .body_format = RT_BODY_PI,
			  .body = e->line,
			  .label = e->label};
	if (!e->is_duplicate)
		node->id = e->id;
	if (e->retake_kind.size > 0)
		node->kind = e->retake_kind;
	else if (e->kind != RT_PI_MESSAGE || !rt_str_is_one_of(e->role, message_roles))
		node->kind = rt_pi_entry_kind(e);
}

/* The JSON of a field is in buf, which is cleared. */
static void
add_field(rt_scope *s, rt_outline *outline, const char *name, rt_buf *buf)
{
	outline->fields[outline->field_count++] = (rt_outline_field){
		rt_str_of(name), rt_scope_copy(s, rt_scope_str(s, buf))};
	rt_buf_clear(buf);
}

static void
fill_fields(rt_scope *s, const rt_pi_session *session, rt_outline *outline, rt_buf *buf)
{
	add_line(buf, session->header);
	add_field(s, outline, "pi.header", buf);
	if (session->junk_count > 0) {
		rt_json_open(buf, NULL, '[');
		for (size_t i = 0; i < session->junk_count; i++) {
			rt_json_open(buf, NULL, '[');
			rt_json_put_u64(buf, NULL, session->junk[i].number);
			rt_json_add_comma(buf);
			add_line(buf, session->junk[i].line);
			rt_json_close(buf, ']');
		}
		rt_json_close(buf, ']');
		add_field(s, outline, "pi.junk", buf);
	}
	if (!session->is_ended) {
		rt_buf_add_u64(buf, 1 + session->entry_count + session->junk_count);
		add_field(s, outline, "pi.unended", buf);
	}
}

/* In the memory of the session's texts. */
static rt_outline *
make_outline(rt_pi_session *session)
{
	enum { FIELDS_MAX = 3 };
	rt_scope *s = &session->texts;
	rt_outline *outline = rt_scope_get(s, sizeof(*outline));
	rt_buf buf;

	if (outline == NULL)
		return NULL;
	outline->nodes = rt_scope_array(s, session->entry_count, sizeof(*outline->nodes));
	outline->fields = rt_scope_array(s, FIELDS_MAX, sizeof(*outline->fields));
	if (!rt_ok(s))
		return NULL;
	for (size_t i = 0; i < session->entry_count; i++)
		fill_node(&session->entries[i], &outline->nodes[i]);
	outline->node_count = session->entry_count;
	outline->head = session->leaf;
	outline->has_head = true;
	outline->name = session->name;
	rt_buf_init(&buf, session->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&buf, "pi:");
	rt_buf_add_str(&buf, session->id);
	outline->source = rt_scope_copy(s, rt_scope_str(s, &buf));
	rt_buf_clear(&buf);
	fill_fields(s, session, outline, &buf);
	rt_buf_deinit(&buf);
	return rt_ok(s) ? outline : NULL;
}

static rt_status
pi_read(const rt_alloc *alloc, rt_str input, rt_outlines *out, rt_report *report, rt_error *err)
{
	rt_pi_session session;
	rt_outline *outline;
	rt_status st;

	if (input.size == 0)
		return rt_fail_at(err, RT_USAGE, 0, "the file is empty");
	st = rt_pi_session_read(alloc, input, NULL, &session, report, err);
	if (st != RT_OK)
		return st;
	outline = make_outline(&session);
	if (outline != NULL) {
		/* every view of the session stays valid */
		*out = (rt_outlines){outline, 1, .has_active = true, .arena = session.texts.arena};
		session.texts.arena = NULL;
	}
	rt_pi_session_deinit(&session);
	return outline != NULL ? RT_OK
			       : rt_fail(err, RT_NOMEM, "out of memory while reading a session");
}

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

/* The first line that says anything decides, as in reading. */
static int
pi_sniff(rt_str head)
{
	rt_scope s;
	rt_pi_reader reader;
	rt_pi_record record;
	int sure = -1;

	rt_scope_init(&s, rt_alloc_libc());
	rt_pi_reader_init(&reader, &s);
	for (size_t at = 0; at < head.size && sure < 0;) {
		const char *nl = memchr(head.ptr + at, '\n', head.size - at);
		size_t end = nl == NULL ? head.size : (size_t)(nl - head.ptr);
		rt_str line = rt_str_at(head.ptr + at, end - at);

		if (!rt_pi_reader_read(&reader, line, &record))
			sure = sniff_plainly(line);
		else if (record.what == RT_PI_LINE_OBJECT || record.what == RT_PI_LINE_VALUE)
			sure = record.is_header && record.entry.id.ptr != NULL ? 98 : 0;
		else if (nl == NULL && rt_str_starts(line, RT_STR("{\"type\":\"session\",")))
			sure = 60; /* a header so long that its end is not in sight */
		at = end + 1;
	}
	rt_pi_reader_deinit(&reader);
	rt_scope_deinit(&s);
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
