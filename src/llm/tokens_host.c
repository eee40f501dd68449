/* SPDX-License-Identifier: MIT
 *
 * The first file that can be opened is used. It is compared with the published one, because one
 * lost line would make every count silently wrong. */
#define _GNU_SOURCE

#include "llm/tokens_host.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/scope.h"
#include "llm/system_host.h"

#ifndef RT_TOKENS_DIR
#define RT_TOKENS_DIR "/usr/local/share/retake/tokens"
#endif

/* Try DIR BELOW/NAME.tiktoken. False: it cannot be opened. path is the one that was read, and data
 * is empty if it is not a file. */
static bool
read_in(rt_scope *s, rt_str dir, const char *below, const rt_token_encoding *encoding, rt_buf *path,
	rt_buf *data)
{
	rt_status st;

	rt_buf_clear(path);
	rt_buf_add_str(path, dir);
	rt_buf_add_f(path, "%s/%s.tiktoken", below, encoding->name);
	(void)rt_scope_str(s, path);
	if (!rt_ok(s) || dir.size == 0 || access(path->ptr, R_OK) != 0)
		return false;
	st = rt_file_read(path->ptr, 0, encoding->file_size, data, NULL);
	if (st == RT_NOMEM)
		(void)rt_scope_fail(s, st, "out of memory for token ranks");
	else if (st != RT_OK)
		rt_buf_clear(data);
	return true;
}

/* The folder of the running program; empty: not known. */
static rt_str
program_dir(char *room, size_t size)
{
	ssize_t got = readlink("/proc/self/exe", room, size);
	size_t left = got < 0 || (size_t)got == size ? 0 : (size_t)got;

	while (left > 0 && room[left - 1] != '/')
		left--;
	return rt_str_at(room, left > 1 ? left - 1 : 0);
}

static bool
read_ranks(rt_scope *s, const rt_token_encoding *encoding, rt_buf *path, rt_buf *data)
{
	rt_str named = rt_str_of(getenv("RETAKE_TOKENS")), program;
	char room[PATH_MAX];

	if (named.size > 0)
		return read_in(s, named, "", encoding, path, data);
	program = program_dir(room, sizeof(room));
	return read_in(s, program, "/tokens", encoding, path, data) ||
	       read_in(s, program, "/../share/retake/tokens", encoding, path, data) ||
	       read_in(s, RT_STR(RT_TOKENS_DIR), "", encoding, path, data);
}

rt_status
rt_tokens_load(const rt_alloc *alloc, const rt_token_encoding *encoding, rt_tokens **out,
	       rt_buf *warnings, rt_error *err)
{
	rt_tokens *tokens = NULL;
	rt_scope s;

	rt_scope_init(&s, alloc);
	rt_buf *path = rt_scope_buf(&s), *data = rt_scope_buf(&s);
	if (read_ranks(&s, encoding, path, data) && rt_ok(&s)) {
		if (data->size == encoding->file_size &&
		    rt_hash(data->ptr, data->size, 0) == encoding->file_hash)
			RT_TRY(&s,
			       rt_tokens_new(alloc, encoding, rt_buf_str(data), &tokens, &s.error));
		else
			rt_buf_add_f(
				warnings,
				"%s differs from the published file; token counts are estimates\n",
				path->ptr);
	}
	if (rt_ok(&s))
		*out = tokens;
	return rt_scope_end(&s, err);
}
