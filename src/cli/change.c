/* SPDX-License-Identifier: MIT
 *
 * Changes. Commands write requests as `retake apply` reads them; what comes
 * back is said in one line: what changed, the step it is, how to undo it. */
#include "cli/cli.h"
#include "chat/lint.h"

#include <stdarg.h>
#include <stdio.h>

void
rt_cli_change_init(rt_cli *cli, rt_cli_change *change)
{
	memset(change, 0, sizeof(*change));
	change->cli = cli;
	rt_buf_init(&change->json, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&change->extra, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&change->json, '[');
}

void
rt_cli_change_deinit(rt_cli_change *change)
{
	size_t i;

	for (i = 0; change->results != NULL && i < change->count; i++)
		rt_result_deinit(&change->results[i]);
	rt_free(change->cli->alloc, change->results);
	change->results = NULL;
	rt_free(change->cli->alloc, change->requests);
	change->requests = NULL;
	rt_json_free(change->doc);
	change->doc = NULL;
	rt_buf_deinit(&change->json);
	rt_buf_deinit(&change->extra);
}

void
rt_cli_change_op(rt_cli_change *change, const char *op)
{
	if (change->count++ > 0)
		rt_buf_add_c(&change->json, "},");
	rt_buf_add_c(&change->json, "{\"op\":");
	rt_json_add_string(&change->json, rt_str_of(op));
}

void
rt_cli_change_text(rt_cli_change *change, const char *key, rt_str text)
{
	rt_json_add_key(&change->json, key);
	rt_json_add_string(&change->json, text);
}

void
rt_cli_change_json(rt_cli_change *change, const char *key, rt_str json)
{
	rt_json_add_key(&change->json, key);
	rt_buf_add_str(&change->json, json);
}

void
rt_cli_change_bool(rt_cli_change *change, const char *key, bool value)
{
	rt_cli_change_json(change, key, value ? RT_STR("true") : RT_STR("false"));
}

void
rt_cli_change_number(rt_cli_change *change, const char *key, uint64_t number)
{
	rt_json_add_key(&change->json, key);
	rt_buf_add_u64(&change->json, number);
}

rt_status
rt_cli_change_entry(rt_cli_change *change, const char *key, const char *address)
{
	char room[RT_ID_ROOM];
	rt_str plain;
	rt_status st = rt_cli_address(change->cli, address, room, &plain);

	if (st == RT_OK)
		rt_cli_change_text(change, key, plain);
	change->address = address;
	return st;
}

static bool
is_about(const rt_cli_change *change, const char *family)
{
	char start[40];

	snprintf(start, sizeof(start), "[{\"op\":\"%s", family);
	return rt_str_starts(rt_buf_str(&change->json), rt_str_of(start));
}

/* Where to look for what was not found. */
static void
hint_failure(rt_cli_change *change, rt_status st)
{
	rt_cli *cli = change->cli;

	if (cli->hint[0] != 0)
		return;
	if (change->address != NULL && (strstr(cli->error.text, "no entry matches") != NULL ||
					strstr(cli->error.text, "is the label of") != NULL)) {
		rt_cli_hint_entry(cli, change->address, st);
		if (cli->hint[0] != 0)
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

/* What was written, as values. */
static rt_status
read_requests(rt_cli_change *change)
{
	rt_cli *cli = change->cli;
	yyjson_val *request;
	size_t i, count;
	rt_status st;

	rt_buf_add_c(&change->json, "}]");
	st = rt_cli_short_of_memory(cli) ? rt_cli_nomem(cli) : rt_cli_buf(cli, &change->json);
	if (st == RT_OK)
		st = rt_json_read(cli->alloc, rt_buf_str(&change->json), &change->doc, &cli->error);
	if (st != RT_OK)
		return st;
	change->requests = rt_new_array(cli->alloc, change->count, sizeof(yyjson_val *));
	if (change->requests == NULL)
		return rt_cli_nomem(cli);
	yyjson_arr_foreach(rt_json_root(change->doc), i, count, request)
		change->requests[i] = request;
	return RT_OK;
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

/* What a change breaks, and what it costs, before it is made (E14, M9). Only people are
 * told: programs see it in what they send. */
static rt_status
advise(rt_cli_change *change)
{
	enum { WORTH_TELLING = 1000 };
	rt_cli *cli = change->cli;
	size_t resent = 0;
	rt_request *requests;
	rt_scope s;
	rt_status st;

	if (cli->quiet || cli->json || cli->is_scratch || cli->out.kept)
		return RT_OK;
	rt_scope_init(&s, cli->alloc);
	requests = rt_requests_read(&s, change->requests, change->count);
	RT_TRY(&s, rt_engine_lint(cli->engine, requests, change->count, rt_cli_disc_name(cli),
				  rt_cli_take_name(cli), warn, cli, &resent, &s.error));
	st = rt_scope_end(&s, &cli->error);
	if (st == RT_OK && resent >= WORTH_TELLING)
		rt_cli_note(cli, "the next request sends about %zu tokens anew that the provider may "
				 "have cached", resent);
	return st;
}

static rt_status
carry_out(rt_cli_change *change)
{
	rt_cli *cli = change->cli;
	size_t i;
	rt_status st;

	change->results = rt_new_array(cli->alloc, change->count, sizeof(*change->results));
	if (change->results == NULL)
		return rt_cli_nomem(cli);
	memset(change->results, 0, change->count * sizeof(*change->results));
	st = rt_apply_json(cli->engine, rt_cli_hooks_begin(cli), change->requests, change->count,
			   change->count > 1, rt_cli_disc_name(cli), rt_cli_take_name(cli),
			   change->results);
	rt_cli_hooks_end(cli);
	change->result = &change->results[change->count - 1];
	/* The first that failed tells the story; in a batch the others only echo it. */
	for (i = 0; st != RT_OK && i < change->count; i++)
		if (change->results[i].status == st) {
			cli->error = change->results[i].error;
			break;
		}
	return st;
}

rt_status
rt_cli_change_run(rt_cli_change *change)
{
	uint64_t before = 0;
	const rt_project *now;
	rt_status st;

	RT_ASSERT(change->count > 0);
	if (rt_cli_has(change->cli, "at-op"))
		return rt_cli_fail(change->cli, RT_USAGE,
				   "the past cannot be changed; --at-op is for looking");
	st = rt_cli_open(change->cli, RT_CLI_CHANGE);
	if (st != RT_OK) {
		hint_failure(change, st);
		return st;
	}
	before = change->cli->value->seq;
	st = read_requests(change);
	if (st == RT_OK)
		st = advise(change);
	if (st == RT_OK)
		st = carry_out(change);
	/* A purge may be on disk, and what tidies up behind it have failed. */
	now = rt_engine_value(change->cli->engine);
	change->cli->changed = change->cli->changed || now->seq != before;
	rt_object_unref(now);
	if (st != RT_OK) {
		hint_failure(change, st);
		return st;
	}
	/* A change may have taken away what -d or --take named; it is no failure then. */
	st = rt_cli_look(change->cli);
	if (st == RT_NOMEM || st == RT_IO)
		rt_cli_output_lost(change->cli, st);
	if (st != RT_OK) {
		change->cli->hint[0] = 0;
		change->cli->place = (rt_place){0, 0};
	}
	return RT_OK;
}

rt_status
rt_cli_change_simple(rt_cli_change *change, const char *op, ...)
{
	const char *key, *value;
	va_list ap;

	rt_cli_change_op(change, op);
	va_start(ap, op);
	while ((key = va_arg(ap, const char *)) != NULL) {
		value = va_arg(ap, const char *);
		if (value != NULL)
			rt_cli_change_text(change, key, rt_str_of(value));
	}
	va_end(ap);
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
	if (cli->value != NULL && cli->place.disc != 0)
		st = rt_cli_take(cli, &take);
	if (st == RT_OK)
		st = rt_resolve_entry(cli->value, cli->place, rt_str_of(id), false, &entry, &none);
	if (st == RT_OK)
		st = rt_take_find(cli->value, take, entry, &at, &slot, &found, &none);
	if (st == RT_OK && found)
		st = rt_project_name(cli->value, slot.role, &role, &none);
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
	if (change->extra.size > 0 && buf.size > 0 && buf.ptr[buf.size - 1] == '}') {
		buf.size--;
		rt_buf_add_str(&buf, rt_buf_str(&change->extra));
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

	if (disc == 0 && cli->place.disc == 0 && rt_cli_flag_value(cli, "discussion") != NULL)
		disc = cli->value->active;
	if (disc == 0 || disc == cli->place.disc) {
		rt_cli_add_retake(cli, out);
	} else {
		cell = rt_project_cell(cli->value, disc);
		rt_cli_add_retake_project(cli, out);
		rt_buf_init(&name, cli->alloc, RT_BUF_UNLIMITED);
		if (cell != NULL && cell->present)
			rt_buf_add_str(&name, rt_cell_name(cell));
		else
			rt_buf_add_f(&name, "d%u", disc);
		rt_buf_add_byte(&name, '\0');
		rt_buf_add_c(out, " -d ");
		if (rt_cli_buf(cli, &name) == RT_OK)
			rt_cli_add_quoted(out, name.ptr);
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
