/* SPDX-License-Identifier: MIT
 *
 * Titles that a model writes, for discussions that nobody named. Until then a discussion is shown
 * with the first words of its first question (rt_disc_title). */
#include "chat/summary_impl.h"
#include "codec/json.h"

#define TASK                                                                                       \
	"Write a title for this conversation: at most six words that say what it is about, in its " \
	"language. No quotes, no full stop, nothing else."

enum {
	TITLE_MAX = 80,   /* characters that are kept */
	TEXT_MAX = 8000,  /* bytes of the conversation that the model reads */
	ENTRIES_READ = 6  /* entries of the conversation that the model reads */
};

bool
rt_title_is_wanted(const rt_project *value, uint32_t number)
{
	const rt_cell *cell = rt_project_cell(value, number);
	const rt_disc *disc = NULL;

	return cell != NULL && cell->present &&
	       rt_disc_name_is_generated(rt_cell_name(cell)) &&
	       rt_project_disc(value, number, &disc, NULL) == RT_OK &&
	       rt_fields_get(disc->fields, RT_STR("setting.title")).ptr == NULL;
}

/* An rt_apply_check_fn: somebody may have named it in the meantime. */
static rt_status
check_wanted(void *ctx, const rt_project *now, rt_error *err)
{
	const rt_summing *s = ctx;

	return rt_title_is_wanted(now, s->place.disc)
		       ? RT_OK
		       : rt_fail(err, RT_CONFLICT, "the discussion already has a title");
}

/* The model's answer without what it was told to leave out. */
static rt_str
cleaned(rt_scope *s, rt_str answer)
{
	static const char *const quotes[] = {"Title:", "\"", "“", "”", "'", "*", "#", "`", "."};
	rt_str text = rt_first_words(s, answer, TITLE_MAX);
	bool again = true;

	while (again) {
		again = false;
		text = rt_str_trim(text);
		for (size_t i = 0; i < sizeof(quotes) / sizeof(quotes[0]); i++) {
			rt_str q = rt_str_of(quotes[i]);

			if (text.size < q.size)
				continue;
			if (rt_str_starts(text, q)) {
				text = rt_str_at(text.ptr + q.size, text.size - q.size);
				again = true;
			} else if (memcmp(text.ptr + text.size - q.size, q.ptr, q.size) == 0) {
				text.size -= q.size;
				again = true;
			}
		}
	}
	return text;
}

static void
set_title(rt_summing *s)
{
	rt_scope *sc = &s->scope;
	rt_buf *json = rt_scope_buf(sc);
	rt_apply_context context = {.hooks = s->with->hooks,
				    .by = s->with->by,
				    .check = check_wanted,
				    .check_ctx = s,
				    .stop = s->with->stop,
				    .ctx = s->with->ctx,
				    .notes = s->notes};
	rt_request request = {.op = RT_OP_SETTING_SET, .key = RT_STR("title")};
	rt_result result = {0};
	char disc[16];

	rt_str title = cleaned(sc, rt_buf_str(s->summary));
	if (title.size == 0)
		rt_scope_fail(sc, RT_UPSTREAM, "the model returned no title");
	rt_json_add_string(json, title);
	request.value = rt_json_parse(sc, rt_scope_str(sc, json));
	if (!rt_ok(sc))
		return;
	snprintf(disc, sizeof(disc), "d%u", s->place.disc);
	rt_status st = rt_apply(s->engine, &context, &request, 1, false, rt_str_of(disc),
				RT_STR(""), &result);
	if (st == RT_OK)
		s->out->seq = result.seq;
	else
		rt_results_error(&result, 1, &sc->error);
	rt_scope_note(sc, st);
	rt_result_deinit(&result);
}

rt_status
rt_engine_write_title(rt_engine *engine, const rt_send_with *with, rt_str discussion,
		      rt_summary_result *out, rt_error *err)
{
	rt_summing s;

	rt_summing_begin(&s, engine, with, discussion, RT_STR(""), out);
	if (rt_ok(&s.scope) && rt_title_is_wanted(s.value, s.place.disc)) {
		for (size_t i = 0; i < s.count && i < ENTRIES_READ && rt_ok(&s.scope); i++)
			rt_summing_add_entry(&s, RT_STR(""), &s.slots[i]);
		if (s.text->size > TEXT_MAX)
			s.text->size = rt_utf8_cut(rt_buf_str(s.text), TEXT_MAX);
		if (s.text->size > 0) {
			rt_summing_ask_model(&s, RT_STR(TASK), RT_STR(""));
			set_title(&s);
		}
	}
	return rt_summing_end(&s, err);
}
