/* SPDX-License-Identifier: MIT
 *
 * Writing configuration files of Manual Slop: the roles and settings of a project, with those of
 * its active discussion, at the places where toml_read.c finds them. */
#include "formats/toml_impl.h"

/* In the order of the file: first the keys outside of tables, then tables. */
static const rt_toml_place places[] = {
	{NULL, "disc_roles", "roles"},
	{NULL, "use_default_base_system_prompt", "setting.use_default_base_prompt"},
	{NULL, "ui_global_system_prompt", "setting.global_system_prompt"},
	{NULL, "ui_project_system_prompt", "setting.project_system_prompt"},
	{NULL, "ui_base_system_prompt", "setting.base_system_prompt"},
	{NULL, "auto_add_history", "setting.auto_add_history"},
	{"ai", "model", "setting.model"},
	{"ai", "temperature", "setting.temperature"},
	{"ai", "top_p", "setting.top_p"},
	{"ai", "max_tokens", "setting.max_tokens"},
};

/* The value for the active discussion; ptr NULL: the default. */
static rt_str
value_of(const rt_outlines *in, const char *field)
{
	const rt_outline *o = in->has_active && in->active < in->count ? &in->items[in->active]
			      : in->count > 0			       ? &in->items[0]
								       : NULL;
	rt_str json = {NULL, 0};

	if (o != NULL && strcmp(field, "roles") != 0)
		json = rt_outline_field_of(o->fields, o->field_count, field);
	return json.ptr != NULL ? json : rt_outline_field_of(in->fields, in->field_count, field);
}

rt_status
rt_config_toml_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
		     rt_buf *out, rt_error *err)
{
	const char *table = NULL;
	rt_scope s;

	(void)options;
	rt_scope_init(&s, alloc);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && rt_ok(&s); i++) {
		rt_str json = value_of(in, places[i].field);

		if (json.ptr == NULL)
			continue;
		if (places[i].table != NULL && table == NULL) {
			rt_buf_add_f(out, "%s[%s]\n", out->size > 0 ? "\n" : "", places[i].table);
			table = places[i].table;
		}
		if (!rt_toml_add_member_text(&s, out, rt_str_of(places[i].key), json) && rt_ok(&s))
			(void)rt_scope_fail(&s, RT_CORRUPT, "the field %s is not JSON",
					    places[i].field);
	}
	(void)rt_scope_note(&s, out->status);
	return rt_scope_end(&s, err);
}
