/* SPDX-License-Identifier: MIT
 *
 * Files of other programs, in and out. The type of what comes in is found by its content. */
#include "server/api.h"
#include "chat/action_export.h"

#include <stdio.h>

#include "formats/formats.h"
#include "formats/redact.h"
#include "llm/keys_host.h"
#include "llm/provider.h"
#include "server/idempotency.h"

/* Formats that hold a whole project. */
static bool
holds_project(const rt_format *format)
{
	return strcmp(format->name, "canonical") == 0 || strcmp(format->name, "toml") == 0 ||
	       strcmp(format->name, "html") == 0;
}

static const rt_format *
named(rt_str name)
{
	size_t i;

	for (i = 0; rt_formats[i] != NULL; i++)
		if (rt_str_is(name, rt_formats[i]->name))
			return rt_formats[i];
	return NULL;
}

static const char *
type_of(const rt_format *format, bool is_lines)
{
	if (is_lines || strcmp(format->extension, ".jsonl") == 0)
		return "application/x-ndjson";
	if (strcmp(format->extension, ".json") == 0)
		return "application/json";
	if (strcmp(format->extension, ".toml") == 0)
		return "application/toml";
	if (strcmp(format->extension, ".md") == 0)
		return "text/markdown; charset=utf-8";
	if (strcmp(format->extension, ".html") == 0)
		return "text/html; charset=utf-8";
	return "text/plain; charset=utf-8";
}

/* ---- out ---- */

typedef struct sending {
	rt_call *call;
	const rt_format *format;
	rt_export_options options;
	bool whole_project, is_past;
	bool is_redacted, has_emails, is_dry; /* is_dry: only what would be hidden */
	rt_str disc, take;
} sending;

static rt_status
redact(sending *s, rt_outlines *io, rt_error *err)
{
	const rt_alloc *alloc = s->call->request->alloc;
	rt_secret_options options = {.has_emails = s->has_emails};
	rt_redaction found;
	rt_str *keys;
	rt_status st = rt_keys_at_hand(
		rt_project_pool_get_options(s->call->open_project->pool)->config, alloc, io->arena,
		&keys, &options.given_count, err);

	if (st != RT_OK)
		return st;
	options.given = keys;
	rt_redaction_init(&found, alloc);
	st = rt_redact(alloc, io, &options, &found, err);
	if (st == RT_OK && s->is_dry)
		rt_redaction_add_json(&s->call->answer->body, &found);
	rt_redaction_deinit(&found);
	return st;
}

/* All takes are written, and who reads begins with this one, at its end. */
static rt_status
begin_with(const rt_project *project, rt_place place, rt_outline *outline, rt_error *err)
{
	const rt_disc *disc;
	size_t i;
	rt_status st = rt_project_disc(project, place.disc, &disc, err);

	if (st != RT_OK || place.take == disc->active)
		return st;
	for (i = 0; i < outline->take_count; i++) {
		const rt_outline_take *take = &outline->takes[i];

		if (!rt_str_eq(take->name, rt_text_str(rt_disc_take(disc, place.take)->name)))
			continue;
		outline->active_take = i;
		outline->head = take->node_count > 0 ? take->nodes[take->node_count - 1] : -1;
	}
	return RT_OK;
}

static rt_status
put_out(sending *s, const rt_project *project, rt_str by, rt_error *err)
{
	rt_call *call = s->call;
	rt_apply_context with = rt_open_project_context(call->open_project, by, &call->notes);
	rt_action_file file = {.format = s->format};
	rt_place place = {0, 0}, seen;
	rt_outlines outlines;
	rt_status st = rt_resolve_place(project, s->disc, s->take, &place, err);

	if (st != RT_OK)
		return st;
	seen = place;
	if (s->take.size == 0 || s->options.whole)
		place.take = 0;
	if (s->format->writes_sent && !s->is_past)
		file.sent = rt_provider_named(RT_STR("anthropic"));
	rt_outlines_init(&outlines);
	st = rt_action_export(call->open_project->engine, &with, &file, project, place,
			      s->whole_project, &outlines, err);
	if (st == RT_OK && s->options.whole && s->take.size > 0 && outlines.count == 1)
		st = begin_with(project, seen, &outlines.items[0], err);
	if (st == RT_OK && s->is_redacted)
		st = redact(s, &outlines, err);
	if (st == RT_OK && !s->is_dry)
		st = s->format->write(call->request->alloc, &outlines, &s->options,
				      &call->answer->body, err);
	rt_outlines_deinit(&outlines);
	return st;
}

static bool
read_query(sending *s)
{
	rt_call *call = s->call;
	rt_error err;
	rt_str name;
	rt_status st = RT_OK;

	memset(&err, 0, sizeof(err));
	s->disc = rt_call_param(call, "discussion");
	if (!rt_call_text(call, "format", &name) || !rt_call_text(call, "take", &s->take) ||
	    !rt_call_flag(call, "all", &s->options.whole) ||
	    !rt_call_flag(call, "lossless", &s->options.lossless) ||
	    !rt_call_flag(call, "lines", &s->options.lines) ||
	    !rt_call_flag(call, "redact", &s->is_redacted) ||
	    !rt_call_flag(call, "emails", &s->has_emails) ||
	    !rt_call_flag(call, "dry_run", &s->is_dry) ||
	    (s->disc.size == 0 && !rt_call_text(call, "discussion", &s->disc)))
		return false;
	s->format = name.size == 0 ? &rt_format_canonical : named(name);
	if ((s->is_dry || s->has_emails) && !s->is_redacted)
		st = rt_fail(&err, RT_USAGE, "%s is for redact", s->is_dry ? "dry_run" : "emails");
	else if (s->format == NULL)
		st = rt_fail(&err, RT_USAGE, "there is no format \"%.*s\"",
			     (int)rt_utf8_cut(name, 40), name.ptr);
	else if (s->format->write == NULL)
		st = rt_fail(&err, RT_USAGE, "Retake reads %s, but does not write it",
			     s->format->name);
	if (st != RT_OK)
		rt_call_fail(call, &err, "Formats: GET " RT_API_ROOT "/info");
	return st == RT_OK;
}

/* How many bytes of the name stand for one that a name of a file has, and whether as it is. */
static size_t
name_step(rt_str name, size_t at, char *out)
{
	unsigned char byte = (unsigned char)name.ptr[at];

	*out = '\0'; /* beyond ASCII */
	if (byte < 0x80)
		*out = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
				       (byte >= 'A' && byte <= 'Z') || byte == '-'
			       ? (char)byte
		       : byte == ' ' ? '-'
				     : '_';
	if (byte != 0xe2 || at + 2 >= name.size ||
	    ((unsigned char)name.ptr[at + 1] | 1) != 0x81)
		return 1;
	*out = '_'; /* U+2000 to U+207F: signs that turn the order of a text round are among them */
	return 3;
}

/* `attachment; filename="bread.html"`: ASCII, and (RFC 6266) the name itself where it has more.
 * No name may leave its folder, hide, or end as another kind of file. */
static void
add_disposition(rt_buf *out, rt_str name, const char *extension)
{
	bool more = false;
	size_t at = 0;
	char plain;

	name.size = rt_utf8_cut(name, 80);
	rt_buf_add_c(out, "attachment; filename=\"");
	while (at < name.size) {
		at += name_step(name, at, &plain);
		more = more || plain == '\0';
		rt_buf_add_byte(out, plain != '\0' ? plain : '_');
	}
	rt_buf_add_f(out, "%s%s\"", name.size == 0 ? "retake" : "", extension);
	if (!more)
		return;
	rt_buf_add_c(out, "; filename*=UTF-8''");
	for (at = 0; at < name.size;) {
		size_t from = at;

		at += name_step(name, at, &plain);
		if (plain != '\0')
			rt_buf_add_byte(out, plain);
		else
			rt_buf_add_f(out, "%%%02X", (unsigned char)name.ptr[from]);
	}
	rt_buf_add_c(out, extension);
}

/* What the file is about; nothing: all of it, or names are not to be seen. */
static rt_str
name_of(const sending *s, const rt_project *project)
{
	rt_place place = {0, 0};

	if (s->whole_project || s->is_redacted ||
	    rt_resolve_place(project, s->disc, s->take, &place, NULL) != RT_OK)
		return rt_str_at(NULL, 0);
	return rt_cell_name(rt_project_cell(project, place.disc != 0 ? place.disc
								    : project->active));
}

void
rt_api_export(rt_call *call)
{
	sending s = {.call = call};
	const rt_project *project = NULL;
	rt_buf name;
	uint64_t at_op;
	rt_error err;
	rt_str by;
	rt_status st = RT_OK;

	memset(&err, 0, sizeof(err));
	if (!rt_call_by(call, &by) || !read_query(&s) ||
	    !rt_call_number(call, "at_op", UINT64_MAX, &at_op) || !rt_call_value(call, &project))
		return;
	if (at_op != UINT64_MAX) {
		s.is_past = true;
		rt_object_unref(project);
		project = NULL;
		st = rt_engine_value_at(call->open_project->engine, at_op, &project, &err);
	}
	s.whole_project = holds_project(s.format) && s.disc.size == 0 && s.take.size == 0;
	s.options.whole = s.options.whole || s.whole_project;
	rt_buf_init(&name, call->request->alloc, RT_BUF_UNLIMITED);
	if (st == RT_OK)
		st = put_out(&s, project, by, &err);
	if (st == RT_OK)
		add_disposition(&name, name_of(&s, project), s.format->extension);
	rt_object_unref(project);
	if (st == RT_OK && name.status != RT_OK)
		st = rt_fail(&err, name.status, "out of memory");
	if (st != RT_OK) {
		rt_call_fail(call, &err, NULL);
	} else if (s.is_dry) {
		rt_call_done(call, 200);
	} else {
		rt_web_answer_header(call->answer, call->request, "Content-Disposition",
				     rt_buf_str(&name));
		rt_call_done(call, 200);
		if (call->answer->status == 200)
			call->answer->type = type_of(s.format, s.options.lines);
	}
	rt_buf_deinit(&name);
}

/* ---- in ---- */

static const char *
level_word(rt_remark_level level)
{
	return level == RT_REMARK_REPAIRED  ? "repaired"
	       : level == RT_REMARK_SKIPPED ? "skipped"
					    : "note";
}

static void
add_counts(rt_buf *buf, const rt_format *format, const rt_import_result *result,
	   const rt_report *report, bool is_dry)
{
	size_t i;

	rt_buf_add_f(buf,
		     "{\"format\":\"%s\",\"discussions\":%zu,\"entries\":%zu,\"takes\":%zu,"
		     "\"known\":%zu,\"settings\":%zu,\"repaired\":%zu,\"skipped\":%zu,"
		     "\"noted\":%zu,\"dry_run\":%s,\"seq\":%llu",
		     format->name, result->discussions, result->entries, result->takes,
		     result->known, result->settings, report->repaired, report->skipped,
		     report->noted,
		     is_dry ? "true" : "false", (unsigned long long)result->seq);
	if (result->discussion[0] != '\0') {
		rt_json_add_key(buf, "discussion");
		rt_json_add_string(buf, rt_str_of(result->discussion));
	}
	rt_buf_add_c(buf, ",\"remarks\":[");
	for (i = 0; i < report->remark_count; i++) {
		rt_str text = rt_str_of(report->remarks[i].text);

		rt_json_add_comma(buf);
		rt_buf_add_f(buf, "{\"level\":\"%s\",\"line\":%llu,\"text\":",
			     level_word(report->remarks[i].level),
			     (unsigned long long)report->remarks[i].line);
		rt_json_add_string(buf, rt_str_at(text.ptr, rt_utf8_valid_size(text)));
		rt_buf_add_byte(buf, '}');
	}
	rt_buf_add_c(buf, "]}");
}

typedef struct receiving {
	rt_call *call;
	rt_input in;
	rt_action_file file;
	rt_action_import_options options;
	rt_str by;
	rt_report report;
	rt_action_scan looked;
	rt_import_result result;
} receiving;

/* Which format it has, from its beginning alone. */
static rt_status
find_format(receiving *r, rt_str name, rt_error *err)
{
	const rt_alloc *alloc = r->call->request->alloc;
	size_t size = 0;
	char *bytes;
	rt_status st;

	if (name.size > 0) {
		r->file.format = named(name);
		if (r->file.format == NULL)
			return rt_fail(err, RT_USAGE, "there is no format \"%.*s\"",
				       (int)rt_utf8_cut(name, 40), name.ptr);
	} else {
		bytes = rt_new(alloc, RT_INPUT_HEAD);
		if (bytes == NULL)
			return rt_fail(err, RT_NOMEM, "out of memory");
		st = rt_input_head(&r->in, bytes, &size, err);
		if (st == RT_OK)
			r->file.format = rt_format_sniff(rt_str_at(bytes, size));
		rt_free(alloc, bytes);
		if (st != RT_OK)
			return st;
	}
	if (r->file.format == NULL)
		return rt_fail(err, RT_USAGE,
			       size == 0 ? "the body is empty; it is the file"
					 : "the body is a file of an unrecognised type");
	if (r->file.format->read == NULL)
		return rt_fail(err, RT_USAGE, "Retake writes %s, but does not read it",
			       r->file.format->name);
	return RT_OK;
}

static rt_status
bring_in(receiving *r, rt_error *err)
{
	rt_call *call = r->call;
	rt_apply_context with = rt_open_project_context(call->open_project, r->by, &call->notes);
	rt_status st = rt_action_import_scan(call->request->alloc, &with, &r->file, &r->in,
					     &r->options, &r->looked, &r->report, err);

	return st != RT_OK ? st
			   : rt_action_import(call->open_project->engine, &with, &r->file, &r->in,
					      &r->options, &r->looked, &r->result, err);
}

void
rt_api_import(rt_call *call)
{
	receiving r = {.call = call};
	struct rt_idempotency *idem = NULL;
	rt_error err;
	rt_str format;
	rt_status st = RT_OK;

	memset(&err, 0, sizeof(err));
	if (!rt_call_by(call, &r.by) || !rt_call_text(call, "format", &format) ||
	    !rt_call_text(call, "name", &r.options.name) ||
	    !rt_call_flag(call, "dry_run", &r.options.dry_run) ||
	    !rt_call_begin(call, RT_STR(""), RT_STR(""), &idem))
		return;
	r.in = call->request->file != NULL ? *call->request->file
					   : rt_input_of(&call->request->body);
	if (call->principal.kind == RT_PRINCIPAL_BROWSER) {
		r.options.discussions_max = RT_IMPORT_BROWSER_DISCUSSIONS;
		r.options.entries_max = RT_IMPORT_BROWSER_ENTRIES;
	}
	rt_report_init(&r.report, call->request->alloc);
	st = find_format(&r, format, &err);
	if (st == RT_OK)
		st = bring_in(&r, &err);
	if (st == RT_OK) {
		add_counts(&call->answer->body, r.file.format, &r.result, &r.report,
			   r.options.dry_run);
		rt_call_done(call, 200);
		rt_call_keep(call, idem);
		if (call->open_project->feed != NULL)
			rt_feed_changed(call->open_project->feed);
	} else {
		rt_call_fail(call, &err, "Formats: GET " RT_API_ROOT "/info");
	}
	rt_action_scan_deinit(&r.looked);
	rt_report_deinit(&r.report);
}
