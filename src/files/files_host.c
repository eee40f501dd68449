/* SPDX-License-Identifier: MIT
 *
 * Opens files below a root, and nothing else.
 *
 * A path is walked a component at a time. Each is opened with O_PATH and O_NOFOLLOW relative to the
 * directory before it, which neither blocks nor has an effect on a device, and gives its type. The
 * target of a link is prepended to the rest of the path, an absolute one only if it begins with the
 * path of the root. ".." removes a component from the path found so far, which has no links, and
 * opens that path again from the root. So every directory that is ever opened was reached from the
 * root downwards, even while links and directories are being replaced. */
#define _GNU_SOURCE

#include "files/files_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	READ_TRIES = 2,
	FRESH_MS = 200,   /* a write that began this recently may not have ended */
	WRITER_MS = 1000, /* the same while a process has the file open for writing */
	READ_SIZE = 64 << 10,
	SNIFF_SIZE = 16, /* enough to recognise an image */
	OPEN_FLAGS = O_NOFOLLOW | O_CLOEXEC
};

static const rt_file_fault no_fault = {RT_FILE_NO_PROBLEM, 0};

static rt_file_fault
fault(rt_file_problem_kind kind)
{
	return (rt_file_fault){kind, 0};
}

static rt_file_fault
fault_errno(int code)
{
	switch (code) {
	case ENOENT:
	case ENOTDIR:
		return fault(RT_FILE_MISSING);
	case ENAMETOOLONG:
		return fault(RT_FILE_BAD_NAME);
	case ELOOP: /* it was replaced by a link since */
		return fault(RT_FILE_CHANGED);
	case ENXIO:
	case ENODEV:
		return fault(RT_FILE_SPECIAL);
	default:
		return (rt_file_fault){RT_FILE_UNREADABLE, code};
	}
}

/* ---- roots ---- */

typedef struct open_roots {
	rt_file_root *items;
	size_t count;
} open_roots;

static void
close_roots(void *ctx)
{
	open_roots *roots = ctx;

	for (size_t i = 0; i < roots->count; i++)
		if (roots->items[i].fd >= 0)
			close(roots->items[i].fd);
}

const rt_file_root *
rt_file_roots_open(rt_scope *s, const rt_file_options *options)
{
	open_roots *roots = rt_scope_get(s, sizeof(*roots));

	if (roots == NULL)
		return NULL;
	roots->items = rt_scope_array(s, options->root_count + 1, sizeof(*roots->items));
	if (roots->items == NULL)
		return NULL;
	rt_scope_defer(s, close_roots, roots);
	for (size_t i = 0; rt_ok(s) && i < options->root_count; i++) {
		rt_str path = rt_scope_copy(s, options->roots[i]);
		rt_file_root *root = &roots->items[i];
		char *real;

		if (!rt_ok(s))
			break;
		*root = (rt_file_root){.fd = open(path.ptr, O_PATH | O_DIRECTORY | O_CLOEXEC)};
		roots->count = i + 1;
		real = realpath(path.ptr, NULL);
		root->real = rt_scope_copy(s, rt_str_of(real));
		free(real);
		while (path.size > 0 && path.ptr[path.size - 1] == '/')
			path.size--;
		if (root->real.size == 1) /* "/" */
			root->real.size = 0;
		root->path = path;
	}
	return rt_ok(s) ? roots->items : NULL;
}

/* ---- finding ---- */

typedef struct walk {
	const rt_file_root *root;
	int fd;         /* of the path so far */
	rt_buf *path;   /* so far, without links */
	rt_str rest;    /* still to be walked */
	int links;
} walk;

static void
move_fd(int *to, int fd)
{
	if (*to >= 0)
		close(*to);
	*to = fd;
}

static int
root_fd(const rt_file_root *root)
{
	return fcntl(root->fd, F_DUPFD_CLOEXEC, 0);
}

/* Open a path below a root that has no links: -1 with errno. */
static int
open_plain(const rt_file_root *root, rt_str path)
{
	char name[RT_FILE_PATH_MAX + 1];
	int fd = root_fd(root);
	rt_str each;

	while (fd >= 0 && rt_str_split(&path, '/', &each)) {
		int next, code;

		memcpy(name, each.ptr, each.size);
		name[each.size] = 0;
		next = openat(fd, name, O_PATH | OPEN_FLAGS);
		code = errno;
		move_fd(&fd, next);
		errno = code;
	}
	return fd;
}

static rt_file_fault
go_up(walk *w)
{
	size_t size = w->path->size;
	int fd;

	if (size == 0)
		return fault(RT_FILE_OUTSIDE);
	while (size > 0 && w->path->ptr[size - 1] != '/')
		size--;
	w->path->size = size > 0 ? size - 1 : 0;
	fd = open_plain(w->root, rt_buf_str(w->path));
	if (fd < 0)
		return fault_errno(errno);
	move_fd(&w->fd, fd);
	return no_fault;
}

/* Prepends the target of a link to the rest. */
static rt_file_fault
follow(rt_scope *s, walk *w, int fd)
{
	char target[RT_FILE_PATH_MAX + 1];
	ssize_t size = readlinkat(fd, "", target, sizeof(target));
	rt_str to = rt_str_at(target, size < 0 ? 0 : (size_t)size);
	rt_buf *rest;

	if (size < 0)
		return fault_errno(errno);
	if (++w->links > RT_FILE_LINKS_MAX)
		return fault(RT_FILE_MISSING);
	if (to.size + w->rest.size > RT_FILE_PATH_MAX)
		return fault(RT_FILE_BAD_NAME);
	if (to.size > 0 && to.ptr[0] == '/') {
		rt_str real = w->root->real;
		int root;

		if (!rt_str_starts(to, real) || (to.size > real.size && to.ptr[real.size] != '/'))
			return fault(RT_FILE_OUTSIDE);
		to = rt_str_skip(to, real.size);
		root = root_fd(w->root);
		if (root < 0)
			return fault_errno(errno);
		rt_buf_clear(w->path);
		move_fd(&w->fd, root);
	}
	rest = rt_scope_buf(s);
	rt_buf_add_str(rest, to);
	rt_buf_add_byte(rest, '/');
	rt_buf_add_str(rest, w->rest);
	w->rest = rt_scope_str(s, rest);
	return no_fault;
}

static rt_file_type
type_of(mode_t mode)
{
	return S_ISREG(mode) ? RT_FILE_REGULAR
	       : S_ISDIR(mode) ? RT_FILE_DIRECTORY
	       : S_ISLNK(mode) ? RT_FILE_LINK
			       : RT_FILE_OTHER;
}

/* Go to one component, which is not "..". */
static rt_file_fault
go_down(rt_scope *s, walk *w, rt_str name, rt_file_type *type)
{
	char cstr[RT_FILE_PATH_MAX + 1];
	rt_file_fault f = no_fault;
	struct stat info;
	int fd;

	memcpy(cstr, name.ptr, name.size);
	cstr[name.size] = 0;
	fd = openat(w->fd, cstr, O_PATH | OPEN_FLAGS);
	if (fd < 0)
		return fault_errno(errno);
	if (fstat(fd, &info) != 0) {
		f = fault_errno(errno);
	} else if (S_ISLNK(info.st_mode)) {
		f = follow(s, w, fd);
	} else {
		if (w->path->size > 0)
			rt_buf_add_byte(w->path, '/');
		rt_buf_add_str(w->path, name);
		*type = type_of(info.st_mode);
		move_fd(&w->fd, fd);
		fd = -1;
	}
	move_fd(&fd, -1);
	return f;
}

rt_file_fault
rt_file_find(rt_scope *s, const rt_file_root *root, rt_str path, rt_file_place *out)
{
	rt_file_type type = RT_FILE_DIRECTORY;
	rt_file_fault f = no_fault;
	bool ends_in_slash = path.size > 0 && path.ptr[path.size - 1] == '/';
	walk w = {.root = root, .path = rt_scope_buf(s), .rest = path};
	rt_str name;

	if (path.size > RT_FILE_PATH_MAX)
		return fault(RT_FILE_BAD_NAME);
	if (root->fd < 0)
		return fault(RT_FILE_MISSING);
	w.fd = root_fd(root);
	if (w.fd < 0)
		return fault_errno(errno);
	while (rt_ok(s) && f.kind == RT_FILE_NO_PROBLEM && rt_str_split(&w.rest, '/', &name)) {
		if (name.size == 0 || rt_str_is(name, "."))
			continue;
		if (type != RT_FILE_DIRECTORY) {
			f = fault(RT_FILE_MISSING);
		} else if (rt_str_is(name, "..")) {
			f = go_up(&w);
		} else {
			f = go_down(s, &w, name, &type);
		}
	}
	if (f.kind == RT_FILE_NO_PROBLEM && ends_in_slash && type != RT_FILE_DIRECTORY)
		f = fault(RT_FILE_MISSING);
	move_fd(&w.fd, -1);
	*out = (rt_file_place){.root = root, .path = rt_scope_str(s, w.path), .type = type};
	return f;
}

/* ---- reading ---- */

/* Opens the file that was found, again without links: -1 with errno. */
static int
open_place(const rt_file_place *place, int flags)
{
	char name[RT_FILE_PATH_MAX + 1];
	size_t at = place->path.size;
	int parent, fd, code;

	while (at > 0 && place->path.ptr[at - 1] != '/')
		at--;
	if (place->path.size == 0)
		return openat(place->root->fd, ".", flags | OPEN_FLAGS);
	memcpy(name, place->path.ptr + at, place->path.size - at);
	name[place->path.size - at] = 0;
	parent = open_plain(place->root, rt_str_at(place->path.ptr, at > 0 ? at - 1 : 0));
	if (parent < 0)
		return -1;
	fd = openat(parent, name, flags | OPEN_FLAGS);
	code = errno;
	close(parent);
	errno = code;
	return fd;
}

/* Read up to max bytes and one more. */
static rt_file_fault
read_all(int fd, size_t max, rt_buf *out)
{
	for (;;) {
		size_t room = max + 1 - out->size;
		char *to = rt_buf_reserve(out, room < READ_SIZE ? room : READ_SIZE);
		ssize_t got;

		if (to == NULL)
			return no_fault; /* kept in the buffer */
		got = read(fd, to, room < READ_SIZE ? room : READ_SIZE);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fault_errno(errno);
		out->size += (size_t)got;
		if (out->size > max)
			return fault(RT_FILE_TOO_LARGE);
		if (got == 0)
			return no_fault;
	}
}

static bool
is_same(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static rt_file_fault
read_once(int fd, size_t text_max, size_t image_max, rt_buf *out, struct stat *info)
{
	struct stat before, after;
	char start[SNIFF_SIZE];
	rt_file_fault f;
	ssize_t got;
	size_t max;

	if (fstat(fd, &before) != 0)
		return fault_errno(errno);
	if (!S_ISREG(before.st_mode))
		return fault(RT_FILE_SPECIAL);
	got = pread(fd, start, sizeof(start), 0);
	if (got < 0)
		return fault_errno(errno);
	max = rt_file_image_type(rt_str_at(start, (size_t)got)).size > 0 ? image_max : text_max;
	if ((uint64_t)before.st_size > max)
		return fault(RT_FILE_TOO_LARGE);
	if (lseek(fd, 0, SEEK_SET) != 0)
		return fault_errno(errno);
	rt_buf_clear(out);
	f = read_all(fd, max, out);
	if (f.kind != RT_FILE_NO_PROBLEM)
		return f;
	if (fstat(fd, &after) != 0)
		return fault_errno(errno);
	/* Files that the kernel generates have size 0. */
	if (!is_same(&before, &after) ||
	    (after.st_size != 0 && (uint64_t)after.st_size != out->size))
		return fault(RT_FILE_CHANGED);
	*info = after;
	return no_fault;
}

/* Whether a process has the file open for writing, as far as the kernel can tell: leases are
 * limited to local file systems and to the owner's files. The signal of a lease that is broken
 * before it is given back is ignored by default. */
static bool
has_writer(int fd)
{
	if (fcntl(fd, F_SETSIG, SIGURG) != 0)
		return false;
	if (fcntl(fd, F_SETLEASE, F_RDLCK) != 0)
		return errno == EAGAIN;
	(void)fcntl(fd, F_SETLEASE, F_UNLCK);
	return false;
}

/* The remaining time in which the file counts as just changed; 0: none. A time in the near future
 * is that of a file server whose clock is ahead. */
static int64_t
fresh_for_ms(int fd, const struct stat *info)
{
	struct timespec now;
	int64_t age_ms;

	if (clock_gettime(CLOCK_REALTIME, &now) != 0)
		return 0;
	age_ms = (int64_t)(now.tv_sec - info->st_mtim.tv_sec) * 1000 +
		 (now.tv_nsec - info->st_mtim.tv_nsec) / 1000000;
	if (age_ms <= -WRITER_MS || age_ms >= WRITER_MS)
		return 0;
	if (age_ms < 0)
		age_ms = 0;
	if (has_writer(fd))
		return WRITER_MS - age_ms;
	return age_ms < FRESH_MS ? FRESH_MS - age_ms : 0;
}

/* A write sets the modification time as it begins, and the clock of these times ticks slowly: equal
 * times do not show that a file rests. The bytes of a write that has begun appear one after the other,
 * and its process may be suspended in the middle. So a file that was changed just now is read again
 * when its last change is FRESH_MS old, and one that is still open for writing must also have been left
 * alone for WRITER_MS. A write that is suspended for longer cannot be detected. */
static rt_file_fault
read_settled(rt_scope *s, int fd, size_t text_max, size_t image_max, rt_buf *out)
{
	struct stat first, second;
	rt_file_fault f = read_once(fd, text_max, image_max, out, &first);
	int64_t wait_ms = f.kind == RT_FILE_NO_PROBLEM ? fresh_for_ms(fd, &first) : 0;
	const struct timespec wait = {wait_ms / 1000, wait_ms % 1000 * 1000000L};
	rt_buf *again;

	if (wait_ms == 0)
		return f;
	again = rt_scope_buf(s);
	if (again == NULL)
		return no_fault; /* kept in the scope */
	(void)nanosleep(&wait, NULL);
	f = read_once(fd, text_max, image_max, again, &second);
	if (f.kind == RT_FILE_NO_PROBLEM &&
	    (!is_same(&first, &second) || !rt_str_eq(rt_buf_str(out), rt_buf_str(again))))
		return fault(RT_FILE_CHANGED);
	return f;
}

rt_file_fault
rt_file_load(rt_scope *s, const rt_file_place *place, size_t text_max, size_t image_max,
	     rt_str *out)
{
	rt_buf *bytes = rt_scope_buf(s);
	rt_file_fault f;
	int fd;

	/* if it has become a FIFO, this does not wait for a writer */
	fd = open_place(place, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fault_errno(errno);
	for (int i = 0; i < READ_TRIES; i++) {
		f = read_settled(s, fd, text_max, image_max, bytes);
		if (f.kind != RT_FILE_CHANGED)
			break;
	}
	close(fd);
	*out = rt_scope_str(s, bytes);
	return f;
}

/* ---- listing ---- */

static rt_file_type
entry_type(int fd, const struct dirent *entry)
{
	struct stat info;

	switch (entry->d_type) {
	case DT_REG: return RT_FILE_REGULAR;
	case DT_DIR: return RT_FILE_DIRECTORY;
	case DT_LNK: return RT_FILE_LINK;
	case DT_UNKNOWN: break;
	default: return RT_FILE_OTHER;
	}
	if (fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
		return RT_FILE_OTHER;
	return type_of(info.st_mode);
}

rt_file_fault
rt_file_list(rt_scope *s, const rt_file_place *place, size_t max, rt_file_entry **out,
	     size_t *out_count)
{
	int fd = open_place(place, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
	rt_file_entry *entries = NULL;
	size_t count = 0, capacity = 0;
	rt_file_fault f = no_fault;
	DIR *dir;

	*out = NULL;
	*out_count = 0;
	if (fd < 0)
		return fault_errno(errno);
	dir = fdopendir(fd);
	if (dir == NULL) {
		f = fault_errno(errno);
		close(fd);
		return f;
	}
	while (rt_ok(s)) {
		const struct dirent *entry;

		errno = 0;
		entry = readdir(dir);
		if (entry == NULL) {
			f = errno != 0 ? fault_errno(errno) : no_fault;
			break;
		}
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (count == max) {
			f = fault(RT_FILE_TOO_MANY);
			break;
		}
		entries = rt_scope_grow(s, entries, count, &capacity, sizeof(*entries));
		if (entries == NULL)
			break;
		entries[count++] = (rt_file_entry){
			.name = rt_scope_copy(s, rt_str_of(entry->d_name)),
			.type = entry_type(fd, entry),
		};
	}
	closedir(dir);
	*out = entries;
	*out_count = count;
	return f;
}
