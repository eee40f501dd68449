/* SPDX-License-Identifier: MIT
 *
 * The file is written in place under its lock, so that nothing of what is taken out of it stays
 * in freed blocks. A crash in the middle leaves lines that cannot be read, which are passed over. */
#define _GNU_SOURCE

#include "app/input_history_host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "codec/json.h"

enum {
	PATH_MAX_SIZE = 4096,
	FILE_MAX = 64 << 20, /* what is longer is not ours */
	LOCK_TRIES = 500,    /* 2 ms each */
	DISC_MAX = 1 << 17   /* discussions whose drafts are looked for */
};

uint64_t
rt_input_history_hash(rt_str store, rt_str project, uint32_t disc)
{
	return rt_hash(project.ptr, project.size, rt_hash(store.ptr, store.size, disc));
}

void
rt_input_history_make_folders(char *path)
{
	char *slash;

	for (slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
}

/* ---- the file ---- */

static bool
path_of(const rt_input_history_key *whose, char path[PATH_MAX_SIZE])
{
	int size;

	if (whose->folder.size == 0 || whose->store.size == 0)
		return false;
	size = snprintf(path, PATH_MAX_SIZE, "%.*s/sent-%016llx.jsonl", RT_STR_ARG(whose->folder),
			(unsigned long long)rt_input_history_hash(whose->store, whose->project, 0));
	return size > 0 && size < PATH_MAX_SIZE;
}

/* Nobody waits long for who has stopped with the lock in hand. */
static bool
lock(int fd)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	int tries;

	for (tries = 0; tries < LOCK_TRIES; tries++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return true;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return false;
		(void)nanosleep(&pause, NULL);
	}
	return false;
}

/* Open, locked; -1: not there, or not to be had. */
static int
open_locked(const char *path, bool create)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0), 0600);

	if (fd >= 0 && !lock(fd)) {
		(void)close(fd);
		errno = EBUSY;
		return -1;
	}
	return fd;
}

/* false: out->status says why, or errno, which is 0 where it is no file of ours. */
static bool
read_all(int fd, rt_buf *out)
{
	struct stat is;
	ssize_t got = 1;
	char *to;

	if (fstat(fd, &is) != 0)
		return false;
	errno = 0;
	if (!S_ISREG(is.st_mode) || is.st_size > FILE_MAX)
		return false;
	while (got > 0 && out->size < (size_t)is.st_size) {
		to = rt_buf_reserve(out, (size_t)is.st_size - out->size);
		if (to == NULL)
			return false;
		got = pread(fd, to, (size_t)is.st_size - out->size, (off_t)out->size);
		if (got > 0)
			out->size += (size_t)got;
	}
	return got >= 0;
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

/* Put fresh in place of old_size bytes, of which none stays. */
static bool
replace(int fd, rt_str fresh, size_t old_size)
{
	static const char zeros[4096] = {0};
	size_t at;

	if (!write_at(fd, fresh, 0))
		return false;
	for (at = fresh.size; at < old_size; at += sizeof(zeros))
		if (!write_at(fd, rt_str_at(zeros, old_size - at < sizeof(zeros) ? old_size - at
										: sizeof(zeros)),
			      at))
			return false;
	return fsync(fd) == 0 && ftruncate(fd, (off_t)fresh.size) == 0;
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

/* The text of a line; empty: it cannot be read. Free *out_doc. RT_NOMEM. */
static rt_status
text_of(const rt_alloc *alloc, rt_str line, rt_json_doc **out_doc, rt_str *out)
{
	rt_status st;

	*out_doc = NULL;
	*out = rt_str_at("", 0);
	if (line.size < 2)
		return RT_OK;
	st = rt_json_read(alloc, line, out_doc, NULL);
	if (st == RT_OK)
		*out = rt_json_str(rt_json_root(*out_doc));
	return st == RT_NOMEM ? st : RT_OK;
}

/* ---- adding and reading ---- */

/* Where the newest ones begin that are few and short enough, with room for more. */
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
	size_t i, count = 0;

	for (i = 0; i < all.size; i++)
		count += all.ptr[i] == '\n';
	return count;
}

void
rt_input_history_add(const rt_alloc *alloc, const rt_input_history_key *whose, rt_str text)
{
	char path[PATH_MAX_SIZE];
	rt_buf all, line;
	size_t old_size, begin;
	rt_str last;
	int fd;

	if (text.size == 0 || text.size > RT_INPUT_HISTORY_TEXT_MAX || !path_of(whose, path))
		return;
	rt_input_history_make_folders(path);
	fd = open_locked(path, true);
	if (fd < 0)
		return;
	rt_buf_init(&all, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&line, alloc, RT_BUF_UNLIMITED);
	if (!read_all(fd, &all))
		goto done;
	old_size = all.size;
	if (all.size > 0 && all.ptr[all.size - 1] != '\n')
		rt_buf_add_byte(&all, '\n'); /* somebody was cut short */
	rt_json_add_string(&line, text);
	rt_buf_add_byte(&line, '\n');
	if (all.status != RT_OK || line.status != RT_OK || line.size > RT_INPUT_HISTORY_BYTES)
		goto done;
	last = rt_buf_str(&all);
	last = last.size < line.size ? rt_str_at(last.ptr, 0)
				     : rt_str_at(last.ptr + last.size - line.size, line.size);
	if (rt_str_eq(last, rt_buf_str(&line)) &&
	    (all.size == line.size || all.ptr[all.size - line.size - 1] == '\n'))
		goto done;
	rt_buf_add_str(&all, rt_buf_str(&line));
	if (all.status != RT_OK)
		goto done;
	if (all.size > RT_INPUT_HISTORY_BYTES ||
	    count_lines(rt_buf_str(&all)) > RT_INPUT_HISTORY_MAX) {
		begin = trim(rt_buf_str(&all));
		(void)replace(fd, rt_str_at(all.ptr + begin, all.size - begin), old_size);
	} else {
		(void)write_at(fd, rt_str_at(all.ptr + old_size, all.size - old_size), old_size);
	}
done:
	(void)close(fd);
	rt_buf_deinit(&all);
	rt_buf_deinit(&line);
}

void
rt_input_history_each(const rt_alloc *alloc, const rt_input_history_key *whose,
		      void (*fn)(void *ctx, rt_str text), void *ctx)
{
	char path[PATH_MAX_SIZE];
	size_t at = 0;
	rt_str line, text;
	rt_buf all;
	int fd;

	if (!path_of(whose, path))
		return;
	fd = open_locked(path, false);
	if (fd < 0)
		return;
	rt_buf_init(&all, alloc, RT_BUF_UNLIMITED);
	if (read_all(fd, &all))
		while (next_line(rt_buf_str(&all), &at, &line)) {
			rt_json_doc *doc;

			if (text_of(alloc, line, &doc, &text) == RT_OK && text.size > 0)
				fn(ctx, text);
			rt_json_free(doc);
		}
	(void)close(fd);
	rt_buf_deinit(&all);
}

/* ---- purge ---- */

static rt_status
fail_errno(rt_error *err, const char *path)
{
	return rt_fail(err, RT_IO, "%s: %s", path,
		       errno != 0 ? strerror(errno) : "it is not a file of ours");
}

static rt_status
purge_sent(const rt_alloc *alloc, const char *path, rt_str text, size_t *count, rt_error *err)
{
	int fd = open_locked(path, false);
	size_t at = 0, held = 0;
	bool is_other = false;
	rt_buf all, fresh;
	rt_str line, sent;
	rt_status st = RT_OK;

	if (fd < 0)
		return errno == ENOENT ? RT_OK : fail_errno(err, path);
	rt_buf_init(&all, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&fresh, alloc, RT_BUF_UNLIMITED);
	if (!read_all(fd, &all))
		st = all.status != RT_OK ? rt_fail(err, RT_NOMEM, "out of memory")
					 : fail_errno(err, path);
	while (st == RT_OK && next_line(rt_buf_str(&all), &at, &line)) {
		rt_json_doc *doc;
		bool holds;

		st = text_of(alloc, line, &doc, &sent);
		holds = sent.size > 0 && rt_str_find(sent, text, 0) != SIZE_MAX;
		held += holds;
		/* What cannot be read may hold anything. */
		if (holds || sent.size == 0) {
			is_other = true;
		} else {
			rt_buf_add_str(&fresh, line);
			rt_buf_add_byte(&fresh, '\n');
		}
		rt_json_free(doc);
		if (st == RT_OK)
			st = fresh.status;
		if (st != RT_OK)
			st = rt_fail(err, st, "out of memory");
	}
	if (st == RT_OK && is_other && !replace(fd, rt_buf_str(&fresh), all.size))
		st = fail_errno(err, path);
	if (st == RT_OK)
		*count += held;
	(void)close(fd);
	rt_buf_deinit(&all);
	rt_buf_deinit(&fresh);
	return st;
}

static rt_status
purge_draft(const rt_alloc *alloc, const char *path, rt_str text, size_t *count, rt_error *err)
{
	int fd = open_locked(path, false);
	size_t at, found = 0;
	rt_buf all;
	rt_status st = RT_OK;

	if (fd < 0)
		return errno == ENOENT ? RT_OK : fail_errno(err, path);
	rt_buf_init(&all, alloc, RT_BUF_UNLIMITED);
	if (!read_all(fd, &all))
		st = all.status != RT_OK ? rt_fail(err, RT_NOMEM, "out of memory")
					 : fail_errno(err, path);
	for (at = 0; st == RT_OK && (at = rt_str_find(rt_buf_str(&all), text, at)) != SIZE_MAX;
	     at += text.size, found++)
		memset(all.ptr + at, 'x', text.size);
	if (st == RT_OK && found > 0 && !replace(fd, rt_buf_str(&all), all.size))
		st = fail_errno(err, path);
	*count += st == RT_OK && found > 0;
	(void)close(fd);
	rt_buf_deinit(&all);
	return st;
}

/* A draft's file: draft-HASH.md, or draft-HASH.md.PID, beside which a program was writing. */
typedef struct draft {
	uint64_t hash;
	long pid; /* 0: none */
} draft;

static int
by_hash(const void *a, const void *b)
{
	const draft *x = a, *y = b;

	return (x->hash > y->hash) - (x->hash < y->hash);
}

/* All in the folder, in the order of their hashes; *out is the caller's. */
static rt_status
list_drafts(const rt_alloc *alloc, rt_str folder, draft **out, size_t *out_count, rt_error *err)
{
	char path[PATH_MAX_SIZE];
	const struct dirent *file = NULL;
	size_t count = 0, room = 0;
	draft *drafts = NULL;
	rt_status st = RT_OK;
	DIR *dir;

	*out = NULL;
	*out_count = 0;
	(void)snprintf(path, sizeof(path), "%.*s", RT_STR_ARG(folder)); /* path_of said that it fits */
	dir = opendir(path);
	if (dir == NULL)
		return errno == ENOENT ? RT_OK : fail_errno(err, path);
	while (st == RT_OK && (errno = 0, file = readdir(dir)) != NULL) {
		const char *name = file->d_name;
		unsigned long long hash;
		long pid = 0;
		int end = 0;

		if (sscanf(name, "draft-%16llx.md%n", &hash, &end) != 1 || end == 0 ||
		    (name[end] != '\0' && (sscanf(name + end, ".%ld", &pid) != 1 || pid <= 0)))
			continue;
		if (count == room) {
			size_t more = room == 0 ? 64 : 2 * room;
			draft *grown = rt_resize(alloc, drafts, more * sizeof(*grown));

			if (grown == NULL) {
				st = rt_fail(err, RT_NOMEM, "out of memory");
				continue;
			}
			drafts = grown;
			room = more;
		}
		drafts[count++] = (draft){hash, pid};
	}
	if (st == RT_OK && errno != 0)
		st = fail_errno(err, path);
	(void)closedir(dir);
	if (count > 0)
		qsort(drafts, count, sizeof(*drafts), by_hash);
	*out = drafts;
	*out_count = count;
	return st;
}

/* The drafts of one discussion. */
static rt_status
purge_drafts(const rt_alloc *alloc, rt_str folder, const draft *drafts, size_t count,
	     uint64_t hash, rt_str text, size_t *out_count, rt_error *err)
{
	const draft wanted = {hash, 0}, *end = drafts + count;
	const draft *at = bsearch(&wanted, drafts, count, sizeof(*drafts), by_hash);
	char path[PATH_MAX_SIZE], pid[24] = "";
	rt_status st = RT_OK, one;

	while (at != NULL && at > drafts && at[-1].hash == hash)
		at--;
	for (; at != NULL && at < end && at->hash == hash; at++) {
		pid[0] = '\0';
		if (at->pid != 0)
			(void)snprintf(pid, sizeof(pid), ".%ld", at->pid);
		(void)snprintf(path, sizeof(path), "%.*s/draft-%016llx.md%s", RT_STR_ARG(folder),
			       (unsigned long long)hash, pid);
		one = purge_draft(alloc, path, text, out_count, st == RT_OK ? err : NULL);
		st = st == RT_OK ? one : st;
	}
	return st;
}

rt_status
rt_input_history_purge(const rt_alloc *alloc, const rt_input_history_key *whose, rt_str text,
		       size_t *out_count, rt_error *err)
{
	char path[PATH_MAX_SIZE];
	draft *drafts = NULL;
	size_t count = 0;
	uint32_t disc;
	rt_status st, one;

	*out_count = 0;
	if (text.size == 0 || !path_of(whose, path))
		return RT_OK;
	st = purge_sent(alloc, path, text, out_count, err);
	one = list_drafts(alloc, whose->folder, &drafts, &count, st == RT_OK ? err : NULL);
	st = st == RT_OK ? one : st; /* what can be purged is */
	for (disc = 1; count > 0 && disc < DISC_MAX; disc++) {
		one = purge_drafts(alloc, whose->folder, drafts, count,
				   rt_input_history_hash(whose->store, whose->project, disc), text,
				   out_count, st == RT_OK ? err : NULL);
		st = st == RT_OK ? one : st;
	}
	rt_free(alloc, drafts);
	return st;
}
