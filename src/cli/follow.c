/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "cli/follow.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

enum {
	CHANGES = IN_CREATE | IN_MOVED_TO | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVE_SELF,
	EVENTS_ROOM = 64 * 1024
};

/* --- watched folders --- */

/* The index of a watch, or where it would be inserted. */
static size_t
place_of(const rt_follow *w, int wd)
{
	size_t first = 0, end = w->count;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (w->folders[middle].wd < wd)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

static void
forget(rt_follow *w, int wd)
{
	size_t at = place_of(w, wd);

	if (at == w->count || w->folders[at].wd != wd)
		return;
	free(w->folders[at].path);
	w->count--;
	memmove(w->folders + at, w->folders + at + 1, (w->count - at) * sizeof(*w->folders));
}

/* True: it exists. Watching it again only updates its path. */
static bool
add_folder(rt_follow *w, const char *path)
{
	int wd = inotify_add_watch(w->fd, path, CHANGES | IN_ONLYDIR);
	char *copy = wd < 0 ? NULL : strdup(path);
	size_t at;

	if (wd < 0) {
		w->limited = w->limited || errno == ENOSPC || errno == ENOMEM;
		return errno != ENOENT && errno != ENOTDIR;
	}
	at = place_of(w, wd);
	if (copy != NULL && (at == w->count || w->folders[at].wd != wd)) {
		rt_follow_folder *folders = rt_scope_grow(&w->cli->s, w->folders, w->count,
							  &w->capacity, sizeof(*folders));

		if (folders == NULL) {
			free(copy);
			return true;
		}
		w->folders = folders;
		memmove(w->folders + at + 1, w->folders + at,
			(w->count - at) * sizeof(*w->folders));
		w->folders[at].path = NULL;
		w->count++;
	}
	if (copy == NULL) {
		rt_scope_nomem(&w->cli->s);
		return true;
	}
	free(w->folders[at].path);
	w->folders[at] = (rt_follow_folder){wd, copy};
	return true;
}

/* The folder above a path, in place; false: there is none. */
static bool
go_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash == NULL || path[1] == 0)
		return false;
	slash[slash == path] = 0;
	return true;
}

/* The nearest existing folder above a directory that does not exist yet. */
static void
add_above(rt_follow *w, const char *directory)
{
	char *path = strdup(directory);

	if (path == NULL)
		rt_scope_nomem(&w->cli->s);
	while (path != NULL && go_up(path) && !add_folder(w, path))
		;
	free(path);
}

/* --- the walk --- */

static void
found_folder(void *ctx, const rt_program *program, const char *path)
{
	if (program->kind != RT_PROGRAM_IN_WORK)
		(void)add_folder(ctx, path);
}

/* Reports a file, or the session that it is a part of: …/message/SESSION/ID.json of …/session/PROJECT/SESSION.json. */
static void
report(rt_follow *w, const rt_program *program, const char *path)
{
	rt_str folder = rt_str_of(path);
	size_t at = rt_str_find(folder, RT_STR("/storage/message/"), 0), end;
	glob_t found = {0};
	char pattern[4096];

	if (program->kind != RT_PROGRAM_MESSAGES) {
		w->changed(w->ctx, program, path);
		return;
	}
	if (at == SIZE_MAX)
		return;
	folder = rt_str_skip(folder, at + strlen("/storage/message/"));
	end = rt_str_find(folder, RT_STR("/"), 0);
	if (end == SIZE_MAX || folder.ptr[0] == '*' ||
	    snprintf(pattern, sizeof(pattern), "%.*s/storage/session/*/%.*s.json", (int)at, path, (int)end,
		     folder.ptr) >= (int)sizeof(pattern))
		return;
	if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			w->changed(w->ctx, program, found.gl_pathv[i]);
	globfree(&found);
}

static int64_t
changed_us(const struct stat *info)
{
	return (int64_t)info->st_ctim.tv_sec * 1000000 + info->st_ctim.tv_nsec / 1000;
}

/* Did the file change since then, or the one beside it by way of which a database is written? A renamed file
 * keeps the time of its content. */
static bool
has_changed(const rt_follow *w, const char *path, const struct stat *info)
{
	struct stat beside;
	rt_buf name;
	bool is_newer;

	if (changed_us(info) >= w->since_us)
		return true;
	rt_buf_init(&name, w->cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_f(&name, "%s-wal", path);
	is_newer = name.status == RT_OK && stat(name.ptr, &beside) == 0 && beside.st_size > 0 &&
		   changed_us(&beside) >= w->since_us;
	rt_buf_deinit(&name);
	return is_newer;
}

static void
found_file(void *ctx, const rt_program *program, const char *path, const struct stat *info)
{
	rt_follow *w = ctx;
	char *folder = program->kind == RT_PROGRAM_IN_WORK ? strdup(path) : NULL;

	if (has_changed(w, path, info) &&
	    (w->since_us > INT64_MIN || program->kind != RT_PROGRAM_MESSAGES)) /* then all sessions are reported */
		report(w, program, path);
	if (folder != NULL && go_up(folder))
		(void)add_folder(w, folder);
	free(folder);
}

static void
walk(rt_follow *w, const rt_follow_root *root, const char *folder)
{
	rt_program_walk(w->cli, root->program, root->path, folder,
			&(rt_program_visitor){.ctx = w,
					      .folder = found_folder,
					      .file = found_file,
					      .names = w->names,
					      .count = w->name_count});
}

void
rt_follow_rescan(rt_follow *w, int64_t since_us)
{
	w->lost = false;
	w->limited = false;
	w->since_us = since_us;
	for (size_t i = 0; rt_ok(&w->cli->s) && i < w->root_count; i++) {
		if (access(w->roots[i].path, F_OK) != 0)
			add_above(w, w->roots[i].path);
		walk(w, &w->roots[i], w->roots[i].path); /* also if it was just created */
	}
}

/* --- events --- */

static bool
is_below(const char *path, const char *folder)
{
	size_t size = strlen(folder);

	return strncmp(path, folder, size) == 0 && (path[size] == 0 || path[size] == '/');
}

/* Something appeared. It may be a folder with files, or one above a program's directory. */
static void
appeared(rt_follow *w, const char *path, bool is_folder)
{
	w->since_us = INT64_MIN;
	for (size_t i = 0; i < w->root_count; i++) {
		const rt_follow_root *root = &w->roots[i];

		if (root->program->kind == RT_PROGRAM_IN_WORK)
			continue;
		if (is_below(root->path, path)) {
			if (access(root->path, F_OK) != 0)
				add_above(w, root->path);
			walk(w, root, root->path);
		} else if (is_folder && is_below(path, root->path)) {
			walk(w, root, path);
		}
	}
}

/* A database is written by way of a file beside it. */
static void
file_changed(rt_follow *w, char *path)
{
	size_t size = strlen(path);

	if (size > 4 && strcmp(path + size - 4, "-wal") == 0)
		path[size - 4] = 0;
	for (size_t i = 0; i < w->root_count; i++) {
		const rt_follow_root *root = &w->roots[i];

		if (is_below(path, root->path) && rt_program_has(root->program, path) &&
		    rt_program_is_chosen(root->program, path, w->names, w->name_count)) {
			report(w, root->program, path);
			return;
		}
	}
}

static void
take_event(rt_follow *w, const struct inotify_event *event)
{
	size_t at = place_of(w, event->wd);
	rt_buf path;

	if ((event->mask & IN_Q_OVERFLOW) != 0)
		w->lost = true;
	if (at == w->count || w->folders[at].wd != event->wd)
		return;
	if ((event->mask & (IN_IGNORED | IN_MOVE_SELF)) != 0) {
		/* It may be one that a program creates again. */
		w->lost = true;
		if ((event->mask & IN_MOVE_SELF) != 0)
			(void)inotify_rm_watch(w->fd, event->wd);
		forget(w, event->wd);
		return;
	}
	if (event->len == 0)
		return;
	rt_buf_init(&path, w->cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_f(&path, "%s%s%s", w->folders[at].path,
		     w->folders[at].path[1] == 0 ? "" : "/", event->name);
	if (path.status == RT_OK && (event->mask & (IN_CREATE | IN_MOVED_TO)) != 0)
		appeared(w, path.ptr, (event->mask & IN_ISDIR) != 0);
	if (path.status == RT_OK && (event->mask & IN_ISDIR) == 0)
		file_changed(w, path.ptr);
	rt_scope_note(&w->cli->s, path.status);
	rt_buf_deinit(&path);
}

void
rt_follow_wait(rt_follow *w, int ms)
{
	_Alignas(struct inotify_event) char bytes[EVENTS_ROOM];
	ssize_t got = 0;

	if (!rt_host_wait(w->fd, ms))
		return;
	got = read(w->fd, bytes, sizeof(bytes));
	for (ssize_t at = 0; at < got && rt_ok(&w->cli->s);) {
		const struct inotify_event *event = (const void *)(bytes + at);

		take_event(w, event);
		at += (ssize_t)(sizeof(*event) + event->len);
	}
}

/* --- opening --- */

static void
close_follow(void *item)
{
	rt_follow *w = item;

	for (size_t i = 0; i < w->count; i++)
		free(w->folders[i].path);
	w->count = 0;
	if (w->fd >= 0)
		(void)close(w->fd);
	w->fd = -1;
}

void
rt_follow_open(rt_follow *w)
{
	rt_cli *cli = w->cli;

	w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (w->fd < 0) {
		rt_cli_hint(cli, "Raise the limit: fs.inotify.max_user_instances (man 7 inotify)");
		rt_cli_fail(cli, RT_LIMIT, "cannot watch files: %s", strerror(errno));
	}
	rt_scope_defer(&cli->s, close_follow, w);
	for (const rt_program *p = rt_programs; p->name != NULL && rt_ok(&cli->s); p++) {
		const char *path = rt_program_directory(&cli->s, p);

		if (path == NULL || p->kind == RT_PROGRAM_DOWNLOADS ||
		    !rt_program_is_chosen(p, NULL, w->names, w->name_count))
			continue;
		w->roots = rt_scope_grow(&cli->s, w->roots, w->root_count, &w->root_capacity,
					 sizeof(*w->roots));
		if (w->roots != NULL)
			w->roots[w->root_count++] = (rt_follow_root){p, path};
	}
}
