/* SPDX-License-Identifier: MIT
 *
 * Requests of a command, executed together, and one line about the result: what changed, its
 * step, how to undo it. */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>

#include "chat/lint.h"
#include "log/history.h"
#include "view/view.h"

void
rt_cli_requests_add(rt_scope *s, rt_cli_requests *requests, const rt_request *request)
{
	requests->items = rt_scope_grow(s, requests->items, requests->count,
					&requests->capacity, sizeof(*requests->items));
	if (requests->items != NULL)
		requests->items[requests->count++] = *request;
}

rt_str
rt_cli_request_entry(rt_cli *cli, const char *address)
{
	cli->address = address;
	return rt_cli_address(cli, address);
}

void
rt_cli_request_place(rt_cli *cli, rt_request *request)
{
	const char *before = rt_cli_flag_value(cli, "before");
	const char *after = rt_cli_flag_value(cli, "after");

	if ((before == NULL) == (after == NULL))
		rt_cli_fail(cli, RT_USAGE, "%s needs --before ENTRY or --after ENTRY",
			    cli->args.command->name);
	else if (rt_cli_open(cli, RT_SESSION_CHANGE))
		*(before != NULL ? &request->before : &request->after) =
			rt_cli_request_entry(cli, before != NULL ? before : after);
}

/* ---- carrying out ---- */

/* Words of the command line may be any bytes. */
static void
check_utf8(rt_cli *cli, const rt_request *request)
{
	for (const rt_op_field *f = rt_ops[request->op].fields; f->name != NULL; f++) {
		const void *member = (const char *)request + f->offset;

		if (f->type == RT_FIELD_STRING || f->type == RT_FIELD_ADDRESS)
			rt_cli_check_utf8(cli, *(const rt_str *)member);
		else if (f->type == RT_FIELD_CONTENT)
			rt_cli_check_utf8(cli, ((const rt_content *)member)->text);
		else if (f->type == RT_FIELD_MOMENT)
			rt_cli_check_utf8(cli, ((const rt_time_text *)member)->text);
	}
}

/* A hint where to search after RT_NOT_FOUND. */
static void
hint_failure(rt_cli *cli, rt_op_id op)
{
	static const struct {
		const char *family, *hint;
	} families[] = {
		{"take.", "Takes: retake takes   Entries: retake show"},
		{"discussion.", "Discussions: retake ls"},
		{"role.", "Roles: retake roles"},
		{"preset.", "Presets: retake preset"},
		{"jump", "Steps: retake history"},
		{"revert", "Steps: retake history"},
		{"undo", "Steps: retake history"},
		{"redo", "Steps: retake history"},
	};
	rt_status status = cli->s.status;
	rt_about about = cli->s.error.about;

	if (status == RT_OK || cli->session.hint[0] != 0)
		return;
	if (cli->address != NULL && (about == RT_ABOUT_ENTRY || about == RT_ABOUT_LABEL))
		rt_cli_hint_entry(cli, cli->address, &cli->s.error);
	if (cli->session.hint[0] != 0 || (status != RT_NOT_FOUND && status != RT_REFUSED))
		return;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (rt_str_starts(rt_str_of(rt_ops[op].name), rt_str_of(families[i].family))) {
			rt_cli_hint(cli, "%s", families[i].hint);
			return;
		}
}

/* A warning, and the command that fixes it. */
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

/* The damage and cost of a change before it is made (E14, M9). For people only: programs see it in
 * their requests. */
static void
lint(rt_cli *cli, const rt_request *requests, size_t count)
{
	enum { WORTH_TELLING = 1000 };
	size_t resent = 0;

	if (cli->quiet || cli->json || cli->session.is_scratch || cli->out.kept)
		return;
	RT_TRY(&cli->s, rt_engine_lint(cli->session.engine, requests, count,
				       rt_session_discussion(&cli->session),
				       rt_session_take(&cli->session), warn, cli, &resent,
				       &cli->s.error));
	if (rt_ok(&cli->s) && resent >= WORTH_TELLING)
		rt_cli_note(cli, "the next request resends about %zu tokens that the provider may "
				 "have cached", resent);
}

typedef struct results {
	rt_result *items;
	size_t count;
} results;

static void
free_results(void *item)
{
	results *r = item;

	for (size_t i = 0; i < r->count; i++)
		rt_result_deinit(&r->items[i]);
}

static const rt_result *
carry_out(rt_cli *cli, const rt_request *requests, size_t count)
{
	rt_session *session = &cli->session;
	results *r = rt_scope_get(&cli->s, sizeof(*r));
	rt_status st;

	if (r != NULL)
		r->items = rt_scope_array(&cli->s, count, sizeof(*r->items));
	rt_scope_defer(&cli->s, free_results, r);
	if (!rt_ok(&cli->s))
		return NULL;
	r->count = count;
	st = rt_apply(session->engine, rt_session_hooks_begin(session), requests, count, count > 1,
		      rt_session_discussion(session), rt_session_take(session), r->items);
	rt_session_hooks_end(session);
	if (st != RT_OK)
		cli->s.error = r->items[rt_results_cause(r->items, count)].error;
	rt_scope_note(&cli->s, st);
	return &r->items[count - 1];
}

const rt_result *
rt_cli_execute(rt_cli *cli, const rt_request *requests, size_t count)
{
	static const rt_result none = {0};
	const rt_result *result = NULL;
	const rt_project *now;
	uint64_t before;
	rt_status looked;

	if (rt_ok(&cli->s) && rt_cli_has(cli, "at-step"))
		rt_cli_fail(cli, RT_USAGE, "an earlier state cannot be changed; --at-step is "
					   "read-only");
	if (!rt_ok(&cli->s))
		return &none;
	RT_ASSERT(count > 0);
	if (!rt_cli_open(cli, RT_SESSION_CHANGE)) {
		hint_failure(cli, requests[0].op);
		return &none;
	}
	before = cli->session.value->seq;
	if (rt_cli_short_of_memory(cli))
		rt_scope_nomem(&cli->s);
	for (size_t i = 0; i < count; i++)
		check_utf8(cli, &requests[i]);
	lint(cli, requests, count);
	result = carry_out(cli, requests, count);
	/* A purge may be on disk although the cleanup after it failed. */
	now = rt_engine_value(cli->session.engine);
	cli->changed = cli->changed || now->seq != before;
	rt_object_unref(now);
	if (!rt_ok(&cli->s)) {
		hint_failure(cli, requests[0].op);
		return &none;
	}
	/* A change may have removed the target of -d or --take; that is not a failure. */
	looked = rt_session_look(&cli->session, NULL);
	if (looked == RT_NOMEM || looked == RT_IO)
		rt_cli_output_lost(cli, looked);
	if (looked != RT_OK) {
		cli->session.hint[0] = 0;
		cli->session.place = (rt_place){0, 0};
	}
	return result;
}

/* ---- reports ---- */

rt_buf *
rt_cli_extra(rt_cli *cli)
{
	if (cli->extra == NULL) {
		cli->extra = rt_scope_buf(&cli->s);
		rt_buf_add_byte(cli->extra, ',');
	}
	return cli->extra;
}

static void
say_json(rt_cli *cli, const rt_result *result)
{
	rt_buf *json = rt_scope_buf(&cli->s);

	rt_result_add_json(json, result);
	if (cli->extra != NULL && json->size > 0) {
		json->size--;
		rt_buf_add_str(json, rt_scope_str(&cli->s, cli->extra));
		rt_json_close(json, '}');
	}
	cli->extra = NULL;
	rt_cli_print_json(cli, json);
}

/* "retake undo" with the flags that make it undo this step, whichever discussion it is in. The
 * discussion given by -d may not exist under that name any more. */
static const char *
undo_command(rt_cli *cli, const rt_result *result)
{
	rt_buf *out = rt_scope_buf(&cli->s), *name = rt_scope_buf(&cli->s);
	uint32_t disc = result->undo_disc;
	rt_view view = rt_cli_view(cli);
	const rt_step_row *step = rt_ok(&cli->s) ? rt_step_read(&view, result->seq) : NULL;

	rt_cli_output_lost(cli, rt_cli_recover(cli, NULL)); /* the change is stored */
	if (step != NULL && rt_history_is_draft(&step->record)) { /* undo would keep it */
		rt_cli_add_retake_project(cli, out);
		rt_buf_add_f(out, " revert %llu", (unsigned long long)result->seq);
		return out->ptr == NULL ? "" : out->ptr;
	}
	if (disc == 0 && cli->session.place.disc == 0 &&
	    rt_cli_flag_value(cli, "discussion") != NULL)
		disc = cli->session.value->active;
	if (disc == 0) { /* undo with -d would not revert it */
		rt_cli_add_retake_project(cli, out);
	} else if (disc == cli->session.place.disc) {
		rt_cli_add_retake(cli, out);
	} else {
		const rt_cell *cell = rt_project_cell(cli->session.value, disc);

		rt_cli_add_retake_project(cli, out);
		if (cell != NULL && cell->present)
			rt_buf_add_str(name, rt_cell_name(cell));
		else
			rt_buf_add_f(name, "d%u", disc);
		rt_buf_add_c(out, " -d ");
		if (name->ptr != NULL)
			rt_args_add_quoted(out, name->ptr);
	}
	rt_buf_add_c(out, " undo");
	if (result->undo_disc == 0 && rt_cli_flag_value(cli, "discussion") != NULL)
		rt_buf_add_c(out, " --scope project");
	return out->ptr == NULL ? "" : out->ptr;
}

static void
say(rt_cli *cli, const rt_result *result, rt_str text)
{
	if (!rt_ok(&cli->s))
		return;
	if (cli->json) {
		say_json(cli, result);
		return;
	}
	if (cli->quiet)
		return;
	if (result->unchanged)
		rt_term_f(&cli->out, "Nothing to do: %s.\n",
			  cli->unchanged != NULL		 ? cli->unchanged
			  : cli->args.command->unchanged != NULL ? cli->args.command->unchanged
								 : "already set");
	else
		rt_cli_say(cli, text, "step %llu - undo: %s", (unsigned long long)result->seq,
			   undo_command(cli, result));
	if (result->note != NULL)
		rt_term_indented(&cli->out, rt_text_str(result->note), 2);
}

void
rt_cli_say_result(rt_cli *cli, const rt_result *result, const char *format, ...)
{
	rt_buf *text = rt_scope_buf(&cli->s);
	va_list args, again;
	int size;

	va_start(args, format);
	va_copy(again, args);
	size = vsnprintf(NULL, 0, format, args);
	if (size > 0 && rt_buf_reserve(text, (size_t)size + 1) != NULL) {
		vsnprintf(text->ptr, (size_t)size + 1, format, again);
		text->size = (size_t)size;
	}
	va_end(again);
	va_end(args);
	say(cli, result, rt_scope_str(&cli->s, text));
}

/* The name in a result, or else the requested one. */
static void
add_name(rt_buf *out, const char *name, const rt_request *request)
{
	if (name[0] != 0)
		rt_buf_add_c(out, name);
	else
		rt_buf_add_str(out, request->target);
}

/* The effect of an operation, by a template. */
static rt_str
fill_template(rt_cli *cli, const char *template, const rt_request *request,
	      const rt_result *result)
{
	rt_buf *out = rt_scope_buf(&cli->s);

	for (const char *p = template; *p != '\0';) {
		size_t plain = strcspn(p, "{");

		rt_buf_add(out, p, plain);
		p += plain;
		if (*p == '\0')
			break;

		rt_str what = rt_str_at(p + 1, strcspn(p + 1, "}"));
		const rt_op_field *field = rt_op_field_named(&rt_ops[request->op], what);

		p += what.size + 2;
		if (rt_str_is(what, "entry")) {
			rt_buf_add_c(out, rt_cli_where(cli, result->entry));
		} else if (rt_str_is(what, "take")) {
			add_name(out, result->take, request);
		} else if (rt_str_is(what, "discussion")) {
			add_name(out, result->discussion, request);
		} else if (rt_str_is(what, "target")) {
			rt_buf_add_str(out, request->target);
		} else if (rt_str_is(what, "entries")) {
			size_t count = rt_cli_count(cli);

			rt_buf_add_f(out, "%zu entr%s", count, RT_CLI_IES(count));
		} else {
			RT_ASSERT(field != NULL);
			const void *member = (const char *)request + field->offset;

			if (field->type == RT_FIELD_NUMBER)
				rt_buf_add_u64(out, ((const rt_number *)member)->value);
			else
				rt_buf_add_str(out, *(const rt_str *)member);
		}
	}
	return rt_scope_str(&cli->s, out);
}

const rt_result *
rt_cli_do(rt_cli *cli, const rt_request *request, const char *done)
{
	const rt_result *result = rt_cli_execute(cli, request, 1);

	if (rt_ok(&cli->s))
		say(cli, result, fill_template(cli, done, request, result));
	return result;
}

/* ---- commands that are one operation ---- */

/* A field of a request from a word or a flag. */
static void
fill_field(rt_cli *cli, const rt_cli_op_field *from, rt_request *request)
{
	const rt_op_field *field =
		rt_op_field_named(&rt_ops[request->op], rt_str_of(from->name));
	void *member = (char *)request + field->offset;
	const char *given = from->flag != NULL ? rt_cli_flag_value(cli, from->flag)
					       : rt_cli_word(cli, from->word);

	if (given == NULL)
		given = from->otherwise;
	if (given == NULL || !rt_ok(&cli->s))
		return;
	switch (field->type) {
	case RT_FIELD_STRING:
		*(rt_str *)member = from->is_role ? rt_cli_role_meant(cli, given)
						  : rt_str_of(given);
		break;
	case RT_FIELD_ADDRESS:
		if (rt_cli_open(cli, RT_SESSION_CHANGE))
			*(rt_str *)member = rt_cli_request_entry(cli, given);
		break;
	case RT_FIELD_NUMBER:
		*(rt_number *)member =
			rt_cli_given_number(rt_cli_number(cli, given, from->what));
		if (!rt_ok(&cli->s) && from->hint != NULL)
			rt_cli_hint(cli, "%s", from->hint);
		break;
	default: RT_ASSERT(false); break;
	}
}

void
rt_cli_run_op(rt_cli *cli)
{
	const rt_cli_op *op = cli->args.command->op;
	rt_request request = {.op = op->op};
	const rt_result *result;

	for (size_t i = 0; op->fields[i].name != NULL; i++)
		fill_field(cli, &op->fields[i], &request);
	result = rt_cli_do(cli, &request, op->done);
	if (rt_ok(&cli->s) && !cli->json && !cli->quiet && result->editor != NULL &&
	    op->editor != NULL) {
		rt_term_c(&cli->out, op->editor);
		rt_term_indented(&cli->out, rt_text_str(result->editor), 4);
	}
}
