/* SPDX-License-Identifier: MIT
 *
 * Changes: the requests of a command, carried out together, and one line about the result: what
 * changed, its step, how to undo it. */
#include "cli/cli.h"
#include "chat/lint.h"

#include <stdarg.h>
#include <stdio.h>

void
rt_old_change_init(rt_cli *cli, rt_old_change *change)
{
	*change = (rt_old_change){.cli = cli};
	rt_scope_init(&change->scope, cli->alloc);
	change->extra = rt_scope_buf(&change->scope);
}

void
rt_old_change_deinit(rt_old_change *change)
{
	for (size_t i = 0; change->results != NULL && i < change->count; i++)
		rt_result_deinit(&change->results[i]);
	change->results = NULL;
	rt_scope_deinit(&change->scope);
}

void
rt_old_change_add(rt_old_change *change, const rt_request *request)
{
	if (change->count == change->room) {
		size_t room = change->room == 0 ? 4 : change->room * 2;
		rt_request *more = rt_scope_array(&change->scope, room, sizeof(*more));

		if (more == NULL)
			return;
		if (change->count > 0)
			memcpy(more, change->requests, change->count * sizeof(*more));
		change->requests = more;
		change->room = room;
	}
	change->requests[change->count++] = *request;
}

rt_str
rt_old_change_entry(rt_old_change *change, const char *address)
{
	rt_scope *s = &change->scope;
	char room[RT_ID_ROOM];
	rt_str plain = {NULL, 0};

	change->address = address;
	if (rt_ok(s)) {
		rt_status st = rt_old_address(change->cli, address, room, &plain);

		if (st != RT_OK)
			s->error = change->cli->error;
		(void)rt_scope_note(s, st);
	}
	return rt_scope_copy(s, plain);
}

static void
free_doc(void *item)
{
	rt_json_free(item);
}

yyjson_val *
rt_old_change_value(rt_old_change *change, rt_str json)
{
	rt_scope *s = &change->scope;
	rt_json_doc *doc = NULL;

	RT_TRY(s, rt_json_read(s->alloc, json, &doc, &s->error));
	rt_scope_defer(s, free_doc, doc);
	return rt_ok(s) ? rt_json_root(doc) : NULL;
}

/* Words of the command line may be any bytes. */
static rt_status
check_utf8(rt_cli *cli, const rt_request *request)
{
	for (const rt_op_field *f = rt_ops[request->op].fields; f->name != NULL; f++) {
		const void *member = (const char *)request + f->offset;
		rt_str text = {NULL, 0};

		if (f->type == RT_FIELD_STRING || f->type == RT_FIELD_ADDRESS)
			text = *(const rt_str *)member;
		else if (f->type == RT_FIELD_CONTENT)
			text = ((const rt_content *)member)->text;
		else if (f->type == RT_FIELD_MOMENT)
			text = ((const rt_time_text *)member)->text;
		if (rt_utf8_valid_size(text) != text.size)
			return rt_old_fail(cli, RT_USAGE, "the text is not UTF-8 (at byte %zu)",
					   rt_utf8_valid_size(text));
	}
	return RT_OK;
}

static bool
is_about(const rt_old_change *change, const char *family)
{
	return change->count > 0 &&
	       rt_str_starts(rt_str_of(rt_ops[change->requests[0].op].name), rt_str_of(family));
}

/* Where to look for what was not found. */
static void
hint_failure(rt_old_change *change, rt_status st)
{
	rt_cli *cli = change->cli;

	if (cli->session.hint[0] != 0)
		return;
	if (change->address != NULL && (strstr(cli->error.text, "no entry matches") != NULL ||
					strstr(cli->error.text, "is the label of") != NULL)) {
		rt_old_hint_entry(cli, change->address, st);
		if (cli->session.hint[0] != 0)
			return;
	}
	if (st == RT_NOT_FOUND || st == RT_REFUSED) {
		if (is_about(change, "take."))
			rt_old_hint(cli, st, "Takes: retake takes   Entries: retake show");
		else if (is_about(change, "discussion."))
			rt_old_hint(cli, st, "Discussions: retake ls");
		else if (is_about(change, "role."))
			rt_old_hint(cli, st, "Roles: retake roles");
		else if (is_about(change, "preset."))
			rt_old_hint(cli, st, "Presets: retake preset");
		else if (is_about(change, "jump") || is_about(change, "revert") ||
			 is_about(change, "undo") || is_about(change, "redo"))
			rt_old_hint(cli, st, "Steps: retake history");
	}
}

/* A warning, and the command that mends it. */
static void
warn(void *ctx, const rt_lint *advice)
{
	rt_cli *cli = ctx;
	rt_str op = advice->repair;

	if (rt_str_find(op, RT_STR("entry.merge"), 0) != SIZE_MAX)
		rt_cli_note(cli, "%.*s; to join them: retake merge %s", RT_STR_ARG(advice->words),
			    advice->entry);
	else if (rt_str_find(op, RT_STR("entry.mute"), 0) != SIZE_MAX)
		rt_cli_note(cli, "%.*s; to leave it out: retake mute %s", RT_STR_ARG(advice->words),
			    advice->entry);
	else
		rt_cli_note(cli, "%.*s", RT_STR_ARG(advice->words));
}

/* What a change breaks and what it costs, before it is made (E14, M9). For people only: programs
 * see it in what they send. */
static rt_status
advise(rt_old_change *change)
{
	enum { WORTH_TELLING = 1000 };
	rt_cli *cli = change->cli;
	size_t resent = 0;
	rt_status st;

	if (cli->quiet || cli->json || cli->session.is_scratch || cli->out.kept)
		return RT_OK;
	st = rt_engine_lint(cli->session.engine, change->requests, change->count,
			    rt_session_discussion(&cli->session), rt_session_take(&cli->session),
			    warn, cli, &resent, &cli->error);
	if (st == RT_OK && resent >= WORTH_TELLING)
		rt_cli_note(cli, "the next request sends about %zu tokens anew that the provider may "
				 "have cached", resent);
	return st;
}

static rt_status
carry_out(rt_old_change *change)
{
	rt_cli *cli = change->cli;
	rt_status st;

	change->results =
		rt_scope_array(&change->scope, change->count, sizeof(*change->results));
	if (change->results == NULL)
		return rt_old_nomem(cli);
	st = rt_apply(cli->session.engine, rt_session_hooks_begin(&cli->session), change->requests,
		      change->count, change->count > 1, rt_session_discussion(&cli->session),
		      rt_session_take(&cli->session), change->results);
	rt_session_hooks_end(&cli->session);
	change->result = &change->results[change->count - 1];
	/* The first failure is the cause; in a batch the others only repeat it. */
	for (size_t i = 0; st != RT_OK && i < change->count; i++)
		if (change->results[i].status == st) {
			cli->error = change->results[i].error;
			break;
		}
	return st;
}

rt_status
rt_old_change_run(rt_old_change *change)
{
	rt_cli *cli = change->cli;
	const rt_project *now;
	uint64_t before;
	rt_status st;

	if (!rt_ok(&change->scope)) {
		cli->error = change->scope.error;
		return change->scope.status;
	}
	RT_ASSERT(change->count > 0);
	if (rt_cli_has(cli, "at-op"))
		return rt_old_fail(cli, RT_USAGE,
				   "the past cannot be changed; --at-op is for looking");
	st = rt_old_open(cli, RT_SESSION_CHANGE);
	if (st != RT_OK) {
		hint_failure(change, st);
		return st;
	}
	before = cli->session.value->seq;
	st = rt_cli_short_of_memory(cli) ? rt_old_nomem(cli) : RT_OK;
	for (size_t i = 0; st == RT_OK && i < change->count; i++)
		st = check_utf8(cli, &change->requests[i]);
	if (st == RT_OK)
		st = advise(change);
	if (st == RT_OK)
		st = carry_out(change);
	/* A purge may be on disk although the cleanup after it failed. */
	now = rt_engine_value(cli->session.engine);
	cli->changed = cli->changed || now->seq != before;
	rt_object_unref(now);
	if (st != RT_OK) {
		hint_failure(change, st);
		return st;
	}
	/* A change may have removed what -d or --take named; that is no failure. */
	st = rt_old_look(cli);
	if (st == RT_NOMEM || st == RT_IO)
		rt_cli_output_lost(cli, st);
	if (st != RT_OK) {
		cli->session.hint[0] = 0;
		cli->session.place = (rt_place){0, 0};
	}
	return RT_OK;
}

rt_status
rt_old_change_one(rt_old_change *change, const rt_request *request)
{
	rt_old_change_add(change, request);
	return rt_old_change_run(change);
}

static rt_status
say_json(rt_old_change *change)
{
	rt_status st;
	rt_buf buf;

	rt_buf_init(&buf, change->cli->alloc, RT_BUF_UNLIMITED);
	rt_result_add_json(&buf, change->result);
	if (change->extra->size > 0 && buf.size > 0 && buf.ptr[buf.size - 1] == '}') {
		buf.size--;
		rt_buf_add_str(&buf, rt_buf_str(change->extra));
		rt_buf_add_byte(&buf, '}');
	}
	st = rt_old_buf(change->cli, &buf);
	if (st == RT_OK)
		st = rt_old_print_json(change->cli, rt_buf_str(&buf));
	rt_buf_deinit(&buf);
	return st;
}

/* "retake undo" with the flags that make it take back this step, whichever discussion it is
 * in. A discussion that -d named may not be there under that name any more. */
static void
add_undo(rt_old_change *change, rt_buf *out)
{
	rt_cli *cli = change->cli;
	uint32_t disc = change->result->undo_disc;
	const rt_cell *cell;
	rt_buf name;

	if (disc == 0 && cli->session.place.disc == 0 &&
	    rt_cli_flag_value(cli, "discussion") != NULL)
		disc = cli->session.value->active;
	if (disc == 0 || disc == cli->session.place.disc) {
		rt_cli_add_retake(cli, out);
	} else {
		cell = rt_project_cell(cli->session.value, disc);
		rt_cli_add_retake_project(cli, out);
		rt_buf_init(&name, cli->alloc, RT_BUF_UNLIMITED);
		if (cell != NULL && cell->present)
			rt_buf_add_str(&name, rt_cell_name(cell));
		else
			rt_buf_add_f(&name, "d%u", disc);
		rt_buf_add_byte(&name, '\0');
		rt_buf_add_c(out, " -d ");
		if (rt_old_buf(cli, &name) == RT_OK)
			rt_args_add_quoted(out, name.ptr);
		rt_buf_deinit(&name);
	}
	rt_buf_add_c(out, " undo");
}

static rt_status
say(rt_old_change *change, const char *format, va_list args)
{
	rt_cli *cli = change->cli;
	rt_scope *s = &change->scope;
	rt_buf *text, *undo;
	va_list again;
	int size;

	if (cli->json)
		return say_json(change);
	if (cli->quiet)
		return RT_OK;
	text = rt_scope_buf(s);
	va_copy(again, args);
	size = vsnprintf(NULL, 0, format, args);
	if (size > 0 && rt_buf_reserve(text, (size_t)size + 1) != NULL) {
		vsnprintf(text->ptr, (size_t)size + 1, format, again);
		text->size = (size_t)size;
	}
	va_end(again);
	if (change->result->unchanged) {
		rt_term_c(&cli->out, "Nothing to change: it is so already.\n");
	} else {
		undo = rt_scope_buf(s);
		add_undo(change, undo);
		rt_cli_say(cli, rt_buf_str(text), "step %llu - undo: %s",
			   (unsigned long long)change->result->seq,
			   undo->ptr == NULL ? "" : undo->ptr);
	}
	if (change->result->note != NULL)
		rt_term_indented(&cli->out, rt_text_str(change->result->note), 2);
	return rt_old_buf(cli, text);
}

rt_status
rt_old_change_say(rt_old_change *change, const char *format, ...)
{
	va_list args;
	rt_status st;

	va_start(args, format);
	st = say(change, format, args);
	va_end(args);
	return st;
}

rt_status
rt_old_do(rt_cli *cli, const rt_request *request, const char *format, ...)
{
	rt_old_change change;
	va_list args;
	rt_status st;

	rt_old_change_init(cli, &change);
	st = rt_old_change_one(&change, request);
	va_start(args, format);
	if (st == RT_OK)
		st = say(&change, format, args);
	va_end(args);
	rt_old_change_deinit(&change);
	return st;
}



static rt_status
old(rt_cli *cli)
{
	char hint[RT_SESSION_HINT_SIZE];
	rt_status st;

	memcpy(hint, cli->session.hint, sizeof(hint));
	st = rt_cli_recover(cli, &cli->error);
	memcpy(cli->session.hint, hint, sizeof(hint));
	return st;
}
rt_status
rt_old_fail(rt_cli *cli, rt_status status, const char *format, ...)
{
	va_list ap;

	cli->error.status = status;
	cli->error.has_at = 0;
	cli->error.line = 0;
	va_start(ap, format);
	vsnprintf(cli->error.text, sizeof(cli->error.text), format, ap);
	va_end(ap);
	return status;
}
rt_status
rt_old_hint(rt_cli *cli, rt_status status, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(cli->session.hint, sizeof(cli->session.hint), format, ap);
	va_end(ap);
	return status;
}
rt_status rt_old_keep(rt_cli *cli, rt_status status, const char *path) { cli->draft = rt_scope_copy(&cli->s, rt_str_of(path)).ptr; return status; }
rt_status rt_old_nomem(rt_cli *cli) { return rt_old_fail(cli, RT_NOMEM, "out of memory"); }
rt_status
rt_old_buf(rt_cli *cli, const rt_buf *buf)
{
	if (buf->status == RT_OK)
		return RT_OK;
	if (buf->status == RT_NOMEM)
		return rt_old_nomem(cli);
	return rt_old_fail(cli, buf->status, "that is more than the limit of %zu bytes", buf->limit);
}
rt_status rt_old_confirm(rt_cli *cli, const char *question) { rt_cli_confirm(cli, question); return old(cli); }
rt_status rt_old_number(rt_cli *cli, const char *text, const char *what, uint64_t *out) { uint64_t n = rt_cli_number(cli, text, what); rt_status st = old(cli); if (st == RT_OK) *out = n; return st; }
rt_status rt_old_text(rt_cli *cli, size_t index, rt_buf *out, bool *given) { rt_str t = rt_cli_text(cli, index); *given = t.ptr != NULL; rt_status st = old(cli); if (st == RT_OK) rt_buf_add_str(out, t); return st; }
rt_status rt_old_config(rt_cli *cli, const rt_config **out) { *out = rt_cli_config(cli); return old(cli); }
rt_status rt_old_find_store(rt_cli *cli) { rt_cli_find_store(cli); return old(cli); }
rt_status rt_old_open_store(rt_cli *cli, rt_session_mode m) { rt_cli_open_store(cli, m); return old(cli); }
rt_status rt_old_open(rt_cli *cli, rt_session_mode m) { rt_cli_open(cli, m); return old(cli); }
rt_status rt_old_look(rt_cli *cli) { rt_cli_look(cli); return old(cli); }
rt_status rt_old_disc(rt_cli *cli, const rt_disc **out) { *out = rt_cli_disc(cli); return old(cli); }
rt_status rt_old_take(rt_cli *cli, const rt_take **out) { *out = rt_cli_take(cli); return old(cli); }
rt_status rt_old_address(rt_cli *cli, const char *a, char room[RT_ID_ROOM], rt_str *out)
{ *out = rt_cli_address(cli, a); rt_status st = old(cli); if (st == RT_OK && out->ptr != a) { snprintf(room, RT_ID_ROOM, "%s", out->ptr); *out = rt_str_of(room); } return st; }
void rt_old_hint_entry(rt_cli *cli, const char *a, rt_status st) { cli->error.status = st; rt_cli_hint_entry(cli, a, &cli->error); }
rt_status rt_old_entry(rt_cli *cli, const char *a, bool whole, uint32_t *out) { uint32_t e = rt_cli_entry(cli, a, whole); rt_status st = old(cli); if (st == RT_OK) *out = e; return st; }
rt_status rt_old_position(rt_cli *cli, const char *a, size_t *at, rt_slot *slot) { size_t p = rt_cli_position(cli, a, slot); rt_status st = old(cli); if (st == RT_OK) *at = p; return st; }
rt_status rt_old_range(rt_cli *cli, const char *r, size_t *f, size_t *l) { rt_cli_span s = rt_cli_range(cli, r); rt_status st = old(cli); if (st == RT_OK) { *f = s.first; *l = s.last; } return st; }
rt_status rt_old_id_at(rt_cli *cli, size_t at, char room[RT_ID_ROOM]) { const char *id = rt_cli_id_at(cli, at); snprintf(room, RT_ID_ROOM, "%s", id); return old(cli); }
void rt_old_view_init(rt_cli *cli, rt_old_view *view) { memset(view, 0, sizeof(*view)); rt_buf_init(&view->buf, cli->alloc, RT_BUF_UNLIMITED); }
void rt_old_view_deinit(rt_old_view *view) { rt_json_free(view->doc); view->doc = NULL; view->root = NULL; rt_buf_deinit(&view->buf); }
rt_status
rt_old_view_read(rt_cli *cli, rt_old_view *view, rt_status status)
{
	if (status == RT_OK)
		status = rt_old_buf(cli, &view->buf);
	if (status == RT_OK)
		status = rt_json_read(cli->alloc, rt_buf_str(&view->buf), &view->doc, &cli->error);
	if (status == RT_OK)
		view->root = rt_json_root(view->doc);
	return status;
}
#include "view/view.h"
typedef void (*rt_cli_window_fn)(rt_cli *cli, void *ctx, yyjson_val *show, size_t from);
enum { WINDOW = 200 /* entries read at a time */ };

static void
rt_cli_each_window(rt_cli *cli, size_t first, size_t last, rt_cli_window_fn fn, void *ctx)
{
	size_t at = first;
	rt_scope s;

	rt_scope_init(&s, cli->alloc);
	/* Once at least, so that an empty take has its frame. */
	do {
		size_t left = last >= at ? last - at + 1 : 0;
		rt_window window = {at, left < WINDOW ? left : WINDOW, rt_str_of(NULL)};
		rt_buf *json = rt_scope_buf(&s);

		RT_TRY(&s, rt_view_show(cli->session.engine, cli->session.value,
					cli->session.place, &window, json, &s.error));
		yyjson_val *show = rt_json_parse(&s, rt_scope_str(&s, json));

		cli->s.error = rt_ok(&cli->s) ? s.error : cli->s.error;
		if (rt_scope_note(&cli->s, s.status) == RT_OK)
			fn(cli, ctx, show, at);
		rt_scope_reset(&s);
		at += WINDOW;
	} while (rt_ok(&cli->s) && at <= last && last != SIZE_MAX && !cli->out.broken);
	rt_scope_deinit(&s);
}

typedef struct old_window { rt_old_window_fn fn; void *ctx; } old_window;
static void old_fn(rt_cli *cli, void *ctx, yyjson_val *show, size_t from)
{ old_window *w = ctx; rt_status st = w->fn(cli, w->ctx, show, from); if (st != RT_OK) { cli->s.error = cli->error; rt_scope_note(&cli->s, st); } }
rt_status rt_old_each_window(rt_cli *cli, size_t f, size_t l, rt_old_window_fn fn, void *ctx) { old_window w = {fn, ctx}; rt_cli_each_window(cli, f, l, old_fn, &w); return old(cli); }
rt_status rt_old_inflight_report(rt_cli *cli) { rt_cli_inflight_report(cli); return old(cli); }
rt_status rt_old_inflight_add(rt_cli *cli, rt_buf *out, size_t *n) { *n = rt_cli_inflight_add(cli, out); return old(cli); }
rt_status rt_old_print_json(rt_cli *cli, rt_str json) { rt_buf b = {.ptr = (char *)json.ptr, .size = json.size}; rt_cli_print_json(cli, &b); return old(cli); }
void rt_old_add_where(rt_cli *cli, const char *id, rt_buf *out) { rt_buf_add_c(out, rt_cli_where(cli, id)); }
rt_status rt_old_read_file(rt_cli *cli, const char *p, rt_buf *out) { rt_str t = rt_cli_read_file(cli, p); rt_status st = old(cli); if (st == RT_OK) rt_buf_add_str(out, t); return st; }
rt_status rt_old_read_whole_file(rt_cli *cli, const char *p, rt_buf *out) { rt_str t = rt_cli_read_whole_file(cli, p); rt_status st = old(cli); if (st == RT_OK) rt_buf_add_str(out, t); return st; }
rt_status rt_old_write_file(rt_cli *cli, const char *p, rt_str b, rt_files_write_mode m) { rt_cli_write_file(cli, p, b, m); return old(cli); }
static rt_status edit(rt_cli *cli, const char *n, rt_buf *t, rt_buf *p, bool one)
{ rt_str x = rt_cli_edit_text(cli, n, rt_buf_str(t), one); rt_status st = old(cli); if (st == RT_OK) { rt_buf_clear(t); rt_buf_add_str(t, x); rt_buf_add_c(p, cli->draft); cli->draft = NULL; } return st; }
rt_status rt_old_edit_text(rt_cli *cli, const char *n, rt_buf *t, rt_buf *p) { return edit(cli, n, t, p, false); }
rt_status rt_old_edit_one(rt_cli *cli, const char *n, rt_buf *t, rt_buf *p) { return edit(cli, n, t, p, true); }
