/* SPDX-License-Identifier: MIT
 *
 * A look at a value, as api_look.c and api_context.c take it. */
#ifndef RT_SERVER_API_LOOK_IMPL_H
#define RT_SERVER_API_LOOK_IMPL_H

#include "server/api.h"

/* One look at a value. */
typedef struct rt_look {
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
} rt_look;

/* What the ETag of the answer is of. */
typedef enum rt_look_tag { RT_LOOK_NO_TAG, RT_LOOK_TAG_DISC, RT_LOOK_TAG_PROJECT } rt_look_tag;

/* The value, and the place that the request is about. false: answered. rt_look_end in any
 * case. */
bool rt_look_begin(rt_look *look, rt_call *call);
void rt_look_end(rt_look *look);
/* The body is written, or st and look->err say why not. */
void rt_look_done(rt_look *look, rt_status st, rt_look_tag tag);

/* Members of an object. */
void rt_look_add_text(rt_buf *buf, const char *key, rt_str text);
void rt_look_add_number(rt_buf *buf, const char *key, uint64_t number);
void rt_look_add_bool(rt_buf *buf, const char *key, bool value);

#endif
