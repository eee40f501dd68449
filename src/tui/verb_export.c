/* SPDX-License-Identifier: MIT
 *
 * Export: a take or a discussion written to a file, by the command of the command line. */
#include <stdio.h>

#include "tui/verb_impl.h"

/* What is written to a file. */
typedef struct exported {
	uint32_t disc;
	uint32_t take; /* 0: all that the format can say of the discussion */
} exported;

/* The discussion is named in any case: without that some formats hold all of them. */
void
rt_verb_add_export(rt_buf *line, uint32_t disc, uint32_t take)
{
	rt_buf_add_f(line, "--discussion d%u ", (unsigned)disc);
	if (take != 0)
		rt_buf_add_f(line, "--take t%u ", (unsigned)take);
	rt_buf_add_c(line, "export ");
}

/* The end of the file's name says the format. */
static rt_status
export_to(rt_tui *tui, void *ctx, rt_str file)
{
	const exported *what = ctx;
	rt_buf line, name;
	rt_status st;

	file = rt_str_trim(file);
	if (file.ptr == NULL || file.size == 0)
		return RT_OK;
	rt_buf_init(&line, tui->alloc, RT_BUF_UNLIMITED);
	rt_verb_add_export(&line, what->disc, what->take);
	rt_buf_add_c(&line, "-o ");
	rt_buf_init(&name, tui->alloc, RT_BUF_UNLIMITED);
	if (rt_str_starts(file, RT_STR("~/"))) { /* which means nothing where it is quoted */
		rt_buf_add_c(&line, "~/");
		file = rt_str_at(file.ptr + 2, file.size - 2);
	}
	rt_buf_add_str(&name, file);
	if (name.status == RT_OK && file.size > 0)
		rt_args_add_quoted(&line, name.ptr);
	st = name.status == RT_OK && line.status == RT_OK
		     ? rt_pane_palette_run(tui, rt_buf_str(&line))
		     : RT_NOMEM;
	rt_buf_deinit(&line);
	rt_buf_deinit(&name);
	return st;
}

static void
free_exported(rt_tui *tui, void *ctx)
{
	rt_free(tui->alloc, ctx);
}

rt_status
rt_verb_export_to(rt_tui *tui, uint32_t disc, uint32_t take, const char *title)
{
	exported *kept = rt_new(tui->alloc, sizeof(*kept));

	if (kept == NULL)
		return RT_NOMEM;
	*kept = (exported){disc, take};
	return rt_pane_ask(tui, title, RT_STR("talk.html"), false, export_to, kept, free_exported);
}

/* The take in which it is seen: the one at hand where that has it. */
rt_status
rt_verb_export(rt_tui *tui, uint32_t entry)
{
	rt_work *work = &tui->work;
	uint32_t take = work->place.take;
	char title[200];
	rt_error err;
	rt_status st;
	rt_str name;

	if (entry != 0 && rt_work_position(work, entry) == SIZE_MAX) {
		st = rt_disc_holds(work->value, work->disc, entry, &take, &err);
		if (st != RT_OK)
			return rt_tui_say_failure(tui, st, &err);
		take = take == 0 ? work->place.take : take;
	}
	name = rt_text_str(rt_disc_take(work->disc, take)->name);
	name.size = rt_utf8_cut(name, 100);
	(void)snprintf(title, sizeof(title),
		       "Write take %.*s to which file? (.html, .md, .json, .toml)",
		       RT_STR_ARG(name));
	return rt_verb_export_to(tui, work->place.disc, take, title);
}
