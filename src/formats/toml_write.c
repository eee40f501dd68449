/* SPDX-License-Identifier: MIT
 *
 * Writing TOML project files. There is one form for everything: entries as tables, values of
 * other tables on one line each. Unknown data are written in their old places; settings where they
 * were found, others in [retake]. */
#include <stdlib.h> /* qsort */

#include "formats/formats_build.h"
#include "formats/toml_impl.h"

/* ---- the file ---- */

/* A field of the project. One "extra.toml.NAME" has its value parsed, and the name NAME. */
typedef struct field {
	const rt_outline_field *field;
	rt_str name;
	yyjson_val *extra; /* or NULL */
} field;

/* A discussion and its takes by the names of their tables. They are known before the first one is
 * written: [discussion] names the active one. */
typedef struct plan {
	rt_str group; /* the discussion's name, unique in the file */
	rt_str *keys; /* those of takes that are not written are empty */
	size_t active, count;
} plan;

typedef struct writer {
	rt_writer w;
	rt_scope *s; /* of the export */
	rt_buf *out;
	rt_buf *text, *json;    /* for one call at a time */
	rt_index names, groups; /* that are used */
	field *fields;          /* all of the project's, sorted by name */
	plan *plans;
	yyjson_val *kept; /* TOML_TAKES of the current discussion, or NULL */
} writer;

static bool
ok(const writer *c)
{
	return rt_ok(c->s);
}

/* base, or base, separator and number, in c->text. */
static rt_str
numbered(writer *c, rt_str base, const char *separator, size_t number)
{
	if (number == 0)
		return base;
	rt_buf_clear(c->text);
	rt_buf_add_str(c->text, base);
	rt_buf_add_f(c->text, "%s%zu", separator, number);
	return rt_scope_str(c->s, c->text);
}

/* base, or base with a number that makes it unique. Numbers are tried from a close estimate on,
 * which keeps many equal names cheap. */
static rt_str
unique_name(writer *c, rt_index *used, rt_str base, const char *separator)
{
	size_t number = 0, step;
	rt_str name;

	/* double until one is free, then go back to the first free one after a used one */
	for (step = 1; ok(c) && rt_index_get(used, numbered(c, base, separator, number)) >= 0;
	     step *= 2)
		number += step;
	for (step /= 2; ok(c) && number > 1 && step > 0; step /= 2)
		if (number > step &&
		    rt_index_get(used, numbered(c, base, separator, number - step)) < 0)
			number -= step;
	name = numbered(c, base, separator, number);
	if (number > 0)
		name = rt_scope_copy(c->s, name);
	(void)rt_index_put(c->s, used, name, 0);
	return name;
}

static bool
is_written(const writer *c, size_t take)
{
	return c->w.options.whole || take == c->w.active;
}

static void
make_plans(writer *c)
{
	for (plan *p = c->plans; rt_writer_next(&c->w) && ok(c); p++) {
		p->group = unique_name(c, &c->groups, c->w.outline->name, "~");
		p->keys = rt_scope_array(c->s, c->w.take_count + 1, sizeof(*p->keys));
		p->count = c->w.take_count;
		p->active = c->w.active;
		for (size_t t = 0; t < p->count && ok(c); t++) {
			rt_str wanted = c->w.takes[t].name;

			if (!is_written(c, t))
				continue;
			if (c->w.outline->take_count == 0) /* generated names end with w.d */
				wanted = rt_scope_copy(c->s, wanted);
			if (wanted.size == 0)
				wanted = p->group;
			if (rt_index_get(&c->names, wanted) >= 0)
				wanted = rt_toml_base(wanted);
			p->keys[t] = unique_name(c, &c->names, wanted, "_take_");
		}
	}
	c->w.next = 0;
}

/* ---- fields ---- */

static rt_str
project_field(const writer *c, const char *name)
{
	return rt_outline_field_of(c->w.in->fields, c->w.in->field_count, name);
}

static void
not_json(writer *c, rt_str name)
{
	(void)rt_scope_fail(c->s, RT_CORRUPT, "the field %.*s is not JSON", RT_STR_ARG(name));
}

static void
add_field(writer *c, rt_str key, rt_str json)
{
	if (rt_toml_is_left(json))
		rt_toml_add_json(&c->w.e, c->out, key, json);
	else if (!rt_toml_add_member_text(&c->w.e, c->out, key, json) && rt_ok(&c->w.e) &&
		 c->out->status == RT_OK)
		not_json(c, key);
}

static int
field_order(const void *a, const void *b)
{
	return rt_str_cmp(((const field *)a)->name, ((const field *)b)->name);
}

/* Fields sorted by name. */
static field *
sort_fields(rt_scope *s, const rt_outline_field *fields, size_t count)
{
	field *sorted = rt_scope_array(s, count + 1, sizeof(*sorted));

	for (size_t i = 0; i < count && sorted != NULL; i++)
		sorted[i] = (field){&fields[i], fields[i].name, NULL};
	if (sorted != NULL)
		qsort(sorted, count, sizeof(*sorted), field_order);
	return sorted;
}

/* The project's fields, in the order of the file; a failure is that of the first one. */
static void
read_fields(writer *c)
{
	const rt_str prefix = RT_STR(TOML_EXTRA);

	c->fields = sort_fields(c->s, c->w.in->fields, c->w.in->field_count);
	for (size_t i = 0; i < c->w.in->field_count && ok(c); i++) {
		field *f = &c->fields[i];

		if (!rt_str_starts(f->name, prefix))
			continue;
		f->extra = rt_writer_parse(&c->w, c->s, f->field->json);
		if (f->extra == NULL)
			not_json(c, f->name);
		f->name = rt_str_at(f->name.ptr + prefix.size, f->name.size - prefix.size);
	}
}

/* ---- entries ---- */

static void
add_flag(writer *c, const char *key, bool value)
{
	if (value)
		rt_buf_add_f(c->out, "%s = true\n", key);
}

static void
add_text(writer *c, const char *key, rt_str text)
{
	rt_buf_add_c(c->out, key);
	rt_buf_add_c(c->out, " = ");
	rt_toml_add_string(c->out, text, true);
	rt_buf_add_byte(c->out, '\n');
}

static void
begin_section(writer *c, const char *begin)
{
	if (c->out->size > 0)
		rt_buf_add_byte(c->out, '\n');
	rt_buf_add_c(c->out, begin);
}

/* A header with this key between begin and end. */
static void
add_header(writer *c, const char *begin, rt_str key, const char *end)
{
	begin_section(c, begin);
	rt_toml_add_key(c->out, key);
	rt_buf_add_c(c->out, end);
}

/* The time, or the text in its place: true if that was a further field. */
static bool
add_time(writer *c, const rt_node *node, const rt_body *body)
{
	yyjson_val *bad = rt_body_field(body, RT_BUILD_BAD_TS);
	rt_moment at;

	if (node->has_ts) {
		rt_buf_add_c(c->out, "ts = \"");
		rt_moment_format(c->out, node->ts);
		rt_buf_add_c(c->out, "\"\n");
		return false;
	}
	if (!yyjson_is_str(bad) || yyjson_get_len(bad) == 0 || rt_build_moment(bad, &at))
		return false;
	add_text(c, "ts", rt_json_str(bad));
	return true;
}

/* The token counts of a reply, under the names that Manual Slop knows: entries of older versions
 * have others for two of them. */
static void
add_usage(writer *c, rt_str name, yyjson_val *usage)
{
	static const char *const names[][2] = {
		{"cache_read_tokens", "cache_read_input_tokens"},
		{"cache_write_tokens", "cache_creation_input_tokens"},
	};

	rt_buf_clear(c->json);
	rt_json_open(c->json, NULL, '{');
	for (rt_json_iter m = rt_json_each(usage); rt_json_next(&m);) {
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (rt_str_is(m.key, names[k][0]) &&
			    rt_json_get(usage, names[k][1]) == NULL)
				m.key = rt_str_of(names[k][1]);
		rt_json_put_member(c->json, m.key, m.value);
	}
	rt_json_close(c->json, '}');
	(void)rt_toml_add_member_text(&c->w.e, c->out, name, rt_scope_str(c->s, c->json));
}

static void
add_further(writer *c, const rt_body *body, bool without_time)
{
	yyjson_val **keys = rt_toml_keys(&c->w.e,
					body->format == RT_BODY_JSON ? body->fields : NULL);

	for (; keys != NULL && *keys != NULL; keys++) {
		rt_str name = rt_json_str(*keys);

		if (rt_str_is(name, "content") ||
		    (without_time && rt_str_is(name, RT_BUILD_BAD_TS)))
			continue;
		if (rt_is_word(name, TOML_ENTRY_KEYS) ||
		    rt_str_starts(name, RT_STR(TOML_FIELD_MARK))) {
			rt_buf_clear(c->text);
			rt_buf_add_c(c->text, TOML_FIELD_MARK);
			rt_buf_add_str(c->text, name);
			name = rt_scope_str(c->s, c->text);
		}
		if (rt_str_is(name, "usage") && yyjson_is_obj(*keys + 1))
			add_usage(c, name, *keys + 1);
		else
			rt_toml_add_member(&c->w.e, c->out, name, *keys + 1);
	}
}

/* A complete record of pi: its letter and its text. */
static void
add_record(writer *c, const rt_node *node)
{
	rt_buf_clear(c->text);
	rt_buf_add_byte(c->text, node->body_format);
	rt_buf_add_str(c->text, node->body);
	rt_buf_clear(c->json);
	rt_build_add_bytes(c->json, rt_scope_str(c->s, c->text));
	(void)rt_toml_add_member_text(&c->w.e, c->out, RT_STR("retake_record"),
				      rt_scope_str(c->s, c->json));
}

static void
add_content(writer *c, const rt_body *body)
{
	if (body->format == RT_BODY_PI) { /* for people; the record contains everything */
		rt_buf_clear(c->text);
		rt_body_add_text(c->text, body);
		add_text(c, "content", rt_scope_str(c->s, c->text));
	} else if (body->content_json != NULL) {
		rt_toml_add_member(&c->w.e, c->out, RT_STR("content"), body->content_json);
	} else {
		add_text(c, "content", body->content);
	}
}

static void
add_entry(writer *c, rt_str key, const rt_node *node)
{
	const rt_body *body = rt_writer_body(&c->w, node);
	bool without_time;

	if (body == NULL)
		return;
	add_header(c, "[[discussion.discussions.", key, ".history]]\n");
	if (c->w.options.lossless && node->id.size > 0)
		add_text(c, "id", node->id);
	add_text(c, "role", node->role);
	add_content(c, body);
	without_time = add_time(c, node, body);
	if (node->kind.size > 0 && !rt_str_is(node->kind, "message"))
		add_text(c, "kind", node->kind);
	add_flag(c, "muted", node->muted);
	add_flag(c, "collapsed", node->collapsed);
	add_flag(c, "read_mode", node->read_mode);
	add_flag(c, "purged", rt_node_is_purged(node));
	if (node->label.size > 0)
		add_text(c, "label", node->label);
	if (node->body_format == RT_BODY_PI)
		add_record(c, node);
	else if (!rt_node_is_purged(node))
		add_further(c, body, without_time);
}

/* ---- takes ---- */

/* Number of the entry at the head, from 1; 0: before the first. The tip when unknown. */
static size_t
head_of(const rt_outline *o, const rt_outline_take *take)
{
	size_t at = o->has_head ? rt_outline_take_find(take, o->head) : SIZE_MAX;

	if (o->has_head && o->head < 0)
		return 0;
	return at == SIZE_MAX ? take->node_count : at + 1;
}

/* The further keys of the take's table from when it was read; NULL: none. */
static yyjson_val *
kept_of(writer *c, rt_str take_name)
{
	yyjson_val *kept = NULL;

	for (rt_json_iter m = rt_json_each(c->kept); rt_json_next(&m);)
		if (rt_str_eq(m.key, take_name))
			kept = m.value;
	return yyjson_is_obj(kept) ? kept : NULL;
}

/* The time of the last change: the one that was read, until the take is changed. */
static void
add_updated(writer *c, const rt_outline_take *take, yyjson_val *kept)
{
	yyjson_val *read = rt_json_get(kept, "last_updated");

	if (take->updated_us != 0) {
		rt_buf_add_c(c->out, "last_updated = \"");
		rt_moment_format_ms(c->out, (rt_moment){take->updated_us, 0});
		rt_buf_add_c(c->out, "\"\n");
	} else if (read != NULL) {
		rt_toml_add_member(&c->w.e, c->out, RT_STR("last_updated"), read);
	}
}

static void
add_kept(writer *c, yyjson_val *kept, bool has_snapshot, bool has_sent)
{
	yyjson_val *snapshot, **keys;

	if (kept == NULL)
		return;
	snapshot = rt_json_get(kept, "context_snapshot");
	if (snapshot != NULL && !has_snapshot)
		rt_toml_add_member(&c->w.e, c->out, RT_STR("context_snapshot"), snapshot);
	for (keys = rt_toml_keys(&c->w.e, kept); keys != NULL && *keys != NULL; keys++) {
		rt_str name = rt_json_str(*keys);

		if (rt_is_word(name, TOML_TAKE_KEYS " context_snapshot last_updated") ||
		    (has_sent && rt_is_word(name, "sent_markdown sent_system_prompt")))
			continue;
		rt_buf_clear(c->json);
		rt_json_add_value(c->json, *keys + 1);
		if (!rt_toml_is_left(rt_scope_str(c->s, c->json))) /* TOML does not nest that
								    * deeply */
			rt_toml_add_member(&c->w.e, c->out, name, *keys + 1);
	}
}

/* Fields of the discussion that have no other place. */
static void
add_discussion_fields(writer *c, rt_str key)
{
	const rt_outline *o = c->w.outline;
	const field *sorted = sort_fields(&c->w.e, o->fields, o->field_count);
	bool has_header = false;

	for (size_t i = 0; i < o->field_count && sorted != NULL && ok(c); i++) {
		if (rt_is_word(sorted[i].name, TOML_TAKES " context_files") ||
		    (rt_str_is(sorted[i].name, "id") && !c->w.options.lossless))
			continue;
		if (!has_header)
			add_header(c, "[discussion.discussions.", key, ".retake]\n");
		has_header = true;
		add_field(c, sorted[i].name, sorted[i].field->json);
	}
}

/* The lists of files of a take that is not active: Manual Slop supports one of them. False: they
 * are those of the discussion. */
static bool
add_own_files(writer *c, const rt_outline_take *take)
{
	yyjson_val *lists = take->files.ptr != NULL ? rt_writer_parse(&c->w, &c->w.d, take->files)
						    : NULL;
	yyjson_val *snapshot = rt_json_get(lists, "context_files");

	if (lists == NULL)
		return false;
	if (snapshot != NULL)
		rt_toml_add_member(&c->w.e, c->out, RT_STR("context_snapshot"), snapshot);
	rt_buf_clear(c->json);
	rt_json_open(c->json, NULL, '{');
	for (rt_json_iter m = rt_json_members(lists); rt_json_next(&m);)
		if (!rt_str_is(m.key, "context_files"))
			rt_json_put_member(c->json, m.key, m.value);
	rt_json_close(c->json, '}');
	if (snapshot == NULL || c->json->size > 2)
		add_field(c, RT_STR("retake_files"), rt_scope_str(c->s, c->json));
	return true;
}

/* is_first: of the discussion. */
static void
add_take(writer *c, const plan *p, size_t t, bool is_first)
{
	const rt_outline *o = c->w.outline;
	const rt_outline_take *take = &c->w.takes[t];
	rt_str files = rt_outline_field_of(o->fields, o->field_count, "context_files");
	rt_str key = p->keys[t];
	yyjson_val *kept = kept_of(c, take->name.size > 0 ? take->name : key);
	bool is_active = t == c->w.active, has_snapshot = is_active && files.ptr != NULL;
	bool has_sent = o->sent_take.size > 0 && rt_str_eq(o->sent_take, take->name);
	size_t head = is_active ? head_of(o, take) : take->node_count;
	bool of_active = c->w.in->has_active && c->w.in->active + 1 == c->w.next;

	rt_writer_reset(&c->w);
	add_header(c, "[discussion.discussions.", key, "]\n");
	if (take->node_count == 0)
		rt_buf_add_c(c->out, "history = []\n");
	add_text(c, "git_commit", take->git_commit);
	add_updated(c, take, kept);
	if (take->name.size > 0 && !rt_str_eq(take->name, key))
		add_text(c, "retake_name", take->name);
	if (!rt_str_eq(rt_toml_base(key), p->group))
		add_text(c, "retake_discussion", p->group);
	add_flag(c, "retake_active", is_active && !is_first && !of_active);
	if (head != take->node_count)
		rt_buf_add_f(c->out, "retake_head = %zu\n", head);
	if (has_snapshot)
		add_field(c, RT_STR("context_snapshot"), files);
	else
		has_snapshot = add_own_files(c, take);
	if (has_sent) {
		add_text(c, "sent_markdown", o->sent_markdown);
		add_text(c, "sent_system_prompt", o->sent_system_prompt);
	}
	add_kept(c, kept, has_snapshot, has_sent);
	if (is_first)
		add_discussion_fields(c, key);
	for (size_t i = 0; i < take->node_count && ok(c); i++)
		add_entry(c, key, &o->nodes[take->nodes[i]]);
}

/* ---- the project ---- */

/* Is this setting (or the roles) written at one of its places? */
static bool
has_place(const writer *c, rt_str name)
{
	/* the first place is where the roles go by themselves */
	for (const rt_toml_place *p = rt_toml_places + 1; p->key != NULL; p++) {
		if (!rt_str_is(name, p->field))
			continue;
		for (size_t i = 0; i < c->w.in->field_count; i++) {
			const field *f = &c->fields[i];

			if (f->extra == NULL)
				continue;
			if (p->table == NULL
				    ? rt_str_is(f->name, p->key) && !yyjson_is_obj(f->extra)
				    : rt_str_is(f->name, p->table) &&
					      rt_json_get(f->extra, p->key) != NULL)
				return true;
		}
	}
	return false;
}

/* The present state of a member of the file: a setting has its present value or, at its default,
 * none. table empty: at the top. */
static void
add_placed(writer *c, rt_str table, rt_str key, yyjson_val *value)
{
	const rt_toml_place *p = rt_toml_places;
	rt_str json;

	while (p->key != NULL &&
	       (!rt_str_is(key, p->key) || !rt_str_eq(table, rt_str_of(p->table))))
		p++;
	if (p->key == NULL || (table.size == 0 && yyjson_is_obj(value))) {
		rt_toml_add_member(&c->w.e, c->out, key, value);
		return;
	}
	json = project_field(c, p->field);
	if (json.ptr != NULL)
		add_field(c, key, json);
}

static void
add_table_members(writer *c, rt_str table, yyjson_val *object)
{
	bool is_discussion = rt_str_is(table, "discussion");

	rt_writer_reset(&c->w);
	for (yyjson_val **keys = rt_toml_keys(&c->w.e, object); keys != NULL && *keys != NULL;
	     keys++)
		if (!is_discussion || !rt_is_word(rt_json_str(*keys), TOML_DISCUSSION_KEYS))
			add_placed(c, table, rt_json_str(*keys), *keys + 1);
}

/* The kept parts of the file: its tables, or the lines at its top. */
static void
add_extras(writer *c, bool tables)
{
	for (size_t i = 0; i < c->w.in->field_count && ok(c); i++) {
		const field *f = &c->fields[i];
		rt_str json = f->field->json;
		bool is_left = rt_toml_is_left(json);
		bool is_table = yyjson_is_obj(f->extra) && !is_left &&
				!(yyjson_obj_size(f->extra) == 1 &&
				  rt_json_get(f->extra, RT_TOML_MARK) != NULL);

		if (f->extra == NULL || rt_is_word(f->name, "discussion retake") ||
		    is_table != tables)
			continue;
		rt_writer_reset(&c->w);
		if (tables) {
			add_header(c, "[", f->name, "]\n");
			add_table_members(c, f->name, f->extra);
		} else if (is_left) {
			rt_toml_add_json(&c->w.e, c->out, f->name, json);
		} else {
			add_placed(c, rt_str_at(NULL, 0), f->name, f->extra);
		}
	}
}

/* Fields without a place in the file. */
static void
add_project_fields(writer *c)
{
	bool has_header = false;

	rt_writer_reset(&c->w);
	for (size_t i = 0; i < c->w.in->field_count && ok(c); i++) {
		const field *f = &c->fields[i];

		if (f->extra != NULL || rt_str_is(f->name, "roles") || has_place(c, f->name))
			continue;
		if (!has_header)
			begin_section(c, "[retake]\n");
		has_header = true;
		add_field(c, f->name, f->field->json);
	}
}

static void
add_discussion_head(writer *c)
{
	const rt_outlines *in = c->w.in;
	rt_str roles = project_field(c, "roles");
	const plan *active = in->has_active && in->active < in->count ? &c->plans[in->active]
								      : NULL;

	begin_section(c, "[discussion]\n");
	if (roles.ptr != NULL && !has_place(c, RT_STR("roles")))
		add_field(c, RT_STR("roles"), roles);
	if (active != NULL && active->count > 0)
		add_text(c, "active", active->keys[active->active]);
	for (size_t i = 0; i < in->field_count; i++)
		if (rt_str_is(c->fields[i].name, "discussion") &&
		    yyjson_is_obj(c->fields[i].extra)) {
			add_table_members(c, RT_STR("discussion"), c->fields[i].extra);
			break;
		}
}

static void
write_all(writer *c)
{
	c->plans = rt_scope_array(c->s, c->w.in->count + 1, sizeof(*c->plans));
	read_fields(c);
	if (ok(c))
		make_plans(c);
	if (!ok(c))
		return;
	add_extras(c, false);
	add_extras(c, true);
	add_project_fields(c);
	add_discussion_head(c);
	for (const plan *p = c->plans; ok(c) && rt_writer_next(&c->w); p++) {
		rt_str kept = rt_outline_field_of(c->w.outline->fields, c->w.outline->field_count,
						  TOML_TAKES);
		bool is_first = true;

		c->kept = rt_writer_parse(&c->w, &c->w.d, kept);
		if (c->kept == NULL && kept.ptr != NULL)
			not_json(c, RT_STR(TOML_TAKES));
		for (size_t t = 0; t < p->count && ok(c); t++)
			if (is_written(c, t)) {
				add_take(c, p, t, is_first);
				is_first = false;
			}
	}
}

rt_status
rt_toml_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
	      rt_buf *out, rt_error *err)
{
	static const rt_export_options usual = {.whole = true};
	writer c = {.out = out};

	rt_writer_init(&c.w, alloc, in, options == NULL ? &usual : options, out);
	c.s = &c.w.s;
	c.text = rt_scope_buf(c.s);
	c.json = rt_scope_buf(c.s);
	write_all(&c);
	return rt_writer_end(&c.w, err);
}
