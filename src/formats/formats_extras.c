/* SPDX-License-Identifier: MIT
 *
 * Extras to and from JSON. */
#include "formats/formats_extras.h"

enum {
	DEPTH_EMBEDDED_MAX = RT_JSON_DEPTH_MAX - 16 /* deeper bodies go as text */
};

bool
rt_extras_has_record(const rt_node *node)
{
	return node->body_format == RT_BODY_PI || (node->body_format == RT_BODY_JSON &&
						   rt_scan_depth(node->body) > DEPTH_EMBEDDED_MAX);
}

static const rt_member members[] = {
	RT_MEMBER(TEXT, id),        RT_MEMBER(TEXT_ALWAYS, role),    RT_MEMBER(KIND, kind),
	RT_MEMBER(TS, ts),          RT_MEMBER(FLAG, muted),          RT_MEMBER(FLAG, collapsed),
	RT_MEMBER(FLAG, read_mode), {"purged", RT_MEMBER_PURGED, 0}, RT_MEMBER(TEXT, label),
};
enum { MEMBER_COUNT = sizeof(members) / sizeof(*members) };

void
rt_extras_write(rt_buf *buf, const char *name, const rt_node *node, const rt_body *body)
{
	bool has_fields = false;

	rt_json_open(buf, name, '{');
	for (size_t i = 0; i < MEMBER_COUNT; i++)
		rt_member_write(buf, &members[i], node);
	if (rt_extras_has_record(node)) {
		rt_json_put_str(buf, "format", rt_str_at(&node->body_format, 1));
		rt_json_add_key(buf, "record");
		rt_build_add_bytes(buf, node->body);
	} else if (node->body_format == RT_BODY_JSON && !rt_node_is_purged(node)) {
		for (rt_json_iter m = rt_json_each(body->fields); rt_json_next(&m);) {
			if (rt_str_is(m.key, "content"))
				continue;
			if (!has_fields)
				rt_json_open(buf, "fields", '{');
			has_fields = true;
			rt_json_put_member(buf, m.key, m.value);
		}
		if (has_fields)
			rt_json_close(buf, '}');
	}
	rt_json_close(buf, '}');
}

void
rt_extras_read(rt_build *b, yyjson_val *extras, rt_node *node)
{
	yyjson_val *fields = rt_json_get(extras, "fields");
	rt_str format = rt_json_text(extras, "format");

	for (size_t i = 0; i < MEMBER_COUNT; i++)
		(void)rt_member_read(&members[i], extras, node);
	if (yyjson_is_true(rt_json_get(extras, "purged")) && b->content.size == 0)
		node->body_format = RT_BODY_PURGED;
	if (format.size == 1 &&
	    rt_build_body_record(b, format, rt_json_get(extras, "record"), node))
		return;
	for (rt_json_iter m = rt_json_members(fields); rt_json_next(&m);)
		if (!rt_str_is(m.key, "content"))
			rt_json_add_value(rt_build_body_field(b, m.key), m.value);
}

/* ---- discussions ---- */

static void
write_fields(rt_buf *buf, const rt_outline_field *fields, size_t count)
{
	if (count == 0)
		return;
	rt_json_open(buf, "fields", '{');
	for (size_t i = 0; i < count; i++) {
		rt_json_add_key_str(buf, fields[i].name);
		/* as text: fields may nest as deep as the limit by themselves */
		rt_json_add_string(buf, fields[i].json);
	}
	rt_json_close(buf, '}');
}

static void
write_take(rt_buf *buf, const rt_outline_take *take, const int64_t *numbers)
{
	rt_json_open(buf, NULL, '{');
	rt_json_put_str(buf, "name", take->name);
	if (take->git_commit.size > 0)
		rt_json_put_str(buf, "git_commit", take->git_commit);
	if (numbers != NULL) {
		rt_json_open(buf, "nodes", '[');
		for (size_t i = 0; i < take->node_count; i++)
			rt_json_put_i64(buf, NULL, numbers[take->nodes[i]]);
		rt_json_close(buf, ']');
	}
	rt_json_close(buf, '}');
}

void
rt_extras_write_discussion(rt_buf *buf, const char *key, const rt_writer *w, const int64_t *numbers)
{
	const rt_outline *o = w->outline;
	const rt_outline_take *active = rt_writer_take(w);
	int64_t head = active == NULL || active->node_count == 0
			       ? -1
			       : active->nodes[active->node_count - 1];

	if (o->has_head && o->head < (int64_t)o->node_count)
		head = o->head;
	rt_json_open(buf, key, '{');
	rt_json_put_str(buf, "name", o->name);
	if (head >= 0 && numbers[head] >= 0)
		rt_json_put_i64(buf, "head", numbers[head]);
	else
		rt_json_put_null(buf, "head");
	if (active != NULL) {
		rt_json_put_u64(buf, "active", w->options.whole ? w->active : 0);
		rt_json_open(buf, "takes", '[');
		for (size_t t = 0; t < w->take_count; t++)
			if (w->options.whole || t == w->active)
				write_take(buf, &w->takes[t], t == w->active ? NULL : numbers);
		rt_json_close(buf, ']');
	}
	write_fields(buf, o->fields, o->field_count);
	if (w->next == 1) {
		rt_json_open(buf, "project", '{');
		if (w->in->has_active && w->in->active < w->in->count)
			rt_json_put_u64(buf, "active", w->in->active);
		write_fields(buf, w->in->fields, w->in->field_count);
		rt_json_close(buf, '}');
	}
	rt_json_close(buf, '}');
}

static void
read_fields(rt_build *b, yyjson_val *fields, bool of_project)
{
	rt_str json;

	for (rt_json_iter m = rt_json_members(fields); rt_json_next(&m);) {
		if (yyjson_is_str(m.value) && rt_build_json(b, rt_json_str(m.value), false, &json))
			rt_build_field_in(b, of_project, "", m.key, json);
		else
			rt_report_add(b->report, RT_REMARK_SKIPPED, 0,
				      "a field of the discussion is not JSON; skipped");
	}
}

/* The takes of one discussion being read. */
typedef struct take_reader {
	rt_build *b;
	const int64_t *nodes; /* by number */
	size_t node_count, own_count;
	int64_t *path;   /* room for all nodes */
	size_t *seen_in; /* by node: the take (from 1) that contained it last; 0: none */
	size_t take_number;
} take_reader;

static bool
step(take_reader *r, uint64_t number, size_t *count)
{
	int64_t node = number < r->node_count ? r->nodes[number] : -1;

	if (node < 0 || r->seen_in[node] == r->take_number)
		return false;
	if (number >= r->own_count && r->seen_in[node] == 0)
		rt_build_nodes(r->b)[node].parent = *count == 0 ? -1 : r->path[*count - 1];
	r->seen_in[node] = r->take_number;
	r->path[(*count)++] = node;
	return true;
}

static void
read_take(take_reader *r, yyjson_val *take, bool is_own)
{
	yyjson_val *list = is_own ? NULL : rt_json_get(take, "nodes");
	size_t count = 0;
	uint64_t at;

	r->take_number++;
	for (size_t i = 0; is_own && i < r->own_count; i++)
		(void)step(r, i, &count); /* the unreadable part was already reported */
	for (rt_json_iter m = rt_json_items(list); rt_json_next(&m);)
		if (!rt_json_u64(m.value, &at) || !step(r, at, &count))
			rt_report_add(r->b->report, RT_REMARK_REPAIRED, 0,
				      "a take contains an entry twice, or refers to one that does not exist");
	rt_build_take(r->b, rt_build_copy(r->b, rt_json_text(take, "name")),
		      rt_build_copy(r->b, rt_json_text(take, "git_commit")), r->path, count);
}

void
rt_extras_read_discussion(rt_reader *r, yyjson_val *extras, const int64_t *nodes, size_t node_count,
			  size_t own_count, rt_outline *outline)
{
	rt_build *b = &r->b;
	yyjson_val *project = rt_json_get(extras, "project");
	yyjson_val *takes = rt_json_get(extras, "takes");
	size_t all = rt_build_node_count(b), take_count = 0;
	take_reader t = {.b = b, .nodes = nodes, .node_count = node_count, .own_count = own_count};
	uint64_t active = 0, head;
	rt_scope s;

	outline->name = rt_build_copy(b, rt_json_text(extras, "name"));
	(void)rt_json_u64(rt_json_get(extras, "active"), &active);
	if (active >= yyjson_arr_size(takes))
		active = 0;
	rt_scope_init(&s, b->alloc);
	t.path = rt_scope_array(&s, all + 1, sizeof(*t.path));
	t.seen_in = rt_scope_array(&s, all + 1, sizeof(*t.seen_in));
	for (rt_json_iter m = rt_json_items(takes); rt_ok(&s) && rt_json_next(&m);)
		read_take(&t, m.value, take_count++ == active);
	(void)rt_scope_join(&b->s, &s);
	outline->active_take = (size_t)active;
	outline->has_head = true;
	outline->head = -1;
	if (rt_json_u64(rt_json_get(extras, "head"), &head) && head < node_count &&
	    nodes[head] >= 0)
		outline->head = nodes[head];
	read_fields(b, rt_json_get(extras, "fields"), false);
	if (project == NULL)
		return;
	if (rt_json_u64(rt_json_get(project, "active"), &active)) {
		r->active = (size_t)active;
		r->has_active = true;
	}
	read_fields(b, rt_json_get(project, "fields"), true);
}
