/* SPDX-License-Identifier: MIT
 *
 * TOML: reading. A whole file becomes one JSON object, for project files (formats/) and
 * configuration files (llm/).
 *
 * JSON and TOML can each express values that the other cannot. Two marks make both conversions
 * lossless:
 *
 *   {"$toml":"1979-05-27"}     in JSON: a value that only TOML has: dates, times, inf, nan
 *   "json:NAME" = "null"       in TOML: the member NAME with a value that only JSON has: null,
 *                              numbers beyond 64 bits, repeated keys …
 *
 * A build without toml++ has this interface, too, and refuses to read. */
#ifndef RT_CODEC_TOML_H
#define RT_CODEC_TOML_H

#include "codec/json.h"

enum {
	RT_TOML_DEPTH_MAX = 128,      /* tables and arrays inside each other, dotted keys too */
	RT_TOML_EMBED_DEPTH_MAX = 300 /* of JSON in a string that is expanded on reading */
};

#define RT_TOML_JSON_MARK "json:"
#define RT_TOML_MARK "$toml"

/* A whole TOML file as one JSON object, appended to out. Bytes that are not UTF-8 are an
 * error.
 * RT_USAGE: not TOML, with position and line. RT_LIMIT: nested too deep. RT_REFUSED: this
 * build has no TOML reader. */
RT_CHECKED rt_status rt_toml_to_json(const rt_alloc *alloc, rt_str input, rt_buf *out,
				     rt_error *err);

/* The position of a key in a text that rt_toml_to_json accepted. path: the names of the tables
 * from the top down to the key; an item of an array is named by its index, "0". Line and column
 * count from 1, columns in code points. False: no such key (or out of memory). Parses the text
 * again, so it is meant for error messages. */
bool rt_toml_find(rt_str input, const rt_str *path, size_t path_count, uint64_t *out_line,
		  uint64_t *out_column);

/* Is text one of TOML's literals that reading returns unchanged? */
bool rt_toml_is_literal(rt_str text);

/* Is this JSON nested so deeply that reading leaves it in its string, under its "json:" key? A
 * caller that reads members restores it with rt_build_json. */
bool rt_toml_is_left(rt_str json);

#endif
