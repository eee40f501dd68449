/* SPDX-License-Identifier: MIT */
#include "llm/pick_host.h"

#include "codec/json.h"
#include "llm/tokens_host.h"

rt_status
rt_pick_setting(const rt_alloc *alloc, const rt_project *project, const rt_disc *disc, rt_buf *out,
		rt_error *err)
{
	rt_str json = rt_fields_get(disc->fields, RT_STR("setting.model"));
	rt_json_doc *doc = NULL;
	rt_status st;

	if (json.ptr == NULL)
		json = rt_fields_get(project->fields, RT_STR("setting.model"));
	if (json.ptr == NULL)
		return RT_OK;
	st = rt_json_read(alloc, json, &doc, err);
	if (st != RT_OK)
		return st;
	if (yyjson_is_str(rt_json_root(doc)))
		rt_buf_add_str(out, rt_json_str(rt_json_root(doc)));
	rt_json_free(doc);
	return out->status == RT_OK ? RT_OK : rt_fail(err, out->status, "out of memory");
}

rt_status
rt_pick_name(const rt_alloc *alloc, const rt_project *project, const rt_disc *disc, rt_str said,
	     rt_str standard, rt_buf *out, rt_pick_source *out_source, rt_error *err)
{
	rt_pick_source source = said.size > 0 ? RT_PICK_SAID : RT_PICK_SETTING;
	size_t before = out->size;
	rt_status st = RT_OK;

	if (said.size > 0)
		rt_buf_add_str(out, said);
	else
		st = rt_pick_setting(alloc, project, disc, out, err);
	if (st == RT_OK && out->size == before) {
		source = RT_PICK_STANDARD;
		rt_buf_add_str(out, standard);
	}
	if (st == RT_OK && out->status != RT_OK)
		st = rt_fail(err, out->status, "out of memory");
	if (st == RT_OK && out_source != NULL)
		*out_source = source;
	return st;
}

/* ---- counting ---- */

void
rt_pick_counter_init(rt_pick_counter *c, const rt_alloc *alloc, rt_str model)
{
	memset(c, 0, sizeof(*c));
	c->alloc = alloc;
	c->encoding = rt_token_encoding_of(model);
	rt_buf_init(&c->warnings, alloc, RT_BUF_UNLIMITED);
}

void
rt_pick_counter_deinit(rt_pick_counter *c)
{
	rt_tokens_free(c->ranks);
	rt_buf_deinit(&c->warnings);
}

size_t
rt_pick_count(void *counter, rt_str text)
{
	rt_pick_counter *c = counter;
	size_t count = 0;

	if (!c->is_sought && c->encoding != NULL) {
		c->is_sought = true;
		if (rt_tokens_load(c->alloc, c->encoding, &c->ranks, &c->warnings, NULL) != RT_OK)
			c->ranks = NULL;
	}
	if (c->ranks == NULL || rt_tokens_count(c->ranks, text, &count) != RT_OK)
		return rt_tokens_estimate(text.size);
	return count;
}
