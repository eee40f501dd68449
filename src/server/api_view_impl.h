/* SPDX-License-Identifier: MIT
 *
 * A look at a value, as api_view.c and api_context.c take it. */
#ifndef RT_SERVER_API_VIEW_IMPL_H
#define RT_SERVER_API_VIEW_IMPL_H

#include "server/api.h"

/* One look at a value. */
typedef struct rt_api_view {
	rt_call *call;
	rt_engine *engine;
	uint64_t epoch; /* as it was before the value was taken */
	const rt_project *project;
	rt_place place; /* of the path, or the active one */
	const rt_disc *disc;
	const rt_take *take;
	rt_buf *body;
	bool is_past;
	rt_error err;
} rt_api_view;

/* What the ETag of the answer is of. */
typedef enum rt_api_view_etag {
	RT_API_VIEW_NO_ETAG,
	RT_API_VIEW_ETAG_DISC,
	RT_API_VIEW_ETAG_PROJECT
} rt_api_view_etag;

/* The value, and the place that the request is about. false: answered. rt_api_view_end in any
 * case. */
bool rt_api_view_begin(rt_api_view *look, rt_call *call);
void rt_api_view_end(rt_api_view *look);
/* The body is written, or st and look->err say why not. */
void rt_api_view_done(rt_api_view *look, rt_status st, rt_api_view_etag etag);

/* Members of an object. */
void rt_api_view_add_text(rt_buf *buf, const char *key, rt_str text);
void rt_api_view_add_number(rt_buf *buf, const char *key, uint64_t number);
void rt_api_view_add_bool(rt_buf *buf, const char *key, bool value);

#endif
