/* SPDX-License-Identifier: MIT
 *
 * TOML project files of Manual Slop (the seeds' program): what reader and writer agree on.
 *
 *   [project] [ai] …                       kept as they are; settings in them are known
 *   [discussion]
 *   roles = ["User", "AI", …]              or disc_roles
 *   active = "main_take_1"
 *   [discussion.discussions.main]          a take; takes of one discussion are known by
 *   git_commit = "…"                       their names: main, main_take_1, main_take_2 …
 *   last_updated = "…"                     and whatever else stands here is kept
 *   context_snapshot = [{ path = "a.c" }]
 *   [[discussion.discussions.main.history]]
 *   role = "User"
 *   content = "…"
 *   ts = "2026-01-01T10:00:00Z"            and every further field of the entry
 *
 * history may also be a list of strings as the program wrote them earlier, "Role: text",
 * "@time\nRole:\ntext" and the like; it is always written as above.
 *
 * In an outline: whole tables and keys of the file that are not known are fields
 * "extra.toml.NAME" of the project; those of a take lie in the discussion's field
 * "toml.takes", {TAKE:{…}}. What Retake has and the program does not goes into keys that
 * begin with "retake", and into tables of that name, whose keys are names of fields. */
#ifndef RT_FORMATS_TOML_IMPL_H
#define RT_FORMATS_TOML_IMPL_H

#include "formats/formats_build.h"
#include "formats/formats_writer.h"
#include "formats/toml_text.h"

#define TOML_EXTRA "extra.toml."
#define TOML_TAKES "toml.takes"
#define TOML_FIELD_MARK "field:" /* before a further field whose name is taken */

/* A place of a setting; table NULL: the top of the file. */
typedef struct rt_toml_place {
	const char *table, *key;
	const char *field; /* its name in the outline */
} rt_toml_place;

extern const rt_toml_place rt_toml_places[]; /* ended by a NULL key */

/* The field at this place, or NULL. table empty: the top. */
const char *rt_toml_field_at(rt_str table, rt_str key);
/* Keys with a meaning: of an entry, of a take's table and of [discussion]; each ends with NULL. */
extern const char *const rt_toml_entry_keys[], *const rt_toml_take_keys[],
	*const rt_toml_discussion_keys[];
/* The part of a take's name that names its discussion. */
rt_str rt_toml_base(rt_str name);

rt_status rt_toml_read(const rt_alloc *alloc, rt_str input, rt_outlines *out, rt_report *report,
		       rt_error *err);
rt_status rt_toml_write(const rt_alloc *alloc, const rt_outlines *in,
			const rt_export_options *options, rt_buf *out, rt_error *err);

#endif
