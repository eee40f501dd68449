/* SPDX-License-Identifier: MIT
 *
 * Writing TOML project files. One form for everything: entries as tables, values of other
 * tables on one line each. What was read and not understood goes back where it was;
 * settings go back to where they were found, others into [retake]. */
#include <stdlib.h> /* qsort */

#include "base/hash.h"
#include "formats/toml_impl.h"

/* A take's table: what it is called in the file. */
typedef struct table_name {
	rt_str key;        /* unique in the file */
	rt_str discussion; /* its group; to be written where the key does not say it */
} table_name;

typedef struct writer {
	const rt_alloc *alloc;
	const rt_outlines *in;
	bool lossless, whole;
	rt_buf *out;
	rt_error *err;
	rt_status status;
	rt_buf scratch;    /* a body being taken apart */
	rt_arena *arena;   /* names and made-up takes */
	rt_table names;    /* hash: name in used */
	rt_table groups;   /* hash: group in used */
	rt_str *used;
	size_t used_count, used_room;
	/* of the discussion being written */
	const rt_outline *outline;
	rt_str group;
	yyjson_val *kept;  /* what stood in its takes' tables, or NULL */
} writer;

static void
fail(writer *w, rt_status st)
{
	if (w->status == RT_OK)
		w->status = rt_fail(w->err, st, "the export does not fit in memory");
}

/* Names */

static uint64_t
hash_str(rt_str s)
{
	return rt_hash(s.size == 0 ? "" : s.ptr, s.size, s.size);
}

static bool
is_used(const writer *w, const rt_table *table, rt_str name)
{
	size_t probe = 0, at;

	while (rt_table_next(table, hash_str(name), &probe, &at))
		if (rt_str_eq(w->used[at], name))
			return true;
	return false;
}

static void
use(writer *w, rt_table *table, rt_str name)
{
	if (w->used_count == w->used_room) {
		size_t room = w->used_room == 0 ? 64 : w->used_room * 2;
		rt_str *more = rt_resize(w->alloc, w->used, room * sizeof(*more));

		if (more == NULL) {
			fail(w, RT_NOMEM);
			return;
		}
		w->used = more;
		w->used_room = room;
	}
	w->used[w->used_count] = name;
	if (rt_table_add(table, hash_str(name), w->used_count++) != RT_OK)
		fail(w, RT_NOMEM);
}

/* base, or base and separator and the first number that makes it new. Numbers are tried
 * from one that cannot be far off, so many equal names stay cheap. */
static rt_str
unique_name(writer *w, rt_table *table, rt_str base, const char *separator)
{
	rt_buf buf;
	rt_str name = base;
	size_t step = 1, number = 0;
	char *copy;

	rt_buf_init(&buf, w->alloc, RT_BUF_UNLIMITED);
	/* double until one is free, then go back to the first free behind a used one */
	while (is_used(w, table, name) && w->status == RT_OK) {
		number += step;
		step *= 2;
		rt_buf_clear(&buf);
		rt_buf_add_str(&buf, base);
		rt_buf_add_f(&buf, "%s%zu", separator, number);
		if (buf.status != RT_OK)
			fail(w, RT_NOMEM);
		name = rt_buf_str(&buf);
	}
	for (step /= 2; number > 1 && step > 0 && w->status == RT_OK; step /= 2) {
		if (number <= step)
			continue;
		rt_buf_clear(&buf);
		rt_buf_add_str(&buf, base);
		rt_buf_add_f(&buf, "%s%zu", separator, number - step);
		if (buf.status != RT_OK)
			fail(w, RT_NOMEM);
		else if (!is_used(w, table, rt_buf_str(&buf)))
			number -= step;
	}
	if (number > 0 && w->status == RT_OK) {
		rt_buf_clear(&buf);
		rt_buf_add_str(&buf, base);
		rt_buf_add_f(&buf, "%s%zu", separator, number);
		copy = rt_arena_get(w->arena, buf.size + 1);
		if (copy == NULL || buf.status != RT_OK) {
			fail(w, RT_NOMEM);
		} else {
			memcpy(copy, buf.ptr, buf.size);
			name = rt_str_at(copy, buf.size);
		}
	}
	rt_buf_deinit(&buf);
	if (w->status != RT_OK)
		return base;
	use(w, table, name);
	return name;
}

/* Fields */

static const rt_outline_field *
find_field(const rt_outline_field *fields, size_t count, const char *name)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (rt_str_is(fields[i].name, name))
			return &fields[i];
	return NULL;
}

static const rt_outline_field *
project_field(const writer *w, const char *name)
{
	return find_field(w->in->fields, w->in->field_count, name);
}

static int
field_order(const void *a, const void *b)
{
	const rt_outline_field *const *x = a, *const *y = b;

	return rt_str_cmp((*x)->name, (*y)->name);
}

/* Pointers to the fields, sorted by name; to be freed. */
static const rt_outline_field **
sorted_fields(writer *w, const rt_outline_field *fields, size_t count)
{
	const rt_outline_field **sorted;
	size_t i;

	sorted = rt_new_array(w->alloc, count + 1, sizeof(*sorted));
	if (sorted == NULL) {
		fail(w, RT_NOMEM);
		return NULL;
	}
	for (i = 0; i < count; i++)
		sorted[i] = &fields[i];
	if (count > 1)
		qsort(sorted, count, sizeof(*sorted), field_order);
	return sorted;
}

static void
add_field(writer *w, rt_str key, rt_str json)
{
	if (rt_toml_is_left(json))
		rt_toml_add_json_member(w->out, key, json);
	else if (!rt_toml_add_member_text(w->out, key, json) && w->status == RT_OK &&
		 w->out->status == RT_OK)
		w->status = rt_fail(w->err, RT_CORRUPT, "the field %.*s is not JSON",
				    RT_STR_ARG(key));
}

static rt_json_doc *
read_field(writer *w, const rt_outline_field *field)
{
	rt_json_doc *doc = NULL;
	rt_status st = rt_json_read(w->alloc, field->json, &doc, NULL);

	if (st == RT_NOMEM)
		fail(w, st);
	else if (st != RT_OK && w->status == RT_OK)
		w->status = rt_fail(w->err, RT_CORRUPT, "the field %.*s is not JSON",
				    RT_STR_ARG(field->name));
	return st == RT_OK ? doc : NULL;
}

/* Entries */

static void
add_flag(writer *w, const char *key, bool value)
{
	if (value)
		rt_buf_add_f(w->out, "%s = true\n", key);
}

static void
add_text(writer *w, const char *key, rt_str text)
{
	rt_buf_add_c(w->out, key);
	rt_buf_add_c(w->out, " = ");
	rt_toml_add_string(w->out, text, true);
	rt_buf_add_byte(w->out, '\n');
}

/* The time, or what stood in its place: true when that was a further field. */
static bool
add_time(writer *w, const rt_node *node, const rt_body *body)
{
	yyjson_val *bad = rt_body_field(body, RT_BUILD_BAD_TS);
	rt_moment at;

	if (node->has_ts) {
		rt_buf_add_c(w->out, "ts = \"");
		rt_moment_format(w->out, node->ts);
		rt_buf_add_c(w->out, "\"\n");
		return false;
	}
	if (!yyjson_is_str(bad) || yyjson_get_len(bad) == 0 || rt_build_moment(bad, &at))
		return false;
	add_text(w, "ts", rt_json_str(bad));
	return true;
}

/* The counts of a reply, under the names that Manual Slop knows: entries of older versions
 * have others for two of them. */
static void
add_usage(writer *w, rt_str name, yyjson_val *usage)
{
	static const char *const names[][2] = {
		{"cache_read_tokens", "cache_read_input_tokens"},
		{"cache_write_tokens", "cache_creation_input_tokens"},
	};
	yyjson_val *key, *value;
	size_t i, max, k;
	rt_buf json;

	rt_buf_init(&json, w->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&json, '{');
	yyjson_obj_foreach(usage, i, max, key, value)
	{
		rt_str said = rt_json_str(key);

		for (k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (rt_str_is(said, names[k][0]) && rt_json_get(usage, names[k][1]) == NULL)
				said = rt_str_of(names[k][1]);
		rt_json_add_key_str(&json, said);
		rt_json_add_value(&json, value);
	}
	rt_buf_add_byte(&json, '}');
	if (json.status != RT_OK)
		fail(w, json.status);
	else
		(void)rt_toml_add_member_text(w->out, name, rt_buf_str(&json));
	rt_buf_deinit(&json);
}

static void
add_further(writer *w, const rt_body *body, bool but_time)
{
	yyjson_val **keys = NULL;
	size_t i, count = 0;
	rt_buf marked;

	if (body->format != RT_BODY_JSON)
		return;
	if (rt_toml_unique_keys(w->alloc, body->fields, &keys, &count) != RT_OK) {
		fail(w, RT_NOMEM);
		return;
	}
	rt_buf_init(&marked, w->alloc, RT_BUF_UNLIMITED);
	for (i = 0; i < count; i++) {
		rt_str name = rt_json_str(keys[i]);

		if (rt_str_is(name, "content") || (but_time && rt_str_is(name, RT_BUILD_BAD_TS)))
			continue;
		if (rt_toml_is_entry_key(name) || rt_str_starts(name, RT_STR(TOML_FIELD_MARK))) {
			rt_buf_clear(&marked);
			rt_buf_add_c(&marked, TOML_FIELD_MARK);
			rt_buf_add_str(&marked, name);
			name = rt_buf_str(&marked);
		}
		if (rt_str_is(name, "usage") && yyjson_is_obj(keys[i] + 1))
			add_usage(w, name, keys[i] + 1);
		else
			rt_toml_add_member(w->out, name, keys[i] + 1);
	}
	if (marked.status != RT_OK)
		fail(w, marked.status);
	rt_buf_deinit(&marked);
	rt_free(w->alloc, keys);
}

/* A record of pi's, whole: its letter and its text. */
static void
add_record(writer *w, const rt_node *node)
{
	rt_buf bytes, json;

	rt_buf_init(&bytes, w->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&json, w->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&bytes, node->body_format);
	rt_buf_add_str(&bytes, node->body);
	rt_build_add_bytes(&json, rt_buf_str(&bytes));
	if (bytes.status != RT_OK || json.status != RT_OK)
		fail(w, RT_NOMEM);
	else
		(void)rt_toml_add_member_text(w->out, RT_STR("retake_record"), rt_buf_str(&json));
	rt_buf_deinit(&bytes);
	rt_buf_deinit(&json);
}

static void
add_content(writer *w, const rt_body *body)
{
	rt_buf text;

	if (body->format == RT_BODY_PI) { /* for people; the record has it all */
		rt_buf_init(&text, w->alloc, RT_BUF_UNLIMITED);
		rt_body_add_text(&text, body);
		add_text(w, "content", rt_buf_str(&text));
		if (text.status != RT_OK)
			fail(w, text.status);
		rt_buf_deinit(&text);
	} else if (body->content_json != NULL) {
		rt_toml_add_member(w->out, RT_STR("content"), body->content_json);
	} else {
		add_text(w, "content", body->content);
	}
}

static void
add_entry(writer *w, rt_str key, const rt_node *node)
{
	rt_body body;
	bool but_time;
	rt_status st = rt_node_body(w->alloc, node, &w->scratch, &body, w->err);

	if (st != RT_OK) {
		if (w->status == RT_OK)
			w->status = st;
		return;
	}
	rt_buf_add_c(w->out, "\n[[discussion.discussions.");
	rt_toml_add_key(w->out, key);
	rt_buf_add_c(w->out, ".history]]\n");
	if (w->lossless && node->id.size > 0)
		add_text(w, "id", node->id);
	add_text(w, "role", node->role);
	add_content(w, &body);
	but_time = add_time(w, node, &body);
	if (node->kind.size > 0 && !rt_str_is(node->kind, "message"))
		add_text(w, "kind", node->kind);
	add_flag(w, "muted", node->muted);
	add_flag(w, "collapsed", node->collapsed);
	add_flag(w, "read_mode", node->read_mode);
	add_flag(w, "purged", rt_node_is_purged(node));
	if (node->label.size > 0)
		add_text(w, "label", node->label);
	if (node->body_format == RT_BODY_PI)
		add_record(w, node);
	else if (!rt_node_is_purged(node))
		add_further(w, &body, but_time);
	rt_body_deinit(&body);
}

/* Takes */

/* Number of the entry at the head, from 1; 0: before the first. The tip when unknown. */
static size_t
head_of(const rt_outline *o, const rt_outline_take *take)
{
	size_t at;

	if (!o->has_head)
		return take->node_count;
	if (o->head < 0)
		return 0;
	at = rt_outline_take_find(take, o->head);
	return at == SIZE_MAX ? take->node_count : at + 1;
}

static void
add_kept(writer *w, rt_str take_name, bool has_snapshot, bool has_sent)
{
	yyjson_val *kept = NULL, *key, *value, **keys = NULL, *snapshot;
	size_t i, max, count = 0;
	rt_buf json;

	if (!yyjson_is_obj(w->kept))
		return;
	yyjson_obj_foreach(w->kept, i, max, key, value)
	{
		if (rt_str_eq(rt_json_str(key), take_name))
			kept = value;
	}
	if (!yyjson_is_obj(kept))
		return;
	snapshot = rt_json_get(kept, "context_snapshot");
	if (snapshot != NULL && !has_snapshot)
		rt_toml_add_member(w->out, RT_STR("context_snapshot"), snapshot);
	if (rt_toml_unique_keys(w->alloc, kept, &keys, &count) != RT_OK)
		fail(w, RT_NOMEM);
	rt_buf_init(&json, w->alloc, RT_BUF_UNLIMITED);
	for (i = 0; i < count; i++) {
		rt_str name = rt_json_str(keys[i]);

		if (rt_toml_is_take_key(name) || rt_str_is(name, "context_snapshot") ||
		    (has_sent && (rt_str_is(name, "sent_markdown") ||
				  rt_str_is(name, "sent_system_prompt"))))
			continue;
		rt_buf_clear(&json);
		rt_json_add_value(&json, keys[i] + 1);
		if (!rt_toml_is_left(rt_buf_str(&json))) /* no TOML nests so deep */
			rt_toml_add_member(w->out, name, keys[i] + 1);
	}
	if (json.status != RT_OK)
		fail(w, json.status);
	rt_buf_deinit(&json);
	rt_free(w->alloc, keys);
}

/* Fields of the discussion that have no other place. */
static void
add_discussion_fields(writer *w, rt_str key)
{
	const rt_outline *o = w->outline;
	const rt_outline_field **sorted = sorted_fields(w, o->fields, o->field_count);
	size_t i, written = 0;

	for (i = 0; sorted != NULL && i < o->field_count; i++) {
		rt_str name = sorted[i]->name;

		if (rt_str_is(name, TOML_TAKES) || rt_str_is(name, "context_files") ||
		    (rt_str_is(name, "id") && !w->lossless))
			continue;
		if (written++ == 0) {
			rt_buf_add_c(w->out, "\n[discussion.discussions.");
			rt_toml_add_key(w->out, key);
			rt_buf_add_c(w->out, ".retake]\n");
		}
		add_field(w, name, sorted[i]->json);
	}
	rt_free(w->alloc, sorted);
}

static void
add_take(writer *w, const rt_outline_take *take, rt_str key, bool first, bool active,
	 bool is_active_discussion)
{
	const rt_outline *o = w->outline;
	const rt_outline_field *files = find_field(o->fields, o->field_count, "context_files");
	size_t head, i;
	bool has_snapshot = active && files != NULL, has_sent;

	rt_buf_add_c(w->out, "\n[discussion.discussions.");
	rt_toml_add_key(w->out, key);
	rt_buf_add_c(w->out, "]\n");
	if (take->node_count == 0)
		rt_buf_add_c(w->out, "history = []\n");
	add_text(w, "git_commit", take->git_commit);
	if (take->name.size > 0 && !rt_str_eq(take->name, key))
		add_text(w, "retake_name", take->name);
	if (!rt_str_eq(rt_toml_base(key), w->group))
		add_text(w, "retake_discussion", w->group);
	add_flag(w, "retake_active", active && !first && !is_active_discussion);
	head = head_of(o, take);
	if (active && head != take->node_count)
		rt_buf_add_f(w->out, "retake_head = %zu\n", head);
	if (has_snapshot)
		add_field(w, RT_STR("context_snapshot"), files->json);
	has_sent = o->sent_take.size > 0 && rt_str_eq(o->sent_take, take->name);
	if (has_sent) {
		add_text(w, "sent_markdown", o->sent_markdown);
		add_text(w, "sent_system_prompt", o->sent_system_prompt);
	}
	add_kept(w, take->name.size > 0 ? take->name : key, has_snapshot, has_sent);
	if (first)
		add_discussion_fields(w, key);
	for (i = 0; i < take->node_count && w->status == RT_OK; i++)
		add_entry(w, key, &o->nodes[take->nodes[i]]);
}

/* The takes of a discussion with the names of their tables, known before the first is
 * written, since [discussion] names the active one. */
typedef struct plan {
	const rt_outline_take *takes;
	size_t take_count, active;
	rt_str group;
	rt_str *keys;
} plan;

static void
make_plan(writer *w, const rt_outline *o, plan *p)
{
	rt_status st = rt_outline_takes_of(w->alloc, w->arena, o, &p->takes, &p->take_count,
					   &p->active, w->err);
	size_t t;

	if (st != RT_OK) {
		w->status = st;
		return;
	}
	p->group = unique_name(w, &w->groups, o->name, "~");
	p->keys = rt_arena_get(w->arena, (p->take_count + 1) * sizeof(*p->keys));
	if (p->keys == NULL) {
		fail(w, RT_NOMEM);
		return;
	}
	for (t = 0; t < p->take_count && w->status == RT_OK; t++) {
		rt_str wanted = p->takes[t].name;

		if (!w->whole && t != p->active)
			continue;
		if (wanted.size == 0)
			wanted = p->group;
		if (is_used(w, &w->names, wanted))
			wanted = rt_toml_base(wanted);
		p->keys[t] = unique_name(w, &w->names, wanted, "_take_");
	}
}

static void
add_discussion(writer *w, const rt_outline *o, const plan *p, bool is_active)
{
	const rt_outline_field *kept = find_field(o->fields, o->field_count, TOML_TAKES);
	rt_json_doc *doc = kept == NULL ? NULL : read_field(w, kept);
	bool first = true;
	size_t t;

	w->outline = o;
	w->group = p->group;
	w->kept = doc == NULL ? NULL : rt_json_root(doc);
	for (t = 0; t < p->take_count && w->status == RT_OK; t++) {
		if (!w->whole && t != p->active)
			continue;
		add_take(w, &p->takes[t], p->keys[t], first, t == p->active, is_active);
		first = false;
	}
	rt_json_free(doc);
	w->kept = NULL;
}

/* The project */

/* Is this setting (or the roles) written at one of its places? */
static bool
has_place(const writer *w, const char *field, rt_json_doc *const *kept_docs)
{
	const rt_toml_place *p;

	for (p = rt_toml_places; p->key != NULL; p++) {
		size_t i;

		if (strcmp(p->field, field) != 0 || p == rt_toml_places)
			continue; /* the first is where the roles go by themselves */
		for (i = 0; i < w->in->field_count; i++) {
			rt_str name = w->in->fields[i].name;

			if (!rt_str_starts(name, RT_STR(TOML_EXTRA)) || kept_docs[i] == NULL)
				continue;
			name = rt_str_at(name.ptr + strlen(TOML_EXTRA),
					 name.size - strlen(TOML_EXTRA));
			if (p->table == NULL ? rt_str_is(name, p->key) &&
						       !yyjson_is_obj(rt_json_root(kept_docs[i]))
					     : rt_str_is(name, p->table) &&
						       rt_json_get(rt_json_root(kept_docs[i]),
								   p->key) != NULL)
				return true;
		}
	}
	return false;
}

/* A member of the file as it is now: settings have their present value or, back at their
 * default, none. */
static void
add_placed(writer *w, rt_str table, rt_str key, yyjson_val *value)
{
	const char *known = rt_toml_field_at(table, key);
	const rt_outline_field *field;

	if (known == NULL || (table.size == 0 && yyjson_is_obj(value))) {
		rt_toml_add_member(w->out, key, value);
		return;
	}
	field = project_field(w, known);
	if (field != NULL)
		add_field(w, key, field->json);
}

static void
add_table_members(writer *w, rt_str table, yyjson_val *object, bool discussion)
{
	yyjson_val **keys = NULL;
	size_t i, count = 0;

	if (rt_toml_unique_keys(w->alloc, object, &keys, &count) != RT_OK)
		fail(w, RT_NOMEM);
	for (i = 0; i < count; i++) {
		rt_str name = rt_json_str(keys[i]);

		if (!discussion ||
		    (!rt_toml_is_discussion_key(name) && !rt_str_is(name, "roles")))
			add_placed(w, table, name, keys[i] + 1);
	}
	rt_free(w->alloc, keys);
}

/* Does a kept member become a table of the file (and not a line at its top)? */
static bool
is_table(rt_str json, yyjson_val *value)
{
	return yyjson_is_obj(value) && !rt_toml_is_left(json) &&
	       !(yyjson_obj_size(value) == 1 && rt_json_get(value, "$toml") != NULL);
}

static void
add_extras(writer *w, const rt_outline_field **sorted, rt_json_doc *const *docs, bool tables)
{
	size_t i, prefix = strlen(TOML_EXTRA);

	for (i = 0; i < w->in->field_count && w->status == RT_OK; i++) {
		rt_str name = sorted[i]->name;
		yyjson_val *value;

		if (!rt_str_starts(name, RT_STR(TOML_EXTRA)))
			continue;
		name = rt_str_at(name.ptr + prefix, name.size - prefix);
		if (rt_str_is(name, "discussion") || rt_str_is(name, "retake"))
			continue;
		value = rt_json_root(docs[sorted[i] - w->in->fields]);
		if (is_table(sorted[i]->json, value) != tables)
			continue;
		if (!tables && rt_toml_is_left(sorted[i]->json)) {
			rt_toml_add_json_member(w->out, name, sorted[i]->json);
		} else if (!tables) {
			add_placed(w, rt_str_at(NULL, 0), name, value);
		} else {
			if (w->out->size > 0)
				rt_buf_add_byte(w->out, '\n');
			rt_buf_add_byte(w->out, '[');
			rt_toml_add_key(w->out, name);
			rt_buf_add_c(w->out, "]\n");
			add_table_members(w, name, value, false);
		}
	}
}

/* Fields without a place in the file. */
static void
add_project_fields(writer *w, const rt_outline_field **sorted, rt_json_doc *const *docs)
{
	size_t i, written = 0;

	for (i = 0; i < w->in->field_count; i++) {
		rt_str name = sorted[i]->name;
		char known[64];

		if (rt_str_starts(name, RT_STR(TOML_EXTRA)) || rt_str_is(name, "roles"))
			continue;
		if (name.size < sizeof(known)) {
			memcpy(known, name.ptr, name.size);
			known[name.size] = '\0';
			if (has_place(w, known, docs))
				continue;
		}
		if (written++ == 0) {
			if (w->out->size > 0)
				rt_buf_add_byte(w->out, '\n');
			rt_buf_add_c(w->out, "[retake]\n");
		}
		add_field(w, name, sorted[i]->json);
	}
}

static void
add_discussion_head(writer *w, rt_json_doc *const *docs, const plan *plans)
{
	const rt_outline_field *roles = project_field(w, "roles");
	const rt_outline_field *rest = project_field(w, TOML_EXTRA "discussion");
	const rt_outlines *in = w->in;

	if (w->out->size > 0)
		rt_buf_add_byte(w->out, '\n');
	rt_buf_add_c(w->out, "[discussion]\n");
	if (roles != NULL && !has_place(w, "roles", docs))
		add_field(w, RT_STR("roles"), roles->json);
	if (in->has_active && in->active < in->count && plans[in->active].take_count > 0)
		add_text(w, "active", plans[in->active].keys[plans[in->active].active]);
	if (rest != NULL && yyjson_is_obj(rt_json_root(docs[rest - in->fields])))
		add_table_members(w, RT_STR("discussion"), rt_json_root(docs[rest - in->fields]),
				  true);
}

static void
write_all(writer *w, rt_json_doc **docs, plan *plans)
{
	const rt_outlines *in = w->in;
	const rt_outline_field **sorted = sorted_fields(w, in->fields, in->field_count);
	size_t i;

	for (i = 0; i < in->field_count && w->status == RT_OK; i++)
		if (rt_str_starts(in->fields[i].name, RT_STR(TOML_EXTRA)))
			docs[i] = read_field(w, &in->fields[i]);
	for (i = 0; i < in->count && w->status == RT_OK; i++)
		make_plan(w, &in->items[i], &plans[i]);
	if (w->status == RT_OK) {
		add_extras(w, sorted, docs, false);
		add_extras(w, sorted, docs, true);
		add_project_fields(w, sorted, docs);
		add_discussion_head(w, docs, plans);
	}
	for (i = 0; i < in->count && w->status == RT_OK; i++)
		add_discussion(w, &in->items[i], &plans[i], in->has_active && in->active == i);
	rt_free(w->alloc, sorted);
}

rt_status
rt_toml_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
	      rt_buf *out, rt_error *err)
{
	writer w = {.alloc = alloc, .in = in, .out = out, .err = err, .whole = true};
	rt_json_doc **docs = rt_new0(alloc, (in->field_count + 1) * sizeof(*docs));
	plan *plans = rt_new0(alloc, (in->count + 1) * sizeof(*plans));
	size_t i;

	if (options != NULL) {
		w.lossless = options->lossless;
		w.whole = options->whole;
	}
	rt_buf_init(&w.scratch, alloc, RT_BUF_UNLIMITED);
	rt_table_init(&w.names, alloc);
	rt_table_init(&w.groups, alloc);
	w.arena = rt_arena_new(alloc);
	if (docs == NULL || plans == NULL || w.arena == NULL)
		fail(&w, RT_NOMEM);
	else
		write_all(&w, docs, plans);
	for (i = 0; docs != NULL && i < in->field_count; i++)
		rt_json_free(docs[i]);
	rt_free(alloc, docs);
	rt_free(alloc, plans);
	rt_free(alloc, w.used);
	rt_table_deinit(&w.names);
	rt_table_deinit(&w.groups);
	rt_arena_free(w.arena);
	rt_buf_deinit(&w.scratch);
	if (w.status == RT_OK && out->status != RT_OK)
		return rt_fail(err, out->status, "the export does not fit in memory");
	return w.status;
}
