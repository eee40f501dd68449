/* SPDX-License-Identifier: MIT
 *
 * Extras to and from JSON. */
#include "formats/formats_extras.h"

enum {
	DEPTH_EMBEDDED_MAX = RT_JSON_DEPTH_MAX - 16 /* deeper bodies go as text */
};

/* How deep JSON text nests. */
static size_t
depth_of(rt_str s)
{
	size_t depth = 0, deepest = 0, i;

	for (i = 0; i < s.size; i++) {
		switch (s.ptr[i]) {
		case '"':
			for (i++; i < s.size && s.ptr[i] != '"'; i++)
				i += s.ptr[i] == '\\';
			break;
		case '[':
		case '{':
			depth++;
			deepest = depth > deepest ? depth : deepest;
			break;
		case ']':
		case '}': depth -= depth > 0; break;
		default: break;
		}
	}
	return deepest;
}

bool
rt_extras_has_record(const rt_node *node)
{
	return node->body_format == RT_BODY_PI ||
	       (node->body_format == RT_BODY_JSON && depth_of(node->body) > DEPTH_EMBEDDED_MAX);
}

static void
add_text(rt_buf *buf, const char *key, rt_str text)
{
	if (text.size == 0)
		return;
	rt_json_add_key(buf, key);
	rt_json_add_string(buf, text);
}

static void
add_true(rt_buf *buf, const char *key, bool value)
{
	if (!value)
		return;
	rt_json_add_key(buf, key);
	rt_buf_add_c(buf, "true");
}

void
rt_extras_add(rt_buf *buf, const rt_node *node, const rt_body *body)
{
	yyjson_val *key, *value;
	size_t i, max, fields = 0;

	rt_buf_add_byte(buf, '{');
	add_text(buf, "id", node->id);
	rt_json_add_key(buf, "role");
	rt_json_add_string(buf, node->role);
	add_text(buf, "kind", rt_str_is(node->kind, "message") ? rt_str_at(NULL, 0) : node->kind);
	if (node->has_ts) {
		rt_json_add_key(buf, "ts");
		rt_buf_add_byte(buf, '"');
		rt_moment_format(buf, node->ts);
		rt_buf_add_byte(buf, '"');
	}
	add_true(buf, "muted", node->muted);
	add_true(buf, "collapsed", node->collapsed);
	add_true(buf, "read_mode", node->read_mode);
	add_true(buf, "purged", rt_node_is_purged(node));
	add_text(buf, "label", node->label);
	if (rt_extras_has_record(node)) {
		rt_json_add_key(buf, "format");
		rt_json_add_string(buf, rt_str_at(&node->body_format, 1));
		rt_json_add_key(buf, "record");
		rt_build_add_bytes(buf, node->body);
	} else if (node->body_format == RT_BODY_JSON && !rt_node_is_purged(node)) {
		yyjson_obj_foreach(body->fields, i, max, key, value)
		{
			if (rt_str_is(rt_json_str(key), "content"))
				continue;
			if (fields++ == 0) {
				rt_json_add_key(buf, "fields");
				rt_buf_add_byte(buf, '{');
			}
			rt_json_add_key_str(buf, rt_json_str(key));
			rt_json_add_value(buf, value);
		}
		if (fields > 0)
			rt_buf_add_byte(buf, '}');
	}
	rt_buf_add_byte(buf, '}');
}

static rt_str
text_of(yyjson_val *object, const char *key)
{
	yyjson_val *value = rt_json_get(object, key);

	return yyjson_is_str(value) ? rt_json_str(value) : rt_str_at(NULL, 0);
}

/* A body that was kept as it is. False: there is none, or it cannot be one. */
static bool
read_record(rt_build *b, yyjson_val *extras, rt_node *node)
{
	rt_str format = text_of(extras, "format");
	rt_body body;
	rt_buf bytes;
	rt_status st = RT_USAGE;

	if (!rt_str_is(format, "P") && !rt_str_is(format, "J"))
		return false;
	rt_buf_init(&bytes, b->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&bytes, format);
	if (rt_build_read_bytes(&bytes, rt_json_get(extras, "record")))
		st = bytes.status != RT_OK ? bytes.status
					   : rt_body_read(b->alloc, rt_buf_str(&bytes), &body, NULL);
	if (st == RT_OK) {
		rt_body_deinit(&body);
		node->body_format = format.ptr[0];
		rt_build_body_verbatim(b, rt_str_at(bytes.ptr + 1, bytes.size - 1));
	} else if (st == RT_NOMEM) {
		b->status = st;
	}
	rt_buf_deinit(&bytes);
	return st == RT_OK;
}

void
rt_extras_read(rt_build *b, yyjson_val *extras, rt_str content, bool content_is_json,
	       rt_node *node)
{
	yyjson_val *fields = rt_json_get(extras, "fields"), *key, *value;
	size_t i, max;

	node->id = text_of(extras, "id");
	if (yyjson_is_str(rt_json_get(extras, "role")))
		node->role = text_of(extras, "role");
	node->kind = text_of(extras, "kind");
	if (rt_str_is(node->kind, "message"))
		node->kind = rt_str_at(NULL, 0);
	node->label = text_of(extras, "label");
	node->muted = yyjson_is_true(rt_json_get(extras, "muted"));
	node->collapsed = yyjson_is_true(rt_json_get(extras, "collapsed"));
	node->read_mode = yyjson_is_true(rt_json_get(extras, "read_mode"));
	node->has_ts = rt_build_moment(rt_json_get(extras, "ts"), &node->ts);
	if (yyjson_is_true(rt_json_get(extras, "purged")) && content.size == 0)
		node->body_format = RT_BODY_PURGED;
	if (read_record(b, extras, node))
		return;
	rt_build_body_open(b, content, content_is_json);
	if (!yyjson_is_obj(fields))
		return;
	yyjson_obj_foreach(fields, i, max, key, value)
	{
		if (!rt_str_is(rt_json_str(key), "content"))
			rt_json_add_value(rt_build_body_field(b, rt_json_str(key)), value);
	}
}

void
rt_extras_number(const rt_outline *outline, const rt_outline_take *takes, size_t take_count,
		 size_t active, bool whole, int64_t *numbers, int64_t *order, size_t *out_own,
		 size_t *out_count)
{
	size_t count = 0, t, i;

	for (i = 0; i < outline->node_count; i++)
		numbers[i] = -1;
	for (i = 0; take_count > 0 && i < takes[active].node_count; i++) {
		int64_t node = takes[active].nodes[i];

		if (numbers[node] >= 0)
			continue;
		numbers[node] = (int64_t)count;
		order[count++] = node;
	}
	*out_own = count;
	for (t = 0; whole && t < take_count; t++)
		for (i = 0; i < takes[t].node_count; i++) {
			int64_t node = takes[t].nodes[i];

			if (numbers[node] >= 0)
				continue;
			numbers[node] = (int64_t)count;
			order[count++] = node;
		}
	*out_count = count;
}

static void
add_fields(rt_buf *buf, const rt_outline_field *fields, size_t count)
{
	size_t i;

	if (count == 0)
		return;
	rt_json_add_key(buf, "fields");
	rt_buf_add_byte(buf, '{');
	for (i = 0; i < count; i++) {
		rt_json_add_key_str(buf, fields[i].name);
		/* as text: fields may nest as deep as the limit by themselves */
		rt_json_add_string(buf, fields[i].json);
	}
	rt_buf_add_byte(buf, '}');
}

static void
add_takes(rt_buf *buf, const rt_extras_discussion *d)
{
	size_t t, i;

	rt_json_add_key(buf, "takes");
	rt_buf_add_byte(buf, '[');
	for (t = 0; t < d->take_count; t++) {
		if (!d->whole && t != d->active)
			continue;
		rt_json_add_comma(buf);
		rt_buf_add_byte(buf, '{');
		rt_json_add_key(buf, "name");
		rt_json_add_string(buf, d->takes[t].name);
		add_text(buf, "git_commit", d->takes[t].git_commit);
		if (t != d->active) {
			rt_json_add_key(buf, "nodes");
			rt_buf_add_byte(buf, '[');
			for (i = 0; i < d->takes[t].node_count; i++) {
				rt_json_add_comma(buf);
				rt_buf_add_i64(buf, d->numbers[d->takes[t].nodes[i]]);
			}
			rt_buf_add_byte(buf, ']');
		}
		rt_buf_add_byte(buf, '}');
	}
	rt_buf_add_byte(buf, ']');
}

void
rt_extras_add_discussion(rt_buf *buf, const rt_extras_discussion *d)
{
	const rt_outline *o = d->outline;
	const rt_outline_take *active = d->take_count > 0 ? &d->takes[d->active] : NULL;
	int64_t head = active == NULL || active->node_count == 0
			       ? -1
			       : active->nodes[active->node_count - 1];

	if (o->has_head && o->head < (int64_t)o->node_count)
		head = o->head;
	rt_buf_add_byte(buf, '{');
	rt_json_add_key(buf, "name");
	rt_json_add_string(buf, o->name);
	rt_json_add_key(buf, "head");
	if (head >= 0 && d->numbers[head] >= 0)
		rt_buf_add_i64(buf, d->numbers[head]);
	else
		rt_buf_add_c(buf, "null");
	if (d->take_count > 0) {
		rt_json_add_key(buf, "active");
		rt_buf_add_u64(buf, d->whole ? d->active : 0);
		add_takes(buf, d);
	}
	add_fields(buf, o->fields, o->field_count);
	if (d->is_first) {
		rt_json_add_key(buf, "project");
		rt_buf_add_byte(buf, '{');
		if (d->all->has_active && d->all->active < d->all->count) {
			rt_json_add_key(buf, "active");
			rt_buf_add_u64(buf, d->all->active);
		}
		add_fields(buf, d->all->fields, d->all->field_count);
		rt_buf_add_byte(buf, '}');
	}
	rt_buf_add_byte(buf, '}');
}

static void
read_fields(rt_build *b, yyjson_val *fields, bool of_project)
{
	yyjson_val *key, *value;
	size_t i, max;
	rt_str json;

	if (!yyjson_is_obj(fields))
		return;
	yyjson_obj_foreach(fields, i, max, key, value)
	{
		if (!yyjson_is_str(value) || !rt_build_json(b, rt_json_str(value), false, &json)) {
			rt_report_add(b->report, RT_REMARK_SKIPPED, 0,
				      "a field of the discussion is not JSON; passed over");
			continue;
		}
		rt_build_field_in(b, of_project, "", rt_json_str(key), json);
	}
}

/* For the takes of one discussion. */
typedef struct take_reader {
	rt_build *b;
	const int64_t *nodes; /* by number */
	size_t node_count, own_count;
	int64_t *path;        /* room for all nodes */
	size_t *seen_in;      /* by node: the take (from 1) that held it last; 0: none */
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
	yyjson_val *list = rt_json_get(take, "nodes"), *number;
	size_t i, max, count = 0;
	uint64_t at;

	r->take_number++;
	for (i = 0; is_own && i < r->own_count; i++)
		(void)step(r, i, &count); /* what could not be read is reported already */
	if (!is_own) {
		yyjson_arr_foreach(list, i, max, number)
		{
			if (!rt_json_u64(number, &at) || !step(r, at, &count))
				rt_report_add(r->b->report, RT_REMARK_REPAIRED, 0,
					      "a take names an entry twice, or one that is not "
					      "there");
		}
	}
	rt_build_take(r->b, rt_build_copy(r->b, text_of(take, "name")),
		      rt_build_copy(r->b, text_of(take, "git_commit")), r->path, count);
}

void
rt_extras_read_discussion(rt_build *b, yyjson_val *extras, const int64_t *nodes,
			  size_t node_count, size_t own_count, rt_outline *outline,
			  yyjson_val **out_project)
{
	yyjson_val *takes = rt_json_get(extras, "takes"), *take;
	size_t i, max, all = rt_build_node_count(b);
	take_reader r = {.b = b, .nodes = nodes, .node_count = node_count, .own_count = own_count};
	uint64_t active = 0, head;

	*out_project = rt_json_get(extras, "project");
	outline->name = rt_build_copy(b, text_of(extras, "name"));
	(void)rt_json_u64(rt_json_get(extras, "active"), &active);
	if (active >= yyjson_arr_size(takes))
		active = 0;
	r.path = rt_new_array(b->alloc, all + 1, sizeof(*r.path));
	r.seen_in = rt_new0(b->alloc, (all + 1) * sizeof(*r.seen_in));
	if (r.path == NULL || r.seen_in == NULL) {
		b->status = RT_NOMEM;
	} else {
		yyjson_arr_foreach(takes, i, max, take)
		{
			read_take(&r, take, i == active);
		}
	}
	rt_free(b->alloc, r.path);
	rt_free(b->alloc, r.seen_in);
	outline->active_take = (size_t)active;
	outline->has_head = true;
	if (rt_json_u64(rt_json_get(extras, "head"), &head) && head < node_count && nodes[head] >= 0)
		outline->head = nodes[head];
	else
		outline->head = -1;
	read_fields(b, rt_json_get(extras, "fields"), false);
}

void
rt_extras_read_project(rt_build *b, yyjson_val *project, size_t *active, bool *has_active)
{
	uint64_t number;

	if (rt_json_u64(rt_json_get(project, "active"), &number)) {
		*active = (size_t)number;
		*has_active = true;
	}
	read_fields(b, rt_json_get(project, "fields"), true);
}
