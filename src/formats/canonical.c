/* SPDX-License-Identifier: MIT
 *
 * Canonical: the whole state as one JSON text (row C47 of the contract). Equal states,
 * equal bytes: the keys of every object sorted by their bytes, no spaces, what is empty
 * or default left out, one line end behind it.
 *
 *   {"active":NAME,"discussions":[DISCUSSION…],"roles":[…],"settings":{…}}
 *
 *   DISCUSSION   active       name of the active take
 *                files        {"context_files":[…],"files":[…],"screenshots":[…]}
 *                git_commit, id, link, presets, track
 *                head         id of the entry; null before the first
 *                labels       {ID:TEXT…}
 *                name
 *                prompt       {"edited":true,"text":…}
 *                settings     {NAME:VALUE…}
 *                takes        [{"entries":[ENTRY…],"git_commit":…,"name":…}…]
 *   ENTRY        collapsed, content, id, kind, muted, purged, read_mode, role, ts
 *
 * and, at the level of the project, of a discussion and of an entry, any further members.
 * content, id, role, head, name and takes are always written (id and head unless the
 * outline has no ids).
 *
 * An entry that several takes hold is written out in each of them. Reading joins equal
 * entries of equal id again; of different ones each take keeps its own (they are
 * revisions). */
#include <stdlib.h> /* qsort */

#include "base/hash.h"
#include "formats/formats.h"
#include "formats/formats_build.h"


static const char *const entry_names[] = {"id",	       "role",	    "kind",	 "ts", "muted",
					  "collapsed", "read_mode", "content", NULL};

static bool
is_one_of(rt_str name, const char *const *names)
{
	for (; *names != NULL; names++)
		if (rt_str_is(name, *names))
			return true;
	return false;
}

/* Writing */

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
} written;

typedef struct writer {
	const rt_alloc *alloc;
	const rt_outlines *in;
	rt_buf *out;
	rt_error *err;
	rt_status status;
	rt_buf scratch;  /* a body being taken apart */
	member *members; /* a stack: an object's members lie above those of its parent */
	size_t member_count, member_room;
	/* of the discussion being written */
	rt_arena *arena;
	const rt_outline *outline;
	const rt_outline_take *takes;
	size_t take_count, active_take;
	written *written;
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
		if (is_one_of(o->fields[i].name, names) && !is_empty_json(o->fields[i].json))
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
		if (is_one_of(o->fields[i].name, names) && !is_empty_json(o->fields[i].json))
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
			if (!is_one_of(rt_json_str(key), entry_names))
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
}

static void
add_takes(writer *w)
{
	size_t t, i;

	rt_buf_add_byte(w->out, '[');
	for (t = 0; t < w->take_count && w->status == RT_OK; t++) {
		const rt_outline_take *take = &w->takes[t];

		rt_buf_add_c(w->out, t > 0 ? ",{\"entries\":[" : "{\"entries\":[");
		for (i = 0; i < take->node_count && w->status == RT_OK; i++)
			add_entry(w, take->nodes[i]);
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

	return is_one_of(name, names) || rt_str_starts(name, RT_STR("setting.")) ||
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
		    (is_one_of(name, optional_names) && is_empty_json(o->fields[i].json)))
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
canonical_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
		rt_buf *out, rt_error *err)
{
	writer w = {.alloc = alloc, .in = in, .out = out, .err = err};
	rt_str roles = rt_outline_field_of(in->fields, in->field_count, "roles");
	size_t i;

	(void)options; /* there is only one canonical form */
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

/* Reading */

/* What is known of an entry id inside the discussion being read. */
typedef struct known_id {
	rt_str id;
	size_t seen_in;     /* number of the take that held it last, from 1 */
	int64_t last_node;  /* newest revision; the others by node_link.before */
} known_id;

typedef struct node_link {
	int64_t before; /* the previous node of the same id; -1: none */
	size_t known;   /* index of its known_id; SIZE_MAX: it has no id */
} node_link;

typedef struct reader {
	rt_build b;
	rt_str input;
	rt_lines lines;
	rt_report *report;
	/* of the discussion being read */
	rt_table ids;      /* hash of an id: known_id */
	rt_table contents; /* hash of id and content: node */
	known_id *known;
	size_t known_count, known_room;
	node_link *links; /* one for each node */
	size_t link_room;
	int64_t *path; /* of the take being read */
	size_t path_room;
	size_t take_number;
} reader;

static void
remark(reader *r, rt_remark_level level, rt_str where, const char *what)
{
	rt_report_add(r->report, level, rt_lines_of(&r->lines, where.ptr), "%s", what);
}

/* Make room for item number count of an array of the reader's. */
static bool
grow(reader *r, void **items, size_t *room, size_t count, size_t item_size)
{
	size_t wanted;
	void *more;

	if (count < *room)
		return true;
	wanted = *room == 0 ? 64 : *room * 2;
	more = wanted > SIZE_MAX / item_size ? NULL
					     : rt_resize(r->b.alloc, *items, wanted * item_size);
	if (more == NULL) {
		r->b.status = RT_NOMEM;
		return false;
	}
	*items = more;
	*room = wanted;
	return true;
}

static uint64_t
hash_str(rt_str s, uint64_t seed)
{
	return rt_hash(s.size == 0 ? "" : s.ptr, s.size, seed ^ s.size);
}

static size_t
find_id(const reader *r, rt_str id)
{
	size_t probe = 0, at;

	while (rt_table_next(&r->ids, hash_str(id, 0), &probe, &at))
		if (rt_str_eq(r->known[at].id, id))
			return at;
	return SIZE_MAX;
}

static size_t
add_id(reader *r, rt_str id)
{
	size_t at = r->known_count;
	void *items = r->known;

	if (!grow(r, &items, &r->known_room, at, sizeof(*r->known)))
		return SIZE_MAX;
	r->known = items;
	if (rt_table_add(&r->ids, hash_str(id, 0), at) != RT_OK) {
		r->b.status = RT_NOMEM;
		return SIZE_MAX;
	}
	r->known[at] = (known_id){id, 0, -1};
	r->known_count++;
	return at;
}

static uint64_t
hash_node(const rt_node *n, char format, rt_str body)
{
	uint64_t h = hash_str(n->id, 1);

	h = hash_str(n->role, h);
	h = hash_str(n->kind, h);
	h = hash_str(body, h + (unsigned char)format);
	return rt_hash_u64(h ^ (uint64_t)n->ts.us ^ ((uint64_t)n->ts.ns << 48));
}

static bool
same_node(const rt_node *a, const rt_node *b, char format, rt_str body)
{
	return rt_str_eq(a->id, b->id) && rt_str_eq(a->role, b->role) &&
	       rt_str_eq(a->kind, b->kind) && a->has_ts == b->has_ts &&
	       (!a->has_ts || (a->ts.us == b->ts.us && a->ts.ns == b->ts.ns)) &&
	       a->muted == b->muted && a->collapsed == b->collapsed &&
	       a->read_mode == b->read_mode && a->body_format == format &&
	       rt_str_eq(a->body, body);
}

/* The node for an entry: one that is there already, or a new one behind parent. */
static int64_t
place_node(reader *r, rt_node *node, int64_t parent, rt_str where)
{
	char format;
	rt_str body = rt_build_body(&r->b, &format);
	uint64_t hash = 0;
	size_t known = SIZE_MAX, probe = 0, at;
	void *items;

	if (node->body_format == RT_BODY_PURGED) {
		format = RT_BODY_PURGED;
		body = rt_str_at(NULL, 0);
	}
	if (node->id.size > 0) {
		known = find_id(r, node->id);
		if (known == SIZE_MAX)
			known = add_id(r, node->id);
		if (known == SIZE_MAX)
			return -1;
		if (r->known[known].seen_in == r->take_number) {
			remark(r, RT_REMARK_REPAIRED, where,
			       "an id stands twice in one take; the second entry gets a new one");
			node->id = rt_str_at(NULL, 0);
			known = SIZE_MAX;
		} else {
			r->known[known].seen_in = r->take_number;
		}
	}
	if (known != SIZE_MAX) {
		hash = hash_node(node, format, body);
		while (rt_table_next(&r->contents, hash, &probe, &at))
			if (same_node(&rt_build_nodes(&r->b)[at], node, format, body))
				return (int64_t)at;
	}
	node->parent = parent;
	node->id = rt_build_copy(&r->b, node->id);
	node->role = rt_build_copy(&r->b, node->role);
	node->kind = rt_build_copy(&r->b, node->kind);
	at = rt_build_node(&r->b, node);
	items = r->links;
	if (r->b.status != RT_OK || !grow(r, &items, &r->link_room, at, sizeof(*r->links)))
		return -1;
	r->links = items;
	r->links[at].known = known;
	r->links[at].before = -1;
	if (known != SIZE_MAX) {
		r->links[at].before = r->known[known].last_node;
		r->known[known].last_node = (int64_t)at;
		r->known[known].id = node->id; /* the copy that stays */
		if (rt_table_add(&r->contents, hash, at) != RT_OK)
			r->b.status = RT_NOMEM;
	}
	return (int64_t)at;
}

/* A flag; anything but true and false is remarked upon. */
static bool
flag(reader *r, rt_str where, yyjson_val *entry, const char *name)
{
	yyjson_val *value = rt_json_get(entry, name);

	if (value != NULL && !yyjson_is_bool(value))
		rt_report_add(r->report, RT_REMARK_REPAIRED, rt_lines_of(&r->lines, where.ptr),
			      "%s is neither true nor false; left out", name);
	return yyjson_is_true(value);
}

static rt_str
name_of(reader *r, rt_str where, yyjson_val *entry, const char *name)
{
	yyjson_val *value = rt_json_get(entry, name);

	if (value != NULL && !yyjson_is_str(value) && !rt_json_is_number(value))
		rt_report_add(r->report, RT_REMARK_REPAIRED, rt_lines_of(&r->lines, where.ptr),
			      "%s is not a text; left out", name);
	return rt_json_str(value);
}

static bool
is_purged(yyjson_val *entry)
{
	yyjson_val *content = rt_json_get(entry, "content"), *key, *value;
	size_t i, max, further = 0;

	yyjson_obj_foreach(entry, i, max, key, value)
	{
		further += !is_one_of(rt_json_str(key), entry_names);
	}
	return further == 1 && yyjson_is_true(rt_json_get(entry, "purged")) &&
	       (content == NULL || (yyjson_is_str(content) && yyjson_get_len(content) == 0));
}

/* The body of an entry, built; what cannot be taken as it is becomes a further field. */
static void
read_body(reader *r, rt_str raw, yyjson_val *entry, const rt_node *node, size_t repaired,
	  rt_buf *array)
{
	yyjson_val *content = rt_json_get(entry, "content"), *ts = rt_json_get(entry, "ts");
	yyjson_val *key, *value;
	size_t i, max;

	if (yyjson_is_arr(content)) {
		rt_json_add_value(array, content);
		rt_build_body_open(&r->b, rt_buf_str(array), true);
	} else {
		rt_build_body_open(&r->b,
				   yyjson_is_str(content) ? rt_json_str(content)
							  : rt_str_at(NULL, 0),
				   false);
	}
	yyjson_obj_foreach(entry, i, max, key, value)
	{
		if (!is_one_of(rt_json_str(key), entry_names))
			rt_json_add_value(rt_build_body_field(&r->b, rt_json_str(key)), value);
	}
	if (content != NULL && !yyjson_is_arr(content) && !yyjson_is_str(content)) {
		remark(r, RT_REMARK_REPAIRED, raw,
		       "content that is neither text nor a list is kept as content_raw");
		rt_json_add_value(rt_build_body_field(&r->b, RT_STR(RT_BUILD_BAD_CONTENT)),
				  content);
	}
	if (ts != NULL && !node->has_ts) {
		remark(r, RT_REMARK_REPAIRED, raw, "a time that is none is kept as ts_text");
		rt_json_add_value(rt_build_body_field(&r->b, RT_STR(RT_BUILD_BAD_TS)), ts);
	}
	if (repaired > 0) {
		remark(r, RT_REMARK_REPAIRED, raw, "text that is not Unicode got U+FFFD");
		rt_build_body_raw(&r->b, raw);
	}
	if (array->status != RT_OK)
		r->b.status = array->status;
}

static bool
read_entry(reader *r, rt_str raw, int64_t parent, int64_t *out_node)
{
	rt_json_doc *doc = NULL;
	yyjson_val *entry;
	rt_buf array;
	rt_node node;
	size_t repaired = 0;
	rt_error fault;
	rt_status st = rt_json_read_repairing(r->b.alloc, raw, &doc, &repaired, &fault);

	if (st == RT_NOMEM)
		r->b.status = st;
	if (st != RT_OK) {
		rt_report_add(r->report, RT_REMARK_SKIPPED, rt_lines_of(&r->lines, raw.ptr),
			      "an entry is passed over: %.150s", fault.text);
		return false;
	}
	entry = rt_json_root(doc);
	if (!yyjson_is_obj(entry)) {
		remark(r, RT_REMARK_SKIPPED, raw, "an entry that is not an object is passed over");
		rt_json_free(doc);
		return false;
	}
	memset(&node, 0, sizeof(node));
	node.id = name_of(r, raw, entry, "id");
	node.role = name_of(r, raw, entry, "role");
	node.kind = name_of(r, raw, entry, "kind");
	if (rt_str_is(node.kind, "message"))
		node.kind = rt_str_at(NULL, 0);
	node.muted = flag(r, raw, entry, "muted");
	node.collapsed = flag(r, raw, entry, "collapsed");
	node.read_mode = flag(r, raw, entry, "read_mode");
	node.has_ts = rt_build_moment(rt_json_get(entry, "ts"), &node.ts);
	if (is_purged(entry))
		node.body_format = RT_BODY_PURGED;
	rt_buf_init(&array, r->b.alloc, RT_BUF_UNLIMITED);
	read_body(r, raw, entry, &node, repaired, &array);
	*out_node = place_node(r, &node, parent, raw);
	rt_buf_deinit(&array);
	rt_json_free(doc);
	return r->b.status == RT_OK;
}

static void
read_take(reader *r, rt_str raw)
{
	rt_members m, entries;
	rt_str key, value, name = {NULL, 0}, commit = {NULL, 0}, list = {NULL, 0};
	int64_t parent = -1, node = -1;
	size_t count = 0;

	if (!rt_members_open(&m, raw) || m.close != '}') {
		remark(r, RT_REMARK_SKIPPED, raw, "a take that is not an object is passed over");
		return;
	}
	r->take_number++;
	while (rt_members_next(&m, &key, &value)) {
		if (rt_scan_key_is(key, "name"))
			(void)rt_build_text(&r->b, value, &name);
		else if (rt_scan_key_is(key, "git_commit"))
			(void)rt_build_text(&r->b, value, &commit);
		else if (rt_scan_key_is(key, "entries"))
			list = value;
		else
			remark(r, RT_REMARK_NOTE, key, "a take has a further field; it is not kept");
	}
	if (m.bad)
		remark(r, RT_REMARK_SKIPPED, rt_str_at(m.in.ptr + m.at, 0),
		       "a take is malformed; the rest of it is passed over");
	if (list.size > 0 && rt_members_open(&entries, list) && entries.close == ']') {
		while (r->b.status == RT_OK && rt_members_next(&entries, &key, &value)) {
			void *items = r->path;

			if (!read_entry(r, value, parent, &node))
				continue;
			if (!grow(r, &items, &r->path_room, count, sizeof(*r->path)))
				return;
			r->path = items;
			r->path[count++] = parent = node;
		}
		if (entries.bad)
			remark(r, RT_REMARK_SKIPPED, rt_str_at(entries.in.ptr + entries.at, 0),
			       "the entries of a take end early: malformed JSON");
	}
	rt_build_take(&r->b, name, commit, r->path, count);
}

static void
read_labels(reader *r, rt_str raw)
{
	rt_members m;
	rt_str key, value, id, label;

	if (!rt_members_open(&m, raw))
		return;
	while (rt_members_next(&m, &key, &value)) {
		size_t known;
		int64_t node;

		if (!rt_build_text(&r->b, key, &id) || !rt_build_text(&r->b, value, &label))
			continue;
		known = find_id(r, id);
		if (known == SIZE_MAX) {
			remark(r, RT_REMARK_NOTE, key, "a label names an entry that is not there");
			continue;
		}
		for (node = r->known[known].last_node; node >= 0; node = r->links[node].before)
			rt_build_nodes(&r->b)[node].label = label;
	}
}

/* A member that becomes a field, prefix and key before it. */
static void
read_field(reader *r, bool of_project, const char *prefix, rt_str key, rt_str value)
{
	rt_str name, json;

	if (rt_build_text(&r->b, key, &name) && rt_build_json(&r->b, value, true, &json))
		rt_build_field_in(&r->b, of_project, prefix, name, json);
	else if (r->b.status == RT_OK)
		remark(r, RT_REMARK_SKIPPED, value, "a field that is not JSON is passed over");
}

static bool
is_object(rt_str value)
{
	return value.size > 0 && value.ptr[0] == '{';
}

/* The members of an object as fields, each with prefix; names stands for fields that go
 * without it. */
static void
read_fields(reader *r, bool of_project, const char *prefix, const char *const *bare, rt_str raw)
{
	rt_members m;
	rt_str key, value;

	if (!rt_members_open(&m, raw))
		return;
	while (rt_members_next(&m, &key, &value)) {
		rt_str inner = rt_str_at(key.ptr + 1, key.size - 2);

		read_field(r, of_project, is_one_of(inner, bare) ? "" : prefix, key, value);
	}
	if (m.bad)
		remark(r, RT_REMARK_SKIPPED, rt_str_at(m.in.ptr + m.at, 0),
		       "an object is malformed; the rest of it is passed over");
}

static void
read_prompt(reader *r, rt_str raw)
{
	rt_members m;
	rt_str key, value;

	if (!rt_members_open(&m, raw))
		return;
	while (rt_members_next(&m, &key, &value)) {
		if (rt_scan_key_is(key, "text"))
			read_field(r, false, "", RT_STR("\"prompt\""), value);
		else if (rt_scan_key_is(key, "edited"))
			read_field(r, false, "", RT_STR("\"prompt_edited\""), value);
		else
			read_field(r, false, "prompt.", key, value);
	}
}

/* What must be looked at when everything else of a discussion has been seen. */
typedef struct late {
	rt_str active, head, labels;
	bool has_head;
} late;

static void
read_late(reader *r, const late *l, rt_outline *outline)
{
	const rt_outline_take *takes = r->b.takes.items, *take = NULL;
	rt_str active, head;
	size_t i, at;

	read_labels(r, l->labels);
	outline->has_head = true;
	if (r->b.takes.count == 0)
		return;
	if (rt_build_text(&r->b, l->active, &active))
		for (i = 0; i < r->b.takes.count; i++)
			if (rt_str_eq(takes[i].name, active)) {
				outline->active_take = i;
				break;
			}
	take = &takes[outline->active_take];
	outline->head = take->node_count > 0 ? take->nodes[take->node_count - 1] : -1;
	if (rt_str_is(l->head, "null"))
		outline->head = -1;
	else if (rt_build_text(&r->b, l->head, &head)) {
		for (at = 0; at < take->node_count; at++)
			if (rt_str_eq(rt_build_nodes(&r->b)[take->nodes[at]].id, head))
				break;
		if (at < take->node_count)
			outline->head = take->nodes[at];
		else
			remark(r, RT_REMARK_REPAIRED, l->head,
			       "the head is not in the active take; put at its tip");
	}
}

static void
read_discussion(reader *r, rt_str raw)
{
	static const char *const file_names[] = {"files", "context_files", "screenshots", NULL};
	static const char *const none[] = {NULL};
	rt_outline *outline;
	rt_members m, takes;
	rt_str key, value;
	late l;

	if (!rt_members_open(&m, raw) || m.close != '}') {
		remark(r, RT_REMARK_SKIPPED, raw,
		       "a discussion that is not an object is passed over");
		return;
	}
	memset(&l, 0, sizeof(l));
	rt_table_clear(&r->ids);
	rt_table_clear(&r->contents);
	r->known_count = r->take_number = 0;
	outline = rt_build_discussion(&r->b);
	if (outline == NULL)
		return;
	while (r->b.status == RT_OK && rt_members_next(&m, &key, &value)) {
		if (rt_scan_key_is(key, "name") && value.ptr[0] == '"') {
			(void)rt_build_text(&r->b, value, &outline->name);
		} else if (rt_scan_key_is(key, "active") && value.ptr[0] == '"') {
			l.active = value;
		} else if (rt_scan_key_is(key, "head") &&
			   (value.ptr[0] == '"' || rt_str_is(value, "null"))) {
			l.head = value;
		} else if (rt_scan_key_is(key, "labels") && is_object(value)) {
			l.labels = value;
		} else if (rt_scan_key_is(key, "prompt") && is_object(value)) {
			read_prompt(r, value);
		} else if (rt_scan_key_is(key, "settings") && is_object(value)) {
			read_fields(r, false, "setting.", none, value);
		} else if (rt_scan_key_is(key, "files") && is_object(value)) {
			read_fields(r, false, "files.", file_names, value);
		} else if (rt_scan_key_is(key, "takes") && value.ptr[0] == '[') {
			if (rt_members_open(&takes, value))
				while (r->b.status == RT_OK &&
				       rt_members_next(&takes, &key, &value))
					read_take(r, value);
			if (takes.bad)
				remark(r, RT_REMARK_SKIPPED,
				       rt_str_at(takes.in.ptr + takes.at, 0),
				       "the takes of a discussion end early: malformed JSON");
		} else {
			read_field(r, false, "", key, value);
		}
	}
	if (m.bad)
		remark(r, RT_REMARK_SKIPPED, rt_str_at(m.in.ptr + m.at, 0),
		       "a discussion is malformed; the rest of it is passed over");
	if (r->b.status == RT_OK)
		read_late(r, &l, outline);
}

static rt_status
read_project(reader *r, rt_str raw, rt_str *out_active, rt_error *err)
{
	static const char *const none[] = {NULL};
	rt_members m, discussions;
	rt_str key, value, list = {NULL, 0};
	rt_str active_raw = {NULL, 0};

	if (!rt_members_open(&m, raw) || m.close != '}')
		return rt_fail_at(err, RT_USAGE, (size_t)(raw.ptr - r->input.ptr),
				  "not a canonical export: it does not begin with {");
	while (r->b.status == RT_OK && rt_members_next(&m, &key, &value)) {
		if (rt_scan_key_is(key, "active") && value.ptr[0] == '"')
			active_raw = value;
		else if (rt_scan_key_is(key, "discussions") && value.ptr[0] == '[')
			list = value;
		else if (rt_scan_key_is(key, "settings") && is_object(value))
			read_fields(r, true, "setting.", none, value);
		else if (rt_scan_key_is(key, "roles"))
			read_field(r, true, "", key, value);
		else
			read_field(r, true, "extra.", key, value);
	}
	if (r->b.status != RT_OK)
		return rt_fail(err, r->b.status, "out of memory while importing");
	if (m.bad) {
		size_t at = (size_t)(m.in.ptr - r->input.ptr) + m.at;

		return rt_fail_at(err, RT_USAGE, at,
				  "not a canonical export: malformed JSON at byte %zu", at);
	}
	if (rt_scan_blank(m.in, m.at) != m.in.size) {
		size_t at = (size_t)(m.in.ptr - r->input.ptr) + rt_scan_blank(m.in, m.at);

		return rt_fail_at(err, RT_USAGE, at,
				  "not a canonical export: something follows it at byte %zu", at);
	}
	if (list.size == 0)
		return rt_fail_at(err, RT_USAGE, 0,
				  "not a canonical export: it has no list of discussions");
	if (rt_members_open(&discussions, list))
		while (r->b.status == RT_OK && rt_members_next(&discussions, &key, &value))
			read_discussion(r, value);
	if (discussions.bad)
		remark(r, RT_REMARK_SKIPPED, rt_str_at(discussions.in.ptr + discussions.at, 0),
		       "the discussions end early: malformed JSON");
	*out_active = rt_str_at(NULL, 0);
	if (active_raw.size > 0 && !rt_build_text(&r->b, active_raw, out_active))
		*out_active = rt_str_at(NULL, 0);
	return RT_OK;
}

static rt_status
canonical_read(const rt_alloc *alloc, rt_str input, rt_outlines *out, rt_report *report,
	       rt_error *err)
{
	reader r;
	rt_str active = {NULL, 0};
	rt_outlines done;
	rt_status st;
	size_t i;

	memset(&r, 0, sizeof(r));
	rt_build_init(&r.b, alloc, report);
	rt_table_init(&r.ids, alloc);
	rt_table_init(&r.contents, alloc);
	r.input = input;
	r.report = report;
	rt_lines_init(&r.lines, input);
	st = read_project(&r, rt_scan_unmark(input), &active, err);
	if (st == RT_OK)
		st = rt_build_finish(&r.b, &done, err);
	if (st == RT_OK) {
		for (i = 0; i < done.count && !done.has_active; i++)
			if (active.size > 0 && rt_str_eq(done.items[i].name, active)) {
				done.active = i;
				done.has_active = true;
			}
		*out = done;
	}
	rt_table_deinit(&r.ids);
	rt_table_deinit(&r.contents);
	rt_free(alloc, r.known);
	rt_free(alloc, r.links);
	rt_free(alloc, r.path);
	rt_build_deinit(&r.b);
	return st;
}

static int
canonical_sniff(rt_str head)
{
	rt_members m;
	rt_str key, value;

	if (!rt_members_open(&m, rt_scan_unmark(head)) || m.close != '}')
		return 0;
	while (rt_members_next(&m, &key, &value))
		if (rt_scan_key_is(key, "discussions") && value.ptr[0] == '[')
			return 95;
	/* the list is longer than the beginning that we were given */
	return rt_scan_key_is(key, "discussions") && m.at < m.in.size && m.in.ptr[m.at] == '['
		       ? 95
		       : 0;
}

const rt_format rt_format_canonical = {
	.name = "canonical",
	.extension = ".json",
	.about = "the whole state as JSON with sorted keys: equal states, equal bytes",
	.sniff = canonical_sniff,
	.read = canonical_read,
	.write = canonical_write,
};
