/* SPDX-License-Identifier: MIT
 *
 * From two lists to operations. Matching is done on pairs of indices; then the requests are
 * written in an order in which each finds what it names:
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

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

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
is_taken(rt_str key)
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
	yyjson_obj_foreach(n->value, i, max, key, value)
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

/* ---- writing requests ---- */

static void
begin(rt_replace_list *p, const char *op)
{
	rt_json_add_comma(p->out);
	rt_buf_add_c(p->out, "{\"op\":\"");
	rt_buf_add_c(p->out, op);
	rt_buf_add_byte(p->out, '"');
}

static void
add_str(rt_replace_list *p, const char *key, rt_str s)
{
	rt_json_add_key(p->out, key);
	rt_json_add_string(p->out, s);
}

static void
add_val(rt_replace_list *p, const char *key, yyjson_val *v)
{
	if (v == NULL || yyjson_is_null(v))
		return;
	rt_json_add_key(p->out, key);
	rt_json_add_value(p->out, v);
}

static void
end(rt_replace_list *p)
{
	rt_buf_add_byte(p->out, '}');
}

/* Further fields of a new entry, or those that one is to have beside what it has. */
static rt_status
add_fields(rt_replace_list *p, size_t at, yyjson_val *value)
{
	yyjson_val *key, *field;
	size_t i, max;

	yyjson_obj_foreach(value, i, max, key, field)
	{
		if (is_own(rt_json_str(key)))
			continue;
		if (is_taken(rt_json_str(key)))
			return rt_fail(p->err, RT_USAGE,
				       "entry %zu: a field of an entry cannot be called \"%s\"",
				       at + 1, yyjson_get_str(key));
		rt_json_add_key_str(p->out, rt_json_str(key));
		rt_json_add_value(p->out, field);
	}
	return RT_OK;
}

/* The whole entry into the one that there is: content, and fields on top of its own.
 * is_edited: it is another content. */
static rt_status
write_into(rt_replace_list *p, const rt_replace_list_old *o, size_t at, bool is_edited)
{
	const rt_replace_list_new *n = &p->news[at];
	yyjson_val *key, *value, *was;
	size_t i, max;

	begin(p, "entry.reply");
	add_str(p, "into", o->id);
	add_val(p, "content", n->content != NULL ? n->content : o->content);
	if (is_edited) {
		rt_json_add_key(p->out, "by_hand");
		rt_buf_add_c(p->out, "true");
	}
	yyjson_obj_foreach(n->value, i, max, key, value)
	{
		was = member(o->value, key);
		if (is_own(rt_json_str(key)) || (was == NULL && yyjson_is_null(value)) ||
		    rt_str_is(rt_json_str(key), "pi"))
			continue;
		/* those are as they were; to say them would be to add them */
		if (was != NULL && rt_str_is(rt_json_str(key), "thinking_segments"))
			continue;
		if (is_taken(rt_json_str(key)))
			return rt_fail(p->err, RT_USAGE,
				       "entry %zu: a field of an entry cannot be called \"%s\"",
				       at + 1, yyjson_get_str(key));
		rt_json_add_key_str(p->out, rt_json_str(key));
		rt_json_add_value(p->out, value);
	}
	yyjson_obj_foreach(o->value, i, max, key, value)
	{
		if (!is_of_end(rt_json_str(key)) || member(n->value, key) != NULL)
			continue;
		rt_json_add_key_str(p->out, rt_json_str(key));
		rt_json_add_value(p->out, value);
	}
	end(p);
	return RT_OK;
}

/* What is said differently of an entry that stays. */
static rt_status
write_edit(rt_replace_list *p, size_t at, change fields)
{
	const rt_replace_list_new *n = &p->news[at];
	const rt_replace_list_old *o = &p->olds[n->from];
	yyjson_val *label = rt_json_get(n->value, "label");
	yyjson_val *muted = rt_json_get(n->value, "muted");
	rt_str old_label = rt_json_str(rt_json_get(o->value, "label"));
	bool was_muted = yyjson_is_true(rt_json_get(o->value, "muted")), is_edited = false;
	rt_status st = RT_OK;

	is_edited = n->content != NULL && !rt_replace_list_same(p, o->content, n->content, &st);
	if (st != RT_OK)
		return st;
	if (fields == FIELDS) {
		st = write_into(p, o, at, is_edited);
		is_edited = true;
	} else if (is_edited) {
		begin(p, "entry.edit");
		add_str(p, "entry", o->id);
		add_val(p, "content", n->content);
		end(p);
	}
	if (n->role.ptr != NULL && !rt_str_eq(o->role, n->role)) {
		begin(p, "entry.role");
		add_str(p, "entry", o->id);
		add_str(p, "role", n->role);
		end(p);
		is_edited = true;
	}
	if (yyjson_is_bool(muted) && yyjson_get_bool(muted) != was_muted) {
		begin(p, "entry.mute");
		add_str(p, "entry", o->id);
		add_val(p, "muted", muted);
		end(p);
		is_edited = true;
	}
	if (label != NULL && !rt_str_eq(rt_json_str(label), old_label)) {
		begin(p, "label.set");
		add_str(p, "entry", o->id);
		add_str(p, "label", rt_json_str(label));
		end(p);
		is_edited = true;
	}
	p->counts.edited += is_edited;
	return st;
}

static bool
is_told_otherwise(const rt_replace_list_old *o, const rt_replace_list_new *n, const char *key)
{
	yyjson_val *v = rt_json_get(n->value, key);

	return yyjson_is_bool(v) &&
	       yyjson_get_bool(v) != yyjson_is_true(rt_json_get(o->value, key));
}

static void
write_view(rt_replace_list *p, size_t at)
{
	const rt_replace_list_new *n = &p->news[at];
	const rt_replace_list_old *o = &p->olds[n->from];
	bool collapsed = is_told_otherwise(o, n, "collapsed");
	bool read_mode = is_told_otherwise(o, n, "read_mode");

	if (!collapsed && !read_mode)
		return;
	begin(p, "entry.view");
	add_str(p, "entry", o->id);
	if (collapsed)
		add_val(p, "collapsed", rt_json_get(n->value, "collapsed"));
	if (read_mode)
		add_val(p, "read_mode", rt_json_get(n->value, "read_mode"));
	end(p);
	p->counts.shown++;
}

/* Pairs: edits; and no pairs any more where another entry has to stand there. */
static rt_status
write_edits(rt_replace_list *p)
{
	rt_status st = RT_OK;
	size_t i;

	for (i = 0; st == RT_OK && i < p->new_count; i++) {
		rt_replace_list_new *n = &p->news[i];
		change fields;

		if (n->from == RT_REPLACE_LIST_NONE)
			continue;
		fields = change_of(p, &p->olds[n->from], n, &st);
		if (st == RT_OK && fields == OTHER) {
			p->olds[n->from].to = RT_REPLACE_LIST_NONE;
			n->from = RT_REPLACE_LIST_NONE;
		} else if (st == RT_OK) {
			st = write_edit(p, i, fields);
			write_view(p, i);
		}
	}
	return st;
}

static void
write_deletes(rt_replace_list *p)
{
	size_t from = 0, to;

	for (; from < p->old_count; from = to + 1) {
		to = from;
		if (p->olds[from].to != RT_REPLACE_LIST_NONE)
			continue;
		while (to + 1 < p->old_count && p->olds[to + 1].to == RT_REPLACE_LIST_NONE)
			to++;
		begin(p, "entry.delete");
		if (to == from) {
			add_str(p, "entry", p->olds[from].id);
		} else {
			add_str(p, "from", p->olds[from].id);
			add_str(p, "to", p->olds[to].id);
		}
		end(p);
		p->counts.deleted += to - from + 1;
	}
}

/* ---- places ---- */

/* Mark the longest run of old indices that rises. */
static rt_status
fix_places(rt_replace_list *p)
{
	/* ends[k]: of all rising runs of k + 1 so far, the last item of the one that ends
	 * lowest; before[i]: the item in front of i in its run */
	size_t *ends = rt_new_array(p->alloc, p->new_count + 1, sizeof(*ends));
	size_t *before = rt_new_array(p->alloc, p->new_count + 1, sizeof(*before));
	size_t length = 0, i;
	rt_status st = ends != NULL && before != NULL ? RT_OK : nomem(p->err);

	for (i = 0; st == RT_OK && i < p->new_count; i++) {
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
	if (st == RT_OK && length > 0)
		for (i = ends[length - 1]; i != RT_REPLACE_LIST_NONE; i = before[i])
			p->news[i].is_fixed = true;
	rt_free(p->alloc, ends);
	rt_free(p->alloc, before);
	return st;
}

/* A new entry; anchor: what it goes in front of; NULL: to the end; is_first: of an empty
 * take. */
static rt_status
write_new(rt_replace_list *p, size_t at, const rt_replace_list_old *anchor, bool is_first)
{
	const rt_replace_list_new *n = &p->news[at];

	begin(p, is_first ? "entry.append" : "entry.insert");
	if (anchor != NULL)
		add_str(p, "before", anchor->id);
	else if (!is_first)
		add_str(p, "after", RT_STR(":-1"));
	if (n->id.size > 0 && (p->is_used == NULL || !p->is_used(p->ctx, n->id)))
		add_str(p, "id", n->id);
	if (n->role.ptr != NULL)
		add_str(p, "role", n->role);
	add_val(p, "kind", rt_json_get(n->value, "kind"));
	if (n->content != NULL)
		add_val(p, "content", n->content);
	else
		add_str(p, "content", RT_STR(""));
	add_val(p, "ts", rt_json_get(n->value, "ts"));
	add_val(p, "muted", rt_json_get(n->value, "muted"));
	add_val(p, "collapsed", rt_json_get(n->value, "collapsed"));
	add_val(p, "read_mode", rt_json_get(n->value, "read_mode"));
	p->counts.added++;
	if (add_fields(p, at, n->value) != RT_OK)
		return RT_USAGE;
	end(p);
	return RT_OK;
}

static rt_status
write_places(rt_replace_list *p)
{
	size_t next = 0, kept = 0, i;
	rt_status st = fix_places(p);

	for (i = 0; i < p->new_count; i++)
		kept += p->news[i].from != RT_REPLACE_LIST_NONE;
	for (i = 0; st == RT_OK && i < p->new_count; i++) {
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
			st = write_new(p, i, anchor, kept == 0 && i == 0);
			continue;
		}
		begin(p, "entry.move");
		add_str(p, "entry", p->olds[n->from].id);
		add_str(p, anchor != NULL ? "before" : "after",
			anchor != NULL ? anchor->id : RT_STR(":-1"));
		end(p);
		p->counts.moved++;
	}
	return st;
}

static void
write_labels(rt_replace_list *p)
{
	size_t i;

	for (i = 0; i < p->new_count; i++) {
		yyjson_val *label = rt_json_get(p->news[i].value, "label");

		if (p->news[i].from != RT_REPLACE_LIST_NONE || !yyjson_is_str(label) ||
		    yyjson_get_len(label) == 0)
			continue;
		begin(p, "label.set");
		rt_json_add_key(p->out, "entry");
		rt_buf_add_f(p->out, "\":%zu\"", i + 1);
		add_str(p, "label", rt_json_str(label));
		end(p);
	}
}

rt_status
rt_replace_list_plan(const rt_alloc *alloc, yyjson_val *current, yyjson_val *wanted,
		     rt_id_used_fn is_used, void *ctx, rt_buf *out,
		     rt_replace_list_counts *out_counts, rt_error *err)
{
	rt_replace_list p = {
		.alloc = alloc, .is_used = is_used, .ctx = ctx, .out = out, .err = err};
	size_t size = out->size;
	rt_status st = rt_replace_list_read(&p, current, wanted);

	if (st == RT_OK)
		st = rt_replace_list_match(&p);
	if (st == RT_OK) {
		rt_buf_add_byte(out, '[');
		st = write_edits(&p);
	}
	if (st == RT_OK) {
		write_deletes(&p);
		st = write_places(&p);
	}
	if (st == RT_OK) {
		write_labels(&p);
		rt_buf_add_byte(out, ']');
		st = out->status == RT_OK ? RT_OK : nomem(err);
	}
	if (st == RT_OK && out_counts != NULL)
		*out_counts = p.counts;
	if (st != RT_OK && out->size > size)
		out->size = size;
	rt_free(alloc, p.olds);
	rt_free(alloc, p.news);
	return st;
}
