/* SPDX-License-Identifier: MIT
 *
 * Projects: opened, changed, refreshed. */
#include "library/library_impl.h"

#include <stdatomic.h>

#include "codec/json.h"
#include "log/index.h"

retake_status
retake_project_open(retake_store *store, const char *name, const retake_project_options *options,
		    retake_project **out_project, retake_error *error)
{
	rt_engine_options engine = {0};
	retake_project_options own;
	retake_project *project = NULL;
	rt_library_call c;
	rt_scope *s = rt_library_begin_store(&c, store);

	rt_library_require(s, out_project, "output parameter for the project");
	rt_library_options(s, options, &own, sizeof(own), "project's options");
	engine.project = rt_library_str(s, name, "project's name");
	engine.by = rt_library_str(s, own.by, "author's name");
	if (rt_ok(s)) {
		project = rt_new0(store->alloc, sizeof(*project));
		if (project == NULL)
			rt_scope_nomem(s);
	}
	if (!rt_ok(s))
		return rt_library_end(&c, NULL, error);
	if (engine.by.size == 0)
		engine.by = RT_STR("lib");
	engine.alloc = store->alloc;
	engine.env = store->env;
	engine.create = own.create != 0;
	RT_TRY(s, rt_engine_open(&engine, store->store, &project->engine, &s->error));
	if (rt_ok(s)) {
		atomic_fetch_add_explicit(&store->refs, 1, memory_order_relaxed);
		project->store = store;
		*out_project = project;
	} else {
		rt_free(store->alloc, project);
	}
	return rt_library_end(&c, NULL, error);
}

void
retake_project_close(retake_project *project)
{
	retake_store *store;

	if (project == NULL)
		return;
	store = project->store;
	rt_engine_close(project->engine);
	rt_free(store->alloc, project);
	retake_store_close(store);
}

retake_status
retake_project_seq(retake_project *project, uint64_t *out_seq, retake_error *error)
{
	rt_library_call c;
	rt_scope *s = rt_library_begin_project(&c, project);

	rt_library_require(s, out_seq, "output parameter for the number");
	if (rt_ok(s)) {
		const rt_project *value = rt_engine_value(project->engine);

		*out_seq = value->seq;
		rt_object_unref(value);
	}
	return rt_library_end(&c, NULL, error);
}

retake_status
retake_project_refresh(retake_project *project, retake_error *error)
{
	rt_library_call c;
	rt_scope *s = rt_library_begin_project(&c, project);

	RT_TRY(s, rt_engine_refresh(project->engine, &s->error));
	return rt_library_end(&c, NULL, error);
}

retake_status
retake_project_newer(retake_project *project, retake_error *error)
{
	rt_library_call c;
	rt_scope *s = rt_library_begin_project(&c, project);

	RT_TRY(s, rt_engine_newer(project->engine, &s->error) ? RT_TOO_NEW : RT_OK);
	return rt_library_end(&c, NULL, error);
}

retake_status
retake_project_index(retake_project *project, retake_error *error)
{
	rt_library_call c;
	rt_scope *s = rt_library_begin_project(&c, project);

	RT_TRY(s, rt_engine_index(project->engine, &s->error));
	return rt_library_end(&c, NULL, error);
}

/* ---- changing ---- */

/* Applies one request or an array of them. The results are returned even if one has failed; the
 * failure is then that of the first one. */
static void
apply(rt_library_call *c, retake_project *project, yyjson_val *root, bool is_atomic, rt_str disc,
      rt_str take, retake_text *out_results)
{
	rt_scope *s = &c->scope;
	bool is_list = yyjson_is_arr(root);
	size_t count = is_list ? yyjson_arr_size(root) : 1;
	yyjson_val **requests = rt_scope_array(s, count, sizeof(*requests));
	rt_result *results = rt_scope_array(s, count, sizeof(*results));
	const rt_error *failure = NULL;
	yyjson_val *item;
	size_t at, max;
	rt_status st;

	if (!rt_ok(s))
		return;
	if (!is_list)
		requests[0] = root;
	yyjson_arr_foreach(root, at, max, item)
		requests[at] = item;
	st = rt_apply_json(project->engine, NULL, requests, count, is_atomic, disc, take,
			       results);
	rt_json_open(&c->text, NULL, '[');
	for (size_t i = 0; i < count; i++) {
		rt_json_add_comma(&c->text);
		rt_result_add_json(&c->text, &results[i]);
		if (st != RT_OK && failure == NULL && results[i].status == st)
			failure = &results[i].error;
	}
	rt_json_close(&c->text, ']');
	rt_library_give(c, out_results);
	if (failure != NULL && rt_ok(s))
		s->error = *failure;
	(void)rt_scope_note(s, st);
	for (size_t i = 0; i < count; i++)
		rt_result_deinit(&results[i]);
}

retake_status
retake_apply(retake_project *project, const char *json, size_t size,
	     const retake_apply_options *options, retake_text *out_results, retake_error *error)
{
	retake_apply_options own;
	rt_library_call c;
	rt_scope *s = rt_library_begin_project(&c, project);
	rt_str text, disc, take;
	yyjson_val *root;

	rt_library_require(s, out_results, "output parameter for the results");
	rt_library_options(s, options, &own, sizeof(own), "options of apply");
	text = rt_library_bytes(s, json, size, "request");
	disc = rt_library_str(s, own.discussion, "discussion's name");
	take = rt_library_str(s, own.take, "take's name");
	if (rt_ok(s)) {
		root = rt_json_parse(s, text);
		if (s->status == RT_LIMIT) /* nested too deeply; RT_USAGE as in `retake apply` */
			s->status = s->error.status = RT_USAGE;
		apply(&c, project, root, own.atomic != 0, disc, take, out_results);
	}
	return rt_library_end(&c, NULL, error);
}
