/* SPDX-License-Identifier: MIT
 *
 * What a discussion was last sent to a model with (T6), built again, and what would be sent
 * otherwise now. */
#include "chat/last_request.h"
#include "llm/provider.h"
#include "server/api_view_impl.h"

/* Members of the answer that are those of the record, and those of the changes. */
static const char *const of_record[] = {"at",	  "seq",      "take",	       "provider", "service", "model",
					"upto", "left_out", "budget_tokens", NULL};
static const char *const of_changes[] = {"exact",    "same",   "entries", "moved",
					 "settings", "prompt", NULL};

static void
add_members(rt_buf *out, yyjson_val *from, const char *const *names)
{
	for (; *names != NULL; names++) {
		yyjson_val *value = rt_json_get(from, *names);

		if (value == NULL)
			continue;
		rt_json_add_key(out, *names);
		rt_json_add_value(out, value);
	}
}

/* record: as last_request.h draws it. */
static rt_status
add_sent(rt_api_view *l, yyjson_val *record)
{
	const rt_provider *provider =
		rt_provider_named(rt_json_str(rt_json_get(record, "provider")));
	const rt_alloc *alloc = l->call->request->alloc;
	rt_json_doc *changes = NULL;
	rt_last_request sent;
	rt_buf changed;
	rt_status st;

	rt_buf_init(&changed, alloc, RT_BUF_UNLIMITED);
	st = rt_last_request_build(l->engine, record, provider, NULL, NULL, &sent, &l->err);
	if (st == RT_OK)
		st = rt_view_last_request_changes(l->engine, l->project, l->place, record, provider,
						  &changed, &l->err);
	if (st == RT_OK)
		st = rt_json_read(alloc, rt_buf_str(&changed), &changes, &l->err);
	if (st == RT_OK) {
		rt_buf_add_byte(l->body, '{');
		add_members(l->body, record, of_record);
		add_members(l->body, rt_json_root(changes), of_changes);
		rt_json_add_key(l->body, "body");
		rt_buf_add_str(l->body, rt_buf_str(&sent.body));
		rt_buf_add_byte(l->body, '}');
	}
	rt_json_free(changes);
	rt_last_request_deinit(&sent);
	rt_buf_deinit(&changed);
	return st;
}

void
rt_api_sent(rt_call *call)
{
	rt_json_doc *record = NULL;
	rt_status st;
	rt_api_view l;
	rt_buf row;

	rt_buf_init(&row, call->request->alloc, RT_BUF_UNLIMITED);
	if (rt_api_view_begin(&l, call)) {
		st = rt_engine_last_request(l.engine, l.place.disc, &row, &l.err);
		if (st == RT_OK)
			st = rt_json_read(call->request->alloc, rt_buf_str(&row), &record, &l.err);
		if (st == RT_OK)
			st = add_sent(&l, rt_json_root(record));
		rt_api_view_done(&l, st, RT_API_VIEW_NO_ETAG);
	}
	rt_api_view_end(&l);
	rt_json_free(record);
	rt_buf_deinit(&row);
}
