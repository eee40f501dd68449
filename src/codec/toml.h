/* SPDX-License-Identifier: MIT
 *
 * TOML: reading. A whole file becomes one JSON object, for project files (formats/) and
 * configuration files (llm/) alike.
 *
 * JSON and TOML do not fit each other everywhere. Both ways are the identity on values
 * because of two marks:
 *
 *   {"$toml":"1979-05-27"}     in JSON stands for what only TOML can say: dates, times,
 *                              inf, nan
 *   "json:NAME" = "null"       in TOML is the member NAME with a value that only JSON can
 *                              say: null, numbers beyond 64 bits, repeated keys …
 *
 * A build without toml++ has all of this, and refuses to read. */
#ifndef RT_CODEC_TOML_H
#define RT_CODEC_TOML_H

#include "codec/json.h"

enum {
	RT_TOML_DEPTH_MAX = 128,      /* tables and arrays inside each other, dotted keys too */
	RT_TOML_EMBED_DEPTH_MAX = 300 /* of JSON that is taken out of its string on reading */
};

#define RT_TOML_JSON_MARK "json:"
#define RT_TOML_MARK "$toml"

/* A whole TOML file as one JSON object, appended to out. Bytes that are not UTF-8 are an
 * error.
 * RT_USAGE: not TOML, with position and line. RT_LIMIT: nested too deep. RT_REFUSED: this
 * build has no TOML reader. */
RT_CHECKED rt_status rt_toml_to_json(const rt_alloc *alloc, rt_str input, rt_buf *out,
				     rt_error *err);

/* Where a key stands in a text that rt_toml_to_json took. path: the names of the tables
 * from the top down to the key, by their names in the text; an item of an array is named
 * by its index, "0". Line and column count from 1, columns in code points. false: there is
 * no such key (or no memory to look). Reads the text again, so it is for messages. */
bool rt_toml_find(rt_str input, const rt_str *path, size_t path_count, uint64_t *out_line,
		  uint64_t *out_column);

/* Does text, one of TOML's own literals, stand for itself in TOML and come back as it is? */
bool rt_toml_is_literal(rt_str text);

/* Is this JSON nested so deep that reading leaves it in its string, behind its "json:"
 * key? Who takes members apart undoes that with rt_build_json. */
bool rt_toml_is_left(rt_str json);

#endif
