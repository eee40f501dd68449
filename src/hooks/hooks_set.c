/* SPDX-License-Identifier: MIT
 *
 * Sets: the hooks as they are in the configuration and in folders, read at the start and again
 * when something there has changed. A set is never changed; the next one takes its place, and
 * what is under way goes on with the one it began with. */
#include "hooks/find_host.h"
#include "hooks/hooks_impl.h"

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

/* ---- states ---- */

static void
state_unref(const rt_alloc *alloc, rt_hook_state *state)
{
	if (state == NULL || atomic_fetch_sub(&state->refs, 1) > 1)
		return;
	rt_lines_close(state->lines);
	rt_hook_watch_deinit(&state->program);
	pthread_mutex_destroy(&state->lock);
	rt_free(alloc, state);
}

static rt_hook_state *
state_new(const rt_alloc *alloc)
{
	rt_hook_state *state = rt_new0(alloc, sizeof(*state));

	if (state == NULL)
		return NULL;
	atomic_init(&state->refs, 1);
	rt_hook_watch_init(&state->program, alloc);
	pthread_mutex_init(&state->lock, NULL);
	return state;
}

static bool
same_text(const rt_text *a, const rt_text *b)
{
	return (a == NULL) == (b == NULL) && rt_str_eq(rt_text_str(a), rt_text_str(b));
}

static bool
is_same(const rt_hook *a, const rt_hook *b)
{
	size_t i;

	if (a->source != b->source || a->event != b->event || a->word_count != b->word_count ||
	    a->timeout_ms != b->timeout_ms || a->required != b->required ||
	    a->is_async != b->is_async || a->persistent != b->persistent || a->once != b->once ||
	    a->off != b->off || !same_text(a->name, b->name) ||
	    !same_text(a->event_name, b->event_name) || !same_text(a->match, b->match) ||
	    !same_text(a->path, b->path) || !same_text(a->broken, b->broken))
		return false;
	for (i = 0; i < a->word_count && same_text(a->words[i], b->words[i]); i++)
		;
	return i == a->word_count;
}

/* Each hook's state: that of the same hook before, which keeps its place among those that are left,
 * else a new one. */
static rt_status
take_states(rt_hook_set *set, rt_hook_set *before)
{
	size_t i, k, from = 0;

	if (set->list.count == 0)
		return RT_OK;
	set->states = rt_new_array(set->alloc, set->list.count, sizeof(*set->states));
	if (set->states == NULL)
		return RT_NOMEM;
	memset(set->states, 0, set->list.count * sizeof(*set->states));
	for (i = 0; i < set->list.count; i++) {
		size_t count = before != NULL ? before->list.count : 0;

		for (k = from; k < count; k++)
			if (is_same(&set->list.items[i], &before->list.items[k]))
				break;
		if (k < count) {
			from = k + 1; /* equal ones stay apart; both lists have one order */
			set->states[i] = before->states[k];
			atomic_fetch_add(&set->states[i]->refs, 1);
		} else {
			set->states[i] = state_new(set->alloc);
		}
		if (set->states[i] == NULL)
			return RT_NOMEM;
	}
	return RT_OK;
}

/* ---- sets ---- */

void
rt_hook_set_unref(rt_hook_set *set)
{
	size_t i;

	if (set == NULL || atomic_fetch_sub(&set->refs, 1) > 1)
		return;
	for (i = 0; set->states != NULL && i < set->list.count; i++)
		state_unref(set->alloc, set->states[i]);
	rt_free(set->alloc, set->states);
	rt_hook_list_deinit(&set->list);
	rt_hook_watch_deinit(&set->watch);
	rt_free(set->alloc, set);
}

rt_hook_set *
rt_hooks_set(rt_hooks_all *all)
{
	rt_hook_set *set;

	pthread_mutex_lock(&all->lock);
	set = all->set;
	atomic_fetch_add(&set->refs, 1);
	pthread_mutex_unlock(&all->lock);
	return set;
}

/* The configuration's. */
static rt_status
read_definitions(rt_hooks_all *all, rt_hook_set *set, bool again, rt_error *err)
{
	rt_status st = RT_OK;

	if (all->config_path.size > 0 &&
	    rt_hook_watch_add(&set->watch, all->config_path.ptr) != RT_OK)
		return nomem(err);
	if (again && all->define != NULL) {
		rt_buf_clear(&all->definitions);
		st = all->define(all->alloc, &all->definitions, err);
		if (st == RT_OK && all->definitions.status != RT_OK)
			st = nomem(err);
	}
	return st == RT_OK ? rt_hook_list_read(&set->list, rt_buf_str(&all->definitions), err) : st;
}

/* Is a hook below that folder trusted? Whoever trusted it counts on it. */
static bool
is_trusted_below(const rt_hooks_all *all, rt_str folder)
{
	rt_json_doc *doc = NULL;
	yyjson_val *key, *value, *hooks;
	bool found = false;
	size_t i, max;

	if (all->state_folder.size == 0 ||
	    rt_trust_read(all->alloc, all->state_folder.ptr, &doc, NULL) != RT_OK || doc == NULL)
		return false;
	hooks = rt_json_get(rt_json_root(doc), "hooks");
	if (yyjson_is_obj(hooks))
		yyjson_obj_foreach(hooks, i, max, key, value)
			found = found || (rt_str_starts(rt_json_str(key), folder) &&
					  rt_json_str(key).size > folder.size &&
					  rt_json_str(key).ptr[folder.size] == '/');
	rt_json_free(doc);
	return found;
}

/* The work folder's. That they cannot be read matters where one of them is trusted; else anybody's
 * folder could keep its visitors from working. */
static rt_status
read_project(rt_hooks_all *all, rt_hook_set *set, rt_error *err)
{
	rt_error why;
	rt_buf folder;
	rt_status st;

	if (all->work_folder.size == 0)
		return RT_OK;
	rt_buf_init(&folder, all->alloc, 65536);
	rt_buf_add_f(&folder, "%s/" RT_HOOK_PROJECT_FOLDER, all->work_folder.ptr);
	if (folder.status != RT_OK) {
		rt_buf_deinit(&folder);
		return nomem(err);
	}
	st = rt_hook_find(&set->list, RT_HOOK_FROM_PROJECT, folder.ptr, true, &set->watch, &why);
	if (st == RT_IO && !is_trusted_below(all, rt_buf_str(&folder))) {
		rt_buf_add_c(&set->list.warnings, "the project's hooks are not run: ");
		rt_utf8_repair(&set->list.warnings, rt_str_of(why.text));
		rt_buf_add_byte(&set->list.warnings, '\n');
		st = RT_OK;
	} else if (st != RT_OK) {
		st = rt_fail(err, st, "%s", why.text);
	}
	rt_buf_deinit(&folder);
	return st;
}

rt_status
rt_hook_set_read(rt_hooks_all *all, rt_hook_set *before, rt_hook_set **out, rt_error *err)
{
	rt_hook_set *set = rt_new0(all->alloc, sizeof(*set));
	rt_status st;

	if (set == NULL)
		return nomem(err);
	set->alloc = all->alloc;
	atomic_init(&set->refs, 1);
	rt_hook_list_init(&set->list, all->alloc);
	rt_hook_watch_init(&set->watch, all->alloc);
	st = read_definitions(all, set, before != NULL, err);
	if (st == RT_OK && all->user_folder.size > 0)
		st = rt_hook_find(&set->list, RT_HOOK_FROM_USER, all->user_folder.ptr, false,
				  &set->watch, err);
	if (st == RT_OK)
		st = read_project(all, set, err);
	if (st == RT_OK && take_states(set, before) != RT_OK)
		st = nomem(err);
	if (st == RT_OK)
		*out = set;
	else
		rt_hook_set_unref(set);
	return st;
}

void
rt_hooks_look_again(rt_hooks *hooks)
{
	rt_hooks_all *all = (rt_hooks_all *)hooks;
	rt_hook_set *before, *set = NULL;
	rt_error why = {0};
	rt_status st;

	pthread_mutex_lock(
		&all->renewing); /* alone changes set, so it need not be held to be read */
	before = all->set;
	if (!all->is_lost && !rt_hook_watch_changed(&before->watch)) {
		pthread_mutex_unlock(&all->renewing);
		return;
	}
	st = rt_hook_set_read(all, before, &set, &why);
	pthread_mutex_lock(&all->lock);
	all->is_lost = st != RT_OK;
	all->why_lost = why;
	if (st == RT_OK) {
		if (!rt_str_eq(rt_buf_str(&set->list.warnings),
			       rt_buf_str(&before->list.warnings))) {
			rt_buf_clear(&all->unsaid);
			rt_buf_add_str(&all->unsaid, rt_buf_str(&set->list.warnings));
		}
		all->set = set;
	}
	pthread_mutex_unlock(&all->lock);
	pthread_mutex_unlock(&all->renewing);
	if (st == RT_OK)
		rt_hook_set_unref(before); /* may wait for one that stays to end */
}
