/* SPDX-License-Identifier: MIT
 *
 * The registry: opened, listed, trusted. */
#define _GNU_SOURCE

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "hooks/hooks_impl.h"

#define DEPTH "RETAKE_HOOK_DEPTH"
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

static void
close_hooks(rt_hooks *hooks)
{
	rt_hook_registry *registry = (rt_hook_registry *)hooks;

	if (registry == NULL)
		return;
	rt_hooks_reap(registry, NULL);
	for (size_t i = 0; i < RT_HOOKS_JOBS_MAX; i++)
		rt_hook_set_unref(registry->job_sets[i]);
	rt_hook_set_unref(registry->set);
	pthread_mutex_destroy(&registry->loading);
	pthread_mutex_destroy(&registry->lock);
	rt_buf_deinit(&registry->definitions);
	rt_buf_deinit(&registry->warnings);
	rt_scope_deinit(&registry->scope);
	rt_free(registry->alloc, registry);
}

static bool
wants(rt_hooks *hooks, const char *event)
{
	rt_hook_registry *registry = (rt_hook_registry *)hooks;
	const rt_hook_list *list;
	bool found = false;

	pthread_mutex_lock(&registry->lock);
	list = &registry->set->list;
	if (list->count > 0 || registry->is_stale) {
		const rt_hook_event *named = rt_hook_event_find(rt_str_of(event));

		found = registry->is_stale && named != NULL &&
			(named->traits & RT_HOOK_BEFORE) != 0;
		for (size_t i = 0; i < list->count && !found; i++)
			found = list->items[i].event == named && !list->items[i].off;
	}
	pthread_mutex_unlock(&registry->lock);
	return found;
}

static const rt_hooks_ops ops = {close_hooks, wants, rt_hooks_fire, rt_hooks_reload};

/* ---- the environment of hooks ---- */

/* Variables are selected by name, so that secrets under any other name are not passed on. "*" at
 * the end matches any rest. */
static const char *const allowed[] = {"PATH",    "HOME",  "LANG", "LC_*",      "TERM",
				      "TMPDIR",  "XDG_*", "USER", "LOGNAME",   "SHELL",
				      "TZ",      "RETAKE_DB",     "RETAKE_PROJECT"};

static bool
is_allowed(rt_str name)
{
	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
		size_t size = strlen(allowed[i]);

		if (allowed[i][size - 1] == '*'
			    ? rt_str_starts(name, rt_str_at(allowed[i], size - 1))
			    : rt_str_is(name, allowed[i]))
			return true;
	}
	return false;
}

static void
add_variable(rt_hook_registry *registry, rt_str name, const char *value)
{
	size_t size = name.size + 1 + strlen(value);
	char *text = rt_scope_get(&registry->scope, size + 1);

	if (text == NULL)
		return;
	memcpy(text, name.ptr, name.size);
	text[name.size] = '=';
	memcpy(text + name.size + 1, value, size - name.size - 1);
	registry->environment[registry->environment_count++] = text;
}

/* Anything but a small number counts as too deep: rather no hooks than endless ones. */
static unsigned
parse_depth(const char *text)
{
	char *end;
	unsigned long depth = strtoul(text, &end, 10);

	return end == text || *end != 0 || depth > RT_HOOK_DEPTH_MAX ? RT_HOOK_DEPTH_MAX
								     : (unsigned)depth;
}

static void
build_environment(rt_hook_registry *registry, const rt_hooks_options *options)
{
	const char *const *from = options->environment != NULL
					  ? options->environment
					  : (const char *const *)environ;
	rt_scope *s = &registry->scope;
	size_t count = 0;
	char depth[2];

	while (from != NULL && from[count] != NULL)
		count++;
	/* Four more below, one for RETAKE_HOOK, and NULL. */
	registry->environment = rt_scope_array(s, count + 6, sizeof(*registry->environment));
	for (size_t i = 0; i < count && rt_ok(s); i++) {
		size_t size = strcspn(from[i], "=");
		rt_str name = rt_str_at(from[i], size);
		const char *value = from[i] + size + 1;

		if (from[i][size] == 0)
			continue;
		if (rt_str_is(name, DEPTH))
			registry->depth = parse_depth(value);
		if (!is_allowed(name) ||
		    (options->store != NULL && rt_str_is(name, "RETAKE_DB")) ||
		    (options->project != NULL && rt_str_is(name, "RETAKE_PROJECT")))
			continue;
		if (rt_str_is(name, "PATH"))
			registry->path = rt_scope_copy(s, rt_str_of(value)).ptr;
		add_variable(registry, name, value);
	}
	if (registry->path == NULL || registry->path[0] == 0) {
		registry->path = DEFAULT_PATH;
		add_variable(registry, RT_STR("PATH"), DEFAULT_PATH);
	}
	if (options->store != NULL)
		add_variable(registry, RT_STR("RETAKE_DB"), options->store);
	if (options->project != NULL)
		add_variable(registry, RT_STR("RETAKE_PROJECT"), options->project);
	depth[0] = (char)('0' + (registry->depth < 9 ? registry->depth + 1 : 9));
	depth[1] = 0;
	add_variable(registry, RT_STR(DEPTH), depth);
}

/* ---- opening ---- */

/* NULL for an empty string, too. */
static const char *
copy(rt_scope *s, const char *text)
{
	return text != NULL && text[0] != 0 ? rt_scope_copy(s, rt_str_of(text)).ptr : NULL;
}

/* A folder that cannot be resolved is a warning, and has no hooks. */
static void
resolve_work_folder(rt_hook_registry *registry, const char *path)
{
	char *real = realpath(path, NULL);
	rt_error why;

	if (real != NULL) {
		registry->work_folder = rt_scope_copy(&registry->scope, rt_str_of(real));
		free(real);
		return;
	}
	(void)rt_fail(&why, RT_IO, "%s: %s", path, strerror(errno));
	rt_buf_add_c(&registry->warnings, "the project's hooks are not run: ");
	rt_utf8_repair(&registry->warnings, rt_str_of(why.text));
	rt_buf_add_byte(&registry->warnings, '\n');
}

rt_status
rt_hooks_open(const rt_hooks_options *options, rt_hooks **out_hooks, rt_error *err)
{
	rt_hook_registry *registry = rt_new0(options->alloc, sizeof(*registry));
	rt_scope *s;
	rt_status st;

	if (registry == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	s = &registry->scope;
	registry->hooks.ops = &ops;
	registry->alloc = options->alloc;
	registry->env = options->env;
	registry->define = options->define;
	rt_scope_init(s, options->alloc);
	rt_buf_init(&registry->warnings, options->alloc, 1 << 20);
	rt_buf_init(&registry->definitions, options->alloc, RT_BUF_UNLIMITED);
	pthread_mutex_init(&registry->loading, NULL);
	pthread_mutex_init(&registry->lock, NULL);
	registry->state_folder = copy(s, options->state_folder);
	registry->user_folder = copy(s, options->user_folder);
	registry->config_path = copy(s, options->config_path);
	rt_buf_add_str(&registry->definitions, options->definitions);
	(void)rt_scope_str(s, &registry->definitions);
	if (options->work_folder != NULL)
		resolve_work_folder(registry, options->work_folder);
	RT_TRY(s, rt_hook_set_load(registry, NULL, &registry->set, &s->error));
	if (rt_ok(s)) /* shown by the caller, with the others */
		rt_buf_add_str(registry->set->list.warnings, rt_buf_str(&registry->warnings));
	rt_buf_clear(&registry->warnings);
	build_environment(registry, options);
	st = s->status;
	if (st == RT_OK) {
		*out_hooks = &registry->hooks;
		return RT_OK;
	}
	if (err != NULL)
		*err = s->error;
	close_hooks(&registry->hooks);
	return st;
}

rt_str
rt_hooks_warnings(const rt_hooks *hooks)
{
	return rt_buf_str(((const rt_hook_registry *)hooks)->set->list.warnings);
}

/* ---- listing ---- */

/* Calls fn; *out_more is what it returned. RT_NOMEM. */
static rt_status
describe(rt_hook_registry *registry, const rt_hook *hook, rt_hook_info_fn fn, void *ctx,
	 bool *out_more)
{
	rt_hook_info info = {.hook = hook,
			     .state = hook->off               ? "off"
				      : hook->broken.size > 0 ? "broken"
							      : "on",
			     .why = hook->broken};
	rt_trust_program file;
	rt_status st;
	rt_scope s;

	rt_scope_init(&s, registry->alloc);
	if (hook->source == RT_HOOK_FROM_PROJECT && !hook->off) {
		info.state = rt_trust_state(&s, registry->state_folder, registry->work_folder,
					    hook->path, false, &file);
		info.hash = rt_str_of(file.hex);
		if (!rt_ok(&s)) {
			info.state = "broken";
			info.why = rt_str_of(s.error.text);
		}
	}
	info.runs = strcmp(info.state, "on") == 0;
	st = s.status == RT_NOMEM ? RT_NOMEM : RT_OK;
	*out_more = st == RT_OK && (fn == NULL || fn(ctx, &info));
	rt_scope_deinit(&s);
	return st;
}

rt_status
rt_hooks_list(rt_hooks *hooks, rt_hook_info_fn fn, void *ctx, rt_error *err)
{
	rt_hook_registry *registry = (rt_hook_registry *)hooks;
	rt_hook_set *set = rt_hook_set_current(registry);
	rt_status st = RT_OK;
	bool more = true;

	for (size_t i = 0; more && i < set->list.count; i++)
		st = describe(registry, &set->list.items[i], fn, ctx, &more);
	rt_hook_set_unref(set);
	return st == RT_OK ? RT_OK : rt_fail(err, st, "out of memory");
}

/* ---- trust ---- */

/* name: "entry.after/10-note", "10-note" or empty. */
static bool
is_named(const rt_hook *hook, rt_str name)
{
	rt_str whole = hook->name;

	if (name.size == 0 || rt_str_eq(whole, name))
		return true;
	return name.size < whole.size && whole.ptr[whole.size - name.size - 1] == '/' &&
	       memcmp(whole.ptr + whole.size - name.size, name.ptr, name.size) == 0;
}

static rt_status
change_trust(rt_hook_registry *registry, const rt_hook *hook, bool trust, rt_error *err)
{
	rt_trust_program file = {.fd = -1};
	rt_scope s;

	rt_scope_init(&s, registry->alloc);
	if (trust)
		rt_trust_open(&s, registry->work_folder.ptr,
			      hook->path.ptr + registry->work_folder.size + 1, false, &file);
	if (rt_ok(&s))
		rt_trust_change(&s, registry->state_folder, hook->path, rt_str_of(file.hex));
	return rt_scope_end(&s, err);
}

rt_status
rt_hooks_trust(rt_hooks *hooks, rt_str name, bool trust, rt_hook_info_fn fn, void *ctx,
	       rt_error *err)
{
	rt_hook_registry *registry = (rt_hook_registry *)hooks;
	rt_hook_set *set;
	rt_status st = RT_OK;
	size_t count = 0;
	bool more = true;

	if (registry->state_folder == NULL)
		return rt_fail(err, RT_REFUSED, "there is no state directory for trust.json: set HOME or XDG_STATE_HOME");
	set = rt_hook_set_current(registry);
	for (size_t i = 0; more && st == RT_OK && i < set->list.count; i++) {
		const rt_hook *hook = &set->list.items[i];

		if (hook->source != RT_HOOK_FROM_PROJECT || hook->off || !is_named(hook, name))
			continue;
		count++;
		st = change_trust(registry, hook, trust, err);
		atomic_store(&set->states[i]->is_reported, false);
		if (st == RT_OK && describe(registry, hook, fn, ctx, &more) != RT_OK)
			st = rt_fail(err, RT_NOMEM, "out of memory");
	}
	rt_hook_set_unref(set);
	if (st == RT_OK && count == 0)
		return rt_fail(err, RT_NOT_FOUND,
			       name.size == 0 ? "there are no hooks in " RT_HOOK_PROJECT_FOLDER
					      : "there is no such hook in " RT_HOOK_PROJECT_FOLDER);
	return st;
}
