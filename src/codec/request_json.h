/* SPDX-License-Identifier: MIT
 *
 * Requests as JSON: {"op":"entry.edit","entry":":2","content":"…"}, read and written by the
 * table of operations. Decoded once where JSON enters (apply, HTTP, hooks, the text API of the
 * library), encoded where it leaves. */
#ifndef RT_CODEC_REQUEST_JSON_H
#define RT_CODEC_REQUEST_JSON_H

#include "base/scope.h"
#include "codec/json.h"
#include "core/request.h"

/* Decode and check one request: known operation, required fields, types. *out borrows from
 * value and is filled in on success only. RT_USAGE: the message names the field and its type.
 * O(fields). */
RT_CHECKED rt_status rt_request_read(yyjson_val *value, rt_request *out, rt_error *err);
/* The same for an object without "op": out->op names the operation. Fields that out has already
 * (from a path) are neither read nor required. */
RT_CHECKED rt_status rt_request_read_fields(yyjson_val *value, rt_request *out, rt_error *err);
/* Set one field of a request's operation. A value of the wrong type makes the request invalid. */
void rt_request_set(rt_scope *scope, rt_request *request, const char *name, yyjson_val *value);
/* Executing the request will fail with err, which is copied to the scope. */
void rt_request_invalidate(rt_scope *scope, rt_request *request, const rt_error *err);
/* Many. One that cannot be decoded is `invalid` and fails when its turn comes. The array lives
 * in the scope; NULL once that has failed. */
rt_request *rt_requests_read(rt_scope *scope, yyjson_val *const *values, size_t count);

/* A copy of a request and of all that it points to; lives as long as the scope. All bytes 0 once
 * that has failed. O(size). */
rt_request rt_request_copy(rt_scope *scope, const rt_request *request);

/* As a JSON object. A decoded request keeps the order of its members and those that are
 * unknown; members that were changed since get their present values. */
void rt_request_write(rt_buf *buf, const rt_request *request);
/* Members of source that the operation does not know, as an object; nothing when there are none. */
void rt_request_write_extra(rt_buf *buf, const rt_request *request);

#endif
