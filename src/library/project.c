/* SPDX-License-Identifier: MIT
 *
 * Projects: opened, changed, kept up to date. */
#include "library/library_impl.h"

#include "codec/json.h"

retake_status
retake_project_open(retake_store *store, const char *name, const retake_project_options *options,
		    retake_project **out_project, retake_error *error)
{
	rt_engine_options engine = {0};
	retake_project_options own;
	retake_project *project = NULL;
	rt_error err = {0};
	rt_status st = rt_library_given(store, "store", &err);

	if (st == RT_OK)
		st = rt_library_given(out_project, "place for the project", &err);
	if (st == RT_OK)
		st = rt_library_options(options, sizeof(own), &own, sizeof(own),
					"project's options", &err);
	if (st == RT_OK)
		st = rt_library_str(name, "project's name", &engine.project, &err);
	if (st == RT_OK)
		st = rt_library_str(own.by, "name of who asks", &engine.by, &err);
	if (st != RT_OK)
		goto done;
	project = rt_new0(store->alloc, sizeof(*project));
	if (project == NULL) {
		st = rt_fail(&err, RT_NOMEM, "out of memory");
		goto done;
	}
	if (engine.by.size == 0)
		engine.by = RT_STR("lib");
	engine.alloc = store->alloc;
	engine.env = store->env;
	engine.create = own.create != 0;
	st = rt_engine_open(&engine, store->store, &project->engine, &err);
	if (st != RT_OK) {
		rt_free(store->alloc, project);
		goto done;
	}
	project->store = rt_library_store_ref(store);
	*out_project = project;
done:
	return rt_library_end(st, &err, error);
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
	const rt_project *value;
	rt_error err = {0};
	rt_status st = rt_library_given(project, "project", &err);

	if (st == RT_OK)
		st = rt_library_given(out_seq, "place for the number", &err);
	if (st == RT_OK) {
		value = rt_engine_value(project->engine);
		*out_seq = value->seq;
		rt_object_unref(value);
	}
	return rt_library_end(st, &err, error);
}

retake_status
retake_project_refresh(retake_project *project, retake_error *error)
{
	rt_error err = {0};
	rt_status st = rt_library_given(project, "project", &err);

	if (st == RT_OK)
		st = rt_engine_refresh(project->engine, &err);
	return rt_library_end(st, &err, error);
}

retake_status
retake_project_newer(retake_project *project, retake_error *error)
{
	rt_error err = {0};
	rt_status st = rt_library_given(project, "project", &err);

	if (st == RT_OK && rt_engine_newer(project->engine, &err))
		st = RT_TOO_NEW;
	return rt_library_end(st, &err, error);
}

retake_status
retake_project_index(retake_project *project, retake_error *error)
{
	rt_error err = {0};
	rt_status st = rt_library_given(project, "project", &err);

	if (st == RT_OK)
		st = rt_engine_index(project->engine, &err);
	return rt_library_end(st, &err, error);
}

/* ---- changing ---- */

/* What is asked for, taken apart. */
typedef struct asked {
	rt_json_doc *doc;
	yyjson_val **requests;
	rt_result *results;
	size_t count;
} asked;

static rt_status
asked_read(asked *a, const rt_alloc *alloc, rt_str json, rt_error *err)
{
	yyjson_val *root, *item;
	size_t i, count;
	rt_status st = rt_json_read(alloc, json, &a->doc, err);

	if (st == RT_LIMIT) /* too deep; as apply has it */
		st = err->status = RT_USAGE;
	if (st != RT_OK)
		return st;
	root = rt_json_root(a->doc);
	a->count = yyjson_is_arr(root) ? yyjson_arr_size(root) : 1;
	a->requests = rt_new_array(alloc, a->count + 1, sizeof(yyjson_val *));
	a->results = rt_new_array(alloc, a->count + 1, sizeof(rt_result));
	if (a->requests == NULL || a->results == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	memset(a->results, 0, (a->count + 1) * sizeof(rt_result));
	a->requests[0] = root;
	if (yyjson_is_arr(root)) {
		yyjson_arr_foreach(root, i, count, item) {
			a->requests[i] = item;
		}
	}
	return RT_OK;
}

static void
asked_deinit(asked *a, const rt_alloc *alloc)
{
	size_t i;

	for (i = 0; a->results != NULL && i < a->count; i++)
		rt_result_deinit(&a->results[i]);
	rt_free(alloc, a->results);
	rt_free(alloc, a->requests);
	rt_json_free(a->doc);
}

/* The results go out also where st is a failure: it is that of one of them. */
static rt_status
give_results(const asked *a, rt_status st, retake_text *out, rt_error *err)
{
	rt_status given;
	size_t i;
	rt_buf buf;

	rt_library_buf_init(&buf);
	rt_buf_add_byte(&buf, '[');
	for (i = 0; i < a->count; i++) {
		rt_json_add_comma(&buf);
		rt_result_add_json(&buf, &a->results[i]);
	}
	rt_buf_add_byte(&buf, ']');
	for (i = 0; st != RT_OK && i < a->count; i++)
		if (a->results[i].status == st) {
			*err = a->results[i].error;
			break;
		}
	given = rt_library_give(&buf, RT_OK, out, err);
	return given != RT_OK ? given : st;
}

retake_status
retake_apply(retake_project *project, const char *json, size_t size,
	     const retake_apply_options *options, retake_text *out_results, retake_error *error)
{
	rt_str text = rt_str_of(NULL), disc = text, take = text;
	retake_apply_options own;
	asked a = {0};
	rt_error err = {0};
	rt_status st = rt_library_given(project, "project", &err);

	if (st == RT_OK)
		st = rt_library_given(out_results, "place for the results", &err);
	if (st == RT_OK)
		st = rt_library_options(options, sizeof(own), &own, sizeof(own), "options of apply",
					&err);
	if (st == RT_OK)
		st = rt_library_bytes(json, size, "request", &text, &err);
	if (st == RT_OK)
		st = rt_library_str(own.discussion, "discussion's name", &disc, &err);
	if (st == RT_OK)
		st = rt_library_str(own.take, "take's name", &take, &err);
	if (st != RT_OK)
		return rt_library_end(st, &err, error);
	st = asked_read(&a, project->store->alloc, text, &err);
	if (st == RT_OK) {
		st = rt_apply_json(project->engine, NULL, a.requests, a.count, own.atomic != 0,
				   disc, take, a.results);
		st = give_results(&a, st, out_results, &err);
	}
	asked_deinit(&a, project->store->alloc);
	return rt_library_end(st, &err, error);
}
