/* SPDX-License-Identifier: MIT
 *
 * Reading a session file: lines to entries, migrated, with parents, labels and a name; and the
 * session as an outline: a node for every entry in file order, each with its record as its body,
 * byte for byte. Lines that are not entries become fields of the discussion, so that writing
 * restores the same file:
 *
 *   "pi.header"    the header's line
 *   "pi.junk"      [[n, line]…]: line n of the file, from 1, if it is not an entry
 *   "pi.unended"   the number of lines, if the last one has no line end
 *
 * A line is a JSON string without its \n, or {"hex":"…"} if its bytes are not UTF-8; a \r
 * before the \n belongs to the line. */
#include "base/encode.h"
#include "formats/formats.h"
#include "formats/formats_scan.h"
#include "formats/pi_impl.h"

/* A file being read. */
typedef struct load {
	rt_pi_session *session;
	rt_scope *s; /* the session's */
	rt_pi_reader reader;
	rt_report *report;
	size_t line_max;
	uint64_t number;  /* of the line, from 1 */
	uint64_t dropped; /* lines that were too long */
	size_t records;   /* as pi counts: the header, entries, later headers, unusual values */
} load;

/* ---- lines ---- */

static void
add_entry(load *l, const rt_pi_entry *entry)
{
	rt_pi_entry *e = rt_items_push(l->s, &l->session->entry_list, sizeof(*e));

	if (e == NULL)
		return;
	*e = *entry;
	e->number = l->number;
	e->record = (uint32_t)l->records++;
	e->parent = -1;
	if (l->session->entry_list.count >= UINT32_MAX - 1)
		(void)rt_scope_fail(l->s, RT_LIMIT, "a session of more than 2^32 - 2 entries");
}

/* The first line that is a value; at: where it begins. */
static void
read_header(load *l, const rt_pi_record *record, rt_str line, size_t at)
{
	rt_pi_session *s = l->session;

	if (record->what != RT_PI_LINE_OBJECT || !record->is_header ||
	    record->entry.id.ptr == NULL) {
		(void)RT_TRY(l->s, rt_fail_at(&l->s->error, RT_USAGE, at,
					      "Session file is not a valid pi session"));
		l->s->error.line = l->number;
		return;
	}
	s->has_header = true;
	s->header = line;
	s->id = record->entry.id;
	s->version = record->version;
	l->records = 1;
}

const char *
rt_pi_line_reason(const rt_pi_record *record, bool is_ended)
{
	switch (record->what) {
	case RT_PI_LINE_OBJECT: return "a second header; ignored";
	case RT_PI_LINE_VALUE:
	case RT_PI_LINE_FALSY: return "skipped JSON that is not a record";
	case RT_PI_LINE_BAD:
		return is_ended ? "not JSON; skipped" : "the last line is truncated; skipped";
	case RT_PI_LINE_TOO_DEEP: return "nested more than 512 levels deep; skipped";
	case RT_PI_LINE_BLANK: break;
	}
	return NULL;
}

/* at: where the line begins; is_ended: it has its \n. */
static void
read_line(load *l, rt_str line, size_t at, bool is_ended)
{
	rt_pi_record record;
	rt_pi_junk *junk;
	bool is_value;

	if (!rt_pi_reader_read(&l->reader, line, &record))
		return;
	is_value = record.what == RT_PI_LINE_OBJECT || record.what == RT_PI_LINE_VALUE;
	if (is_value && !l->session->has_header) {
		read_header(l, &record, line, at);
		return;
	}
	if (record.what == RT_PI_LINE_OBJECT && !record.is_header) {
		add_entry(l, &record.entry);
		return;
	}
	l->records += is_value;
	if (rt_pi_line_reason(&record, is_ended) != NULL)
		rt_report_add(l->report, RT_REMARK_SKIPPED, l->number, "%s",
			      rt_pi_line_reason(&record, is_ended));
	junk = rt_items_push(l->s, &l->session->junk_list, sizeof(*junk));
	if (junk != NULL)
		*junk = (rt_pi_junk){l->number - l->dropped, line};
}

static void
read_lines(load *l, rt_str file)
{
	rt_pi_session *s = l->session;
	rt_pi_record none = {.what = RT_PI_LINE_BLANK};
	rt_str line;

	_Static_assert(RT_JSON_DEPTH_MAX == 512, "see reason");
	for (size_t at = 0, from = 0;
	     rt_ok(l->s) && rt_ok(&s->texts) && rt_scan_line(file, &at, &line); from = at) {
		s->is_ended = from + line.size < file.size;
		l->number++;
		if (line.size <= l->line_max) {
			read_line(l, line, from, s->is_ended);
			continue;
		}
		l->dropped++;
		rt_report_add(l->report, RT_REMARK_SKIPPED, l->number,
			      "longer than %zu bytes; skipped", l->line_max);
	}
	if (rt_scope_note(l->s, s->texts.status) == RT_OK && !s->has_header && file.size > 0)
		read_header(l, &none, file, 0);
	s->entries = s->entry_list.items;
	s->entry_count = s->entry_list.count;
	s->junk = s->junk_list.items;
	s->junk_count = s->junk_list.count;
	s->leaf = (int64_t)s->entry_count - 1;
}

/* ---- migration ----
 *
 * 1 to 2: every entry gets an id, and the entry before it as parent; a compaction's
 * "firstKeptEntryIndex" counts records with the header as 0 and becomes "firstKeptEntryId".
 * 2 to 3: the role "hookMessage" becomes "custom". Members are added at the end, as pi does;
 * the file itself is never written. */

/* New ids first, so that a compaction may name any of them. */
static void
make_ids(rt_pi_session *session, const rt_env *env)
{
	rt_pi_fresh fresh;
	rt_index ids = {.count = 0};
	rt_scope s;

	rt_scope_init(&s, session->alloc);
	rt_pi_fresh_init(&fresh, env, session->header);
	for (size_t i = 0; i < session->entry_count && rt_ok(&s); i++) {
		rt_pi_entry *e = &session->entries[i];

		e->id = rt_pi_fresh_id(&fresh, &ids, &session->texts);
		e->parent_id = i == 0 ? rt_str_at(NULL, 0) : session->entries[i - 1].id;
		(void)rt_scope_note(&s, session->texts.status);
		(void)rt_index_put(&s, &ids, e->id, i);
	}
	(void)rt_scope_join(&session->s, &s);
}

/* Replace the entry's text by the same with the changes. */
static void
change_line(rt_pi_session *session, rt_scope *s, rt_pi_entry *e, yyjson_val *object,
	    const rt_pi_change *changes, size_t count)
{
	rt_buf *line = rt_scope_buf(s);

	(void)RT_TRY(s, rt_pi_patch(line, e->line, object, changes, count));
	if (rt_ok(s))
		e->line = rt_scope_copy(&session->texts, rt_buf_str(line));
}

/* entry_of: by record, the index of its entry and 1. */
static void
migrate_1(rt_pi_session *session, rt_scope *s, rt_pi_entry *e, yyjson_val *object,
	  const uint32_t *entry_of, size_t record_count)
{
	yyjson_val *index = rt_json_get(object, "firstKeptEntryIndex");
	rt_pi_change changes[4] = {{"id", rt_pi_quote(s, e->id), NULL},
				   {"parentId", rt_pi_quote(s, e->parent_id), NULL}};
	size_t count = 2;
	uint64_t record;

	if (e->kind == RT_PI_COMPACTION && rt_json_is_number(index)) {
		if (rt_json_u64(index, &record) && record < record_count && entry_of[record] > 0) {
			e->target = session->entries[entry_of[record] - 1].id;
			changes[count++] = (rt_pi_change){"firstKeptEntryId",
							  rt_pi_quote(s, e->target), NULL};
		}
		changes[count++] = (rt_pi_change){"firstKeptEntryIndex", {NULL, 0}, NULL};
	}
	change_line(session, s, e, object, changes, count);
}

static void
migrate_2(rt_pi_session *session, rt_scope *s, rt_pi_entry *e, yyjson_val *object)
{
	rt_pi_change role = {"role", RT_STR("\"custom\""), NULL}, message = {.key = "message"};
	rt_buf *inner = rt_scope_buf(s);

	(void)RT_TRY(s, rt_pi_patch(inner, rt_pi_member(e->line, object, "message"),
				    rt_json_get(object, "message"), &role, 1));
	message.json = rt_scope_str(s, inner);
	change_line(session, s, e, object, &message, 1);
	e->role = RT_STR("custom");
}

static void
migrate(load *l, const rt_env *env)
{
	rt_pi_session *session = l->session;
	uint32_t *entry_of = rt_scope_array(l->s, l->records + 1, sizeof(*entry_of));
	rt_pi_record record;
	rt_scope s; /* scratch, for one entry */

	rt_scope_init(&s, session->alloc);
	for (size_t i = 0; i < session->entry_count && entry_of != NULL; i++)
		entry_of[session->entries[i].record] = (uint32_t)i + 1;
	if (session->version < 2)
		make_ids(session, env);
	for (size_t i = 0; i < session->entry_count && rt_ok(&s) && rt_ok(l->s); i++) {
		rt_pi_entry *e = &session->entries[i];

		if (session->version < 2 && rt_pi_reader_read(&l->reader, e->line, &record))
			migrate_1(session, &s, e, record.object, entry_of, l->records);
		if (rt_str_is(e->role, "hookMessage") && rt_ok(&s) &&
		    rt_pi_reader_read(&l->reader, e->line, &record))
			migrate_2(session, &s, e, record.object);
		if (rt_ok(&s))
			rt_scope_reset(&s);
	}
	(void)rt_scope_join(l->s, &s);
	rt_report_add(l->report, RT_REMARK_NOTE, 0, "migrated from version %d to %d",
		      session->version, (int)RT_PI_VERSION);
}

void
rt_pi_migrate_header(rt_buf *out, rt_pi_reader *reader, rt_str header)
{
	rt_pi_change version = {"version", RT_STR("3"), NULL};
	rt_pi_record record;

	if (!rt_pi_reader_read(reader, header, &record))
		return;
	if (record.version >= RT_PI_VERSION)
		rt_buf_add_str(out, header);
	else
		(void)RT_TRY(reader->texts, rt_pi_patch(out, header, record.object, &version, 1));
}

/* ---- the tree ---- */

static void
link_entries(load *l)
{
	rt_pi_session *session = l->session;
	rt_link *links;
	rt_scope s;

	rt_scope_init(&s, session->alloc);
	links = rt_scope_array(&s, session->entry_count, sizeof(*links));
	for (size_t i = 0; i < session->entry_count && rt_ok(l->s) && links != NULL; i++) {
		rt_pi_entry *e = &session->entries[i];

		links[i] = (rt_link){.id = e->id, .parent_id = e->parent_id, .line = e->number};
		if (e->id.ptr == NULL) {
			rt_report_add(l->report, RT_REMARK_NOTE, e->number,
				      "an entry without an id");
			continue;
		}
		e->is_duplicate = rt_index_put(l->s, &session->ids, e->id, i) >= 0;
		if (e->is_duplicate)
			rt_report_add(l->report, RT_REMARK_REPAIRED, e->number,
				      "id %.*s appears again; it now means this entry",
				      (int)rt_utf8_cut(e->id, 40), e->id.ptr);
	}
	if (rt_ok(l->s) && links != NULL)
		rt_link_all(&s, &session->ids, links, session->entry_count, l->report);
	for (size_t i = 0; i < session->entry_count && rt_ok(&s); i++)
		session->entries[i].parent = links[i].parent;
	(void)rt_scope_join(l->s, &s);
}

/* The last label entry for a target counts; an empty or missing label clears. */
static void
set_labels(rt_pi_session *session)
{
	for (size_t i = 0; i < session->entry_count; i++) {
		const rt_pi_entry *e = &session->entries[i];
		int64_t at = e->kind == RT_PI_LABEL && e->target.ptr != NULL
				     ? rt_index_get(&session->ids, e->target)
				     : -1;

		if (at >= 0)
			session->entries[at].label = e->text.size > 0 ? e->text
								      : rt_str_at(NULL, 0);
		if (e->kind == RT_PI_SESSION_INFO)
			session->name = rt_pi_trim(e->text);
	}
}

/* ---- the session ---- */

rt_status
rt_pi_session_read(const rt_alloc *alloc, rt_str file, const rt_pi_options *options,
		   rt_pi_session *out, rt_report *report, rt_error *err)
{
	rt_pi_session *s = out;
	load l = {.session = s, .s = &s->s, .report = report, .line_max = RT_PI_LINE_MAX};
	rt_status st;

	*s = (rt_pi_session){.alloc = alloc, .is_ended = true, .version = RT_PI_VERSION};
	rt_scope_init(&s->s, alloc);
	rt_scope_init(&s->texts, alloc);
	l.reader.texts = &s->texts;
	if (options != NULL && options->line_max > 0)
		l.line_max = options->line_max;
	read_lines(&l, file);
	if (rt_ok(l.s) && s->version < RT_PI_VERSION)
		migrate(&l, options == NULL ? NULL : options->env);
	link_entries(&l);
	set_labels(s);
	rt_pi_reader_deinit(&l.reader);
	st = rt_scope_note(&s->s, s->texts.status);
	if (st == RT_OK)
		return st;
	if (err != NULL)
		*err = s->s.error;
	rt_pi_session_deinit(s);
	return st == RT_NOMEM ? rt_fail(err, st, "out of memory while reading a session") : st;
}

void
rt_pi_session_deinit(rt_pi_session *session)
{
	rt_scope_deinit(&session->s);
	rt_scope_deinit(&session->texts);
	memset(session, 0, sizeof(*session));
}

/* ---- the outline ---- */

void
rt_pi_fill_node(const rt_pi_entry *e, rt_node *node)
{
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
	else if (e->kind != RT_PI_MESSAGE ||
		 !rt_is_word(e->role, "user assistant toolResult system custom bashExecution"))
		node->kind = rt_pi_entry_kind(e);
}

void
rt_pi_add_line(rt_buf *buf, rt_str line)
{
	if (rt_utf8_valid_size(line) == line.size) {
		rt_json_add_string(buf, line);
		return;
	}
	rt_buf_add_c(buf, "{\"hex\":\"");
	rt_buf_add_hex(buf, line);
	rt_buf_add_c(buf, "\"}");
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
	rt_pi_add_line(buf, session->header);
	add_field(s, outline, "pi.header", buf);
	if (session->junk_count > 0) {
		rt_json_open(buf, NULL, '[');
		for (size_t i = 0; i < session->junk_count; i++) {
			rt_json_open(buf, NULL, '[');
			rt_json_put_u64(buf, NULL, session->junk[i].number);
			rt_json_add_comma(buf);
			rt_pi_add_line(buf, session->junk[i].line);
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
		rt_pi_fill_node(&session->entries[i], &outline->nodes[i]);
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

/* ---- recognising a file ---- */

/* Without memory: is a line's object a header? Answering no instead would turn the file into one
 * of another format, or of none. */
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

/* The first line that is a value decides, as in reading. */
static int
pi_sniff(rt_str head)
{
	rt_scope s;
	rt_pi_reader reader = {.texts = &s};
	rt_pi_record record;
	rt_str line;
	int sure = -1;

	rt_scope_init(&s, rt_alloc_libc());
	for (size_t at = 0; sure < 0 && rt_scan_line(head, &at, &line);) {
		if (!rt_pi_reader_read(&reader, line, &record))
			sure = sniff_plainly(line);
		else if (record.what == RT_PI_LINE_OBJECT || record.what == RT_PI_LINE_VALUE)
			sure = record.is_header && record.entry.id.ptr != NULL ? 98 : 0;
		else if (line.ptr + line.size == head.ptr + head.size &&
			 rt_str_starts(line, RT_STR("{\"type\":\"session\",")))
			sure = 60; /* a header so long that its end was not read */
	}
	rt_pi_reader_deinit(&reader);
	rt_scope_deinit(&s);
	return sure < 0 ? 0 : sure;
}

const rt_format rt_format_pi = {
	.name = "pi",
	.extension = ".jsonl",
	.about = "session files of the pi coding agent (JSON Lines)",
	.media_type = "application/x-ndjson",
	.holds_one = true,
	.sniff = pi_sniff,
	.read = pi_read,
	.stream = rt_pi_stream,
	.whole_max = 64 << 20,
	.write = rt_pi_write,
};
