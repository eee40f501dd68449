/* SPDX-License-Identifier: MIT
 *
 * From two lists to operations. Matching is done on pairs of indices; then the requests are
 * made in an order in which each finds what it names:
 *
 *   edits     by id, while everything is still there
 *   deletes   runs of what is not wanted, in the old order
 *   places    from left to right: what is new, and what moves, goes in front of the next
 *             entry that stays where it is; behind the last of those, to the end (":-1").
 *             What has not moved yet does no harm there, since it is going to.
 *   labels    of new entries, whose ids nobody knows yet, by position
 *
 * Which ones stay where they are is the longest run of old indices that rises in the new
 * order. */
#include "server/replace_list_impl.h"

#include <stdio.h>

/* ---- what an entry says beside role, content and time ---- */

/* Not fields of the entry, but of its slot, or of how it is shown. */
static bool
is_own(rt_str key)
{
	static const char *const names[] = {"id",    "role",   "kind",      "content",
					    "ts",    "muted",  "collapsed", "read_mode",
					    "label", "purged", "lost",      "edited"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (rt_str_is(key, names[i]))
			return true;
	return false;
}

/* Words of requests, which no field of an entry can be called in one. */
static bool
is_reserved(rt_str key)
{
	static const char *const names[] = {"op",   "discussion", "take", "before", "after",
					    "into", "join",       "fork", "flight", "prompt",
					    "by_hand"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (rt_str_is(key, names[i]))
			return true;
	return false;
}

/* How a reply ended: an operation that continues it drops these. */
static bool
is_of_end(rt_str key)
{
	return rt_str_is(key, "partial") || rt_str_is(key, "stop_reason") ||
	       rt_str_is(key, "error");
}

static yyjson_val *
member(yyjson_val *object, yyjson_val *key)
{
	return yyjson_obj_getn(object, yyjson_get_str(key), yyjson_get_len(key));
}

static rt_str
kind_of(yyjson_val *value)
{
	rt_str kind = rt_json_str(rt_json_get(value, "kind"));

	return kind.size > 0 ? kind : RT_STR("message");
}

typedef enum change {
	SAME,
	FIELDS, /* can be written into it */
	OTHER   /* cannot: another entry stands for it */
} change;

/* Further fields, kind and time, of a pair. */
static change
change_of(rt_replace_list *p, const rt_replace_list_old *o, const rt_replace_list_new *n,
	  rt_status *status)
{
	yyjson_val *key, *value, *kind = rt_json_get(n->value, "kind");
	size_t i, max;
	change found = SAME;

	if (n->has_ts && !rt_replace_list_same_ts(o, n))
		return OTHER;
	if (kind != NULL && !yyjson_is_null(kind) &&
	    !rt_str_eq(kind_of(o->value), kind_of(n->value)))
		return OTHER;
	rt_json_foreach(n->value, i, max, key, value)
	{
		yyjson_val *was = member(o->value, key);

		if (is_own(rt_json_str(key)) || (was == NULL && yyjson_is_null(value)) ||
		    (was != NULL && rt_replace_list_same(p, was, value, status)))
			continue;
		found = FIELDS;
		if (was != NULL && rt_str_is(rt_json_str(key), "thinking_segments"))
			return OTHER; /* what continues an entry adds to its thoughts */
	}
	return found;
}

/* ---- requests ---- */

static void
add(rt_replace_list *p, const rt_request *request)
{
	rt_buf_add(p->requests, request, sizeof(*request));
}

/* The entry.reply, entry.append or entry.insert that an object is. */
static void
add_entry(rt_replace_list *p, rt_buf *object)
{
	yyjson_val *value = rt_json_parse(p->scope, rt_scope_str(p->scope, object));
	const rt_request *request = value != NULL ? rt_requests_read(p->scope, &value, 1) : NULL;

	if (request != NULL)
		add(p, request);
}

static void
put_given(rt_buf *out, const char *key, yyjson_val *value)
{
	if (value != NULL && !yyjson_is_null(value))
		rt_json_put_value(out, key, value);
}

/* A further field of entry number `at`. */
static void
put_field(rt_replace_list *p, rt_buf *out, size_t at, yyjson_val *key, yyjson_val *value)
{
	if (is_reserved(rt_json_str(key)))
		rt_scope_fail(p->scope, RT_USAGE,
			      "entry %zu: a field of an entry cannot be called \"%s\"", at + 1,
			      yyjson_get_str(key));
	rt_json_add_key_str(out, rt_json_str(key));
	rt_json_add_value(out, value);
}

/* Writes the whole entry into the existing one: content, and fields on top of its own.
 * is_edited: the content differs. */
static void
add_reply(rt_replace_list *p, const rt_replace_list_old *o, size_t at, bool is_edited)
{
	const rt_replace_list_new *n = &p->news[at];
	rt_buf *out = rt_scope_buf(p->scope);
	yyjson_val *key, *value, *was;
	size_t i, max;

	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "op", rt_ops[RT_OP_ENTRY_REPLY].name);
	rt_json_put_str(out, "into", o->id);
	put_given(out, "content", n->content != NULL ? n->content : o->content);
	if (is_edited)
		rt_json_put_bool(out, "by_hand", true);
	rt_json_foreach(n->value, i, max, key, value)
	{
		was = member(o->value, key);
		if (is_own(rt_json_str(key)) || (was == NULL && yyjson_is_null(value)) ||
		    rt_str_is(rt_json_str(key), "pi"))
			continue;
		/* unchanged (see change_of); repeating it would add it again */
		if (was != NULL && rt_str_is(rt_json_str(key), "thinking_segments"))
			continue;
		put_field(p, out, at, key, value);
	}
	rt_json_foreach(o->value, i, max, key, value)
	{
		if (!is_of_end(rt_json_str(key)) || member(n->value, key) != NULL)
			continue;
		rt_json_add_key_str(out, rt_json_str(key));
		rt_json_add_value(out, value);
	}
	rt_json_close(out, '}');
	add_entry(p, out);
}

static rt_str
present(rt_str s)
{
	return s.ptr != NULL ? s : RT_STR("");
}

/* What differs in an entry that stays. */
static void
add_edits(rt_replace_list *p, size_t at, change fields)
{
	const rt_replace_list_new *n = &p->news[at];
	const rt_replace_list_old *o = &p->olds[n->from];
	yyjson_val *label = rt_json_get(n->value, "label");
	yyjson_val *muted = rt_json_get(n->value, "muted");
	rt_str old_label = rt_json_str(rt_json_get(o->value, "label"));
	bool was_muted = yyjson_is_true(rt_json_get(o->value, "muted")), is_edited = false;
	rt_status st = RT_OK;

	is_edited = n->content != NULL && !rt_replace_list_same(p, o->content, n->content, &st);
	if (rt_scope_note(p->scope, st) != RT_OK)
		return;
	if (fields == FIELDS) {
		add_reply(p, o, at, is_edited);
		is_edited = true;
	} else if (is_edited) {
		rt_request edit = {.op = RT_OP_ENTRY_EDIT, .entry = o->id};

		rt_request_set(p->scope, &edit, "content", n->content);
		add(p, &edit);
	}
	if (n->role.ptr != NULL && !rt_str_eq(o->role, n->role)) {
		add(p, &(rt_request){.op = RT_OP_ENTRY_ROLE, .entry = o->id, .role = n->role});
		is_edited = true;
	}
	if (yyjson_is_bool(muted) && yyjson_get_bool(muted) != was_muted) {
		add(p, &(rt_request){.op = RT_OP_ENTRY_MUTE,
				     .entry = o->id,
				     .muted = was_muted ? RT_NO : RT_YES});
		is_edited = true;
	}
	if (label != NULL && !rt_str_eq(rt_json_str(label), old_label)) {
		add(p, &(rt_request){.op = RT_OP_LABEL_SET,
				     .entry = o->id,
				     .label = present(rt_json_str(label))});
		is_edited = true;
	}
	p->counts.edited += is_edited;
}

/* The value of a flag where it differs from what the entry has. */
static rt_tristate
changed_flag(const rt_replace_list_old *o, const rt_replace_list_new *n, const char *key)
{
	yyjson_val *v = rt_json_get(n->value, key);

	if (!yyjson_is_bool(v) ||
	    yyjson_get_bool(v) == yyjson_is_true(rt_json_get(o->value, key)))
		return RT_UNSET;
	return yyjson_get_bool(v) ? RT_YES : RT_NO;
}

static void
add_view(rt_replace_list *p, size_t at)
{
	const rt_replace_list_new *n = &p->news[at];
	const rt_replace_list_old *o = &p->olds[n->from];
	rt_request view = {.op = RT_OP_ENTRY_VIEW,
			   .entry = o->id,
			   .collapsed = changed_flag(o, n, "collapsed"),
			   .read_mode = changed_flag(o, n, "read_mode")};

	if (view.collapsed == RT_UNSET && view.read_mode == RT_UNSET)
		return;
	add(p, &view);
	p->counts.shown++;
}

/* Edits of pairs. A pair that cannot be edited is a pair no more: the old entry goes and another
 * comes. */
static void
add_pairs(rt_replace_list *p)
{
	for (size_t i = 0; rt_ok(p->scope) && i < p->new_count; i++) {
		rt_replace_list_new *n = &p->news[i];
		rt_status st = RT_OK;
		change fields;

		if (n->from == RT_REPLACE_LIST_NONE)
			continue;
		fields = change_of(p, &p->olds[n->from], n, &st);
		if (rt_scope_note(p->scope, st) == RT_OK && fields == OTHER) {
			p->olds[n->from].to = RT_REPLACE_LIST_NONE;
			n->from = RT_REPLACE_LIST_NONE;
		} else if (st == RT_OK) {
			add_edits(p, i, fields);
			add_view(p, i);
		}
	}
}

static void
add_deletes(rt_replace_list *p)
{
	for (size_t from = 0, to; from < p->old_count; from = to + 1) {
		rt_request delete = {.op = RT_OP_ENTRY_DELETE};

		to = from;
		if (p->olds[from].to != RT_REPLACE_LIST_NONE)
			continue;
		while (to + 1 < p->old_count && p->olds[to + 1].to == RT_REPLACE_LIST_NONE)
			to++;
		if (to == from) {
			delete.entry = p->olds[from].id;
		} else {
			delete.from = p->olds[from].id;
			delete.to = p->olds[to].id;
		}
		add(p, &delete);
		p->counts.deleted += to - from + 1;
	}
}

/* ---- places ---- */

/* Mark the longest run of old indices that rises. */
static void
fix_places(rt_replace_list *p)
{
	/* ends[k]: of all rising runs of k + 1 so far, the last item of the one that ends
	 * lowest; before[i]: the item in front of i in its run */
	size_t *ends = rt_scope_array(p->scope, p->new_count + 1, sizeof(*ends));
	size_t *before = rt_scope_array(p->scope, p->new_count + 1, sizeof(*before));
	size_t length = 0, i;

	if (!rt_ok(p->scope))
		return;
	for (i = 0; i < p->new_count; i++) {
		size_t low = 0, high = length;

		if (p->news[i].from == RT_REPLACE_LIST_NONE)
			continue;
		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (p->news[ends[middle]].from < p->news[i].from)
				low = middle + 1;
			else
				high = middle;
		}
		before[i] = low > 0 ? ends[low - 1] : RT_REPLACE_LIST_NONE;
		ends[low] = i;
		if (low == length)
			length++;
	}
	for (i = length > 0 ? ends[length - 1] : RT_REPLACE_LIST_NONE; i != RT_REPLACE_LIST_NONE;
	     i = before[i])
		p->news[i].is_fixed = true;
}

/* A new entry. anchor: the entry that it goes in front of; NULL: to the end. is_first: the take
 * is empty. */
static void
add_new(rt_replace_list *p, size_t at, const rt_replace_list_old *anchor, bool is_first)
{
	static const char *const optional[] = {"ts", "muted", "collapsed", "read_mode"};
	const rt_replace_list_new *n = &p->news[at];
	rt_buf *out = rt_scope_buf(p->scope);
	yyjson_val *key, *value;
	size_t i, max;

	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "op", rt_ops[is_first ? RT_OP_ENTRY_APPEND : RT_OP_ENTRY_INSERT].name);
	if (anchor != NULL)
		rt_json_put_str(out, "before", anchor->id);
	else if (!is_first)
		rt_json_put_c(out, "after", ":-1");
	if (n->id.size > 0 && (p->is_used == NULL || !p->is_used(p->ctx, n->id)))
		rt_json_put_str(out, "id", n->id);
	if (n->role.ptr != NULL)
		rt_json_put_str(out, "role", n->role);
	put_given(out, "kind", rt_json_get(n->value, "kind"));
	if (n->content != NULL)
		rt_json_put_value(out, "content", n->content);
	else
		rt_json_put_c(out, "content", "");
	for (i = 0; i < sizeof(optional) / sizeof(optional[0]); i++)
		put_given(out, optional[i], rt_json_get(n->value, optional[i]));
	rt_json_foreach(n->value, i, max, key, value)
		if (!is_own(rt_json_str(key)))
			put_field(p, out, at, key, value);
	rt_json_close(out, '}');
	add_entry(p, out);
	p->counts.added++;
}

static void
add_places(rt_replace_list *p)
{
	size_t next = 0, kept = 0, i;

	fix_places(p);
	for (i = 0; i < p->new_count; i++)
		kept += p->news[i].from != RT_REPLACE_LIST_NONE;
	for (i = 0; rt_ok(p->scope) && i < p->new_count; i++) {
		const rt_replace_list_new *n = &p->news[i];
		const rt_replace_list_old *anchor;

		if (next < i)
			next = i;
		while (next < p->new_count && !p->news[next].is_fixed)
			next++;
		if (n->is_fixed)
			continue;
		anchor = next < p->new_count ? &p->olds[p->news[next].from] : NULL;
		if (n->from == RT_REPLACE_LIST_NONE) {
			add_new(p, i, anchor, kept == 0 && i == 0);
			continue;
		}
		rt_request move = {.op = RT_OP_ENTRY_MOVE, .entry = p->olds[n->from].id};
		if (anchor != NULL)
			move.before = anchor->id;
		else
			move.after = RT_STR(":-1");
		add(p, &move);
		p->counts.moved++;
	}
}

static void
add_labels(rt_replace_list *p)
{
	for (size_t i = 0; i < p->new_count; i++) {
		yyjson_val *label = rt_json_get(p->news[i].value, "label");
		char position[24];

		if (p->news[i].from != RT_REPLACE_LIST_NONE || !yyjson_is_str(label) ||
		    yyjson_get_len(label) == 0)
			continue;
		(void)snprintf(position, sizeof(position), ":%zu", i + 1);
		add(p, &(rt_request){.op = RT_OP_LABEL_SET,
				     .entry = rt_scope_copy(p->scope, rt_str_of(position)),
				     .label = rt_json_str(label)});
	}
}

rt_replace_plan
rt_replace_list_plan(rt_scope *scope, yyjson_val *current, yyjson_val *wanted,
		     rt_id_used_fn is_used, void *ctx)
{
	rt_replace_list p = {.scope = scope,
			     .requests = rt_scope_buf(scope),
			     .is_used = is_used,
			     .ctx = ctx};

	RT_TRY(scope, rt_replace_list_read(&p, current, wanted));
	RT_TRY(scope, rt_replace_list_match(&p));
	if (rt_ok(scope)) {
		add_pairs(&p);
		add_deletes(&p);
		add_places(&p);
		add_labels(&p);
	}
	rt_str made = rt_scope_str(scope, p.requests);
	if (!rt_ok(scope))
		return (rt_replace_plan){0};
	return (rt_replace_plan){.requests = (const void *)made.ptr,
				 .count = made.size / sizeof(rt_request),
				 .counts = p.counts};
}
