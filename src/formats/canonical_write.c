/* SPDX-License-Identifier: MIT
 *
 * Writing the canonical form. An object's members are pushed on a stack, sorted, and
 * written; objects inside them push theirs above. Small inner objects (settings, labels) are
 * written into a buffer at once, so that empty ones are not pushed at all. */
#include <stdlib.h> /* qsort */

#include "formats/canonical_impl.h"

typedef struct writer writer;
typedef struct member member;

/* One member of an object to be written. */
struct member {
	rt_str key;
	void (*write)(writer *c, rt_buf *out, const member *m); /* the value, after its key */
	rt_str text;          /* for write_string, write_json, write_raw */
	yyjson_val *value;    /* for write_value */
	const rt_member *row; /* for write_row */
	size_t order;         /* of equal keys the lowest stays */
};

/* The place of an entry in the output, so that the next take copies it. */
typedef struct written {
	size_t at, size;
	size_t number; /* among the written ones */
} written;

struct writer {
	rt_writer w;
	bool shares;      /* the shorter form */
	rt_items members; /* member: a stack; an object's are above those of its parent */
	written *written; /* by node, of the current discussion */
	size_t written_count;
	const rt_node *node; /* the current entry */
};

/* ---- members ---- */

static void
push(writer *c, member m)
{
	member *to = rt_items_push(&c->w.s, &c->members, sizeof(*to));

	if (to != NULL)
		*to = m;
}

static void
write_raw(writer *c, rt_buf *out, const member *m)
{
	(void)c;
	rt_buf_add_str(out, m->text);
}

static void
write_string(writer *c, rt_buf *out, const member *m)
{
	(void)c;
	rt_json_add_string(out, m->text);
}

static void
write_value(writer *c, rt_buf *out, const member *m)
{
	rt_json_add_sorted(out, c->w.s.alloc, m->value);
}

static void
write_json(writer *c, rt_buf *out, const member *m)
{
	rt_json_doc *doc = NULL;
	rt_status st = rt_json_read(c->w.s.alloc, m->text, &doc, NULL);

	if (st == RT_OK)
		rt_json_add_sorted(out, c->w.s.alloc, rt_json_root(doc));
	else if (st == RT_NOMEM)
		(void)rt_scope_nomem(&c->w.s);
	else
		(void)rt_scope_fail(&c->w.s, RT_CORRUPT, "the field %.*s is not JSON",
				    RT_STR_ARG(m->key));
	rt_json_free(doc);
}

/* These two write the key, too. */
static void
write_row(writer *c, rt_buf *out, const member *m)
{
	rt_member_write(out, m->row, c->node);
}

static void
write_pi(writer *c, rt_buf *out, const member *m)
{
	(void)m;
	rt_body_add_fields(out, c->w.s.alloc, &c->w.body, true);
}

static void
push_string(writer *c, const char *key, rt_str text)
{
	push(c, (member){.key = rt_str_of(key), .write = write_string, .text = text});
}

static void
push_json(writer *c, rt_str key, rt_str json, size_t order)
{
	push(c, (member){.key = key, .write = write_json, .text = json, .order = order});
}

static int
member_order(const void *a, const void *b)
{
	const member *x = a, *y = b;
	int order = rt_str_cmp(x->key, y->key);

	return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

/* Write the members above first as an object and pop them. They may push more while they are
 * written, so nothing here keeps a pointer into the stack. */
static void
write_members(writer *c, rt_buf *out, size_t first)
{
	size_t end = c->members.count;
	rt_str last = {NULL, 0};

	if (!rt_ok(&c->w.s))
		return;
	if (end > first)
		qsort((member *)c->members.items + first, end - first, sizeof(member),
		      member_order);
	rt_buf_add_byte(out, '{');
	for (size_t i = first; i < end && rt_ok(&c->w.s); i++) {
		member m = ((member *)c->members.items)[i];

		if (i > first && rt_str_eq(last, m.key))
			continue;
		if (m.write != write_row && m.write != write_pi)
			rt_json_add_key_str(out, m.key);
		m.write(c, out, &m);
		last = m.key;
	}
	rt_json_close(out, '}');
	c->members.count = first;
}

/* Replace the members above first, if there are any, by one: an object of them. */
static void
push_object(writer *c, rt_scope *s, const char *key, size_t first)
{
	rt_buf *out;

	if (c->members.count == first)
		return;
	out = rt_scope_buf(s);
	write_members(c, out, first);
	push(c, (member){.key = rt_str_of(key), .write = write_raw, .text = rt_scope_str(s, out)});
	(void)rt_scope_note(&c->w.s, s->status);
}

static bool
is_empty_json(rt_str json)
{
	return json.size == 0 || rt_is_word(json, "\"\" [] {} null");
}

/* Push the fields whose names begin with prefix, under the rest of their names. */
static void
push_prefixed(writer *c, const rt_outline_field *fields, size_t count, const char *prefix)
{
	rt_str start = rt_str_of(prefix);

	for (size_t i = 0; i < count; i++) {
		rt_str name = fields[i].name;

		if (rt_str_starts(name, start))
			push_json(c, rt_str_at(name.ptr + start.size, name.size - start.size),
				  fields[i].json, 1 + i);
	}
}

/* ---- entries ---- */

static void
write_content(writer *c, rt_buf *out, const member *m)
{
	(void)m;
	if (c->w.body.content_json != NULL)
		rt_json_add_sorted(out, c->w.s.alloc, c->w.body.content_json);
	else
		rt_json_add_string(out, c->w.body.content);
}

/* An entry without further fields, as most are: nothing has to be sorted. */
static void
add_plain_entry(rt_buf *out, const rt_node *node)
{
	rt_json_open(out, NULL, '{');
	for (size_t i = 0; i < RT_CANONICAL_MEMBER_COUNT; i++) {
		const rt_member *row = &rt_canonical_members[i];

		if (row->type == RT_MEMBER_CONTENT)
			rt_json_put_str(out, row->name, node->body);
		else
			rt_member_write(out, row, node);
	}
	rt_json_close(out, '}');
}

/* An entry with further fields. */
static void
add_rich_entry(writer *c, const rt_node *node)
{
	const rt_body *body = rt_writer_body(&c->w, node);
	size_t first = c->members.count, order = SIZE_MAX;

	if (body == NULL)
		return;
	c->node = node;
	for (size_t i = 0; i < RT_CANONICAL_MEMBER_COUNT; i++) {
		const rt_member *row = &rt_canonical_members[i];

		if (row->type != RT_MEMBER_PURGED)
			push(c, (member){.key = rt_str_of(row->name),
					 .write = row->type == RT_MEMBER_CONTENT ? write_content
										 : write_row,
					 .row = row});
	}
	if (body->format == RT_BODY_PI)
		push(c, (member){.key = RT_STR("pi"), .write = write_pi});
	else
		for (rt_json_iter m = rt_json_each(body->fields); rt_json_next(&m);)
			if (rt_canonical_is_further(
				    m.key)) /* of a repeated key the last one counts */
				push(c, (member){.key = m.key,
						 .write = write_value,
						 .value = m.value,
						 .order = order--});
	write_members(c, c->w.out, first);
}

static void
add_entry(writer *c, int64_t index)
{
	written *where = &c->written[index];
	const rt_node *node = &c->w.outline->nodes[index];
	rt_buf *out = c->w.out;
	char *to;

	rt_json_add_comma(out);
	if (where->size > 0) { /* another take contained it: the same bytes again */
		to = rt_buf_reserve(out, where->size);
		if (to == NULL)
			return;
		memcpy(to, out->ptr + where->at, where->size);
		out->size += where->size;
		return;
	}
	where->at = out->size;
	if (node->body_format == RT_BODY_TEXT || node->body_format == RT_BODY_PURGED)
		add_plain_entry(out, node);
	else
		add_rich_entry(c, node);
	where->size = out->size - where->at;
	where->number = c->written_count++;
}

/* Refers to entries of a take from an earlier one as long as their numbers are consecutive; returns
 * their count. */
static size_t
add_shared(writer *c, const rt_outline_take *take, size_t from)
{
	size_t first = c->written[take->nodes[from]].number, count = 1;

	while (from + count < take->node_count) {
		const written *next = &c->written[take->nodes[from + count]];

		if (next->size == 0 || next->number != first + count)
			break;
		count++;
	}
	rt_json_add_comma(c->w.out);
	rt_buf_add_f(c->w.out, "[%zu,%zu]", first, count);
	return count;
}

/* ---- discussions ---- */

/* The lists of files of a take that differ from those of the discussion. */
static void
put_files(writer *c, rt_buf *out, rt_str files)
{
	rt_json_doc *doc = NULL;

	if (RT_TRY(&c->w.s, rt_json_read(c->w.s.alloc, files, &doc, &c->w.s.error)) == RT_OK) {
		rt_json_add_key(out, "files");
		rt_json_add_sorted(out, c->w.s.alloc, rt_json_root(doc));
	}
	rt_json_free(doc);
}

static void
write_takes(writer *c, rt_buf *out, const member *m)
{
	(void)m;
	rt_json_open(out, NULL, '[');
	for (size_t t = 0; t < c->w.take_count; t++) {
		const rt_outline_take *take = &c->w.takes[t];

		rt_json_open(out, NULL, '{');
		rt_json_open(out, "entries", '[');
		for (size_t i = 0; i < take->node_count && rt_ok(&c->w.s);) {
			if (c->shares && c->written[take->nodes[i]].size > 0)
				i += add_shared(c, take, i);
			else
				add_entry(c, take->nodes[i++]);
		}
		rt_json_close(out, ']');
		if (take->files.ptr != NULL)
			put_files(c, out, take->files);
		if (take->git_commit.size > 0)
			rt_json_put_str(out, "git_commit", take->git_commit);
		rt_json_put_str(out, "name", take->name);
		rt_json_close(out, '}');
	}
	rt_json_close(out, ']');
}

static void
push_labels(writer *c)
{
	size_t first = c->members.count;

	for (size_t t = 0; t < c->w.take_count; t++)
		for (size_t i = 0; i < c->w.takes[t].node_count; i++) {
			int64_t at = c->w.takes[t].nodes[i];
			const rt_node *node = &c->w.outline->nodes[at];

			if (node->label.size > 0)
				push(c, (member){.key = node->id,
						 .write = write_string,
						 .text = node->label,
						 .order = (size_t)at});
		}
	push_object(c, &c->w.d, "labels", first);
}

static void
push_prompt(writer *c)
{
	const rt_outline *o = c->w.outline;
	rt_str text = rt_outline_field_of(o->fields, o->field_count, "prompt");
	rt_str edited = rt_outline_field_of(o->fields, o->field_count, "prompt_edited");
	size_t first = c->members.count;

	if (rt_str_is(edited, "true"))
		push(c, (member){.key = RT_STR("edited"), .write = write_raw, .text = edited});
	push_prefixed(c, o->fields, o->field_count, "prompt.");
	if (c->members.count > first || !is_empty_json(text))
		push_json(c, RT_STR("text"), text.size > 0 ? text : RT_STR("\"\""), 0);
	push_object(c, &c->w.d, "prompt", first);
}

static void
push_files(writer *c)
{
	const rt_outline *o = c->w.outline;
	size_t first = c->members.count;

	for (size_t i = 0; i < o->field_count; i++)
		if (rt_is_word(o->fields[i].name, RT_CANONICAL_FILES) &&
		    !is_empty_json(o->fields[i].json))
			push_json(c, o->fields[i].name, o->fields[i].json, 0);
	push_prefixed(c, o->fields, o->field_count, "files.");
	push_object(c, &c->w.d, "files", first);
}

static void
push_head(writer *c)
{
	const rt_outline *o = c->w.outline;
	const rt_outline_take *take = rt_writer_take(&c->w);
	int64_t head = o->head;

	if (!o->has_head)
		head = take != NULL && take->node_count > 0 ? take->nodes[take->node_count - 1]
							    : -1;
	if (head < 0 || (size_t)head >= o->node_count)
		push(c,
		     (member){.key = RT_STR("head"), .write = write_raw, .text = RT_STR("null")});
	else if (o->nodes[head].id.size > 0)
		push_string(c, "head", o->nodes[head].id);
}

/* The fields of a discussion that are members of it. */
static void
push_fields(writer *c)
{
	const rt_outline *o = c->w.outline;

	for (size_t i = 0; i < o->field_count; i++) {
		rt_str name = o->fields[i].name;

		if (!rt_is_word(name, "prompt prompt_edited " RT_CANONICAL_FILES) &&
		    !rt_str_starts(name, RT_STR("setting.")) &&
		    !rt_str_starts(name, RT_STR("files.")) &&
		    !rt_str_starts(name, RT_STR("prompt.")) &&
		    !(rt_is_word(name, "id git_commit track presets link") &&
		      is_empty_json(o->fields[i].json)))
			push_json(c, name, o->fields[i].json, 1 + i);
	}
}

static void
push_settings(writer *c, rt_scope *s, const rt_outline_field *fields, size_t count)
{
	size_t first = c->members.count;

	push_prefixed(c, fields, count, "setting.");
	push_object(c, s, "settings", first);
}

static void
write_discussions(writer *c, rt_buf *out, const member *m)
{
	(void)m;
	rt_json_open(out, NULL, '[');
	while (rt_writer_next(&c->w)) {
		const rt_outline *o = c->w.outline;
		size_t first = c->members.count;

		c->written_count = 0;
		c->written = rt_scope_array(&c->w.d, o->node_count + 1, sizeof(*c->written));
		if (rt_scope_note(&c->w.s, c->w.d.status) != RT_OK)
			return;
		if (c->w.take_count > 0)
			push_string(c, "active", c->w.takes[c->w.active].name);
		push_files(c);
		push_head(c);
		push_labels(c);
		push_string(c, "name", o->name);
		push_prompt(c);
		push_settings(c, &c->w.d, o->fields, o->field_count);
		push(c, (member){.key = RT_STR("takes"), .write = write_takes});
		push_fields(c);
		rt_json_add_comma(out);
		write_members(c, out, first);
	}
	rt_json_close(out, ']');
}

/* ---- the file ---- */

static rt_status
write_all(const rt_alloc *alloc, const rt_outlines *in, bool shares, rt_buf *out, rt_error *err)
{
	writer c = {.shares = shares};
	rt_str roles = rt_outline_field_of(in->fields, in->field_count, "roles");

	rt_writer_init(&c.w, alloc, in, NULL, out);
	if (in->has_active && in->active < in->count && in->items[in->active].name.size > 0)
		push_string(&c, "active", in->items[in->active].name);
	push(&c, (member){.key = RT_STR("discussions"), .write = write_discussions});
	if (roles.size > 0)
		push_json(&c, RT_STR("roles"), roles, 0);
	push_settings(&c, &c.w.s, in->fields, in->field_count);
	push_prefixed(&c, in->fields, in->field_count, "extra.");
	for (size_t i = 0; i < in->field_count; i++)
		if (!rt_str_starts(in->fields[i].name, RT_STR("setting.")) &&
		    !rt_str_starts(in->fields[i].name, RT_STR("extra.")))
			push_json(&c, in->fields[i].name, in->fields[i].json, 1 + i);
	write_members(&c, out, 0);
	rt_buf_add_byte(out, '\n');
	return rt_writer_end(&c.w, err);
}

/* There is only one canonical form, whatever the options. */
rt_status
rt_canonical_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
		   rt_buf *out, rt_error *err)
{
	(void)options;
	return write_all(alloc, in, false, out, err);
}

rt_status
rt_canonical_write_shared(const rt_alloc *alloc, const rt_outlines *in, rt_buf *out, rt_error *err)
{
	return write_all(alloc, in, true, out, err);
}
