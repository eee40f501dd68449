/* SPDX-License-Identifier: MIT
 *
 * Protocol: the code shared by all providers: where requests go, reading answers, errors and lists
 * of models.
 *
 * JSON of servers is read leniently: lone surrogates and bytes that are not UTF-8 become
 * U+FFFD. */
#ifndef RT_LLM_PROTOCOL_H
#define RT_LLM_PROTOCOL_H

#include "chat/model_request.h"

/* ---- requests ---- */

/* Append the path after the base url. model: as the provider names it. RT_USAGE: it cannot be
 * left out. RT_NOMEM. */
RT_CHECKED rt_status rt_provider_path(const rt_provider *provider, rt_str model, bool stream,
				      rt_buf *out, rt_error *err);
/* Headers besides Content-Type. key may be empty; one that is not valid in a header is omitted. */
void rt_provider_headers(const rt_provider *provider, rt_str key, rt_header_fn fn, void *ctx);

/* ---- answers ---- */

/* One piece of a stream. Unknown members are ignored; an error that the server reports within a
 * stream is RT_OK and stored in the reply. RT_UPSTREAM: unexpected data, with its beginning in err.
 * RT_NOMEM, RT_LIMIT: the reply's status. */
RT_CHECKED rt_status rt_provider_read_event(const rt_provider *provider, rt_reply *reply,
					    rt_str data, rt_error *err);
/* The body of an answer that is not a stream. */
RT_CHECKED rt_status rt_provider_read_whole(const rt_provider *provider, rt_reply *reply,
					    rt_str body, rt_error *err);
/* Append the message of an error response in any of the usual forms: {"error":{"message"}},
 * {"error":"…"}, {"message"}, {"detail"}, and these in an array. Nothing if there is none. */
void rt_provider_read_error(rt_str body, const rt_alloc *alloc, rt_buf *out);
/* The models in a server's list: an array, or an object with the array. */
RT_CHECKED rt_status rt_provider_read_models(const rt_provider *provider, rt_str body,
					     const rt_alloc *alloc, rt_model_fn fn, void *ctx,
					     rt_error *err);

/* ---- for their files ---- */

/* Requests and answers in OpenAI's form, for providers that take it at another path or with other
 * headers: .writer = &rt_openai_writer, .read = rt_openai_read. */
extern const struct rt_provider_writer rt_openai_writer;
void rt_openai_read(rt_reply *reply, yyjson_val *root, bool whole);

/* A count of tokens; SIZE_MAX: none. */
size_t rt_answer_count(yyjson_val *object, const char *key);
/* The sum of two counts, of which either may be unknown. */
size_t rt_answer_sum(size_t a, size_t b);
/* A provider's word for why a reply ended; word NULL ends a table. */
typedef struct rt_answer_stop {
	const char *word;
	rt_stop stop;
} rt_answer_stop;
/* The stop of a word, in any case; unknown if it is not in the table. */
rt_stop rt_answer_stop_of(const rt_answer_stop *table, rt_str word, rt_stop unknown);
/* The stop of a complete reply for which none was given. */
rt_stop rt_answer_usual_stop(const rt_reply *reply);
/* The error in root becomes the reply's; false: there is none. */
bool rt_answer_read_error(rt_reply *reply, yyjson_val *root);
/* A call with its arguments, as JSON or as a string of JSON; NULL: they follow. */
void rt_answer_add_call(rt_reply *reply, uint64_t index, yyjson_val *id, yyjson_val *name,
			yyjson_val *arguments);
/* The status of the reply, with a message. */
RT_CHECKED rt_status rt_answer_status(const rt_reply *reply, rt_error *err);

#endif
