/* SPDX-License-Identifier: MIT
 *
 * TOML as text: to JSON, and the pieces of our own writer.
 *
 * JSON and TOML do not fit each other everywhere. Both ways are the identity on values
 * because of two marks:
 *
 *   {"$toml":"1979-05-27"}     in JSON stands for what only TOML can say: dates, times,
 *                              inf, nan
 *   "json:NAME" = "null"       in TOML is the member NAME with a value that only JSON can
 *                              say: null, numbers beyond 64 bits, repeated keys … */
#ifndef RT_FORMATS_TOML_TEXT_H
#define RT_FORMATS_TOML_TEXT_H

#include "codec/json.h"

enum {
	RT_TOML_DEPTH_MAX = 128,   /* tables and arrays inside each other, dotted keys too */
	RT_TOML_EMBED_DEPTH_MAX = 300, /* of JSON that is taken out of its string on reading */
	RT_TOML_INLINE_DEPTH_MAX = 40  /* of JSON that is written as TOML */
};

/* A whole TOML file as one JSON object, appended to out; also what configuration files
 * are read by. Bytes that are not UTF-8 are an error.
 * RT_USAGE: not TOML, with position and line. RT_LIMIT: nested too deep. RT_REFUSED: this
 * build has no TOML reader. */
RT_CHECKED rt_status rt_toml_to_json(const rt_alloc *alloc, rt_str input, rt_buf *out,
				     rt_error *err);

/* A key, bare where it can be. */
void rt_toml_add_key(rt_buf *buf, rt_str key);
/* "text" on one line, or over several where it has line ends and may. */
void rt_toml_add_string(rt_buf *buf, rt_str text, bool may_be_long);
/* key = value and a line end, as json:key where it has to be. */
void rt_toml_add_member(rt_buf *buf, rt_str key, yyjson_val *value);
/* The same for JSON text; false: it is not JSON (nothing is written). */
bool rt_toml_add_member_text(rt_buf *buf, rt_str key, rt_str json);
/* json:key = "json" whatever it is. */
void rt_toml_add_json_member(rt_buf *buf, rt_str key, rt_str json);

/* Is this JSON nested so deep that reading leaves it in its string, behind its "json:"
 * key? Who takes members apart undoes that with rt_build_json. */
bool rt_toml_is_left(rt_str json);

/* The keys of an object, each once, the last of repeated ones, in order; *out_keys to be
 * freed. */
RT_CHECKED rt_status rt_toml_unique_keys(const rt_alloc *alloc, yyjson_val *object,
					 yyjson_val ***out_keys, size_t *out_count);

#endif
