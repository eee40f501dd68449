/* SPDX-License-Identifier: MIT
 *
 * TOML project files: the names that reader and writer share (toml_impl.h), and how such a file
 * is recognised. */
#include "formats/formats.h"
#include "formats/toml_impl.h"

const rt_toml_place rt_toml_places[] = {
	{"discussion", "roles", "roles"},
	{"discussion", "disc_roles", "roles"},
	{NULL, "disc_roles", "roles"},
	{"config", "disc_roles", "roles"},
	{"discussion", "auto_add", "setting.auto_add_history"},
	{"discussion", "auto_add_history", "setting.auto_add_history"},
	{"project", "system_prompt", "setting.project_system_prompt"},
	{"project", "project_system_prompt", "setting.project_system_prompt"},
	{"ai", "system_prompt", "setting.global_system_prompt"},
	{"ai", "global_system_prompt", "setting.global_system_prompt"},
	{"ai", "base_system_prompt", "setting.base_system_prompt"},
	{"ai", "use_default_base_system_prompt", "setting.use_default_base_prompt"},
	{"ai", "use_default_base_prompt", "setting.use_default_base_prompt"},
	{"ai", "model", "setting.model"},
	{"ai", "temperature", "setting.temperature"},
	{"ai", "top_p", "setting.top_p"},
	{"ai", "max_tokens", "setting.max_tokens"},
	{NULL, "project_system_prompt", "setting.project_system_prompt"},
	{NULL, "ui_project_system_prompt", "setting.project_system_prompt"},
	{NULL, "global_system_prompt", "setting.global_system_prompt"},
	{NULL, "ui_global_system_prompt", "setting.global_system_prompt"},
	{NULL, "base_system_prompt", "setting.base_system_prompt"},
	{NULL, "ui_base_system_prompt", "setting.base_system_prompt"},
	{NULL, "use_default_base_prompt", "setting.use_default_base_prompt"},
	{NULL, "use_default_base_system_prompt", "setting.use_default_base_prompt"},
	{NULL, "ai_input", "setting.draft"},
	{NULL, "model", "setting.model"},
	{NULL, "temperature", "setting.temperature"},
	{NULL, "top_p", "setting.top_p"},
	{NULL, "max_tokens", "setting.max_tokens"},
	{NULL, "auto_add_history", "setting.auto_add_history"},
	{"config", "ui_global_system_prompt", "setting.global_system_prompt"},
	{"config", "use_default_base_system_prompt", "setting.use_default_base_prompt"},
	{NULL, NULL, NULL},
};

const char *
rt_toml_field_at(rt_str table, rt_str key)
{
	for (const rt_toml_place *p = rt_toml_places; p->key != NULL; p++)
		if (rt_str_is(key, p->key) && rt_str_eq(table, rt_str_of(p->table)))
			return p->field;
	return NULL;
}

const char *const rt_toml_entry_keys[] = {
	"role",      "content",   "ts",    "id",     "kind",          "muted",
	"collapsed", "read_mode", "label", "purged", "retake_record", NULL};
const char *const rt_toml_take_keys[] = {"history",           "git_commit",  "retake",
					 "retake_name",       "retake_head", "retake_active",
					 "retake_discussion", NULL};
const char *const rt_toml_discussion_keys[] = {"active", "discussions", "roles", NULL};

rt_str
rt_toml_base(rt_str name)
{
	size_t at = rt_str_find(name, RT_STR("_take_"), 0);

	return at == SIZE_MAX ? name : rt_str_at(name.ptr, at);
}

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A line that opens a table; the name is the text in the brackets. */
static bool
is_header(rt_str line, rt_str *out_name)
{
	size_t i, depth = 0;

	line = rt_str_trim(line);
	while (depth < 2 && depth < line.size && line.ptr[depth] == '[')
		depth++;
	if (depth == 0 || line.size < 2 * depth + 1 || line.ptr[line.size - 1] != ']')
		return false;
	*out_name = rt_str_at(line.ptr + depth, line.size - 2 * depth);
	for (i = 0; i < out_name->size; i++)
		if (strchr("[]{,:", out_name->ptr[i]) != NULL && out_name->ptr[i] != '\0')
			return false;
	return is_letter(out_name->ptr[0]) || out_name->ptr[0] == '"' || out_name->ptr[0] == '_';
}

/* A line `key = …`. */
static bool
is_assignment(rt_str line)
{
	size_t i = 0;

	line = rt_str_trim(line);
	while (i < line.size && line.ptr[i] != '\0' &&
	       (is_letter(line.ptr[i]) || strchr("_-.\"", line.ptr[i]) != NULL))
		i++;
	if (i == 0)
		return false;
	while (i < line.size && line.ptr[i] == ' ')
		i++;
	return i + 1 < line.size && line.ptr[i] == '=' && line.ptr[i + 1] != '=';
}

static int
toml_sniff(rt_str head)
{
	size_t at = 0;
	int sure = 0;
	bool first = true;
	rt_str name;

	head = rt_scan_unmark(head);
	while (at < head.size) {
		const char *nl = memchr(head.ptr + at, '\n', head.size - at);
		size_t end = nl == NULL ? head.size : (size_t)(nl - head.ptr);
		rt_str line = rt_str_trim(rt_str_at(head.ptr + at, end - at));

		at = end + 1;
		if (line.size == 0 || line.ptr[0] == '#')
			continue;
		if (is_header(line, &name)) {
			if (rt_str_is(name, "discussion") ||
			    rt_str_starts(name, RT_STR("discussion.")))
				return sure > 0 || first ? 90 : 60;
			sure = sure > 30 ? sure : first ? 30 : sure;
		} else if (first && is_assignment(line)) {
			sure = 20;
		} else if (first) {
			return 0;
		}
		first = false;
	}
	return sure;
}

const rt_format rt_format_toml = {
	.name = "toml",
	.extension = ".toml",
	.about = "project files of Manual Slop: discussions, takes, settings",
	.sniff = toml_sniff,
	.read = rt_toml_read,
	.whole_max = 8 << 20,
	.write = rt_toml_write,
	.writes_sent = true,
};
