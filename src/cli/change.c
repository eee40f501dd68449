/* SPDX-License-Identifier: MIT
 *
 * Changes: the requests of a command, carried out together, and one line about the result: what
 * changed, its step, how to undo it. */
#include "cli/cli.h"
#include "chat/lint.h"

#include <stdarg.h>
#include <stdio.h>

void
rt_cli_change_init(rt_cli *cli, rt_cli_change *change)
{
	*change = (rt_cli_change){.cli = cli};
	rt_scope_init(&change->scope, cli->alloc);
	change->extra = rt_scope_buf(&change->scope);
}

void
rt_cli_change_deinit(rt_cli_change *change)
{
	for (size_t i = 0; change->results != NULL && i < change->count; i++)
		rt_result_deinit(&change->results[i]);
	change->results = NULL;
	rt_scope_deinit(&change->scope);
}

void
rt_cli_change_add(rt_cli_change *change, const rt_request *request)
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
rt_cli_change_entry(rt_cli_change *change, const char *address)
{
	rt_scope *s = &change->scope;
	char room[RT_ID_ROOM];
	rt_str plain = {NULL, 0};

	change->address = address;
	if (rt_ok(s)) {
		rt_status st = rt_cli_address(change->cli, address, room, &plain);

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
rt_cli_change_value(rt_cli_change *change, rt_str json)
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
			return rt_cli_fail(cli, RT_USAGE, "the text is not UTF-8 (at byte %zu)",
					   rt_utf8_valid_size(text));
	}
	return RT_OK;
}

static bool
is_about(const rt_cli_change *change, const char *family)
{
	return change->count > 0 &&
	       rt_str_starts(rt_str_of(rt_ops[change->requests[0].op].name), rt_str_of(family));
}

/* Where to look for what was not found. */
static void
hint_failure(rt_cli_change *change, rt_status st)
{
	rt_cli *cli = change->cli;

	if (cli->session.hint[0] != 0)
		return;
	if (change->address != NULL && (strstr(cli->error.text, "no entry matches") != NULL ||
					strstr(cli->error.text, "is the label of") != NULL)) {
		rt_cli_hint_entry(cli, change->address, st);
		if (cli->session.hint[0] != 0)
			return;
	}
	if (st == RT_NOT_FOUND || st == RT_REFUSED) {
		if (is_about(change, "take."))
			rt_cli_hint(cli, st, "Takes: retake takes   Entries: retake show");
		else if (is_about(change, "discussion."))
			rt_cli_hint(cli, st, "Discussions: retake ls");
		else if (is_about(change, "role."))
			rt_cli_hint(cli, st, "Roles: retake roles");
		else if (is_about(change, "preset."))
			rt_cli_hint(cli, st, "Presets: retake preset");
		else if (is_about(change, "jump") || is_about(change, "revert") ||
			 is_about(change, "undo") || is_about(change, "redo"))
			rt_cli_hint(cli, st, "Steps: retake history");
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
advise(rt_cli_change *change)
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
carry_out(rt_cli_change *change)
{
	rt_cli *cli = change->cli;
	rt_status st;

	change->results =
		rt_scope_array(&change->scope, change->count, sizeof(*change->results));
	if (change->results == NULL)
		return rt_cli_nomem(cli);
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
rt_cli_change_run(rt_cli_change *change)
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
		return rt_cli_fail(cli, RT_USAGE,
				   "the past cannot be changed; --at-op is for looking");
	st = rt_cli_open(cli, RT_SESSION_CHANGE);
	if (st != RT_OK) {
		hint_failure(change, st);
		return st;
	}
	before = cli->session.value->seq;
	st = rt_cli_short_of_memory(cli) ? rt_cli_nomem(cli) : RT_OK;
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
	st = rt_cli_look(cli);
	if (st == RT_NOMEM || st == RT_IO)
		rt_cli_output_lost(cli, st);
	if (st != RT_OK) {
		cli->session.hint[0] = 0;
		cli->session.place = (rt_place){0, 0};
	}
	return RT_OK;
}

rt_status
rt_cli_change_one(rt_cli_change *change, const rt_request *request)
{
	rt_cli_change_add(change, request);
	return rt_cli_change_run(change);
}

void
rt_cli_add_where(rt_cli *cli, const char *id, rt_buf *out)
{
	const rt_take *take = NULL;
	rt_str role = {NULL, 0};
	rt_slot slot;
	size_t at = 0;
	rt_error none;
	uint32_t entry = 0;
	bool found = false;
	rt_status st = RT_NOT_FOUND;

	rt_buf_add_c(out, id);
	if (cli->session.value != NULL && cli->session.place.disc != 0)
		st = rt_cli_take(cli, &take);
	if (st == RT_OK)
		st = rt_resolve_entry(cli->session.value, cli->session.place, rt_str_of(id), false,
				      &entry, &none);
	if (st == RT_OK)
		st = rt_take_find(cli->session.value, take, entry, &at, &slot, &found, &none);
	if (st == RT_OK && found)
		st = rt_project_name(cli->session.value, slot.role, &role, &none);
	if (st == RT_OK && found) {
		rt_buf_add_c(out, " (");
		rt_buf_add_str(out, role);
		rt_buf_add_f(out, ", %zu of %zu)", at + 1, rt_seq_count(take->slots));
	}
	/* An entry that the take does not show has no place to name. */
	if (st != RT_NOT_FOUND && st != RT_AMBIGUOUS)
		rt_cli_output_lost(cli, st);
}

static rt_status
say_json(rt_cli_change *change)
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
	st = rt_cli_buf(change->cli, &buf);
	if (st == RT_OK)
		st = rt_cli_print_json(change->cli, rt_buf_str(&buf));
	rt_buf_deinit(&buf);
	return st;
}

/* "retake undo" with the flags that make it take back this step, whichever discussion it is
 * in. A discussion that -d named may not be there under that name any more. */
static void
add_undo(rt_cli_change *change, rt_buf *out)
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
		if (rt_cli_buf(cli, &name) == RT_OK)
			rt_args_add_quoted(out, name.ptr);
		rt_buf_deinit(&name);
	}
	rt_buf_add_c(out, " undo");
}

rt_status
rt_cli_change_say(rt_cli_change *change, const char *format, ...)
{
	rt_cli *cli = change->cli;
	rt_buf buf, undo;
	rt_status st;
	va_list ap;
	int size;

	if (cli->json)
		return say_json(change);
	if (cli->quiet)
		return RT_OK;
	rt_buf_init(&buf, cli->alloc, RT_BUF_UNLIMITED);
	va_start(ap, format);
	size = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (size > 0 && rt_buf_reserve(&buf, (size_t)size + 1) != NULL) {
		va_start(ap, format);
		vsnprintf(buf.ptr, (size_t)size + 1, format, ap);
		va_end(ap);
		buf.size = (size_t)size;
	}
	st = rt_cli_buf(cli, &buf);
	if (change->result->unchanged) {
		rt_term_c(&cli->out, "Nothing to change: it is so already.\n");
	} else {
		rt_buf_init(&undo, cli->alloc, RT_BUF_UNLIMITED);
		add_undo(change, &undo);
		rt_cli_say(cli, rt_buf_str(&buf), "step %llu - undo: %s",
			   (unsigned long long)change->result->seq,
			   undo.ptr == NULL ? "" : undo.ptr);
		rt_buf_deinit(&undo);
	}
	if (change->result->note != NULL)
		rt_term_indented(&cli->out, rt_text_str(change->result->note), 2);
	rt_buf_deinit(&buf);
	return st;
}
