/* SPDX-License-Identifier: MIT
 *
 * Looking: one function of the engine behind each of these. */
#include "library/library_impl.h"

#include "view/highlight.h"
#include "llm/provider.h"

retake_status
retake_show(retake_project *project, const retake_place *place, const retake_window *window,
	    retake_text *out_json, retake_error *error)
{
	rt_window part = {0};
	retake_window own;
	rt_library_look l;
	rt_status st = rt_library_look_begin(&l, project, place, out_json);

	if (st == RT_OK)
		st = rt_library_options(window, sizeof(own), &own, sizeof(own), "window", &l.error);
	if (st == RT_OK)
		st = rt_library_str(own.role, "role", &part.role, &l.error);
	if (st == RT_OK) {
		part.from = own.from;
		part.count = own.count;
		st = rt_view_show(l.engine, l.value, l.place, &part, &l.buf, &l.error);
	}
	return rt_library_look_end(&l, st, out_json, error);
}

/* whole: in all takes of the discussion. */
static rt_status
find_entry(rt_library_look *l, const char *address, bool whole, uint32_t *out_entry)
{
	rt_str text;
	rt_status st = rt_library_given(address, "entry", &l->error);

	if (st == RT_OK)
		st = rt_library_str(address, "entry's address", &text, &l->error);
	if (st == RT_OK)
		st = rt_resolve_entry(l->value, l->place, text, whole, out_entry, &l->error);
	if (st == RT_OK && *out_entry == 0)
		st = rt_fail(&l->error, RT_NOT_FOUND, "there is no entry before the first");
	return st;
}

retake_status
retake_entry(retake_project *project, const retake_place *place, const char *address,
	     retake_text *out_json, retake_error *error)
{
	uint32_t entry = 0;
	rt_library_look l;
	rt_status st = rt_library_look_begin(&l, project, place, out_json);

	if (st == RT_OK)
		st = find_entry(&l, address, false, &entry);
	if (st == RT_OK)
		st = rt_view_entry(l.engine, l.value, l.place, entry, &l.buf, &l.error);
	return rt_library_look_end(&l, st, out_json, error);
}

retake_status
retake_tree(retake_project *project, const retake_place *place, retake_text *out_json,
	    retake_error *error)
{
	rt_library_look l;
	rt_status st = rt_library_look_begin(&l, project, place, out_json);

	if (st == RT_OK)
		st = rt_view_tree(l.engine, l.value, l.place.disc, &l.buf, &l.error);
	return rt_library_look_end(&l, st, out_json, error);
}

retake_status
retake_takes(retake_project *project, const retake_place *place, retake_text *out_json,
	     retake_error *error)
{
	rt_library_look l;
	rt_status st = rt_library_look_begin(&l, project, place, out_json);

	if (st == RT_OK)
		st = rt_view_takes(l.engine, l.value, l.place.disc, false, &l.buf, &l.error);
	return rt_library_look_end(&l, st, out_json, error);
}

retake_status
retake_discussions(retake_project *project, const retake_place *place, retake_text *out_json,
		   retake_error *error)
{
	rt_library_look l;
	rt_status st = rt_library_look_begin(&l, project, place, out_json);

	if (st == RT_OK)
		st = rt_view_discussions(l.engine, l.value, false, &l.buf, &l.error);
	return rt_library_look_end(&l, st, out_json, error);
}

retake_status
retake_settings(retake_project *project, const retake_place *place, retake_text *out_json,
		retake_error *error)
{
	rt_library_look l;
	rt_status st = rt_library_look_begin(&l, project, place, out_json);

	if (st == RT_OK)
		st = rt_view_settings(l.engine, l.value, l.place.disc, &l.buf, &l.error);
	return rt_library_look_end(&l, st, out_json, error);
}

retake_status
retake_diff(retake_project *project, const retake_place *place, const char *other_take,
	    retake_text *out_json, retake_error *error)
{
	rt_library_look l;
	rt_place other = {0, 0};
	rt_str disc = rt_str_of(NULL), take = disc;
	rt_status st = rt_library_look_begin(&l, project, place, out_json);

	if (st == RT_OK)
		st = rt_library_given(other_take, "other take", &l.error);
	if (st == RT_OK)
		st = rt_library_str(other_take, "take's name", &take, &l.error);
	if (st == RT_OK)
		st = rt_library_str(l.from.discussion, "discussion's name", &disc, &l.error);
	if (st == RT_OK)
		st = rt_resolve_place(l.value, disc, take, &other, &l.error);
	if (st == RT_OK)
		st = rt_view_diff(l.engine, l.value, l.place.disc, l.place.take, other.take, &l.buf,
				  &l.error);
	return rt_library_look_end(&l, st, out_json, error);
}

/* ---- what was ---- */

retake_status
retake_history(retake_project *project, const retake_place *place,
	       const retake_history_options *options, retake_text *out_json, retake_error *error)
{
	retake_history_options own;
	rt_library_look l;
	rt_status st = rt_library_look_begin(&l, project, place, out_json);

	if (st == RT_OK)
		st = rt_library_options(options, sizeof(own), &own, sizeof(own),
					"options of history", &l.error);
	if (st == RT_OK)
		st = rt_view_history(l.engine, l.value, l.place.disc, own.before, own.limit, &l.buf,
				     &l.error);
	return rt_library_look_end(&l, st, out_json, error);
}

retake_status
retake_step(retake_project *project, uint64_t seq, retake_text *out_json, retake_error *error)
{
	rt_library_look l;
	rt_status st = rt_library_look_begin(&l, project, NULL, out_json);

	if (st == RT_OK)
		st = rt_view_step(l.engine, l.value, seq, &l.buf, &l.error);
	return rt_library_look_end(&l, st, out_json, error);
}

retake_status
retake_revisions(retake_project *project, const retake_place *place, const char *address,
		 retake_text *out_json, retake_error *error)
{
	uint32_t entry = 0;
	rt_library_look l;
	rt_status st = rt_library_look_begin(&l, project, place, out_json);

	if (st == RT_OK)
		st = find_entry(&l, address, true, &entry);
	if (st == RT_OK)
		st = rt_view_revisions(l.engine, l.value, l.place.disc, entry, &l.buf, &l.error);
	return rt_library_look_end(&l, st, out_json, error);
}

/* ---- search ---- */

/* The engine's hits, with the marks beside the snippets. */
static rt_status
add_marked(rt_library_look *l, const rt_buf *hits)
{
	const rt_alloc *alloc = rt_engine_alloc(l->engine);
	rt_json_doc *doc = NULL;
	rt_status st = rt_json_read(alloc, rt_buf_str(hits), &doc, &l->error);

	if (st == RT_OK)
		rt_highlight_add_hits(alloc, rt_json_root(doc), &l->buf);
	rt_json_free(doc);
	return st;
}

retake_status
retake_search(retake_project *project, const retake_place *place, const char *query,
	      const retake_search_options *options, retake_text *out_json, retake_error *error)
{
	retake_search_options own;
	rt_str text = rt_str_of(NULL), role = text;
	rt_library_look l;
	rt_buf hits;
	rt_status st = rt_library_look_begin(&l, project, place, out_json);

	if (st == RT_OK)
		st = rt_library_given(query, "query", &l.error);
	if (st == RT_OK)
		st = rt_library_options(options, sizeof(own), &own, sizeof(own),
					"options of search", &l.error);
	if (st == RT_OK)
		st = rt_library_str(query, "query", &text, &l.error);
	if (st == RT_OK)
		st = rt_library_str(own.role, "role", &role, &l.error);
	if (st == RT_OK) {
		bool one = l.from.discussion != NULL && *l.from.discussion != '\0';

		rt_buf_init(&hits, rt_engine_alloc(l.engine), RT_BUF_UNLIMITED);
		st = rt_view_search(l.engine, l.value, text, one ? l.place.disc : 0, role,
				    own.limit, &hits, &l.error);
		if (st == RT_OK)
			st = add_marked(&l, &hits);
		rt_buf_deinit(&hits);
	}
	return rt_library_look_end(&l, st, out_json, error);
}

/* ---- context ---- */

static rt_status
find_provider(rt_str name, const rt_provider **out, rt_error *err)
{
	rt_buf names;
	rt_status st = RT_OK;

	*out = rt_provider_named(name.size > 0 ? name : RT_STR("openai"));
	if (*out != NULL)
		return RT_OK;
	rt_library_buf_init(&names);
	rt_provider_add_names(&names);
	st = rt_fail(err, RT_USAGE, "no provider \"%.*s\"; there are %.*s",
		     (int)rt_utf8_cut(name, 60), name.ptr,
		     RT_STR_ARG(rt_buf_str(&names)));
	rt_buf_deinit(&names);
	return st;
}

retake_status
retake_context(retake_project *project, const retake_place *place,
	       const retake_context_options *options, retake_text *out_json, retake_error *error)
{
	const rt_provider *provider = NULL;
	rt_context_options wanted = {0};
	retake_context_options own;
	rt_str name = rt_str_of(NULL);
	rt_library_look l;
	rt_status st = rt_library_look_begin(&l, project, place, out_json);

	if (st == RT_OK)
		st = rt_library_options(options, sizeof(own), &own, sizeof(own),
					"options of context", &l.error);
	if (st == RT_OK)
		st = rt_library_str(own.provider, "provider's name", &name, &l.error);
	if (st == RT_OK)
		st = rt_library_str(own.model, "model's name", &wanted.model, &l.error);
	if (st == RT_OK)
		st = find_provider(name, &provider, &l.error);
	if (st == RT_OK) {
		wanted.stream = own.stream != 0;
		wanted.budget_tokens = own.budget_tokens;
		st = rt_view_context(l.engine, l.value, l.place, provider, &wanted, &l.buf,
				     &l.error);
	}
	return rt_library_look_end(&l, st, out_json, error);
}
