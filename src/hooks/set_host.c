/* SPDX-License-Identifier: MIT
 *
 * Loads hooks from the configuration and from folders, at the start and again whenever one of the
 * files has changed. A set is never modified: a new one replaces it, and events under way finish
 * with the set that they began with. */
#define _GNU_SOURCE

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hooks/hooks_impl.h"

enum { FOLDER_MAX = 2000 /* names in one folder */ };

/* ---- states ---- */

static void
state_unref(rt_hook_state *state)
{
	if (state == NULL || atomic_fetch_sub(&state->refs, 1) > 1)
		return;
	rt_coprocess_close(state->process);
	rt_scope_deinit(&state->scope);
	pthread_mutex_destroy(&state->lock);
	rt_free(state->alloc, state);
}

static rt_hook_state *
state_new(const rt_alloc *alloc)
{
	rt_hook_state *state = rt_new0(alloc, sizeof(*state));

	if (state == NULL)
		return NULL;
	state->alloc = alloc;
	atomic_init(&state->refs, 1);
	rt_scope_init(&state->scope, alloc);
	pthread_mutex_init(&state->lock, NULL);
	return state;
}

static bool
is_same(const rt_hook *a, const rt_hook *b)
{
	if (a->source != b->source || a->event != b->event || a->arg_count != b->arg_count ||
	    a->timeout_ms != b->timeout_ms || a->required != b->required ||
	    a->is_async != b->is_async || a->persistent != b->persistent || a->once != b->once ||
	    a->off != b->off || !rt_str_eq(a->name, b->name) ||
	    !rt_str_eq(a->event_name, b->event_name) || !rt_str_eq(a->match, b->match) ||
	    !rt_str_eq(a->path, b->path) || !rt_str_eq(a->broken, b->broken))
		return false;
	for (size_t i = 0; i < a->arg_count; i++)
		if (!rt_str_eq(a->args[i], b->args[i]))
			return false;
	return true;
}

/* Each hook gets the state of the same hook in before, or a new one. Both lists have the same
 * order, so that equal hooks keep their own states. */
static void
assign_states(rt_hook_set *set, rt_hook_set *before)
{
	size_t from = 0, before_count = before != NULL ? before->list.count : 0;

	set->states = rt_scope_array(&set->list.scope, set->list.count, sizeof(*set->states));
	for (size_t i = 0; i < set->list.count && rt_ok(&set->list.scope); i++) {
		size_t k = from;

		while (k < before_count && !is_same(&set->list.items[i], &before->list.items[k]))
			k++;
		if (k < before_count) {
			from = k + 1;
			set->states[i] = before->states[k];
			atomic_fetch_add(&set->states[i]->refs, 1);
		} else {
			set->states[i] = state_new(set->alloc);
		}
		if (set->states[i] == NULL)
			rt_scope_nomem(&set->list.scope);
	}
}

/* ---- folders ---- */

static void
fail_unreadable(rt_scope *s, const char *path, int error)
{
	rt_scope_fail(s, RT_IO, "the hooks in %s cannot be read: %s", path, strerror(error));
}

/* True if the error means that the folder does not exist. */
static bool
is_absent(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ELOOP;
}

static const char *
join(rt_scope *s, const char *folder, const char *name)
{
	rt_buf *path = rt_scope_buf(s);

	rt_buf_add_f(path, "%s/%s", folder, name);
	return rt_scope_str(s, path).ptr;
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in a folder, sorted by bytes, without hidden files and backups (".…" and "…~"). path
 * and top are for messages: top for the one about the limit. */
static const char **
read_names(rt_scope *s, int folder, const char *path, const char *top, size_t *out_count)
{
	int fd = fcntl(folder, F_DUPFD_CLOEXEC, 0);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const char **names;
	struct dirent *entry;
	size_t count = 0;
	rt_buf *all = rt_scope_buf(s); /* each followed by a NUL */

	*out_count = 0;
	if (dir == NULL) {
		fail_unreadable(s, path, errno);
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	while (errno = 0, (entry = readdir(dir)) != NULL) {
		size_t size = strlen(entry->d_name);

		if (entry->d_name[0] == '.' || entry->d_name[size - 1] == '~')
			continue;
		rt_buf_add(all, entry->d_name, size + 1);
		if (++count > FOLDER_MAX) {
			rt_scope_fail(s, RT_LIMIT, "there are too many files in %s", top);
			break;
		}
	}
	if (entry == NULL && errno != 0)
		fail_unreadable(s, path, errno);
	closedir(dir);
	names = rt_scope_array(s, count, sizeof(*names));
	(void)rt_scope_str(s, all);
	if (!rt_ok(s))
		return NULL;
	for (const char *name = all->ptr; *out_count < count; name += strlen(name) + 1)
		names[(*out_count)++] = name;
	qsort(names, count, sizeof(*names), compare_names);
	return names;
}

/* A file FOLDER/<event>/NN-name. Symbolic links are followed in the user's folder only. */
static void
add_file(rt_hook_set *set, rt_hook_source source, int folder, const char *event, const char *name,
	 const char *path)
{
	const char *problem = NULL;
	struct stat info;

	if (fstatat(folder, name, &info,
		    source == RT_HOOK_FROM_PROJECT ? AT_SYMLINK_NOFOLLOW : 0) != 0)
		problem = strerror(errno);
	else if (S_ISLNK(info.st_mode))
		problem = "a symbolic link cannot be a project's hook";
	else if (!S_ISREG(info.st_mode))
		problem = "it is not a file";
	else if (rt_utf8_valid_size(rt_str_of(path)) != strlen(path))
		problem = "its name is not UTF-8";
	if (problem != NULL) {
		rt_buf_add_c(set->list.warnings, "hook ");
		rt_utf8_repair(set->list.warnings, rt_str_of(path));
		rt_buf_add_f(set->list.warnings, ": %s\n", problem);
		return;
	}
	rt_hook_list_add_file(&set->list, source, rt_str_of(event), rt_str_of(name),
			      rt_str_of(path), (info.st_mode & 0111) == 0);
}

static void
add_event(rt_hook_set *set, rt_hook_source source, int top, const char *folder, const char *event)
{
	rt_scope *s = &set->list.scope;
	const char *path = join(s, folder, event), **names;
	size_t count;
	int fd;

	rt_hook_snapshot_add(&set->files, s, path);
	if (!rt_ok(s))
		return;
	fd = openat(top, event,
		    O_RDONLY | O_DIRECTORY | O_CLOEXEC |
			    (source == RT_HOOK_FROM_PROJECT ? O_NOFOLLOW : 0));
	if (fd < 0) {
		if (!is_absent(errno)) /* it may be a file, such as a README */
			fail_unreadable(s, path, errno);
		return;
	}
	names = read_names(s, fd, path, folder, &count);
	for (size_t i = 0; i < count && rt_ok(s); i++) {
		const char *file = join(s, path, names[i]);

		rt_hook_snapshot_add(&set->files, s, file);
		if (rt_ok(s))
			add_file(set, source, fd, event, names[i], file);
	}
	close(fd);
}

static void
add_folder(rt_hook_registry *registry, rt_hook_set *set, rt_hook_source source, const char *folder)
{
	rt_scope *s = &set->list.scope;
	const char **events;
	size_t count;
	int top;

	rt_hook_snapshot_add(&set->files, s, folder);
	if (!rt_ok(s))
		return;
	if (source == RT_HOOK_FROM_PROJECT)
		top = rt_open_below(registry->work_folder.ptr, RT_HOOK_PROJECT_FOLDER, O_DIRECTORY);
	else
		top = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top < 0) {
		if (!is_absent(errno))
			fail_unreadable(s, folder, errno);
		return;
	}
	events = read_names(s, top, folder, folder, &count);
	for (size_t i = 0; i < count && rt_ok(s); i++)
		add_event(set, source, top, folder, events[i]);
	close(top);
}

/* ---- sets ---- */

void
rt_hook_set_unref(rt_hook_set *set)
{
	if (set == NULL || atomic_fetch_sub(&set->refs, 1) > 1)
		return;
	for (size_t i = 0; set->states != NULL && i < set->list.count; i++)
		state_unref(set->states[i]);
	rt_hook_list_deinit(&set->list);
	rt_free(set->alloc, set);
}

rt_hook_set *
rt_hook_set_current(rt_hook_registry *registry)
{
	rt_hook_set *set;

	pthread_mutex_lock(&registry->lock);
	set = registry->set;
	atomic_fetch_add(&set->refs, 1);
	pthread_mutex_unlock(&registry->lock);
	return set;
}

static void
add_config(rt_hook_registry *registry, rt_hook_set *set, bool again)
{
	rt_scope *s = &set->list.scope;

	if (registry->config_path != NULL)
		rt_hook_snapshot_add(&set->files, s, registry->config_path);
	if (again && registry->define != NULL) {
		rt_buf_clear(&registry->definitions);
		RT_TRY(s, registry->define(registry->alloc, &registry->definitions, &s->error));
		if (registry->definitions.status != RT_OK)
			rt_scope_nomem(s);
	}
	rt_hook_list_read(&set->list, rt_buf_str(&registry->definitions));
}

/* True if a hook below that folder is trusted. */
static bool
is_any_trusted(const rt_hook_registry *registry, const char *folder)
{
	rt_str prefix = rt_str_of(folder);
	bool found = false;
	rt_scope s;

	if (registry->state_folder == NULL)
		return false;
	rt_scope_init(&s, registry->alloc);
	yyjson_val *hooks = rt_json_get(rt_trust_read(&s, registry->state_folder), "hooks");
	for (rt_json_iter it = rt_json_members(hooks); rt_json_next(&it);)
		found |= rt_str_starts(it.key, prefix) && it.key.size > prefix.size &&
			 it.key.ptr[prefix.size] == '/';
	rt_scope_deinit(&s);
	return found;
}

/* An unreadable folder is an error only if the user relies on a hook in it. Otherwise a folder of
 * another user could prevent work in it. */
static void
add_project(rt_hook_registry *registry, rt_hook_set *set)
{
	rt_scope *s = &set->list.scope;
	const char *folder;

	if (registry->work_folder.size == 0)
		return;
	folder = join(s, registry->work_folder.ptr, RT_HOOK_PROJECT_FOLDER);
	add_folder(registry, set, RT_HOOK_FROM_PROJECT, folder);
	if (s->status == RT_IO && !is_any_trusted(registry, folder)) {
		rt_buf_add_c(set->list.warnings, "the project's hooks are not run: ");
		rt_utf8_repair(set->list.warnings, rt_str_of(s->error.text));
		rt_buf_add_byte(set->list.warnings, '\n');
		s->status = RT_OK;
		s->error = (rt_error){0};
	}
}

rt_status
rt_hook_set_load(rt_hook_registry *registry, rt_hook_set *before, rt_hook_set **out, rt_error *err)
{
	rt_hook_set *set = rt_new0(registry->alloc, sizeof(*set));
	rt_scope *s;
	rt_status st;

	if (set == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	set->alloc = registry->alloc;
	atomic_init(&set->refs, 1);
	rt_hook_list_init(&set->list, registry->alloc);
	s = &set->list.scope;
	add_config(registry, set, before != NULL);
	if (registry->user_folder != NULL)
		add_folder(registry, set, RT_HOOK_FROM_USER, registry->user_folder);
	if (rt_ok(s))
		add_project(registry, set);
	assign_states(set, before);
	st = s->status;
	if (st == RT_OK) {
		*out = set;
		return RT_OK;
	}
	if (err != NULL)
		*err = s->error;
	rt_hook_set_unref(set);
	return st;
}

void
rt_hooks_reload(rt_hooks *hooks)
{
	rt_hook_registry *registry = (rt_hook_registry *)hooks;
	rt_hook_set *before, *set = NULL;
	rt_error error = {0};
	rt_status st;

	pthread_mutex_lock(&registry->loading);
	before = registry->set; /* only changed below, with this lock held */
	if (!registry->is_stale && !rt_hook_snapshot_is_stale(&before->files)) {
		pthread_mutex_unlock(&registry->loading);
		return;
	}
	st = rt_hook_set_load(registry, before, &set, &error);
	pthread_mutex_lock(&registry->lock);
	registry->is_stale = st != RT_OK;
	registry->load_error = error;
	if (st == RT_OK) {
		rt_str warnings = rt_buf_str(set->list.warnings);

		if (!rt_str_eq(warnings, rt_buf_str(before->list.warnings))) {
			rt_buf_clear(&registry->warnings);
			rt_buf_add_str(&registry->warnings, warnings);
		}
		registry->set = set;
	}
	pthread_mutex_unlock(&registry->lock);
	pthread_mutex_unlock(&registry->loading);
	if (st == RT_OK)
		rt_hook_set_unref(before); /* may wait for a coprocess to end */
}
