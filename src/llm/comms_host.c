/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "llm/comms_host.h"

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

#define PURGED "[purged]"

enum {
	PATH_ROOM = 4096,
	FILE_SIZE_MAX = 1 << 30,
	ROTATE_SIZE = 16 << 20,
	ROTATE_REQUESTS = 8,  /* a file may grow to this many times the request, too */
	OPEN_MAX = 8,         /* files that are open at once */
	LOCK_WAIT_MS = 2000
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
	char folder[PATH_ROOM];
	bool has_texts;
	char key[RT_COMMS_KEY_ROOM]; /* of the folder */
	pthread_mutex_t lock;
	comms_file files[OPEN_MAX];
	uint64_t uses;
	char error[200];
};

static rt_status
set_folder(char to[PATH_ROOM], rt_str folder, rt_error *err)
{
	if (folder.size + sizeof("/comms/20261122T054412Z-0123456789abcdef.jsonl.new") > PATH_ROOM)
		return rt_fail(err, RT_LIMIT, "the path of the state directory is too long");
	(void)snprintf(to, PATH_ROOM, "%.*s/comms", RT_STR_ARG(folder));
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
	char path[PATH_ROOM + 300] = "", stamp[32] = "";
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

	rt_buf_init(&fresh, c->alloc, FILE_SIZE_MAX);
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
		if (!rt_file_lock(f->fd, LOCK_WAIT_MS) || fstat(f->fd, &info) != 0)
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

/* One file; false: no more files. */
typedef bool (*file_fn)(rt_scope *s, void *ctx, const char *path);

/* Every file of the log, newest first. */
static void
each_file(rt_scope *s, rt_str state_folder, file_fn fn, void *ctx)
{
	char folder[PATH_ROOM], path[PATH_ROOM + 300];
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

	RT_TRY(s, rt_file_read(path, O_NOFOLLOW, FILE_SIZE_MAX, text, &s->error));
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
	each_file(&s, folder, read_lines, &reader);
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

/* ---- purging ---- */

/* A text in the form of a JSON string, and of one that contains JSON, such as a call's
 * arguments. */
typedef struct needles {
	rt_str once, twice;
} needles;

/* The text inside of a JSON string without the needle, both escaped. An escape is one character:
 * a needle does not begin within it. Returns how often it was found. */
static size_t
add_string_without(rt_buf *out, rt_str text, const needles *needle)
{
	size_t at = 0, count = 0;

	while (at < text.size) {
		rt_str rest = rt_str_skip(text, at);
		size_t size = rest.ptr[0] != '\\' ? 1 : 2;
		size_t found = rt_str_starts(rest, needle->twice)  ? needle->twice.size
			       : rt_str_starts(rest, needle->once) ? needle->once.size
								   : 0;

		if (found > 0) {
			rt_buf_add_c(out, PURGED);
			at += found;
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

/* Is the string whose text begins at `at` the name in a reference? */
static bool
is_ref_name(rt_str line, size_t at)
{
	const rt_str before = RT_STR("{\"$t\":\"");

	return at >= before.size &&
	       rt_str_eq(rt_str_at(line.ptr + at - before.size, before.size), before);
}

/* A line without the needle in its strings; keys, numbers and names of texts are not changed. */
static size_t
add_line_without(rt_buf *out, rt_str line, const needles *needle)
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
		if ((end + 1 < line.size && line.ptr[end + 1] == ':') || is_ref_name(line, at))
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
	needles needle;
	size_t count;                /* of changed lines */
} purge;

/* Does the line belong to the project? A reply has the id of its request, which comes before it:
 * the ids of the project's requests are gathered, each with a NUL after it. The owner of a torn
 * line is unknown, and nothing reads it any more. */
static bool
is_theirs(rt_scope *s, const rt_comms_whose *whose, rt_str line, rt_buf *ids)
{
	rt_json_doc *doc = NULL;
	uint64_t project = 0;
	bool found = false;
	rt_status st;

	if (whose == NULL)
		return true;
	st = rt_json_read(s->alloc, line, &doc, NULL);
	if (st == RT_NOMEM)
		(void)rt_scope_nomem(s);
	if (st != RT_OK)
		return st != RT_NOMEM;
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

/* Overwrites the bytes of a file that was replaced, through a descriptor that is open for it. */
static bool
overwrite(int fd, size_t size)
{
	static const char zeros[4096];
	bool ok = true;

	for (size_t at = 0; ok && at < size; at += sizeof(zeros)) {
		size_t piece = size - at < sizeof(zeros) ? size - at : sizeof(zeros);

		ok = pwrite(fd, zeros, piece, (off_t)at) == (ssize_t)piece;
	}
	return ok && fsync(fd) == 0;
}

static void
add_key(rt_buf *out, rt_str key)
{
	if (out->ptr[out->size - 1] != '{')
		rt_buf_add_byte(out, ',');
	rt_buf_add_byte(out, '"');
	rt_buf_add_str(out, key);
	rt_buf_add_c(out, "\":");
}

/* A line whose strings were changed, or which refers to changed texts, with their new names. The
 * hash of its body is removed: it could confirm a guess of the purged text. */
static rt_str
with_new_names(rt_scope *s, rt_dedup *renamed, rt_str original, rt_str line, rt_buf *out)
{
	size_t at = 0, hash_at = 0, hash_size = 0;
	rt_json_doc *doc = NULL;
	rt_status st = rt_json_read(s->alloc, line, &doc, NULL);
	bool has_body = false;
	rt_str key, value;

	rt_json_free(doc);
	if (st == RT_NOMEM)
		(void)rt_scope_nomem(s);
	if (st != RT_OK || line.ptr[0] != '{')
		return line; /* torn: nothing refers to its texts */
	rt_buf_add_byte(out, '{');
	while (rt_ok(s) && out->status == RT_OK && rt_dedup_next_member(line, &at, &key, &value)) {
		add_key(out, key);
		if (rt_str_is(key, "hash")) {
			hash_at = out->size;
			hash_size = value.size;
		}
		has_body = has_body || rt_str_is(key, "body");
		if (rt_str_is(key, "texts"))
			rt_dedup_rename_texts(s, renamed, value, out);
		else if (rt_str_is(key, "body"))
			rt_dedup_rename_refs(s, renamed, value, out);
		else
			rt_buf_add_str(out, value);
	}
	rt_buf_add_byte(out, '}');
	if (out->status != RT_OK || !has_body || hash_size < sizeof(PURGED) + 1 ||
	    rt_str_eq(rt_buf_str(out), original))
		return rt_scope_str(s, out);
	memcpy(out->ptr + hash_at, "\"" PURGED "\"", sizeof(PURGED) + 1);
	memmove(out->ptr + hash_at + sizeof(PURGED) + 1, out->ptr + hash_at + hash_size,
		out->size - hash_at - hash_size);
	out->size -= hash_size - sizeof(PURGED) - 1;
	return rt_scope_str(s, out);
}

/* The content of a file without the needle. Returns how many lines changed. */
static size_t
add_file_without(rt_scope *s, const purge *p, rt_str text, rt_buf *out)
{
	rt_buf *ids = rt_scope_buf(s), *masked = rt_scope_buf(s), *named = rt_scope_buf(s);
	size_t changed = 0;
	rt_dedup renamed;
	rt_str line;

	rt_dedup_init(&renamed, s->alloc);
	while (rt_ok(s) && out->status == RT_OK && rt_str_split(&text, '\n', &line)) {
		bool is_other = line.size > 0 && is_theirs(s, p->whose, line, ids);

		rt_buf_clear(masked);
		rt_buf_clear(named);
		if (is_other)
			is_other = add_line_without(masked, line, &p->needle) > 0 ||
				   renamed.count > 0;
		rt_str now = is_other ? rt_scope_str(s, masked) : line;
		if (is_other && rt_ok(s))
			now = with_new_names(s, &renamed, line, now, named);
		changed += rt_ok(s) && !rt_str_eq(now, line);
		rt_buf_add_str(out, now);
		rt_buf_add_byte(out, '\n');
	}
	rt_dedup_deinit(&renamed);
	RT_TRY(s, out->status);
	RT_TRY(s, ids->status);
	return changed;
}

/* Permanently replaces a file by another one. */
static bool
replace_file(const char *fresh, const char *path)
{
	char folder[PATH_ROOM + 320];
	int fd;
	bool ok = rename(fresh, path) == 0;

	(void)snprintf(folder, sizeof(folder), "%s", path);
	*strrchr(folder, '/') = '\0';
	fd = ok ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (fd >= 0) {
		ok = fsync(fd) == 0;
		(void)close(fd);
	}
	return ok;
}

/* Overwrites and removes the file that an interrupted purge left, if it exists. */
static bool
discard(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat info;
	bool ok = fd < 0 ? errno == ENOENT
			 : fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
				   overwrite(fd, (size_t)info.st_size) && unlink(path) == 0;

	if (fd >= 0)
		(void)close(fd);
	return ok;
}

/* Opens a file with its lock; -1: it does not exist, or the scope has failed. */
static int
open_locked(rt_scope *s, const char *path)
{
	for (int tries = 0; tries < OPEN_MAX; tries++) {
		int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		bool is_locked = fd >= 0 && rt_file_lock(fd, LOCK_WAIT_MS);
		struct stat info;

		if (is_locked && fstat(fd, &info) == 0 && info.st_nlink > 0)
			return fd;
		if (!is_locked && (fd >= 0 || errno != ENOENT))
			(void)rt_scope_fail(s, RT_IO, "%s cannot be %s: %s", path,
					    fd < 0 ? "opened" : "locked", strerror(errno));
		if (fd >= 0)
			(void)close(fd); /* it was replaced by another purge */
		if (!is_locked)
			return -1;
	}
	(void)rt_scope_fail(s, RT_BUSY, "%s is being replaced by other programs", path);
	return -1;
}

/* A purge of one file under its lock. */
static size_t
rewrite_file(rt_scope *s, const purge *p, const char *path, int fd)
{
	char fresh_path[PATH_ROOM + 320];
	rt_buf *text = rt_scope_buf(s), *fresh = rt_scope_buf(s);
	size_t changed;

	(void)snprintf(fresh_path, sizeof(fresh_path), "%s.new", path);
	if (!discard(fresh_path))
		(void)rt_scope_fail(s, RT_IO, "%s: %s", fresh_path, strerror(errno));
	RT_TRY(s, rt_file_read_open(fd, path, FILE_SIZE_MAX, text, &s->error));
	changed = add_file_without(s, p, rt_buf_str(text), fresh);
	if (rt_ok(s) && changed > 0 &&
	    (!rt_file_write(fresh_path, rt_buf_str(fresh), true) ||
	     !replace_file(fresh_path, path) || !overwrite(fd, text->size))) {
		(void)rt_scope_fail(s, RT_IO, "%s: %s", path, strerror(errno));
		(void)discard(fresh_path);
	}
	return changed;
}

static bool
purge_file(rt_scope *s, void *ctx, const char *path)
{
	purge *p = ctx;
	int fd = open_locked(s, path);
	rt_scope own;

	if (fd < 0)
		return rt_ok(s);
	rt_scope_init(&own, s->alloc); /* its memory is freed before the next file */
	p->count += rewrite_file(&own, p, path, fd);
	(void)close(fd);
	return rt_scope_join(s, &own) == RT_OK;
}

rt_status
rt_comms_purge(const rt_alloc *alloc, rt_str folder, const rt_comms_whose *whose, rt_str text,
	       size_t *out_count, rt_error *err)
{
	purge p = {.whose = whose};
	rt_scope s;

	rt_scope_init(&s, alloc);
	rt_buf *once = rt_scope_buf(&s), *twice = rt_scope_buf(&s);
	rt_json_add_string(once, text);
	p.needle.once = rt_scope_str(&s, once);
	if (p.needle.once.size > 2) {
		p.needle.once = rt_str_at(once->ptr + 1, once->size - 2);
		rt_json_add_string(twice, p.needle.once);
		if (rt_scope_str(&s, twice).size > 2) {
			p.needle.twice = rt_str_at(twice->ptr + 1, twice->size - 2);
			each_file(&s, folder, purge_file, &p);
		}
	}
	*out_count = p.count;
	return rt_scope_end(&s, err);
}
