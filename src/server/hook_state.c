/* SPDX-License-Identifier: MIT */
#include "server/hook_state.h"

#include <string.h>

#include "app/run.h"
#include "chat/last_request.h"
#include "core/role.h"
#include "view/view_rows.h"

enum { LINES_MAX = 100 /* of comms_log */ };

static rt_view
view_of(rt_call *call, const rt_snapshot *v)
{
	return (rt_view){&call->scope, v->engine, v->project, v->place};
}

/* ---- place, catalogue and activity ---- */

static bool
is_running(rt_call *call)
{
	rt_runs *runs = call->open_project->runs;

	return runs != NULL && rt_runs_running(runs) > 0;
}

/* Is the newest step in effect a reset? */
static bool
is_reset(rt_call *call, const rt_snapshot *v)
{
	uint64_t step = v->project->history.current;
	rt_view view = view_of(call, v);
	const rt_step_row *row;

	if (step == 0 || v->disc->history.current > step)
		return false;
	row = rt_step_read(&view, step);
	return row != NULL && rt_str_is(row->record.op, "project.reset");
}

void
rt_hook_state_put_status(rt_call *call, const rt_snapshot *v, rt_buf *out)
{
	if (rt_ok(&call->scope))
		rt_json_put_c(out, "ai_status",
			      is_running(call)	    ? "running"
			      : is_reset(call, v) ? "session reset"
						    : "idle");
}

void
rt_hook_state_put_history(const rt_snapshot *v, rt_buf *out)
{
	const rt_history *disc = &v->disc->history, *project = &v->project->history;

	rt_json_put_bool(out, "can_undo", disc->current != 0 || project->current != 0);
	rt_json_put_bool(out, "can_redo", disc->redo_row != 0 || project->redo_row != 0);
}

static size_t
put_discussions(const rt_snapshot *v, rt_buf *out)
{
	size_t count = 0;

	rt_json_open(out, "discussion_names", '[');
	for (uint32_t i = 1; i <= rt_project_disc_count(v->project); i++) {
		const rt_cell *cell = rt_project_cell(v->project, i);

		if (cell->present)
			rt_json_put_str(out, NULL, rt_cell_name(cell));
		count += cell->present;
	}
	rt_json_close(out, ']');
	return count;
}

static size_t
put_takes(const rt_snapshot *v, rt_buf *out)
{
	size_t count = 0;

	rt_json_open(out, "take_names", '[');
	for (uint32_t i = 1; i <= rt_disc_take_count(v->disc); i++) {
		const rt_take *take = rt_disc_take(v->disc, i);

		if (take->present)
			rt_json_put_str(out, NULL, rt_text_str(take->name));
		count += take->present;
	}
	rt_json_close(out, ']');
	return count;
}

/* The head as the number of entries before it. */
static size_t
head_of(rt_call *call, const rt_snapshot *v)
{
	size_t at = rt_seq_count(v->take->slots);

	if (v->take->number == v->disc->active)
		RT_TRY(&call->scope,
		       rt_disc_head_at(v->project, v->disc, &at, &call->scope.error));
	return at;
}

/* The part of the model's name before the slash. */
static void
put_provider(rt_call *call, const rt_snapshot *v, rt_buf *out)
{
	rt_view view = view_of(call, v);
	rt_str model = rt_json_str(rt_setting_value(&view, RT_STR("model")));
	size_t slash = rt_str_find(model, RT_STR("/"), 0);

	if (slash != SIZE_MAX)
		rt_json_put_str(out, "current_provider", rt_str_at(model.ptr, slash));
}

/* The record of the discussion's last request, if there is one. */
static void
put_last_request(rt_call *call, const rt_snapshot *v, rt_buf *out)
{
	rt_scope *s = &call->scope;
	rt_buf *row = rt_scope_buf(s);
	rt_status st = rt_engine_last_request(v->engine, v->place.disc, row, NULL);

	if (st == RT_OK)
		rt_json_put_raw(out, "last_request", rt_scope_str(s, row));
	else if (st != RT_NOT_FOUND)
		rt_scope_note(s, st);
}

void
rt_hook_state_put(rt_call *call, const rt_snapshot *v, rt_buf *out)
{
	size_t discussions, takes, entries;

	if (!rt_ok(&call->scope))
		return;
	rt_str project = rt_text_str(call->open_project->name);
	rt_str disc = rt_cell_name(rt_project_cell(v->project, v->place.disc));
	rt_str take = rt_text_str(v->take->name);
	entries = rt_seq_count(v->take->slots);
	rt_json_put_str(out, "active_project", project);
	rt_json_put_str(out, "active_project_path",
			rt_project_pool_get_options(call->open_project->pool)->store_path);
	rt_json_put_str(out, "active_discussion", disc);
	rt_json_put_str(out, "active_take", take);
	discussions = put_discussions(v, out);
	takes = put_takes(v, out);
	rt_json_put_u64(out, "discussion_count", discussions);
	rt_json_put_u64(out, "take_count", takes);
	rt_json_put_u64(out, "entry_count", entries);
	rt_json_put_u64(out, "label_count", rt_seq_count(v->disc->labels));
	rt_json_put_u64(out, "head_position", head_of(call, v));
	if (v->take->git_commit != NULL)
		rt_json_put_str(out, "git_commit", rt_text_str(v->take->git_commit));
	put_provider(call, v, out);
	put_last_request(call, v, out);
	rt_hook_state_put_status(call, v, out);
	rt_hook_state_put_history(v, out);
	rt_json_put_u64(out, "seq", v->project->seq);
	rt_json_open(out, "app_debug_info", '{');
	rt_json_put_c(out, "version", RT_VERSION);
	rt_json_put_str(out, "project", project);
	rt_json_put_str(out, "discussion", disc);
	rt_json_put_str(out, "take", take);
	rt_json_put_u64(out, "entries", entries);
	rt_json_put_u64(out, "seq", v->project->seq);
	rt_json_put_bool(out, "running", is_running(call));
	rt_json_close(out, '}');
}

/* ---- the entries of the take ---- */

static size_t
number_of(yyjson_val *usage, const char *name)
{
	uint64_t number = 0;

	return rt_json_u64(rt_json_get(usage, name), &number) ? (size_t)number : 0;
}

static rt_usage
read_usage(yyjson_val *usage)
{
	return (rt_usage){number_of(usage, "input_tokens"), number_of(usage, "output_tokens"),
			  number_of(usage, "cache_read_input_tokens"),
			  number_of(usage, "cache_creation_input_tokens")};
}

static void
put_usage(rt_buf *out, const char *key, const rt_usage *usage)
{
	rt_json_open(out, key, '{');
	rt_usage_put(out, usage);
	rt_json_close(out, '}');
}

void
rt_hook_state_put_take(rt_call *call, const rt_snapshot *v, rt_buf *out)
{
	rt_scope *s = &call->scope;
	rt_view view = view_of(call, v);
	rt_entry_cursor *c = rt_ok(s) ? rt_entries_open(&view, NULL) : NULL;
	rt_buf *said[2] = {rt_scope_buf(s), rt_scope_buf(s)}, *role = rt_scope_buf(s);
	size_t user = 0, ai = 0, muted = 0, collapsed = 0, edited = 0, partial = 0, bytes = 0;
	rt_usage all = {0}, last = {0};
	bool is_known = false;

	for (const rt_entry_row *e; (e = rt_entries_next(c)) != NULL;) {
		bool is_ai = rt_role_is_assistant(e->role), is_user = rt_role_is_user(e->role);
		yyjson_val *usage = rt_body_field(e->body, "usage");
		rt_usage t = read_usage(usage);

		ai += is_ai;
		user += is_user;
		muted += e->muted;
		collapsed += e->collapsed;
		edited += e->edited;
		partial += e->partial;
		bytes += e->slot.size;
		all = (rt_usage){all.input + t.input, all.output + t.output,
				 all.cache_read + t.cache_read, all.cache_write + t.cache_write};
		is_known = is_known || usage != NULL;
		last = usage != NULL ? t : last;
		if (is_ai || is_user) {
			rt_buf_clear(said[is_ai]);
			rt_content_add_text(said[is_ai], e->content);
		}
		rt_buf_clear(role);
		rt_buf_add_str(role, e->role);
	}
	rt_json_put_str(out, "ai_response", rt_scope_str(s, said[1]));
	rt_json_put_str(out, "last_question", rt_scope_str(s, said[0]));
	rt_json_put_str(out, "last_role", rt_scope_str(s, role));
	rt_json_put_u64(out, "user_entry_count", user);
	rt_json_put_u64(out, "ai_entry_count", ai);
	rt_json_put_u64(out, "muted_count", muted);
	rt_json_put_u64(out, "collapsed_count", collapsed);
	rt_json_put_u64(out, "edited_count", edited);
	rt_json_put_u64(out, "partial_count", partial);
	rt_json_put_u64(out, "content_bytes", bytes);
	put_usage(out, "token_usage", &all);
	if (is_known)
		put_usage(out, "usage", &last);
}

/* ---- the log of requests ---- */

typedef struct comms {
	rt_scope *scope;
	rt_str store;
	uint64_t project;
	rt_str disc;                   /* "d1" */
	rt_str path;                   /* of the file that is read; the newest is read first */
	rt_str lines[LINES_MAX];       /* of it: a ring, the newest last */
	rt_str newer[LINES_MAX];       /* of the files before it */
	size_t newer_count;
	rt_str requests[LINES_MAX];    /* names of requests that were read, likewise */
	size_t line_count, request_count;
} comms;

static bool
is_taken(const comms *c, rt_str request)
{
	size_t count = c->request_count < LINES_MAX ? c->request_count : LINES_MAX;

	for (size_t i = 0; i < count; i++)
		if (rt_str_eq(c->requests[i], request))
			return true;
	return false;
}

/* A line without the texts: a hundred requests may repeat the conversation a hundred times. */
static rt_str
without_texts(rt_scope *s, yyjson_val *line)
{
	rt_buf *out = rt_scope_buf(s);

	rt_json_open(out, NULL, '{');
	for (rt_json_iter it = rt_json_members(line); rt_json_next(&it);)
		if (!rt_str_is(it.key, "texts") && !rt_str_is(it.key, "body")) {
			rt_json_add_key_str(out, it.key);
			rt_json_add_value(out, it.value);
		}
	rt_json_close(out, '}');
	return rt_scope_str(s, out);
}

/* Puts the lines of a file before those of newer files. */
static void
end_file(comms *c)
{
	size_t count = c->line_count < LINES_MAX ? c->line_count : LINES_MAX;
	size_t room = LINES_MAX - c->newer_count, kept = count < room ? count : room;

	memmove(c->newer + kept, c->newer, c->newer_count * sizeof(*c->newer));
	for (size_t i = 0; i < kept; i++)
		c->newer[i] = c->lines[(c->line_count - kept + i) % LINES_MAX];
	c->newer_count += kept;
	c->line_count = 0;
}

/* rt_comms_line_fn */
static bool
see_line(void *ctx, const rt_comms_line *at)
{
	comms *c = ctx;
	rt_json_doc *doc = NULL;
	uint64_t project = 0;
	rt_status st;

	if (!rt_str_is(c->path, at->path)) {
		end_file(c);
		c->path = rt_scope_copy(c->scope, rt_str_of(at->path));
		if (c->newer_count == LINES_MAX)
			return false;
	}
	st = rt_json_read(c->scope->alloc, at->line, &doc, NULL);
	if (st == RT_NOMEM)
		(void)rt_scope_nomem(c->scope);
	if (st != RT_OK)
		return rt_ok(c->scope);
	yyjson_val *root = rt_json_root(doc);
	rt_str request = rt_json_str(rt_json_get(root, "request"));
	bool is_ours = rt_str_eq(rt_json_str(rt_json_get(root, "store")), c->store) &&
		       rt_json_u64(rt_json_get(root, "project"), &project) &&
		       project == c->project &&
		       rt_str_eq(rt_json_str(rt_json_get(root, "discussion")), c->disc);

	if (is_ours)
		c->requests[c->request_count++ % LINES_MAX] = rt_scope_copy(c->scope, request);
	if (is_ours || is_taken(c, request))
		c->lines[c->line_count++ % LINES_MAX] = without_texts(c->scope, root);
	rt_json_free(doc);
	return rt_ok(c->scope);
}

void
rt_hook_state_put_comms(rt_call *call, const rt_snapshot *v, rt_buf *out)
{
	const rt_project_pool_options *o = rt_project_pool_get_options(call->open_project->pool);
	rt_scope *s = &call->scope;
	comms *c = rt_scope_get(s, sizeof(*c));
	rt_buf *disc = rt_scope_buf(s);

	rt_buf_add_f(disc, "d%u", (unsigned)v->place.disc);
	if (c == NULL || o->comms == NULL)
		return;
	c->scope = s;
	c->store = o->store_path;
	c->project = rt_engine_project_number(v->engine);
	c->disc = rt_scope_str(s, disc);
	RT_TRY(s, rt_comms_read(s->alloc, rt_comms_folder(o->comms), see_line, c, &s->error));
	rt_json_open(out, "comms_log", '[');
	end_file(c);
	for (size_t i = 0; rt_ok(s) && i < c->newer_count; i++)
		rt_json_put_raw(out, NULL, c->newer[i]);
	rt_json_close(out, ']');
}
