/* SPDX-License-Identifier: MIT */
#include "tui/slash_ask.h"

#include "app/template.h"
#include "tui/verb_impl.h"

/* ---- templates ---- */

/* A template whose variables are being requested. */
typedef struct filling {
	rt_scope s;
	rt_str name, text, more;
	rt_template_variables all;
	size_t at;     /* the variable that is being requested */
	unsigned uses; /* used by questions, and while it begins */
} filling;

static void
release(rt_tui *tui, void *ctx)
{
	filling *f = ctx;

	if (--f->uses > 0)
		return;
	rt_scope_deinit(&f->s);
	rt_free(tui->alloc, f);
}

static rt_status ask_next(rt_tui *tui, filling *f);

static rt_status
answered(rt_tui *tui, void *ctx, rt_str answer)
{
	filling *f = ctx;

	if (answer.ptr == NULL)
		return RT_OK;
	f->all.items[f->at++].value = rt_scope_copy(&f->s, answer);
	return ask_next(tui, f);
}

static rt_status
ask_next(rt_tui *tui, filling *f)
{
	rt_buf *out = rt_scope_buf(&f->s);

	if (f->at < f->all.count) {
		rt_buf_add_f(out, "%.*s: %.*s", RT_STR_ARG(f->name),
			     RT_STR_ARG(f->all.items[f->at].name));
		rt_str title = rt_scope_str(&f->s, out);
		if (!rt_ok(&f->s))
			return f->s.status;
		f->uses++;
		return rt_pane_ask(tui, title.ptr, RT_STR(""), false, answered, f, release);
	}
	rt_template_fill(f->text, &f->all, out);
	if (f->more.size > 0)
		rt_buf_add_c(out, "\n\n");
	rt_buf_add_str(out, f->more);
	rt_str text = rt_scope_str(&f->s, out);
	return rt_ok(&f->s) ? rt_tui_fill_input(tui, text) : f->s.status;
}

bool
rt_slash_template(rt_tui *tui, rt_str name, rt_str more, rt_status *out_status)
{
	filling *f = rt_new0(tui->alloc, sizeof(*f));

	*out_status = f == NULL ? RT_NOMEM : RT_OK;
	if (f == NULL)
		return true;
	f->uses = 1;
	rt_scope_init(&f->s, tui->alloc);
	rt_view view = rt_work_view(&tui->work, &f->s);
	f->text = rt_template_text(&view, name);
	bool is_there = f->text.ptr != NULL;
	if (is_there) {
		f->name = rt_scope_copy(&f->s, name);
		f->text = rt_scope_copy(&f->s, f->text);
		f->more = rt_scope_copy(&f->s, more);
		rt_template_read(&f->s, f->text, &f->all);
		*out_status = rt_ok(&f->s) ? ask_next(tui, f) : RT_OK;
		if (f->s.status == RT_LIMIT)
			rt_tui_say_str(tui, rt_tui_format(tui, "%s", f->s.error.text), RT_INK_ERROR);
	}
	release(tui, f);
	return is_there;
}

static rt_status
chose_template(rt_tui *tui, void *ctx, rt_str answer)
{
	rt_str name = RT_STR("");
	rt_status st = RT_OK;

	(void)ctx;
	if (answer.ptr != NULL && rt_str_split(&answer, '\t', &name) &&
	    rt_str_split(&answer, '\t', &name) && rt_str_split(&answer, '\t', &name))
		(void)rt_slash_template(tui, rt_str_skip(name, 1), RT_STR(""), &st);
	return st;
}

/* Rows of columns: number, nothing, "/NAME", nothing, text. */
rt_status
rt_slash_templates(rt_tui *tui, rt_action action, rt_str rest)
{
	const rt_str prefix = RT_STR(RT_TEMPLATE_KEY);
	size_t count = 0;
	rt_scope s;

	(void)action;
	(void)rest;
	rt_scope_init(&s, tui->alloc);
	rt_view view = rt_work_view(&tui->work, &s);
	const rt_settings_row *row = rt_settings_read(&view);
	rt_buf *json = rt_scope_buf(&s), *line = rt_scope_buf(&s);

	rt_json_open(json, NULL, '[');
	for (size_t i = 0; row != NULL && rt_ok(&s) && i < row->settings.count; i++) {
		const rt_setting_row *item = &row->settings.items[i];
		rt_str text = rt_str_starts(item->name, prefix)
				      ? rt_json_str(rt_json_parse(&s, item->value))
				      : rt_str_at(NULL, 0);

		if (text.ptr == NULL)
			continue;
		text.size = rt_utf8_cut(text, 200);
		rt_buf_clear(line);
		rt_buf_add_f(line, "%zu\t\t/%.*s\t\t", ++count,
			     RT_STR_ARG(rt_str_skip(item->name, prefix.size)));
		for (size_t k = 0; k < text.size; k++)
			rt_buf_add_byte(line, text.ptr[k] == '\t' || text.ptr[k] == '\n' ? ' ' : text.ptr[k]);
		rt_json_put_str(json, NULL, rt_scope_str(&s, line));
	}
	rt_json_close(json, ']');
	yyjson_val *rows = rt_json_parse(&s, rt_scope_str(&s, json));
	if (rt_ok(&s) && count == 0) {
		rt_tui_say(tui, "No templates yet.  Save one: /template save NAME "
				"\"Review {{file}}.\"; use it: /NAME");
	} else if (rt_ok(&s)) {
		RT_TRY(&s, rt_pane_pick(tui, "Use which template?", rows, false, chose_template, NULL,
					NULL));
		if (rt_ok(&s))
			rt_pane_pick_columns(tui);
	}
	return rt_verb_end(tui, &s);
}

/* ---- several models ---- */

/* ctx: the models, separated by blanks. */
static rt_status
asked(rt_tui *tui, void *ctx, rt_str question)
{
	rt_str all = rt_text_str(ctx), one, models[RT_RUN_MODELS_MAX];
	size_t count = 0;
	rt_error err;
	rt_status st;

	if (rt_str_trim(question).size == 0)
		return RT_OK;
	(void)rt_tui_begin(tui);
	while (count < RT_RUN_MODELS_MAX && rt_str_split(&all, ' ', &one))
		if (one.size > 0)
			models[count++] = one;
	st = tui->pending != NULL
		     ? rt_fail(&err, RT_BUSY, "another change is pending; the models were not asked")
		     : tui->chat->send(tui->panes[0], question, models, count, &err);
	if (st != RT_OK)
		rt_tui_remember_input(tui, question);
	RT_TRY(&tui->scope, rt_tui_say_failure(tui, st, &err));
	return rt_tui_end(tui);
}

static void
free_models(rt_tui *tui, void *ctx)
{
	(void)tui;
	rt_text_unref(ctx);
}

rt_status
rt_slash_ask_models(rt_tui *tui, rt_action action, rt_str models)
{
	const rt_text *copy;
	rt_str rest = models, one;
	size_t count = 0;

	(void)action;
	while (rt_str_split(&rest, ' ', &one))
		count += one.size > 0;
	if (count == 0 || count > RT_RUN_MODELS_MAX) {
		rt_tui_say_str(tui,
			       count == 0 ? RT_STR("Which models? For example /ask-models openai/gpt-5 "
						   "ollama/qwen3:8b")
					  : RT_STR("Too many models: the maximum is 16"),
			       RT_INK_ERROR);
		return RT_OK;
	}
	copy = rt_text_new(tui->alloc, models);
	if (copy == NULL)
		return RT_NOMEM;
	return rt_pane_ask(tui, "Question to these models", tui->chat->question(tui->panes[0]),
			   true, asked, (void *)(uintptr_t)copy, free_models);
}
