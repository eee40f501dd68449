/* SPDX-License-Identifier: MIT
 *
 * HEAD names a reference or is a commit (detached); a reference is a separate file or a line of
 * packed-refs. A .git that is a file names the folder of a linked work tree or a submodule; data
 * shared by several work trees are in the folder that "commondir" names. */
#define _GNU_SOURCE

#include "app/git_host.h"

#include "base/scope.h"
#include "llm/system_host.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 4096, FILE_SIZE_MAX = 64 * 1024 * 1024, SYMBOLIC_MAX = 5 };

typedef struct finder {
	rt_scope scope;
	rt_git *git;
} finder;

/* --- the files that were read --- */

static rt_git_file
state_of(const char *path, struct stat *info)
{
	rt_git_file f = {.exists = stat(path, info) == 0};

	if (!f.exists)
		return f;
	f.device = info->st_dev;
	f.inode = info->st_ino;
	f.size = info->st_size;
	f.seconds = info->st_mtim.tv_sec;
	f.nanoseconds = info->st_mtim.tv_nsec;
	return f;
}

static bool
is_unchanged(const rt_git_file *was)
{
	struct stat info;
	rt_git_file is = state_of(was->path, &info);

	return is.exists == was->exists && is.device == was->device && is.inode == was->inode &&
	       is.size == was->size && is.seconds == was->seconds &&
	       is.nanoseconds == was->nanoseconds;
}

/* Notes a file; false: it does not exist. */
static bool
look(finder *f, const char *path, struct stat *info)
{
	rt_git *git = f->git;
	rt_git_file file = state_of(path, info);

	if (git->count < RT_GIT_FILES_MAX && strlen(path) < sizeof(file.path)) {
		memcpy(file.path, path, strlen(path) + 1);
		git->files[git->count++] = file;
	} else {
		git->count = RT_GIT_FILES_MAX + 1;
	}
	return file.exists;
}

/* --- reading --- */

/* A path below a folder, or one that is absolute. */
static rt_buf *
path_of(finder *f, rt_str dir, rt_str name)
{
	rt_buf *path = rt_scope_buf(&f->scope);

	if (name.size == 0 || name.ptr[0] != '/') {
		rt_buf_add_str(path, dir);
		rt_buf_add_byte(path, '/');
	}
	rt_buf_add_str(path, name);
	return path;
}

/* The text of a file without white space around it; ptr NULL: it cannot be read. A file that is too
 * large is not used at all: truncated, it could name another commit. */
static rt_str
read_file(finder *f, rt_str dir, rt_str name)
{
	rt_buf *path = path_of(f, dir, name), *text = rt_scope_buf(&f->scope);
	struct stat info;
	rt_status st;

	if (rt_scope_str(&f->scope, path).ptr == NULL || !look(f, path->ptr, &info) ||
	    !S_ISREG(info.st_mode))
		return rt_str_at(NULL, 0);
	/* if it has become a FIFO, this does not wait for a writer */
	st = rt_file_read(path->ptr, O_NONBLOCK, FILE_SIZE_MAX, text, NULL);
	if (st == RT_NOMEM)
		(void)rt_scope_nomem(&f->scope);
	return st == RT_OK ? rt_str_trim(rt_scope_str(&f->scope, text)) : rt_str_at(NULL, 0);
}

/* The commit that a text begins with; empty: none. */
static rt_str
commit_in(rt_str text)
{
	size_t size = 0;

	while (size < text.size && ((text.ptr[size] >= '0' && text.ptr[size] <= '9') ||
				    (text.ptr[size] >= 'a' && text.ptr[size] <= 'f')))
		size++;
	if ((size != 40 && size != 64) || (size < text.size && text.ptr[size] != ' '))
		return rt_str_at(NULL, 0);
	return rt_str_at(text.ptr, size);
}

/* The commit of a name in lines of "HASH NAME"; empty: not found. */
static rt_str
find_packed(rt_str packed, rt_str name)
{
	while (packed.size > 0) {
		size_t end = rt_str_find(packed, RT_STR("\n"), 0);
		rt_str line = rt_str_at(packed.ptr, end == SIZE_MAX ? packed.size : end);
		rt_str hash = commit_in(line);

		if (hash.size > 0 && line.size > hash.size &&
		    rt_str_eq(rt_str_at(line.ptr + hash.size + 1, line.size - hash.size - 1), name))
			return hash;
		end = end == SIZE_MAX ? packed.size : end + 1;
		packed = rt_str_at(packed.ptr + end, packed.size - end);
	}
	return rt_str_at(NULL, 0);
}

/* The name in "ref: NAME"; empty: not a name below refs/. */
static rt_str
ref_in(rt_str text)
{
	const rt_str prefix = RT_STR("ref: ");
	rt_str name = {NULL, 0};

	if (rt_str_starts(text, prefix))
		name = rt_str_at(text.ptr + prefix.size, text.size - prefix.size);
	return rt_str_starts(name, RT_STR("refs/")) &&
			       rt_str_find(name, RT_STR(".."), 0) == SIZE_MAX
		       ? name
		       : rt_str_at(NULL, 0);
}

/* The commit of a git folder's HEAD; empty: it has none. */
static rt_str
find_head(finder *f, rt_str git)
{
	rt_str text = read_file(f, git, RT_STR("HEAD")), name, shared = git;
	rt_str common = read_file(f, git, RT_STR("commondir"));

	if (common.size > 0)
		shared = rt_scope_str(&f->scope, path_of(f, git, common));
	for (int i = 0; i < SYMBOLIC_MAX; i++) {
		if (commit_in(text).size > 0)
			return commit_in(text);
		name = ref_in(text);
		if (name.size == 0)
			break;
		text = read_file(f, shared, name);
		if (text.size == 0)
			return find_packed(read_file(f, shared, RT_STR("packed-refs")), name);
	}
	return rt_str_at(NULL, 0);
}

/* The commit of the work tree whose top is this folder; false: not a work tree. */
static bool
find_commit(finder *f, const char *dir, rt_str *out)
{
	const rt_str gitdir = RT_STR("gitdir: ");
	rt_buf *git = path_of(f, rt_str_of(dir), RT_STR(".git"));
	rt_str link;
	struct stat info;

	if (rt_scope_str(&f->scope, git).ptr == NULL || !look(f, git->ptr, &info))
		return false;
	if (S_ISDIR(info.st_mode)) {
		*out = find_head(f, rt_buf_str(git));
		return true;
	}
	link = read_file(f, rt_str_of(dir), RT_STR(".git"));
	if (!rt_str_starts(link, gitdir))
		return true;
	link = rt_str_at(link.ptr + gitdir.size, link.size - gitdir.size);
	*out = find_head(f, rt_scope_str(&f->scope, path_of(f, rt_str_of(dir), link)));
	return true;
}

static bool
is_valid(const rt_git *git, const char *dir)
{
	if (git->count == 0 || git->count > RT_GIT_FILES_MAX || strcmp(git->dir, dir) != 0)
		return false;
	for (unsigned i = 0; i < git->count; i++)
		if (!is_unchanged(&git->files[i]))
			return false;
	return true;
}

const char *
rt_git_commit(void *ctx)
{
	rt_git *git = ctx;
	finder f = {.git = git};
	rt_str commit = {NULL, 0};
	char dir[PATH_ROOM];

	if (getcwd(dir, sizeof(dir)) == NULL)
		return NULL;
	if (is_valid(git, dir))
		return git->commit[0] != '\0' ? git->commit : NULL;
	git->count = 0;
	(void)snprintf(git->dir, sizeof(git->dir), "%.*s", RT_GIT_PATH_MAX - 1, dir);
	rt_scope_init(&f.scope, git->alloc != NULL ? git->alloc : rt_alloc_libc());
	for (char *slash = dir; !find_commit(&f, dir, &commit); *slash = '\0') {
		slash = strrchr(dir, '/');
		if (slash == NULL)
			break;
	}
	(void)snprintf(git->commit, sizeof(git->commit), "%.*s", RT_STR_ARG(commit));
	if (!rt_ok(&f.scope)) { /* running out of memory is not a result to keep */
		git->commit[0] = '\0';
		git->count = 0;
	}
	rt_scope_deinit(&f.scope);
	return git->commit[0] != '\0' ? git->commit : NULL;
}
