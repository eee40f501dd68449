/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "hooks/record_host.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/moment.h"

#define FILE_NAME "hooks.jsonl"
#define OLD_NAME "hooks.jsonl.old"

static rt_status
failed(rt_error *err)
{
	return rt_fail(err, errno == ELOOP ? RT_REFUSED : RT_IO,
		       "the record of hooks (" FILE_NAME ") cannot be written: %s",
		       strerrordesc_np(errno) == NULL ? "?" : strerrordesc_np(errno));
}

/* Every folder of the path, for ourselves alone. */
static int
open_folder(const rt_alloc *alloc, const char *path)
{
	rt_buf part;
	size_t i;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	rt_buf_init(&part, alloc, 65536);
	rt_buf_add_c(&part, path);
	for (i = 1; part.status == RT_OK && i < part.size; i++)
		if (part.ptr[i] == '/') {
			part.ptr[i] = '\0';
			(void)mkdir(part.ptr, 0700);
			part.ptr[i] = '/';
		}
	(void)mkdir(path, 0700);
	rt_buf_deinit(&part);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int
open_file(int folder)
{
	static const int how = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
	int fd = openat(folder, FILE_NAME, how, 0600);
	struct stat info;

	if (fd < 0 || fstat(fd, &info) != 0 || info.st_size < RT_RECORD_SIZE_MAX)
		return fd;
	/* Another process may do the same: then one of the two old ones is short. */
	if (renameat(folder, FILE_NAME, folder, OLD_NAME) != 0)
		return fd;
	close(fd);
	return openat(folder, FILE_NAME, how, 0600);
}

static void
add_line(rt_buf *line, int64_t now_us, const char *event, const char *id,
	 const rt_hook_answer *answer)
{
	static const char *const decisions[] = {"allow", "deny", "replace"};

	rt_buf_add_c(line, "{\"v\":1,\"at\":\"");
	rt_moment_format_ms(line, (rt_moment){now_us, 0});
	rt_buf_add_f(line, "\",\"event\":\"%s\",\"id\":\"%s\",\"decision\":\"%s\"", event, id,
		     decisions[answer->decision]);
	if (answer->by.size > 0) {
		rt_json_add_key(line, "by");
		rt_json_add_string(line, rt_buf_str(&answer->by));
	}
	rt_json_add_key(line, "runs");
	rt_buf_add_str(line, rt_buf_str(&answer->runs));
	rt_buf_add_c(line, "}\n");
}

rt_status
rt_record_hooks(const rt_alloc *alloc, const rt_env *env, const char *state_folder,
		const char *event, const char *id, const rt_hook_answer *answer, rt_error *err)
{
	int folder = -1, fd = -1;
	rt_status st = RT_OK;
	rt_buf line;

	if (answer->runs.size == 0)
		return RT_OK;
	rt_buf_init(&line, alloc, RT_BUF_UNLIMITED);
	add_line(&line, env->now_us(env->ctx), event, id, answer);
	if (line.status != RT_OK) {
		st = rt_fail(err, RT_NOMEM, "out of memory");
		goto done;
	}
	folder = open_folder(alloc, state_folder);
	if (folder >= 0)
		fd = open_file(folder);
	/* one write: lines stay whole */
	if (fd < 0 || write(fd, line.ptr, line.size) != (ssize_t)line.size)
		st = failed(err);
done:
	if (fd >= 0)
		close(fd);
	if (folder >= 0)
		close(folder);
	rt_buf_deinit(&line);
	return st;
}
