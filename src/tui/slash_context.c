/* SPDX-License-Identifier: MIT */
#include "tui/slash_context.h"

#include "app/screen.h"
#include "app/next_request.h"
#include "core/role.h"
#include "tui/bar.h"

enum {
	LISTED_MAX = 500, /* entries */
	BAR_COLUMNS = 20,
	NAME_COLUMNS = 12,
	PREVIEW_MIN = 20
};

typedef struct writer {
	rt_work *work;
	rt_scope *s;
	rt_lines_options options;
	rt_lines *lines;
	rt_next_request next;
} writer;

/* The request; without a model in the form of OpenAI. */
static void
read_request(writer *w)
{
	rt_work *work = w->work;
	rt_error ignored;

	w->next = rt_next_request_of(w->s, work->engine, work->value, work->place);
	w->next.config = work->session->config;
	w->next.is_counted = true;
	(void)!rt_next_request_choose(&w->next, rt_buf_str(&work->model), RT_STR(""), NULL, &ignored);
	rt_next_request_read_files(&w->next, &work->files);
	rt_next_request_build(&w->next);
}

static void
end_row(writer *w, rt_buf *row, rt_ink ink)
{
	rt_lines_options options = w->options;

	options.ink = ink;
	rt_lines_add_plain(w->lines, rt_scope_str(w->s, row), &options);
	rt_buf_clear(row);
}

/* "  files          2,000   50%  ██████████", and nothing for a part that the request does not have. */
static void
add_share(writer *w, rt_buf *row, const char *name, size_t tokens, rt_ink ink)
{
	size_t all = w->next.totals.tokens > 0 ? w->next.totals.tokens : 1;
	size_t filled = (tokens * BAR_COLUMNS + all - 1) / all;
	rt_buf *number = rt_scope_buf(w->s);

	if (tokens == 0)
		return;
	rt_buf_add_grouped(number, tokens);
	rt_buf_add_f(row, "  %-*s %9.*s %4zu%%  ", NAME_COLUMNS, name,
		     RT_STR_ARG(rt_scope_str(w->s, number)), (tokens * 100 + all / 2) / all);
	for (size_t i = 0; i < filled && i < BAR_COLUMNS; i++)
		rt_buf_add_c(row, w->options.utf8 ? "\xe2\x96\x88" : "#");
	end_row(w, row, ink);
}

static void
add_summary(writer *w, rt_buf *row)
{
	size_t entries = 0, summaries = 0, budget = w->next.budget;

	for (size_t i = 0; i < w->next.part_count; i++)
		if (!w->next.parts[i].left_out)
			*(w->next.parts[i].is_summary ? &summaries : &entries) += w->next.parts[i].tokens;
	rt_buf_add_c(row, w->next.is_exact ? "" : "About ");
	rt_buf_add_grouped(row, w->next.tokens);
	rt_buf_add_c(row, " tokens");
	if (budget > 0) {
		rt_buf_add_c(row, " of ");
		rt_buf_add_grouped(row, budget);
	}
	rt_buf_add_f(row, ", for %.*s", RT_STR_ARG(w->work->model.size > 0
							   ? rt_buf_str(&w->work->model)
							   : RT_STR("a model that is not chosen "
								    "yet (Ctrl+L)")));
	end_row(w, row, RT_INK_HEADING | RT_INK_BOLD);
	if (w->next.totals.tokens > entries + summaries + w->next.totals.file_tokens)
		add_share(w, row, "prompts", w->next.totals.tokens - entries - summaries - w->next.totals.file_tokens,
			  RT_INK_SYSTEM);
	add_share(w, row, "files", w->next.totals.file_tokens, RT_INK_TOOL);
	add_share(w, row, "summaries", summaries, RT_INK_LABEL);
	add_share(w, row, "entries", entries, RT_INK_AI);
}

static void
add_prompts(writer *w, rt_buf *row)
{
	static const struct {
		const char *setting, *heading;
	} prompts[] = {{"base_system_prompt", "Instructions, base"},
		       {"global_system_prompt", "Instructions of all projects"},
		       {"project_system_prompt", "Instructions of the project"}};
	rt_view view = rt_work_view(w->work, w->s);
	rt_lines_options options = w->options;
	rt_str text;

	options.indent = 2;
	for (size_t i = 0; i <= sizeof(prompts) / sizeof(prompts[0]); i++) {
		bool is_setting = i < sizeof(prompts) / sizeof(prompts[0]);

		text = is_setting ? rt_json_str(rt_setting_value(&view, rt_str_of(prompts[i].setting)))
				  : rt_prompt_text(&view, NULL);
		if (text.size == 0)
			continue;
		rt_lines_add_blank(w->lines);
		rt_buf_add_c(row, is_setting ? prompts[i].heading : "Working prompt");
		end_row(w, row, RT_INK_SYSTEM | RT_INK_BOLD);
		rt_lines_add_plain(w->lines, text, &options);
	}
}

static void
add_files(writer *w, rt_buf *row)
{
	if (w->next.files.count == 0)
		return;
	rt_lines_add_blank(w->lines);
	rt_buf_add_c(row, "Files");
	end_row(w, row, RT_INK_TOOL | RT_INK_BOLD);
	for (size_t i = 0; i < w->next.files.count; i++) {
		rt_buf_add_f(row, "  %9zu  ", w->next.file_tokens[i]);
		rt_screen_add_line(row, w->next.files.items[i].name);
		end_row(w, row, RT_INK_TEXT);
	}
}

/* "   :12  AI             120  Use SQLite.", one row. */
static void
add_entry(writer *w, rt_buf *row, const rt_context_part *part)
{
	int rest = w->options.columns - 34;
	rt_view view = rt_work_view(w->work, w->s);
	const rt_body *body;
	rt_slot slot;
	rt_str role = {0};

	RT_TRY(w->s, rt_seq_get(w->work->take->slots, part->at, &slot, &w->s->error));
	RT_TRY(w->s, rt_project_name(w->work->value, slot.role, &role, &w->s->error));
	if (!rt_ok(w->s))
		return;
	body = rt_view_body(&view, slot.body);
	rt_buf_add_f(row, "  :%-5zu ", part->at + 1);
	rt_str cut = rt_screen_cut(rt_role_label(w->work->value, role), NAME_COLUMNS);
	rt_buf_add_f(row, "%.*s%*s %7zu  ", RT_STR_ARG(cut),
		     NAME_COLUMNS - (int)rt_screen_width(cut), "", part->tokens);
	rt_buf_add_c(row, part->left_out     ? "(left out) "
			  : part->is_summary ? "(summary) "
			  : part->tokens == 0 ? "(not sent) "
					      : "");
	if (body != NULL && rest >= PREVIEW_MIN)
		rt_screen_add_preview(row, rt_view_preview(w->s, role, body, (size_t)rest),
				      (size_t)rest - 1, w->options.utf8);
	rt_lines_add_row(w->lines, 0, rt_scope_str(w->s, row),
			 part->left_out || part->tokens == 0 ? RT_INK_DIM : RT_INK_TEXT);
	rt_buf_clear(row);
}

void
rt_slash_context_add(rt_work *work, rt_scope *s, rt_lines_options options, rt_lines *lines)
{
	writer w = {.work = work, .s = s, .options = options, .lines = lines};
	rt_buf *row = rt_scope_buf(s);
	size_t first;

	read_request(&w);
	if (!rt_ok(s))
		return;
	add_summary(&w, row);
	add_prompts(&w, row);
	add_files(&w, row);
	first = w.next.part_count > LISTED_MAX ? w.next.part_count - LISTED_MAX : 0;
	if (w.next.part_count > 0) {
		rt_lines_add_blank(lines);
		rt_buf_add_c(row, "Entries");
		if (first > 0)
			rt_buf_add_f(row, ", the last %d", LISTED_MAX);
		end_row(&w, row, RT_INK_HEADING | RT_INK_BOLD);
	}
	for (size_t i = first; rt_ok(s) && i < w.next.part_count; i++)
		add_entry(&w, row, &w.next.parts[i]);
	if (w.next.unsent->size > 0) {
		rt_lines_add_blank(lines);
		rt_buf_add_str(row, rt_str_trim(rt_buf_str(w.next.unsent)));
		end_row(&w, row, RT_INK_WARNING);
	}
}
