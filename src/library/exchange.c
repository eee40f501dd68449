/* SPDX-License-Identifier: MIT
 *
 * Files of other programs, in and out. */
#include "library/library_impl.h"

#include "codec/json.h"
#include "chat/last_request.h"
#include "formats/formats.h"
#include "llm/provider.h"

static rt_status
find_format(const char *name, bool write, const rt_format **out, rt_error *err)
{
	const rt_format *format = rt_format_find(name);

	if (format == NULL)
		return rt_fail(err, RT_USAGE, "there is no format \"%.40s\"", name);
	if (write ? format->write == NULL : format->read == NULL)
		return rt_fail(err, RT_USAGE, "%s cannot be %s", format->name,
			       write ? "written" : "read");
	*out = format;
	return RT_OK;
}

/* ---- out ---- */

static bool
is_named(const char *name)
{
	return name != NULL && *name != '\0';
}

/* These hold a whole project, and are given one unless a part of it is named. */
static bool
holds_project(const rt_format *format)
{
	return strcmp(format->name, "canonical") == 0 || strcmp(format->name, "toml") == 0 ||
	       strcmp(format->name, "html") == 0;
}

retake_status
retake_export(retake_project *project, const retake_place *place, const char *format_name,
	      const retake_export_options *options, retake_text *out_file, retake_error *error)
{
	const rt_format *format = NULL;
	rt_export_options how = {0};
	rt_action_file file = {.format = NULL};
	retake_export_options own;
	rt_outlines outlines;
	rt_library_look l;
	bool project_too;
	rt_status st = rt_library_look_begin(&l, project, place, out_file);

	if (st == RT_OK)
		st = rt_library_given(format_name, "format", &l.error);
	if (st == RT_OK)
		st = rt_library_options(options, sizeof(own), &own, sizeof(own),
					"options of export", &l.error);
	if (st == RT_OK)
		st = find_format(format_name, true, &format, &l.error);
	if (st == RT_OK) {
		project_too = holds_project(format) && !is_named(l.from.discussion) &&
			      !is_named(l.from.take);
		how.whole = project_too || own.whole != 0;
		how.lossless = own.lossless != 0;
		how.lines = own.lines != 0;
		if (!is_named(l.from.take))
			l.place.take = 0;
		rt_outlines_init(&outlines);
		file.format = format;
		file.sent = format->writes_sent ? rt_provider_named(RT_STR("anthropic")) : NULL;
		st = rt_action_export(l.engine, NULL, &file, l.value, l.place, project_too,
				      &outlines, &l.error);
		if (st == RT_OK)
			st = format->write(rt_engine_alloc(l.engine), &outlines, &how, &l.buf,
					   &l.error);
		rt_outlines_deinit(&outlines);
	}
	return rt_library_look_end(&l, st, out_file, error);
}

/* ---- in ---- */

static const char *
level_word(rt_remark_level level)
{
	switch (level) {
	case RT_REMARK_REPAIRED: return "repaired";
	case RT_REMARK_SKIPPED: return "skipped";
	case RT_REMARK_NOTE: break;
	}
	return "note";
}

static void
add_report(rt_buf *buf, const rt_format *format, const rt_report *report,
	   const rt_import_result *result)
{
	size_t i;

	rt_buf_add_f(buf,
		     "{\"format\":\"%s\",\"discussions\":%zu,\"entries\":%zu,\"takes\":%zu,"
		     "\"known\":%zu,\"settings\":%zu,\"repaired\":%zu,\"skipped\":%zu,"
		     "\"noted\":%zu,\"remarks\":[",
		     format->name, result->discussions, result->entries, result->takes,
		     result->known, result->settings, report->repaired, report->skipped,
		     report->noted);
	for (i = 0; i < report->remark_count; i++) {
		const rt_remark *remark = &report->remarks[i];
		rt_str text = rt_str_of(remark->text);

		rt_json_add_comma(buf);
		rt_buf_add_f(buf,
			     "{\"level\":\"%s\",\"line\":%llu,\"text\":", level_word(remark->level),
			     (unsigned long long)remark->line);
		rt_json_add_string(buf, rt_str_at(text.ptr, rt_utf8_valid_size(text)));
		rt_buf_add_byte(buf, '}');
	}
	rt_buf_add_c(buf, "],\"seq\":");
	rt_buf_add_u64(buf, result->seq);
	if (result->discussion[0] != '\0') {
		rt_json_add_key(buf, "discussion");
		rt_json_add_string(buf, rt_str_of(result->discussion));
	}
	rt_buf_add_byte(buf, '}');
}

static rt_status
choose_format(rt_str file, const char *name, const rt_format **out, rt_error *err)
{
	if (is_named(name))
		return find_format(name, false, out, err);
	*out = rt_format_sniff(file);
	if (*out == NULL || (*out)->read == NULL)
		return rt_fail(err, RT_USAGE, "the file is %s",
			       file.size == 0 ? "empty" : "of an unrecognised type");
	return RT_OK;
}

static rt_status
import(retake_project *project, rt_str file, const retake_import_options *options, rt_str name,
       rt_buf *buf, rt_error *err)
{
	const rt_alloc *alloc = project->store->alloc;
	rt_action_import_options how = {.name = name, .dry_run = options->dry_run != 0};
	rt_input in = rt_input_of(&file);
	rt_import_result result = {0};
	rt_action_file from = {0};
	rt_action_scan looked = {0};
	rt_report report;
	rt_status st;

	rt_report_init(&report, alloc);
	st = choose_format(file, options->format, &from.format, err);
	if (st == RT_OK)
		st = rt_action_import_scan(alloc, NULL, &from, &in, &how, &looked, &report, err);
	if (st == RT_OK)
		st = rt_action_import(project->engine, NULL, &from, &in, &how, &looked, &result,
				      err);
	if (st == RT_OK)
		add_report(buf, from.format, &report, &result);
	rt_action_scan_deinit(&looked);
	rt_report_deinit(&report);
	return st;
}

retake_status
retake_import(retake_project *project, const char *bytes, size_t size,
	      const retake_import_options *options, retake_text *out_report, retake_error *error)
{
	rt_str file = rt_str_of(NULL), name = file;
	retake_import_options own;
	rt_error err = {0};
	rt_buf buf;
	rt_status st = rt_library_given(project, "project", &err);

	rt_library_buf_init(&buf);
	if (st == RT_OK)
		st = rt_library_given(out_report, "place for the report", &err);
	if (st == RT_OK)
		st = rt_library_options(options, sizeof(own), &own, sizeof(own),
					"options of import", &err);
	if (st == RT_OK)
		st = rt_library_bytes(bytes, size, "file", &file, &err);
	if (st == RT_OK)
		st = rt_library_str(own.name, "discussion's name", &name, &err);
	if (st == RT_OK)
		st = import(project, file, &own, name, &buf, &err);
	st = rt_library_give(&buf, st, out_report, &err);
	return rt_library_end(st, &err, error);
}
