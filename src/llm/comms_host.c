/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "llm/comms_host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/scope.h"
#include "codec/json.h"
#include "llm/system_host.h"

#define PURGED "[purged]"

enum { PATH_ROOM = 4096, FILE_SIZE_MAX = 1 << 30 };

struct rt_comms {
	const rt_alloc *alloc;
	const rt_env *env;
	char folder[PATH_ROOM];
	pthread_mutex_t lock;
	int fd; /* -1: not open */
	char error[200];
};

static rt_status
set_folder(char to[PATH_ROOM], rt_str folder, rt_error *err)
{
	if (folder.size + sizeof("/comms/20261122T054412Z-4294967295.jsonl.new") > PATH_ROOM)
		return rt_fail(err, RT_LIMIT, "the name of the state folder is too long");
	(void)snprintf(to, PATH_ROOM, "%.*s/comms", RT_STR_ARG(folder));
	return RT_OK;
}

/* ---- writing ---- */

rt_status
rt_comms_open(const rt_alloc *alloc, const rt_env *env, rt_str folder, rt_comms **out,
	      rt_error *err)
{
	rt_comms *c = rt_new0(alloc, sizeof(*c));
	rt_status st;

	if (c == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	*c = (rt_comms){.alloc = alloc, .env = env, .fd = -1};
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

rt_str
rt_comms_folder(const rt_comms *comms)
{
	return rt_str_at(comms->folder, strlen(comms->folder) - strlen("/comms"));
}

const char *
rt_comms_error(const rt_comms *c)
{
	return c->error;
}

static void
note_failure(rt_comms *c, const char *verb)
{
	if (c->error[0] == '\0')
		snprintf(c->error, sizeof(c->error), "the record of requests cannot be %s: %s",
			 verb, strerror(errno));
}

static int
open_file(rt_comms *c)
{
	time_t seconds = (time_t)(c->env->now_us(c->env->ctx) / 1000000);
	char path[PATH_ROOM + 64], stamp[32] = "";
	struct tm parts;

	if (gmtime_r(&seconds, &parts) != NULL)
		(void)strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &parts);
	(void)snprintf(path, sizeof(path), "%s/%s-%ld.jsonl", c->folder, stamp, (long)getpid());
	if (!rt_folders_make(path))
		return -1;
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
		(void)close(c->fd); /* a purge has replaced the file */
		c->fd = -1;
	}
	if (c->fd < 0)
		c->fd = open_file(c);
	if (c->fd < 0)
		note_failure(c, "opened");
	else if (whole.status == RT_OK && /* one write: lines stay whole */
		 write(c->fd, whole.ptr, whole.size) != (ssize_t)whole.size)
		note_failure(c, "written");
	pthread_mutex_unlock(&c->lock);
	rt_buf_deinit(&whole);
}

/* ---- reading ---- */

static int
is_record(const struct dirent *item)
{
	size_t size = strlen(item->d_name);

	return size > 6 && item->d_name[0] != '.' && strcmp(item->d_name + size - 6, ".jsonl") == 0;
}

static int
newer_first(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*b)->d_name, (*a)->d_name);
}

/* The text of one file; false: no more files. */
typedef bool (*file_fn)(rt_scope *s, void *ctx, const char *path, rt_str text);

/* Every file of the record, newest first. */
static void
each_file(rt_scope *s, rt_str state_folder, file_fn fn, void *ctx)
{
	char folder[PATH_ROOM], path[PATH_ROOM + 300];
	struct dirent **items = NULL;
	rt_buf *text = rt_scope_buf(s);
	bool more = true;
	int count = 0;

	RT_TRY(s, set_folder(folder, state_folder, &s->error));
	if (!rt_ok(s))
		return;
	count = scandir(folder, &items, is_record, newer_first);
	if (count < 0 && errno != ENOENT)
		(void)rt_scope_fail(s, RT_IO, "%s: %s", folder, strerror(errno));
	for (int i = 0; i < count; i++) {
		if (more && rt_ok(s)) {
			(void)snprintf(path, sizeof(path), "%s/%s", folder, items[i]->d_name);
			rt_buf_clear(text);
			rt_status st = rt_file_read(path, O_NOFOLLOW, FILE_SIZE_MAX, text, NULL);
			if (st == RT_NOMEM || st == RT_LIMIT)
				(void)rt_scope_fail(s, st, "%s is too large", path);
			else if (st != RT_OK)
				(void)rt_scope_fail(s, RT_IO, "%s: %s", path, strerror(errno));
			else
				more = fn(s, ctx, path, rt_buf_str(text));
		}
		free(items[i]);
	}
	free(items);
}

typedef struct line_reader {
	rt_comms_line_fn fn;
	void *ctx;
} line_reader;

static bool
read_lines(rt_scope *s, void *ctx, const char *path, rt_str text)
{
	const line_reader *r = ctx;
	bool more = true;
	rt_str line;

	(void)s;
	(void)path;
	while (more && rt_str_split(&text, '\n', &line))
		more = line.size == 0 || r->fn(r->ctx, line);
	return more;
}

rt_status
rt_comms_read(const rt_alloc *alloc, rt_str folder, rt_comms_line_fn fn, void *ctx, rt_error *err)
{
	line_reader reader = {fn, ctx};
	rt_scope s;

	rt_scope_init(&s, alloc);
	each_file(&s, folder, read_lines, &reader);
	return rt_scope_end(&s, err);
}

/* ---- purging ---- */

/* The text inside of a JSON string without the needle, both escaped. An escape is one character:
 * a needle does not begin within it. Returns how often it was found. */
static size_t
add_string_without(rt_buf *out, rt_str text, rt_str needle)
{
	size_t at = 0, count = 0;

	while (at < text.size) {
		rt_str rest = rt_str_skip(text, at);
		size_t size = rest.ptr[0] != '\\' ? 1 : 2;

		if (rt_str_starts(rest, needle)) {
			rt_buf_add_c(out, PURGED);
			at += needle.size;
			count++;
			continue;
		}
		if (size == 2 && rest.size > 1 && rest.ptr[1] == 'u')
			size = 6;
		if (size > rest.size)
			size = rest.size;
		rt_buf_add(out, rest.ptr, size);
		at += size;
	}
	return count;
}

/* A line without the needle in its strings; keys and numbers stay. */
static size_t
add_line_without(rt_buf *out, rt_str line, rt_str needle)
{
	size_t at = 0, count = 0;

	while (at < line.size) {
		size_t end = at + 1;

		rt_buf_add_byte(out, line.ptr[at]);
		if (line.ptr[at++] != '"')
			continue;
		for (end = at; end < line.size && line.ptr[end] != '"'; end++)
			end += line.ptr[end] == '\\';
		if (end > line.size)
			end = line.size;
		if (end + 1 < line.size && line.ptr[end + 1] == ':')
			rt_buf_add(out, line.ptr + at, end - at);
		else
			count += add_string_without(out, rt_str_at(line.ptr + at, end - at),
						    needle);
		if (end < line.size)
			rt_buf_add_byte(out, '"');
		at = end + 1;
	}
	return count;
}

typedef struct purge {
	const rt_comms_whose *whose; /* NULL: everybody's lines */
	rt_str needle;               /* escaped as in a JSON string */
	size_t count;                /* of changed lines */
} purge;

/* Does the line belong to the project? A reply has the id of its request, which comes before it:
 * the ids of the project's requests are gathered, each with a NUL after it. */
static bool
is_theirs(rt_scope *s, const rt_comms_whose *whose, rt_str line, rt_buf *ids)
{
	rt_json_doc *doc = NULL;
	uint64_t project = 0;
	bool found = false;

	if (whose == NULL)
		return true;
	if (rt_json_read(s->alloc, line, &doc, NULL) != RT_OK)
		return false;
	yyjson_val *root = rt_json_root(doc), *number = rt_json_get(root, "project");
	rt_str id = rt_json_str(rt_json_get(root, "request"));
	if (number != NULL) {
		found = rt_json_u64(number, &project) && project == whose->project &&
			rt_str_eq(rt_json_str(rt_json_get(root, "store")), whose->store);
		if (found) {
			rt_buf_add_str(ids, id);
			rt_buf_add_byte(ids, '\0');
		}
	} else if (id.size > 0) {
		for (size_t at = 0; !found && at < ids->size;) {
			rt_str one = rt_str_of(ids->ptr + at);

			found = rt_str_eq(one, id);
			at += one.size + 1;
		}
	}
	rt_json_free(doc);
	return found;
}

/* Overwrite the bytes of a file that is about to be replaced. */
static bool
overwrite(const char *path, size_t size)
{
	static const char zeros[4096];
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	bool ok = fd >= 0;

	for (size_t at = 0; ok && at < size; at += sizeof(zeros)) {
		size_t piece = size - at < sizeof(zeros) ? size - at : sizeof(zeros);

		ok = write(fd, zeros, piece) == (ssize_t)piece;
	}
	ok = ok && fsync(fd) == 0;
	return fd >= 0 && close(fd) == 0 && ok;
}

static bool
purge_file(rt_scope *s, void *ctx, const char *path, rt_str text)
{
	rt_buf *fresh = rt_scope_buf(s), *ids = rt_scope_buf(s);
	char fresh_path[PATH_ROOM + 320];
	size_t changed = 0, size = text.size;
	purge *p = ctx;
	rt_str line;

	while (rt_str_split(&text, '\n', &line)) {
		if (is_theirs(s, p->whose, line, ids))
			changed += add_line_without(fresh, line, p->needle) > 0;
		else
			rt_buf_add_str(fresh, line);
		rt_buf_add_byte(fresh, '\n');
	}
	if (fresh->status != RT_OK || ids->status != RT_OK)
		(void)rt_scope_nomem(s);
	(void)snprintf(fresh_path, sizeof(fresh_path), "%s.new", path);
	if (rt_ok(s) && changed > 0 &&
	    (!rt_file_write(fresh_path, rt_buf_str(fresh), true) || !overwrite(path, size) ||
	     rename(fresh_path, path) != 0))
		(void)rt_scope_fail(s, RT_IO, "%s: %s", path, strerror(errno));
	p->count += changed;
	rt_buf_deinit(fresh); /* not at the end of all files */
	return true;
}

rt_status
rt_comms_purge(const rt_alloc *alloc, rt_str folder, const rt_comms_whose *whose, rt_str text,
	       size_t *out_count, rt_error *err)
{
	purge p = {.whose = whose};
	rt_scope s;

	rt_scope_init(&s, alloc);
	rt_buf *quoted = rt_scope_buf(&s);
	rt_json_add_string(quoted, text);
	p.needle = rt_scope_str(&s, quoted);
	if (p.needle.size > 2) {
		p.needle = rt_str_at(p.needle.ptr + 1, p.needle.size - 2);
		each_file(&s, folder, purge_file, &p);
	}
	*out_count = p.count;
	return rt_scope_end(&s, err);
}
