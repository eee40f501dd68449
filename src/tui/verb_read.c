/* SPDX-License-Identifier: MIT
 *
 * Verbs that change nothing: an entry, or its versions, to be read; copies. */
#include <stdio.h>

#include "tui/verb_impl.h"
#include "view/view.h"

/* ---- versions ---- */

/* Every text that it had, oldest first, each with what is different from the one before. */
rt_status
rt_verb_versions(rt_tui *tui, uint32_t entry)
{
	rt_lines_options options = {.columns = tui->canvas.columns > 4 ? tui->canvas.columns - 4 : 1,
				    .utf8 = tui->canvas.utf8,
				    .indent = 2};
	rt_json_doc *doc = NULL;
	yyjson_val *revision;
	size_t i, count;
	rt_str before = rt_str_at("", 0);
	rt_lines lines;
	rt_buf json, was, now;
	rt_error err;
	rt_status st;

	rt_lines_init(&lines, tui->alloc);
	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&was, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&now, tui->alloc, RT_BUF_UNLIMITED);
	st = rt_view_revisions(tui->work.engine, tui->work.value, tui->work.place.disc, entry, &json,
			       &err);
	if (st == RT_OK)
		st = rt_json_read(tui->alloc, rt_buf_str(&json), &doc, &err);
	if (st == RT_OK)
		yyjson_arr_foreach(rt_json_root(doc), i, count, revision)
		{
			rt_content content = {.text = {NULL, 0}};
			yyjson_val *value = rt_json_get(revision, "content");
			uint64_t seq = 0;
			char head[160];

			if (yyjson_is_arr(value))
				content.blocks = value;
			else
				content.text = rt_json_str(value);
			rt_buf_clear(&now);
			rt_content_add_text(&now, content);
			(void)rt_json_u64(rt_json_get(revision, "seq"), &seq);
			(void)snprintf(head, sizeof(head), "Version %zu of %zu, step %llu%s", i + 1, count,
				       (unsigned long long)seq,
				       yyjson_is_true(rt_json_get(revision, "current")) ? ", now" : "");
			rt_lines_add_row(&lines, 0, rt_str_of(head), RT_INK_HEADING | RT_INK_BOLD);
			if (i == 0)
				rt_lines_add_plain(&lines, rt_buf_str(&now), &options);
			else
				rt_lines_add_difference(&lines, before, rt_buf_str(&now), &options);
			rt_lines_add_blank(&lines);
			rt_buf_clear(&was);
			rt_buf_add_str(&was, rt_buf_str(&now));
			before = rt_buf_str(&was);
		}
	if (st == RT_OK && lines.status != RT_OK)
		st = RT_NOMEM;
	if (st == RT_OK)
		st = rt_pane_reader(tui, "Versions, oldest first. To bring one back: edit, or /revert STEP",
				    &lines);
	else
		st = rt_tui_say_failure(tui, st, &err);
	rt_json_free(doc);
	rt_lines_deinit(&lines);
	rt_buf_deinit(&json);
	rt_buf_deinit(&was);
	rt_buf_deinit(&now);
	return st;
}

rt_status
rt_verb_read(rt_tui *tui, uint32_t entry)
{
	rt_lines_options options = {.columns = tui->canvas.columns > 2 ? tui->canvas.columns - 2 : 1,
				    .utf8 = tui->canvas.utf8,
				    .ink = RT_INK_TEXT};
	char title[300];
	rt_work_entry e;
	rt_lines lines;
	rt_error err;
	rt_status st = rt_work_entry_of(&tui->work, entry, &e, &err);

	if (st != RT_OK)
		return rt_tui_say_failure(tui, st, &err);
	rt_lines_init(&lines, tui->alloc);
	if (e.thinking.size > 0) {
		options.ink = RT_INK_DIM | RT_INK_ITALIC;
		rt_lines_add_plain(&lines, rt_buf_str(&e.thinking), &options);
		rt_lines_add_blank(&lines);
		options.ink = RT_INK_TEXT;
	}
	if (e.is_tool)
		rt_lines_add_plain(&lines, rt_buf_str(&e.text), &options);
	else
		rt_lines_add_markdown(&lines, rt_buf_str(&e.text), &options);
	if (e.parts.size > 0)
		rt_lines_add_row(&lines, 0, rt_buf_str(&e.parts), RT_INK_TOOL);
	rt_verb_name(tui, &entry, 1, title, sizeof(title));
	rt_work_entry_deinit(&e);
	st = lines.status == RT_OK ? rt_pane_reader(tui, title, &lines) : RT_NOMEM;
	rt_lines_deinit(&lines);
	return st;
}

/* ---- copies ---- */

rt_status
rt_verb_copy(rt_tui *tui, const uint32_t *entries, size_t count, bool path)
{
	rt_work *work = &tui->work;
	size_t i, end = count;
	rt_error err;
	rt_buf out;
	rt_status st = RT_OK;

	rt_buf_init(&out, tui->alloc, RT_BUF_UNLIMITED);
	if (path) { /* from the first entry to this one */
		end = rt_work_position(work, entries[0]);
		end = end == SIZE_MAX ? 0 : end + 1;
	}
	for (i = 0; st == RT_OK && i < end; i++) {
		rt_work_entry e;

		st = path ? rt_work_entry_at(work, i, &e, &err)
			  : rt_work_entry_of(work, entries[i], &e, &err);
		if (st != RT_OK)
			break;
		if (i > 0)
			rt_buf_add_c(&out, "\n\n");
		if (path || count > 1)
			rt_buf_add_f(&out, "## %.*s\n\n", RT_STR_ARG(e.role));
		rt_buf_add_str(&out, rt_buf_str(&e.text));
		rt_work_entry_deinit(&e);
	}
	if (st == RT_OK && out.status != RT_OK)
		st = RT_NOMEM;
	if (st == RT_OK)
		rt_tui_copy(tui, rt_buf_str(&out));
	rt_buf_deinit(&out);
	return st == RT_OK ? st : rt_tui_say_failure(tui, st, &err);
}
