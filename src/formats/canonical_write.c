/* SPDX-License-Identifier: MIT
 *
 * Writing the canonical form. An object's members are pushed on a stack, sorted, and
 * written; those that are objects themselves push theirs above. */
#include <stdlib.h> /* qsort */

#include "formats/canonical_impl.h"

typedef enum member_kind {
	MEMBER_JSON,  /* text: JSON, not yet sorted */
	MEMBER_TEXT,  /* text: becomes a string */
	MEMBER_VALUE, /* value */
	MEMBER_TRUE,
	MEMBER_NULL,
	MEMBER_CONTENT, /* the rest are written by the function of the same name */
	MEMBER_PI,
	MEMBER_DISCUSSIONS,
	MEMBER_SETTINGS,
	MEMBER_FILES,
	MEMBER_LABELS,
	MEMBER_PROMPT,
	MEMBER_TAKES
} member_kind;

/* One member of an object under construction. */
typedef struct member {
	rt_str key;
	member_kind kind;
	rt_str text;
	yyjson_val *value;
	size_t order; /* of equal keys the lowest stays */
} member;

/* Where an entry stands in the output, so that the next take copies it. */
typedef struct written {
	size_t at, size;
	size_t number; /* of those that are written out */
} written;

typedef struct writer {
	const rt_alloc *alloc;
	const rt_outlines *in;
	rt_buf *out;
	rt_error *err;
	rt_status status;
	bool shares;     /* the shorter form */
	rt_buf scratch;  /* a body being taken apart */
	member *members; /* a stack: an object's members lie above those of its parent */
	size_t member_count, member_room;
	/* of the discussion being written */
	rt_arena *arena;
	const rt_outline *outline;
	const rt_outline_take *takes;
	size_t take_count, active_take;
	written *written;
	size_t written_count;
	const rt_body *body; /* of the entry being written */
} writer;

static void members_write(writer *w, size_t first);

static void
fail(writer *w, rt_status st)
{
	if (w->status == RT_OK)
		w->status = rt_fail(w->err, st, "out of memory while exporting");
}

static void
push(writer *w, rt_str key, member_kind kind, rt_str text, yyjson_val *value, size_t order)
{
	if (w->status != RT_OK)
		return;
	if (w->member_count == w->member_room) {
		size_t room = w->member_room == 0 ? 64 : w->member_room * 2;
		member *members = rt_resize(w->alloc, w->members, room * sizeof(*members));

		if (members == NULL) {
			fail(w, RT_NOMEM);
			return;
		}
		w->members = members;
		w->member_room = room;
	}
	w->members[w->member_count++] = (member){key, kind, text, value, order};
}

static void
push_text(writer *w, const char *key, rt_str text)
{
	push(w, rt_str_of(key), MEMBER_TEXT, text, NULL, 0);
}

static void
push_kind(writer *w, const char *key, member_kind kind)
{
	push(w, rt_str_of(key), kind, rt_str_at(NULL, 0), NULL, 0);
}

static bool
is_empty_json(rt_str json)
{
	return rt_str_is(json, "") || rt_str_is(json, "\"\"") || rt_str_is(json, "[]") ||
	       rt_str_is(json, "{}") || rt_str_is(json, "null");
}

/* Fields whose names begin with prefix, under the rest of their names. */
static size_t
push_prefixed(writer *w, const rt_outline_field *fields, size_t count, const char *prefix)
{
	rt_str start = rt_str_of(prefix);
	size_t i, pushed = 0;

	for (i = 0; i < count; i++) {
		rt_str name = fields[i].name;

		if (!rt_str_starts(name, start))
			continue;
		push(w, rt_str_at(name.ptr + start.size, name.size - start.size), MEMBER_JSON,
		     fields[i].json, NULL, 1 + i);
		pushed++;
	}
	return pushed;
}

static bool
has_prefixed(const rt_outline_field *fields, size_t count, const char *prefix)
{
	rt_str start = rt_str_of(prefix);
	size_t i;

	for (i = 0; i < count; i++)
		if (rt_str_starts(fields[i].name, start))
			return true;
	return false;
}

static void
add_json(writer *w, rt_str key, rt_str text)
{
	rt_json_doc *doc = NULL;
	rt_status st = rt_json_read(w->alloc, text, &doc, NULL);

	if (st == RT_NOMEM) {
		fail(w, st);
		return;
	}
	if (st != RT_OK) {
		if (w->status == RT_OK)
			w->status = rt_fail(w->err, RT_CORRUPT, "the field %.*s is not JSON",
					    RT_STR_ARG(key));
		return;
	}
	rt_json_add_sorted(w->out, w->alloc, rt_json_root(doc));
	rt_json_free(doc);
}

/* {"context_files":[…],…} of the fields with these names; members that are empty are
 * left out. */
static void
add_files(writer *w)
{
	static const char *const names[] = {"files", "context_files", "screenshots", NULL};
	const rt_outline *o = w->outline;
	size_t first = w->member_count, i;

	for (i = 0; i < o->field_count; i++)
		if (rt_canonical_is_one_of(o->fields[i].name, names) && !is_empty_json(o->fields[i].json))
			push(w, o->fields[i].name, MEMBER_JSON, o->fields[i].json, NULL, 0);
	push_prefixed(w, o->fields, o->field_count, "files.");
	members_write(w, first);
}

static bool
has_files(const rt_outline *o)
{
	static const char *const names[] = {"files", "context_files", "screenshots", NULL};
	size_t i;

	for (i = 0; i < o->field_count; i++)
		if (rt_canonical_is_one_of(o->fields[i].name, names) && !is_empty_json(o->fields[i].json))
			return true;
	return has_prefixed(o->fields, o->field_count, "files.");
}

static bool
is_edited(const rt_outline *o)
{
	return rt_str_is(rt_outline_field_of(o->fields, o->field_count, "prompt_edited"), "true");
}

static bool
has_prompt(const rt_outline *o)
{
	rt_str text = rt_outline_field_of(o->fields, o->field_count, "prompt");

	return is_edited(o) || !is_empty_json(text) ||
	       has_prefixed(o->fields, o->field_count, "prompt.");
}

static void
add_prompt(writer *w)
{
	const rt_outline *o = w->outline;
	rt_str text = rt_outline_field_of(o->fields, o->field_count, "prompt");
	size_t first = w->member_count;

	if (is_edited(o))
		push_kind(w, "edited", MEMBER_TRUE);
	push(w, RT_STR("text"), MEMBER_JSON, text.size > 0 ? text : RT_STR("\"\""), NULL, 0);
	push_prefixed(w, o->fields, o->field_count, "prompt.");
	members_write(w, first);
}

static bool
has_labels(const writer *w)
{
	size_t t, i;

	for (t = 0; t < w->take_count; t++)
		for (i = 0; i < w->takes[t].node_count; i++)
			if (w->outline->nodes[w->takes[t].nodes[i]].label.size > 0)
				return true;
	return false;
}

static void
add_labels(writer *w)
{
	size_t first = w->member_count, t, i;

	for (t = 0; t < w->take_count; t++)
		for (i = 0; i < w->takes[t].node_count; i++) {
			const rt_node *node = &w->outline->nodes[w->takes[t].nodes[i]];

			if (node->label.size > 0)
				push(w, node->id, MEMBER_TEXT, node->label, NULL,
				     (size_t)w->takes[t].nodes[i]);
		}
	members_write(w, first);
}

/* The same as the members would be, without sorting: most entries are a text. */
static void
add_plain_entry(rt_buf *out, const rt_node *node)
{
	rt_buf_add_byte(out, '{');
	if (node->collapsed)
		rt_buf_add_c(out, "\"collapsed\":true,");
	rt_buf_add_c(out, "\"content\":");
	rt_json_add_string(out, node->body);
	if (node->id.size > 0) {
		rt_buf_add_c(out, ",\"id\":");
		rt_json_add_string(out, node->id);
	}
	if (node->kind.size > 0 && !rt_str_is(node->kind, "message")) {
		rt_buf_add_c(out, ",\"kind\":");
		rt_json_add_string(out, node->kind);
	}
	if (node->muted)
		rt_buf_add_c(out, ",\"muted\":true");
	if (node->body_format == RT_BODY_PURGED)
		rt_buf_add_c(out, ",\"purged\":true");
	if (node->read_mode)
		rt_buf_add_c(out, ",\"read_mode\":true");
	rt_buf_add_c(out, ",\"role\":");
	rt_json_add_string(out, node->role);
	if (node->has_ts) {
		rt_buf_add_c(out, ",\"ts\":\"");
		rt_moment_format(out, node->ts);
		rt_buf_add_byte(out, '"');
	}
	rt_buf_add_byte(out, '}');
}

/* An entry with further fields. */
static void
add_rich_entry(writer *w, const rt_node *node)
{
	size_t first = w->member_count, i, max;
	yyjson_val *key, *value;
	rt_buf ts;
	rt_body body;
	rt_status st = rt_node_body(w->alloc, node, &w->scratch, &body, w->err);

	if (st != RT_OK) {
		if (w->status == RT_OK)
			w->status = st;
		return;
	}
	rt_buf_init(&ts, w->alloc, 64);
	if (node->has_ts)
		rt_moment_format(&ts, node->ts);
	if (ts.status != RT_OK)
		fail(w, ts.status);
	if (node->collapsed)
		push_kind(w, "collapsed", MEMBER_TRUE);
	push_kind(w, "content", MEMBER_CONTENT);
	if (node->id.size > 0)
		push_text(w, "id", node->id);
	if (node->kind.size > 0 && !rt_str_is(node->kind, "message"))
		push_text(w, "kind", node->kind);
	if (node->muted)
		push_kind(w, "muted", MEMBER_TRUE);
	if (node->read_mode)
		push_kind(w, "read_mode", MEMBER_TRUE);
	push_text(w, "role", node->role);
	if (node->has_ts)
		push_text(w, "ts", rt_buf_str(&ts));
	if (body.format == RT_BODY_PI) {
		push_kind(w, "pi", MEMBER_PI);
	} else {
		yyjson_obj_foreach(body.fields, i, max, key, value)
		{
			/* of a repeated key the last one counts */
			if (!rt_canonical_is_one_of(rt_json_str(key), rt_canonical_entry_names))
				push(w, rt_json_str(key), MEMBER_VALUE, rt_str_at(NULL, 0), value,
				     max - i);
		}
	}
	w->body = &body;
	members_write(w, first);
	w->body = NULL;
	rt_buf_deinit(&ts);
	rt_body_deinit(&body);
}

static void
add_entry(writer *w, int64_t index)
{
	written *where = &w->written[index];
	const rt_node *node = &w->outline->nodes[index];
	char *to;

	rt_json_add_comma(w->out);
	if (where->size > 0) { /* another take had it: the same bytes again */
		to = rt_buf_reserve(w->out, where->size);
		if (to == NULL)
			return;
		memcpy(to, w->out->ptr + where->at, where->size);
		w->out->size += where->size;
		return;
	}
	where->at = w->out->size;
	if (node->body_format == RT_BODY_TEXT || node->body_format == RT_BODY_PURGED)
		add_plain_entry(w->out, node);
	else
		add_rich_entry(w, node);
	where->size = w->out->size - where->at;
	where->number = w->written_count++;
}

/* Entries of a take from one that is written out already, as far as their numbers follow
 * each other; how many. */
static size_t
add_shared(writer *w, const rt_outline_take *take, size_t from)
{
	size_t first = w->written[take->nodes[from]].number, count = 1;

	while (from + count < take->node_count) {
		const written *next = &w->written[take->nodes[from + count]];

		if (next->size == 0 || next->number != first + count)
			break;
		count++;
	}
	rt_json_add_comma(w->out);
	rt_buf_add_f(w->out, "[%zu,%zu]", first, count);
	return count;
}

static void
add_takes(writer *w)
{
	size_t t, i;

	rt_buf_add_byte(w->out, '[');
	for (t = 0; t < w->take_count && w->status == RT_OK; t++) {
		const rt_outline_take *take = &w->takes[t];

		rt_buf_add_c(w->out, t > 0 ? ",{\"entries\":[" : "{\"entries\":[");
		for (i = 0; i < take->node_count && w->status == RT_OK;) {
			if (w->shares && w->written[take->nodes[i]].size > 0) {
				i += add_shared(w, take, i);
				continue;
			}
			add_entry(w, take->nodes[i]);
			i++;
		}
		rt_buf_add_byte(w->out, ']');
		if (take->git_commit.size > 0) {
			rt_json_add_key(w->out, "git_commit");
			rt_json_add_string(w->out, take->git_commit);
		}
		rt_json_add_key(w->out, "name");
		rt_json_add_string(w->out, take->name);
		rt_buf_add_byte(w->out, '}');
	}
	rt_buf_add_byte(w->out, ']');
}

static void
push_head(writer *w)
{
	const rt_outline *o = w->outline;
	int64_t head = o->head;

	if (!o->has_head) {
		const rt_outline_take *take = &w->takes[w->active_take];

		head = w->take_count > 0 && take->node_count > 0 ? take->nodes[take->node_count - 1]
								   : -1;
	}
	if (head < 0 || (size_t)head >= o->node_count)
		push_kind(w, "head", MEMBER_NULL);
	else if (o->nodes[head].id.size > 0)
		push_text(w, "head", o->nodes[head].id);
}

/* Is this field of a discussion written inside another member? */
static bool
is_inner_field(rt_str name)
{
	static const char *const names[] = {"prompt",	     "prompt_edited", "files",
					    "context_files", "screenshots",   NULL};

	return rt_canonical_is_one_of(name, names) || rt_str_starts(name, RT_STR("setting.")) ||
	       rt_str_starts(name, RT_STR("files.")) || rt_str_starts(name, RT_STR("prompt."));
}

/* Fields that say nothing when they are empty. */
static const char *const optional_names[] = {"id",	"git_commit", "track",
					     "presets", "link",	      NULL};

static void
add_discussion(writer *w, const rt_outline *o)
{
	size_t first = w->member_count, i;
	rt_status st;

	w->outline = o;
	w->written_count = 0;
	w->arena = rt_arena_new(w->alloc);
	w->written = rt_new0(w->alloc, (o->node_count + 1) * sizeof(*w->written));
	if (w->arena == NULL || w->written == NULL) {
		fail(w, RT_NOMEM);
		goto done;
	}
	st = rt_outline_takes_of(w->alloc, w->arena, o, &w->takes, &w->take_count,
				 &w->active_take, w->err);
	if (st != RT_OK) {
		fail(w, st);
		goto done;
	}
	if (w->take_count > 0)
		push_text(w, "active", w->takes[w->active_take].name);
	if (has_files(o))
		push_kind(w, "files", MEMBER_FILES);
	push_head(w);
	if (has_labels(w))
		push_kind(w, "labels", MEMBER_LABELS);
	push_text(w, "name", o->name);
	if (has_prompt(o))
		push_kind(w, "prompt", MEMBER_PROMPT);
	if (has_prefixed(o->fields, o->field_count, "setting."))
		push_kind(w, "settings", MEMBER_SETTINGS);
	push_kind(w, "takes", MEMBER_TAKES);
	for (i = 0; i < o->field_count; i++) {
		rt_str name = o->fields[i].name;

		if (is_inner_field(name) ||
		    (rt_canonical_is_one_of(name, optional_names) && is_empty_json(o->fields[i].json)))
			continue;
		push(w, name, MEMBER_JSON, o->fields[i].json, NULL, 1 + i);
	}
	members_write(w, first);
done:
	w->outline = NULL;
	rt_free(w->alloc, w->written);
	w->written = NULL;
	rt_arena_free(w->arena);
	w->arena = NULL;
}

static void
add_discussions(writer *w)
{
	size_t i;

	rt_buf_add_byte(w->out, '[');
	for (i = 0; i < w->in->count && w->status == RT_OK; i++) {
		rt_json_add_comma(w->out);
		add_discussion(w, &w->in->items[i]);
	}
	rt_buf_add_byte(w->out, ']');
}

static void
add_settings(writer *w)
{
	size_t first = w->member_count;

	if (w->outline != NULL)
		push_prefixed(w, w->outline->fields, w->outline->field_count, "setting.");
	else
		push_prefixed(w, w->in->fields, w->in->field_count, "setting.");
	members_write(w, first);
}

static void
add_member(writer *w, const member *m)
{
	if (m->kind == MEMBER_PI) { /* writes its key itself */
		rt_body_add_fields(w->out, w->alloc, w->body, true);
		return;
	}
	rt_json_add_key_str(w->out, m->key);
	switch (m->kind) {
	case MEMBER_JSON: add_json(w, m->key, m->text); break;
	case MEMBER_TEXT: rt_json_add_string(w->out, m->text); break;
	case MEMBER_VALUE: rt_json_add_sorted(w->out, w->alloc, m->value); break;
	case MEMBER_TRUE: rt_buf_add_c(w->out, "true"); break;
	case MEMBER_NULL: rt_buf_add_c(w->out, "null"); break;
	case MEMBER_CONTENT:
		if (w->body->content_json != NULL)
			rt_json_add_sorted(w->out, w->alloc, w->body->content_json);
		else
			rt_json_add_string(w->out, w->body->content);
		break;
	case MEMBER_PI: break;
	case MEMBER_DISCUSSIONS: add_discussions(w); break;
	case MEMBER_SETTINGS: add_settings(w); break;
	case MEMBER_FILES: add_files(w); break;
	case MEMBER_LABELS: add_labels(w); break;
	case MEMBER_PROMPT: add_prompt(w); break;
	case MEMBER_TAKES: add_takes(w); break;
	}
}

static int
member_order(const void *a, const void *b)
{
	const member *x = a, *y = b;
	int order = rt_str_cmp(x->key, y->key);

	return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

/* The members pushed since first as an object; they are popped. Members may push more
 * while they are written, so nothing here keeps a pointer into the stack. */
static void
members_write(writer *w, size_t first)
{
	size_t end = w->member_count, i, last = SIZE_MAX;

	if (w->status != RT_OK)
		return;
	if (end > first)
		qsort(w->members + first, end - first, sizeof(*w->members), member_order);
	rt_buf_add_byte(w->out, '{');
	for (i = first; i < end && w->status == RT_OK; i++) {
		member m = w->members[i];

		if (last != SIZE_MAX && rt_str_eq(w->members[last].key, m.key))
			continue;
		add_member(w, &m);
		last = i;
	}
	rt_buf_add_byte(w->out, '}');
	w->member_count = first;
}

static rt_status
write_all(const rt_alloc *alloc, const rt_outlines *in, bool shares, rt_buf *out, rt_error *err)
{
	writer w = {.alloc = alloc, .in = in, .out = out, .err = err, .shares = shares};
	rt_str roles = rt_outline_field_of(in->fields, in->field_count, "roles");
	size_t i;

	rt_buf_init(&w.scratch, alloc, RT_BUF_UNLIMITED);
	if (in->has_active && in->active < in->count)
		push_text(&w, "active", in->items[in->active].name);
	push_kind(&w, "discussions", MEMBER_DISCUSSIONS);
	if (roles.size > 0)
		push(&w, RT_STR("roles"), MEMBER_JSON, roles, NULL, 0);
	if (has_prefixed(in->fields, in->field_count, "setting."))
		push_kind(&w, "settings", MEMBER_SETTINGS);
	push_prefixed(&w, in->fields, in->field_count, "extra.");
	for (i = 0; i < in->field_count; i++)
		if (!rt_str_starts(in->fields[i].name, RT_STR("setting.")) &&
		    !rt_str_starts(in->fields[i].name, RT_STR("extra.")))
			push(&w, in->fields[i].name, MEMBER_JSON, in->fields[i].json, NULL, 1 + i);
	members_write(&w, 0);
	rt_buf_add_byte(out, '\n');
	rt_buf_deinit(&w.scratch);
	rt_free(alloc, w.members);
	if (w.status == RT_OK && out->status != RT_OK)
		return rt_fail(err, out->status, "the export does not fit in memory");
	return w.status;
}

rt_status
rt_canonical_write(const rt_alloc *alloc, const rt_outlines *in,
		   const rt_export_options *options, rt_buf *out, rt_error *err)
{
	(void)options; /* there is only one canonical form */
	return write_all(alloc, in, false, out, err);
}

rt_status
rt_canonical_write_shared(const rt_alloc *alloc, const rt_outlines *in, rt_buf *out,
			  rt_error *err)
{
	return write_all(alloc, in, true, out, err);
}
