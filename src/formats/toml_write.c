/* SPDX-License-Identifier: MIT
 *
 * Writing TOML project files. There is one form for everything: entries as tables, values of
 * other tables on one line each. What was read and not understood goes back where it was;
 * settings go back to where they were found, others into [retake]. */
#include <stdlib.h> /* qsort */

#include "base/hash.h"
#include "base/scope.h"
#include "formats/toml_impl.h"

/* Names that are taken, by their hashes. */
typedef struct name_set {
	rt_table table; /* hash: index in names */
	rt_str *names;
	size_t count, room;
} name_set;

/* A field of the project. One "extra.toml.NAME" has its value parsed, and the name NAME. */
typedef struct project_field {
	const rt_outline_field *field;
	rt_str name;
	yyjson_val *extra; /* or NULL */
} project_field;

/* The takes of a discussion with the names of their tables. These are known before the first is
 * written: [discussion] names the active one. */
typedef struct plan {
	const rt_outline_take *takes;
	size_t take_count, active;
	rt_str group; /* the discussion's name, unique in the file */
	rt_str *keys; /* those of takes that are not written are empty */
} plan;

typedef struct writer {
	rt_scope scope;
	const rt_alloc *alloc;
	const rt_outlines *in;
	bool lossless, whole;
	rt_buf *out;
	rt_buf *body, *text, *json; /* scratch; body: of the entry being written */
	rt_arena *arena;            /* for rt_outline_takes_of */
	name_set names, groups;
	project_field *fields; /* all of the project's, sorted by name */
	/* of the discussion being written */
	const rt_outline *outline;
	rt_str group;
	yyjson_val *kept; /* what the tables of its takes had besides, or NULL */
} writer;

static bool
ok(const writer *w)
{
	return rt_ok(&w->scope);
}

/* ---- names ---- */

static uint64_t
hash_str(rt_str s)
{
	return rt_hash(s.size == 0 ? "" : s.ptr, s.size, s.size);
}

static bool
is_used(const name_set *set, rt_str name)
{
	size_t probe = 0, at;

	while (rt_table_next(&set->table, hash_str(name), &probe, &at))
		if (rt_str_eq(set->names[at], name))
			return true;
	return false;
}

static void
use(writer *w, name_set *set, rt_str name)
{
	if (set->count == set->room) {
		size_t room = set->room == 0 ? 64 : set->room * 2;
		rt_str *more = rt_scope_array(&w->scope, room, sizeof(*more));

		if (more == NULL)
			return;
		if (set->count > 0)
			memcpy(more, set->names, set->count * sizeof(*more));
		set->names = more;
		set->room = room;
	}
	set->names[set->count] = name;
	(void)RT_TRY(&w->scope, rt_table_add(&set->table, hash_str(name), set->count++));
}

/* base, or base, separator and number, in w->text. */
static rt_str
numbered(writer *w, rt_str base, const char *separator, size_t number)
{
	if (number == 0)
		return base;
	rt_buf_clear(w->text);
	rt_buf_add_str(w->text, base);
	rt_buf_add_f(w->text, "%s%zu", separator, number);
	return rt_scope_str(&w->scope, w->text);
}

/* base, or base with a number that makes it new. Numbers are tried from one that cannot be far
 * off, so many equal names stay cheap. */
static rt_str
unique_name(writer *w, name_set *set, rt_str base, const char *separator)
{
	size_t number = 0, step;
	rt_str name;

	/* double until one is free, then go back to the first free one after a used one */
	for (step = 1; ok(w) && is_used(set, numbered(w, base, separator, number)); step *= 2)
		number += step;
	for (step /= 2; ok(w) && number > 1 && step > 0; step /= 2)
		if (number > step && !is_used(set, numbered(w, base, separator, number - step)))
			number -= step;
	name = numbered(w, base, separator, number);
	if (number > 0)
		name = rt_scope_copy(&w->scope, name);
	use(w, set, name);
	return name;
}

/* ---- fields ---- */

static const rt_outline_field *
find_field(const rt_outline_field *fields, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (rt_str_is(fields[i].name, name))
			return &fields[i];
	return NULL;
}

static void
add_field(writer *w, rt_str key, rt_str json)
{
	if (rt_toml_is_left(json))
		rt_toml_add_json_member(w->out, key, json);
	else if (!rt_toml_add_member_text(w->out, key, json) && w->out->status == RT_OK)
		(void)rt_scope_fail(&w->scope, RT_CORRUPT, "the field %.*s is not JSON",
				    RT_STR_ARG(key));
}

static void
close_doc(void *doc)
{
	rt_json_free(doc);
}

static yyjson_val *
parse_field(writer *w, const rt_outline_field *field)
{
	rt_json_doc *doc = NULL;
	rt_status st = ok(w) ? rt_json_read(w->alloc, field->json, &doc, NULL) : RT_OK;

	if (st == RT_NOMEM)
		(void)rt_scope_nomem(&w->scope);
	else if (st != RT_OK)
		(void)rt_scope_fail(&w->scope, RT_CORRUPT, "the field %.*s is not JSON",
				    RT_STR_ARG(field->name));
	rt_scope_defer(&w->scope, close_doc, doc);
	return ok(w) ? rt_json_root(doc) : NULL;
}

static int
field_order(const void *a, const void *b)
{
	return rt_str_cmp(((const project_field *)a)->field->name,
			  ((const project_field *)b)->field->name);
}

/* Fields sorted by name. */
static project_field *
sort_fields(writer *w, const rt_outline_field *fields, size_t count)
{
	project_field *sorted = rt_scope_array(&w->scope, count + 1, sizeof(*sorted));

	for (size_t i = 0; i < count && ok(w); i++)
		sorted[i] = (project_field){.field = &fields[i], .name = fields[i].name};
	if (count > 1 && ok(w))
		qsort(sorted, count, sizeof(*sorted), field_order);
	return sorted;
}

/* The project's fields, in the order of the file; a problem is that of the first one. */
static void
read_fields(writer *w)
{
	const size_t prefix = strlen(TOML_EXTRA);

	w->fields = sort_fields(w, w->in->fields, w->in->field_count);
	for (size_t i = 0; i < w->in->field_count && ok(w); i++) {
		project_field *f = &w->fields[i];

		if (rt_str_starts(f->name, RT_STR(TOML_EXTRA))) {
			f->extra = parse_field(w, f->field);
			f->name = rt_str_at(f->name.ptr + prefix, f->name.size - prefix);
		}
	}
}

/* ---- entries ---- */

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

static void
begin_section(writer *w)
{
	if (w->out->size > 0)
		rt_buf_add_byte(w->out, '\n');
}

/* A header with this key between begin and end. */
static void
add_header(writer *w, const char *begin, rt_str key, const char *end)
{
	begin_section(w);
	rt_buf_add_c(w->out, begin);
	rt_toml_add_key(w->out, key);
	rt_buf_add_c(w->out, end);
}

/* The time, or the text in its place: true when that was a further field. */
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

/* The token counts of a reply, under the names that Manual Slop knows: entries of older versions
 * have others for two of them. */
static void
add_usage(writer *w, rt_str name, yyjson_val *usage)
{
	static const char *const names[][2] = {
		{"cache_read_tokens", "cache_read_input_tokens"},
		{"cache_write_tokens", "cache_creation_input_tokens"},
	};
	yyjson_val *key, *value;
	size_t i, max;

	rt_buf_clear(w->json);
	rt_json_open(w->json, NULL, '{');
	rt_json_foreach(usage, i, max, key, value)
	{
		rt_str known = rt_json_str(key);

		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (rt_str_is(known, names[k][0]) &&
			    rt_json_get(usage, names[k][1]) == NULL)
				known = rt_str_of(names[k][1]);
		rt_json_add_key_str(w->json, known);
		rt_json_add_value(w->json, value);
	}
	rt_json_close(w->json, '}');
	(void)rt_toml_add_member_text(w->out, name, rt_scope_str(&w->scope, w->json));
}

static void
add_further(writer *w, const rt_body *body, bool but_time)
{
	yyjson_val **keys = NULL;
	size_t count = 0;

	if (body->format == RT_BODY_JSON)
		(void)RT_TRY(&w->scope, rt_toml_unique_keys(w->alloc, body->fields, &keys, &count));
	for (size_t i = 0; i < count; i++) {
		rt_str name = rt_json_str(keys[i]);

		if (rt_str_is(name, "content") || (but_time && rt_str_is(name, RT_BUILD_BAD_TS)))
			continue;
		if (rt_str_is_one_of(name, rt_toml_entry_keys) ||
		    rt_str_starts(name, RT_STR(TOML_FIELD_MARK))) {
			rt_buf_clear(w->text);
			rt_buf_add_c(w->text, TOML_FIELD_MARK);
			rt_buf_add_str(w->text, name);
			name = rt_scope_str(&w->scope, w->text);
		}
		if (rt_str_is(name, "usage") && yyjson_is_obj(keys[i] + 1))
			add_usage(w, name, keys[i] + 1);
		else
			rt_toml_add_member(w->out, name, keys[i] + 1);
	}
	rt_free(w->alloc, keys);
}

/* A record of pi's, whole: its letter and its text. */
static void
add_record(writer *w, const rt_node *node)
{
	rt_buf_clear(w->text);
	rt_buf_add_byte(w->text, node->body_format);
	rt_buf_add_str(w->text, node->body);
	rt_buf_clear(w->json);
	rt_build_add_bytes(w->json, rt_scope_str(&w->scope, w->text));
	(void)rt_toml_add_member_text(w->out, RT_STR("retake_record"),
				      rt_scope_str(&w->scope, w->json));
}

static void
add_content(writer *w, const rt_body *body)
{
	if (body->format == RT_BODY_PI) { /* for people; the record has it all */
		rt_buf_clear(w->text);
		rt_body_add_text(w->text, body);
		add_text(w, "content", rt_scope_str(&w->scope, w->text));
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

	if (RT_TRY(&w->scope, rt_node_body(w->alloc, node, w->body, &body, &w->scope.error)) !=
	    RT_OK)
		return;
	add_header(w, "[[discussion.discussions.", key, ".history]]\n");
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

/* ---- takes ---- */

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

/* What the take's table had besides when it was read. */
static void
add_kept(writer *w, rt_str take_name, bool has_snapshot, bool has_sent)
{
	yyjson_val *kept = NULL, *key, *value, **keys = NULL, *snapshot;
	size_t i, max, count = 0;

	if (!yyjson_is_obj(w->kept))
		return;
	rt_json_foreach(w->kept, i, max, key, value)
	{
		if (rt_str_eq(rt_json_str(key), take_name))
			kept = value;
	}
	if (!yyjson_is_obj(kept))
		return;
	snapshot = rt_json_get(kept, "context_snapshot");
	if (snapshot != NULL && !has_snapshot)
		rt_toml_add_member(w->out, RT_STR("context_snapshot"), snapshot);
	(void)RT_TRY(&w->scope, rt_toml_unique_keys(w->alloc, kept, &keys, &count));
	for (i = 0; i < count; i++) {
		rt_str name = rt_json_str(keys[i]);

		if (rt_str_is_one_of(name, rt_toml_take_keys) ||
		    rt_str_is(name, "context_snapshot") ||
		    (has_sent &&
		     (rt_str_is(name, "sent_markdown") || rt_str_is(name, "sent_system_prompt"))))
			continue;
		rt_buf_clear(w->json);
		rt_json_add_value(w->json, keys[i] + 1);
		if (!rt_toml_is_left(rt_scope_str(&w->scope, w->json))) /* no TOML nests so deep */
			rt_toml_add_member(w->out, name, keys[i] + 1);
	}
	rt_free(w->alloc, keys);
}

/* Fields of the discussion that have no other place. */
static void
add_discussion_fields(writer *w, rt_str key)
{
	const rt_outline *o = w->outline;
	const project_field *sorted = sort_fields(w, o->fields, o->field_count);
	bool has_header = false;

	for (size_t i = 0; i < o->field_count && ok(w); i++) {
		rt_str name = sorted[i].name;

		if (rt_str_is(name, TOML_TAKES) || rt_str_is(name, "context_files") ||
		    (rt_str_is(name, "id") && !w->lossless))
			continue;
		if (!has_header)
			add_header(w, "[discussion.discussions.", key, ".retake]\n");
		has_header = true;
		add_field(w, name, sorted[i].field->json);
	}
}

static void
add_take(writer *w, const rt_outline_take *take, rt_str key, bool first, bool active,
	 bool is_active_discussion)
{
	const rt_outline *o = w->outline;
	const rt_outline_field *files = find_field(o->fields, o->field_count, "context_files");
	size_t head = head_of(o, take);
	bool has_snapshot = active && files != NULL;
	bool has_sent = o->sent_take.size > 0 && rt_str_eq(o->sent_take, take->name);

	add_header(w, "[discussion.discussions.", key, "]\n");
	if (take->node_count == 0)
		rt_buf_add_c(w->out, "history = []\n");
	add_text(w, "git_commit", take->git_commit);
	if (take->name.size > 0 && !rt_str_eq(take->name, key))
		add_text(w, "retake_name", take->name);
	if (!rt_str_eq(rt_toml_base(key), w->group))
		add_text(w, "retake_discussion", w->group);
	add_flag(w, "retake_active", active && !first && !is_active_discussion);
	if (active && head != take->node_count)
		rt_buf_add_f(w->out, "retake_head = %zu\n", head);
	if (has_snapshot)
		add_field(w, RT_STR("context_snapshot"), files->json);
	if (has_sent) {
		add_text(w, "sent_markdown", o->sent_markdown);
		add_text(w, "sent_system_prompt", o->sent_system_prompt);
	}
	add_kept(w, take->name.size > 0 ? take->name : key, has_snapshot, has_sent);
	if (first)
		add_discussion_fields(w, key);
	for (size_t i = 0; i < take->node_count && ok(w); i++)
		add_entry(w, key, &o->nodes[take->nodes[i]]);
}

static bool
is_written(const writer *w, const plan *p, size_t take)
{
	return w->whole || take == p->active;
}

static void
make_plan(writer *w, const rt_outline *o, plan *p)
{
	if (RT_TRY(&w->scope, rt_outline_takes_of(w->alloc, w->arena, o, &p->takes, &p->take_count,
						  &p->active, &w->scope.error)) != RT_OK)
		return;
	p->group = unique_name(w, &w->groups, o->name, "~");
	p->keys = rt_scope_array(&w->scope, p->take_count + 1, sizeof(*p->keys));
	for (size_t t = 0; t < p->take_count && ok(w); t++) {
		rt_str wanted = p->takes[t].name.size > 0 ? p->takes[t].name : p->group;

		if (!is_written(w, p, t))
			continue;
		if (is_used(&w->names, wanted))
			wanted = rt_toml_base(wanted);
		p->keys[t] = unique_name(w, &w->names, wanted, "_take_");
	}
}

static void
add_discussion(writer *w, const rt_outline *o, const plan *p, bool is_active)
{
	const rt_outline_field *kept = find_field(o->fields, o->field_count, TOML_TAKES);
	bool first = true;

	w->outline = o;
	w->group = p->group;
	w->kept = kept == NULL ? NULL : parse_field(w, kept);
	for (size_t t = 0; t < p->take_count && ok(w); t++) {
		if (!is_written(w, p, t))
			continue;
		add_take(w, &p->takes[t], p->keys[t], first, t == p->active, is_active);
		first = false;
	}
}

/* ---- the project ---- */

/* Is this setting (or the roles) written at one of its places? */
static bool
has_place(const writer *w, rt_str field)
{
	/* the first place is where the roles go by themselves */
	for (const rt_toml_place *p = rt_toml_places + 1; p->key != NULL; p++) {
		if (!rt_str_is(field, p->field))
			continue;
		for (size_t i = 0; i < w->in->field_count; i++) {
			const project_field *f = &w->fields[i];

			if (f->extra != NULL &&
			    (p->table == NULL
				     ? rt_str_is(f->name, p->key) && !yyjson_is_obj(f->extra)
				     : rt_str_is(f->name, p->table) &&
					       rt_json_get(f->extra, p->key) != NULL))
				return true;
		}
	}
	return false;
}

/* A member of the file as it is now: a setting has its present value or, at its default, none. */
static void
add_placed(writer *w, rt_str table, rt_str key, yyjson_val *value)
{
	const char *known = rt_toml_field_at(table, key);
	const rt_outline_field *field;

	if (known == NULL || (table.size == 0 && yyjson_is_obj(value))) {
		rt_toml_add_member(w->out, key, value);
		return;
	}
	field = find_field(w->in->fields, w->in->field_count, known);
	if (field != NULL)
		add_field(w, key, field->json);
}

static void
add_table_members(writer *w, rt_str table, yyjson_val *object)
{
	bool is_discussion = rt_str_is(table, "discussion");
	yyjson_val **keys = NULL;
	size_t count = 0;

	(void)RT_TRY(&w->scope, rt_toml_unique_keys(w->alloc, object, &keys, &count));
	for (size_t i = 0; i < count; i++) {
		rt_str name = rt_json_str(keys[i]);

		if (!is_discussion || !rt_str_is_one_of(name, rt_toml_discussion_keys))
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
add_extras(writer *w, bool tables)
{
	for (size_t i = 0; i < w->in->field_count && ok(w); i++) {
		const project_field *f = &w->fields[i];
		rt_str json = f->field->json;

		if (f->extra == NULL || rt_str_is(f->name, "discussion") ||
		    rt_str_is(f->name, "retake") || is_table(json, f->extra) != tables)
			continue;
		if (tables) {
			add_header(w, "[", f->name, "]\n");
			add_table_members(w, f->name, f->extra);
		} else if (rt_toml_is_left(json)) {
			rt_toml_add_json_member(w->out, f->name, json);
		} else {
			add_placed(w, rt_str_at(NULL, 0), f->name, f->extra);
		}
	}
}

/* Fields without a place in the file. */
static void
add_project_fields(writer *w)
{
	bool has_header = false;

	for (size_t i = 0; i < w->in->field_count && ok(w); i++) {
		const project_field *f = &w->fields[i];

		if (f->extra != NULL || rt_str_is(f->name, "roles") || has_place(w, f->name))
			continue;
		if (!has_header) {
			begin_section(w);
			rt_buf_add_c(w->out, "[retake]\n");
			has_header = true;
		}
		add_field(w, f->name, f->field->json);
	}
}

static void
add_discussion_head(writer *w, const plan *plans)
{
	const rt_outlines *in = w->in;
	const rt_outline_field *roles = find_field(in->fields, in->field_count, "roles");

	begin_section(w);
	rt_buf_add_c(w->out, "[discussion]\n");
	if (roles != NULL && !has_place(w, RT_STR("roles")))
		add_field(w, RT_STR("roles"), roles->json);
	if (in->has_active && in->active < in->count && plans[in->active].take_count > 0)
		add_text(w, "active", plans[in->active].keys[plans[in->active].active]);
	for (size_t i = 0; i < in->field_count; i++)
		if (rt_str_is(w->fields[i].name, "discussion") &&
		    yyjson_is_obj(w->fields[i].extra)) {
			add_table_members(w, RT_STR("discussion"), w->fields[i].extra);
			break;
		}
}

static void
write_all(writer *w)
{
	const rt_outlines *in = w->in;
	plan *plans = rt_scope_array(&w->scope, in->count + 1, sizeof(*plans));

	read_fields(w);
	for (size_t i = 0; i < in->count && ok(w); i++)
		make_plan(w, &in->items[i], &plans[i]);
	if (!ok(w))
		return;
	add_extras(w, false);
	add_extras(w, true);
	add_project_fields(w);
	add_discussion_head(w, plans);
	for (size_t i = 0; i < in->count && ok(w); i++)
		add_discussion(w, &in->items[i], &plans[i], in->has_active && in->active == i);
}

rt_status
rt_toml_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
	      rt_buf *out, rt_error *err)
{
	writer w = {.alloc = alloc, .in = in, .out = out, .whole = true};

	if (options != NULL) {
		w.lossless = options->lossless;
		w.whole = options->whole;
	}
	rt_scope_init(&w.scope, alloc);
	w.body = rt_scope_buf(&w.scope);
	w.text = rt_scope_buf(&w.scope);
	w.json = rt_scope_buf(&w.scope);
	rt_table_init(&w.names.table, alloc);
	rt_table_init(&w.groups.table, alloc);
	w.arena = rt_arena_new(alloc);
	if (w.arena == NULL)
		(void)rt_scope_nomem(&w.scope);
	else
		write_all(&w);
	(void)rt_scope_str(&w.scope, out);
	rt_table_deinit(&w.names.table);
	rt_table_deinit(&w.groups.table);
	rt_arena_free(w.arena);
	if (rt_scope_end(&w.scope, err) == RT_CORRUPT || w.scope.status == RT_OK)
		return w.scope.status;
	return rt_fail(err, w.scope.status, "the export does not fit in memory");
}
