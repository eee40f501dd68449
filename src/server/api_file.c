/* SPDX-License-Identifier: MIT
 *
 * Files of other programs: export and import. The type of an imported file is found by its
 * content. */
#include "server/api.h"

#include "chat/action_export.h"
#include "formats/formats.h"
#include "formats/redact.h"
#include "llm/keys_host.h"
#include "llm/provider.h"
#include "server/idempotency.h"
#include "server/quota.h"
#include "view/view.h"

/* NULL after a failure: unknown name. */
static const rt_format *
format_named(rt_call *call, rt_str name)
{
	const rt_format *format = rt_format_find(name);

	if (format == NULL)
		rt_scope_fail(&call->scope, RT_USAGE, "there is no format \"%.*s\"",
			      (int)rt_utf8_cut(name, 40), name.ptr);
	return format;
}

/* ---- export ---- */

typedef struct export {
	rt_call *call;
	rt_scope *scope; /* the call's */
	const rt_format *format;
	rt_export_options options;
	const rt_project *project;
	bool whole_project, is_past;
	bool has_every; /* all discussions */
	bool is_redacted, has_emails, is_dry; /* is_dry: only report what would be hidden */
	rt_str disc, take;
} export;

static const char *
media_type(const rt_format *format, bool is_lines)
{
	if (is_lines)
		return "application/x-ndjson";
	return format->media_type != NULL ? format->media_type : "text/plain; charset=utf-8";
}

static void
read_query(export *e)
{
	rt_call *call = e->call;
	rt_str name = rt_call_text(call, "format");

	e->take = rt_call_text(call, "take");
	e->options.whole = rt_call_flag(call, "all");
	e->options.lossless = rt_call_flag(call, "lossless");
	e->options.lines = rt_call_flag(call, "lines");
	e->is_redacted = rt_call_flag(call, "redact");
	e->has_emails = rt_call_flag(call, "emails");
	e->is_dry = rt_call_flag(call, "dry_run");
	e->has_every = rt_call_flag(call, "all_discussions");
	e->disc = rt_call_param(call, "discussion");
	if (e->disc.size == 0)
		e->disc = rt_call_text(call, "discussion");
	if (e->has_every && (e->disc.size > 0 || e->take.size > 0))
		rt_scope_fail(e->scope, RT_USAGE,
			      "all_discussions cannot be combined with discussion or take");
	rt_call_hint(call, "Formats: GET " RT_API_ROOT "/info");
	if ((e->is_dry || e->has_emails) && !e->is_redacted)
		rt_scope_fail(e->scope, RT_USAGE, "\"%s\" requires \"redact\"",
			      e->is_dry ? "dry_run" : "emails");
	e->format = name.size == 0 ? &rt_format_canonical : format_named(call, name);
	if (e->format != NULL && e->format->write == NULL)
		rt_scope_fail(e->scope, RT_USAGE, "Retake can import %s, but not export it",
			      e->format->name);
	rt_call_hint(call, NULL);
}

static void
redact(export *e, rt_outlines *outlines)
{
	rt_scope *s = e->scope;
	const rt_config *config = rt_project_pool_get_options(e->call->pool)->config;
	rt_secret_options options = {.has_emails = e->has_emails};
	rt_redaction found;
	rt_str *keys = NULL;

	RT_TRY(s, rt_keys_at_hand(config, s->alloc, outlines->arena, &keys, &options.given_count,
				  &s->error));
	options.given = keys;
	rt_redaction_init(&found, s->alloc);
	RT_TRY(s, rt_redact(s->alloc, outlines, &options, &found, &s->error));
	if (rt_ok(s) && e->is_dry)
		rt_redaction_add_json(&e->call->answer->body, &found);
	rt_redaction_deinit(&found);
}

/* All takes are written; for readers of one take it is this one, at its end. */
static void
begin_with(export *e, rt_place place, rt_outline *outline)
{
	rt_scope *s = e->scope;
	const rt_disc *disc = NULL;

	RT_TRY(s, rt_project_disc(e->project, place.disc, &disc, &s->error));
	if (!rt_ok(s) || place.take == disc->active)
		return;
	rt_str name = rt_text_str(rt_disc_take(disc, place.take)->name);
	for (size_t i = 0; i < outline->take_count; i++) {
		const rt_outline_take *take = &outline->takes[i];

		if (!rt_str_eq(take->name, name))
			continue;
		outline->active_take = i;
		outline->head = take->node_count > 0 ? take->nodes[take->node_count - 1] : -1;
	}
}

static void
close_outlines(void *outlines)
{
	rt_outlines_deinit(outlines);
}

static void
write_file(export *e, rt_str by)
{
	rt_call *call = e->call;
	rt_scope *s = e->scope;
	rt_apply_context with = rt_open_project_context(call->open_project, by, call->notes);
	rt_action_file file = {.format = e->format};
	rt_outlines *outlines = rt_scope_get(s, sizeof(*outlines));
	rt_place named = {0, 0};

	RT_TRY(s, rt_resolve_place(e->project, e->disc, e->take, &named, &s->error));
	if (!rt_ok(s))
		return;
	rt_place place = named;
	if (e->take.size == 0 || e->options.whole)
		place.take = 0;
	if (!e->is_past)
		file.sent = rt_provider_of_export(e->format);
	rt_outlines_init(outlines);
	rt_scope_defer(s, close_outlines, outlines);
	RT_TRY(s, rt_action_export(call->open_project->engine, &with, &file, e->project, place,
				   e->whole_project, outlines, &s->error));
	if (rt_ok(s) && e->format->holds_one && outlines->count > 1)
		rt_scope_fail(s, RT_USAGE, "a file of %s can contain only one conversation, not %zu", e->format->name,
			      outlines->count);
	if (rt_ok(s) && e->options.whole && e->take.size > 0 && outlines->count == 1)
		begin_with(e, named, &outlines->items[0]);
	if (e->is_redacted && rt_ok(s))
		redact(e, outlines);
	if (!e->is_dry)
		RT_TRY(s, e->format->write(s->alloc, outlines, &e->options, &call->answer->body,
					   &s->error));
}

/* How many bytes of the name one character of a file name replaces; '\0': unchanged. */
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
	*out = '_'; /* U+2000 to U+207F, where the signs are that reverse the order of a text */
	return 3;
}

void
rt_api_add_disposition(rt_buf *out, rt_str name, const char *extension)
{
	bool has_more = false;
	char plain;

	name.size = rt_utf8_cut(name, 80);
	rt_buf_add_c(out, "attachment; filename=\"");
	for (size_t at = 0; at < name.size;) {
		at += name_step(name, at, &plain);
		has_more = has_more || plain == '\0';
		rt_buf_add_byte(out, plain != '\0' ? plain : '_');
	}
	rt_buf_add_f(out, "%s%s\"", name.size == 0 ? "retake" : "", extension);
	if (!has_more)
		return;
	rt_buf_add_c(out, "; filename*=UTF-8''");
	for (size_t at = 0; at < name.size;) {
		size_t from = at;

		at += name_step(name, at, &plain);
		if (plain != '\0')
			rt_buf_add_byte(out, plain);
		else
			rt_buf_add_f(out, "%%%02X", (unsigned char)name.ptr[from]);
	}
	rt_buf_add_c(out, extension);
}

/* The title of the discussion; empty: the file contains all, or hides names. */
static rt_str
file_name(const export *e)
{
	rt_place place = {0, 0};

	if (e->whole_project || e->is_redacted ||
	    rt_resolve_place(e->project, e->disc, e->take, &place, NULL) != RT_OK)
		return rt_str_at(NULL, 0);
	rt_view view = {e->scope, e->call->open_project->engine, e->project, place};
	return rt_disc_title(&view, place.disc != 0 ? place.disc : e->project->active);
}

void
rt_api_export(rt_call *call)
{
	rt_scope *s = &call->scope;
	export e = {.call = call, .scope = s};
	rt_str by = rt_call_actor(call);

	read_query(&e);
	uint64_t at_op = rt_call_number(call, "at_op", UINT64_MAX);
	e.is_past = at_op != UINT64_MAX;
	e.project = rt_call_value_at(call, at_op);
	if (!rt_ok(s))
		return;
	e.whole_project = e.has_every ||
			  (e.format->holds_project && e.disc.size == 0 && e.take.size == 0);
	e.options.whole = e.options.whole || (e.whole_project && e.format->holds_project);
	write_file(&e, by);
	if (!rt_ok(s) || e.is_dry)
		return;
	rt_buf *disposition = rt_scope_buf(s);
	rt_api_add_disposition(disposition, file_name(&e), e.format->extension);
	rt_call_header(call, "Content-Disposition", rt_scope_str(s, disposition));
	call->answer->type = media_type(e.format, e.options.lines);
}

/* ---- import ---- */

typedef struct import {
	rt_call *call;
	rt_scope *scope; /* the call's */
	rt_input in;
	rt_action_file file;
	rt_action_import_options options;
	rt_report report;
	rt_action_scan scan;
	rt_import_result result;
} import;

static void
put_result(rt_buf *buf, const import *i)
{
	const rt_import_result *result = &i->result;

	rt_json_open(buf, NULL, '{');
	rt_json_put_c(buf, "format", i->file.format->name);
	rt_import_result_put(buf, result);
	rt_report_put(buf, &i->report);
	rt_json_put_bool(buf, "dry_run", i->options.dry_run);
	rt_json_put_u64(buf, "seq", result->seq);
	if (result->discussion[0] != '\0')
		rt_json_put_c(buf, "discussion", result->discussion);
	if (i->scan.name != NULL)
		rt_json_put_str(buf, "name", rt_text_str(i->scan.name));
	rt_report_put_remarks(buf, &i->report);
	rt_json_close(buf, '}');
}

/* The given format, or the one detected from the beginning of the file. */
static void
find_format(import *i, rt_str name)
{
	rt_scope *s = i->scope;
	rt_str head = RT_STR("");

	i->file.format = name.size > 0 ? format_named(i->call, name)
				       : rt_format_detect(s, &i->in, &head);
	if (i->file.format == NULL)
		rt_scope_fail(s, RT_USAGE,
			      head.size == 0 ? "the body is empty; send the file as the body"
					: "unrecognised file type");
	else if (i->file.format->read == NULL)
		rt_scope_fail(s, RT_USAGE, "Retake can export %s, but not import it",
			      i->file.format->name);
}

void
rt_api_import(rt_call *call)
{
	rt_scope *s = &call->scope;
	import i = {.call = call, .scope = s};
	rt_str by = rt_call_actor(call), format = rt_call_text(call, "format");

	i.options.name = rt_call_text(call, "name");
	i.options.fallback = rt_call_text(call, "fallback");
	i.options.dry_run = rt_call_flag(call, "dry_run");
	struct rt_idempotency *idem = rt_call_begin(call, RT_STR(""), RT_STR(""));
	if (!rt_ok(s))
		return;
	i.in = call->request->file != NULL ? *call->request->file
					   : rt_input_of(&call->request->body);
	if (call->principal.kind == RT_PRINCIPAL_BROWSER) {
		i.options.discussions_max = RT_IMPORT_BROWSER_DISCUSSIONS;
		i.options.entries_max = RT_IMPORT_BROWSER_ENTRIES;
	}
	rt_use added = {{[RT_QUOTA_BYTES] = i.options.dry_run ? 0 : i.in.size, [RT_QUOTA_ENTRIES] = !i.options.dry_run}};
	rt_call_check_quota(call, &added);
	if (!rt_ok(s))
		return;
	rt_apply_context with = rt_open_project_context(call->open_project, by, call->notes);
	rt_report_init(&i.report, s->alloc);
	rt_call_hint(call, "Formats: GET " RT_API_ROOT "/info");
	find_format(&i, format);
	RT_TRY(s, rt_action_import_scan(s->alloc, &with, &i.file, &i.in, &i.options, &i.scan,
					&i.report, &s->error));
	RT_TRY(s, rt_action_import(call->open_project->engine, &with, &i.file, &i.in, &i.options,
				   &i.scan, &i.result, &s->error));
	if (rt_ok(s)) {
		added.counts[RT_QUOTA_ENTRIES] = i.options.dry_run ? 0 : i.result.entries;
		rt_call_count_use(call, &added);
		put_result(&call->answer->body, &i);
		rt_call_keep(call, idem);
		if (call->open_project->feed != NULL)
			rt_feed_changed(call->open_project->feed);
	}
	rt_action_scan_deinit(&i.scan);
	rt_report_deinit(&i.report);
}
