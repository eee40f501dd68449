/* SPDX-License-Identifier: MIT
 *
 * Purging the request log: a text is removed from the strings of a project's lines, or the lines are
 * removed. Texts that change get new names. The old file is overwritten. */
#define _GNU_SOURCE

#include "llm/comms_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/dedup.h"
#include "codec/json.h"
#include "llm/system_host.h"

#define PURGED "[purged]"

enum { TRIES = 8 /* to open a file that others replace */ };

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
	bool is_drop;                /* whole lines instead of the needle */
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

		if (is_other && p->is_drop) {
			changed++;
			continue;
		}
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
	char folder[RT_COMMS_PATH_ROOM + 320];
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
	for (int tries = 0; tries < TRIES; tries++) {
		int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		bool is_locked = fd >= 0 && rt_file_lock(fd, RT_COMMS_LOCK_WAIT_MS);
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
	char fresh_path[RT_COMMS_PATH_ROOM + 320];
	rt_buf *text = rt_scope_buf(s), *fresh = rt_scope_buf(s);
	size_t changed;

	(void)snprintf(fresh_path, sizeof(fresh_path), "%s.new", path);
	if (!discard(fresh_path))
		(void)rt_scope_fail(s, RT_IO, "%s: %s", fresh_path, strerror(errno));
	RT_TRY(s, rt_file_read_open(fd, path, RT_COMMS_FILE_SIZE_MAX, text, &s->error));
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
			rt_comms_each_file(&s, folder, purge_file, &p);
		}
	}
	*out_count = p.count;
	return rt_scope_end(&s, err);
}

rt_status
rt_comms_drop(const rt_alloc *alloc, rt_str folder, const rt_comms_whose *whose, size_t *out_count, rt_error *err)
{
	purge p = {.whose = whose, .is_drop = true};
	rt_scope s;

	rt_scope_init(&s, alloc);
	rt_comms_each_file(&s, folder, purge_file, &p);
	*out_count = p.count;
	return rt_scope_end(&s, err);
}
