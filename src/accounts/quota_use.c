/* SPDX-License-Identifier: MIT
 *
 * Use: the additions of users, teams and projects. Counted in memory, written periodically. */
#include "accounts/quota_impl.h"

#include <pthread.h>
#include <string.h>

#include "codec/json.h"
#include "log/identity.h"

#define DAY_US ((int64_t)86400 * 1000000)
#define USE_PREFIX "use/"

/* A subject that this server has counted for or checked. */
typedef struct counter {
	rt_quota_subject subject;
	rt_use row;      /* as it was read or written last */
	int64_t row_day; /* of its daily counts */
	int64_t read_us; /* when; 0: never */
	rt_use added;    /* since then, not written yet */
	int64_t added_day;
	bool is_new;     /* something was added */
} counter;

struct rt_quota_meter {
	const rt_alloc *alloc;
	pthread_mutex_t lock; /* guards the rest */
	counter *counters;    /* in the order of their subjects */
	size_t count, room;
	int64_t written_us;
	bool is_new; /* one of them */
};

rt_quota_meter *
rt_quota_meter_new(const rt_alloc *alloc)
{
	rt_quota_meter *meter = rt_new0(alloc, sizeof(*meter));

	if (meter != NULL && pthread_mutex_init(&meter->lock, NULL) != 0) {
		rt_free(alloc, meter);
		return NULL;
	}
	if (meter != NULL)
		meter->alloc = alloc;
	return meter;
}

void
rt_quota_meter_free(rt_quota_meter *meter)
{
	if (meter == NULL)
		return;
	pthread_mutex_destroy(&meter->lock);
	rt_free(meter->alloc, meter->counters);
	rt_free(meter->alloc, meter);
}

/* ---- rows ---- */

void
rt_use_add_name(rt_buf *out, rt_quota_subject subject)
{
	uint64_t number = subject.user + subject.team + subject.project; /* two of them are 0 */

	rt_buf_add_f(out, USE_PREFIX "%c%llu", subject.user != 0 ? 'u' : subject.team != 0 ? 't' : 'p',
		     (unsigned long long)number);
}

/* Counts of earlier days are 0. */
static void
start_day(rt_use *use, int64_t *io_day, int64_t day)
{
	for (int kind = 0; kind < RT_QUOTA_KINDS && *io_day < day; kind++)
		if (rt_quota_is_daily((rt_quota_kind)kind))
			use->counts[kind] = 0;
	*io_day = *io_day < day ? day : *io_day;
}

static void
add_use(rt_use *to, const rt_use *added)
{
	for (int kind = 0; kind < RT_QUOTA_KINDS; kind++)
		to->counts[kind] += added->counts[kind] < INT64_MAX - to->counts[kind] ? added->counts[kind] : 0;
}

/* A missing row: nothing was added. */
static void
read_row(rt_directory *d, rt_scope *s, rt_quota_subject subject, rt_use *out, int64_t *out_day)
{
	rt_buf *name = rt_scope_buf(s), *text = rt_scope_buf(s);
	uint64_t day = 0;

	*out = (rt_use){{0}};
	*out_day = 0;
	rt_use_add_name(name, subject);
	if (!rt_ok(s))
		return;
	rt_status st = rt_directory_get(d, rt_scope_str(s, name), text, &s->error);
	if (st == RT_NOT_FOUND || rt_scope_note(s, st) != RT_OK)
		return;
	yyjson_val *root = rt_json_parse(s, rt_scope_str(s, text));
	for (int kind = 0; kind < RT_QUOTA_KINDS; kind++)
		(void)rt_json_u64(rt_json_get(root, rt_quota_names[kind]), &out->counts[kind]);
	if (rt_json_u64(rt_json_get(root, "day"), &day) && day <= INT64_MAX / DAY_US)
		*out_day = (int64_t)day;
}

static void
write_row(rt_directory_change *change, const counter *c)
{
	rt_scope *s = change->scope;
	rt_buf *name = rt_scope_buf(s), *value = rt_scope_buf(s);

	rt_use_add_name(name, c->subject);
	rt_json_open(value, NULL, '{');
	rt_json_put_u64(value, "v", 1);
	for (int kind = 0; kind < RT_QUOTA_KINDS; kind++)
		if (c->row.counts[kind] != 0)
			rt_json_put_u64(value, rt_quota_names[kind], c->row.counts[kind]);
	rt_json_put_i64(value, "day", c->row_day);
	rt_json_close(value, '}');
	rt_str row = rt_scope_str(s, name);
	rt_directory_write_side(change, row, rt_scope_str(s, value));
}

/* Projects of which the user, or a user of the team, is an owner, not only through a team. */
static void
count_projects(const rt_roster *roster, rt_quota_subject subject, rt_use *out)
{
	const rt_item *team = subject.team != 0 ? rt_roster_team(roster, subject.team) : NULL;
	uint64_t count = 0, last = 0;

	for (size_t i = roster->first[RT_ITEM_MEMBER]; i < roster->first[RT_ITEM_MEMBER + 1]; i++) {
		const rt_item *member = &roster->items[i];
		bool is_one = member->user != 0 && (member->user == subject.user ||
						    (team != NULL && rt_item_lists(team, member->user)));

		if (is_one && member->role == RT_ROLE_OWNER && member->project != last) {
			count++;
			last = member->project;
		}
	}
	out->counts[RT_QUOTA_PROJECTS] = count;
}

void
rt_use_read(const rt_accounts *a, const rt_roster *roster, rt_quota_subject subject, rt_use *out)
{
	int64_t day;

	read_row(a->directory, a->scope, subject, out, &day);
	start_day(out, &day, a->env->now_us(a->env->ctx) / DAY_US);
	count_projects(roster, subject, out);
}

/* ---- counters ---- */

static int
compare(rt_quota_subject a, rt_quota_subject b)
{
	int by = (a.user > b.user) - (a.user < b.user);

	if (by == 0)
		by = (a.team > b.team) - (a.team < b.team);
	return by != 0 ? by : (a.project > b.project) - (a.project < b.project);
}

/* With the lock held. NULL: no memory. */
static counter *
counter_of(rt_quota_meter *meter, rt_quota_subject subject)
{
	size_t low = 0, high = meter->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(meter->counters[middle].subject, subject) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < meter->count && compare(meter->counters[low].subject, subject) == 0)
		return &meter->counters[low];
	if (meter->count == meter->room) {
		size_t room = meter->room * 2 + 16;
		counter *more = rt_new_array(meter->alloc, room, sizeof(*more));

		if (more == NULL)
			return NULL;
		if (meter->count > 0)
			memcpy(more, meter->counters, meter->count * sizeof(*more));
		rt_free(meter->alloc, meter->counters);
		meter->counters = more;
		meter->room = room;
	}
	memmove(&meter->counters[low + 1], &meter->counters[low], (meter->count - low) * sizeof(*meter->counters));
	meter->count++;
	meter->counters[low] = (counter){.subject = subject};
	return &meter->counters[low];
}

/* With the lock held. Without memory it is not counted. */
static void
add_to(rt_quota_meter *meter, rt_quota_subject subject, const rt_use *added, int64_t day)
{
	counter *c = counter_of(meter, subject);

	if (c == NULL)
		return;
	start_day(&c->added, &c->added_day, day);
	add_use(&c->added, added);
	c->is_new = meter->is_new = true;
}

void
rt_quota_add(rt_quota_meter *meter, const rt_roster *roster, int64_t now_us, uint64_t user, uint64_t project,
	     const rt_use *added)
{
	int64_t day = now_us / DAY_US;

	pthread_mutex_lock(&meter->lock);
	if (user != 0)
		add_to(meter, (rt_quota_subject){.user = user}, added, day);
	for (size_t i = roster->first[RT_ITEM_TEAM]; user != 0 && i < roster->first[RT_ITEM_TEAM + 1]; i++)
		if (rt_item_lists(&roster->items[i], user))
			add_to(meter, (rt_quota_subject){.team = roster->items[i].id}, added, day);
	if (project != 0)
		add_to(meter, (rt_quota_subject){.project = project}, added, day);
	pthread_mutex_unlock(&meter->lock);
}

void
rt_use_now(rt_quota_meter *meter, const rt_accounts *a, const rt_roster *roster, rt_quota_subject subject, rt_use *out)
{
	int64_t now = a->env->now_us(a->env->ctx), day = now / DAY_US, row_day = 0, seen_us;
	bool is_fresh;
	rt_use row = {{0}};

	pthread_mutex_lock(&meter->lock);
	counter *c = counter_of(meter, subject);
	is_fresh = c != NULL && c->read_us != 0 && c->read_us <= now &&
		   now - c->read_us < (int64_t)RT_QUOTA_FRESH_MS * 1000;
	seen_us = c != NULL ? c->read_us : 0;
	pthread_mutex_unlock(&meter->lock);
	if (!is_fresh)
		read_row(a->directory, a->scope, subject, &row, &row_day);
	pthread_mutex_lock(&meter->lock);
	c = rt_ok(a->scope) ? counter_of(meter, subject) : NULL;
	*out = row;
	if (c != NULL) {
		/* Unless it was written meanwhile: the row then contains the additions. */
		if (!is_fresh && c->read_us == seen_us) {
			c->row = row;
			c->row_day = row_day;
			c->read_us = now;
		}
		start_day(&c->row, &c->row_day, day);
		start_day(&c->added, &c->added_day, day);
		*out = c->row;
		add_use(out, &c->added);
	}
	pthread_mutex_unlock(&meter->lock);
	count_projects(roster, subject, out);
}

/* ---- writing ---- */

/* The counters that have something new, in the scope. */
static counter *
take_new(rt_quota_meter *meter, rt_scope *s, int64_t now_us, bool at_once, size_t *out_count)
{
	counter *list = NULL;

	*out_count = 0;
	pthread_mutex_lock(&meter->lock);
	bool is_due = at_once || now_us < meter->written_us ||
		      now_us - meter->written_us >= (int64_t)RT_QUOTA_WRITE_MS * 1000;
	if (meter->is_new && is_due) {
		list = rt_scope_array(s, meter->count, sizeof(*list));
		meter->written_us = now_us;
	}
	for (size_t i = 0; list != NULL && i < meter->count; i++)
		if (meter->counters[i].is_new)
			list[(*out_count)++] = meter->counters[i];
	if (list != NULL)
		meter->is_new = false;
	pthread_mutex_unlock(&meter->lock);
	return list;
}

/* What was written is part of the row from now on; after a failure it is written later. */
static void
note_written(rt_quota_meter *meter, const counter *list, size_t count, bool is_written, int64_t now_us)
{
	pthread_mutex_lock(&meter->lock);
	for (size_t i = 0; i < count; i++) {
		counter *c = counter_of(meter, list[i].subject);

		if (c == NULL)
			continue;
		if (is_written) {
			c->row = list[i].row;
			c->row_day = list[i].row_day;
			c->read_us = now_us;
			c->is_new = false;
		}
		for (int kind = 0; is_written && kind < RT_QUOTA_KINDS; kind++) {
			/* A new day may have begun meanwhile. */
			uint64_t written = list[i].added.counts[kind];

			c->added.counts[kind] -= written < c->added.counts[kind] ? written : c->added.counts[kind];
			c->is_new = c->is_new || c->added.counts[kind] > 0;
		}
		meter->is_new = meter->is_new || c->is_new;
	}
	pthread_mutex_unlock(&meter->lock);
}

void
rt_quota_write(rt_quota_meter *meter, rt_directory *d, bool at_once, rt_scope *s)
{
	int64_t now = rt_directory_now(d);
	rt_directory_change change = {.directory = d, .scope = s};
	rt_store *store = rt_directory_store(d);
	size_t count;
	counter *list = take_new(meter, s, now, at_once, &count);

	if (count == 0)
		return;
	rt_str identity = rt_store_set_identity(RT_STORE_ITSELF);
	bool is_begun = !store->is_read_only && RT_TRY(s, store->ops->begin(store, &s->error)) == RT_OK;
	for (size_t i = 0; is_begun && rt_ok(s) && i < count; i++) {
		counter *c = &list[i];
		rt_use added = c->added;
		int64_t day = c->added_day;

		read_row(d, s, c->subject, &c->row, &c->row_day);
		start_day(&c->row, &c->row_day, day);
		start_day(&added, &day, c->row_day);
		add_use(&c->row, &added);
		write_row(&change, c);
	}
	if (is_begun)
		rt_store_end(store, s);
	(void)rt_store_set_identity(identity);
	note_written(meter, list, count, is_begun && rt_ok(s), now);
}
