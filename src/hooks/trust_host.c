/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "hooks/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 64 << 10, NAME_ROOM = 256 };

#define FILE_NAME "trust.json"
#define TEMPORARY "trust.json.new"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* Linux 6.3; older kernels make every such file executable */
#endif

static void
fail_io(rt_scope *s, const char *what)
{
	int code = errno;

	rt_scope_fail(s, code == ENOSPC || code == EDQUOT ? RT_FULL : RT_IO, "%s: %s", what,
		      strerror(code));
}

/* ---- the contents of trust.json ---- */

static yyjson_val *
hooks_of(yyjson_val *root)
{
	yyjson_val *hooks = rt_json_get(root, "hooks");

	return yyjson_is_obj(hooks) ? hooks : NULL;
}

rt_str
rt_trust_find(yyjson_val *root, rt_str path)
{
	yyjson_val *value = rt_json_get_str(hooks_of(root), path);

	return yyjson_is_str(value) ? rt_json_str(value) : (rt_str){NULL, 0};
}

void
rt_trust_validate(rt_scope *scope, yyjson_val *root)
{
	uint64_t version;

	if (!rt_json_u64(rt_json_get(root, "v"), &version) || hooks_of(root) == NULL)
		rt_scope_fail(scope, RT_CORRUPT, "trust.json was not written by Retake");
	else if (version > 1)
		rt_scope_fail(scope, RT_TOO_NEW, "trust.json was written by a newer Retake");
}

void
rt_trust_write(rt_scope *scope, yyjson_val *root, rt_str path, rt_str hex, rt_buf *out)
{
	rt_buf *text = rt_scope_buf(scope);

	text->limit = RT_TRUST_FILE_MAX;
	rt_json_open(text, NULL, '{');
	rt_json_put_u64(text, "v", 1);
	rt_json_open(text, "hooks", '{');
	for (rt_json_iter it = rt_json_members(hooks_of(root)); rt_json_next(&it);) {
		if (rt_str_eq(it.key, path) || !yyjson_is_str(it.value))
			continue;
		rt_json_add_key_str(text, it.key);
		rt_json_add_string(text, rt_json_str(it.value));
	}
	if (hex.size > 0) {
		rt_json_add_key_str(text, path);
		rt_json_add_string(text, hex);
	}
	rt_json_close(text, '}');
	rt_json_close(text, '}');
	root = rt_json_parse(scope, rt_scope_str(scope, text));
	if (root != NULL)
		rt_json_add_sorted(out, scope->alloc, root);
	rt_buf_add_byte(out, '\n');
	(void)rt_scope_str(scope, out);
}

/* ---- trust.json on disk ---- */

static rt_str
read_all(rt_scope *s, int fd)
{
	rt_buf *out = rt_scope_buf(s);

	out->limit = RT_TRUST_FILE_MAX + PIECE;
	while (rt_ok(s)) {
		char *to = rt_buf_reserve(out, PIECE);
		ssize_t got = to == NULL ? 0 : read(fd, to, PIECE);

		if (to == NULL)
			rt_scope_fail(s, out->status, "trust.json is too large");
		else if (got < 0 && errno != EINTR)
			fail_io(s, "trust.json cannot be read");
		else if (got > 0)
			out->size += (size_t)got;
		else if (got == 0)
			break;
	}
	return rt_scope_str(s, out);
}

/* NULL: there is no such file, or the scope has failed. */
static yyjson_val *
read_at(rt_scope *s, int folder)
{
	int fd = openat(folder, FILE_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	yyjson_val *root;
	struct stat info;
	rt_str text;

	if (fd < 0) {
		if (errno != ENOENT)
			fail_io(s, "trust.json cannot be opened");
		return NULL;
	}
	if (fstat(fd, &info) != 0)
		fail_io(s, "trust.json cannot be accessed");
	else if (!S_ISREG(info.st_mode))
		rt_scope_fail(s, RT_CORRUPT, "trust.json is not a file");
	else if (info.st_uid != geteuid() || (info.st_mode & 022) != 0)
		rt_scope_fail(s, RT_REFUSED,
			      "other users can write to trust.json: review its contents, then "
			      "run chmod 600 on it");
	text = read_all(s, fd);
	close(fd);
	if (!rt_ok(s))
		return NULL;
	root = rt_json_parse(s, text);
	if (!rt_ok(s) && s->status != RT_NOMEM) {
		rt_error why = s->error;

		s->status = rt_fail(&s->error, RT_CORRUPT, "trust.json is damaged: %s", why.text);
	}
	rt_trust_validate(s, root);
	return rt_ok(s) ? root : NULL;
}

yyjson_val *
rt_trust_read(rt_scope *scope, const char *state_folder)
{
	int folder = open(state_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	yyjson_val *root;

	if (folder < 0) {
		if (errno != ENOENT)
			fail_io(scope, state_folder);
		return NULL;
	}
	root = read_at(scope, folder);
	close(folder);
	return root;
}

const char *
rt_make_private_folders(rt_scope *scope, const char *path)
{
	size_t size = strlen(path);
	char *part = rt_scope_get(scope, size + 1);

	for (size_t i = 1; part != NULL && i <= size; i++) {
		if (path[i] != '/' && path[i] != 0)
			continue;
		memcpy(part, path, i);
		if (mkdir(part, 0700) != 0 && errno != EEXIST)
			return part;
	}
	return part != NULL ? NULL : "";
}

static bool
write_all(int fd, const char *ptr, size_t size)
{
	while (size > 0) {
		ssize_t wrote = write(fd, ptr, size);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return false;
		ptr += wrote;
		size -= (size_t)wrote;
	}
	return true;
}

/* Write under another name, sync, rename, sync. The caller holds the lock. */
static void
replace_at(rt_scope *s, int folder, rt_str text)
{
	bool ok;
	int fd;

	(void)unlinkat(folder, TEMPORARY, 0); /* left over from a crash */
	fd = openat(folder, TEMPORARY, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	ok = fd >= 0 && write_all(fd, text.ptr, text.size) && fsync(fd) == 0;
	if (fd >= 0 && close(fd) != 0)
		ok = false;
	if (ok && renameat(folder, TEMPORARY, folder, FILE_NAME) == 0 && fsync(folder) == 0)
		return;
	fail_io(s, "trust.json cannot be written");
	(void)unlinkat(folder, TEMPORARY, 0);
}

void
rt_trust_change(rt_scope *scope, const char *state_folder, rt_str path, rt_str hex)
{
	rt_buf *text = rt_scope_buf(scope);
	const char *missing = rt_make_private_folders(scope, state_folder);
	yyjson_val *root;
	int folder;

	if (missing != NULL) {
		fail_io(scope, missing);
		return;
	}
	folder = open(state_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0 || flock(folder, LOCK_EX) != 0)
		fail_io(scope, state_folder);
	text->limit = RT_TRUST_FILE_MAX;
	root = rt_ok(scope) ? read_at(scope, folder) : NULL;
	if (rt_ok(scope))
		rt_trust_write(scope, root, path, hex, text);
	if (rt_ok(scope))
		replace_at(scope, folder, rt_buf_str(text));
	if (folder >= 0)
		close(folder); /* releases the lock */
}

/* ---- hooks of a work folder ---- */

int
rt_open_below(const char *folder, const char *inner, int flags)
{
	int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char name[NAME_ROOM];

	while (at >= 0) {
		size_t size = strcspn(inner, "/");
		bool last = inner[size] == 0;
		int next = -1, code;

		if (size == 0 || size >= sizeof(name)) {
			errno = ENAMETOOLONG;
		} else {
			memcpy(name, inner, size);
			name[size] = 0;
			next = openat(at, name,
				      O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
					      (last ? flags : O_DIRECTORY));
		}
		code = errno;
		close(at);
		errno = code;
		if (last || next < 0)
			return next;
		at = next;
		inner += size + 1;
	}
	return -1;
}

static int
open_memory_file(void)
{
	int fd = memfd_create("retake-hook", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);

	return fd < 0 && errno == EINVAL
		       ? memfd_create("retake-hook", MFD_CLOEXEC | MFD_ALLOW_SEALING)
		       : fd;
}

/* Reads all bytes once: into the hash, and into the copy (to; -1: none), which is then sealed. */
static void
hash_and_copy(rt_scope *s, int from, int to, const char *inner, rt_trust_program *out)
{
	char piece[4096];
	uint64_t size = 0;
	rt_sha256 sha;

	rt_sha256_init(&sha);
	for (;;) {
		ssize_t got = read(from, piece, sizeof(piece));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			fail_io(s, inner);
		if (got <= 0)
			break;
		if (size == 0)
			out->is_script = got >= 2 && piece[0] == '#' && piece[1] == '!';
		size += (uint64_t)got;
		if (size > RT_TRUST_PROGRAM_MAX) {
			rt_scope_fail(s, RT_REFUSED, "%s is larger than %d bytes", inner,
				      RT_TRUST_PROGRAM_MAX);
			break;
		}
		rt_sha256_add(&sha, piece, (size_t)got);
		if (to >= 0 && !write_all(to, piece, (size_t)got)) {
			fail_io(s, "out of memory while copying a hook");
			break;
		}
	}
	if (!rt_ok(s))
		return;
	rt_sha256_end_hex(&sha, out->hex);
	if (to >= 0 &&
	    fcntl(to, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
		fail_io(s, "the copy of a hook cannot be sealed");
}

void
rt_trust_open(rt_scope *scope, const char *folder, const char *inner, bool with_fd,
	      rt_trust_program *out)
{
	struct stat info;
	int from;

	*out = (rt_trust_program){.fd = -1};
	if (!rt_ok(scope))
		return;
	from = rt_open_below(folder, inner, O_NONBLOCK | O_NOCTTY);
	if (from < 0) {
		if (errno == ENOENT)
			rt_scope_fail(scope, RT_NOT_FOUND, "%s does not exist", inner);
		else if (errno == ELOOP || errno == ENOTDIR)
			rt_scope_fail(scope, RT_REFUSED,
				      "%s is a symbolic link or is in one; a project's hook must "
				      "be a file",
				      inner);
		else
			fail_io(scope, inner);
		return;
	}
	if (fstat(from, &info) != 0)
		fail_io(scope, inner);
	else if (!S_ISREG(info.st_mode))
		rt_scope_fail(scope, RT_REFUSED, "%s is not a file", inner);
	else if ((info.st_mode & 0111) == 0)
		rt_scope_fail(scope, RT_REFUSED, "%s is not executable", inner);
	else if (with_fd && (out->fd = open_memory_file()) < 0)
		fail_io(scope, "cannot create a file in memory for a hook");
	if (rt_ok(scope))
		hash_and_copy(scope, from, out->fd, inner, out);
	close(from);
	if (!rt_ok(scope) && out->fd >= 0) {
		close(out->fd);
		out->fd = -1;
	}
}

const char *
rt_trust_state(rt_scope *scope, const char *state_folder, rt_str folder, rt_str path, bool with_fd,
	       rt_trust_program *out)
{
	yyjson_val *root = state_folder != NULL ? rt_trust_read(scope, state_folder) : NULL;
	rt_str pinned = rt_trust_find(root, path);

	/* A copy is made only if it may be run. */
	rt_trust_open(scope, folder.ptr, path.ptr + folder.size + 1, with_fd && pinned.size > 0,
		      out);
	if (!rt_ok(scope))
		return NULL;
	return pinned.size == 0 ? "new" : rt_str_is(pinned, out->hex) ? "on" : "changed";
}
