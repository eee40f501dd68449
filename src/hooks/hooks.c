/* SPDX-License-Identifier: MIT
 *
 * Opening, closing, looking and trusting. */
#include "hooks/hooks.h"

#include "hooks/find_host.h"
#include "hooks/hooks_impl.h"

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

static void
close_hooks(rt_hooks *hooks)
{
	rt_hooks_all *all = (rt_hooks_all *)hooks;
	size_t i;

	if (all == NULL)
		return;
	rt_hooks_reap(all, NULL);
	for (i = 0; i < RT_HOOKS_LATER_MAX; i++)
		rt_hook_set_unref(all->later_set[i]);
	rt_hook_set_unref(all->set);
	pthread_mutex_destroy(&all->renewing);
	pthread_mutex_destroy(&all->lock);
	for (i = 0; i < all->environment_count; i++)
		rt_text_unref(all->environment[i]);
	rt_free(all->alloc, all->environment);
	rt_free(all->alloc, all->envp);
	rt_buf_deinit(&all->unsaid);
	rt_buf_deinit(&all->definitions);
	rt_buf_deinit(&all->config_path);
	rt_buf_deinit(&all->user_folder);
	rt_buf_deinit(&all->work_folder);
	rt_buf_deinit(&all->state_folder);
	rt_buf_deinit(&all->search);
	rt_free(all->alloc, all);
}

static bool
wants(rt_hooks *hooks, const char *event)
{
	rt_hooks_all *all = (rt_hooks_all *)hooks;
	const rt_hook_event *named;
	bool found;
	size_t i;

	pthread_mutex_lock(&all->lock);
	if (all->set->list.count == 0 && !all->is_lost) {
		pthread_mutex_unlock(&all->lock);
		return false;
	}
	named = rt_hook_event_named(rt_str_of(event));
	found = all->is_lost && named != NULL && (named->traits & RT_HOOK_BEFORE) != 0;
	for (i = 0; i < all->set->list.count && !found; i++)
		found = all->set->list.items[i].event == named && !all->set->list.items[i].off;
	pthread_mutex_unlock(&all->lock);
	return found;
}

static const rt_hooks_ops ops = {close_hooks, wants, rt_hooks_fire, rt_hooks_look_again};

static void
copy(rt_buf *to, const char *text)
{
	if (text != NULL)
		rt_buf_add_c(to, text);
}

/* What of the options is needed when hooks are read again. */
static rt_status
copy_options(rt_hooks_all *all, const rt_hooks_options *options, rt_error *err)
{
	rt_buf *const bufs[] = {&all->state_folder, &all->user_folder, &all->config_path,
				&all->definitions};
	rt_error why;
	rt_status st;
	size_t i;

	all->define = options->define;
	copy(&all->state_folder, options->state_folder);
	copy(&all->user_folder, options->user_folder);
	copy(&all->config_path, options->config_path);
	rt_buf_add_str(&all->definitions, options->definitions);
	for (i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
		if (bufs[i]->status != RT_OK)
			return nomem(err);
	if (options->work_folder == NULL)
		return RT_OK;
	st = rt_hook_real_folder(options->work_folder, &all->work_folder, &why);
	if (st == RT_OK)
		return RT_OK;
	rt_buf_clear(&all->work_folder);
	rt_buf_add_c(&all->unsaid, "the project's hooks are not run: ");
	rt_utf8_repair(&all->unsaid, rt_str_of(why.text));
	rt_buf_add_byte(&all->unsaid, '\n');
	return st == RT_NOMEM ? nomem(err) : RT_OK;
}

rt_status
rt_hooks_open(const rt_hooks_options *options, rt_hooks **out_hooks, rt_error *err)
{
	rt_hooks_all *all = rt_new0(options->alloc, sizeof(*all));
	rt_status st = RT_OK;

	if (all == NULL)
		return nomem(err);
	all->hooks.ops = &ops;
	all->alloc = options->alloc;
	all->env = options->env;
	rt_buf_init(&all->unsaid, all->alloc, 1 << 20);
	rt_buf_init(&all->definitions, all->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&all->config_path, all->alloc, 65536);
	rt_buf_init(&all->user_folder, all->alloc, 65536);
	rt_buf_init(&all->work_folder, all->alloc, 65536);
	rt_buf_init(&all->state_folder, all->alloc, 65536);
	rt_buf_init(&all->search, all->alloc, RT_BUF_UNLIMITED);
	pthread_mutex_init(&all->renewing, NULL);
	pthread_mutex_init(&all->lock, NULL);
	st = copy_options(all, options, err);
	if (st == RT_OK)
		st = rt_hook_set_read(all, NULL, &all->set, err);
	if (st == RT_OK)
		/* said by who opens them */
		rt_buf_add_str(&all->set->list.warnings, rt_buf_str(&all->unsaid));
	rt_buf_clear(&all->unsaid);
	if (st == RT_OK && rt_hooks_take_environment(all, options) != RT_OK)
		st = nomem(err);
	if (st == RT_OK)
		*out_hooks = &all->hooks;
	else
		close_hooks(&all->hooks);
	return st;
}

rt_str
rt_hooks_warnings(const rt_hooks *hooks)
{
	return rt_buf_str(&((const rt_hooks_all *)hooks)->set->list.warnings);
}

/* --- trust --- */

/* The path below the work folder. */
static const char *
inner_path(const rt_hooks_all *all, const rt_hook *hook)
{
	RT_ASSERT(hook->source == RT_HOOK_FROM_PROJECT);
	return hook->path->ptr + all->work_folder.size + 1;
}

rt_status
rt_hooks_check(const rt_hooks_all *all, const rt_hook *hook, bool with_fd, const char **out_state,
	       rt_trust_file *file, rt_error *err)
{
	rt_json_doc *doc = NULL;
	rt_str pinned = {NULL, 0};
	rt_status st = RT_OK;

	*out_state = NULL;
	file->fd = -1;
	file->hex[0] = 0;
	if (all->state_folder.size > 0)
		st = rt_trust_read(all->alloc, all->state_folder.ptr, &doc, err);
	if (st == RT_OK)
		pinned = rt_trust_find(doc, rt_text_str(hook->path));
	if (st == RT_OK)
		/* A copy is made only where it may be run. */
		st = rt_trust_open(all->work_folder.ptr, inner_path(all, hook),
				   with_fd && pinned.size > 0, file, err);
	if (st == RT_OK)
		*out_state = pinned.size == 0                   ? "new"
			     : rt_str_is(pinned, file->hex) ? "on"
							    : "changed";
	rt_json_free(doc);
	return st;
}

static bool
is_named(const rt_hook *hook, rt_str name)
{
	rt_str whole = rt_text_str(hook->name);

	if (name.size == 0 || rt_str_eq(whole, name))
		return true;
	return name.size < whole.size && whole.ptr[whole.size - name.size - 1] == '/' &&
	       memcmp(whole.ptr + whole.size - name.size, name.ptr, name.size) == 0;
}

/* --- looking --- */

static rt_status
describe(rt_hooks_all *all, const rt_hook *hook, rt_trust_file *file, rt_error *why,
	 rt_hook_info *out)
{
	static const char *const sources[] = {"config", "user", "project"};
	rt_status st = RT_OK;

	memset(out, 0, sizeof(*out));
	out->name = rt_text_str(hook->name);
	out->event = rt_text_str(hook->event_name);
	out->about = hook->event;
	out->source = sources[hook->source];
	out->match = rt_text_str(hook->match);
	out->words = hook->words;
	out->word_count = hook->word_count;
	out->timeout_ms = hook->timeout_ms;
	out->required = hook->required;
	out->is_async = hook->is_async;
	out->persistent = hook->persistent;
	out->once = hook->once;
	out->state = hook->off ? "off" : hook->broken != NULL ? "broken" : "on";
	out->why = rt_text_str(hook->broken);
	if (hook->source == RT_HOOK_FROM_PROJECT && !hook->off) {
		st = rt_hooks_check(all, hook, false, &out->state, file, why);
		out->hash = rt_str_of(file->hex);
		if (st != RT_OK && st != RT_NOMEM) {
			out->state = "broken";
			out->why = rt_str_of(why->text);
			st = RT_OK;
		}
	}
	out->runs = out->state != NULL && strcmp(out->state, "on") == 0;
	return st;
}

rt_status
rt_hooks_list(rt_hooks *hooks, rt_hook_info_fn fn, void *ctx, rt_error *err)
{
	rt_hooks_all *all = (rt_hooks_all *)hooks;
	rt_hook_set *set = rt_hooks_set(all);
	rt_status st = RT_OK;
	rt_trust_file file;
	rt_hook_info info;
	rt_error why;
	size_t i;

	for (i = 0; st == RT_OK && i < set->list.count; i++) {
		if (describe(all, &set->list.items[i], &file, &why, &info) != RT_OK)
			st = nomem(err);
		else if (!fn(ctx, &info))
			break;
	}
	rt_hook_set_unref(set);
	return st;
}

rt_status
rt_hooks_trust(rt_hooks *hooks, rt_str name, bool trust, rt_hook_info_fn fn, void *ctx,
	       rt_error *err)
{
	rt_hooks_all *all = (rt_hooks_all *)hooks;
	rt_trust_file file;
	rt_hook_info info;
	rt_status st = RT_OK;
	rt_error why;
	rt_hook_set *set;
	size_t i, count = 0;

	if (all->state_folder.size == 0)
		return rt_fail(err, RT_REFUSED, "there is no folder to keep trust in");
	set = rt_hooks_set(all);
	for (i = 0; st == RT_OK && i < set->list.count; i++) {
		const rt_hook *hook = &set->list.items[i];

		if (hook->source != RT_HOOK_FROM_PROJECT || hook->off || !is_named(hook, name))
			continue;
		count++;
		file.hex[0] = 0;
		if (trust)
			st = rt_trust_open(all->work_folder.ptr, inner_path(all, hook), false, &file,
					   err);
		if (st == RT_OK)
			st = rt_trust_change(all->alloc, all->state_folder.ptr,
					     rt_text_str(hook->path), rt_str_of(file.hex), err);
		if (st == RT_OK)
			st = describe(all, hook, &file, &why, &info);
		atomic_store(&set->states[i]->told, false);
		if (st == RT_OK && fn != NULL && !fn(ctx, &info))
			break;
	}
	rt_hook_set_unref(set);
	if (st == RT_OK && count == 0)
		return rt_fail(err, RT_NOT_FOUND,
			       name.size == 0 ? "there are no hooks in " RT_HOOK_PROJECT_FOLDER
					      : "there is no such hook in " RT_HOOK_PROJECT_FOLDER);
	return st;
}
