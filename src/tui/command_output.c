/* SPDX-License-Identifier: MIT */
#include "tui/command_output.h"

#include <stdio.h>
#include <string.h>

#include "app/screen.h"

enum { NOTICE_MAX = 300 /* bytes */ };

/* Without blanks before and after it, but with the indent of its first line. */
static rt_str
trim_lines(rt_str text)
{
	rt_str words = rt_str_trim(text);
	size_t at = words.size == 0 ? 0 : (size_t)(words.ptr - text.ptr);

	while (at > 0 && text.ptr[at - 1] != '\n')
		at--;
	return words.size == 0
		       ? words
		       : rt_str_at(text.ptr + at, (size_t)(words.ptr - text.ptr) - at + words.size);
}

/* Does the command print texts of the conversation, in which a command may be named, too? */
static bool
prints_texts(const rt_tui *tui, rt_str line)
{
	static const char *const names[] = {"again", "ask",    "comms",     "context", "diff",
					    "export", "replay", "revisions", "search",  "show"};
	rt_str word;
	char name[16];

	while (rt_str_split(&line, ' ', &word)) {
		(void)snprintf(name, sizeof(name), "%.*s", RT_STR_ARG(word));
		if (rt_command_named(tui->commands, name) == NULL)
			continue; /* flags come before it */
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (strcmp(rt_command_named(tui->commands, name)->name, names[i]) == 0)
				return true;
		return false;
	}
	return false;
}

/* The last line, and each that reports a change, is advice if it names a command, unless it is
 * indented text. */
static void
add_with_own_advice(const rt_tui *tui, rt_buf *buf, rt_str text, bool has_texts)
{
	for (text = trim_lines(text); text.size > 0;) {
		size_t end = rt_str_find(text, RT_STR("\n"), 0);
		bool is_last = end == SIZE_MAX;
		rt_str line = rt_str_at(text.ptr, is_last ? text.size : end + 1);
		rt_str advice = is_last ? RT_STR(": retake ") : RT_STR(" - undo: retake ");

		if (line.ptr[0] != ' ' && !(is_last && has_texts) && rt_str_find(line, advice, 0) != SIZE_MAX)
			rt_tui_add_advice(tui, line, buf);
		else
			rt_buf_add_str(buf, line);
		text = rt_str_skip(text, line.size);
	}
}

rt_str
rt_command_output_text(rt_tui *tui, const rt_command_process *command, rt_str line)
{
	rt_scope *s = &tui->scope;
	rt_str err = rt_buf_str(&command->err);
	rt_buf *text = rt_scope_buf(s), *out = rt_scope_buf(s);

	rt_utf8_repair(out, rt_buf_str(&command->out));
	add_with_own_advice(tui, text, rt_scope_str(s, out), prints_texts(tui, line));
	if (err.size > 0 && text->size > 0 && text->ptr[text->size - 1] != '\n')
		rt_buf_add_byte(text, '\n');
	if (rt_str_starts(err, RT_STR("retake: ")))
		err = rt_str_at(err.ptr + 8, err.size - 8);
	rt_buf_clear(out);
	rt_utf8_repair(out, err);
	rt_tui_add_advice(tui, rt_scope_str(s, out), text);
	if (command->result.outcome == RT_PROCESS_TOO_MUCH)
		rt_buf_add_c(text, "\n(stopped: it printed more than can be displayed)");
	return rt_scope_str(s, text);
}

/* The end of a part of a message: a line end, or three blanks ("Usage: …   More: …"). */
static size_t
part_end(rt_str text)
{
	size_t line = rt_str_find(text, RT_STR("\n"), 0), gap;

	text.size = line == SIZE_MAX ? text.size : line;
	gap = rt_str_find(text, RT_STR("   "), 0);
	return gap == SIZE_MAX ? line : gap;
}

/* Lines, and parts of them, as sentences of one line. */
static void
add_sentences(rt_buf *line, rt_str text)
{
	while (text.size > 0) {
		size_t end = part_end(text);
		rt_str one = rt_str_trim(rt_str_at(text.ptr, end == SIZE_MAX ? text.size : end));

		if (one.size > 0 && line->size > 0)
			rt_buf_add_c(line, strchr(".:;,?!", line->ptr[line->size - 1]) == NULL
						   ? ".  "
						   : "  ");
		rt_screen_add_line(line, one);
		if (end == SIZE_MAX)
			break;
		text = rt_str_at(text.ptr + end + 1, text.size - end - 1);
	}
}

/* Does it fit into the notice? A line, or two that report a change or a file. */
static bool
is_short(rt_str words)
{
	size_t end = rt_str_find(words, RT_STR("\n"), 0);

	return words.size <= NOTICE_MAX &&
	       (end == SIZE_MAX || ((rt_str_find(words, RT_STR(" - undo: "), 0) != SIZE_MAX ||
				     rt_str_starts(words, RT_STR("Wrote "))) &&
				    rt_str_find(words, RT_STR("\n"), end + 1) == SIZE_MAX));
}

/* As a notice, where it is short. */
static bool
show_notice(rt_tui *tui, rt_str text, bool failed)
{
	rt_buf *line = rt_scope_buf(&tui->scope);
	rt_str words;

	if (failed)
		add_sentences(line, text);
	else
		rt_buf_add_str(line, rt_str_trim(text));
	words = rt_scope_str(&tui->scope, line);
	if (!rt_ok(&tui->scope) || !is_short(words))
		return false;
	rt_tui_say_str(tui, words, failed ? RT_INK_ERROR : RT_INK_TEXT);
	if (failed)
		rt_tui_capitalise(tui);
	return true;
}

void
rt_command_output_show(rt_tui *tui, rt_str line, rt_str text, bool failed)
{
	rt_lines_options options = {.columns = tui->canvas.columns > 1 ? tui->canvas.columns : 80,
				    .utf8 = tui->canvas.utf8,
				    .ink = failed ? RT_INK_ERROR : RT_INK_TEXT};
	rt_lines lines;
	char title[128];

	text = trim_lines(text);
	if (text.size == 0) {
		rt_tui_say_done(tui, failed ? "The command failed without a message" : "Done");
		return;
	}
	if (show_notice(tui, text, failed))
		return;
	(void)snprintf(title, sizeof(title), "%.*s", (int)rt_utf8_cut(line, sizeof(title) - 1),
		       line.ptr);
	rt_lines_init(&lines, tui->alloc);
	rt_lines_add_plain(&lines, text, &options);
	RT_TRY(&tui->scope, rt_pane_reader(tui, title, &lines));
	rt_lines_deinit(&lines);
}
