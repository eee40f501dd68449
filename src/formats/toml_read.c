/* SPDX-License-Identifier: MIT
 *
 * Reading TOML project files: the file as JSON (codec/toml.h), then its parts. */
#include "core/setting.h"
#include "formats/formats.h"
#include "formats/formats_reader.h"
#include "formats/formats_share.h"
#include "formats/toml_impl.h"

const rt_toml_place rt_toml_places[] = {
	{"discussion", "roles", "roles"},
	{"discussion", "disc_roles", "roles"},
	{NULL, "disc_roles", "roles"},
	{"config", "disc_roles", "roles"},
	{"discussion", "auto_add", "setting.auto_add_history"},
	{"discussion", "auto_add_history", "setting.auto_add_history"},
	{"project", "system_prompt", "setting.project_system_prompt"},
	{"project", "project_system_prompt", "setting.project_system_prompt"},
	{"ai", "system_prompt", "setting.global_system_prompt"},
	{"ai", "global_system_prompt", "setting.global_system_prompt"},
	{"ai", "base_system_prompt", "setting.base_system_prompt"},
	{"ai", "use_default_base_system_prompt", "setting.use_default_base_prompt"},
	{"ai", "use_default_base_prompt", "setting.use_default_base_prompt"},
	{"ai", "model", "setting.model"},
	{"ai", "temperature", "setting.temperature"},
	{"ai", "top_p", "setting.top_p"},
	{"ai", "max_tokens", "setting.max_tokens"},
	{NULL, "project_system_prompt", "setting.project_system_prompt"},
	{NULL, "ui_project_system_prompt", "setting.project_system_prompt"},
	{NULL, "global_system_prompt", "setting.global_system_prompt"},
	{NULL, "ui_global_system_prompt", "setting.global_system_prompt"},
	{NULL, "base_system_prompt", "setting.base_system_prompt"},
	{NULL, "ui_base_system_prompt", "setting.base_system_prompt"},
	{NULL, "use_default_base_prompt", "setting.use_default_base_prompt"},
	{NULL, "use_default_base_system_prompt", "setting.use_default_base_prompt"},
	{NULL, "ai_input", "setting.draft"},
	{NULL, "model", "setting.model"},
	{NULL, "temperature", "setting.temperature"},
	{NULL, "top_p", "setting.top_p"},
	{NULL, "max_tokens", "setting.max_tokens"},
	{NULL, "auto_add_history", "setting.auto_add_history"},
	{"config", "ui_global_system_prompt", "setting.global_system_prompt"},
	{"config", "use_default_base_system_prompt", "setting.use_default_base_prompt"},
	{NULL, NULL, NULL},
};

rt_str
rt_toml_base(rt_str name)
{
	size_t at = rt_str_find(name, RT_STR("_take_"), 0);

	return at == SIZE_MAX ? name : rt_str_at(name.ptr, at);
}

/* A table below [discussion.discussions]: a take. */
typedef struct table {
	yyjson_val *key, *value;
	size_t next; /* of the same discussion; SIZE_MAX: none */
} table;

/* A discussion: the tables of its takes, chained in the order of the file. */
typedef struct group {
	rt_str name;
	size_t first, last;
} group;

typedef struct reader {
	rt_reader r;
	rt_build *b;       /* of r */
	yyjson_val *roles; /* an array, or NULL */
	rt_items groups, tables;
	rt_share share; /* of the current discussion */
	rt_buf *kept;   /* its field "toml.takes" */
	rt_buf *text;   /* for one call at a time */
} reader;

static void
remark(reader *r, rt_remark_level level, const char *what, rt_str name)
{
	rt_report_add(r->r.report, level, 0, "%s: %.*s", what,
		      (int)(name.size < 80 ? name.size : 80), name.ptr == NULL ? "" : name.ptr);
}

/* ---- entries ---- */

/* The role that text begins with, and how much of it that is: "Role:", "[Role]:" in any case,
 * then a blank or a line end. */
static size_t
role_at(rt_str role, rt_str text)
{
	size_t at = text.size > 0 && text.ptr[0] == '[';
	bool has_bracket = at > 0;

	if (role.size == 0 || at + role.size > text.size ||
	    !rt_str_eq_nocase(role, rt_str_at(text.ptr + at, role.size)))
		return 0;
	at += role.size;
	if (has_bracket && (at >= text.size || text.ptr[at++] != ']'))
		return 0;
	return at < text.size && text.ptr[at] == ':' ? at + 1 : 0;
}

/* The longest role at the start of the text; false: none. */
static bool
find_role(const reader *r, rt_str text, rt_str *out_role, size_t *out_size)
{
	static const char *const usual[] = {"User", "AI", "Vendor API", "System"};
	size_t count = r->roles != NULL ? yyjson_arr_size(r->roles) : 4, best = 0;

	for (size_t i = 0; i < count; i++) {
		rt_str role = r->roles != NULL ? rt_json_str(yyjson_arr_get(r->roles, i))
					       : rt_str_of(usual[i]);
		size_t size = role_at(role, text);

		if (size > best) {
			best = size;
			*out_role = role;
		}
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

/* "@time" and the line end or blank after it. */
static bool
time_at(rt_str text, rt_moment *out, size_t *out_size)
{
	int blanks = 0;

	if (text.size == 0 || text.ptr[0] != '@')
		return false;
	for (size_t i = 1; i < text.size && i < 64 && blanks < 2; i++) {
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

/* "Role: content", perhaps after "@time". All other text is content. */
static void
read_string_entry(reader *r, rt_str text, rt_node *node)
{
	size_t size;

	if (time_at(text, &node->ts, &size)) {
		node->has_ts = true;
		text = rt_str_at(text.ptr + size, text.size - size);
	}
	if (find_role(r, text, &node->role, &size))
		text = rt_str_at(text.ptr + size, text.size - size);
	rt_build_body_open(r->b, text, false);
}

static const rt_member members[] = {
	RT_MEMBER(TEXT, role),      RT_MEMBER(TEXT, id),
	RT_MEMBER(KIND, kind),      RT_MEMBER(TEXT, label),
	RT_MEMBER(FLAG, muted),     RT_MEMBER(FLAG, collapsed),
	RT_MEMBER(FLAG, read_mode), {"purged", RT_MEMBER_PURGED, 0},
	RT_MEMBER(TS, ts),
};

/* A member with a meaning; false: it is of another type, and becomes a further field. */
static bool
read_known(rt_str name, yyjson_val *value, yyjson_val *entry, rt_node *node)
{
	const rt_member *member = rt_member_find(members, sizeof(members) / sizeof(*members), name);
	yyjson_val *literal = rt_json_get(value, RT_TOML_MARK);

	if (member == NULL)
		return false;
	if (member->type == RT_MEMBER_TS) { /* a string, a native date of TOML, or a number */
		if (yyjson_is_str(value) && yyjson_get_len(value) == 0)
			return true;
		node->has_ts = rt_build_moment(literal != NULL ? literal : value, &node->ts);
		return node->has_ts;
	}
	if (member->type == RT_MEMBER_TEXT || member->type == RT_MEMBER_KIND
		    ? !yyjson_is_str(value)
		    : !yyjson_is_bool(value))
		return false;
	if (member->type == RT_MEMBER_PURGED)
		node->body_format = yyjson_is_true(value) ? RT_BODY_PURGED : 0;
	else
		(void)rt_member_read(member, entry, node);
	return true;
}

/* A member "json:NAME" whose value nests too deeply was left in its string: its name and JSON. */
static bool
read_left(reader *r, rt_str *name, yyjson_val *value, rt_str *out_json)
{
	const size_t prefix = strlen(RT_TOML_JSON_MARK);

	if (!rt_str_starts(*name, RT_STR(RT_TOML_JSON_MARK)) || !yyjson_is_str(value) ||
	    !rt_toml_is_left(rt_json_str(value)) ||
	    !rt_build_json(r->b, rt_json_str(value), false, out_json))
		return false;
	*name = rt_str_at(name->ptr + prefix, name->size - prefix);
	return true;
}

static void
read_further(reader *r, rt_str key, yyjson_val *value)
{
	rt_str json, mark = RT_STR(TOML_FIELD_MARK);

	if (rt_str_starts(key, mark))
		key = rt_str_at(key.ptr + mark.size, key.size - mark.size);
	else if (rt_str_is(key, "ts"))
		key = RT_STR(RT_BUILD_BAD_TS);
	else if (rt_str_is(key, "content"))
		key = RT_STR(RT_BUILD_BAD_CONTENT);
	if (read_left(r, &key, value, &json))
		rt_buf_add_str(rt_build_body_field(r->b, key), json);
	else
		rt_json_add_value(rt_build_body_field(r->b, key), value);
}

static void
read_table_entry(reader *r, yyjson_val *entry, rt_node *node)
{
	yyjson_val *content = rt_json_get(entry, "content");
	yyjson_val *record = rt_json_get(entry, "retake_record");
	bool has_content = yyjson_is_arr(content) || yyjson_is_str(content), has_record;

	rt_build_body_open_value(r->b, content);
	has_record = record != NULL && rt_build_body_record(r->b, RT_STR(""), record, node);
	for (rt_json_iter m = rt_json_each(entry); rt_json_next(&m);) {
		if (rt_str_is(m.key, "content") ? has_content
						: read_known(m.key, m.value, entry, node))
			continue;
		if (!has_record)
			read_further(r, m.key, m.value);
	}
	if (node->body_format == RT_BODY_PURGED &&
	    (rt_json_str(content).size > 0 || yyjson_is_arr(content)))
		node->body_format = 0;
}

static void
read_history(reader *r, rt_str name, yyjson_val *history)
{
	rt_str role = rt_json_str(yyjson_arr_get_first(r->roles));

	if (!yyjson_is_str(yyjson_arr_get_first(r->roles)))
		role = RT_STR("User");
	if (history != NULL && !yyjson_is_arr(history)) {
		remark(r, RT_REMARK_SKIPPED, "skipped a history that is not a list", name);
		return;
	}
	for (rt_json_iter e = rt_json_each(history); rt_ok(&r->b->s) && rt_json_next(&e);) {
		rt_node node = {.role = role};

		if (yyjson_is_str(e.value)) {
			read_string_entry(r, rt_json_str(e.value), &node);
		} else if (yyjson_is_obj(e.value)) {
			read_table_entry(r, e.value, &node);
		} else {
			remark(r, RT_REMARK_SKIPPED,
			       "skipped an entry that is neither text nor a table", name);
			continue;
		}
		if (!rt_share_add(&r->share, &node))
			remark(r, RT_REMARK_REPAIRED,
			       "an id occurs twice in a take; the second entry gets a new one",
			       name);
	}
}

/* ---- takes ---- */

static void
add_field(reader *r, bool of_project, const char *prefix, rt_str name, yyjson_val *value)
{
	rt_str json;

	if (!read_left(r, &name, value, &json)) {
		rt_buf_clear(r->text);
		rt_json_add_value(r->text, value);
		json = rt_scope_str(&r->b->s, r->text);
	}
	rt_build_field_in(r->b, of_project, prefix, name, json);
}

static void
add_fields(reader *r, bool of_project, yyjson_val *object)
{
	if (yyjson_is_obj(object))
		for (rt_json_iter m = rt_json_each(object); rt_json_next(&m);)
			add_field(r, of_project, "", m.key, m.value);
}

/* Members without a meaning are kept verbatim. */
static void
keep_rest(reader *r, rt_str name, yyjson_val *take, bool has_snapshot)
{
	size_t start = r->kept->size, empty;

	rt_json_add_key_str(r->kept, name);
	rt_buf_add_byte(r->kept, '{');
	empty = r->kept->size;
	for (rt_json_iter m = rt_json_each(take); rt_json_next(&m);)
		if (!rt_is_word(m.key, TOML_TAKE_KEYS) &&
		    !(has_snapshot && rt_str_is(m.key, "context_snapshot")))
			rt_json_put_member(r->kept, m.key, m.value);
	if (r->kept->size == empty)
		r->kept->size = start;
	else
		rt_json_close(r->kept, '}');
}

/* The lists of files of a take that is not active, if it has its own. */
static void
read_files(reader *r, yyjson_val *take)
{
	yyjson_val *snapshot = rt_json_get(take, "context_snapshot");
	yyjson_val *others = rt_json_get(take, "retake_files");

	if (!yyjson_is_arr(snapshot) && !yyjson_is_obj(others))
		return;
	rt_buf_clear(r->text);
	rt_json_open(r->text, NULL, '{');
	for (size_t i = 0; rt_file_list_names[i] != NULL; i++) {
		yyjson_val *list = i == 0 ? snapshot : rt_json_get(others, rt_file_list_names[i]);

		if (yyjson_is_arr(list) && yyjson_arr_size(list) > 0)
			rt_json_put_value(r->text, rt_file_list_names[i], list);
	}
	rt_json_close(r->text, '}');
	rt_build_take_files(r->b, rt_build_copy(r->b, rt_scope_str(&r->b->s, r->text)));
}

static void
read_take(reader *r, const table *t, bool is_active, rt_outline *outline)
{
	rt_str key = rt_json_str(t->key), name = rt_json_text(t->value, "retake_name");
	yyjson_val *snapshot = rt_json_get(t->value, "context_snapshot");
	const int64_t *path;
	uint64_t head;
	size_t count;

	name = rt_build_copy(r->b, name.size > 0 ? name : key);
	rt_share_take(&r->share);
	read_history(r, key, rt_json_get(t->value, "history"));
	path = rt_share_path(&r->share, &count);
	keep_rest(r, name, t->value, yyjson_is_arr(snapshot));
	add_fields(r, false, rt_json_get(t->value, "retake"));
	rt_build_take(r->b, name, rt_build_copy(r->b, rt_json_text(t->value, "git_commit")), path,
		      count);
	if (!is_active) {
		read_files(r, t->value);
		return;
	}
	outline->active_take = r->share.take_number - 1;
	outline->has_head = true;
	outline->head = count == 0 ? -1 : path[count - 1];
	if (rt_json_u64(rt_json_get(t->value, "retake_head"), &head) && head <= count)
		outline->head = head == 0 ? -1 : path[head - 1];
	if (yyjson_is_arr(snapshot))
		add_field(r, false, "", RT_STR("context_files"), snapshot);
}

static void
read_group(reader *r, const group *g, rt_str active)
{
	const table *tables = r->tables.items;
	rt_outline *outline = rt_build_discussion(r->b);
	size_t current = g->first;
	bool is_active = false;

	if (outline == NULL)
		return;
	outline->name = rt_build_copy(r->b, g->name);
	rt_share_discussion(&r->share);
	for (size_t at = g->first; at != SIZE_MAX; at = tables[at].next) {
		if (active.size > 0 && rt_str_eq(rt_json_str(tables[at].key), active))
			is_active = true;
		else if (is_active ||
			 !yyjson_is_true(rt_json_get(tables[at].value, "retake_active")))
			continue;
		current = at;
	}
	if (is_active) {
		r->r.active = rt_reader_count(&r->r) - 1;
		r->r.has_active = true;
	}
	rt_buf_clear(r->kept);
	rt_buf_add_byte(r->kept, '{');
	for (size_t at = g->first; at != SIZE_MAX && rt_ok(&r->b->s); at = tables[at].next)
		read_take(r, &tables[at], at == current, outline);
	if (rt_scope_str(&r->b->s, r->kept).size > 1) {
		rt_json_close(r->kept, '}');
		rt_build_field(r->b, RT_STR(TOML_TAKES), rt_scope_str(&r->b->s, r->kept));
	}
}

/* Sort the tables below [discussion.discussions] into groups. */
static void
find_groups(reader *r, yyjson_val *discussions)
{
	rt_index names = {.count = 0};
	rt_scope s;

	rt_scope_init(&s, r->b->alloc);
	for (rt_json_iter m = rt_json_members(discussions); rt_json_next(&m);) {
		rt_str base = rt_json_text(m.value, "retake_discussion");
		int64_t at = (int64_t)r->tables.count, known;
		table *t;
		group *g;

		if (!yyjson_is_obj(m.value)) {
			remark(r, RT_REMARK_SKIPPED, "skipped a discussion that is not a table",
			       m.key);
			continue;
		}
		if (base.ptr == NULL)
			base = rt_toml_base(m.key);
		known = rt_index_get(&names, base);
		t = rt_items_push(&r->b->s, &r->tables, sizeof(*t));
		g = known >= 0 ? (group *)r->groups.items + known
			       : rt_items_push(&r->b->s, &r->groups, sizeof(*g));
		if (t == NULL || g == NULL)
			break;
		*t = (table){rt_json_key_of(m.value), m.value, SIZE_MAX};
		if (known >= 0) {
			((table *)r->tables.items)[g->last].next = (size_t)at;
		} else {
			*g = (group){base, (size_t)at, 0};
			(void)rt_index_put(&s, &names, base, r->groups.count - 1);
		}
		g->last = (size_t)at;
	}
	(void)rt_scope_join(&r->b->s, &s);
}

/* ---- the project ---- */

static yyjson_val *
value_at(yyjson_val *root, const rt_toml_place *place)
{
	yyjson_val *value;

	if (place->table != NULL)
		return rt_json_get(rt_json_get(root, place->table), place->key);
	value = rt_json_get(root, place->key);
	return yyjson_is_obj(value) ? NULL : value; /* a table of that name is not a discussion */
}

static void
read_places(reader *r, yyjson_val *root)
{
	for (const rt_toml_place *p = rt_toml_places; p->key != NULL; p++) {
		yyjson_val *value = value_at(root, p);
		bool is_known = false;

		for (const rt_toml_place *q = rt_toml_places; q < p && !is_known; q++)
			is_known = strcmp(q->field, p->field) == 0 && value_at(root, q) != NULL;
		if (value == NULL || is_known)
			continue;
		if (strcmp(p->field, "roles") == 0 && yyjson_is_arr(value))
			r->roles = value;
		add_field(r, true, "", rt_str_of(p->field), value);
	}
}

/* The other members of the table [discussion]. */
static void
keep_discussion(reader *r, yyjson_val *discussion)
{
	rt_buf_clear(r->text);
	rt_buf_add_byte(r->text, '{');
	for (rt_json_iter m = rt_json_each(discussion); rt_json_next(&m);)
		if (!rt_is_word(m.key, TOML_DISCUSSION_KEYS))
			rt_json_put_member(r->text, m.key, m.value);
	rt_json_close(r->text, '}');
	if (rt_scope_str(&r->b->s, r->text).size > 2)
		rt_build_field_in(r->b, true, TOML_EXTRA, RT_STR("discussion"),
				  rt_buf_str(r->text));
}

static bool
has_place(const char *section, rt_str key)
{
	for (const rt_toml_place *p = rt_toml_places; p->key != NULL; p++)
		if (rt_str_is(key, p->key) &&
		    rt_str_eq(rt_str_of(p->table), rt_str_of(section)))
			return true;
	return false;
}

/* The settings of a file that contains nothing else, if Retake has no settings of that kind. */
static void
report_unknown(reader *r, yyjson_val *root)
{
	static const char *const tables[] = {"discussion", "project", "ai", "config"};

	for (rt_json_iter m = rt_json_each(root); rt_json_next(&m);) {
		const char *section = NULL;

		for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
			if (rt_str_is(m.key, tables[i]) && yyjson_is_obj(m.value))
				section = tables[i];
		if (section == NULL && !has_place(NULL, m.key) && !rt_str_is(m.key, "retake"))
			remark(r, RT_REMARK_SKIPPED, "no equivalent; stored unchanged", m.key);
		if (section == NULL)
			continue;
		for (rt_json_iter k = rt_json_each(m.value); rt_json_next(&k);)
			if (!has_place(section, k.key) &&
			    !rt_is_word(k.key, TOML_DISCUSSION_KEYS))
				rt_report_add(r->r.report, RT_REMARK_SKIPPED, 0,
					      "no equivalent; stored unchanged: %s.%.*s", section,
					      (int)(k.key.size < 80 ? k.key.size : 80), k.key.ptr);
	}
}

static void
read_file(reader *r, yyjson_val *root)
{
	yyjson_val *discussion = rt_json_get(root, "discussion");

	read_places(r, root);
	if (yyjson_obj_size(rt_json_get(discussion, "discussions")) == 0)
		report_unknown(r, root);
	for (rt_json_iter m = rt_json_each(root); rt_json_next(&m);) {
		if (rt_str_is(m.key, "discussion") && yyjson_is_obj(m.value))
			keep_discussion(r, m.value);
		else if (rt_str_is(m.key, "retake") && yyjson_is_obj(m.value))
			add_fields(r, true, m.value);
		else
			add_field(r, true, TOML_EXTRA, m.key, m.value);
	}
	find_groups(r, rt_json_get(discussion, "discussions"));
	for (size_t i = 0; i < r->groups.count && rt_ok(&r->b->s); i++)
		read_group(r, (const group *)r->groups.items + i,
			   rt_json_text(discussion, "active"));
}

/* The file as JSON; NULL after a failure. */
static yyjson_val *
parse(reader *r, rt_str input)
{
	rt_scope *s = &r->b->s;
	rt_buf *json = rt_scope_buf(s), *repaired = rt_scope_buf(s);

	input = rt_scan_unmark(input);
	if (rt_utf8_valid_size(input) != input.size) {
		rt_report_add(r->r.report, RT_REMARK_REPAIRED, 0,
			      "invalid UTF-8 was replaced with U+FFFD");
		rt_utf8_repair(repaired, input);
		input = rt_scope_str(s, repaired);
	}
	(void)RT_TRY(s, rt_toml_to_json(s->alloc, input, json, &s->error));
	return rt_json_parse(s, rt_scope_str(s, json));
}

static rt_status
toml_read(const rt_alloc *alloc, rt_str input, rt_outlines *out, rt_report *report, rt_error *err)
{
	rt_input in = rt_input_of(&input);
	rt_reader_to to = {.whole = out};
	reader r = {.b = &r.r.b};
	yyjson_val *root;

	rt_reader_init(&r.r, alloc, &in, &to, report);
	r.share = (rt_share){.b = r.b, .by_place = true};
	r.kept = rt_scope_buf(&r.b->s);
	r.text = rt_scope_buf(&r.b->s);
	root = parse(&r, input);
	if (root != NULL)
		read_file(&r, root);
	return rt_reader_end(&r.r, err);
}

/* ---- recognising a file ---- */

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A line that opens a table; the name is the text in the brackets. */
static bool
is_header(rt_str line, rt_str *out_name)
{
	size_t depth = 0;

	while (depth < 2 && depth < line.size && line.ptr[depth] == '[')
		depth++;
	if (depth == 0 || line.size < 2 * depth + 1 || line.ptr[line.size - 1] != ']')
		return false;
	*out_name = rt_str_at(line.ptr + depth, line.size - 2 * depth);
	for (size_t i = 0; i < out_name->size; i++)
		if (strchr("[]{,:", out_name->ptr[i]) != NULL && out_name->ptr[i] != '\0')
			return false;
	return is_letter(out_name->ptr[0]) || out_name->ptr[0] == '"' || out_name->ptr[0] == '_';
}

/* A line `key = …`. */
static bool
is_assignment(rt_str line)
{
	size_t i = 0;

	while (i < line.size && line.ptr[i] != '\0' &&
	       (is_letter(line.ptr[i]) || strchr("_-.\"", line.ptr[i]) != NULL))
		i++;
	if (i == 0)
		return false;
	while (i < line.size && line.ptr[i] == ' ')
		i++;
	return i + 1 < line.size && line.ptr[i] == '=' && line.ptr[i + 1] != '=';
}

static int
toml_sniff(rt_str head)
{
	bool is_first = true;
	int sure = 0;
	rt_str line, name;

	head = rt_scan_unmark(head);
	for (size_t at = 0; rt_scan_line(head, &at, &line);) {
		line = rt_str_trim(line);
		if (line.size == 0 || line.ptr[0] == '#')
			continue;
		if (is_header(line, &name)) {
			if (rt_str_is(name, "discussion") ||
			    rt_str_starts(name, RT_STR("discussion.")))
				return sure > 0 || is_first ? 90 : 60;
			if (is_first)
				sure = 30;
		} else if (is_first && is_assignment(line)) {
			sure = 20;
		} else if (is_first) {
			return 0;
		}
		is_first = false;
	}
	return sure;
}

const rt_format rt_format_toml = {
	.name = "toml",
	.extension = ".toml",
	.about = "project files of Manual Slop: discussions, takes, settings",
	.media_type = "application/toml",
	.holds_project = true,
	.sniff = toml_sniff,
	.read = toml_read,
	.whole_max = 8 << 20,
	.write = rt_toml_write,
	.writes_sent = true,
};

const rt_format rt_format_config_toml = {
	.name = "config-toml",
	.extension = ".config-toml",
	.about = "configuration files of Manual Slop: roles, prompts, settings of models",
	.holds_project = true,
	.read = toml_read,
	.whole_max = 8 << 20,
	.write = rt_config_toml_write,
};
