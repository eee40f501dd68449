/* SPDX-License-Identifier: MIT
 *
 * Contexts: the next request to a model (M2, M3, M5).
 *
 *   the system prompt      base, global and project, from the settings
 *   the files              whose contents the caller passes (attachment.h); system entries at
 *                          the beginning of the path come before them
 *   the entries            of the take up to its head, by the plan (context_plan.c):
 *                          without muted ones, compactions in place of their entries
 *   the working prompt     "[current prompt: "…"]", when there is one
 *
 * Nothing is kept between two requests: the visible conversation is sent. The base prompt is
 * base_system_prompt and the other prompts; if all are empty and there is a working prompt,
 * Retake's default unless use_default_base_prompt is false.
 *
 * A context edit of pi ({"targetId","replacement"}) changes the sent form of its target while both
 * are sent; the last one counts. */
#include "chat/context_impl.h"
#include "chat/prompt_update.h"
#include "core/role.h"
#include "core/setting.h"
#include "view/view_rows.h"

/* Sent if there is a working prompt and no system prompt is set. */
#define DEFAULT_BASE_PROMPT \
	"You and the user are writing a prompt together. Its current version comes last in every " \
	"request. If a notice in brackets says that the user edited it, continue from that version."

/* Entries read first of a path with a budget; names examined to decide whether that suffices. */
enum { WINDOW = 512, NAMES = 1000 };

typedef struct building {
	rt_scope *scope;
	rt_scope *path;  /* memory of the current window */
	rt_scope *entry; /* memory of the current entry, */
	rt_scope *other; /* of another one in between */
	rt_view view;
	const rt_disc *disc;
	const rt_take *take;
	size_t from, end; /* positions examined: up to the head */
	size_t count;     /* of them; below, position 0 is from */
	rt_slot *slots;   /* of these */
	rt_body_reader bodies;
	bool *skip;
	rt_compaction *compactions;
	size_t compaction_count;
	rt_context_steps steps;
	const rt_context_options *options; /* never NULL */
	size_t prompt_tokens; /* of the settings' prompts, estimated */
	size_t left_out;      /* steps that did not fit in the budget */
	bool surely_fits;     /* everything fits in the budget, so nothing needs to be counted */
	size_t *edits;        /* by position: that of its edit, + 1; 0: none; NULL: none at all */
	yyjson_val *role_map; /* or NULL */
	rt_pairs pairs;
	bool has_sent_files;
	rt_model_request *request;
} building;

/* ---- settings ---- */

size_t
rt_tokens_estimate(size_t bytes)
{
	return bytes / 4 + (bytes % 4 != 0);
}

static size_t
count_tokens(const building *b, rt_str text)
{
	return b->options->count != NULL ? b->options->count(b->options->ctx, text)
					 : rt_tokens_estimate(text.size);
}

static rt_str
setting(const building *b, const char *key)
{
	return rt_project_setting(b->view.project, b->disc, key);
}

static yyjson_val *
parsed(rt_scope *s, rt_str json)
{
	return json.ptr != NULL ? rt_json_parse(s, json) : NULL;
}

static rt_prompt_updates
prompt_updates(const building *b)
{
	return rt_prompt_updates_of(setting(b, "setting.prompt_updates"));
}

static void
add_prompt(building *b, rt_str text)
{
	rt_request_prompt(b->request, text);
	if (text.size > 0)
		b->prompt_tokens += rt_tokens_estimate(text.size) + RT_TOKENS_PER_MESSAGE;
}

static void
add_prompts(building *b)
{
	bool has_default = !rt_str_is(setting(b, "setting.use_default_base_prompt"), "false") &&
			   rt_prompt_text(&b->view, NULL).size > 0;

	for (size_t i = 0; rt_setting_prompts[i] != NULL; i++) {
		yyjson_val *value = parsed(b->scope, setting(b, rt_setting_prompts[i]));
		rt_str text = yyjson_is_str(value) ? rt_json_str(value) : RT_STR("");

		add_prompt(b, text);
		has_default = has_default && text.size == 0;
	}
	if (has_default)
		add_prompt(b, RT_STR(DEFAULT_BASE_PROMPT));
	add_prompt(b, rt_prompt_updates_words(prompt_updates(b)));
}

/* Values of the wrong type count as unset. */
static rt_str
number_setting(const building *b, const char *key)
{
	rt_str json = setting(b, key);
	bool is_number = json.size > 0 &&
			 (json.ptr[0] == '-' || (json.ptr[0] >= '0' && json.ptr[0] <= '9'));

	return is_number ? json : (rt_str){0};
}

static rt_str
effort_setting(const building *b)
{
	rt_str json = setting(b, "setting.reasoning_effort");

	if (json.ptr == NULL ||
	    rt_setting_wants(rt_setting_named(RT_STR("reasoning_effort")), json) != NULL)
		return RT_STR("");
	return json.size > 2 && json.ptr[0] == '"' ? rt_str_at(json.ptr + 1, json.size - 2)
						   : RT_STR("");
}

static rt_request_settings
request_settings(const building *b)
{
	rt_str model = setting(b, "setting.model");

	if (model.size < 3 || model.ptr[0] != '"')
		model = (rt_str){0};
	if (b->options->model.size > 0) {
		rt_buf *json = rt_scope_buf(b->scope);

		rt_json_add_string(json, b->options->model);
		model = rt_scope_str(b->scope, json);
	}
	return (rt_request_settings){
		.model = model,
		.temperature = number_setting(b, "setting.temperature"),
		.top_p = number_setting(b, "setting.top_p"),
		.max_tokens = number_setting(b, "setting.max_tokens"),
		.effort = effort_setting(b),
		.stream = b->options->stream,
		.prompt_json = prompt_updates(b) == RT_PROMPT_UPDATES_JSON,
	};
}

/* The entry of role_map for a role: by its exact name first, then ignoring case. */
static rt_str
mapped_role(const building *b, rt_str role)
{
	yyjson_val *key, *value, *found = NULL;
	size_t i, max;

	rt_json_foreach(b->role_map, i, max, key, value)
	{
		if (!yyjson_is_str(value))
			continue;
		if (rt_str_eq(rt_json_str(key), role))
			return rt_json_str(value);
		if (found == NULL && rt_str_eq_nocase(rt_json_str(key), role))
			found = value;
	}
	return rt_json_str(found);
}

/* The working prompt in the form in which it is sent; empty: none. */
static rt_str
working_prompt(const building *b)
{
	yyjson_val *prompt = parsed(b->scope, rt_fields_get(b->disc->fields, RT_STR("prompt")));
	rt_buf *text = rt_scope_buf(b->scope);

	if (yyjson_is_str(prompt) && yyjson_get_len(prompt) > 0) {
		rt_buf_add_c(text, "[current prompt: \"");
		rt_buf_add_str(text, rt_json_str(prompt));
		rt_buf_add_c(text, "\"]");
	}
	return rt_scope_str(b->scope, text);
}

/* ---- entries ---- */

/* The entry at a position, in the scope s, which is reset. NULL: it failed. */
static rt_context_entry *
read_entry(building *b, rt_scope *s, size_t at)
{
	const rt_slot *slot = &b->slots[at];
	rt_view view = {s, b->view.engine, b->view.project, b->view.place};
	rt_str role, kind;

	RT_TRY(b->scope, rt_project_name(view.project, slot->role, &role, &b->scope->error));
	RT_TRY(b->scope, rt_project_name(view.project, slot->kind, &kind, &b->scope->error));
	if (!rt_ok(b->scope))
		return NULL;
	const rt_body *body = rt_view_body_at(&view, &b->bodies, b->slots, b->count, at);
	rt_context_entry *e = rt_scope_get(s, sizeof(*e));

	if (rt_scope_adopt(b->scope, s) != RT_OK)
		return NULL;
	rt_context_entry_of(e, role, kind, body);
	e->role_to = mapped_role(b, role);
	return e;
}

/* The same in a separate scope. */
static rt_context_entry *
read_alone(building *b, rt_scope *s, size_t at)
{
	if (!rt_ok(b->scope))
		return NULL;
	rt_scope_reset(s);
	return read_entry(b, s, at);
}

static bool
has_kind(const building *b, size_t at, const char *kind)
{
	rt_str name;

	return b->slots[at].kind != 0 &&
	       rt_project_name(b->view.project, b->slots[at].kind, &name, NULL) == RT_OK &&
	       rt_str_is(name, kind);
}

static bool
is_rich(const building *b, size_t at)
{
	return (b->slots[at].flags & RT_SLOT_RICH) != 0;
}

/* pi's own ids, if they could not become ours: they are in the records themselves. */
static size_t
find_raw_id(building *b, rt_str id)
{
	for (size_t i = 0; i < b->count; i++) {
		if (!is_rich(b, i))
			continue;
		const rt_context_entry *e = read_alone(b, b->other, i);

		if (e == NULL)
			break;
		if (rt_str_eq(rt_json_str(rt_json_get(e->record, "id")), id))
			return i;
	}
	return SIZE_MAX;
}

/* The position of an id (or a label, or a unique prefix); SIZE_MAX: not before the head. */
static size_t
find_id(building *b, yyjson_val *v, bool raw)
{
	rt_scope *s = b->scope;
	rt_place place = {b->disc->number, b->take->number};
	rt_str id = rt_json_str(v);
	uint32_t entry = 0;
	bool found = false;
	size_t at;

	if (!rt_ok(s) || !yyjson_is_str(v) || id.size == 0 || id.ptr[0] == ':' || id.ptr[0] == '@')
		return SIZE_MAX;
	rt_status st = rt_resolve_entry(b->view.project, place, id, false, &entry, &s->error);

	if (st == RT_OK)
		RT_TRY(s, rt_take_find(b->view.project, b->take, entry, &at, NULL, &found, &s->error));
	else if (st != RT_NOT_FOUND && st != RT_AMBIGUOUS)
		rt_scope_note(s, st);
	if (!rt_ok(s))
		return SIZE_MAX;
	if (found && at >= b->from && at < b->end)
		return at - b->from;
	return raw ? find_raw_id(b, id) : SIZE_MAX;
}

/* Records a compaction and the range it replaces. */
static void
add_compaction(building *b, size_t at)
{
	const rt_context_entry *e = read_alone(b, b->entry, at);
	rt_compaction c = {.at = at, .first_kept = SIZE_MAX};

	/* a purged one replaces nothing: its entries are sent again */
	if (e == NULL || e->body->format == RT_BODY_PURGED)
		return;
	yyjson_val *first_kept = rt_context_entry_field(e, "first_kept", "firstKeptEntryId");
	yyjson_val *from = rt_body_field(e->body, "from"), *to = rt_body_field(e->body, "to");

	c.is_range = first_kept == NULL && from != NULL && to != NULL;
	if (c.is_range) {
		c.from = find_id(b, from, false);
		c.to = find_id(b, to, false);
		if (c.from == SIZE_MAX || c.to == SIZE_MAX) { /* not on the path */
			c.from = 1;
			c.to = 0;
		}
	} else {
		c.first_kept = find_id(b, first_kept, e->record != NULL);
	}
	if (rt_ok(b->scope))
		b->compactions[b->compaction_count++] = c;
}

/* The position after the last one: that of the given entry, else the head. */
static void
find_end(building *b)
{
	rt_scope *s = b->scope;
	bool found = true;
	size_t at;

	b->end = rt_seq_count(b->take->slots);
	if (b->options->upto != 0) {
		RT_TRY(s, rt_take_find(b->view.project, b->take, b->options->upto, &at, NULL, &found,
				       &s->error));
		if (rt_ok(s) && !found)
			rt_scope_fail(s, RT_NOT_FOUND, "the take does not contain that entry");
		if (rt_ok(s))
			b->end = at + 1;
	} else if (b->take->number == b->disc->active) {
		RT_TRY(s, rt_disc_head_at(b->view.project, b->disc, &b->end, &s->error));
	}
}

/* Was there ever a compaction? If there are many names, the answer is yes. */
static bool
may_be_compacted(const building *b)
{
	const rt_strs *names = b->view.project->ledger->names;
	uint32_t count = rt_strs_count(names);
	rt_scope *s = b->scope;

	for (uint32_t i = 1; rt_ok(s) && count <= NAMES && i <= count; i++) {
		rt_str name;

		if (RT_TRY(s, rt_strs_get(names, i, &name, &s->error)) == RT_OK &&
		    rt_str_is(name, "compaction"))
			return true;
	}
	return count > NAMES;
}

/* A question without a reply that another message of the user follows is not sent: that message
 * took its place. */
static void
skip_failures(building *b)
{
	rt_scope *s = b->scope;

	if (rt_fields_get(b->disc->fields, RT_STR("failures")).ptr == NULL)
		return;
	for (size_t i = 0; rt_ok(s) && i + 1 < b->count; i++) {
		char id[RT_ID_MAX + 1] = "";
		rt_str role = {0};

		RT_TRY(s, rt_entry_id(b->view.project, b->slots[i].entry, id, &s->error));
		RT_TRY(s, rt_project_name(b->view.project, b->slots[i + 1].role, &role, &s->error));
		if (rt_ok(s) && rt_disc_has_failure(b->disc, rt_str_of(id)) &&
		    !rt_role_is_assistant(role))
			b->skip[i] = true;
	}
}

/* How much of the path's end to read first. All of it if earlier entries may matter: a compaction
 * replaces the entries before it, and the callback for parts is called for those that are left out
 * too. */
static size_t
first_window(const building *b)
{
	bool whole = b->options->budget_tokens == 0 || b->options->part != NULL;

	return whole || may_be_compacted(b) ? SIZE_MAX : WINDOW;
}

static void
read_path(building *b, size_t window)
{
	rt_scope *s = b->scope;
	size_t compactions = 0;

	rt_scope_reset(b->path);
	b->from = b->end > window ? b->end - window : 0;
	b->count = b->end - b->from;
	b->slots = rt_scope_array(b->path, b->count, sizeof(*b->slots));
	b->skip = rt_scope_array(b->path, b->count, sizeof(*b->skip));
	if (rt_scope_adopt(s, b->path) == RT_OK && b->count > 0)
		RT_TRY(s, rt_seq_copy(b->take->slots, b->from, b->count, b->slots, &s->error));
	for (size_t i = 0; rt_ok(s) && i < b->count; i++) {
		b->skip[i] = has_kind(b, i, "compaction");
		compactions += b->skip[i];
	}
	b->compactions = rt_scope_array(b->path, compactions, sizeof(*b->compactions));
	b->compaction_count = 0;
	rt_scope_adopt(s, b->path);
	for (size_t i = 0; rt_ok(s) && i < b->count; i++) {
		bool muted = (b->slots[i].flags & RT_SLOT_MUTED) != 0;

		if (b->skip[i] && !muted)
			add_compaction(b, i);
		b->skip[i] = b->skip[i] || muted;
	}
	skip_failures(b);
}

/* Notes the changes by context edits among the steps. */
static void
read_edits(building *b)
{
	for (size_t i = 0; rt_ok(b->scope) && i < b->steps.count; i++) {
		size_t at = b->steps.items[i].at;

		if (b->steps.items[i].is_summary || !has_kind(b, at, "context_edit"))
			continue;
		const rt_context_entry *e = read_alone(b, b->entry, at);
		size_t target = e == NULL ? SIZE_MAX
					  : find_id(b, rt_context_entry_field(e, "targetId", "targetId"),
						    e->record != NULL);

		if (target == SIZE_MAX)
			continue;
		if (b->edits == NULL)
			b->edits = rt_scope_array(b->scope, b->count, sizeof(*b->edits));
		if (b->edits != NULL)
			b->edits[target] = at + 1;
	}
}

/* Applies the context edit of an entry, if there is one. true: the entry is left out. */
static bool
edit(building *b, const rt_context_step *step, rt_context_entry *e)
{
	if (b->edits == NULL || b->edits[step->at] == 0)
		return false;
	const rt_context_entry *by = read_entry(b, b->entry, b->edits[step->at] - 1);

	if (by == NULL)
		return true;
	yyjson_val *replacement = rt_context_entry_field(by, "replacement", "replacement");
	yyjson_val *content = rt_json_get(replacement, "content");
	bool is_fixed = step->is_summary || rt_str_is(e->kind, "branch_summary") ||
			rt_str_is(e->role, "system"); /* only removed, never changed */

	if (!is_fixed && yyjson_is_str(content)) {
		e->content = rt_json_str(content);
		e->content_json = NULL;
	} else if (!is_fixed && yyjson_is_arr(content)) {
		e->content_json = content;
	}
	return yyjson_is_null(replacement);
}

/* Reports the blocks of an entry that the request cannot contain. */
static void
report_unsent(building *b, size_t at)
{
	rt_scope *s = b->scope;
	rt_buf *out = b->options->unsent;
	rt_model_request *r = b->request;
	rt_str model = b->options->model, service = b->options->service;
	char id[RT_ID_MAX + 1];

	if (model.size == 0 || service.size == 0)
		service = rt_str_of(r->provider->name);
	if (out != NULL && r->unsent_count > 0)
		RT_TRY(s, rt_entry_id(b->view.project, b->slots[at].entry, id, &s->error));
	for (size_t i = 0; rt_ok(s) && out != NULL && i < r->unsent_count; i++) {
		rt_str type = r->unsent[i].type;
		size_t count = r->unsent[i].count, size = rt_utf8_cut(type, 40);

		rt_buf_add_f(out, "%zu block%s ", count, count == 1 ? "" : "s");
		rt_buf_add_c(out, size > 0 ? "of type " : "without a type");
		for (size_t k = 0; k < size; k++) /* one line, whatever the type is called */
			rt_buf_add_byte(out, (unsigned char)type.ptr[k] < ' ' ? '?' : type.ptr[k]);
		rt_buf_add_f(out, " in entry %s %s not sent: a request to %.*s%s%.*s cannot contain %s\n",
			     id, count == 1 ? "is" : "are", RT_STR_ARG(service),
			     model.size > 0 ? "/" : "", RT_STR_ARG(model), count == 1 ? "it" : "them");
		rt_scope_note(s, out->status);
	}
	r->unsent_count = 0;
}

/* The entry of a step in the form in which it is sent; NULL: it is left out, or could not be
 * read. */
static const rt_context_entry *
step_entry(building *b, const rt_context_step *step)
{
	rt_context_entry *e = read_alone(b, b->entry, step->at);
	/* pi's compaction contains the prompt of that time */
	bool is_replaced = e != NULL && step->is_kept && e->body->format == RT_BODY_PI &&
			   rt_str_is(e->role, "system");

	return e == NULL || edit(b, step, e) || is_replaced ? NULL : e;
}

/* First the calls of tools are paired with their results. */
static void
pair_steps(building *b)
{
	for (size_t i = 0; rt_ok(b->scope) && i < b->steps.count; i++) {
		const rt_context_step *step = &b->steps.items[i];

		/* most entries: they have no call, and no call waits for a result */
		if (!is_rich(b, step->at) && b->pairs.pending_count == 0 && b->edits == NULL)
			continue;
		const rt_context_entry *e = step_entry(b, step);

		if (e != NULL && step->is_summary)
			b->pairs.pending_count = 0;
		else if (e != NULL)
			rt_context_entry_pair(e, &b->pairs);
	}
}

static void
send_files(building *b)
{
	if (b->options->files != NULL && !b->has_sent_files)
		rt_attachments_send(b->options->files, b->request);
	b->has_sent_files = true;
	b->request->unsent_count = 0; /* images are tested before (rt_attachments_check) */
}

static void
send_steps(building *b)
{
	for (size_t i = 0; rt_ok(b->scope) && i < b->steps.count; i++) {
		const rt_context_step *step = &b->steps.items[i];
		const rt_context_entry *e = step_entry(b, step);

		if (e != NULL && (step->is_summary || !rt_context_entry_may_lead(e)))
			send_files(b);
		if (e != NULL && step->is_summary)
			rt_context_entry_summary(e, b->request);
		else if (e != NULL)
			rt_context_entry_send(e, &b->pairs, b->request);
		rt_scope_adopt(b->scope, b->entry);
		report_unsent(b, step->at);
	}
	if (rt_ok(b->scope))
		send_files(b);
}

/* ---- the budget (M4) ---- */

/* May a plain text contain thinking? */
static bool
may_think(const building *b, const rt_slot *slot)
{
	rt_str role;

	return rt_project_name(b->view.project, slot->role, &role, NULL) != RT_OK ||
	       rt_body_thinks(role);
}

/* Tokens of the sent part of a step: counted, or estimated by size. The size of a plain text is in
 * its slot, and all of it is sent unless the model wrote it: then it may contain thinking. The size
 * of a body with further fields includes all of it, sent or not. */
static size_t
step_tokens(building *b, const rt_context_step *step, bool is_sent)
{
	const rt_slot *slot = &b->slots[step->at];
	rt_token_fn count = b->surely_fits ? NULL : b->options->count;

	if (count == NULL && !is_rich(b, step->at) && slot->kind == 0 &&
	    (b->surely_fits || !is_sent || !may_think(b, slot)))
		return rt_tokens_estimate(slot->size) + RT_TOKENS_PER_MESSAGE;
	const rt_context_entry *e = read_alone(b, b->entry, step->at);

	if (e == NULL || (!step->is_summary && rt_context_entry_is_silent(e)))
		return 0;
	size_t tokens = rt_context_entry_tokens(e, b->request, count, b->options->ctx);

	return rt_scope_adopt(b->scope, b->entry) == RT_OK ? tokens : 0;
}

/* Tokens of the prompts. If they are counted, then in the form in which they are sent: those of the
 * settings as one message, the working prompt as another. */
static size_t
prompts_tokens(const building *b)
{
	rt_str top = rt_buf_str(&b->request->top), prompt;
	size_t tokens = 0;

	if (b->options->count == NULL || b->surely_fits)
		return b->prompt_tokens +
		       rt_tokens_estimate(rt_fields_get(b->disc->fields, RT_STR("prompt")).size);
	prompt = working_prompt(b);
	if (top.size > 0)
		tokens += count_tokens(b, top) + RT_TOKENS_PER_MESSAGE;
	if (prompt.size > 0)
		tokens += count_tokens(b, prompt) + RT_TOKENS_PER_MESSAGE;
	return tokens;
}

/* Tokens of the files and of the message that has them. */
static size_t
files_tokens(building *b)
{
	const rt_attachments *files = b->options->files;
	size_t tokens = 0;

	if (files == NULL)
		return 0;
	rt_buf *text = rt_scope_buf(b->path);
	for (size_t i = 0; i < files->count && rt_ok(b->scope); i++) {
		const rt_attachment *file = &files->items[i];
		size_t count = i == 0 ? RT_TOKENS_PER_MESSAGE : 0;

		if (file->mime.size > 0)
			count += RT_TOKENS_PER_IMAGE;
		rt_buf_clear(text);
		rt_attachment_add_text(text, file);
		rt_str sent = rt_scope_str(b->path, text);
		count += b->surely_fits ? rt_tokens_estimate(sent.size) : count_tokens(b, sent);
		rt_scope_adopt(b->scope, b->path);
		if (b->options->file_tokens != NULL)
			b->options->file_tokens[i] = count;
		tokens += count;
	}
	return tokens;
}

/* Is it the result of a tool's call? No request may begin with one. */
static bool
is_result(building *b, const rt_context_step *step)
{
	if (step->is_summary || !is_rich(b, step->at))
		return false;
	const rt_context_entry *e = read_alone(b, b->entry, step->at);

	return e != NULL && rt_context_entry_is_result(e);
}

static void
report_part(const building *b, const rt_context_step *step, bool left_out, size_t tokens)
{
	rt_context_part part = {step->at, b->slots[step->at].entry, step->is_summary, left_out,
				tokens};

	if (b->options->part != NULL)
		b->options->part(b->options->ctx, &part);
}

/* Every token has at least one byte, so that a budget may be enough for everything without
 * counting. */
static bool
surely_fits(const building *b)
{
	size_t bytes = b->request->top.size +
		       rt_fields_get(b->disc->fields, RT_STR("prompt")).size + RT_TOKENS_PER_REPLY;

	if (b->options->part != NULL || b->options->newest != NULL)
		return b->options->part == NULL;
	if (b->options->budget_tokens == 0)
		return false;
	for (size_t i = 0; b->options->files != NULL && i < b->options->files->count; i++)
		bytes += b->options->files->items[i].bytes.size + RT_TOKENS_PER_IMAGE;
	for (size_t i = 0; i < b->steps.count && bytes <= b->options->budget_tokens; i++) {
		size_t at = b->steps.items[i].at;

		bytes += b->slots[at].size +
			 (is_rich(b, at) ? RT_TOKENS_PER_IMAGE : RT_TOKENS_PER_MESSAGE);
	}
	return bytes <= b->options->budget_tokens;
}

/* The beginning of a rebuilt request: the number of newest entries that were sent. */
static size_t
first_sent(const building *b)
{
	size_t first = b->steps.count, sent = 0;

	while (first > 0 && (sent < *b->options->newest || b->steps.items[first - 1].is_summary))
		sent += !b->steps.items[--first].is_summary;
	return first;
}

/* Drops the oldest entries until the rest fits. Summaries stay, since they replace dropped entries,
 * and so does the newest entry, whatever its size. */
static void
fit(building *b)
{
	rt_scope *s = b->scope;
	rt_context_step *steps = b->steps.items;
	size_t count = b->steps.count, budget = b->options->budget_tokens, begin = 0, kept = 0;
	size_t summaries = 0, first = count;

	if (budget == 0 && b->options->part == NULL && b->options->totals == NULL &&
	    b->options->newest == NULL)
		return;
	b->surely_fits = surely_fits(b);
	if (b->options->newest != NULL) {
		begin = first_sent(b);
		budget = 0;
	}
	if (budget > 0 && b->options->count != NULL)
		budget = budget > RT_TOKENS_PER_REPLY ? budget - RT_TOKENS_PER_REPLY : 1;
	size_t *tokens = rt_scope_array(b->path, count, sizeof(*tokens));
	size_t of_files = rt_scope_adopt(s, b->path) == RT_OK ? files_tokens(b) : 0;
	size_t used = rt_ok(s) ? prompts_tokens(b) + of_files : 0;

	for (size_t i = 0; rt_ok(s) && i < count; i++) {
		tokens[i] = steps[i].is_summary ? step_tokens(b, &steps[i], true)
						: rt_tokens_estimate(b->slots[steps[i].at].size) +
							  RT_TOKENS_PER_MESSAGE;
		used += steps[i].is_summary ? tokens[i] : 0;
		summaries += steps[i].is_summary;
	}
	for (; rt_ok(s) && first > 0; first--) {
		size_t i = first - 1;

		if (steps[i].is_summary)
			continue;
		tokens[i] = step_tokens(b, &steps[i], true);
		if (first <= begin || (budget > 0 && used + tokens[i] > budget && first < count))
			break;
		used += tokens[i];
	}
	while (rt_ok(s) && b->options->newest == NULL && first > 0 && first + 1 < count &&
	       is_result(b, &steps[first]))
		used -= tokens[first++];
	for (size_t i = 0; rt_ok(s) && i < count; i++) {
		bool out = i < first && !steps[i].is_summary;

		if (out && i + 1 < first && b->options->part != NULL)
			tokens[i] = step_tokens(b, &steps[i], false);
		report_part(b, &steps[i], out, tokens[i]);
		if (!out)
			steps[kept++] = steps[i];
	}
	if (!rt_ok(s))
		return;
	b->left_out = count - kept;
	b->steps.count = kept;
	if (b->options->totals != NULL)
		*b->options->totals = (rt_context_totals){kept, summaries, b->from + b->left_out,
							  used, of_files};
}

/* ---- all ---- */

/* Chooses the entries that are sent. Of a long path with a budget only the end is read: more and
 * more of it, until an entry did not fit. */
static void
choose(building *b)
{
	find_end(b);
	for (size_t window = first_window(b); rt_ok(b->scope); window *= 4) {
		read_path(b, window);
		if (!rt_ok(b->scope))
			return;
		b->steps = rt_context_plan(b->path, b->count, b->skip, b->compactions,
					   b->compaction_count);
		if (rt_scope_adopt(b->scope, b->path) == RT_OK)
			fit(b);
		if (b->from == 0 || b->left_out > 0)
			return;
	}
}

static void
close_bodies(void *bodies)
{
	rt_body_reader_deinit(bodies);
}

rt_status
rt_view_context(rt_engine *engine, const rt_project *project, rt_place place,
		const rt_provider *provider, const rt_context_options *options, rt_buf *buf,
		rt_error *err)
{
	static const rt_context_options none = {0};
	rt_scope s;

	rt_scope_init(&s, engine->alloc);
	building b = {.scope = &s,
		      .path = rt_view_inner(&s),
		      .entry = rt_view_inner(&s),
		      .other = rt_view_inner(&s),
		      .view = {&s, engine, project, place},
		      .options = options != NULL ? options : &none,
		      .pairs = rt_pairs_new(&s),
		      .request = rt_request_new(&s, provider)};

	rt_scope_defer(&s, close_bodies, &b.bodies);
	b.disc = rt_view_disc(&b.view);
	b.take = rt_view_take(&b.view);
	if (!rt_ok(&s))
		return rt_scope_end(&s, err);
	b.request->entry = b.entry;
	b.request->engine = engine;
	b.request->service = b.options->service;
	b.role_map = parsed(&s, setting(&b, "setting.role_map"));
	add_prompts(&b);
	choose(&b);
	if (buf == NULL)
		return rt_scope_end(&s, err);
	read_edits(&b);
	pair_steps(&b);
	send_steps(&b);
	if (rt_ok(&s)) {
		rt_request_settings settings = request_settings(&b);

		rt_request_system(b.request, working_prompt(&b), false);
		rt_request_finish(b.request, &settings, buf);
	}
	if (rt_ok(&s) && b.options->trimmed != NULL)
		rt_buf_add_str(b.options->trimmed, rt_buf_str(&b.request->trimmed));
	return rt_scope_end(&s, err);
}
