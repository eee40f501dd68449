/* SPDX-License-Identifier: MIT
 *
 * Discussions as typed by users: by their title, the beginning of a name or title, in any case. */
#include "app/session.h"

#include "app/args.h"
#include "view/view_rows.h"

/* Does the text begin with the word, in any case? is_whole: is it the word? */
static bool
matches(rt_str text, rt_str word, bool is_whole)
{
	return text.size >= word.size && (!is_whole || text.size == word.size) &&
	       rt_str_eq_nocase(rt_str_at(text.ptr, word.size), word);
}

/* Was a discussion with this name deleted? Then no other one is meant. */
static bool
is_deleted(const rt_project *value, rt_str name)
{
	for (size_t i = rt_project_disc_count(value); i > 0; i--) {
		const rt_cell *cell = rt_project_cell(value, (uint32_t)i);

		if (!cell->present && rt_str_eq(rt_cell_name(cell), name))
			return true;
	}
	return false;
}

/* The name or title that is nearest to the word; empty: none is likely. */
static rt_str
find_near(rt_scope *scope, rt_disc_rows rows, rt_str word)
{
	size_t best = SIZE_MAX;
	rt_str found = {NULL, 0};

	for (size_t i = 0; i < rows.count; i++) {
		const rt_str texts[] = {rows.items[i].name, rows.items[i].title};

		for (size_t k = 0; k < 2 && rt_ok(scope); k++) {
			size_t distance = rt_str_distance(texts[k], word);

			if (distance < best) {
				best = distance;
				found = texts[k];
			}
		}
	}
	return rt_args_is_near(best, word.size) ? found : RT_STR("");
}

rt_status
rt_session_similar(rt_session *session, rt_str word, rt_buf *out_name, rt_error *err)
{
	rt_scope scope;

	session->hint[0] = 0;
	rt_scope_init(&scope, session->alloc);
	rt_view view = {&scope, session->engine, session->value, {0, 0}};
	rt_disc_rows rows = rt_discs_list(&view, false);
	rt_buf *names = rt_scope_buf(&scope);
	rt_str found = {NULL, 0};
	size_t count = 0;

	for (int whole = 1; whole >= 0 && count == 0 && rt_ok(&scope) && !is_deleted(session->value, word);
	     whole--)
		for (size_t i = 0; i < rows.count; i++) {
			const rt_disc_row *row = &rows.items[i];

			if (!matches(row->name, word, whole) && !matches(row->title, word, whole))
				continue;
			found = row->name;
			rt_buf_add_f(names, "%s\"%.*s\"", count++ > 0 ? ", " : "", RT_STR_ARG(found));
		}
	if (count == 1 && rt_ok(&scope)) {
		rt_buf_add_str(out_name, found);
	} else if (count > 1 && rt_ok(&scope)) {
		rt_str all = rt_scope_str(&scope, names);

		rt_session_hint(session, RT_AMBIGUOUS, "Discussions: retake ls");
		(void)rt_scope_fail(&scope, RT_AMBIGUOUS, "\"%.*s\" could be %.*s",
				    RT_STR_ARG(rt_address_shown(word)), RT_STR_ARG(all));
	} else if (rt_ok(&scope)) {
		rt_str near = find_near(&scope, rows, word);

		if (near.size > 0)
			rt_session_hint(session, RT_NOT_FOUND,
					"Did you mean \"%.*s\"?   Discussions: retake ls",
					RT_STR_ARG(near));
		(void)rt_scope_fail_advise(&scope, RT_NOT_FOUND, "see: retake ls",
					   "no discussion \"%.*s\"",
					   RT_STR_ARG(rt_address_shown(word)));
	}
	return rt_scope_end(&scope, err);
}
