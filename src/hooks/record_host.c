/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "hooks/record_host.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/moment.h"
#include "hooks/trust.h"

#define FILE_NAME "hooks.jsonl"
#define OLD_NAME "hooks.jsonl.old"

static int
open_folder(rt_scope *s, const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	(void)rt_make_private_folders(s, path);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int
open_file(int folder)
{
	static const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
	int fd = openat(folder, FILE_NAME, flags, 0600);
	struct stat info;

	if (fd < 0 || fstat(fd, &info) != 0 || info.st_size < RT_RECORD_SIZE_MAX)
		return fd;
	/* Another process may rotate, too: then one of the two old files is short. */
	if (renameat(folder, FILE_NAME, folder, OLD_NAME) != 0)
		return fd;
	close(fd);
	return openat(folder, FILE_NAME, flags, 0600);
}

static rt_str
make_line(rt_scope *s, int64_t now_us, const char *event, const char *id,
	  const rt_hook_answer *answer)
{
	static const char *const decisions[] = {"allow", "deny", "replace"};
	rt_buf *line = rt_scope_buf(s);

	rt_json_open(line, NULL, '{');
	rt_json_put_u64(line, "v", 1);
	rt_json_put_time(line, "at", (rt_moment){now_us, 0});
	rt_json_put_c(line, "event", event);
	rt_json_put_c(line, "id", id);
	rt_json_put_c(line, "decision", decisions[answer->decision]);
	if (answer->by.size > 0)
		rt_json_put_str(line, "by", rt_buf_str(&answer->by));
	rt_json_put_raw(line, "runs", rt_buf_str(&answer->runs));
	rt_json_close(line, '}');
	rt_buf_add_byte(line, '\n');
	return rt_scope_str(s, line);
}

rt_status
rt_record_hooks(const rt_alloc *alloc, const rt_env *env, const char *state_folder,
		const char *event, const char *id, const rt_hook_answer *answer, rt_error *err)
{
	int folder = -1, fd = -1;
	rt_scope s;
	rt_str line;

	if (answer->runs.size == 0)
		return RT_OK;
	rt_scope_init(&s, alloc);
	line = make_line(&s, env->now_us(env->ctx), event, id, answer);
	if (rt_ok(&s)) {
		folder = open_folder(&s, state_folder);
		if (folder >= 0)
			fd = open_file(folder);
		/* A single write, so that lines stay whole. */
		if (fd < 0 || write(fd, line.ptr, line.size) != (ssize_t)line.size) {
			const char *why = strerrordesc_np(errno);

			rt_scope_fail(&s, errno == ELOOP ? RT_REFUSED : RT_IO,
				      "the hook log (" FILE_NAME ") cannot be written: %s",
				      why == NULL ? "?" : why);
		}
	}
	if (fd >= 0)
		close(fd);
	if (folder >= 0)
		close(folder);
	return rt_scope_end(&s, err);
}
