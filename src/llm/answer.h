/* SPDX-License-Identifier: MIT
 *
 * Answer: what the readers of the providers share. JSON from servers is read leniently:
 * lone surrogates and bytes that are not UTF-8 become U+FFFD. */
#ifndef RT_LLM_ANSWER_H
#define RT_LLM_ANSWER_H

#include "chat/provider.h"

/* data as a JSON object; free it with rt_json_free. RT_UPSTREAM: it is none, with its
 * beginning in err. */
RT_CHECKED rt_status rt_answer_read(const rt_alloc *alloc, rt_str data, rt_json_doc **out,
				    rt_error *err);
/* A count of tokens; SIZE_MAX: there is none. */
size_t rt_answer_count(yyjson_val *object, const char *key);
/* The sum of two counts, of which either may be unknown. */
size_t rt_answer_sum(size_t a, size_t b);
/* A value as JSON text: an object or array as it stands, a string's own text; nothing
 * where there is none. */
void rt_answer_add_json(yyjson_val *value, rt_buf *out);
/* What a server says is wrong, in the forms in which they say it: {"error":{"message"}},
 * {"error":"…"}, {"message"}, {"detail"}, and these in an array. Nothing where there is
 * nothing of this kind. */
void rt_answer_add_error(yyjson_val *root, rt_buf *out);
/* If root tells of an error: tell the reply. */
bool rt_answer_take_error(rt_reply *reply, yyjson_val *root);
/* The same from a body; what is not JSON adds nothing. */
void rt_answer_read_error(rt_str body, const rt_alloc *alloc, rt_buf *out);
/* A call whose arguments came whole. */
void rt_answer_add_call(rt_reply *reply, uint64_t index, yyjson_val *id, yyjson_val *name,
			yyjson_val *arguments);
/* The models of a body: an array, or an object with the array under list_key. Their names
 * lie under name_key, the size of their context under any of the keys in use. */
RT_CHECKED rt_status rt_answer_read_models(rt_str body, const rt_alloc *alloc, const char *list_key,
					   const char *name_key, rt_model_fn fn, void *ctx,
					   rt_error *err);
/* The header "name: before key"; none where the key is empty or no header could hold it. */
void rt_answer_key_header(rt_str name, rt_str before, rt_str key, rt_header_fn fn, void *ctx);
/* The reply's own status as a status with words. */
RT_CHECKED rt_status rt_answer_end(const rt_reply *reply, rt_error *err);

#endif
