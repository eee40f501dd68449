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
	for (i = 0; all->states != NULL && i < all->list.count; i++) {
		rt_lines_close(all->states[i].lines);
		pthread_mutex_destroy(&all->states[i].lock);
	}
	pthread_mutex_destroy(&all->lock);
	for (i = 0; i < all->environment_count; i++)
		rt_text_unref(all->environment[i]);
	rt_free(all->alloc, all->environment);
	rt_free(all->alloc, all->envp);
	rt_free(all->alloc, all->states);
	rt_buf_deinit(&all->work_folder);
	rt_buf_deinit(&all->state_folder);
	rt_buf_deinit(&all->search);
	rt_hook_list_deinit(&all->list);
	rt_free(all->alloc, all);
}

static bool
wants(rt_hooks *hooks, const char *event)
{
	const rt_hooks_all *all = (const rt_hooks_all *)hooks;
	const rt_hook_event *named;
	size_t i;

	if (all->list.count == 0)
		return false;
	named = rt_hook_event_named(rt_str_of(event));
	for (i = 0; i < all->list.count; i++)
		if (all->list.items[i].event == named && !all->list.items[i].off)
			return true;
	return false;
}

static const rt_hooks_ops ops = {close_hooks, wants, rt_hooks_fire};

static rt_status
find_all(rt_hooks_all *all, const rt_hooks_options *options, rt_error *err)
{
	rt_status st = rt_hook_list_read(&all->list, options->definitions, err);
	rt_error why;
	rt_buf folder;

	if (st == RT_OK && options->user_folder != NULL)
		st = rt_hook_find(&all->list, RT_HOOK_FROM_USER, options->user_folder, false, err);
	if (st != RT_OK || options->work_folder == NULL)
		return st;
	st = rt_hook_real_folder(options->work_folder, &all->work_folder, &why);
	if (st == RT_NOMEM)
		return nomem(err);
	if (st != RT_OK) {
		rt_buf_add_c(&all->list.warnings, "the project's hooks are not run: ");
		rt_utf8_repair(&all->list.warnings, rt_str_of(why.text));
		rt_buf_add_byte(&all->list.warnings, '\n');
		return RT_OK;
	}
	rt_buf_init(&folder, all->alloc, 65536);
	rt_buf_add_f(&folder, "%s/" RT_HOOK_PROJECT_FOLDER, all->work_folder.ptr);
	st = folder.status == RT_OK ? rt_hook_find(&all->list, RT_HOOK_FROM_PROJECT, folder.ptr,
						   true, err)
				    : nomem(err);
	rt_buf_deinit(&folder);
	return st;
}

rt_status
rt_hooks_open(const rt_hooks_options *options, rt_hooks **out_hooks, rt_error *err)
{
	rt_hooks_all *all = rt_new0(options->alloc, sizeof(*all));
	rt_status st = RT_OK;
	size_t i;

	if (all == NULL)
		return nomem(err);
	all->hooks.ops = &ops;
	all->alloc = options->alloc;
	all->env = options->env;
	rt_hook_list_init(&all->list, all->alloc);
	rt_buf_init(&all->work_folder, all->alloc, 65536);
	rt_buf_init(&all->state_folder, all->alloc, 65536);
	rt_buf_init(&all->search, all->alloc, RT_BUF_UNLIMITED);
	pthread_mutex_init(&all->lock, NULL);
	if (options->state_folder != NULL)
		rt_buf_add_c(&all->state_folder, options->state_folder);
	st = all->state_folder.status == RT_OK ? find_all(all, options, err) : nomem(err);
	if (st == RT_OK && rt_hooks_take_environment(all, options) != RT_OK)
		st = nomem(err);
	if (st == RT_OK && all->list.count > 0) {
		all->states = rt_new_array(all->alloc, all->list.count, sizeof(*all->states));
		st = all->states == NULL ? nomem(err) : RT_OK;
	}
	for (i = 0; st == RT_OK && i < all->list.count; i++) {
		memset(&all->states[i], 0, sizeof(all->states[i]));
		pthread_mutex_init(&all->states[i].lock, NULL);
	}
	if (st == RT_OK)
		*out_hooks = &all->hooks;
	else
		close_hooks(&all->hooks);
	return st;
}

rt_str
rt_hooks_warnings(const rt_hooks *hooks)
{
	return rt_buf_str(&((const rt_hooks_all *)hooks)->list.warnings);
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
	rt_trust_file file;
	rt_hook_info info;
	rt_error why;
	size_t i;

	for (i = 0; i < all->list.count; i++) {
		if (describe(all, &all->list.items[i], &file, &why, &info) != RT_OK)
			return nomem(err);
		if (!fn(ctx, &info))
			break;
	}
	return RT_OK;
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
	size_t i, count = 0;

	if (all->state_folder.size == 0)
		return rt_fail(err, RT_REFUSED, "there is no folder to keep trust in");
	for (i = 0; st == RT_OK && i < all->list.count; i++) {
		const rt_hook *hook = &all->list.items[i];

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
		atomic_store(&all->states[i].told, false);
		if (st == RT_OK && fn != NULL && !fn(ctx, &info))
			break;
	}
	if (st == RT_OK && count == 0)
		return rt_fail(err, RT_NOT_FOUND,
			       name.size == 0 ? "there are no hooks in " RT_HOOK_PROJECT_FOLDER
					      : "there is no such hook in " RT_HOOK_PROJECT_FOLDER);
	return st;
}
