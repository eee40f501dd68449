/* SPDX-License-Identifier: MIT
 *
 * Writing a session file.
 *
 *   header      the one it had (migrated); else a new one
 *   entries     lines that were read from a file, byte for byte; changed ones patched;
 *               Retake's own composed (pi_compose.c)
 *   labels      one record for every label that differs from what the entries say, and
 *   name        one for the discussion's name, likewise; a file that came without a name
 *               is not given one
 *   anchor      see below
 *
 * What was no entry in the file (torn lines, blank ones) stands where it stood.
 *
 * pi goes on where the last line is. Records for labels and the name hang below the head,
 * so that they, being last, say where that is. Where there are none of them and the last
 * entry is not the head, one record follows that does nothing but be last:
 *
 *   {"type":"custom","customType":"retake.head","id":…,"parentId":HEAD,"timestamp":…}
 *
 * A custom entry is the least that pi knows: it is in no context, and unlike a label or
 * session_info it touches no label, name or setting; and it can be a root, for a head
 * before the first entry. Read again it is an entry like any other, and the head.
 *
 * With lossless, what pi has no word for goes to a member "retake" of the record: {"role",
 * "kind","muted","collapsed","read_mode","fields"}; reading gives all but the fields back. */
#include "base/hash.h"
#include "formats/formats_writer.h"
#include "formats/pi_rows.h"

typedef struct junk_line {
	uint64_t number;
	rt_str line;
} junk_line;

typedef struct writer {
	const rt_alloc *alloc;
	rt_buf *out;
	rt_pi_rows rows;
	bool whole, lossless;
	uint64_t lines; /* written so far */
	junk_line *junk;
	size_t junk_count, junk_at;
	uint64_t unended; /* the number of lines that ended without a line end; 0: none */
	bool has_header;  /* the discussion has been a session file before */
	rt_moment start;  /* the header's time, for entries that have none */
	rt_buf scratch;
	rt_str last_id; /* of the record written last, where it can be a parent */
	rt_moment last_ts;
	int64_t last_row; /* the entry on the last line, -1: none */
	rt_error *err;
} writer;

static rt_status
end_line(writer *w)
{
	rt_buf_add_byte(w->out, '\n');
	w->lines++;
	return w->out->status;
}

/* Lines that were no entries, as far as they are due. */
static rt_status
write_junk(writer *w, bool all)
{
	rt_status st = w->out->status;

	while (st == RT_OK && w->junk_at < w->junk_count &&
	       (all || w->junk[w->junk_at].number <= w->lines + 1)) {
		rt_buf_add_str(w->out, w->junk[w->junk_at++].line);
		st = end_line(w);
	}
	return st;
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A line from a field: a string, or an object with "hex". No line: ptr NULL. */
static rt_status
line_of(writer *w, yyjson_val *value, rt_str *out)
{
	rt_str hex = rt_json_str(rt_json_get(value, "hex"));
	char *to;
	size_t i;

	*out = rt_str_at(NULL, 0);
	if (yyjson_is_str(value)) {
		if (memchr(yyjson_get_str(value), '\n', yyjson_get_len(value)) != NULL)
			return RT_OK;
		return rt_pi_copy(w->rows.arena, rt_json_str(value), out) ? RT_OK : RT_NOMEM;
	}
	if (hex.ptr == NULL || hex.size % 2 != 0)
		return RT_OK;
	to = rt_arena_get(w->rows.arena, hex.size / 2 + 1);
	if (to == NULL)
		return RT_NOMEM;
	for (i = 0; i < hex.size / 2; i++) {
		int high = hex_digit(hex.ptr[2 * i]), low = hex_digit(hex.ptr[2 * i + 1]);

		if (high < 0 || low < 0 || high * 16 + low == '\n')
			return RT_OK;
		to[i] = (char)(high * 16 + low);
	}
	*out = rt_str_at(to, hex.size / 2);
	return RT_OK;
}

/* A field parsed; NULL: not there, or not JSON. */
static rt_status
open_field(writer *w, const char *name, rt_json_doc **out)
{
	const rt_outline *o = &w->rows.outline;
	rt_str json = rt_outline_field_of(o->fields, o->field_count, name);

	*out = NULL;
	if (json.size == 0)
		return RT_OK;
	return rt_json_read(w->alloc, json, out, NULL) == RT_NOMEM ? RT_NOMEM : RT_OK;
}

static rt_status
read_junk(writer *w)
{
	rt_json_doc *doc;
	yyjson_val *pair;
	size_t i, max;
	rt_status st = open_field(w, "pi.junk", &doc);

	if (st != RT_OK || doc == NULL)
		return st;
	if (yyjson_is_arr(rt_json_root(doc))) {
		w->junk = rt_new_array(w->alloc, yyjson_arr_size(rt_json_root(doc)),
				       sizeof(*w->junk));
		if (w->junk == NULL)
			st = RT_NOMEM;
		yyjson_arr_foreach(rt_json_root(doc), i, max, pair)
		{
			junk_line *junk = st == RT_OK ? &w->junk[w->junk_count] : NULL;

			if (junk == NULL || !rt_json_u64(yyjson_arr_get(pair, 0), &junk->number))
				continue;
			st = line_of(w, yyjson_arr_get(pair, 1), &junk->line);
			w->junk_count += st == RT_OK && junk->line.ptr != NULL;
		}
	}
	rt_json_free(doc);
	return st;
}

static rt_status
read_unended(writer *w)
{
	rt_json_doc *doc;
	rt_status st = open_field(w, "pi.unended", &doc);

	if (st == RT_OK && doc != NULL && !rt_json_u64(rt_json_root(doc), &w->unended))
		w->unended = 0;
	rt_json_free(doc);
	return st;
}

/* The moment of the first row that has one. */
static void
find_start(writer *w)
{
	size_t i;

	for (i = 0; i < w->rows.count; i++) {
		const rt_node *node = &w->rows.outline.nodes[w->rows.items[i].node];

		if (node->has_ts) {
			w->start = node->ts;
			return;
		}
	}
}

/* The discussion's source as its outline has it, or as a field keeps it. */
static rt_status
find_source(writer *w, rt_str *out)
{
	rt_json_doc *doc;
	rt_status st = RT_OK;

	*out = w->rows.outline.source;
	if (out->size > 0)
		return RT_OK;
	st = open_field(w, "source", &doc);
	if (st == RT_OK && doc != NULL && yyjson_is_str(rt_json_root(doc)) &&
	    !rt_pi_copy(w->rows.arena, rt_json_str(rt_json_root(doc)), out))
		st = RT_NOMEM;
	rt_json_free(doc);
	return st;
}

/* A session id that is the same whenever the same discussion is written: the one it had,
 * or a UUID of version 7, its time the discussion's start, the rest a hash of its source,
 * or of its first entry. */
static rt_status
add_session_id(writer *w)
{
	const rt_outline *o = &w->rows.outline;
	uint64_t ms = (uint64_t)rt_pi_ms(w->start) & 0xFFFFFFFFFFFFu, hash;
	rt_str source;
	rt_status st = find_source(w, &source);

	if (st != RT_OK)
		return st;
	if (rt_str_starts(source, RT_STR("pi:")) && source.size > 3) {
		rt_json_add_string(w->out, rt_str_at(source.ptr + 3, source.size - 3));
		return RT_OK;
	}
	hash = rt_hash(source.ptr, source.size, 0);
	if (source.size == 0 && w->rows.count > 0) {
		const rt_node *first = &o->nodes[w->rows.items[0].node];

		hash = rt_hash(first->id.ptr, first->id.size, hash);
		if (first->id.size == 0)
			hash = rt_hash(first->body.ptr, first->body.size, hash);
	}
	rt_buf_add_f(w->out, "\"%08x-%04x-7%03x-%04x-%04x%08x\"", (unsigned)(ms >> 16),
		     (unsigned)(ms & 0xFFFF), (unsigned)(hash & 0xFFF),
		     (unsigned)(0x8000 | (hash >> 12 & 0x3FFF)), (unsigned)(hash >> 26 & 0xFFFF),
		     (unsigned)(rt_hash_u64(hash) >> 32));
	return RT_OK;
}

static rt_status
write_new_header(writer *w)
{
	rt_status st;

	find_start(w);
	rt_buf_add_c(w->out, "{\"type\":\"session\",\"version\":3,\"id\":");
	st = add_session_id(w);
	if (st != RT_OK)
		return st;
	rt_buf_add_c(w->out, ",\"timestamp\":\"");
	rt_moment_format_ms(w->out, w->start);
	rt_buf_add_c(w->out, "\"}"); /* without a cwd: pi takes the one it runs in */
	return end_line(w);
}

static rt_status
write_header(writer *w)
{
	rt_json_doc *doc;
	rt_pi_record record;
	rt_str header = {NULL, 0};
	rt_status st = open_field(w, "pi.header", &doc);

	if (st == RT_OK && doc != NULL)
		st = line_of(w, rt_json_root(doc), &header);
	rt_json_free(doc);
	if (st != RT_OK)
		return st;
	if (header.ptr != NULL) {
		st = rt_pi_reader_read(&w->rows.reader, header, &record);
		if (st != RT_OK)
			return st;
		w->has_header = record.is_header && record.entry.id.ptr != NULL;
	}
	if (!w->has_header)
		return write_new_header(w);
	if (record.entry.ts_from == RT_PI_TS_ENTRY)
		w->start = record.entry.ts;
	st = write_junk(w, false);
	if (st == RT_OK)
		st = rt_pi_migrate_header(w->out, w->alloc, header);
	return st == RT_OK ? end_line(w) : st;
}

/* The id by which a row can be named as a parent; ptr NULL: it cannot. */
static rt_str
name_of(const writer *w, int64_t row)
{
	rt_str id;

	if (row < 0)
		return rt_str_at(NULL, 0);
	id = w->rows.items[row].id;
	if (id.size == 0 || rt_pi_ids_get(&w->rows.ids, id) != row)
		return rt_str_at(NULL, 0);
	return id;
}

/* What a compaction of Retake's keeps: the id under which the file has the first entry,
 * looked for on the way up, by its id in Retake, or as the one after "to". A range that is
 * not the beginning of the path has no counterpart: pi would drop what is before it. */
static void
find_kept(const writer *w, size_t i, rt_pi_composed *entry)
{
	rt_str first = rt_json_str(rt_body_field(entry->body, "first_kept"));
	rt_str from = rt_json_str(rt_body_field(entry->body, "from"));
	rt_str to = rt_json_str(rt_body_field(entry->body, "to"));
	bool is_range = first.size == 0 && from.size > 0 && to.size > 0, seen_to = false;
	int64_t below = (int64_t)i, up;

	entry->is_inner_range = is_range;
	for (up = w->rows.items[i].parent; up >= 0; up = w->rows.items[up].parent) {
		rt_str id = w->rows.outline.nodes[w->rows.items[up].node].id;

		if (!is_range && first.size > 0 && rt_str_eq(id, first)) {
			entry->kept_id = name_of(w, up);
			return;
		}
		if (is_range && rt_str_eq(id, to)) {
			entry->kept_id = name_of(w, below);
			seen_to = true;
		}
		if (seen_to && rt_str_eq(id, from))
			entry->is_inner_range = w->rows.items[up].parent >= 0;
		below = up;
	}
}

/* A label or a name that a composed record sets: those that follow the entries have to know. */
static rt_status
note_composed(writer *w, rt_pi_row *row, const rt_pi_composed *entry)
{
	rt_str target, text;

	row->raw.kind = rt_pi_composed_type(entry, &target, &text);
	if (row->raw.kind == RT_PI_OTHER)
		return RT_OK;
	return rt_pi_copy(w->rows.arena, target, &row->raw.target) &&
			       rt_pi_copy(w->rows.arena, text, &row->raw.text)
		       ? RT_OK
		       : RT_NOMEM;
}

static rt_status
write_composed(writer *w, size_t i)
{
	rt_pi_row *row = &w->rows.items[i];
	const rt_node *node = &w->rows.outline.nodes[row->node];
	rt_body body;
	rt_pi_composed entry = {.node = node,
				.body = &body,
				.id = row->id,
				.parent_id = row->parent_id,
				.ts = row->ts,
				.lossless = w->lossless};
	rt_status st = rt_node_body(w->alloc, node, &w->scratch, &body, w->err);

	if (st != RT_OK)
		return st;
	if (rt_str_is(node->kind, "compaction"))
		find_kept(w, i, &entry);
	rt_pi_compose(w->out, &entry);
	st = note_composed(w, row, &entry);
	rt_body_deinit(&body);
	return st == RT_OK ? end_line(w) : st;
}

/* Does the record's "retake" member say what the node is? */
static bool
retake_fits(const writer *w, const rt_pi_row *row, const rt_node *node)
{
	const rt_pi_entry *raw = &row->raw;
	rt_str own = rt_pi_entry_role(raw), role = node->role;
	rt_str kind = raw->retake_kind.size > 0 ? raw->retake_kind : rt_pi_entry_kind(raw);
	bool says = raw->muted || raw->collapsed || raw->read_mode ||
		    raw->retake_role.size > 0 || raw->retake_kind.size > 0;

	if (!says && !w->lossless)
		return true;
	if (role.size == 0 || rt_str_eq(role, own))
		role = rt_str_at(NULL, 0);
	return rt_str_eq(kind, node->kind.size > 0 ? node->kind : RT_STR("message")) &&
	       raw->muted == node->muted && raw->collapsed == node->collapsed &&
	       raw->read_mode == node->read_mode &&
	       rt_str_eq(rt_str_eq(raw->retake_role, own) ? rt_str_at(NULL, 0) : raw->retake_role,
			 role);
}

/* The new "retake" member of a record, with the fields that it had. */
static void
add_retake(writer *w, rt_buf *buf, const rt_pi_row *row, const rt_node *node, yyjson_val *object)
{
	yyjson_val *fields = rt_json_get(rt_json_get(object, "retake"), "fields");

	(void)w;
	rt_pi_compose_retake(buf, node, rt_pi_entry_role(&row->raw), rt_pi_entry_kind(&row->raw),
			     NULL);
	if (fields == NULL)
		return;
	if (buf->size == 0)
		rt_buf_add_byte(buf, '{');
	else
		buf->size--; /* open it again */
	rt_json_add_key(buf, "fields");
	rt_json_add_value(buf, fields);
	rt_buf_add_byte(buf, '}');
}

static void
quote(rt_buf *buf, rt_str id)
{
	if (id.ptr == NULL)
		rt_buf_add_c(buf, "null");
	else
		rt_json_add_string(buf, id);
}

/* A line that needs another id, parent or "retake" member, and nothing else touched. */
static rt_status
write_patched(writer *w, const rt_pi_row *row, const rt_node *node)
{
	enum { ID, PARENT, RETAKE, TEXTS };
	rt_pi_change changes[TEXTS];
	rt_buf texts[TEXTS];
	rt_pi_record record;
	size_t count = 0, i;
	rt_status st = rt_pi_reader_read(&w->rows.reader, row->raw.line, &record);

	if (st != RT_OK)
		return st;
	for (i = 0; i < TEXTS; i++)
		rt_buf_init(&texts[i], w->alloc, RT_BUF_UNLIMITED);
	if (!rt_str_eq(row->id, row->raw.id)) {
		quote(&texts[ID], row->id);
		changes[count++] = (rt_pi_change){"id", rt_buf_str(&texts[ID]), "type"};
	}
	if (row->changes_parent) {
		quote(&texts[PARENT], row->parent_id);
		changes[count++] = (rt_pi_change){"parentId", rt_buf_str(&texts[PARENT]), NULL};
	}
	if (!retake_fits(w, row, node)) {
		add_retake(w, &texts[RETAKE], row, node, record.object);
		changes[count++] = (rt_pi_change){
			"retake",
			texts[RETAKE].size > 0 ? rt_buf_str(&texts[RETAKE]) : rt_str_at(NULL, 0),
			NULL};
	}
	for (i = 0; i < TEXTS && st == RT_OK; i++)
		st = texts[i].status;
	if (st == RT_OK)
		st = rt_pi_patch(w->out, row->raw.line, record.object, changes, count);
	for (i = 0; i < TEXTS; i++)
		rt_buf_deinit(&texts[i]);
	return st == RT_OK ? end_line(w) : st;
}

static rt_status
write_row(writer *w, size_t i)
{
	rt_pi_row *row = &w->rows.items[i];
	const rt_node *node = &w->rows.outline.nodes[row->node];
	rt_status st = w->whole ? write_junk(w, false) : RT_OK;

	if (st != RT_OK)
		return st;
	row->ts = w->start;
	if (node->has_ts)
		row->ts = node->ts;
	else if (row->parent >= 0 && row->parent < (int64_t)i)
		row->ts = w->rows.items[row->parent].ts;
	w->last_row = (int64_t)i;
	if (row->raw.line.ptr == NULL)
		return write_composed(w, i);
	if (!rt_str_eq(row->id, row->raw.id) || row->changes_parent || !retake_fits(w, row, node))
		return write_patched(w, row, node);
	rt_buf_add_str(w->out, row->raw.line);
	return end_line(w);
}

/* --- what follows the entries --- */

/* Go on below the head, or below what is above it and has a name. */
static void
go_to_head(writer *w)
{
	int64_t at = w->rows.head;

	while (at >= 0 && name_of(w, at).ptr == NULL)
		at = w->rows.items[at].parent;
	w->last_id = name_of(w, at);
	w->last_ts = at >= 0 ? w->rows.items[at].ts : w->start;
}

/* Open a record below the one written last. what makes its id: the same thing at the same
 * place gets the same id. */
static rt_status
open_record(writer *w, const char *type, rt_str what, rt_str more)
{
	char id[RT_PI_UUID_SIZE];
	rt_pi_fresh fresh;
	rt_str made;

	rt_buf_clear(&w->scratch);
	rt_buf_add_c(&w->scratch, type);
	rt_buf_add_byte(&w->scratch, '\n');
	rt_buf_add_str(&w->scratch, what);
	rt_buf_add_byte(&w->scratch, '\n');
	rt_buf_add_str(&w->scratch, more);
	rt_buf_add_byte(&w->scratch, '\n');
	rt_buf_add_str(&w->scratch, w->last_id);
	if (w->scratch.status != RT_OK)
		return RT_NOMEM;
	rt_pi_fresh_init(&fresh, NULL, rt_buf_str(&w->scratch));
	made = rt_str_at(id, rt_pi_fresh_id(&fresh, &w->rows.ids, id));
	rt_json_add_key(w->out, "id");
	rt_json_add_string(w->out, made);
	rt_json_add_key(w->out, "parentId");
	quote(w->out, w->last_id);
	rt_json_add_key(w->out, "timestamp");
	rt_buf_add_byte(w->out, '"');
	rt_moment_format_ms(w->out, w->last_ts);
	rt_buf_add_byte(w->out, '"');
	w->last_row = -1;
	return rt_pi_copy(w->rows.arena, made, &w->last_id) ? RT_OK : RT_NOMEM;
}

/* What the label entries say, in the order in which they are written. */
typedef struct told_labels {
	rt_pi_ids ids; /* target to index */
	rt_str *targets, *texts;
	size_t count;
} told_labels;

static rt_status
collect_labels(const writer *w, told_labels *told)
{
	size_t i, count = 0;
	rt_status st = RT_OK;

	memset(told, 0, sizeof(*told));
	for (i = 0; i < w->rows.count; i++)
		count += w->rows.items[i].raw.kind == RT_PI_LABEL;
	told->targets = rt_new_array(w->alloc, count, sizeof(*told->targets));
	told->texts = rt_new_array(w->alloc, count, sizeof(*told->texts));
	rt_pi_ids_init(&told->ids, w->alloc, told->targets, sizeof(*told->targets));
	if (told->targets == NULL || told->texts == NULL)
		return RT_NOMEM;
	for (i = 0; i < w->rows.count && st == RT_OK; i++) {
		const rt_pi_entry *raw = &w->rows.items[i].raw;

		if (raw->kind != RT_PI_LABEL || raw->target.ptr == NULL)
			continue;
		told->targets[told->count] = raw->target;
		told->texts[told->count] = raw->text;
		st = rt_pi_ids_put(&told->ids, told->count++, NULL);
	}
	return st;
}

static void
forget_labels(const writer *w, told_labels *told)
{
	rt_pi_ids_deinit(&told->ids);
	rt_free(w->alloc, told->targets);
	rt_free(w->alloc, told->texts);
}

static rt_status
write_label(writer *w, rt_str target, rt_str label)
{
	rt_status st;

	rt_buf_add_c(w->out, "{\"type\":\"label\"");
	st = open_record(w, "label", target, label);
	if (st != RT_OK)
		return st;
	rt_json_add_key(w->out, "targetId");
	rt_json_add_string(w->out, target);
	if (label.size > 0) {
		rt_json_add_key(w->out, "label");
		rt_json_add_string(w->out, label);
	}
	rt_buf_add_byte(w->out, '}');
	return end_line(w);
}

static rt_status
write_labels(writer *w, bool *any)
{
	told_labels told;
	size_t i;
	rt_status st = collect_labels(w, &told);

	for (i = 0; i < w->rows.count && st == RT_OK; i++) {
		rt_str target = name_of(w, (int64_t)i), label, known = {NULL, 0};
		int64_t at;

		if (target.ptr == NULL)
			continue;
		label = w->rows.outline.nodes[w->rows.items[i].node].label;
		at = rt_pi_ids_get(&told.ids, target);
		if (at >= 0)
			known = told.texts[at];
		if (rt_str_eq(label, known))
			continue;
		if (!*any)
			go_to_head(w);
		*any = true;
		st = write_label(w, target, label);
	}
	forget_labels(w, &told);
	return st;
}

/* The name as pi would keep it: runs of line ends are one space, and trimmed. */
static rt_status
flatten_name(writer *w, rt_str name, rt_str *out)
{
	size_t i, size = 0;
	char *to = rt_arena_get(w->rows.arena, name.size + 1);

	if (to == NULL)
		return RT_NOMEM;
	for (i = 0; i < name.size; i++) {
		bool is_end = name.ptr[i] == '\n' || name.ptr[i] == '\r';

		if (is_end && i > 0 && (name.ptr[i - 1] == '\n' || name.ptr[i - 1] == '\r'))
			continue;
		to[size++] = is_end ? ' ' : name.ptr[i];
	}
	*out = rt_pi_trim(rt_str_at(to, size));
	return RT_OK;
}

/* The session had no name and has the one that the import gave its discussion. */
static bool
is_made_up(writer *w)
{
	rt_json_doc *doc = NULL;
	bool is;

	if (open_field(w, "name_made", &doc) != RT_OK || doc == NULL)
		return false;
	is = rt_str_eq(rt_json_str(rt_json_root(doc)), w->rows.outline.name);
	rt_json_free(doc);
	return is;
}

static rt_status
write_name(writer *w, bool *any)
{
	rt_str name, told = {NULL, 0};
	bool is_told = false;
	size_t i;
	rt_status st = flatten_name(w, w->rows.outline.name, &name);

	if (st != RT_OK)
		return st;
	for (i = w->rows.count; i-- > 0 && !is_told;) {
		const rt_pi_entry *raw = &w->rows.items[i].raw;

		is_told = raw->kind == RT_PI_SESSION_INFO;
		if (is_told)
			told = raw->text;
	}
	st = flatten_name(w, told, &told); /* other hands may have written line ends */
	if (st != RT_OK)
		return st;
	if (name.size == 0 || rt_str_eq(name, told) || (w->has_header && !is_told))
		return RT_OK;
	if (told.size == 0 && is_made_up(w))
		return RT_OK;
	if (!*any)
		go_to_head(w);
	*any = true;
	rt_buf_add_c(w->out, "{\"type\":\"session_info\"");
	st = open_record(w, "session_info", name, rt_str_at(NULL, 0));
	if (st != RT_OK)
		return st;
	rt_json_add_key(w->out, "name");
	rt_json_add_string(w->out, name);
	rt_buf_add_byte(w->out, '}');
	return end_line(w);
}

static rt_status
write_anchor(writer *w)
{
	rt_status st;

	if (w->rows.count == 0 || w->last_row == w->rows.head)
		return RT_OK;
	go_to_head(w);
	rt_buf_add_c(w->out, "{\"type\":\"custom\",\"customType\":\"retake.head\"");
	st = open_record(w, "custom", RT_STR("retake.head"), rt_str_at(NULL, 0));
	if (st != RT_OK)
		return st;
	rt_buf_add_byte(w->out, '}');
	return end_line(w);
}

static rt_status
write_all(writer *w)
{
	bool any = false;
	size_t i;
	rt_status st = RT_OK;

	if (w->whole) {
		st = read_junk(w);
		if (st == RT_OK)
			st = read_unended(w);
	}
	if (st == RT_OK)
		st = write_header(w);
	for (i = 0; i < w->rows.count && st == RT_OK; i++)
		st = write_row(w, i);
	if (st == RT_OK)
		st = write_junk(w, true);
	if (st == RT_OK)
		st = write_labels(w, &any);
	if (st == RT_OK)
		st = write_name(w, &any);
	if (st == RT_OK && !any)
		st = write_anchor(w);
	if (st == RT_OK && w->unended == w->lines)
		w->out->ptr[--w->out->size] = '\0'; /* as it was */
	return st;
}

rt_status
rt_pi_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
	    rt_buf *out, rt_error *err)
{
	writer w;
	size_t size = out->size;
	rt_status st;

	if (in->count == 0)
		return rt_fail(err, RT_USAGE, "there is no discussion to write");
	memset(&w, 0, sizeof(w));
	w.alloc = alloc;
	w.out = out;
	w.err = err;
	w.whole = options == NULL || options->whole;
	w.lossless = options != NULL && options->lossless;
	w.last_row = -1;
	st = rt_pi_rows_init(alloc,
			     &in->items[in->has_active && in->active < in->count ? in->active : 0],
			     w.whole, &w.rows, err);
	if (st != RT_OK)
		return st;
	rt_buf_init(&w.scratch, alloc, RT_BUF_UNLIMITED);
	st = write_all(&w);
	rt_buf_deinit(&w.scratch);
	rt_free(alloc, w.junk);
	rt_pi_rows_deinit(&w.rows);
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
