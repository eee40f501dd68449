/* SPDX-License-Identifier: MIT
 *
 * The record of requests, on disk. */
#define _GNU_SOURCE

#include "llm/comms_host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "codec/json.h"

enum { PATH_ROOM = 4096, FILE_SIZE_MAX = 1 << 30 };

struct rt_comms {
	const rt_alloc *alloc;
	const rt_env *env;
	char folder[PATH_ROOM];
	pthread_mutex_t lock;
	int fd; /* -1: no line yet */
	char error[200];
};

static rt_status
set_folder(char *to, rt_str folder, rt_error *err)
{
	if (folder.size + sizeof("/comms/20261122T054412Z-4294967295.jsonl.new") > PATH_ROOM)
		return rt_fail(err, RT_LIMIT, "the name of the state folder is too long");
	memcpy(to, folder.ptr, folder.size);
	memcpy(to + folder.size, "/comms", sizeof("/comms"));
	return RT_OK;
}

rt_status
rt_comms_open(const rt_alloc *alloc, const rt_env *env, rt_str folder, rt_comms **out, rt_error *err)
{
	rt_comms *c = rt_new_array(alloc, 1, sizeof(*c));
	rt_status st;

	if (c == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	memset(c, 0, sizeof(*c));
	c->alloc = alloc;
	c->env = env;
	c->fd = -1;
	st = set_folder(c->folder, folder, err);
	if (st != RT_OK) {
		rt_free(alloc, c);
		return st;
	}
	pthread_mutex_init(&c->lock, NULL);
	*out = c;
	return RT_OK;
}

void
rt_comms_close(rt_comms *c)
{
	if (c == NULL)
		return;
	if (c->fd >= 0)
		close(c->fd);
	pthread_mutex_destroy(&c->lock);
	rt_free(c->alloc, c);
}

const char *
rt_comms_error(const rt_comms *c)
{
	return c->error;
}

static void
failed(rt_comms *c, const char *what)
{
	if (c->error[0] == '\0')
		snprintf(c->error, sizeof(c->error), "the record of requests cannot be %s: %s", what,
			 strerror(errno));
}

/* Every folder of the path, for ourselves alone. */
static int
make_folders(char *path)
{
	char *at;

	for (at = path + 1; *at != '\0'; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		if (mkdir(path, 0700) != 0 && errno != EEXIST) {
			*at = '/';
			return -1;
		}
		*at = '/';
	}
	return mkdir(path, 0700) != 0 && errno != EEXIST ? -1 : 0;
}

static int
open_file(rt_comms *c)
{
	int64_t us = c->env->now_us(c->env->ctx);
	time_t seconds = (time_t)(us / 1000000);
	char path[PATH_ROOM + 64], stamp[32] = "";
	struct tm parts;

	if (make_folders(c->folder) != 0)
		return -1;
	if (gmtime_r(&seconds, &parts) != NULL)
		(void)strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &parts);
	snprintf(path, sizeof(path), "%s/%s-%ld.jsonl", c->folder, stamp, (long)getpid());
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
}

void
rt_comms_line(void *comms, rt_str line)
{
	rt_comms *c = comms;
	struct stat info;
	rt_buf whole;

	rt_buf_init(&whole, c->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&whole, line);
	rt_buf_add_byte(&whole, '\n');
	pthread_mutex_lock(&c->lock);
	if (c->fd >= 0 && fstat(c->fd, &info) == 0 && info.st_nlink == 0) {
		(void)close(c->fd); /* a purge has put another file in its place */
		c->fd = -1;
	}
	if (c->fd < 0)
		c->fd = open_file(c);
	if (c->fd < 0) {
		failed(c, "opened");
	} else if (whole.status == RT_OK) {
		ssize_t done = write(c->fd, whole.ptr, whole.size); /* one write: lines stay whole */

		if (done < 0 || (size_t)done != whole.size)
			failed(c, "written");
	}
	pthread_mutex_unlock(&c->lock);
	rt_buf_deinit(&whole);
}

/* ---- reading ---- */

typedef struct files {
	char **names;
	size_t count;
	const rt_alloc *alloc;
} files;

static int
later_first(const void *a, const void *b)
{
	return strcmp(*(char *const *)b, *(char *const *)a);
}

static void
files_deinit(files *f)
{
	size_t i;

	for (i = 0; i < f->count; i++)
		rt_free(f->alloc, f->names[i]);
	rt_free(f->alloc, f->names);
}

static bool
is_record(const char *name)
{
	size_t size = strlen(name);

	return size > 6 && name[0] != '.' && strcmp(name + size - 6, ".jsonl") == 0;
}

static rt_status
list(const rt_alloc *alloc, const char *folder, files *out, rt_error *err)
{
	DIR *dir = opendir(folder);
	struct dirent *item;
	rt_status st = RT_OK;

	memset(out, 0, sizeof(*out));
	out->alloc = alloc;
	if (dir == NULL)
		return errno == ENOENT ? RT_OK
				       : rt_fail(err, RT_IO, "%s: %s", folder, strerror(errno));
	while (st == RT_OK && (item = readdir(dir)) != NULL) {
		size_t size = strlen(item->d_name) + 1;
		char **more, *name;

		if (!is_record(item->d_name))
			continue;
		more = rt_resize(alloc, out->names, (out->count + 1) * sizeof(*more));
		if (more != NULL)
			out->names = more;
		name = more != NULL ? rt_new_array(alloc, size, 1) : NULL;
		if (name == NULL) {
			st = rt_fail(err, RT_NOMEM, "out of memory");
			break;
		}
		memcpy(name, item->d_name, size);
		out->names[out->count++] = name;
	}
	closedir(dir);
	if (st == RT_OK && out->count > 1)
		qsort(out->names, out->count, sizeof(*out->names), later_first);
	return st;
}

static rt_status
read_file(const char *path, rt_buf *out, rt_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t got = 1;

	if (fd < 0)
		return rt_fail(err, RT_IO, "%s: %s", path, strerror(errno));
	while (got > 0 && out->status == RT_OK) {
		char *to = rt_buf_reserve(out, 65536);

		if (to == NULL)
			break;
		got = read(fd, to, 65536);
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got > 0)
			out->size += (size_t)got;
	}
	close(fd);
	if (got < 0)
		return rt_fail(err, RT_IO, "%s: %s", path, strerror(errno));
	return out->status == RT_OK ? RT_OK : rt_fail(err, out->status, "%s is too large", path);
}

static rt_str
next_line(rt_str all, size_t *at)
{
	size_t from = *at, end = from;

	while (end < all.size && all.ptr[end] != '\n')
		end++;
	*at = end < all.size ? end + 1 : end;
	return rt_str_at(all.ptr + from, end - from);
}

rt_status
rt_comms_read(const rt_alloc *alloc, rt_str folder, rt_comms_line_fn fn, void *ctx, rt_error *err)
{
	char dir[PATH_ROOM], path[PATH_ROOM + 300];
	bool go_on = true;
	files f = {NULL, 0, alloc};
	size_t i, at;
	rt_status st = set_folder(dir, folder, err);

	if (st == RT_OK)
		st = list(alloc, dir, &f, err);
	for (i = 0; st == RT_OK && go_on && i < f.count; i++) {
		rt_buf all;

		rt_buf_init(&all, alloc, FILE_SIZE_MAX);
		snprintf(path, sizeof(path), "%s/%s", dir, f.names[i]);
		st = read_file(path, &all, err);
		for (at = 0; st == RT_OK && go_on && at < all.size;) {
			rt_str line = next_line(rt_buf_str(&all), &at);

			if (line.size > 0)
				go_on = fn(ctx, line);
		}
		rt_buf_deinit(&all);
	}
	files_deinit(&f);
	return st;
}

/* ---- purging ---- */

/* Where the string that begins at this quote ends: at its other quote. */
static size_t
string_end(rt_str line, size_t at)
{
	for (at++; at < line.size && line.ptr[at] != '"'; at++)
		at += line.ptr[at] == '\\';
	return at < line.size ? at : line.size;
}

/* The inside of a string without the text, both in the form that JSON strings have: an escape is
 * one character, and no text begins within it. */
static size_t
add_inside(rt_buf *out, rt_str inside, rt_str needle)
{
	size_t at = 0, size, count = 0;

	while (at < inside.size) {
		if (rt_str_starts(rt_str_at(inside.ptr + at, inside.size - at), needle)) {
			rt_buf_add_c(out, "[purged]");
			at += needle.size;
			count++;
			continue;
		}
		size = inside.ptr[at] != '\\' ? 1 : 2;
		if (size == 2 && at + 1 < inside.size && inside.ptr[at + 1] == 'u')
			size = 6;
		if (size > inside.size - at)
			size = inside.size - at;
		rt_buf_add(out, inside.ptr + at, size);
		at += size;
	}
	return count;
}

/* A line as it is without the text, which is not looked for in keys and numbers. */
static size_t
add_without(rt_buf *out, rt_str line, rt_str needle)
{
	size_t at = 0, end, count = 0;

	while (at < line.size) {
		if (line.ptr[at] != '"') {
			rt_buf_add_byte(out, line.ptr[at++]);
			continue;
		}
		end = string_end(line, at);
		rt_buf_add_byte(out, '"');
		at++;
		if (end + 1 < line.size && line.ptr[end + 1] == ':')
			rt_buf_add(out, line.ptr + at, end - at);
		else
			count += add_inside(out, rt_str_at(line.ptr + at, end - at), needle);
		if (end < line.size)
			rt_buf_add_byte(out, '"');
		at = end + 1;
	}
	return count;
}

/* Is the line of theirs? A reply has the name of its request, which stands before it; those
 * that are theirs are gathered, each with a NUL behind it. */
static bool
is_theirs(const rt_alloc *alloc, const rt_comms_whose *whose, rt_str line, rt_buf *theirs)
{
	rt_json_doc *doc = NULL;
	yyjson_val *root;
	uint64_t project = 0;
	rt_str name;
	size_t at;
	bool found = false;

	if (whose == NULL)
		return true;
	if (rt_json_read(alloc, line, &doc, NULL) != RT_OK)
		return false;
	root = rt_json_root(doc);
	name = rt_json_str(rt_json_get(root, "request"));
	if (rt_json_get(root, "project") != NULL) {
		found = rt_json_u64(rt_json_get(root, "project"), &project) &&
			project == whose->project &&
			rt_str_eq(rt_json_str(rt_json_get(root, "store")), whose->store);
		if (found) {
			rt_buf_add_str(theirs, name);
			rt_buf_add_byte(theirs, '\0');
		}
	}
	for (at = 0; !found && name.size > 0 && at < theirs->size;) {
		rt_str one = rt_str_of(theirs->ptr + at);

		found = rt_json_get(root, "project") == NULL && rt_str_eq(one, name);
		at += one.size + 1;
	}
	rt_json_free(doc);
	return found;
}

/* The old bytes go before the file does. */
static int
overwrite(const char *path, size_t size)
{
	static const char zeros[4096];
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW), bad = 0;
	size_t at = 0;

	if (fd < 0)
		return -1;
	while (at < size && !bad) {
		size_t piece = size - at < sizeof(zeros) ? size - at : sizeof(zeros);

		bad = write(fd, zeros, piece) != (ssize_t)piece;
		at += piece;
	}
	bad = bad || fsync(fd) != 0;
	return close(fd) != 0 || bad ? -1 : 0;
}

static rt_status
replace_file(const char *path, rt_str bytes, size_t old_size, rt_error *err)
{
	char fresh[PATH_ROOM + 320];
	int fd, bad;

	snprintf(fresh, sizeof(fresh), "%s.new", path);
	(void)unlink(fresh);
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bad = fd < 0;
	if (!bad) {
		bad = write(fd, bytes.ptr, bytes.size) != (ssize_t)bytes.size || fsync(fd) != 0;
		bad = close(fd) != 0 || bad;
	}
	if (!bad)
		bad = overwrite(path, old_size) != 0 || rename(fresh, path) != 0;
	return bad ? rt_fail(err, RT_IO, "%s: %s", path, strerror(errno)) : RT_OK;
}

rt_status
rt_comms_purge(const rt_alloc *alloc, rt_str folder, const rt_comms_whose *whose, rt_str text,
	       size_t *out_count, rt_error *err)
{
	char dir[PATH_ROOM], path[PATH_ROOM + 300];
	files f = {NULL, 0, alloc};
	rt_buf quoted;
	rt_str needle;
	size_t i, at;
	rt_status st = set_folder(dir, folder, err);

	*out_count = 0;
	rt_buf_init(&quoted, alloc, RT_BUF_UNLIMITED);
	rt_json_add_string(&quoted, text);
	if (st == RT_OK && quoted.status != RT_OK)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	if (st == RT_OK)
		st = list(alloc, dir, &f, err);
	needle = quoted.size > 2 ? rt_str_at(quoted.ptr + 1, quoted.size - 2) : rt_str_at("", 0);
	for (i = 0; st == RT_OK && needle.size > 0 && i < f.count; i++) {
		size_t changed = 0;
		rt_buf all, fresh, theirs;

		rt_buf_init(&all, alloc, FILE_SIZE_MAX);
		rt_buf_init(&fresh, alloc, RT_BUF_UNLIMITED);
		rt_buf_init(&theirs, alloc, RT_BUF_UNLIMITED);
		snprintf(path, sizeof(path), "%s/%s", dir, f.names[i]);
		st = read_file(path, &all, err);
		for (at = 0; st == RT_OK && at < all.size;) {
			rt_str line = next_line(rt_buf_str(&all), &at);

			if (is_theirs(alloc, whose, line, &theirs))
				changed += add_without(&fresh, line, needle) > 0;
			else
				rt_buf_add_str(&fresh, line);
			rt_buf_add_byte(&fresh, '\n');
		}
		if (st == RT_OK && (fresh.status != RT_OK || theirs.status != RT_OK))
			st = rt_fail(err, RT_NOMEM, "out of memory");
		if (st == RT_OK && changed > 0)
			st = replace_file(path, rt_buf_str(&fresh), all.size, err);
		*out_count += changed;
		rt_buf_deinit(&all);
		rt_buf_deinit(&fresh);
		rt_buf_deinit(&theirs);
	}
	files_deinit(&f);
	rt_buf_deinit(&quoted);
	return st;
}
