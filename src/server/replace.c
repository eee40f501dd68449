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
#include "server/replace.h"

#include <stdlib.h> /* qsort */

#include "base/hash.h"
#include "base/moment.h"

#define NONE SIZE_MAX

typedef struct old_entry {
	yyjson_val *value;
	rt_str id, role;
	yyjson_val *content;
	rt_moment ts;
	bool has_ts;
	size_t to; /* the wanted one; NONE: it goes */
} old_entry;

typedef struct new_entry {
	yyjson_val *value;
	rt_str id, role; /* ptr NULL: not given */
	yyjson_val *content; /* NULL: not given */
	rt_moment ts;
	bool has_ts;
	bool is_fixed; /* stays where it is */
	size_t from;   /* the old one; NONE: it is new */
} new_entry;

typedef struct plan {
	const rt_alloc *alloc;
	old_entry *olds;
	new_entry *news;
	size_t old_count, new_count;
	rt_id_used_fn is_used;
	void *ctx;
	rt_buf *out;
	rt_replace_counts counts;
	rt_error *err;
} plan;

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

/* ---- reading the lists ---- */

static rt_status
read_ts(plan *p, size_t at, yyjson_val *ts, rt_moment *out, bool *out_has)
{
	*out_has = ts != NULL && !yyjson_is_null(ts);
	if (!*out_has)
		return RT_OK;
	if (yyjson_is_str(ts) ? rt_moment_parse(rt_json_str(ts), out)
			      : rt_json_is_number(ts) &&
					rt_moment_parse_number(rt_json_str(ts), out))
		return RT_OK;
	return rt_fail(p->err, RT_USAGE,
		       "entry %zu: \"ts\" is an ISO 8601 time such as 2026-11-21T20:35:40Z, or an "
		       "epoch number",
		       at + 1);
}

static rt_status
read_olds(plan *p, yyjson_val *current)
{
	yyjson_val *value;
	size_t i, max;
	rt_status st = RT_OK;

	p->olds = rt_new_array(p->alloc, yyjson_arr_size(current) + 1, sizeof(*p->olds));
	if (p->olds == NULL)
		return nomem(p->err);
	yyjson_arr_foreach(current, i, max, value)
	{
		old_entry *o = &p->olds[i];

		memset(o, 0, sizeof(*o));
		o->value = value;
		o->id = rt_json_str(rt_json_get(value, "id"));
		o->role = rt_json_str(rt_json_get(value, "role"));
		o->content = rt_json_get(value, "content");
		o->to = NONE;
		st = read_ts(p, i, rt_json_get(value, "ts"), &o->ts, &o->has_ts);
		if (st != RT_OK)
			return st;
		p->old_count++;
	}
	return RT_OK;
}

/* A member that has to be of a type, where it is given; null is as good as not given. */
static rt_status
read_member(plan *p, size_t at, yyjson_val *value, const char *key, bool (*is)(yyjson_val *),
	    const char *what, yyjson_val **out)
{
	*out = rt_json_get(value, key);
	if (*out != NULL && yyjson_is_null(*out))
		*out = NULL;
	return *out == NULL || is(*out)
		       ? RT_OK
		       : rt_fail(p->err, RT_USAGE, "entry %zu: \"%s\" is %s", at + 1, key, what);
}

static bool
is_str(yyjson_val *v)
{
	return yyjson_is_str(v);
}

static bool
is_bool(yyjson_val *v)
{
	return yyjson_is_bool(v);
}

static bool
is_content(yyjson_val *v)
{
	return yyjson_is_str(v) || yyjson_is_arr(v);
}

static rt_status
read_new(plan *p, size_t at, yyjson_val *value)
{
	new_entry *n = &p->news[at];
	yyjson_val *id, *role, *other;
	rt_status st;

	memset(n, 0, sizeof(*n));
	n->value = value;
	n->from = NONE;
	if (!yyjson_is_obj(value))
		return rt_fail(p->err, RT_USAGE,
			       "entry %zu is no object such as {\"role\":\"User\",\"content\":\"…\"}",
			       at + 1);
	st = read_member(p, at, value, "id", is_str, "a string", &id);
	if (st == RT_OK)
		st = read_member(p, at, value, "role", is_str, "a string", &role);
	if (st == RT_OK)
		st = read_member(p, at, value, "content", is_content,
				 "a string or an array of content blocks", &n->content);
	if (st == RT_OK)
		st = read_member(p, at, value, "kind", is_str, "a string", &other);
	if (st == RT_OK)
		st = read_member(p, at, value, "label", is_str, "a string", &other);
	if (st == RT_OK)
		st = read_member(p, at, value, "muted", is_bool, "true or false", &other);
	if (st == RT_OK)
		st = read_member(p, at, value, "collapsed", is_bool, "true or false", &other);
	if (st == RT_OK)
		st = read_member(p, at, value, "read_mode", is_bool, "true or false", &other);
	if (st == RT_OK)
		st = read_ts(p, at, rt_json_get(value, "ts"), &n->ts, &n->has_ts);
	if (st != RT_OK)
		return st;
	if (role != NULL && yyjson_get_len(role) == 0)
		return rt_fail(p->err, RT_USAGE, "entry %zu: \"role\" is empty", at + 1);
	n->role = rt_json_str(role);
	if (id != NULL && yyjson_get_len(id) > 0) /* "" is none */
		n->id = rt_json_str(id);
	return RT_OK;
}

static rt_status
read_news(plan *p, yyjson_val *wanted)
{
	yyjson_val *value;
	size_t i, max;
	rt_status st = RT_OK;

	if (!yyjson_is_arr(wanted))
		return rt_fail(p->err, RT_USAGE, "the entries are no array");
	p->news = rt_new_array(p->alloc, yyjson_arr_size(wanted) + 1, sizeof(*p->news));
	if (p->news == NULL)
		return nomem(p->err);
	yyjson_arr_foreach(wanted, i, max, value)
	{
		if (st == RT_OK)
			st = read_new(p, i, value);
		p->new_count++;
	}
	return st;
}

/* ---- matching ---- */

static bool
same_value(const plan *p, yyjson_val *a, yyjson_val *b, rt_status *status)
{
	rt_buf x, y;
	bool same;

	if (yyjson_is_str(a) && yyjson_is_str(b))
		return rt_str_eq(rt_json_str(a), rt_json_str(b));
	rt_buf_init(&x, p->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&y, p->alloc, RT_BUF_UNLIMITED);
	rt_json_add_sorted(&x, p->alloc, a);
	rt_json_add_sorted(&y, p->alloc, b);
	if (x.status != RT_OK || y.status != RT_OK)
		*status = nomem(p->err);
	same = rt_str_eq(rt_buf_str(&x), rt_buf_str(&y));
	rt_buf_deinit(&x);
	rt_buf_deinit(&y);
	return same;
}

/* The content of a new entry that gives none is "". */
static bool
same_content(const plan *p, yyjson_val *old, yyjson_val *fresh, rt_status *status)
{
	if (fresh == NULL)
		return yyjson_is_str(old) && yyjson_get_len(old) == 0;
	return same_value(p, old, fresh, status);
}

static bool
same_ts(const old_entry *o, const new_entry *n)
{
	return o->has_ts && o->ts.us == n->ts.us && o->ts.ns == n->ts.ns;
}

static void
match(plan *p, size_t from, size_t to)
{
	p->olds[from].to = to;
	p->news[to].from = from;
}

/* Both unmatched, nothing named by id, and equal as far as is said. */
static bool
is_equal(const plan *p, size_t from, size_t to, rt_status *status)
{
	const old_entry *o = &p->olds[from];
	const new_entry *n = &p->news[to];

	return o->to == NONE && n->from == NONE && n->id.size == 0 && n->role.ptr != NULL &&
	       rt_str_eq(o->role, n->role) && (!n->has_ts || same_ts(o, n)) &&
	       same_content(p, o->content, n->content, status);
}

/* What stood there, with another text now? */
static bool
is_edited(const plan *p, size_t from, size_t to, rt_status *status)
{
	const old_entry *o = &p->olds[from];
	const new_entry *n = &p->news[to];

	(void)status;
	if (o->to != NONE || n->from != NONE || n->id.size > 0)
		return false;
	return n->has_ts ? same_ts(o, n) : n->role.ptr != NULL && rt_str_eq(o->role, n->role);
}

/* What stands beside something matched, forwards and then backwards. */
static rt_status
match_neighbours(plan *p, bool (*fits)(const plan *, size_t, size_t, rt_status *))
{
	rt_status st = RT_OK;
	size_t i;

	for (i = 0; i < p->new_count; i++) {
		size_t behind = i == 0 ? 0 : p->news[i - 1].from;

		if (i > 0 && behind != NONE)
			behind++;
		if (behind < p->old_count && fits(p, behind, i, &st))
			match(p, behind, i);
	}
	for (i = p->new_count; i-- > 0;) {
		size_t ahead = i + 1 == p->new_count ? p->old_count : p->news[i + 1].from;

		if (ahead != NONE && ahead > 0 && fits(p, ahead - 1, i, &st))
			match(p, ahead - 1, i);
	}
	return st;
}

/* One entry of either list, by the hash of what has to be equal. */
typedef struct key {
	uint64_t hash;
	size_t index;
	bool is_new;
} key;

static int
by_hash(const void *a, const void *b)
{
	const key *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	if (x->is_new != y->is_new)
		return x->is_new ? 1 : -1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static uint64_t
hash_of(plan *p, rt_str role, yyjson_val *content, const rt_moment *ts, rt_status *status)
{
	uint64_t hash = rt_hash(role.ptr, role.size, 1);

	if (content != NULL && !yyjson_is_str(content)) {
		rt_buf text;

		rt_buf_init(&text, p->alloc, RT_BUF_UNLIMITED);
		rt_json_add_sorted(&text, p->alloc, content);
		if (text.status != RT_OK)
			*status = nomem(p->err);
		hash = rt_hash(text.ptr, text.size, hash + 1);
		rt_buf_deinit(&text);
	} else {
		rt_str text = rt_json_str(content);

		hash = rt_hash(text.ptr, text.size, hash);
	}
	if (ts != NULL)
		hash = rt_hash_u64(hash ^ rt_hash_u64((uint64_t)ts->us ^ (uint64_t)ts->ns << 52));
	return hash;
}

/* Keys of everything that is unmatched, in order; where the new ones say a time, or say none. */
static rt_status
keys_of(plan *p, bool with_ts, key *keys, size_t *out_count)
{
	rt_status st = RT_OK;
	size_t count = 0, i;

	for (i = 0; i < p->old_count; i++) {
		const old_entry *o = &p->olds[i];

		if (o->to == NONE && (o->has_ts || !with_ts))
			keys[count++] = (key){hash_of(p, o->role, o->content,
						      with_ts ? &o->ts : NULL, &st),
					      i, false};
	}
	for (i = 0; i < p->new_count; i++) {
		const new_entry *n = &p->news[i];

		if (n->from == NONE && n->id.size == 0 && n->role.ptr != NULL &&
		    n->has_ts == with_ts)
			keys[count++] = (key){hash_of(p, n->role, n->content,
						      with_ts ? &n->ts : NULL, &st),
					      i, true};
	}
	qsort(keys, count, sizeof(*keys), by_hash);
	*out_count = count;
	return st;
}

/* Equal ones, the first with the first; alone: only where each list has one. */
static rt_status
match_keys(plan *p, bool with_ts, bool alone, key *keys)
{
	size_t count, at = 0;
	rt_status st = keys_of(p, with_ts, keys, &count);

	while (st == RT_OK && at < count) {
		size_t middle = at, end, i;

		while (middle < count && keys[middle].hash == keys[at].hash &&
		       !keys[middle].is_new)
			middle++;
		for (end = middle; end < count && keys[end].hash == keys[at].hash; end++)
			;
		for (i = 0; at + i < middle && middle + i < end; i++)
			if ((!alone || (middle - at == 1 && end - middle == 1)) &&
			    is_equal(p, keys[at + i].index, keys[middle + i].index, &st))
				match(p, keys[at + i].index, keys[middle + i].index);
		at = end;
	}
	return st;
}

static int
by_id(const void *a, const void *b)
{
	const key *x = a, *y = b;

	return x->hash != y->hash ? (x->hash < y->hash ? -1 : 1)
				  : (x->index > y->index) - (x->index < y->index);
}

/* Those that name an id; twice the same is a mistake. */
static rt_status
match_ids(plan *p, key *keys)
{
	size_t count = 0, i, j;

	for (i = 0; i < p->old_count; i++)
		keys[count++] = (key){rt_hash(p->olds[i].id.ptr, p->olds[i].id.size, 0), i, false};
	for (i = 0; i < p->new_count; i++)
		if (p->news[i].id.size > 0)
			keys[count++] = (key){
				rt_hash(p->news[i].id.ptr, p->news[i].id.size, 0), i, true};
	qsort(keys, count, sizeof(*keys), by_id);
	for (i = 0; i < count; i++) {
		if (!keys[i].is_new)
			continue;
		/* equal hashes are nearly always equal ids: a few steps each way */
		for (j = i; j-- > 0 && keys[j].hash == keys[i].hash;)
			if (keys[j].is_new && rt_str_eq(p->news[keys[j].index].id,
							p->news[keys[i].index].id))
				return rt_fail(p->err, RT_USAGE,
					       "entry %zu: the id \"%.*s\" is there twice",
					       keys[i].index + 1,
					       RT_STR_ARG(p->news[keys[i].index].id));
		for (j = i; j-- > 0 && keys[j].hash == keys[i].hash;)
			if (!keys[j].is_new && rt_str_eq(p->olds[keys[j].index].id,
							 p->news[keys[i].index].id))
				match(p, keys[j].index, keys[i].index);
		for (j = i + 1; j < count && keys[j].hash == keys[i].hash; j++)
			if (!keys[j].is_new && rt_str_eq(p->olds[keys[j].index].id,
							 p->news[keys[i].index].id))
				match(p, keys[j].index, keys[i].index);
	}
	return RT_OK;
}

static rt_status
match_all(plan *p)
{
	key *keys = rt_new_array(p->alloc, p->old_count + p->new_count + 1, sizeof(*keys));
	rt_status st = keys != NULL ? match_ids(p, keys) : nomem(p->err);
	int round;

	for (round = 0; st == RT_OK && round < 2; round++) {
		st = match_keys(p, round == 0, true, keys);
		if (st == RT_OK)
			st = match_neighbours(p, is_equal);
		if (st == RT_OK)
			st = match_keys(p, round == 0, false, keys);
	}
	if (st == RT_OK)
		st = match_neighbours(p, is_edited);
	rt_free(p->alloc, keys);
	return st;
}

/* ---- what an entry says beside role, content and time ---- */

/* Not fields of the entry, but of its slot, or of how it is shown. */
static bool
is_own(rt_str key)
{
	static const char *const names[] = {"id",    "role",      "kind",      "content", "ts",
					    "muted", "collapsed", "read_mode", "label",   "purged",
					    "lost"};
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
	static const char *const names[] = {"op",   "discussion", "take",   "before", "after", "into",
					    "join", "fork",       "flight", "prompt"};
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
change_of(plan *p, const old_entry *o, const new_entry *n, rt_status *status)
{
	yyjson_val *key, *value, *kind = rt_json_get(n->value, "kind");
	size_t i, max;
	change found = SAME;

	if (n->has_ts && !same_ts(o, n))
		return OTHER;
	if (kind != NULL && !yyjson_is_null(kind) &&
	    !rt_str_eq(kind_of(o->value), kind_of(n->value)))
		return OTHER;
	yyjson_obj_foreach(n->value, i, max, key, value)
	{
		yyjson_val *was = member(o->value, key);

		if (is_own(rt_json_str(key)) || (was == NULL && yyjson_is_null(value)) ||
		    (was != NULL && same_value(p, was, value, status)))
			continue;
		found = FIELDS;
		if (was != NULL && rt_str_is(rt_json_str(key), "thinking_segments"))
			return OTHER; /* what continues an entry adds to its thoughts */
	}
	return found;
}

/* ---- writing requests ---- */

static void
begin(plan *p, const char *op)
{
	rt_json_add_comma(p->out);
	rt_buf_add_c(p->out, "{\"op\":\"");
	rt_buf_add_c(p->out, op);
	rt_buf_add_byte(p->out, '"');
}

static void
add_str(plan *p, const char *key, rt_str s)
{
	rt_json_add_key(p->out, key);
	rt_json_add_string(p->out, s);
}

static void
add_val(plan *p, const char *key, yyjson_val *v)
{
	if (v == NULL || yyjson_is_null(v))
		return;
	rt_json_add_key(p->out, key);
	rt_json_add_value(p->out, v);
}

static void
end(plan *p)
{
	rt_buf_add_byte(p->out, '}');
}

/* Further fields of a new entry, or those that one is to have beside what it has. */
static rt_status
add_fields(plan *p, size_t at, yyjson_val *value)
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

/* The whole entry into the one that there is: content, and fields on top of its own. */
static rt_status
write_into(plan *p, const old_entry *o, size_t at)
{
	const new_entry *n = &p->news[at];
	yyjson_val *key, *value, *was;
	size_t i, max;

	begin(p, "entry.reply");
	add_str(p, "into", o->id);
	add_val(p, "content", n->content != NULL ? n->content : o->content);
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
write_edit(plan *p, size_t at, change fields)
{
	const new_entry *n = &p->news[at];
	const old_entry *o = &p->olds[n->from];
	yyjson_val *label = rt_json_get(n->value, "label");
	yyjson_val *muted = rt_json_get(n->value, "muted");
	rt_str old_label = rt_json_str(rt_json_get(o->value, "label"));
	bool was_muted = yyjson_is_true(rt_json_get(o->value, "muted")), is_edited = false;
	rt_status st = RT_OK;

	if (fields == FIELDS) {
		st = write_into(p, o, at);
		is_edited = true;
	} else if (n->content != NULL && !same_value(p, o->content, n->content, &st)) {
		begin(p, "entry.edit");
		add_str(p, "entry", o->id);
		add_val(p, "content", n->content);
		end(p);
		is_edited = true;
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
is_told_otherwise(const old_entry *o, const new_entry *n, const char *key)
{
	yyjson_val *v = rt_json_get(n->value, key);

	return yyjson_is_bool(v) &&
	       yyjson_get_bool(v) != yyjson_is_true(rt_json_get(o->value, key));
}

static void
write_view(plan *p, size_t at)
{
	const new_entry *n = &p->news[at];
	const old_entry *o = &p->olds[n->from];
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
write_edits(plan *p)
{
	rt_status st = RT_OK;
	size_t i;

	for (i = 0; st == RT_OK && i < p->new_count; i++) {
		new_entry *n = &p->news[i];
		change fields;

		if (n->from == NONE)
			continue;
		fields = change_of(p, &p->olds[n->from], n, &st);
		if (st == RT_OK && fields == OTHER) {
			p->olds[n->from].to = NONE;
			n->from = NONE;
		} else if (st == RT_OK) {
			st = write_edit(p, i, fields);
			write_view(p, i);
		}
	}
	return st;
}

static void
write_deletes(plan *p)
{
	size_t from = 0, to;

	for (; from < p->old_count; from = to + 1) {
		to = from;
		if (p->olds[from].to != NONE)
			continue;
		while (to + 1 < p->old_count && p->olds[to + 1].to == NONE)
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
fix_places(plan *p)
{
	/* ends[k]: of all rising runs of k + 1 so far, the last item of the one that ends
	 * lowest; before[i]: the item in front of i in its run */
	size_t *ends = rt_new_array(p->alloc, p->new_count + 1, sizeof(*ends));
	size_t *before = rt_new_array(p->alloc, p->new_count + 1, sizeof(*before));
	size_t length = 0, i;
	rt_status st = ends != NULL && before != NULL ? RT_OK : nomem(p->err);

	for (i = 0; st == RT_OK && i < p->new_count; i++) {
		size_t low = 0, high = length;

		if (p->news[i].from == NONE)
			continue;
		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (p->news[ends[middle]].from < p->news[i].from)
				low = middle + 1;
			else
				high = middle;
		}
		before[i] = low > 0 ? ends[low - 1] : NONE;
		ends[low] = i;
		if (low == length)
			length++;
	}
	if (st == RT_OK && length > 0)
		for (i = ends[length - 1]; i != NONE; i = before[i])
			p->news[i].is_fixed = true;
	rt_free(p->alloc, ends);
	rt_free(p->alloc, before);
	return st;
}

/* A new entry; anchor: what it goes in front of; NULL: to the end; is_first: of an empty
 * take. */
static rt_status
write_new(plan *p, size_t at, const old_entry *anchor, bool is_first)
{
	const new_entry *n = &p->news[at];

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
write_places(plan *p)
{
	size_t next = 0, kept = 0, i;
	rt_status st = fix_places(p);

	for (i = 0; i < p->new_count; i++)
		kept += p->news[i].from != NONE;
	for (i = 0; st == RT_OK && i < p->new_count; i++) {
		const new_entry *n = &p->news[i];
		const old_entry *anchor;

		if (next < i)
			next = i;
		while (next < p->new_count && !p->news[next].is_fixed)
			next++;
		if (n->is_fixed)
			continue;
		anchor = next < p->new_count ? &p->olds[p->news[next].from] : NULL;
		if (n->from == NONE) {
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
write_labels(plan *p)
{
	size_t i;

	for (i = 0; i < p->new_count; i++) {
		yyjson_val *label = rt_json_get(p->news[i].value, "label");

		if (p->news[i].from != NONE || !yyjson_is_str(label) ||
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
rt_replace_plan(const rt_alloc *alloc, yyjson_val *current, yyjson_val *wanted,
		rt_id_used_fn is_used, void *ctx, rt_buf *out, rt_replace_counts *out_counts,
		rt_error *err)
{
	plan p = {.alloc = alloc, .is_used = is_used, .ctx = ctx, .out = out, .err = err};
	size_t size = out->size;
	rt_status st = read_olds(&p, current);

	if (st == RT_OK)
		st = read_news(&p, wanted);
	if (st == RT_OK)
		st = match_all(&p);
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
