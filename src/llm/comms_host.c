/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "llm/comms_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/scope.h"
#include "codec/dedup.h"
#include "codec/json.h"
#include "llm/system_host.h"

enum {
	ROTATE_SIZE = 16 << 20,
	ROTATE_REQUESTS = 8,  /* a file may grow to this many times the request, too */
	OPEN_MAX = 8          /* files that are open at once */
};

/* The newest file of a project. */
typedef struct comms_file {
	char key[RT_COMMS_KEY_ROOM]; /* in its name; "": unused */
	int fd;             /* -1: not open */
	size_t size;        /* texts are known up to here */
	rt_dedup texts;     /* by name only */
	uint64_t used;      /* the larger, the later */
} comms_file;

struct rt_comms {
	const rt_alloc *alloc;
	const rt_env *env;
	char folder[RT_COMMS_PATH_ROOM];
	bool has_texts;
	char key[RT_COMMS_KEY_ROOM]; /* of the folder */
	pthread_mutex_t lock;
	comms_file files[OPEN_MAX];
	uint64_t uses;
	char error[200];
};

static rt_status
set_folder(char to[RT_COMMS_PATH_ROOM], rt_str folder, rt_error *err)
{
	if (folder.size + sizeof("/comms/20261122T054412Z-0123456789abcdef.jsonl.new") >
	    RT_COMMS_PATH_ROOM)
		return rt_fail(err, RT_LIMIT, "the path of the state directory is too long");
	(void)snprintf(to, RT_COMMS_PATH_ROOM, "%.*s/comms", RT_STR_ARG(folder));
	return RT_OK;
}

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

/* ---- writing ---- */

static void
close_file(comms_file *f)
{
	if (f->fd >= 0)
		(void)close(f->fd); /* unlocks it, too */
	f->fd = -1;
	f->size = 0;
	rt_dedup_deinit(&f->texts);
}

rt_status
rt_comms_open(const rt_alloc *alloc, const rt_env *env, rt_str folder, bool has_texts,
	      rt_comms **out, rt_error *err)
{
	rt_comms *c = rt_new0(alloc, sizeof(*c));
	rt_status st;

	if (c == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	*c = (rt_comms){.alloc = alloc, .env = env, .has_texts = has_texts};
	for (size_t i = 0; i < OPEN_MAX; i++) {
		c->files[i].fd = -1;
		rt_dedup_init(&c->files[i].texts, alloc);
	}
	st = set_folder(c->folder, folder, err);
	if (st != RT_OK) {
		rt_free(alloc, c);
		return st;
	}
	rt_comms_key(folder, c->key);
	pthread_mutex_init(&c->lock, NULL);
	*out = c;
	return RT_OK;
}

void
rt_comms_close(rt_comms *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < OPEN_MAX; i++)
		close_file(&c->files[i]);
	pthread_mutex_destroy(&c->lock);
	rt_free(c->alloc, c);
}

rt_str
rt_comms_folder(const rt_comms *comms)
{
	return rt_str_at(comms->folder, strlen(comms->folder) - strlen("/comms"));
}

void
rt_comms_key(rt_str folder, char key[RT_COMMS_KEY_ROOM])
{
	(void)snprintf(key, RT_COMMS_KEY_ROOM, "%016llx",
		       (unsigned long long)rt_hash(folder.ptr, folder.size, 0));
}

rt_str
rt_comms_bare_key(const rt_comms *comms)
{
	return comms == NULL || comms->has_texts ? RT_STR("") : rt_str_of(comms->key);
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
		snprintf(c->error, sizeof(c->error), "the request log cannot be %s: %s", verb,
			 strerror(errno));
}

/* The slot for a project's file; the least recently used one is closed for it. */
static comms_file *
place_of(rt_comms *c, const rt_comms_item *item)
{
	comms_file *f = &c->files[0];
	char key[RT_COMMS_KEY_ROOM];

	(void)snprintf(key, sizeof(key), "%016llx",
		       (unsigned long long)rt_hash(item->store.ptr, item->store.size,
						   item->project));
	for (size_t i = 0; i < OPEN_MAX; i++)
		if (strcmp(c->files[i].key, key) == 0) {
			f = &c->files[i];
			break;
		} else if (c->files[i].used < f->used) {
			f = &c->files[i];
		}
	if (strcmp(f->key, key) != 0)
		close_file(f);
	memcpy(f->key, key, sizeof(key));
	f->used = ++c->uses;
	return f;
}

/* Opens the newest file of the project, unless it is larger than limit; then a new one. */
static bool
open_newest(rt_comms *c, comms_file *f, size_t limit, bool *out_is_new)
{
	time_t seconds = (time_t)(c->env->now_us(c->env->ctx) / 1000000);
	char path[RT_COMMS_PATH_ROOM + 300] = "", stamp[32] = "";
	struct dirent **items = NULL;
	int count = scandir(c->folder, &items, is_record, newer_first);
	struct stat info;
	struct tm parts;

	for (int i = 0; i < count; i++) {
		const char *dash = strrchr(items[i]->d_name, '-');

		if (path[0] == '\0' && dash != NULL && strlen(dash) == RT_COMMS_KEY_ROOM + 6 &&
		    strncmp(dash + 1, f->key, RT_COMMS_KEY_ROOM - 1) == 0)
			(void)snprintf(path, sizeof(path), "%s/%s", c->folder, items[i]->d_name);
		free(items[i]);
	}
	free(items);
	*out_is_new = path[0] == '\0' || lstat(path, &info) != 0 || (size_t)info.st_size > limit;
	if (*out_is_new) {
		if (gmtime_r(&seconds, &parts) != NULL)
			(void)strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &parts);
		(void)snprintf(path, sizeof(path), "%s/%s-%s.jsonl", c->folder, stamp, f->key);
		if (!rt_folders_make(path))
			return false;
	}
	f->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	return f->fd >= 0;
}

/* Adds the texts of a line; one that is torn has none. */
static rt_status
learn_line(rt_dedup *texts, const rt_alloc *alloc, rt_str line, bool by_name_only)
{
	rt_str key, value, name, text;
	rt_json_doc *doc = NULL;
	size_t at = 0, in = 0;
	rt_status st = rt_json_read(alloc, line, &doc, NULL);

	rt_json_free(doc);
	if (st != RT_OK)
		return st == RT_NOMEM ? st : RT_OK;
	while (rt_dedup_next_member(line, &at, &key, &value)) {
		if (!rt_str_is(key, "texts"))
			continue;
		if (!by_name_only)
			return rt_dedup_add_all(texts, value);
		while (st == RT_OK && rt_dedup_next_member(value, &in, &name, &text))
			st = rt_dedup_add(texts, name, rt_str_at(NULL, 0));
		return st;
	}
	return RT_OK;
}

/* Learns the texts of the bytes that were appended since. *out_torn: the last line has no end. */
static bool
catch_up(rt_comms *c, comms_file *f, size_t size, bool *out_torn)
{
	rt_buf fresh;
	rt_str all, line;
	bool ok = true;
	char last = '\n';

	rt_buf_init(&fresh, c->alloc, RT_COMMS_FILE_SIZE_MAX);
	while (ok && c->has_texts && f->size + fresh.size < size) {
		size_t wanted = size - f->size - fresh.size;
		char *to = rt_buf_reserve(&fresh, wanted < 1 << 20 ? wanted : 1 << 20);
		ssize_t got = to == NULL ? -1
					 : pread(f->fd, to, wanted < 1 << 20 ? wanted : 1 << 20,
						 (off_t)(f->size + fresh.size));

		ok = got > 0;
		fresh.size += ok ? (size_t)got : 0;
	}
	all = rt_buf_str(&fresh);
	while (ok && rt_str_split(&all, '\n', &line))
		ok = line.size == 0 || learn_line(&f->texts, c->alloc, line, true) == RT_OK;
	rt_buf_deinit(&fresh);
	f->size = size;
	*out_torn = size > 0 && pread(f->fd, &last, 1, (off_t)size - 1) == 1 && last != '\n';
	return ok;
}

/* Opens and locks the file for a line. Its texts are known afterwards; if memory ran out, some of
 * them are not, and will be written again. */
static bool
begin_line(rt_comms *c, comms_file *f, size_t body_size, bool *out_torn)
{
	size_t limit = ROTATE_SIZE + ROTATE_REQUESTS * body_size;
	bool is_new = false;
	struct stat info;

	for (int tries = 0; tries < OPEN_MAX; tries++) {
		if (f->fd < 0 && !open_newest(c, f, limit, &is_new))
			return false;
		if (!rt_file_lock(f->fd, RT_COMMS_LOCK_WAIT_MS) || fstat(f->fd, &info) != 0)
			return false;
		if (info.st_nlink > 0 && (is_new || (size_t)info.st_size <= limit)) {
			(void)catch_up(c, f, (size_t)info.st_size, out_torn);
			return true;
		}
		close_file(f); /* it was replaced by a purge, or it is full */
	}
	errno = EAGAIN;
	return false;
}

/* A member of a line whose body did not fit into the memory: such a line is not one whose texts are
 * left out on purpose. */
#define LOST ",\"body_lost\":true}"

/* The line in whole, which has the room for LOST, gets the texts and the body. */
static void
add_texts(rt_comms *c, comms_file *f, const rt_comms_item *item, rt_buf *whole)
{
	size_t size = whole->size - 1; /* without the closing bracket */
	rt_scope s;

	rt_scope_init(&s, c->alloc);
	rt_buf *added = rt_scope_buf(&s), *split = rt_scope_buf(&s);
	rt_dedup_split(&s, &f->texts, item->body, added, split);
	if (rt_ok(&s)) {
		whole->size = size;
		if (added->size > 0) {
			rt_buf_add_c(whole, ",\"texts\":{");
			rt_buf_add_str(whole, rt_buf_str(added));
			rt_buf_add_byte(whole, '}');
		}
		rt_buf_add_c(whole, ",\"body\":");
		rt_buf_add_str(whole, rt_buf_str(split));
		rt_buf_add_byte(whole, '}');
	}
	if (!rt_ok(&s) || whole->status != RT_OK) {
		rt_dedup_deinit(&f->texts); /* the known texts are not in the file */
		whole->status = RT_OK;
		whole->size = size;
		rt_buf_add_c(whole, LOST);
	}
	rt_scope_deinit(&s);
}

void
rt_comms_add(void *comms, const rt_comms_item *item)
{
	rt_comms *c = comms;
	bool has_body = c->has_texts && item->body.size > 0, torn = false;
	rt_buf whole;

	rt_buf_init(&whole, c->alloc, RT_BUF_UNLIMITED);
	pthread_mutex_lock(&c->lock);
	comms_file *f = place_of(c, item);
	if (!begin_line(c, f, has_body ? item->body.size : 0, &torn)) {
		note_failure(c, "opened");
		close_file(f);
	} else {
		if (torn)
			rt_buf_add_byte(&whole, '\n');
		if (has_body)
			(void)rt_buf_reserve(&whole, item->line.size + sizeof(LOST) + 1);
		rt_buf_add_str(&whole, item->line);
		if (has_body && whole.status == RT_OK)
			add_texts(c, f, item, &whole);
		rt_buf_add_byte(&whole, '\n');
		/* one write: lines stay whole */
		if (whole.status != RT_OK) {
			errno = ENOMEM;
			note_failure(c, "written");
			close_file(f);
		} else if (write(f->fd, whole.ptr, whole.size) != (ssize_t)whole.size) {
			note_failure(c, "written");
			(void)!ftruncate(f->fd, (off_t)f->size);
			close_file(f);
		} else {
			f->size += whole.size;
			(void)flock(f->fd, LOCK_UN);
		}
	}
	pthread_mutex_unlock(&c->lock);
	rt_buf_deinit(&whole);
}

/* ---- reading ---- */

void
rt_comms_each_file(rt_scope *s, rt_str state_folder, rt_comms_file_fn fn, void *ctx)
{
	char folder[RT_COMMS_PATH_ROOM], path[RT_COMMS_PATH_ROOM + 300];
	struct dirent **items = NULL;
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
			more = fn(s, ctx, path);
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
read_lines(rt_scope *s, void *ctx, const char *path)
{
	const line_reader *r = ctx;
	rt_buf *text = rt_scope_buf(s);
	rt_comms_line at = {.path = path};
	bool more = true;
	rt_str rest;

	RT_TRY(s, rt_file_read(path, O_NOFOLLOW, RT_COMMS_FILE_SIZE_MAX, text, &s->error));
	at.file = rest = rt_buf_str(text);
	while (rt_ok(s) && more && rt_str_split(&rest, '\n', &at.line))
		more = at.line.size == 0 || r->fn(r->ctx, &at);
	rt_buf_deinit(text);
	return more;
}

rt_status
rt_comms_read(const rt_alloc *alloc, rt_str folder, rt_comms_line_fn fn, void *ctx, rt_error *err)
{
	line_reader reader = {fn, ctx};
	rt_scope s;

	rt_scope_init(&s, alloc);
	rt_comms_each_file(&s, folder, read_lines, &reader);
	return rt_scope_end(&s, err);
}

rt_status
rt_comms_read_file(const rt_alloc *alloc, const char *path, rt_comms_line_fn fn, void *ctx,
		   rt_error *err)
{
	line_reader reader = {fn, ctx};
	rt_scope s;

	rt_scope_init(&s, alloc);
	(void)read_lines(&s, &reader, path);
	return rt_scope_end(&s, err);
}

/* ptr NULL: not set. */
static rt_str
body_of(rt_str line)
{
	rt_str key, value;
	size_t at = 0;

	while (rt_dedup_next_member(line, &at, &key, &value))
		if (rt_str_is(key, "body"))
			return value;
	return rt_str_at(NULL, 0);
}

bool
rt_comms_has_body(rt_str line)
{
	return body_of(line).ptr != NULL;
}

bool
rt_comms_body_is_lost(rt_str line)
{
	rt_str key, value;
	size_t at = 0;

	while (rt_dedup_next_member(line, &at, &key, &value))
		if (rt_str_is(key, "body_lost"))
			return true;
	return false;
}

rt_status
rt_comms_body(const rt_alloc *alloc, const rt_comms_line *line, rt_buf *out, rt_error *err)
{
	rt_str rest = line->file, one, body = body_of(line->line);
	rt_status st = RT_OK;
	rt_dedup texts;

	if (body.ptr == NULL && rt_comms_body_is_lost(line->line))
		return rt_fail(err, RT_NOT_FOUND, "the texts were not logged: out of memory");
	if (body.ptr == NULL)
		return rt_fail(err, RT_NOT_FOUND, "the log does not contain its texts");
	rt_dedup_init(&texts, alloc);
	while (st == RT_OK && rt_str_split(&rest, '\n', &one))
		if (one.size > 0)
			st = learn_line(&texts, alloc, one, false);
	if (st != RT_OK)
		st = rt_fail(err, st, "out of memory");
	else
		st = rt_dedup_join(&texts, body, out, err);
	rt_dedup_deinit(&texts);
	return st;
}
