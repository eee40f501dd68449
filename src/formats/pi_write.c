/* SPDX-License-Identifier: MIT
 *
 * Writing a session file.
 *
 *   header      the one it had (migrated); else a new one
 *   entries     lines that were read from a file, byte for byte; changed ones patched;
 *               Retake's own composed (pi_compose.c)
 *   labels      one record for every label that differs from the label entries, and
 *   name        one for the discussion's name, likewise; a file that came without a name
 *               is not given one
 *   anchor      see below
 *
 * Lines of the file that are not entries (torn, blank) are written in their places.
 *
 * pi continues after the last line. Records for labels and the name are below the head, so that,
 * being last, they mark its place. If there are none of them and the last entry is not the head,
 * one record follows whose only purpose is to be last:
 *
 *   {"type":"custom","customType":"retake.head","id":…,"parentId":HEAD,"timestamp":…}
 *
 * A custom entry has the least effect in pi: it is in no context, and unlike a label or
 * session_info it touches no label, name or setting; and it can be a root, for a head
 * before the first entry. Read again it is an entry like any other, and the head.
 *
 * With lossless, properties that pi cannot express are in a member "retake" of the record: {"role",
 * "kind","muted","collapsed","read_mode","fields"}; reading restores all of them except the
 * fields. */
#include "base/encode.h"
#include "base/hash.h"
#include "formats/pi_impl.h"

typedef struct writer {
	rt_writer w;
	rt_scope *s; /* its scope */
	rt_buf *out;
	rt_pi_rows rows;
	uint64_t lines; /* written so far */
	rt_items junk;  /* rt_pi_junk */
	size_t junk_at;
	uint64_t unended; /* the number of lines that ended without a line end; 0: none */
	bool has_header;  /* the discussion has been written as a session file before */
	rt_moment start;  /* the header's time, for entries that have none */
	rt_buf *scratch;
	rt_str last_id; /* of the record written last, where it can be a parent */
	rt_moment last_ts;
	int64_t last_row; /* the entry on the last line, -1: none */
	bool has_records; /* labels or a name follow the entries */
} writer;

static void
end_line(writer *c)
{
	rt_buf_add_byte(c->out, '\n');
	c->lines++;
}

/* Lines that are not entries, as far as they are due. */
static void
write_junk(writer *c, bool all)
{
	const rt_pi_junk *junk = c->junk.items;

	for (; c->junk_at < c->junk.count && (all || junk[c->junk_at].number <= c->lines + 1);
	     c->junk_at++) {
		rt_buf_add_str(c->out, junk[c->junk_at].line);
		end_line(c);
	}
}

/* ---- data kept by the import ---- */

static yyjson_val *
field(writer *c, const char *name)
{
	const rt_outline *o = &c->rows.outline;

	return rt_writer_parse(&c->w, &c->w.d,
			       rt_outline_field_of(o->fields, o->field_count, name));
}

/* A line from a field: a string, or an object with "hex". No line: ptr NULL. */
static rt_str
line_of(writer *c, yyjson_val *value)
{
	rt_str hex = rt_json_str(rt_json_get(value, "hex")), line = rt_json_str(value);
	char *to;

	if (yyjson_is_str(value))
		return rt_str_find(line, RT_STR("\n"), 0) == SIZE_MAX ? rt_scope_copy(c->s, line)
								      : rt_str_at(NULL, 0);
	if (hex.ptr == NULL || hex.size % 2 != 0)
		return rt_str_at(NULL, 0);
	to = rt_scope_get(c->s, hex.size / 2 + 1);
	for (size_t i = 0; to != NULL && i < hex.size / 2; i++) {
		int byte = rt_hex_number(hex, 2 * i, 2);

		if (byte < 0 || byte == '\n')
			return rt_str_at(NULL, 0);
		to[i] = (char)byte;
	}
	return rt_str_at(to, hex.size / 2);
}

static void
read_junk(writer *c)
{
	yyjson_val *list = field(c, "pi.junk"), *pair;
	size_t i, max;

	yyjson_arr_foreach(list, i, max, pair)
	{
		rt_pi_junk one, *junk;

		if (!rt_json_u64(yyjson_arr_get(pair, 0), &one.number))
			continue;
		one.line = line_of(c, yyjson_arr_get(pair, 1));
		junk = one.line.ptr != NULL ? rt_items_push(c->s, &c->junk, sizeof(*junk)) : NULL;
		if (junk != NULL)
			*junk = one;
	}
}

/* ---- the header ---- */

/* The moment of the first row that has one. */
static void
find_start(writer *c)
{
	for (size_t i = 0; i < c->rows.count; i++) {
		const rt_node *node = rt_pi_rows_node(&c->rows, (int64_t)i);

		if (node->has_ts) {
			c->start = node->ts;
			return;
		}
	}
}

/* A session id that is the same whenever the same discussion is written: its own, or a UUID of
 * version 7, its time the discussion's start, the rest a hash of its source, or of its first
 * entry. */
static void
put_session_id(writer *c)
{
	uint64_t ms = (uint64_t)rt_pi_ms(c->start) & 0xFFFFFFFFFFFFu, hash;
	rt_str source = c->rows.outline.source;

	if (source.size == 0 && yyjson_is_str(field(c, "source")))
		source = rt_json_str(field(c, "source"));
	if (rt_str_starts(source, RT_STR("pi:")) && source.size > 3) {
		rt_json_put_str(c->out, "id", rt_str_at(source.ptr + 3, source.size - 3));
		return;
	}
	hash = rt_hash(source.ptr, source.size, 0);
	if (source.size == 0 && c->rows.count > 0) {
		const rt_node *first = rt_pi_rows_node(&c->rows, 0);

		hash = rt_hash(first->id.ptr, first->id.size, hash);
		if (first->id.size == 0)
			hash = rt_hash(first->body.ptr, first->body.size, hash);
	}
	rt_json_add_key(c->out, "id");
	rt_buf_add_f(c->out, "\"%08x-%04x-7%03x-%04x-%04x%08x\"", (unsigned)(ms >> 16),
		     (unsigned)(ms & 0xFFFF), (unsigned)(hash & 0xFFF),
		     (unsigned)(0x8000 | (hash >> 12 & 0x3FFF)), (unsigned)(hash >> 26 & 0xFFFF),
		     (unsigned)(rt_hash_u64(hash) >> 32));
}

static void
write_new_header(writer *c)
{
	find_start(c);
	rt_buf_add_byte(c->out, '{');
	rt_json_put_c(c->out, "type", "session");
	rt_json_put_u64(c->out, "version", RT_PI_VERSION);
	put_session_id(c);
	rt_json_put_time(c->out, "timestamp", c->start);
	rt_json_close(c->out, '}'); /* without a cwd: pi uses its working directory */
	end_line(c);
}

static void
write_header(writer *c)
{
	rt_str header = line_of(c, field(c, "pi.header"));
	rt_pi_record record;

	c->has_header = header.ptr != NULL && rt_pi_reader_read(&c->rows.reader, header, &record) &&
			record.is_header && record.entry.id.ptr != NULL;
	if (!c->has_header) {
		write_new_header(c);
		return;
	}
	if (record.entry.ts_from == RT_PI_TS_ENTRY)
		c->start = record.entry.ts;
	write_junk(c, false);
	rt_pi_migrate_header(c->out, &c->rows.reader, header);
	end_line(c);
}

/* ---- entries ---- */

/* The id by which a row can be named as a parent; ptr NULL: it cannot. */
static rt_str
name_of(const writer *c, int64_t row)
{
	rt_str id = row < 0 ? rt_str_at(NULL, 0) : c->rows.items[row].id;

	return id.size > 0 && rt_index_get(&c->rows.ids, id) == row ? id : rt_str_at(NULL, 0);
}

/* The first entry that a compaction of Retake keeps: its id in the file, searched on the way up by
 * its id in Retake, or as the entry after "to". A range that is not the beginning of the path has
 * no counterpart: pi would drop the entries before it. */
static void
find_kept(const writer *c, size_t i, rt_pi_composed *entry)
{
	rt_str first = rt_json_str(rt_body_field(entry->body, "first_kept"));
	rt_str from = rt_json_str(rt_body_field(entry->body, "from"));
	rt_str to = rt_json_str(rt_body_field(entry->body, "to"));
	bool is_range = first.size == 0 && from.size > 0 && to.size > 0, seen_to = false;
	const rt_pi_row *items = c->rows.items;
	int64_t below = (int64_t)i;

	entry->is_inner_range = is_range;
	for (int64_t up = items[i].parent; up >= 0; up = items[up].parent) {
		rt_str id = rt_pi_rows_node(&c->rows, up)->id;

		if (!is_range && first.size > 0 && rt_str_eq(id, first)) {
			entry->kept_id = name_of(c, up);
			return;
		}
		if (is_range && rt_str_eq(id, to)) {
			entry->kept_id = name_of(c, below);
			seen_to = true;
		}
		if (seen_to && rt_str_eq(id, from))
			entry->is_inner_range = items[up].parent >= 0;
		below = up;
	}
}

static void
write_composed(writer *c, size_t i)
{
	rt_pi_row *row = &c->rows.items[i];
	const rt_node *node = rt_pi_rows_node(&c->rows, (int64_t)i);
	const rt_body *body = rt_writer_body(&c->w, node);
	rt_pi_composed entry = {.node = node,
				.body = body,
				.id = row->id,
				.parent_id = row->parent_id,
				.ts = row->ts};
	rt_str target, text;

	if (body == NULL)
		return;
	if (rt_str_is(node->kind, "compaction"))
		find_kept(c, i, &entry);
	rt_pi_compose(&c->w, &entry);
	end_line(c);
	/* those that follow the entries have to know the label or the name that it sets */
	row->raw.kind = rt_pi_composed_type(&entry, &target, &text);
	if (row->raw.kind == RT_PI_OTHER)
		return;
	row->raw.target = rt_scope_copy(c->s, target);
	row->raw.text = rt_scope_copy(c->s, text);
}

/* Does the record's "retake" member describe the node? */
static bool
retake_fits(const writer *c, const rt_pi_row *row, const rt_node *node)
{
	const rt_pi_entry *raw = &row->raw;
	rt_str own = rt_pi_entry_role(raw), role = node->role, marked_role = raw->retake_role;
	rt_str kind = raw->retake_kind.size > 0 ? raw->retake_kind : rt_pi_entry_kind(raw);
	bool is_marked = raw->muted || raw->collapsed || raw->read_mode || marked_role.size > 0 ||
			 raw->retake_kind.size > 0;

	if (!is_marked && !c->w.options.lossless)
		return true;
	if (role.size == 0 || rt_str_eq(role, own))
		role = rt_str_at(NULL, 0);
	if (rt_str_eq(marked_role, own))
		marked_role = rt_str_at(NULL, 0);
	return rt_str_eq(kind, node->kind.size > 0 ? node->kind : RT_STR("message")) &&
	       raw->muted == node->muted && raw->collapsed == node->collapsed &&
	       raw->read_mode == node->read_mode && rt_str_eq(marked_role, role);
}

/* The new "retake" member of a record, with the fields that it had. Empty: it has none. */
static void
add_retake(rt_buf *buf, const rt_pi_row *row, const rt_node *node, yyjson_val *object)
{
	yyjson_val *fields = rt_json_get(rt_json_get(object, "retake"), "fields");

	rt_pi_compose_retake(buf, node, rt_pi_entry_role(&row->raw), rt_pi_entry_kind(&row->raw),
			     NULL);
	if (fields == NULL)
		return;
	if (buf->size == 0)
		rt_buf_add_byte(buf, '{');
	else
		buf->size--; /* open it again */
	rt_json_put_value(buf, "fields", fields);
	rt_json_close(buf, '}');
}

/* A line that needs another id, parent or "retake" member; nothing else is changed. */
static void
write_patched(writer *c, const rt_pi_row *row, const rt_node *node)
{
	rt_pi_change changes[3];
	size_t count = 0;
	rt_pi_record record;
	rt_scope s;

	if (!rt_pi_reader_read(&c->rows.reader, row->raw.line, &record))
		return;
	rt_scope_init(&s, c->s->alloc);
	if (!rt_str_eq(row->id, row->raw.id))
		changes[count++] = (rt_pi_change){"id", rt_pi_quote(&s, row->id), "type"};
	if (row->changes_parent)
		changes[count++] = (rt_pi_change){"parentId", rt_pi_quote(&s, row->parent_id),
						  NULL};
	if (!retake_fits(c, row, node)) {
		rt_buf *retake = rt_scope_buf(&s);

		add_retake(retake, row, node, record.object);
		changes[count++] = (rt_pi_change){
			"retake", retake->size > 0 ? rt_scope_str(&s, retake) : rt_str_at(NULL, 0),
			NULL};
	}
	(void)RT_TRY(&s, rt_pi_patch(c->out, row->raw.line, record.object, changes, count));
	(void)rt_scope_join(c->s, &s);
	end_line(c);
}

static void
write_row(writer *c, size_t i)
{
	rt_pi_row *row = &c->rows.items[i];
	const rt_node *node = rt_pi_rows_node(&c->rows, (int64_t)i);

	if (c->w.options.whole)
		write_junk(c, false);
	row->ts = c->start;
	if (node->has_ts)
		row->ts = node->ts;
	else if (row->parent >= 0 && row->parent < (int64_t)i)
		row->ts = c->rows.items[row->parent].ts;
	c->last_row = (int64_t)i;
	if (row->raw.line.ptr == NULL) {
		write_composed(c, i);
	} else if (!rt_str_eq(row->id, row->raw.id) || row->changes_parent ||
		   !retake_fits(c, row, node)) {
		write_patched(c, row, node);
	} else {
		rt_buf_add_str(c->out, row->raw.line);
		end_line(c);
	}
}

/* ---- records after the entries ---- */

/* Open a record below the one written last; the first is below the head, or below the nearest entry
 * above it that can be named as a parent. what and more determine its id: the same data at the same
 * place get the same id. custom_type: of a record that is neither a label nor a name. */
static void
open_record(writer *c, const char *type, rt_str what, rt_str more, const char *custom_type)
{
	rt_pi_fresh fresh;
	rt_str id;

	if (!c->has_records) {
		int64_t at = c->rows.head;

		while (at >= 0 && name_of(c, at).ptr == NULL)
			at = c->rows.items[at].parent;
		c->last_id = name_of(c, at);
		c->last_ts = at >= 0 ? c->rows.items[at].ts : c->start;
	}
	c->has_records = true;
	rt_buf_clear(c->scratch);
	rt_buf_add_f(c->scratch, "%s\n", type);
	rt_buf_add_str(c->scratch, what);
	rt_buf_add_byte(c->scratch, '\n');
	rt_buf_add_str(c->scratch, more);
	rt_buf_add_byte(c->scratch, '\n');
	rt_buf_add_str(c->scratch, c->last_id);
	rt_pi_fresh_init(&fresh, NULL, rt_scope_str(c->s, c->scratch));
	id = rt_pi_fresh_id(&fresh, &c->rows.ids, c->s);
	rt_buf_add_byte(c->out, '{');
	rt_json_put_c(c->out, "type", type);
	if (custom_type != NULL)
		rt_json_put_c(c->out, "customType", custom_type);
	rt_pi_put_ids(c->out, id, c->last_id, c->last_ts);
	c->last_row = -1;
	c->last_id = id;
}

static void
close_record(writer *c)
{
	rt_json_close(c->out, '}');
	end_line(c);
}

/* Labels that differ from those of the label entries, in the order in which these are written. */
static void
write_labels(writer *c)
{
	const rt_pi_rows *rows = &c->rows;
	rt_index set_by = {.slots = NULL}; /* target: row */
	rt_scope s;

	rt_scope_init(&s, c->s->alloc);
	for (size_t i = 0; i < rows->count; i++)
		if (rows->items[i].raw.kind == RT_PI_LABEL && rows->items[i].raw.target.ptr != NULL)
			(void)rt_index_put(&s, &set_by, rows->items[i].raw.target, i);
	for (size_t i = 0; i < rows->count && rt_ok(&s) && rt_ok(c->s); i++) {
		rt_str target = name_of(c, (int64_t)i);
		rt_str label = rt_pi_rows_node(rows, (int64_t)i)->label;
		int64_t at = target.ptr == NULL ? -1 : rt_index_get(&set_by, target);

		if (target.ptr == NULL ||
		    rt_str_eq(label, at < 0 ? rt_str_at(NULL, 0) : rows->items[at].raw.text))
			continue;
		open_record(c, "label", target, label, NULL);
		rt_json_put_str(c->out, "targetId", target);
		if (label.size > 0)
			rt_json_put_str(c->out, "label", label);
		close_record(c);
	}
	(void)rt_scope_join(c->s, &s);
}

/* The name in pi's form: runs of line ends are one space, and trimmed. */
static rt_str
flatten_name(writer *c, rt_str name)
{
	char *to = rt_scope_get(c->s, name.size + 1);
	size_t size = 0;

	for (size_t i = 0; to != NULL && i < name.size; i++) {
		bool is_end = name.ptr[i] == '\n' || name.ptr[i] == '\r';

		if (!is_end || i == 0 || (name.ptr[i - 1] != '\n' && name.ptr[i - 1] != '\r'))
			to[size++] = is_end ? ' ' : name.ptr[i];
	}
	return rt_pi_trim(rt_str_at(to, size));
}

static void
write_name(writer *c)
{
	rt_str name = flatten_name(c, c->rows.outline.name), recorded = {NULL, 0};
	bool has_info = false;

	for (size_t i = c->rows.count; i-- > 0 && !has_info;) {
		const rt_pi_entry *raw = &c->rows.items[i].raw;

		has_info = raw->kind == RT_PI_SESSION_INFO;
		if (has_info)
			recorded = flatten_name(c,
						raw->text); /* other programs may have written line
							     * ends */
	}
	if (name.size == 0 || rt_str_eq(name, recorded) || (c->has_header && !has_info))
		return;
	if (recorded.size == 0 &&
	    rt_str_eq(rt_json_str(field(c, "name_made")), c->rows.outline.name))
		return; /* it had no name and has the one that the import gave its discussion */
	open_record(c, "session_info", name, rt_str_at(NULL, 0), NULL);
	rt_json_put_str(c->out, "name", name);
	close_record(c);
}

static void
write_all(writer *c)
{
	yyjson_val *unended = NULL;

	if (c->w.options.whole) {
		read_junk(c);
		unended = field(c, "pi.unended");
		if (!rt_json_u64(unended, &c->unended))
			c->unended = 0;
	}
	write_header(c);
	for (size_t i = 0; i < c->rows.count && rt_ok(c->s); i++)
		write_row(c, i);
	write_junk(c, true);
	write_labels(c);
	write_name(c);
	if (!c->has_records && c->rows.count > 0 && c->last_row != c->rows.head) {
		open_record(c, "custom", RT_STR("retake.head"), rt_str_at(NULL, 0), "retake.head");
		close_record(c);
	}
	if (rt_ok(c->s) && c->out->status == RT_OK && c->unended == c->lines)
		c->out->ptr[--c->out->size] = '\0'; /* as it was */
}

rt_status
rt_pi_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
	    rt_buf *out, rt_error *err)
{
	rt_export_options all = {.whole = true};
	writer c = {.out = out, .last_row = -1};
	size_t size = out->size;
	rt_status st;

	if (in->count == 0)
		return rt_fail(err, RT_USAGE, "there is no discussion to write");
	rt_writer_init(&c.w, alloc, in, options == NULL ? &all : options, out);
	c.s = &c.w.s;
	c.scratch = rt_scope_buf(c.s);
	rt_pi_rows_init(&c.rows, &c.w,
			&in->items[in->has_active && in->active < in->count ? in->active : 0],
			c.w.options.whole);
	if (rt_ok(c.s))
		write_all(&c);
	rt_pi_reader_deinit(&c.rows.reader);
	st = rt_writer_end(&c.w, err);
	if (st != RT_OK) {
		out->size = size;
		if (out->ptr != NULL)
			out->ptr[size] = '\0';
	}
	if (st == RT_NOMEM || st == RT_LIMIT)
		return rt_fail(err, st,
			       st == RT_NOMEM ? "out of memory while writing the session file"
					      : "the session file would be too large");
	return st;
}
