/* SPDX-License-Identifier: MIT
 *
 * Views: each function calls one of the engine's. */
#include "base/clock_host.h"
#include "library/library_impl.h"

#include "chat/context.h"
#include "llm/provider.h"
#include "view/search.h"
#include "view/view.h"

retake_status
retake_show(retake_project *project, const retake_place *place, const retake_window *window,
	    retake_text *out_json, retake_error *error)
{
	retake_window own;
	rt_library_call c;
	rt_scope *s = rt_library_begin_view(&c, project, place, out_json);
	rt_window part;

	rt_library_options(s, window, &own, sizeof(own), "window");
	part = (rt_window){.from = own.from,
			   .count = own.count,
			   .role = rt_library_str(s, own.role, "role")};
	RT_TRY(s, rt_view_show(c.engine, c.value, c.at, &part, &c.text, &s->error));
	return rt_library_end(&c, out_json, error);
}

/* whole: in all takes of the discussion. */
static uint32_t
find_entry(rt_library_call *c, const char *address, bool whole)
{
	rt_scope *s = &c->scope;
	uint32_t entry = 0;
	rt_str text;

	rt_library_require(s, address, "entry");
	text = rt_library_str(s, address, "entry's address");
	RT_TRY(s, rt_resolve_entry(c->value, c->at, text, whole, &entry, &s->error));
	if (entry == 0)
		rt_scope_fail(s, RT_NOT_FOUND, "there is no entry before the first");
	return entry;
}

retake_status
retake_entry(retake_project *project, const retake_place *place, const char *address,
	     retake_text *out_json, retake_error *error)
{
	rt_library_call c;
	rt_scope *s = rt_library_begin_view(&c, project, place, out_json);
	uint32_t entry = find_entry(&c, address, false);

	RT_TRY(s, rt_view_entry(c.engine, c.value, c.at, entry, &c.text, &s->error));
	return rt_library_end(&c, out_json, error);
}

retake_status
retake_revisions(retake_project *project, const retake_place *place, const char *address,
		 retake_text *out_json, retake_error *error)
{
	rt_library_call c;
	rt_scope *s = rt_library_begin_view(&c, project, place, out_json);
	uint32_t entry = find_entry(&c, address, true);

	RT_TRY(s, rt_view_revisions(c.engine, c.value, c.at.disc, entry, &c.text, &s->error));
	return rt_library_end(&c, out_json, error);
}

retake_status
retake_tree(retake_project *project, const retake_place *place, retake_text *out_json,
	    retake_error *error)
{
	rt_library_call c;
	rt_scope *s = rt_library_begin_view(&c, project, place, out_json);

	RT_TRY(s, rt_view_tree(c.engine, c.value, c.at.disc, &c.text, &s->error));
	return rt_library_end(&c, out_json, error);
}

retake_status
retake_takes(retake_project *project, const retake_place *place, retake_text *out_json,
	     retake_error *error)
{
	rt_library_call c;
	rt_scope *s = rt_library_begin_view(&c, project, place, out_json);

	RT_TRY(s, rt_view_takes(c.engine, c.value, c.at.disc, false, &c.text, &s->error));
	return rt_library_end(&c, out_json, error);
}

retake_status
retake_discussions(retake_project *project, const retake_place *place, retake_text *out_json,
		   retake_error *error)
{
	rt_library_call c;
	rt_scope *s = rt_library_begin_view(&c, project, place, out_json);

	RT_TRY(s, rt_view_discussions(c.engine, c.value, false, (rt_str){NULL, 0}, &c.text, &s->error));
	return rt_library_end(&c, out_json, error);
}

retake_status
retake_settings(retake_project *project, const retake_place *place, retake_text *out_json,
		retake_error *error)
{
	rt_library_call c;
	rt_scope *s = rt_library_begin_view(&c, project, place, out_json);

	RT_TRY(s, rt_view_settings(c.engine, c.value, c.at.disc, &c.text, &s->error));
	return rt_library_end(&c, out_json, error);
}

retake_status
retake_diff(retake_project *project, const retake_place *place, const char *other_take,
	    retake_text *out_json, retake_error *error)
{
	rt_library_call c;
	rt_scope *s = rt_library_begin_view(&c, project, place, out_json);
	rt_place other = {0, 0};
	rt_str take;

	rt_library_require(s, other_take, "other take");
	take = rt_library_str(s, other_take, "take's name");
	RT_TRY(s, rt_resolve_place(c.value, rt_str_of(c.from.discussion), take, &other, &s->error));
	RT_TRY(s, rt_view_diff(c.engine, c.value, c.at.disc, c.at.take, other.take, &c.text,
			       &s->error));
	return rt_library_end(&c, out_json, error);
}

/* ---- history ---- */

retake_status
retake_history(retake_project *project, const retake_place *place,
	       const retake_history_options *options, retake_text *out_json, retake_error *error)
{
	retake_history_options own;
	rt_library_call c;
	rt_scope *s = rt_library_begin_view(&c, project, place, out_json);

	rt_library_options(s, options, &own, sizeof(own), "options of history");
	RT_TRY(s, rt_view_history(c.engine, c.value, c.at.disc, own.before, own.limit, &c.text,
				  &s->error));
	return rt_library_end(&c, out_json, error);
}

retake_status
retake_step(retake_project *project, uint64_t seq, retake_text *out_json, retake_error *error)
{
	rt_library_call c;
	rt_scope *s = rt_library_begin_view(&c, project, NULL, out_json);

	RT_TRY(s, rt_view_step(c.engine, c.value, seq, &c.text, &s->error));
	return rt_library_end(&c, out_json, error);
}

/* ---- search ---- */

retake_status
retake_search(retake_project *project, const retake_place *place, const char *query,
	      const retake_search_options *options, retake_text *out_json, retake_error *error)
{
	retake_search_options own;
	rt_library_call c;
	rt_scope *s = rt_library_begin_view(&c, project, place, out_json);
	bool in_one = c.from.discussion != NULL && *c.from.discussion != '\0';
	rt_str text, role;

	rt_library_require(s, query, "query");
	rt_library_options(s, options, &own, sizeof(own), "options of search");
	text = rt_library_str(s, query, "query");
	role = rt_library_str(s, own.role, "role");
	RT_TRY(s, rt_view_search(c.engine, c.value,
				 &(rt_search){.query = text,
					      .disc = in_one ? c.at.disc : 0,
					      .role = role,
					      .limit = own.limit,
					      .zone = rt_clock_zone_us},
				 &c.text, &s->error));
	return rt_library_end(&c, out_json, error);
}

/* ---- context ---- */

static const rt_provider *
find_provider(rt_scope *s, rt_str name)
{
	const rt_provider *found = rt_provider_named(name.size > 0 ? name : RT_STR("openai"));
	rt_buf *names;

	if (found != NULL)
		return found;
	names = rt_scope_buf(s);
	rt_provider_add_names(names);
	rt_scope_fail(s, RT_USAGE, "no provider \"%.*s\"; available: %.*s",
		      (int)rt_utf8_cut(name, 60), name.ptr, RT_STR_ARG(rt_buf_str(names)));
	return NULL;
}

retake_status
retake_context(retake_project *project, const retake_place *place,
	       const retake_context_options *options, retake_text *out_json, retake_error *error)
{
	rt_context_options wanted = {0};
	retake_context_options own;
	const rt_provider *provider;
	rt_library_call c;
	rt_scope *s = rt_library_begin_view(&c, project, place, out_json);
	rt_str name;

	rt_library_options(s, options, &own, sizeof(own), "options of context");
	name = rt_library_str(s, own.provider, "provider's name");
	wanted.model = rt_library_str(s, own.model, "model's name");
	wanted.stream = own.stream != 0;
	wanted.budget_tokens = own.budget_tokens;
	provider = find_provider(s, name);
	RT_TRY(s, rt_view_context(c.engine, c.value, c.at, provider, &wanted, &c.text, &s->error));
	return rt_library_end(&c, out_json, error);
}
