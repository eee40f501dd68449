/* SPDX-License-Identifier: MIT
 *
 * From two lists to operations. Both lists are read into arrays; entries are matched as pairs of
 * indices; then the requests are made in an order in which each finds its targets:
 *
 *   edits     by id, while everything is still there
 *   deletes   runs of unwanted entries, in the old order
 *   places    from left to right: new entries, and those that move, go before the next entry that
 *             stays where it is; after the last of those, to the end (":-1"). An entry that has
 *             not moved yet does no harm there, because it will be moved
 *   labels    of new entries, whose ids are not known yet, by position
 *
 * The entries that stay where they are are the longest run of old indices that rises in the new
 * order. For matching, hashes of the parts that must be equal are sorted, so that equal ones are
 * neighbours; matches of hashes are verified. */
#include "server/replace_list.h"

#include <stdio.h>
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
	size_t to; /* the wanted one; NONE: it is deleted */
} old_entry;

typedef struct new_entry {
	yyjson_val *value;
	rt_str id, role;     /* ptr NULL: not given */
	yyjson_val *content; /* NULL: not given */
	rt_moment ts;
	bool has_ts;
	bool is_fixed; /* stays in place */
	size_t from;   /* the old one; NONE: it is new */
} new_entry;

/* One entry of either list, by the hash of the parts that must be equal. */
typedef struct match_key {
	uint64_t hash;
	size_t index;
	bool is_new;
} match_key;

typedef struct lists {
	rt_scope *scope;
	old_entry *olds;
	new_entry *news;
	size_t old_count, new_count;
	match_key *keys; /* for matching: capacity for both lists */
	rt_buf *scratch[2]; /* JSON that is compared */
	rt_id_used_fn is_used;
	void *ctx;
	rt_buf *requests; /* rt_request after rt_request */
	rt_replace_list_counts counts;
} lists;

/* ---- reading the lists ---- */

static bool
read_ts(lists *p, size_t at, yyjson_val *ts, rt_moment *out)
{
	if (ts == NULL || yyjson_is_null(ts))
		return false;
	if (yyjson_is_str(ts)
		    ? !rt_moment_parse(rt_json_str(ts), out)
		    : !rt_json_is_number(ts) || !rt_moment_parse_number(rt_json_str(ts), out))
		rt_scope_fail(p->scope, RT_USAGE,
			      "entry %zu: \"ts\" must be an ISO 8601 time, such as "
			      "2026-11-21T20:35:40Z, or an epoch number",
			      at + 1);
	return true;
}

static void
read_olds(lists *p, yyjson_val *current)
{
	yyjson_val *value;
	size_t i, max;

	p->olds = rt_scope_array(p->scope, yyjson_arr_size(current) + 1, sizeof(*p->olds));
	if (p->olds == NULL)
		return;
	p->old_count = yyjson_arr_size(current);
	yyjson_arr_foreach(current, i, max, value)
	{
		old_entry *o = &p->olds[i];

		*o = (old_entry){.value = value,
				 .id = rt_json_str(rt_json_get(value, "id")),
				 .role = rt_json_str(rt_json_get(value, "role")),
				 .content = rt_json_get(value, "content"),
				 .to = NONE};
		o->has_ts = read_ts(p, i, rt_json_get(value, "ts"), &o->ts);
	}
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

/* The members of an entry that must have a certain type; null counts as absent. */
static const struct {
	const char *key;
	bool (*is)(yyjson_val *value);
	const char *what;
} typed_members[] = {
	{"id", is_str, "a string"},
	{"role", is_str, "a string"},
	{"content", is_content, "a string or an array of content blocks"},
	{"kind", is_str, "a string"},
	{"label", is_str, "a string"},
	{"muted", is_bool, "true or false"},
	{"collapsed", is_bool, "true or false"},
	{"read_mode", is_bool, "true or false"},
};

static yyjson_val *
member_given(yyjson_val *object, const char *key)
{
	yyjson_val *value = rt_json_get(object, key);

	return value != NULL && !yyjson_is_null(value) ? value : NULL;
}

static void
read_new(lists *p, size_t at, yyjson_val *value)
{
	rt_scope *s = p->scope;
	new_entry *n = &p->news[at];
	yyjson_val *role = member_given(value, "role"), *id = member_given(value, "id");

	*n = (new_entry){.value = value, .from = NONE};
	if (!yyjson_is_obj(value))
		rt_scope_fail(s, RT_USAGE,
			      "entry %zu is not an object such as "
			      "{\"role\":\"User\",\"content\":\"…\"}",
			      at + 1);
	for (size_t i = 0; i < sizeof(typed_members) / sizeof(typed_members[0]); i++) {
		yyjson_val *member = member_given(value, typed_members[i].key);

		if (member != NULL && !typed_members[i].is(member))
			rt_scope_fail(s, RT_USAGE, "entry %zu: \"%s\" must be %s", at + 1,
				      typed_members[i].key, typed_members[i].what);
	}
	n->content = member_given(value, "content");
	n->has_ts = read_ts(p, at, rt_json_get(value, "ts"), &n->ts);
	if (role != NULL && yyjson_get_len(role) == 0)
		rt_scope_fail(s, RT_USAGE, "entry %zu: \"role\" is empty", at + 1);
	n->role = rt_json_str(role);
	if (id != NULL && yyjson_get_len(id) > 0) /* "" is absent */
		n->id = rt_json_str(id);
}

static void
read_news(lists *p, yyjson_val *wanted)
{
	yyjson_val *value;
	size_t i, max;

	if (!yyjson_is_arr(wanted))
		rt_scope_fail(p->scope, RT_USAGE, "the entries are not an array");
	p->news = rt_scope_array(p->scope, yyjson_arr_size(wanted) + 1, sizeof(*p->news));
	if (p->news == NULL)
		return;
	p->new_count = yyjson_arr_size(wanted);
	yyjson_arr_foreach(wanted, i, max, value)
		read_new(p, i, value);
}

/* ---- comparing ---- */

static rt_str
sorted(lists *p, rt_buf *scratch, yyjson_val *value)
{
	rt_buf_clear(scratch);
	rt_json_add_sorted(scratch, p->scope->alloc, value);
	return rt_scope_str(p->scope, scratch);
}

/* Equal as JSON, whatever the order of keys. */
static bool
is_same(lists *p, yyjson_val *a, yyjson_val *b)
{
	if (yyjson_is_str(a) && yyjson_is_str(b))
		return rt_str_eq(rt_json_str(a), rt_json_str(b));
	rt_str x = sorted(p, p->scratch[0], a), y = sorted(p, p->scratch[1], b);
	return rt_ok(p->scope) && rt_str_eq(x, y);
}

/* The content of a new entry that gives none is "". */
static bool
is_same_content(lists *p, yyjson_val *old, yyjson_val *fresh)
{
	if (fresh == NULL)
		return yyjson_is_str(old) && yyjson_get_len(old) == 0;
	return is_same(p, old, fresh);
}

static bool
is_same_ts(const old_entry *o, const new_entry *n)
{
	return o->has_ts && o->ts.us == n->ts.us && o->ts.ns == n->ts.ns;
}

/* Both unmatched, not named by id, and equal in the given members. */
static bool
is_equal(lists *p, size_t from, size_t to)
{
	const old_entry *o = &p->olds[from];
	const new_entry *n = &p->news[to];

	return o->to == NONE && n->from == NONE && n->id.size == 0 && n->role.ptr != NULL &&
	       rt_str_eq(o->role, n->role) && (!n->has_ts || is_same_ts(o, n)) &&
	       is_same_content(p, o->content, n->content);
}

/* The entry in this place, with another text? */
static bool
is_edited(lists *p, size_t from, size_t to)
{
	const old_entry *o = &p->olds[from];
	const new_entry *n = &p->news[to];

	if (o->to != NONE || n->from != NONE || n->id.size > 0)
		return false;
	return n->has_ts ? is_same_ts(o, n) : n->role.ptr != NULL && rt_str_eq(o->role, n->role);
}

/* ---- matching ---- */

static void
match(lists *p, size_t from, size_t to)
{
	p->olds[from].to = to;
	p->news[to].from = from;
}

/* Neighbours of matched entries, forwards and then backwards. */
static void
match_neighbours(lists *p, bool (*fits)(lists *p, size_t from, size_t to))
{
	for (size_t i = 0; i < p->new_count; i++) {
		size_t after = i == 0 ? 0 : p->news[i - 1].from;

		if (i > 0 && after != NONE)
			after++;
		if (after < p->old_count && fits(p, after, i))
			match(p, after, i);
	}
	for (size_t i = p->new_count; i-- > 0;) {
		size_t before = i + 1 == p->new_count ? p->old_count : p->news[i + 1].from;

		if (before != NONE && before > 0 && fits(p, before - 1, i))
			match(p, before - 1, i);
	}
}

/* By hash, then old entries before new ones, then by position. */
static int
compare_keys(const void *a, const void *b)
{
	const match_key *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	if (x->is_new != y->is_new)
		return x->is_new ? 1 : -1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static uint64_t
hash_entry(lists *p, rt_str role, yyjson_val *content, const rt_moment *ts)
{
	uint64_t hash = rt_hash(role.ptr, role.size, 1);
	bool is_text = content == NULL || yyjson_is_str(content);
	rt_str text = is_text ? rt_json_str(content) : sorted(p, p->scratch[0], content);

	hash = rt_hash(text.ptr, text.size, is_text ? hash : hash + 1);
	if (ts != NULL)
		hash = rt_hash_u64(hash ^ rt_hash_u64((uint64_t)ts->us ^ (uint64_t)ts->ns << 52));
	return hash;
}

/* Keys of everything unmatched, sorted; with_ts: those of new ones with a time, or without. */
static size_t
sort_unmatched(lists *p, bool with_ts)
{
	size_t count = 0;

	for (size_t i = 0; i < p->old_count; i++) {
		const old_entry *o = &p->olds[i];

		if (o->to == NONE && (o->has_ts || !with_ts))
			p->keys[count++] = (match_key){
				hash_entry(p, o->role, o->content, with_ts ? &o->ts : NULL), i,
				false};
	}
	for (size_t i = 0; i < p->new_count; i++) {
		const new_entry *n = &p->news[i];

		if (n->from == NONE && n->id.size == 0 && n->role.ptr != NULL &&
		    n->has_ts == with_ts)
			p->keys[count++] = (match_key){
				hash_entry(p, n->role, n->content, with_ts ? &n->ts : NULL), i,
				true};
	}
	qsort(p->keys, count, sizeof(*p->keys), compare_keys);
	return count;
}

/* Equal ones, the first with the first; only_unique: if each list has one. */
static void
match_equal(lists *p, bool with_ts, bool only_unique)
{
	const match_key *keys = p->keys;
	size_t count = rt_ok(p->scope) ? sort_unmatched(p, with_ts) : 0, end;

	for (size_t at = 0; rt_ok(p->scope) && at < count; at = end) {
		size_t middle = at;

		while (middle < count && keys[middle].hash == keys[at].hash && !keys[middle].is_new)
			middle++;
		for (end = middle; end < count && keys[end].hash == keys[at].hash;)
			end++;
		if (only_unique && (middle - at != 1 || end - middle != 1))
			continue;
		for (size_t i = 0; at + i < middle && middle + i < end; i++)
			if (is_equal(p, keys[at + i].index, keys[middle + i].index))
				match(p, keys[at + i].index, keys[middle + i].index);
	}
}

/* Entries that name an id; the same one twice is an error. */
static void
match_ids(lists *p)
{
	match_key *keys = p->keys;
	size_t count = 0, end;

	for (size_t i = 0; i < p->old_count; i++)
		keys[count++] =
			(match_key){rt_hash(p->olds[i].id.ptr, p->olds[i].id.size, 0), i, false};
	for (size_t i = 0; i < p->new_count; i++)
		if (p->news[i].id.size > 0)
			keys[count++] = (match_key){
				rt_hash(p->news[i].id.ptr, p->news[i].id.size, 0), i, true};
	qsort(keys, count, sizeof(*keys), compare_keys);
	/* Equal hashes are nearly always equal ids: such a run is short. */
	for (size_t at = 0; at < count; at = end) {
		for (end = at; end < count && keys[end].hash == keys[at].hash;)
			end++;
		for (size_t i = at; i < end; i++) {
			rt_str id = keys[i].is_new ? p->news[keys[i].index].id : rt_str_at(NULL, 0);

			for (size_t j = at; keys[i].is_new && j < i; j++) {
				if (!keys[j].is_new && rt_str_eq(p->olds[keys[j].index].id, id))
					match(p, keys[j].index, keys[i].index);
				if (keys[j].is_new && rt_str_eq(p->news[keys[j].index].id, id))
					rt_scope_fail(p->scope, RT_USAGE,
						      "entry %zu: the id \"%.*s\" appears twice",
						      keys[i].index + 1, RT_STR_ARG(id));
			}
		}
	}
}

static void
match_lists(lists *p)
{
	p->keys = rt_scope_array(p->scope, p->old_count + p->new_count + 1, sizeof(*p->keys));
	if (p->keys == NULL)
		return;
	match_ids(p);
	for (int round = 0; round < 2; round++) {
		match_equal(p, round == 0, true);
		match_neighbours(p, is_equal);
		match_equal(p, round == 0, false);
	}
	match_neighbours(p, is_edited);
}

/* ---- further fields ---- */

/* Members that are not fields of the entry, but of its slot, or of its display state. */
static const char *const slot_members[] = {"id",    "role",   "kind", "content",   "ts",
					   "muted", "collapsed", "read_mode", "label", "purged",
					   "lost",  "edited", "failure", NULL};
/* Members of requests: no field of an entry can have these names in one. */
static const char *const reserved[] = {"op",   "discussion", "take",   "before", "after",   "into",
				       "join", "fork",       "flight", "prompt", "by_hand",
				       "aside", NULL};
/* Members about the end of a reply: an operation that continues it drops these. */
static const char *const end_members[] = {"partial", "stop_reason", "error", NULL};

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

typedef enum difference {
	SAME,
	FIELDS, /* can be written into it */
	OTHER   /* cannot: it is replaced by another entry */
} difference;

/* Further fields, kind and time, of a pair. */
static difference
compare_fields(lists *p, const old_entry *o, const new_entry *n)
{
	yyjson_val *key, *value;
	size_t i, max;
	difference found = SAME;

	if (n->has_ts && !is_same_ts(o, n))
		return OTHER;
	if (member_given(n->value, "kind") != NULL &&
	    !rt_str_eq(kind_of(o->value), kind_of(n->value)))
		return OTHER;
	rt_json_foreach(n->value, i, max, key, value)
	{
		yyjson_val *was = member(o->value, key);

		if (rt_str_is_one_of(rt_json_str(key), slot_members) ||
		    (was == NULL && yyjson_is_null(value)) ||
		    (was != NULL && is_same(p, was, value)))
			continue;
		found = FIELDS;
		if (was != NULL && rt_str_is(rt_json_str(key), "thinking_segments"))
			return OTHER; /* an operation that continues the entry adds to its
				       * thinking */
	}
	return found;
}

/* ---- requests ---- */

static void
add(lists *p, const rt_request *request)
{
	rt_buf_add(p->requests, request, sizeof(*request));
}

/* The entry.reply, entry.append or entry.insert for an object. */
static void
add_entry(lists *p, rt_buf *object)
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
put_field(lists *p, rt_buf *out, size_t at, yyjson_val *key, yyjson_val *value)
{
	if (rt_str_is_one_of(rt_json_str(key), reserved))
		rt_scope_fail(p->scope, RT_USAGE,
			      "entry %zu: a field of an entry cannot have the name \"%s\"", at + 1,
			      yyjson_get_str(key));
	rt_json_add_key_str(out, rt_json_str(key));
	rt_json_add_value(out, value);
}

/* Writes the whole entry into the existing one: content, and fields in addition to its own.
 * is_edited: the content differs. */
static void
add_reply(lists *p, const old_entry *o, size_t at, bool is_edited)
{
	const new_entry *n = &p->news[at];
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
		if (rt_str_is_one_of(rt_json_str(key), slot_members) ||
		    (was == NULL && yyjson_is_null(value)) ||
		    rt_str_is(rt_json_str(key), "pi"))
			continue;
		/* unchanged (see compare_fields); repeating it would add it again */
		if (was != NULL && rt_str_is(rt_json_str(key), "thinking_segments"))
			continue;
		put_field(p, out, at, key, value);
	}
	rt_json_foreach(o->value, i, max, key, value)
	{
		if (!rt_str_is_one_of(rt_json_str(key), end_members) ||
		    member(n->value, key) != NULL)
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

/* The value of a flag if it differs from the entry's. */
static rt_tristate
changed_flag(const old_entry *o, const new_entry *n, const char *key)
{
	yyjson_val *v = rt_json_get(n->value, key);

	if (!yyjson_is_bool(v) ||
	    yyjson_get_bool(v) == yyjson_is_true(rt_json_get(o->value, key)))
		return RT_UNSET;
	return yyjson_get_bool(v) ? RT_YES : RT_NO;
}

/* The differences in an entry that stays. */
static void
add_edits(lists *p, size_t at, difference fields)
{
	const new_entry *n = &p->news[at];
	const old_entry *o = &p->olds[n->from];
	yyjson_val *label = rt_json_get(n->value, "label");
	rt_tristate muted = changed_flag(o, n, "muted");
	rt_str old_label = rt_json_str(rt_json_get(o->value, "label"));
	size_t before = p->requests->size;
	bool is_other_text = n->content != NULL && !is_same(p, o->content, n->content);

	if (fields == FIELDS) {
		add_reply(p, o, at, is_other_text);
	} else if (is_other_text) {
		rt_request edit = {.op = RT_OP_ENTRY_EDIT, .entry = o->id};

		rt_request_set(p->scope, &edit, "content", n->content);
		add(p, &edit);
	}
	if (n->role.ptr != NULL && !rt_str_eq(o->role, n->role))
		add(p, &(rt_request){.op = RT_OP_ENTRY_ROLE, .entry = o->id, .role = n->role});
	if (muted != RT_UNSET)
		add(p, &(rt_request){.op = RT_OP_ENTRY_MUTE, .entry = o->id, .muted = muted});
	if (label != NULL && !rt_str_eq(rt_json_str(label), old_label))
		add(p, &(rt_request){.op = RT_OP_LABEL_SET,
				     .entry = o->id,
				     .label = present(rt_json_str(label))});
	p->counts.edited += p->requests->size > before;
}

static void
add_view(lists *p, size_t at)
{
	const new_entry *n = &p->news[at];
	const old_entry *o = &p->olds[n->from];
	rt_request view = {.op = RT_OP_ENTRY_VIEW,
			   .entry = o->id,
			   .collapsed = changed_flag(o, n, "collapsed"),
			   .read_mode = changed_flag(o, n, "read_mode")};

	if (view.collapsed == RT_UNSET && view.read_mode == RT_UNSET)
		return;
	add(p, &view);
	p->counts.shown++;
}

/* Edits of pairs. One that cannot be edited is separated: the old entry is deleted and a new one
 * added. */
static void
add_pairs(lists *p)
{
	for (size_t i = 0; rt_ok(p->scope) && i < p->new_count; i++) {
		new_entry *n = &p->news[i];

		if (n->from == NONE)
			continue;
		difference fields = compare_fields(p, &p->olds[n->from], n);
		if (fields == OTHER) {
			p->olds[n->from].to = NONE;
			n->from = NONE;
		} else {
			add_edits(p, i, fields);
			add_view(p, i);
		}
	}
}

static void
add_deletes(lists *p)
{
	for (size_t from = 0, to; from < p->old_count; from = to + 1) {
		rt_request delete = {.op = RT_OP_ENTRY_DELETE};

		to = from;
		if (p->olds[from].to != NONE)
			continue;
		while (to + 1 < p->old_count && p->olds[to + 1].to == NONE)
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
fix_places(lists *p)
{
	/* ends[k]: of all increasing runs of k + 1 so far, the last item of the one that ends
	 * lowest; before[i]: the previous item of i's run */
	size_t *ends = rt_scope_array(p->scope, p->new_count + 1, sizeof(*ends));
	size_t *before = rt_scope_array(p->scope, p->new_count + 1, sizeof(*before));
	size_t length = 0, i;

	if (!rt_ok(p->scope))
		return;
	for (i = 0; i < p->new_count; i++) {
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
	for (i = length > 0 ? ends[length - 1] : NONE; i != NONE;
	     i = before[i])
		p->news[i].is_fixed = true;
}

/* A new entry. anchor: the entry before which it goes; NULL: to the end. is_first: the take is
 * empty. */
static void
add_new(lists *p, size_t at, const old_entry *anchor, bool is_first)
{
	static const char *const optional[] = {"ts", "muted", "collapsed", "read_mode"};
	const new_entry *n = &p->news[at];
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
		if (!rt_str_is_one_of(rt_json_str(key), slot_members))
			put_field(p, out, at, key, value);
	rt_json_close(out, '}');
	add_entry(p, out);
	p->counts.added++;
}

static void
add_places(lists *p)
{
	size_t next = 0, kept = 0, i;

	fix_places(p);
	for (i = 0; i < p->new_count; i++)
		kept += p->news[i].from != NONE;
	for (i = 0; rt_ok(p->scope) && i < p->new_count; i++) {
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
add_labels(lists *p)
{
	for (size_t i = 0; i < p->new_count; i++) {
		yyjson_val *label = rt_json_get(p->news[i].value, "label");
		char position[24];

		if (p->news[i].from != NONE || !yyjson_is_str(label) ||
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
	lists p = {.scope = scope,
		   .scratch = {rt_scope_buf(scope), rt_scope_buf(scope)},
		   .requests = rt_scope_buf(scope),
		   .is_used = is_used,
		   .ctx = ctx};

	read_olds(&p, current);
	read_news(&p, wanted);
	if (rt_ok(scope))
		match_lists(&p);
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
