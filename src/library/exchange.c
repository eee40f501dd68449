/* SPDX-License-Identifier: MIT
 *
 * Export and import: files of other programs. */
#include "library/library_impl.h"
#include "chat/action_export.h"

#include "chat/last_request.h"
#include "codec/json.h"
#include "formats/formats.h"
#include "llm/provider.h"

static const rt_format *
find_format(rt_scope *s, const char *name, bool write)
{
	const rt_format *format = rt_format_find(rt_str_of(name));

	if (format == NULL)
		rt_scope_fail(s, RT_USAGE, "there is no format \"%.40s\"", name);
	else if (write ? format->write == NULL : format->read == NULL)
		rt_scope_fail(s, RT_USAGE, "%s cannot be %s", format->name,
			      write ? "written" : "read");
	return format;
}

static bool
is_named(const char *name)
{
	return name != NULL && *name != '\0';
}

/* ---- export ---- */

retake_status
retake_export(retake_project *project, const retake_place *place, const char *format_name,
	      const retake_export_options *options, retake_text *out_file, retake_error *error)
{
	retake_export_options own;
	rt_library_call c;
	rt_scope *s = rt_library_begin_view(&c, project, place, out_file);
	const rt_format *format;
	rt_outlines outlines;

	rt_library_require(s, format_name, "format");
	rt_library_options(s, options, &own, sizeof(own), "export options");
	format = rt_ok(s) ? find_format(s, format_name, true) : NULL;
	if (!rt_ok(s))
		return rt_library_end(&c, out_file, error);
	bool whole_project = format->holds_project && !is_named(c.from.discussion) &&
			     !is_named(c.from.take);
	rt_export_options how = {.whole = whole_project || own.whole != 0,
				 .lossless = own.lossless != 0,
				 .lines = own.lines != 0};
	rt_action_file file = {.format = format, .sent = rt_provider_of_export(format)};
	if (!is_named(c.from.take))
		c.at.take = 0;
	rt_outlines_init(&outlines);
	RT_TRY(s, rt_action_export(c.engine, NULL, &file, c.value, c.at, whole_project, &outlines,
				&s->error));
	RT_TRY(s, format->write(s->alloc, &outlines, &how, &c.text, &s->error));
	rt_outlines_deinit(&outlines);
	return rt_library_end(&c, out_file, error);
}

/* ---- import ---- */

static void
add_report(rt_buf *buf, const rt_format *format, const rt_report *report,
	   const rt_import_result *result)
{
	rt_json_open(buf, NULL, '{');
	rt_json_put_c(buf, "format", format->name);
	rt_import_result_put(buf, result);
	rt_report_put(buf, report);
	rt_report_put_remarks(buf, report);
	rt_json_put_u64(buf, "seq", result->seq);
	if (result->discussion[0] != '\0')
		rt_json_put_c(buf, "discussion", result->discussion);
	rt_json_close(buf, '}');
}

static const rt_format *
choose_format(rt_scope *s, rt_str file, const char *name)
{
	rt_input in = rt_input_of(&file);
	const rt_format *format;
	rt_str head;

	if (is_named(name))
		return find_format(s, name, false);
	format = rt_format_detect(s, &in, &head);
	if (format == NULL || format->read == NULL)
		rt_scope_fail(s, RT_USAGE, "the file is %s",
			      file.size == 0 ? "empty" : "of an unrecognised type");
	return format;
}

retake_status
retake_import(retake_project *project, const char *bytes, size_t size,
	      const retake_import_options *options, retake_text *out_report, retake_error *error)
{
	retake_import_options own;
	rt_library_call c;
	rt_scope *s = rt_library_begin_project(&c, project);
	rt_import_result result = {0};
	rt_action_scan scan = {0};
	rt_action_file from = {0};
	rt_report report;
	rt_str file, name;

	rt_library_require(s, out_report, "output parameter for the report");
	rt_library_options(s, options, &own, sizeof(own), "options of import");
	file = rt_library_bytes(s, bytes, size, "file");
	name = rt_library_str(s, own.name, "discussion's name");
	if (rt_ok(s))
		from.format = choose_format(s, file, own.format);
	rt_action_import_options how = {.name = name, .dry_run = own.dry_run != 0};
	rt_input in = rt_input_of(&file);

	rt_report_init(&report, s->alloc);
	RT_TRY(s, rt_action_import_scan(s->alloc, NULL, &from, &in, &how, &scan, &report,
					&s->error));
	RT_TRY(s, rt_action_import(project->engine, NULL, &from, &in, &how, &scan, &result,
				&s->error));
	if (rt_ok(s))
		add_report(&c.text, from.format, &report, &result);
	rt_action_scan_deinit(&scan);
	rt_report_deinit(&report);
	return rt_library_end(&c, out_report, error);
}
