/* SPDX-License-Identifier: MIT
 *
 * Reading TOML project files: the file as JSON (codec/toml.h), then its parts. */
#include "base/hash.h"
#include "base/scope.h"
#include "formats/formats_share.h"
#include "formats/toml_impl.h"

/* A discussion: the tables of its takes, chained in the order of the file. */
typedef struct group {
	rt_str name;
	size_t first, last; /* members */
	size_t outline;     /* index, once it is built */
} group;

/* A table below [discussion.discussions]. */
typedef struct member {
	yyjson_val *key, *table;
	size_t next; /* of the same group; SIZE_MAX: none */
} member;

typedef struct reader {
	rt_scope scope; /* for memory; failures are the builder's */
	rt_build b;
	rt_report *report;
	yyjson_val *roles; /* array, or NULL */
	group *groups;
	member *members;
	size_t group_count, member_count;
	/* of the discussion being read */
	rt_share share;
	rt_buf *kept;  /* the field "toml.takes" under construction */
	rt_buf *array; /* content of the entry being read, where that is an array */
	rt_buf *text;  /* scratch */
} reader;

/* What a buffer holds. That not all fitted is the builder's failure. */
static rt_str
str_of(reader *r, const rt_buf *buf)
{
	if (buf->status != RT_OK)
		r->b.s.status = buf->status;
	return rt_buf_str(buf);
}

static void
remark(reader *r, rt_remark_level level, const char *what, rt_str name)
{
	rt_report_add(r->report, level, 0, "%s: %.*s", what, (int)(name.size < 80 ? name.size : 80),
		      name.ptr == NULL ? "" : name.ptr);
}

/* ---- entries ---- */

static rt_str
default_role(const reader *r)
{
	yyjson_val *first = yyjson_arr_get_first(r->roles);

	return yyjson_is_str(first) ? rt_json_str(first) : RT_STR("User");
}

/* The role that text begins with, and how much of it that is: "Role:", "[Role]:" in any
 * case, then one blank or line end. */
static bool
role_at(const char *const *names, yyjson_val *list, rt_str text, rt_str *out_role, size_t *out_size)
{
	size_t i, count = list != NULL ? yyjson_arr_size(list) : 4, best = 0;

	for (i = 0; i < count; i++) {
		rt_str role = list != NULL ? rt_json_str(yyjson_arr_get(list, i))
					   : rt_str_of(names[i]);
		bool bracket = text.size > 0 && text.ptr[0] == '[';
		size_t at = bracket;

		if (role.size == 0 || at + role.size > text.size ||
		    !rt_str_eq_nocase(role, rt_str_at(text.ptr + at, role.size)))
			continue;
		at += role.size;
		if (bracket && (at >= text.size || text.ptr[at++] != ']'))
			continue;
		if (at >= text.size || text.ptr[at++] != ':')
			continue;
		if (at <= best)
			continue;
		best = at;
		*out_role = role;
	}
	if (best == 0)
		return false;
	if (best + 1 < text.size && text.ptr[best] == '\r' && text.ptr[best + 1] == '\n')
		best += 2;
	else if (best < text.size && (text.ptr[best] == ' ' || text.ptr[best] == '\n'))
		best++;
	*out_size = best;
	return true;
}

/* "@time" and the line end or blank behind it. */
static bool
time_at(rt_str text, rt_moment *out, size_t *out_size)
{
	size_t i;
	int blanks = 0;

	if (text.size == 0 || text.ptr[0] != '@')
		return false;
	for (i = 1; i < text.size && i < 64 && blanks < 2; i++) {
		char c = text.ptr[i];

		if (c != '\n' && c != ' ' && c != '\r')
			continue;
		if (c == ' ') /* a time may have one blank inside, before the clock */
			blanks++;
		if (c == ' ' && i + 1 < text.size && text.ptr[i + 1] >= '0' &&
		    text.ptr[i + 1] <= '9' && blanks == 1)
			continue;
		if (!rt_build_moment_str(rt_str_at(text.ptr + 1, i - 1), false, out))
			return false;
		*out_size = i + 1 + (c == '\r' && i + 1 < text.size && text.ptr[i + 1] == '\n');
		return true;
	}
	return false;
}

/* "Role: content", perhaps with "@time" in front. What is neither is content. */
static void
read_string_entry(reader *r, rt_str text, rt_node *node)
{
	static const char *const usual[] = {"User", "AI", "Vendor API", "System"};
	size_t size;

	if (time_at(text, &node->ts, &size)) {
		node->has_ts = true;
		text = rt_str_at(text.ptr + size, text.size - size);
	}
	node->role = default_role(r);
	if (role_at(usual, r->roles, text, &node->role, &size))
		text = rt_str_at(text.ptr + size, text.size - size);
	rt_build_body_open(&r->b, text, false);
}

/* A time in any of its forms: a string, a date of TOML's own, a number. */
static bool
moment_of(yyjson_val *value, rt_moment *out)
{
	yyjson_val *literal = rt_json_get(value, "$toml");

	return rt_build_moment(literal != NULL ? literal : value, out);
}

static bool
read_record(reader *r, yyjson_val *value, rt_node *node)
{
	rt_buf *bytes = r->text;
	rt_body body;
	rt_status st = RT_USAGE;

	rt_buf_clear(bytes);
	if (rt_build_read_bytes(bytes, value) && str_of(r, bytes).size > 1 &&
	    (bytes->ptr[0] == RT_BODY_PI || bytes->ptr[0] == RT_BODY_JSON))
		st = rt_body_read(r->b.alloc, rt_buf_str(bytes), &body, NULL);
	if (st == RT_NOMEM)
		r->b.s.status = st;
	if (st != RT_OK)
		return false;
	rt_body_deinit(&body);
	node->body_format = bytes->ptr[0];
	rt_build_body_verbatim(&r->b, rt_str_at(bytes->ptr + 1, bytes->size - 1));
	return true;
}

/* A member with a meaning; false: it is not of the right kind and becomes a further field. */
static bool
read_known(rt_str key, yyjson_val *value, rt_node *node)
{
	if (rt_str_is(key, "role") && yyjson_is_str(value))
		node->role = rt_json_str(value);
	else if (rt_str_is(key, "id") && yyjson_is_str(value))
		node->id = rt_json_str(value);
	else if (rt_str_is(key, "kind") && yyjson_is_str(value))
		node->kind = rt_str_is(rt_json_str(value), "message") ? rt_str_at(NULL, 0)
								      : rt_json_str(value);
	else if (rt_str_is(key, "label") && yyjson_is_str(value))
		node->label = rt_json_str(value);
	else if (rt_str_is(key, "muted") && yyjson_is_bool(value))
		node->muted = yyjson_get_bool(value);
	else if (rt_str_is(key, "collapsed") && yyjson_is_bool(value))
		node->collapsed = yyjson_get_bool(value);
	else if (rt_str_is(key, "read_mode") && yyjson_is_bool(value))
		node->read_mode = yyjson_get_bool(value);
	else if (rt_str_is(key, "purged") && yyjson_is_bool(value))
		node->body_format = yyjson_get_bool(value) ? RT_BODY_PURGED : 0;
	else if (rt_str_is(key, "ts") && yyjson_is_str(value) && yyjson_get_len(value) == 0)
		node->has_ts = false;
	else if (rt_str_is(key, "ts") && moment_of(value, &node->ts))
		node->has_ts = true;
	else
		return false;
	return true;
}

/* A member "json:NAME" whose value nests too deep was left in its string: its name and JSON. */
static bool
read_left(reader *r, rt_str *name, yyjson_val *value, rt_str *out_json)
{
	const size_t prefix = strlen(RT_TOML_JSON_MARK);

	if (!rt_str_starts(*name, RT_STR(RT_TOML_JSON_MARK)) || !yyjson_is_str(value) ||
	    !rt_toml_is_left(rt_json_str(value)) ||
	    !rt_build_json(&r->b, rt_json_str(value), false, out_json))
		return false;
	*name = rt_str_at(name->ptr + prefix, name->size - prefix);
	return true;
}

static void
read_further(reader *r, rt_str key, yyjson_val *value)
{
	rt_str json;

	if (rt_str_starts(key, RT_STR(TOML_FIELD_MARK)))
		key = rt_str_at(key.ptr + strlen(TOML_FIELD_MARK),
				key.size - strlen(TOML_FIELD_MARK));
	else if (rt_str_is(key, "ts"))
		key = RT_STR(RT_BUILD_BAD_TS);
	else if (rt_str_is(key, "content"))
		key = RT_STR(RT_BUILD_BAD_CONTENT);
	if (read_left(r, &key, value, &json))
		rt_buf_add_str(rt_build_body_field(&r->b, key), json);
	else
		rt_json_add_value(rt_build_body_field(&r->b, key), value);
}

static void
read_table_entry(reader *r, yyjson_val *table, rt_node *node)
{
	yyjson_val *content = rt_json_get(table, "content");
	yyjson_val *record = rt_json_get(table, "retake_record"), *key, *value;
	bool is_array = yyjson_is_arr(content), has_fields;
	rt_str text = yyjson_is_str(content) ? rt_json_str(content) : rt_str_at(NULL, 0);
	size_t i, max;

	node->role = default_role(r);
	if (is_array) {
		rt_buf_clear(r->array);
		rt_json_add_value(r->array, content);
		text = str_of(r, r->array);
	}
	rt_build_body_open(&r->b, text, is_array);
	has_fields = record == NULL || !read_record(r, record, node);
	rt_json_foreach(table, i, max, key, value)
	{
		rt_str name = rt_json_str(key);

		if ((rt_str_is_one_of(name, rt_toml_entry_keys) && read_known(name, value, node)) ||
		    (rt_str_is(name, "content") && (yyjson_is_arr(value) || yyjson_is_str(value))))
			continue;
		if (has_fields)
			read_further(r, name, value);
	}
	if (node->body_format == RT_BODY_PURGED && (rt_json_str(content).size > 0 || is_array))
		node->body_format = 0;
}

/* ---- takes ---- */

/* Members without a meaning are kept word for word. */
static void
keep_rest(reader *r, rt_str name, yyjson_val *table, bool has_snapshot)
{
	yyjson_val *key, *value;
	size_t i, max;
	bool any = false;

	rt_json_foreach(table, i, max, key, value)
	{
		rt_str text = rt_json_str(key);

		if (rt_str_is_one_of(text, rt_toml_take_keys) ||
		    (has_snapshot && rt_str_is(text, "context_snapshot")))
			continue;
		if (!any) {
			rt_json_add_key_str(r->kept, name);
			rt_buf_add_byte(r->kept, '{');
		}
		any = true;
		rt_json_add_key_str(r->kept, text);
		rt_json_add_value(r->kept, value);
	}
	if (any)
		rt_buf_add_byte(r->kept, '}');
}

static void
add_field(reader *r, bool of_project, const char *prefix, rt_str name, yyjson_val *value)
{
	rt_str json;

	if (!read_left(r, &name, value, &json)) {
		rt_buf_clear(r->text);
		rt_json_add_value(r->text, value);
		json = str_of(r, r->text);
	}
	rt_build_field_in(&r->b, of_project, prefix, name, json);
}

static void
add_fields(reader *r, bool of_project, yyjson_val *table)
{
	yyjson_val *key, *value;
	size_t i, max;

	if (!yyjson_is_obj(table))
		return;
	rt_json_foreach(table, i, max, key, value)
	{
		add_field(r, of_project, "", rt_json_str(key), value);
	}
}

static void
read_history(reader *r, rt_str name, yyjson_val *history)
{
	yyjson_val *entry;
	size_t i, max;

	if (history != NULL && !yyjson_is_arr(history))
		remark(r, RT_REMARK_SKIPPED, "a history that is not a list is passed over", name);
	yyjson_arr_foreach(history, i, max, entry)
	{
		rt_node node = {.parent = 0};

		if (r->b.s.status != RT_OK)
			break;
		if (yyjson_is_str(entry)) {
			read_string_entry(r, rt_json_str(entry), &node);
		} else if (yyjson_is_obj(entry)) {
			read_table_entry(r, entry, &node);
		} else {
			remark(r, RT_REMARK_SKIPPED,
			       "an entry that is neither text nor table is passed over", name);
			continue;
		}
		if (!rt_share_add(&r->share, &node))
			remark(r, RT_REMARK_REPAIRED,
			       "an id stands twice in a take; the second entry gets a new one",
			       name);
	}
}

static rt_str
text_of(yyjson_val *object, const char *key)
{
	yyjson_val *value = rt_json_get(object, key);

	return yyjson_is_str(value) ? rt_json_str(value) : rt_str_at(NULL, 0);
}

static void
read_take(reader *r, const member *m, bool is_active, rt_outline *outline)
{
	rt_str key = rt_json_str(m->key), name = text_of(m->table, "retake_name");
	yyjson_val *snapshot = rt_json_get(m->table, "context_snapshot");
	uint64_t head;
	const int64_t *path;
	size_t count;

	if (name.size == 0)
		name = key;
	name = rt_build_copy(&r->b, name);
	rt_share_take(&r->share);
	read_history(r, key, rt_json_get(m->table, "history"));
	path = rt_share_path(&r->share, &count);
	keep_rest(r, name, m->table, is_active && yyjson_is_arr(snapshot));
	add_fields(r, false, rt_json_get(m->table, "retake"));
	rt_build_take(&r->b, name, rt_build_copy(&r->b, text_of(m->table, "git_commit")), path,
		      count);
	if (!is_active)
		return;
	outline->active_take = r->share.take_number - 1;
	outline->has_head = true;
	outline->head = count == 0 ? -1 : path[count - 1];
	if (rt_json_u64(rt_json_get(m->table, "retake_head"), &head) && head <= count)
		outline->head = head == 0 ? -1 : path[head - 1];
	if (yyjson_is_arr(snapshot))
		add_field(r, false, "", RT_STR("context_files"), snapshot);
}

static void
read_group(reader *r, group *g, rt_str active)
{
	rt_outline *outline;
	size_t at, current = g->first;

	outline = rt_build_discussion(&r->b);
	if (outline == NULL)
		return;
	g->outline = rt_build_count(&r->b) - 1;
	outline->name = rt_build_copy(&r->b, g->name);
	rt_share_discussion(&r->share);
	rt_buf_clear(r->kept);
	for (at = g->first; at != SIZE_MAX; at = r->members[at].next)
		if (yyjson_is_true(rt_json_get(r->members[at].table, "retake_active")))
			current = at;
	for (at = g->first; at != SIZE_MAX && active.size > 0; at = r->members[at].next)
		if (rt_str_eq(rt_json_str(r->members[at].key), active))
			current = at;
	rt_buf_add_byte(r->kept, '{');
	for (at = g->first; at != SIZE_MAX && r->b.s.status == RT_OK; at = r->members[at].next)
		read_take(r, &r->members[at], at == current, outline);
	if (str_of(r, r->kept).size > 1) {
		rt_buf_add_byte(r->kept, '}');
		rt_build_field(&r->b, RT_STR(TOML_TAKES), str_of(r, r->kept));
	}
}

static uint64_t
hash_str(rt_str s)
{
	return rt_hash(s.size == 0 ? "" : s.ptr, s.size, s.size);
}

/* Sort the tables below [discussion.discussions] into groups. */
static void
find_groups(reader *r, yyjson_val *discussions)
{
	yyjson_val *key, *table;
	rt_table names;
	size_t i, max;

	if (!yyjson_is_obj(discussions) || yyjson_obj_size(discussions) == 0)
		return;
	r->members = rt_scope_array(&r->scope, yyjson_obj_size(discussions), sizeof(*r->members));
	r->groups = rt_scope_array(&r->scope, yyjson_obj_size(discussions), sizeof(*r->groups));
	if (!rt_ok(&r->scope)) {
		r->b.s.status = RT_NOMEM;
		return;
	}
	rt_table_init(&names, r->b.alloc);
	rt_json_foreach(discussions, i, max, key, table)
	{
		yyjson_val *said = rt_json_get(table, "retake_discussion");
		rt_str base = yyjson_is_str(said) ? rt_json_str(said)
						  : rt_toml_base(rt_json_str(key));
		size_t at = r->member_count, probe = 0, g = SIZE_MAX, found;

		if (!yyjson_is_obj(table)) {
			remark(r, RT_REMARK_SKIPPED, "a discussion that is no table is passed over",
			       rt_json_str(key));
			continue;
		}
		while (g == SIZE_MAX && rt_table_next(&names, hash_str(base), &probe, &found))
			if (rt_str_eq(r->groups[found].name, base))
				g = found;
		r->members[at] = (member){key, table, SIZE_MAX};
		r->member_count++;
		if (g != SIZE_MAX) {
			r->members[r->groups[g].last].next = at;
			r->groups[g].last = at;
			continue;
		}
		r->groups[r->group_count] = (group){base, at, at, 0};
		if (rt_table_add(&names, hash_str(base), r->group_count++) != RT_OK) {
			r->b.s.status = RT_NOMEM;
			break;
		}
	}
	rt_table_deinit(&names);
}

/* ---- the project ---- */

static yyjson_val *
at_place(yyjson_val *root, const rt_toml_place *place)
{
	yyjson_val *value;

	if (place->table != NULL)
		return rt_json_get(rt_json_get(root, place->table), place->key);
	value = rt_json_get(root, place->key);
	return yyjson_is_obj(value) ? NULL : value; /* a table of that name is none */
}

static void
read_places(reader *r, yyjson_val *root)
{
	for (const rt_toml_place *p = rt_toml_places; p->key != NULL; p++) {
		yyjson_val *value = at_place(root, p);
		bool taken = false;

		for (const rt_toml_place *q = rt_toml_places; q < p && !taken; q++)
			taken = strcmp(q->field, p->field) == 0 && at_place(root, q) != NULL;
		if (value == NULL || taken)
			continue;
		if (strcmp(p->field, "roles") == 0 && yyjson_is_arr(value))
			r->roles = value;
		add_field(r, true, "", rt_str_of(p->field), value);
	}
}

/* What the table [discussion] has besides; its roles need not be kept where they are in
 * their usual place. */
static void
keep_discussion(reader *r, yyjson_val *table)
{
	yyjson_val *key, *value;
	size_t i, max;

	rt_buf_clear(r->text);
	rt_buf_add_byte(r->text, '{');
	rt_json_foreach(table, i, max, key, value)
	{
		if (rt_str_is_one_of(rt_json_str(key), rt_toml_discussion_keys))
			continue;
		rt_json_add_key_str(r->text, rt_json_str(key));
		rt_json_add_value(r->text, value);
	}
	rt_buf_add_byte(r->text, '}');
	if (str_of(r, r->text).size > 2)
		rt_build_field_in(&r->b, true, TOML_EXTRA, RT_STR("discussion"),
				  rt_buf_str(r->text));
}

static void
read_project(reader *r, yyjson_val *root)
{
	yyjson_val *key, *value;
	size_t i, max;

	read_places(r, root);
	rt_json_foreach(root, i, max, key, value)
	{
		rt_str name = rt_json_str(key);

		if (rt_str_is(name, "discussion") && yyjson_is_obj(value))
			keep_discussion(r, value);
		else if (rt_str_is(name, "retake") && yyjson_is_obj(value))
			add_fields(r, true, value);
		else
			add_field(r, true, TOML_EXTRA, name, value);
	}
}

static rt_status
read_file(reader *r, yyjson_val *root, rt_outlines *out, rt_error *err)
{
	yyjson_val *discussion = rt_json_get(root, "discussion");
	rt_str active = text_of(discussion, "active");
	size_t i, at, active_outline = SIZE_MAX;
	rt_status st;

	read_project(r, root);
	find_groups(r, rt_json_get(discussion, "discussions"));
	for (i = 0; i < r->group_count && r->b.s.status == RT_OK; i++) {
		read_group(r, &r->groups[i], active);
		for (at = r->groups[i].first; at != SIZE_MAX && active.size > 0;
		     at = r->members[at].next)
			if (rt_str_eq(rt_json_str(r->members[at].key), active))
				active_outline = r->groups[i].outline;
	}
	if (r->b.s.status != RT_OK)
		return rt_fail(err, r->b.s.status, "out of memory while importing");
	st = rt_build_finish(&r->b, out, err);
	if (st == RT_OK && active_outline != SIZE_MAX) {
		out->active = active_outline;
		out->has_active = true;
	}
	return st;
}

static void
close_doc(void *doc)
{
	rt_json_free(doc);
}

/* The file as JSON; NULL after a failure. */
static yyjson_val *
parse(rt_scope *scope, rt_str input, rt_report *report)
{
	rt_buf *json = rt_scope_buf(scope);
	rt_json_doc *doc = NULL;

	input = rt_scan_unmark(input);
	if (rt_utf8_valid_size(input) != input.size) {
		rt_buf *repaired = rt_scope_buf(scope);

		rt_report_add(report, RT_REMARK_REPAIRED, 0,
			      "bytes that are not UTF-8 became U+FFFD");
		rt_utf8_repair(repaired, input);
		input = rt_scope_str(scope, repaired);
	}
	(void)RT_TRY(scope, rt_toml_to_json(scope->alloc, input, json, &scope->error));
	(void)RT_TRY(scope, rt_json_read(scope->alloc, rt_buf_str(json), &doc, &scope->error));
	rt_scope_defer(scope, close_doc, doc);
	return rt_ok(scope) ? rt_json_root(doc) : NULL;
}

rt_status
rt_toml_read(const rt_alloc *alloc, rt_str input, rt_outlines *out, rt_report *report,
	     rt_error *err)
{
	reader r = {.report = report};
	yyjson_val *root;
	rt_outlines done;

	rt_scope_init(&r.scope, alloc);
	r.kept = rt_scope_buf(&r.scope);
	r.array = rt_scope_buf(&r.scope);
	r.text = rt_scope_buf(&r.scope);
	rt_build_init(&r.b, alloc, report);
	rt_share_init(&r.share, &r.b, true);
	root = parse(&r.scope, input, report);
	if (RT_TRY(&r.scope, read_file(&r, root, &done, &r.scope.error)) == RT_OK)
		*out = done;
	rt_share_deinit(&r.share);
	rt_build_deinit(&r.b);
	return rt_scope_end(&r.scope, err);
}
