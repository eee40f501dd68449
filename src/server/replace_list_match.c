/* SPDX-License-Identifier: MIT
 *
 * Which entry of the one list is which of the other. Hashes of what has to be equal are
 * sorted, so equal ones stand together; what a hash says is looked at before it is believed. */
#include "server/replace_list_impl.h"

#include <stdlib.h> /* qsort */

#include "base/hash.h"

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

/* ---- reading the lists ---- */

static rt_status
read_ts(rt_replace_list *p, size_t at, yyjson_val *ts, rt_moment *out, bool *out_has)
{
	*out_has = ts != NULL && !yyjson_is_null(ts);
	if (!*out_has)
		return RT_OK;
	if (yyjson_is_str(ts)
		    ? rt_moment_parse(rt_json_str(ts), out)
		    : rt_json_is_number(ts) && rt_moment_parse_number(rt_json_str(ts), out))
		return RT_OK;
	return rt_fail(&p->scope->error, RT_USAGE,
		       "entry %zu: \"ts\" is an ISO 8601 time such as 2026-11-21T20:35:40Z, or an "
		       "epoch number",
		       at + 1);
}

static rt_status
read_olds(rt_replace_list *p, yyjson_val *current)
{
	yyjson_val *value;
	size_t i, max;
	rt_status st = RT_OK;

	p->olds = rt_scope_array(p->scope, yyjson_arr_size(current) + 1, sizeof(*p->olds));
	if (p->olds == NULL)
		return p->scope->status;
	yyjson_arr_foreach(current, i, max, value)
	{
		rt_replace_list_old *o = &p->olds[i];

		o->value = value;
		o->id = rt_json_str(rt_json_get(value, "id"));
		o->role = rt_json_str(rt_json_get(value, "role"));
		o->content = rt_json_get(value, "content");
		o->to = RT_REPLACE_LIST_NONE;
		st = read_ts(p, i, rt_json_get(value, "ts"), &o->ts, &o->has_ts);
		if (st != RT_OK)
			return st;
		p->old_count++;
	}
	return RT_OK;
}

/* A member that has to be of a type, where it is given; null is as good as not given. */
static rt_status
read_member(rt_replace_list *p, size_t at, yyjson_val *value, const char *key,
	    bool (*is)(yyjson_val *), const char *what, yyjson_val **out)
{
	*out = rt_json_get(value, key);
	if (*out != NULL && yyjson_is_null(*out))
		*out = NULL;
	return *out == NULL || is(*out)
		       ? RT_OK
		       : rt_fail(&p->scope->error, RT_USAGE, "entry %zu: \"%s\" is %s", at + 1, key, what);
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
read_new(rt_replace_list *p, size_t at, yyjson_val *value)
{
	rt_replace_list_new *n = &p->news[at];
	yyjson_val *id, *role, *other;
	rt_status st;

	n->value = value;
	n->from = RT_REPLACE_LIST_NONE;
	if (!yyjson_is_obj(value))
		return rt_fail(
			&p->scope->error, RT_USAGE,
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
		return rt_fail(&p->scope->error, RT_USAGE, "entry %zu: \"role\" is empty", at + 1);
	n->role = rt_json_str(role);
	if (id != NULL && yyjson_get_len(id) > 0) /* "" is none */
		n->id = rt_json_str(id);
	return RT_OK;
}

static rt_status
read_news(rt_replace_list *p, yyjson_val *wanted)
{
	yyjson_val *value;
	size_t i, max;
	rt_status st = RT_OK;

	if (!yyjson_is_arr(wanted))
		return rt_fail(&p->scope->error, RT_USAGE, "the entries are no array");
	p->news = rt_scope_array(p->scope, yyjson_arr_size(wanted) + 1, sizeof(*p->news));
	if (p->news == NULL)
		return p->scope->status;
	yyjson_arr_foreach(wanted, i, max, value)
	{
		if (st == RT_OK)
			st = read_new(p, i, value);
		p->new_count++;
	}
	return st;
}

rt_status
rt_replace_list_read(rt_replace_list *p, yyjson_val *current, yyjson_val *wanted)
{
	rt_status st = read_olds(p, current);

	return st == RT_OK ? read_news(p, wanted) : st;
}

/* ---- matching ---- */

bool
rt_replace_list_same(const rt_replace_list *p, yyjson_val *a, yyjson_val *b, rt_status *status)
{
	rt_buf x, y;
	bool same;

	if (yyjson_is_str(a) && yyjson_is_str(b))
		return rt_str_eq(rt_json_str(a), rt_json_str(b));
	rt_buf_init(&x, p->scope->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&y, p->scope->alloc, RT_BUF_UNLIMITED);
	rt_json_add_sorted(&x, p->scope->alloc, a);
	rt_json_add_sorted(&y, p->scope->alloc, b);
	if (x.status != RT_OK || y.status != RT_OK)
		*status = nomem(&p->scope->error);
	same = rt_str_eq(rt_buf_str(&x), rt_buf_str(&y));
	rt_buf_deinit(&x);
	rt_buf_deinit(&y);
	return same;
}

/* The content of a new entry that gives none is "". */
static bool
same_content(const rt_replace_list *p, yyjson_val *old, yyjson_val *fresh, rt_status *status)
{
	if (fresh == NULL)
		return yyjson_is_str(old) && yyjson_get_len(old) == 0;
	return rt_replace_list_same(p, old, fresh, status);
}

bool
rt_replace_list_same_ts(const rt_replace_list_old *o, const rt_replace_list_new *n)
{
	return o->has_ts && o->ts.us == n->ts.us && o->ts.ns == n->ts.ns;
}

static void
match(rt_replace_list *p, size_t from, size_t to)
{
	p->olds[from].to = to;
	p->news[to].from = from;
}

/* Both unmatched, nothing named by id, and equal as far as is said. */
static bool
is_equal(const rt_replace_list *p, size_t from, size_t to, rt_status *status)
{
	const rt_replace_list_old *o = &p->olds[from];
	const rt_replace_list_new *n = &p->news[to];

	return o->to == RT_REPLACE_LIST_NONE && n->from == RT_REPLACE_LIST_NONE &&
	       n->id.size == 0 && n->role.ptr != NULL && rt_str_eq(o->role, n->role) &&
	       (!n->has_ts || rt_replace_list_same_ts(o, n)) &&
	       same_content(p, o->content, n->content, status);
}

/* What stood there, with another text now? */
static bool
is_edited(const rt_replace_list *p, size_t from, size_t to, rt_status *status)
{
	const rt_replace_list_old *o = &p->olds[from];
	const rt_replace_list_new *n = &p->news[to];

	(void)status;
	if (o->to != RT_REPLACE_LIST_NONE || n->from != RT_REPLACE_LIST_NONE || n->id.size > 0)
		return false;
	return n->has_ts ? rt_replace_list_same_ts(o, n)
			 : n->role.ptr != NULL && rt_str_eq(o->role, n->role);
}

/* What stands beside something matched, forwards and then backwards. */
static rt_status
match_neighbours(rt_replace_list *p,
		 bool (*fits)(const rt_replace_list *, size_t, size_t, rt_status *))
{
	rt_status st = RT_OK;
	size_t i;

	for (i = 0; i < p->new_count; i++) {
		size_t behind = i == 0 ? 0 : p->news[i - 1].from;

		if (i > 0 && behind != RT_REPLACE_LIST_NONE)
			behind++;
		if (behind < p->old_count && fits(p, behind, i, &st))
			match(p, behind, i);
	}
	for (i = p->new_count; i-- > 0;) {
		size_t ahead = i + 1 == p->new_count ? p->old_count : p->news[i + 1].from;

		if (ahead != RT_REPLACE_LIST_NONE && ahead > 0 && fits(p, ahead - 1, i, &st))
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
hash_of(rt_replace_list *p, rt_str role, yyjson_val *content, const rt_moment *ts,
	rt_status *status)
{
	uint64_t hash = rt_hash(role.ptr, role.size, 1);

	if (content != NULL && !yyjson_is_str(content)) {
		rt_buf text;

		rt_buf_init(&text, p->scope->alloc, RT_BUF_UNLIMITED);
		rt_json_add_sorted(&text, p->scope->alloc, content);
		if (text.status != RT_OK)
			*status = nomem(&p->scope->error);
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
keys_of(rt_replace_list *p, bool with_ts, key *keys, size_t *out_count)
{
	rt_status st = RT_OK;
	size_t count = 0, i;

	for (i = 0; i < p->old_count; i++) {
		const rt_replace_list_old *o = &p->olds[i];

		if (o->to == RT_REPLACE_LIST_NONE && (o->has_ts || !with_ts))
			keys[count++] = (key){
				hash_of(p, o->role, o->content, with_ts ? &o->ts : NULL, &st), i,
				false};
	}
	for (i = 0; i < p->new_count; i++) {
		const rt_replace_list_new *n = &p->news[i];

		if (n->from == RT_REPLACE_LIST_NONE && n->id.size == 0 && n->role.ptr != NULL &&
		    n->has_ts == with_ts)
			keys[count++] = (key){
				hash_of(p, n->role, n->content, with_ts ? &n->ts : NULL, &st), i,
				true};
	}
	qsort(keys, count, sizeof(*keys), by_hash);
	*out_count = count;
	return st;
}

/* Equal ones, the first with the first; alone: only where each list has one. */
static rt_status
match_keys(rt_replace_list *p, bool with_ts, bool alone, key *keys)
{
	size_t count, at = 0;
	rt_status st = keys_of(p, with_ts, keys, &count);

	while (st == RT_OK && at < count) {
		size_t middle = at, end, i;

		while (middle < count && keys[middle].hash == keys[at].hash && !keys[middle].is_new)
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
match_ids(rt_replace_list *p, key *keys)
{
	size_t count = 0, i, j;

	for (i = 0; i < p->old_count; i++)
		keys[count++] = (key){rt_hash(p->olds[i].id.ptr, p->olds[i].id.size, 0), i, false};
	for (i = 0; i < p->new_count; i++)
		if (p->news[i].id.size > 0)
			keys[count++] = (key){rt_hash(p->news[i].id.ptr, p->news[i].id.size, 0), i,
					      true};
	qsort(keys, count, sizeof(*keys), by_id);
	for (i = 0; i < count; i++) {
		if (!keys[i].is_new)
			continue;
		/* equal hashes are nearly always equal ids: a few steps each way */
		for (j = i; j-- > 0 && keys[j].hash == keys[i].hash;)
			if (keys[j].is_new &&
			    rt_str_eq(p->news[keys[j].index].id, p->news[keys[i].index].id))
				return rt_fail(&p->scope->error, RT_USAGE,
					       "entry %zu: the id \"%.*s\" is there twice",
					       keys[i].index + 1,
					       RT_STR_ARG(p->news[keys[i].index].id));
		for (j = i; j-- > 0 && keys[j].hash == keys[i].hash;)
			if (!keys[j].is_new &&
			    rt_str_eq(p->olds[keys[j].index].id, p->news[keys[i].index].id))
				match(p, keys[j].index, keys[i].index);
		for (j = i + 1; j < count && keys[j].hash == keys[i].hash; j++)
			if (!keys[j].is_new &&
			    rt_str_eq(p->olds[keys[j].index].id, p->news[keys[i].index].id))
				match(p, keys[j].index, keys[i].index);
	}
	return RT_OK;
}

rt_status
rt_replace_list_match(rt_replace_list *p)
{
	key *keys = rt_scope_array(p->scope, p->old_count + p->new_count + 1, sizeof(*keys));
	rt_status st = keys != NULL ? match_ids(p, keys) : p->scope->status;
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
	return st;
}
