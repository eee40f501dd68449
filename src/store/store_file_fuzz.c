/* SPDX-License-Identifier: MIT
 *
 * Any bytes as the file of a store. Whatever they are: nothing crashes, nothing hangs,
 * everything can be asked for, and reading only leaves them as they were.
 *
 *   byte 0   bit 0: also write to it; bit 1: mend the header, so that more of the rest is
 *            reached; bit 2: bytes 1 to 3 say where the file ends and its -wal begins
 *   then     the file, and perhaps the -wal */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/store_sqlite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PROJECTS = 3 };

static int64_t
now_us(void *ctx)
{
	(void)ctx;
	return 1700000000000000;
}

static void
random_bytes(void *ctx, void *to, size_t size)
{
	uint64_t *state = ctx;
	unsigned char *bytes = to;

	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)((*state = *state * 6364136223846793005u + 1) >> 33);
}

/* --- asking for everything --- */

static bool
see_log(void *ctx, const rt_store_row *row)
{
	*(size_t *)ctx += row->data.size;
	return true;
}

static bool
see_body(void *ctx, const rt_store_row *row)
{
	*(size_t *)ctx += row->data.size;
	return true;
}

static bool
see_side(void *ctx, const rt_store_row *row)
{
	*(size_t *)ctx += row->name.size + row->data.size;
	return true;
}

static bool
see_project(void *ctx, const rt_store_row *row)
{
	*(size_t *)ctx += (size_t)(row->number & 1) + row->data.size;
	return true;
}

static bool
see_row(void *ctx, const rt_store_row *row)
{
	*(uint64_t *)ctx += row->number;
	return true;
}

static bool
see_number(void *ctx, uint64_t number, uint64_t entry)
{
	*(size_t *)ctx += (size_t)((number ^ entry) & 1);
	return true;
}

static bool
see_finding(void *ctx, const char *id, const char *text)
{
	if (strncmp(id, "store-", 6) != 0 || strchr(text, '\n') != NULL)
		abort();
	*(size_t *)ctx += 1;
	return *(size_t *)ctx < 10000;
}

/* A failure says what it is, in one line. */
static void
expect_told(rt_status st, const rt_error *err)
{
	if (st == RT_OK)
		return;
	if (err->status != st || err->text[0] == 0 || strchr(err->text, '\n') != NULL)
		abort();
}

static void
read_project(rt_store *s, uint64_t project)
{
	const rt_store_ops *ops = s->ops;
	uint64_t number = 0;
	size_t seen = 0;
	rt_error err;
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), 1 << 24);
	expect_told(ops->head(s, RT_STORE_LOG, project, &number, &err), &err);
	expect_told(ops->read(s, rt_rows_between(RT_STORE_LOG, project, 1, UINT64_MAX), see_log,
			      &seen, &err),
		    &err);
	expect_told(ops->read(s, rt_rows_between(RT_STORE_LOG, project, UINT64_MAX, 1), see_log,
			      &seen, &err),
		    &err);
	expect_told(ops->head(s, RT_STORE_BODIES, project, &number, &err), &err);
	expect_told(ops->read(s, rt_rows_between(RT_STORE_BODIES, project, 1, UINT64_MAX), see_body,
			      &seen, &err),
		    &err);
	expect_told(rt_store_get(s, rt_rows_one(RT_STORE_BODIES, project, 1), &buf, NULL, &err),
		    &err);
	expect_told(ops->read(s, rt_rows_numbers(RT_STORE_NODES, project), see_row, &seen, &err),
		    &err);
	expect_told(rt_store_get(s, rt_rows_one(RT_STORE_NODES, project, 1), &buf, NULL, &err),
		    &err);
	expect_told(rt_store_get(s, rt_rows_all(RT_STORE_ROOT, project), &buf, &number, &err),
		    &err);
	expect_told(ops->read(s, rt_rows_all(RT_STORE_SIDE, project), see_side, &seen, &err), &err);
	expect_told(rt_store_get(s, rt_rows_named(RT_STORE_SIDE, project, RT_STR("draft")), &buf,
				 NULL, &err),
		    &err);
	expect_told(ops->head(s, RT_STORE_INDEX, project, &number, &err), &err);
	expect_told(ops->index_find(s, project, RT_STR("quick fo*"), 0, see_number,
				    &seen, &err),
		    &err);
	expect_told(ops->index_find(s, project, RT_STR("quick brown"), 3, see_number,
				    &seen, &err),
		    &err);
	rt_buf_deinit(&buf);
}

static void
write_project(rt_store *s, uint64_t project)
{
	const rt_store_ops *ops = s->ops;
	rt_store_row row = {.data = RT_STR("effect")};
	rt_store_row body = {.number = 0, .entry = 1, .data = RT_STR("quick brown fox")};
	rt_error err;
	rt_status st = ops->begin(s, &err);

	expect_told(st, &err);
	if (st != RT_OK)
		return;
	if (ops->head(s, RT_STORE_LOG, project, &row.number, &err) == RT_OK &&
	    ops->head(s, RT_STORE_BODIES, project, &body.number, &err) == RT_OK) {
		body.number++;
		expect_told(ops->append(s, project, row.number, &row, 1, &body, 1, NULL, &err),
			    &err);
	}
	expect_told(ops->write(s, rt_rows_one(RT_STORE_NODES, project, 1), RT_STR("node"), &err),
		    &err);
	expect_told(ops->drop(s, rt_rows_all(RT_STORE_ROOT, project), &err), &err);
	expect_told(ops->write(s, rt_rows_one(RT_STORE_ROOT, project, 1), RT_STR("root"), &err),
		    &err);
	expect_told(ops->write(s, rt_rows_named(RT_STORE_SIDE, project, RT_STR("draft")),
			       RT_STR("x"), &err),
		    &err);
	expect_told(ops->index_add(s, project, 2, 1, RT_STR("lazy dog"), &err), &err);
	expect_told(ops->write(s, rt_rows_one(RT_STORE_BODIES, project, 1), RT_STR(""), &err),
		    &err);
	expect_told(ops->drop(s, rt_rows_one(RT_STORE_INDEX, project, 1), &err), &err);
	expect_told(ops->commit(s, &err), &err);
	ops->cancel(s);
}

static void
use_file(const char *path, bool write)
{
	uint64_t dice = 1, epoch = 0;
	rt_env env = {now_us, random_bytes, &dice};
	rt_store_sqlite_options options = {.read_only = !write, .busy_ms = 1, .boot = "fuzz"};
	rt_store *s = NULL;
	size_t seen = 0;
	rt_error err;
	rt_status st = rt_store_sqlite_open(rt_alloc_libc(), &env, path, &options, &s, &err);

	expect_told(st, &err);
	if (st != RT_OK)
		return;
	expect_told(s->ops->epoch(s, &epoch, &err), &err);
	expect_told(s->ops->read(s, rt_rows_all(RT_STORE_PROJECTS, 0), see_project, &seen, &err),
		    &err);
	for (uint64_t project = 0; project < PROJECTS; project++)
		read_project(s, project);
	expect_told(s->ops->check(s, see_finding, &seen, &err), &err);
	if (write) {
		write_project(s, 1);
		read_project(s, 1);
		expect_told(s->ops->scrub(s, &err), &err);
	}
	s->ops->close(s);
}

/* --- the bytes as files --- */

static void
put(const char *path, const uint8_t *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd) != 0)
		abort();
}

static void
expect_untouched(const char *path, const uint8_t *bytes, size_t size)
{
	uint8_t *now = malloc(size + 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || now == NULL || read(fd, now, size + 1) != (ssize_t)size ||
	    (size > 0 && memcmp(now, bytes, size) != 0))
		abort();
	close(fd);
	free(now);
}

static void
mend(uint8_t *file, size_t size)
{
	if (size < 100)
		return;
	memcpy(file, "SQLite format 3", 16);
	file[18] = file[19] = 2;
	memcpy(file + 68, "RtK1", 4);
	memcpy(file + 92, file + 24, 4);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64], beside[80];
	size_t file_size = size > 0 ? size - 1 : 0, wal_size = 0;
	uint8_t flags = size > 0 ? data[0] : 0;
	uint8_t *bytes = malloc(size + 1);

	if (bytes == NULL)
		abort();
	memcpy(bytes, data + (size > 0), file_size);
	if ((flags & 4) != 0 && size >= 4) {
		size_t split = (size_t)data[1] | (size_t)data[2] << 8 | (size_t)data[3] << 16;

		file_size = size - 4;
		memcpy(bytes, data + 4, file_size);
		if (split < file_size) {
			wal_size = file_size - split;
			file_size = split;
		}
	}
	if ((flags & 2) != 0)
		mend(bytes, file_size);
	/* In memory if there is such a folder: otherwise file access takes most of a run. */
	snprintf(path, sizeof(path), "%s/retake-fuzz-%ld",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
	put(path, bytes, file_size);
	snprintf(beside, sizeof(beside), "%s-wal", path);
	(void)unlink(beside);
	if (wal_size > 0)
		put(beside, bytes + file_size, wal_size);
	use_file(path, false);
	expect_untouched(path, bytes, file_size);
	if (wal_size > 0)
		expect_untouched(beside, bytes + file_size, wal_size);
	if ((flags & 1) != 0)
		use_file(path, true);
	(void)unlink(beside);
	snprintf(beside, sizeof(beside), "%s-shm", path);
	(void)unlink(beside);
	(void)unlink(path);
	free(bytes);
	return 0;
}
