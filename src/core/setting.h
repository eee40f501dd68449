/* SPDX-License-Identifier: MIT
 *
 * The settings that Retake uses. Any other key is stored for other programs. */
#ifndef RT_CORE_SETTING_H
#define RT_CORE_SETTING_H

#include "base/text.h"

typedef enum rt_setting_type {
	RT_SETTING_TEXT,
	RT_SETTING_NUMBER,
	RT_SETTING_COUNT, /* a whole number from 0 on */
	RT_SETTING_BOOL,
	RT_SETTING_UPDATES, /* "off", "block" or "json" */
	RT_SETTING_NOTICES, /* "none", "prompt" or "all" */
	RT_SETTING_EFFORT,  /* "none", "minimal", "low", "medium" or "high" */
	RT_SETTING_OBJECT,
	RT_SETTING_TAGS /* a list of texts */
} rt_setting_type;

typedef struct rt_setting {
	const char *key;
	rt_setting_type type;
	bool of_discussion; /* false: of the project */
	const char *about;
	bool or_discussion; /* of the project, but a discussion may have its own value */
} rt_setting;

/* The table of all settings, ended by a NULL key. */
extern const rt_setting rt_settings[];

const rt_setting *rt_setting_named(rt_str key); /* NULL: unknown */
/* A property of one discussion ("draft", "title", "tags" …), which a project cannot have for all. */
bool rt_setting_is_of_one(rt_str key);
/* The names of the lists of files, sorted; ended by NULL. They are no settings. */
extern const char *const rt_file_list_names[];
/* Is it one of them? */
bool rt_is_file_list(rt_str key);
/* The expected type ("a number") if json, the value as JSON text, does not have it; NULL if it
 * has. A value of the wrong type is stored but treated as unset. */
const char *rt_setting_wants(const rt_setting *setting, rt_str json);
/* The value of a count; false: unset or of the wrong type. */
bool rt_setting_count(rt_str json, uint64_t *out);

#endif
