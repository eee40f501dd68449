/* SPDX-License-Identifier: MIT
 *
 * TOML as text: the pieces of our own writer. Reading, and the two marks by which JSON and
 * TOML fit each other, are in codec/toml.h. */
#ifndef RT_FORMATS_TOML_TEXT_H
#define RT_FORMATS_TOML_TEXT_H

#include "codec/toml.h"

enum {
	RT_TOML_INLINE_DEPTH_MAX = 40  /* of JSON that is written as TOML */
};

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

/* The keys of an object, each once, the last of repeated ones, in order; *out_keys to be
 * freed. */
RT_CHECKED rt_status rt_toml_unique_keys(const rt_alloc *alloc, yyjson_val *object,
					 yyjson_val ***out_keys, size_t *out_count);

#endif
