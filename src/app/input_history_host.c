/* SPDX-License-Identifier: MIT
 *
 * The file is written in place under its lock, so that no removed text stays in freed blocks. A
 * crash in the middle leaves lines that cannot be read; they are ignored. */
#define _GNU_SOURCE

#include "app/input_history_host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "codec/json.h"
#include "llm/system_host.h"

enum {
	PATH_MAX_SIZE = 4096,
	FILE_MAX = 64 << 20, /* longer files were not written by Retake */
	LOCK_WAIT_MS = 1000,
	DISC_MAX = 1 << 17   /* discussions whose drafts are searched */
};

uint64_t
rt_input_history_hash(rt_str store, rt_str project, uint32_t disc)
{
	return rt_hash(project.ptr, project.size, rt_hash(store.ptr, store.size, disc));
}

static bool
find_path(const rt_input_history_key *whose, char path[PATH_MAX_SIZE])
{
	int size;

	if (whose->folder.size == 0 || whose->store.size == 0)
		return false;
	size = snprintf(path, PATH_MAX_SIZE, "%.*s/sent-%016llx.jsonl", RT_STR_ARG(whose->folder),
			(unsigned long long)rt_input_history_hash(whose->store, whose->project, 0));
	return size > 0 && size < PATH_MAX_SIZE;
}

/* ---- a locked file ---- */

/* An open, locked file and its content. */
typedef struct locked_file {
	const char *path;
	int fd; /* -1: none */
	rt_buf *all;
} locked_file;

static void
fail_errno(rt_scope *s, const char *path)
{
	rt_scope_fail(s, RT_IO, "%s: %s", path,
		      errno != 0 ? strerror(errno) : "it belongs to another user");
}

static void
close_file(void *file)
{
	(void)close(((locked_file *)file)->fd);
}

/* False: errno says why; 0: it was not written by Retake. */
static bool
read_file(int fd, rt_buf *out)
{
	struct stat is;
	ssize_t got = 1;

	if (fstat(fd, &is) != 0)
		return false;
	errno = 0;
	if (!S_ISREG(is.st_mode) || is.st_size > FILE_MAX)
		return false;
	while (got > 0 && out->size < (size_t)is.st_size) {
		size_t rest = (size_t)is.st_size - out->size;
		char *to = rt_buf_reserve(out, rest);

		got = to == NULL ? 0 : pread(fd, to, rest, (off_t)out->size);
		if (got > 0)
			out->size += (size_t)got;
	}
	return got >= 0;
}

/* Opens, locks and reads; the scope closes it. A missing file is not a failure. */
static locked_file *
open_file(rt_scope *s, const char *path, bool create)
{
	locked_file *f = rt_scope_get(s, sizeof(*f));

	if (f == NULL)
		return NULL;
	f->path = path;
	f->all = rt_scope_buf(s);
	do
		f->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0), 0600);
	while (f->fd < 0 && errno == EINTR);
	if (f->fd < 0) {
		if (errno != ENOENT || create)
			fail_errno(s, path);
		return f;
	}
	rt_scope_defer(s, close_file, f);
	if (rt_ok(s) && (!rt_file_lock(f->fd, LOCK_WAIT_MS) || !read_file(f->fd, f->all)))
		fail_errno(s, path);
	(void)rt_scope_str(s, f->all);
	return f;
}

static bool
write_at(int fd, rt_str bytes, size_t at)
{
	while (bytes.size > 0) {
		ssize_t put = pwrite(fd, bytes.ptr, bytes.size, (off_t)at);

		if (put <= 0)
			return false;
		at += (size_t)put;
		bytes = rt_str_at(bytes.ptr + put, bytes.size - (size_t)put);
	}
	return true;
}

/* Writes fresh in place of old_size bytes, all of which are overwritten. */
static void
replace(rt_scope *s, const locked_file *f, rt_str fresh, size_t old_size)
{
	static const char zeros[4096] = {0};
	bool is_written = write_at(f->fd, fresh, 0);

	for (size_t at = fresh.size; is_written && at < old_size; at += sizeof(zeros)) {
		size_t size = old_size - at < sizeof(zeros) ? old_size - at : sizeof(zeros);

		is_written = write_at(f->fd, rt_str_at(zeros, size), at);
	}
	if (!is_written || fsync(f->fd) != 0 || ftruncate(f->fd, (off_t)fresh.size) != 0)
		fail_errno(s, f->path);
}

/* The next line without its end. */
static bool
next_line(rt_str all, size_t *at, rt_str *out)
{
	size_t end;

	if (*at >= all.size)
		return false;
	end = rt_str_find(all, RT_STR("\n"), *at);
	end = end == SIZE_MAX ? all.size : end;
	*out = rt_str_at(all.ptr + *at, end - *at);
	*at = end + 1;
	return true;
}

/* The text of a line; empty: it cannot be read. It lives until the next call with this scope. */
static rt_str
read_line(rt_scope *line_scope, rt_str line)
{
	rt_scope_reset(line_scope);
	return line.size < 2 ? RT_STR("") : rt_json_str(rt_json_parse(line_scope, line));
}

/* ---- adding and reading ---- */

/* The beginning of the newest texts that are within the limits of count and size. */
static size_t
trim(rt_str all)
{
	size_t at = all.size, count = 0, begin = all.size;

	while (at > 0 && count < RT_INPUT_HISTORY_MAX) {
		for (at--; at > 0 && all.ptr[at - 1] != '\n'; at--)
			;
		if (all.size - at > RT_INPUT_HISTORY_BYTES)
			break;
		begin = at;
		count++;
	}
	return begin;
}

static size_t
count_lines(rt_str all)
{
	size_t count = 0;

	for (size_t i = 0; i < all.size; i++)
		count += all.ptr[i] == '\n';
	return count;
}

/* Is this the last line? */
static bool
ends_with_line(rt_str all, rt_str line)
{
	size_t before = all.size - line.size;

	return all.size >= line.size &&
	       rt_str_eq(rt_str_at(all.ptr + before, line.size), line) &&
	       (before == 0 || all.ptr[before - 1] == '\n');
}

static void
add(rt_scope *s, const char *path, rt_str text)
{
	locked_file *f = open_file(s, path, true);
	rt_buf *line = rt_scope_buf(s);

	rt_json_add_string(line, text);
	rt_buf_add_byte(line, '\n');
	rt_str added = rt_scope_str(s, line);
	if (!rt_ok(s) || added.size > RT_INPUT_HISTORY_BYTES)
		return;
	rt_buf *all = f->all;
	size_t old_size = all->size;
	if (all->size > 0 && all->ptr[all->size - 1] != '\n')
		rt_buf_add_byte(all, '\n'); /* a line of a program that was interrupted */
	if (ends_with_line(rt_buf_str(all), added))
		return;
	rt_buf_add_str(all, added);
	rt_str fresh = rt_scope_str(s, all);
	if (!rt_ok(s))
		return;
	if (fresh.size > RT_INPUT_HISTORY_BYTES || count_lines(fresh) > RT_INPUT_HISTORY_MAX) {
		size_t begin = trim(fresh);

		replace(s, f, rt_str_at(fresh.ptr + begin, fresh.size - begin), old_size);
	} else {
		(void)write_at(f->fd, rt_str_at(fresh.ptr + old_size, fresh.size - old_size),
			       old_size);
	}
}

void
rt_input_history_add(const rt_alloc *alloc, const rt_input_history_key *whose, rt_str text)
{
	char path[PATH_MAX_SIZE];
	rt_scope s;

	if (text.size == 0 || text.size > RT_INPUT_HISTORY_TEXT_MAX || !find_path(whose, path))
		return;
	(void)rt_folders_make(path);
	rt_scope_init(&s, alloc);
	add(&s, path, text);
	rt_scope_deinit(&s);
}

void
rt_input_history_each(const rt_alloc *alloc, const rt_input_history_key *whose,
		      void (*fn)(void *ctx, rt_str text), void *ctx)
{
	char path[PATH_MAX_SIZE];
	size_t at = 0;
	rt_str line, text;
	rt_scope s, line_scope;

	if (!find_path(whose, path))
		return;
	rt_scope_init(&s, alloc);
	rt_scope_init(&line_scope, alloc);
	const locked_file *f = open_file(&s, path, false);
	while (rt_ok(&s) && next_line(rt_buf_str(f->all), &at, &line)) {
		text = read_line(&line_scope, line);
		if (text.size > 0)
			fn(ctx, text);
	}
	rt_scope_deinit(&line_scope);
	rt_scope_deinit(&s);
}

/* ---- purge ---- */

static void
purge_sent(rt_scope *s, const char *path, rt_str text, size_t *count)
{
	const locked_file *f = open_file(s, path, false);
	rt_buf *fresh = rt_scope_buf(s);
	size_t at = 0, held = 0;
	bool is_other = false;
	rt_str line;
	rt_scope line_scope;

	rt_scope_init(&line_scope, s->alloc);
	while (rt_ok(s) && next_line(rt_buf_str(f->all), &at, &line)) {
		rt_str sent = read_line(&line_scope, line);
		bool holds = sent.size > 0 && rt_str_find(sent, text, 0) != SIZE_MAX;

		if (line_scope.status == RT_NOMEM)
			rt_scope_nomem(s);
		held += holds;
		/* An unreadable line may contain anything. */
		if (holds || sent.size == 0) {
			is_other = true;
			continue;
		}
		rt_buf_add_str(fresh, line);
		rt_buf_add_byte(fresh, '\n');
	}
	rt_scope_deinit(&line_scope);
	rt_str kept = rt_scope_str(s, fresh);
	if (rt_ok(s) && is_other)
		replace(s, f, kept, f->all->size);
	if (rt_ok(s))
		*count += held;
}

static void
purge_draft(rt_scope *s, const char *path, rt_str text, size_t *count)
{
	const locked_file *f = open_file(s, path, false);
	size_t at = 0, found = 0;

	for (; rt_ok(s) && (at = rt_str_find(rt_buf_str(f->all), text, at)) != SIZE_MAX;
	     at += text.size, found++)
		memset(f->all->ptr + at, 'x', text.size);
	if (rt_ok(s) && found > 0)
		replace(s, f, rt_buf_str(f->all), f->all->size);
	*count += rt_ok(s) && found > 0;
}

/* A draft's file: draft-HASH.md, or one whose name continues, which a program was about to rename
 * when it was ended. */
typedef struct draft {
	uint64_t hash;
	char name[256];
} draft;

static int
compare_drafts(const void *a, const void *b)
{
	const draft *x = a, *y = b;

	return (x->hash > y->hash) - (x->hash < y->hash);
}

static bool
read_draft_name(const char *name, draft *out)
{
	unsigned long long hash;
	int end = 0;

	if (sscanf(name, "draft-%16llx.md%n", &hash, &end) != 1 || end == 0 ||
	    (name[end] != '\0' && name[end] != '.') || strlen(name) >= sizeof(out->name))
		return false;
	out->hash = hash;
	memcpy(out->name, name, strlen(name) + 1);
	return true;
}

/* All drafts of the folder, sorted by hash: draft after draft. */
static rt_status
list_drafts(rt_str folder, rt_buf *out, rt_error *err)
{
	const struct dirent *file;
	char path[PATH_MAX_SIZE];
	draft one;

	(void)snprintf(path, sizeof(path), "%.*s", RT_STR_ARG(folder)); /* fits: see find_path */
	DIR *dir = opendir(path);
	if (dir == NULL)
		return errno == ENOENT ? RT_OK
				       : rt_fail(err, RT_IO, "%s: %s", path, strerror(errno));
	while ((errno = 0, file = readdir(dir)) != NULL)
		if (read_draft_name(file->d_name, &one))
			rt_buf_add(out, &one, sizeof(one));
	int error = errno;
	(void)closedir(dir);
	if (out->size > 0)
		qsort(out->ptr, out->size / sizeof(one), sizeof(one), compare_drafts);
	if (out->status != RT_OK)
		return rt_fail(err, out->status, "out of memory");
	return error == 0 ? RT_OK : rt_fail(err, RT_IO, "%s: %s", path, strerror(error));
}

/* One purge. An inaccessible file does not prevent purging the others. */
typedef struct purge {
	const rt_alloc *alloc;
	rt_str text;
	size_t count; /* number of texts and drafts that contained it */
	rt_status status;
	rt_error *err; /* of the first failure */
} purge;

static void
purge_file(purge *p, void (*fn)(rt_scope *s, const char *path, rt_str text, size_t *count),
	   const char *path)
{
	rt_scope s;

	rt_scope_init(&s, p->alloc);
	fn(&s, path, p->text, &p->count);
	rt_status st = rt_scope_end(&s, p->status == RT_OK ? p->err : NULL);
	if (p->status == RT_OK)
		p->status = st;
}

/* The drafts of one discussion. */
static void
purge_drafts(purge *p, rt_str folder, const draft *drafts, size_t count, uint64_t hash)
{
	const draft wanted = {.hash = hash}, *end = drafts + count;
	const draft *at = bsearch(&wanted, drafts, count, sizeof(*drafts), compare_drafts);
	char path[PATH_MAX_SIZE + sizeof(wanted.name)];

	while (at != NULL && at > drafts && at[-1].hash == hash)
		at--;
	for (; at != NULL && at < end && at->hash == hash; at++) {
		(void)snprintf(path, sizeof(path), "%.*s/%s", RT_STR_ARG(folder), at->name);
		purge_file(p, purge_draft, path);
	}
}

rt_status
rt_input_history_purge(const rt_alloc *alloc, const rt_input_history_key *whose, rt_str text,
		       size_t *out_count, rt_error *err)
{
	purge p = {.alloc = alloc, .text = text, .err = err};
	char path[PATH_MAX_SIZE];
	rt_buf drafts;

	*out_count = 0;
	if (text.size == 0 || !find_path(whose, path))
		return RT_OK;
	purge_file(&p, purge_sent, path);
	rt_buf_init(&drafts, alloc, RT_BUF_UNLIMITED);
	rt_status st = list_drafts(whose->folder, &drafts, p.status == RT_OK ? err : NULL);
	if (p.status == RT_OK)
		p.status = st;
	for (uint32_t disc = 1; drafts.size > 0 && disc < DISC_MAX; disc++)
		purge_drafts(&p, whose->folder, (const draft *)(const void *)drafts.ptr,
			     drafts.size / sizeof(draft),
			     rt_input_history_hash(whose->store, whose->project, disc));
	rt_buf_deinit(&drafts);
	*out_count = p.count;
	return p.status;
}
