/* SPDX-License-Identifier: MIT
 *
 * TOML project files of Manual Slop (the seeds' program): the common part of reader and writer.
 *
 *   [project] [ai] …                       kept unchanged; settings in them are known
 *   [discussion]
 *   roles = ["User", "AI", …]              or disc_roles
 *   active = "main_take_1"
 *   [discussion.discussions.main]          a take; takes of one discussion are known by
 *   git_commit = "…"                       their names: main, main_take_1, main_take_2 …
 *   last_updated = "…"                     and any other keys, which are kept
 *   context_snapshot = [{ path = "a.c" }]
 *   [[discussion.discussions.main.history]]
 *   role = "User"
 *   content = "…"
 *   ts = "2026-01-01T10:00:00Z"            and every further field of the entry
 *
 * history may also be a list of strings, as earlier versions of the program wrote it, "Role: text",
 * "@time\nRole:\ntext" and the like; it is always written in the form above.
 *
 * In an outline, unknown tables and keys of the file are fields "extra.toml.NAME" of the
 * project; those of a take are in the discussion's field "toml.takes", {TAKE:{…}}. Data that only
 * Retake has are in keys that begin with "retake", and in tables of that name, whose keys are names
 * of fields. */
#ifndef RT_FORMATS_TOML_IMPL_H
#define RT_FORMATS_TOML_IMPL_H

#include "codec/toml.h"
#include "formats/formats_writer.h"

#define TOML_EXTRA "extra.toml."
#define TOML_TAKES "toml.takes"
#define TOML_FIELD_MARK "field:" /* before a further field whose name is in use */

/* Keys with a meaning: of an entry, of a take's table, of [discussion]. */
#define TOML_ENTRY_KEYS \
	"role content ts id kind muted collapsed read_mode label purged retake_record"
#define TOML_TAKE_KEYS \
	"history git_commit retake retake_files retake_name retake_head retake_active retake_discussion"
#define TOML_DISCUSSION_KEYS "active discussions roles"

/* A place of a setting; table NULL: the top of the file. */
typedef struct rt_toml_place {
	const char *table, *key;
	const char *field; /* its name in the outline */
} rt_toml_place;

extern const rt_toml_place rt_toml_places[]; /* ended by a NULL key */

/* The part of a take's name that names its discussion. */
rt_str rt_toml_base(rt_str name);

rt_status rt_toml_write(const rt_alloc *alloc, const rt_outlines *in,
			const rt_export_options *options, rt_buf *out, rt_error *err);

/* Roles and settings alone, under the names of a configuration file. */
rt_status rt_config_toml_write(const rt_alloc *alloc, const rt_outlines *in,
			       const rt_export_options *options, rt_buf *out, rt_error *err);

/* --- JSON values as TOML (toml_value.c); s: scratch memory, and failures --- */

/* The keys of an object in their places, each once: the last of repeated ones. NULL at the end. */
yyjson_val **rt_toml_keys(rt_scope *s, yyjson_val *object);
/* "text" on one line, or over several if it has line ends and this is allowed. */
void rt_toml_add_string(rt_buf *buf, rt_str text, bool may_be_long);
/* A key, bare where it can be. */
void rt_toml_add_key(rt_buf *buf, rt_str key);
/* json:key = "json" whatever it is. */
void rt_toml_add_json(rt_scope *s, rt_buf *buf, rt_str key, rt_str json);
void rt_toml_add_member(rt_scope *s, rt_buf *buf, rt_str key, yyjson_val *value);
/* Write "key = value" and a line end for JSON text, as "json:key" if TOML cannot express the value.
 * False: it is not JSON, and nothing is written. s: scratch memory, and failures. */
bool rt_toml_add_member_text(rt_scope *s, rt_buf *buf, rt_str key, rt_str json);

#endif
