/* SPDX-License-Identifier: MIT
 *
 * A program that stays: one line in, one line out. LF alone ends a line, whatever else other
 * programs take for an end. */
#define _GNU_SOURCE

#include "hooks/hooks_process_impl.h"

enum { FAREWELL_MS = 1000 };

struct rt_lines {
	const rt_alloc *alloc;
	rt_child child;
	rt_buf held; /* read, and not yet taken as a line */
};

rt_lines *
rt_lines_new(const rt_alloc *alloc)
{
	rt_lines *lines = rt_new0(alloc, sizeof(*lines));

	if (lines != NULL) {
		lines->alloc = alloc;
		rt_buf_init(&lines->held, alloc, RT_PROCESS_OUT_MAX);
	}
	return lines;
}

bool
rt_lines_is_running(const rt_lines *lines)
{
	return lines->child.pid != 0;
}

void
rt_lines_start(rt_lines *lines, const rt_process_program *program, rt_process_end *end)
{
	memset(end, 0, sizeof(*end));
	if (lines->child.pid != 0)
		return;
	rt_buf_clear(&lines->held);
	end->code = rt_child_start(&lines->child, program, -1, false);
	end->how = end->code == 0 ? RT_PROCESS_EXITED : RT_PROCESS_NOT_STARTED;
}

static void
end_it(rt_lines *lines, bool gently, rt_process_end *end)
{
	rt_child_end(&lines->child, gently, end);
	rt_buf_clear(&lines->held);
}

void
rt_lines_kill(rt_lines *lines)
{
	rt_process_end end = {RT_PROCESS_STOPPED, 0, 0};

	end_it(lines, true, &end);
}

/* The line to out, if a whole one is there. */
static bool
take_line(rt_lines *lines, rt_buf *out)
{
	rt_buf *held = &lines->held;
	const char *end = held->size == 0 ? NULL : memchr(held->ptr, '\n', held->size);
	size_t size;

	if (end == NULL)
		return false;
	size = (size_t)(end - held->ptr);
	rt_buf_add(out, held->ptr, size);
	memmove(held->ptr, end + 1, held->size - size - 1);
	held->size -= size + 1;
	held->ptr[held->size] = 0;
	return true;
}

rt_status
rt_lines_ask(rt_lines *lines, rt_str line, int64_t deadline_ms, rt_stop_fn stop, void *stop_ctx,
	     rt_buf *out, rt_buf *err, rt_process_end *end, bool *out_early)
{
	rt_child *child = &lines->child;
	int64_t start = rt_process_now_ms(), left;
	rt_str nothing = {NULL, 0};
	rt_status st = RT_OK;

	rt_buf_clear(out);
	rt_buf_clear(err);
	out->limit = RT_PROCESS_OUT_MAX;
	err->limit = RT_PROCESS_ERR_MAX;
	memset(end, 0, sizeof(*end));
	end->how = RT_PROCESS_EXITED;
	*out_early = false;
	child->err_size = 0;
	rt_child_step(child, &nothing, false, &lines->held, err, 0);
	if (lines->held.size > 0 || lines->held.status != RT_OK) {
		*out_early = true;
		end->how = RT_PROCESS_STOPPED;
		end_it(lines, true, end);
		return RT_OK;
	}
	for (;;) {
		left = deadline_ms - rt_process_now_ms();
		rt_child_step(child, &line, false, &lines->held, err,
			      left < 0                    ? 0
			      : left < RT_PROCESS_TICK_MS ? (int)left
							  : RT_PROCESS_TICK_MS);
		if (take_line(lines, out)) {
			end->how = RT_PROCESS_ANSWERED;
			break;
		}
		if (lines->held.status == RT_NOMEM || err->status == RT_NOMEM) {
			st = RT_NOMEM;
			break;
		}
		if (child->exec_errno != 0) {
			end->how = RT_PROCESS_NOT_STARTED;
			end->code = child->exec_errno;
			break;
		}
		end->code = rt_child_floods(child, &lines->held);
		if (end->code != 0) {
			end->how = RT_PROCESS_TOO_MUCH;
			break;
		}
		/* Over, or it cannot answer any more: the same. */
		if (child->out < 0) {
			rt_child_look(child);
			break;
		}
		if (child->over) { /* its last words may still be in the pipe */
			rt_child_step(child, &nothing, false, &lines->held, err, 0);
			if (take_line(lines, out))
				end->how = RT_PROCESS_ANSWERED;
			break;
		}
		if (stop != NULL && stop(stop_ctx)) {
			end->how = RT_PROCESS_STOPPED;
			break;
		}
		if (rt_process_now_ms() >= deadline_ms) {
			end->how = RT_PROCESS_TIMED_OUT;
			break;
		}
	}
	if (st == RT_OK && out->status != RT_OK)
		st = out->status == RT_NOMEM ? RT_NOMEM : st;
	if (st != RT_OK || end->how != RT_PROCESS_ANSWERED)
		end_it(lines, true, end);
	end->ms = rt_process_now_ms() - start;
	return st;
}

void
rt_lines_close(rt_lines *lines)
{
	rt_process_end end = {RT_PROCESS_EXITED, 0, 0};
	rt_str nothing = {NULL, 0};
	int64_t until;
	rt_buf err;

	if (lines == NULL)
		return;
	rt_buf_init(&err, lines->alloc, RT_PROCESS_ERR_MAX);
	until = rt_process_now_ms() + FAREWELL_MS;
	/* What it still says is read and dropped, so that a full pipe does not hold it. */
	while (lines->child.pid != 0 && !lines->child.over && rt_process_now_ms() < until) {
		rt_buf_clear(&lines->held);
		rt_buf_clear(&err);
		rt_child_step(&lines->child, &nothing, true, &lines->held, &err,
			      RT_PROCESS_TICK_MS);
	}
	end_it(lines, true, &end);
	rt_buf_deinit(&err);
	rt_buf_deinit(&lines->held);
	rt_free(lines->alloc, lines);
}
