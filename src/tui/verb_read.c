/* SPDX-License-Identifier: MIT
 *
 * Verbs that change nothing: reading an entry or its versions, copying, exporting. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/screen.h"
#include "tui/verb_impl.h"

/* ---- names ---- */

/* "User, "What about DuckDB?"": for an entry without a position. */
static void
name_by_words(const rt_work_entry *e, char *out, size_t size)
{
	enum { WORDS = 30 };
	rt_str text = rt_str_trim(rt_buf_str(&e->text)), line = text;
	size_t cut;
	bool is_cut;

	line.size = rt_str_find(text, RT_STR("\n"), 0);
	is_cut = line.size != SIZE_MAX;
	if (!is_cut)
		line.size = text.size;
	cut = rt_utf8_offset(line, WORDS);
	if (cut != SIZE_MAX)
		line.size = cut;
	(void)snprintf(out, size, "%.*s, \"%.*s%s\"", RT_STR_ARG(e->role), RT_STR_ARG(line),
		       is_cut || cut != SIZE_MAX ? " ..." : "");
}

void
rt_verb_name(rt_tui *tui, const uint32_t *entries, size_t count, char *out, size_t size)
{
	rt_work_entry e;

	if (count != 1 || rt_work_entry_of(&tui->work, entries[0], &e, NULL) != RT_OK) {
		(void)snprintf(out, size, "%zu entries", count);
		return;
	}
	if (e.at != SIZE_MAX)
		(void)snprintf(out, size, "%.*s, entry %zu", RT_STR_ARG(e.role), e.at + 1);
	else
		name_by_words(&e, out, size);
	rt_work_entry_deinit(&e);
}

/* ---- reading ---- */

rt_lines_options
rt_verb_lines(const rt_tui *tui, int margin, int indent)
{
	int columns = tui->canvas.columns - margin;

	return (rt_lines_options){
		.columns = columns > 0 ? columns : 1, .utf8 = tui->canvas.utf8, .indent = indent};
}

rt_status
rt_verb_show(rt_tui *tui, rt_scope *s, const char *title, rt_lines *lines)
{
	(void)rt_scope_note(s, lines->status);
	if (rt_ok(s))
		RT_TRY(s, rt_pane_reader(tui, title, lines));
	rt_lines_deinit(lines);
	return rt_verb_end(tui, s);
}

static void
free_entry(rt_tui *tui, void *ctx)
{
	rt_free(tui->alloc, ctx);
}

/* "2: step 14, …" was chosen: edit the entry to have that text, and close its versions. */
static rt_status
restore_chosen(rt_tui *tui, void *ctx, rt_str answer)
{
	const uint32_t *entry = ctx;
	uint64_t number = 0;
	rt_revision_rows rows;
	rt_view view;
	rt_scope s;

	if (answer.ptr == NULL)
		return RT_OK;
	rt_scope_init(&s, tui->alloc);
	view = rt_work_view(&tui->work, &s);
	rows = rt_revisions_list(&view, *entry);
	(void)rt_str_u64_prefix(answer, rows.count, &number);
	if (rt_ok(&s) && number > 0) {
		rt_str text = rt_view_text(&view, rows.items[number - 1].body);

		if (rt_ok(&s) && rt_tui_top(tui)->ops->screen == RT_SCREEN_READER)
			rt_tui_close(tui, rt_tui_top(tui));
		if (rt_ok(&s))
			RT_TRY(&s, rt_verb_with(tui, RT_ACT_EDIT, entry, 1, text));
	}
	return rt_verb_end(tui, &s);
}

/* Choose the version to restore, the newest before the current one first. */
static rt_status
restore(rt_tui *tui, uint32_t entry)
{
	uint32_t *ctx = rt_new(tui->alloc, sizeof(*ctx));
	rt_revision_rows rows;
	rt_buf *json, *name;
	rt_view view;
	rt_scope s;

	if (ctx == NULL)
		return RT_NOMEM;
	*ctx = entry;
	rt_scope_init(&s, tui->alloc);
	view = rt_work_view(&tui->work, &s);
	rows = rt_revisions_list(&view, entry);
	json = rt_scope_buf(&s);
	name = rt_scope_buf(&s);
	rt_json_open(json, NULL, '[');
	for (size_t i = rows.count; rt_ok(&s) && i-- > 0;) {
		rt_str text = rt_view_text(&view, rows.items[i].body);

		if (rows.items[i].is_current)
			continue;
		text.size = rt_utf8_cut(text, 200);
		rt_buf_clear(name);
		rt_buf_add_f(name, "%zu: step %llu  ", i + 1,
			     (unsigned long long)rows.items[i].seq);
		rt_screen_add_line(name, text);
		rt_json_put_str(json, NULL, rt_scope_str(&s, name));
	}
	rt_json_close(json, ']');
	if (rt_ok(&s)) {
		RT_TRY(&s, rt_pane_pick(tui, "Restore which version?",
					rt_json_parse(&s, rt_scope_str(&s, json)), false,
					restore_chosen, ctx, free_entry));
		ctx = NULL;
		rt_pane_pick_texts(tui);
	}
	rt_free(tui->alloc, ctx);
	return rt_verb_end(tui, &s);
}

/* Every text that the entry had, oldest first, each with the changes from the previous one. */
rt_status
rt_verb_versions(rt_tui *tui, uint32_t entry)
{
	rt_lines_options options = rt_verb_lines(tui, 4, 2);
	rt_revision_rows revisions;
	rt_str before = {NULL, 0};
	rt_lines lines;
	rt_view view;
	rt_status st;
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	rt_lines_init(&lines, tui->alloc);
	view = rt_work_view(&tui->work, &s);
	revisions = rt_revisions_list(&view, entry);
	for (size_t i = 0; rt_ok(&s) && i < revisions.count; i++) {
		const rt_revision_row *r = &revisions.items[i];
		rt_str text = rt_view_text(&view, r->body);
		char heading[160];

		if (!rt_ok(&s))
			break;
		(void)snprintf(heading, sizeof(heading), "Version %zu of %zu, step %llu%s", i + 1,
			       revisions.count, (unsigned long long)r->seq,
			       r->is_current ? ", now" : "");
		rt_lines_add_row(&lines, 0, rt_str_of(heading), RT_INK_HEADING | RT_INK_BOLD);
		if (i == 0)
			rt_lines_add_plain(&lines, text, &options);
		else
			rt_lines_add_difference(&lines, before, text, &options);
		rt_lines_add_blank(&lines);
		before = text;
	}
	st = rt_verb_show(tui, &s, "Versions, oldest first", &lines);
	if (st == RT_OK)
		rt_pane_reader_restores(tui, restore, entry);
	return st;
}

static void
add_said(const rt_body_parts *said, const rt_lines_options *options, rt_lines *lines)
{
	rt_lines_options aside = *options;

	aside.ink = RT_INK_DIM | RT_INK_ITALIC;
	for (size_t i = 0; i < said->count; i++) {
		const rt_body_part *part = &said->items[i];

		if (part->text.size == 0)
			continue; /* of redacted thinking */
		if (lines->count > 0)
			rt_lines_add_blank(lines);
		if (part->is_thinking)
			rt_lines_add_plain(lines, part->text, &aside);
		else
			rt_lines_add_markdown(lines, part->text, options);
	}
}

rt_status
rt_verb_read(rt_tui *tui, uint32_t entry)
{
	rt_lines_options options = rt_verb_lines(tui, 2, 0);
	const rt_work_entry *e;
	char title[300];
	rt_lines lines;
	rt_buf *usage;
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	rt_lines_init(&lines, tui->alloc);
	usage = rt_scope_buf(&s);
	e = rt_work_entry_get(&s, &tui->work, entry);
	if (e != NULL && e->said.thinking_count > 0)
		add_said(&e->said, &options, &lines);
	else if (e != NULL && e->is_tool)
		rt_lines_add_plain(&lines, rt_buf_str(&e->text), &options);
	else if (e != NULL)
		rt_lines_add_markdown(&lines, rt_buf_str(&e->text), &options);
	if (e != NULL && e->parts.size > 0)
		rt_lines_add_row(&lines, 0, rt_buf_str(&e->parts), RT_INK_TOOL);
	if (e != NULL && e->body != NULL)
		rt_body_add_usage(usage, e->body);
	if (usage->size > 0) {
		rt_lines_add_blank(&lines);
		rt_lines_add_row(&lines, 0, rt_buf_str(usage), RT_INK_DIM);
	}
	rt_verb_name(tui, &entry, 1, title, sizeof(title));
	return rt_verb_show(tui, &s, title, &lines);
}

/* ---- copies ---- */

rt_status
rt_verb_copy(rt_tui *tui, const uint32_t *entries, size_t count, bool path)
{
	rt_work *work = &tui->work;
	size_t end = path ? rt_work_position(work, entries[0]) + 1 : count; /* 0 if it has none */
	rt_buf *out;
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	out = rt_scope_buf(&s);
	for (size_t i = 0; i < end; i++) {
		rt_work_entry e;

		if (RT_TRY(&s, path ? rt_work_entry_at(work, i, &e, &s.error)
				    : rt_work_entry_of(work, entries[i], &e, &s.error)) != RT_OK)
			break;
		rt_buf_add_c(out, i > 0 ? "\n\n" : "");
		if (path || count > 1)
			rt_buf_add_f(out, "## %.*s\n\n", RT_STR_ARG(e.role));
		rt_buf_add_str(out, rt_buf_str(&e.text));
		rt_work_entry_deinit(&e);
	}
	(void)rt_scope_str(&s, out);
	if (rt_ok(&s))
		rt_tui_copy(tui, rt_buf_str(out));
	return rt_verb_end(tui, &s);
}

/* ---- exports: by the command of the command line ---- */

typedef struct export_place {
	uint32_t disc;
	uint32_t take;       /* 0: as much of the discussion as the format supports */
	const rt_text *file; /* that exists already; or NULL */
} export_place;

/* The discussion is always given: without it some formats contain all of them. */
void
rt_verb_add_export(rt_buf *line, uint32_t disc, uint32_t take)
{
	rt_buf_add_f(line, "--discussion d%u ", (unsigned)disc);
	if (take != 0)
		rt_buf_add_f(line, "--take t%u ", (unsigned)take);
	rt_buf_add_c(line, "export ");
}

static void
free_place(rt_tui *tui, void *ctx)
{
	rt_text_unref(((export_place *)ctx)->file);
	rt_free(tui->alloc, ctx);
}

/* The extension of the file determines the format. */
static rt_status
run_export(rt_tui *tui, const export_place *place, rt_str name, bool replaces)
{
	rt_buf *line;
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	line = rt_scope_buf(&s);
	rt_verb_add_export(line, place->disc, place->take);
	rt_buf_add_c(line, replaces ? "--force -o " : "-o ");
	if (rt_str_starts(name, RT_STR("~/"))) { /* would not be expanded inside quotes */
		rt_buf_add_c(line, "~/");
		name = rt_str_skip(name, 2);
	}
	if (name.size > 0) {
		name = rt_scope_copy(&s, name);
		if (rt_ok(&s))
			rt_args_add_quoted(line, name.ptr);
	}
	(void)rt_scope_str(&s, line);
	if (rt_ok(&s))
		RT_TRY(&s, rt_pane_palette_run(tui, rt_buf_str(line)));
	return rt_verb_end(tui, &s);
}

static rt_status
answered_replace(rt_tui *tui, void *ctx, rt_str answer)
{
	const export_place *place = ctx;

	if (rt_str_is(answer, "replace"))
		return run_export(tui, place, rt_text_str(place->file), true);
	rt_tui_say(tui, "Nothing was exported");
	return RT_OK;
}

/* Does it exist? "~/" is the home directory. */
static bool
exists(rt_scope *s, rt_str name)
{
	const char *home = getenv("HOME");
	rt_buf *path = rt_scope_buf(s);

	if (home != NULL && rt_str_starts(name, RT_STR("~/"))) {
		rt_buf_add_c(path, home);
		name = rt_str_skip(name, 1);
	}
	rt_buf_add_str(path, name);
	name = rt_scope_str(s, path);
	return rt_ok(s) && access(name.ptr, F_OK) == 0;
}

rt_status
rt_verb_export_file(rt_tui *tui, uint32_t disc, uint32_t take, rt_str name)
{
	static const rt_choice choices[] = {{"n", "keep", "No"}, {"y", "replace", "Yes, replace it"}};
	export_place *place;
	rt_buf *question;
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	if (!exists(&s, name)) {
		rt_scope_deinit(&s);
		return run_export(tui, &(export_place){.disc = disc, .take = take}, name, false);
	}
	question = rt_scope_buf(&s);
	rt_buf_add_c(question, "Replace the existing file ");
	rt_buf_add_str(question, name);
	rt_buf_add_byte(question, '?');
	(void)rt_scope_str(&s, question);
	place = rt_new(tui->alloc, sizeof(*place));
	if (place == NULL)
		(void)rt_scope_nomem(&s);
	else
		*place = (export_place){disc, take, rt_text_new(tui->alloc, name)};
	if (place != NULL && place->file == NULL)
		(void)rt_scope_nomem(&s);
	if (rt_ok(&s))
		RT_TRY(&s, rt_pane_choose(tui, question->ptr, choices, 2, answered_replace, place,
					  free_place));
	else if (place != NULL)
		free_place(tui, place);
	return rt_verb_end(tui, &s);
}

static rt_status
export_to(rt_tui *tui, void *ctx, rt_str file)
{
	const export_place *place = ctx;
	rt_str name = rt_str_trim(file);

	return name.size == 0 ? RT_OK : rt_verb_export_file(tui, place->disc, place->take, name);
}

/* "which-database.html", by the discussion's title. */
static void
add_file_name(rt_buf *out, rt_str title)
{
	enum { SIZE = 48 };

	title.size = rt_utf8_cut(title, SIZE);
	for (size_t i = 0; i < title.size; i++) {
		unsigned char c = (unsigned char)title.ptr[i];
		bool is_upper = c >= 'A' && c <= 'Z';
		bool is_kept = c >= 0x80 || is_upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

		if (is_kept)
			rt_buf_add_byte(out, (char)(is_upper ? c + 'a' - 'A' : c));
		else if (out->size > 0 && out->ptr[out->size - 1] != '-')
			rt_buf_add_byte(out, '-');
	}
	while (out->size > 0 && out->ptr[out->size - 1] == '-')
		out->size--;
	if (out->size == 0)
		rt_buf_add_c(out, "discussion");
	rt_buf_add_c(out, ".html");
}

rt_status
rt_verb_export_to(rt_tui *tui, uint32_t disc, uint32_t take, const char *title)
{
	export_place *place = rt_new(tui->alloc, sizeof(*place));
	rt_buf *name;
	rt_scope s;

	if (place == NULL)
		return RT_NOMEM;
	*place = (export_place){.disc = disc, .take = take};
	rt_scope_init(&s, tui->alloc);
	name = rt_scope_buf(&s);
	add_file_name(name, rt_buf_str(&tui->title));
	(void)rt_scope_str(&s, name);
	if (rt_ok(&s))
		RT_TRY(&s, rt_pane_ask(tui, title, rt_buf_str(name), false, export_to, place,
				       free_place));
	else
		free_place(tui, place);
	if (rt_ok(&s))
		rt_pane_ask_replaces(tui); /* a name is a suggestion */
	return rt_verb_end(tui, &s);
}

rt_status
rt_verb_export(rt_tui *tui, uint32_t entry)
{
	rt_work *work = &tui->work;
	uint32_t take = 0;
	char title[200];
	rt_scope s;
	rt_str name;

	rt_scope_init(&s, tui->alloc);
	if (entry != 0)
		take = rt_work_take_of(&s, work, 0, entry);
	if (take == 0)
		take = work->place.take;
	name = rt_text_str(rt_disc_take(work->disc, take)->name);
	name.size = rt_utf8_cut(name, 100);
	(void)snprintf(title, sizeof(title),
		       "Export take %.*s to which file? (.html, .md, .json, .toml)",
		       RT_STR_ARG(name));
	if (rt_ok(&s))
		RT_TRY(&s, rt_verb_export_to(tui, work->place.disc, take, title));
	return rt_verb_end(tui, &s);
}
