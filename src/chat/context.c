/* SPDX-License-Identifier: MIT
 *
 * Contexts: the request that a model would be sent now (M2, M3, M5).
 *
 *   the system prompt      base, global and project, from the settings
 *   the entries            of the take up to its head, by the plan (context_plan.c):
 *                          muted ones left out, compactions for what they stand for
 *   the working prompt     "[current prompt: "…"]", when there is one
 *
 * Nothing is kept between two requests: what is sent is what is seen. The base prompt is
 * base_system_prompt; where that is empty, Retake's own, unless use_default_base_prompt is
 * false. That is empty too, since Retake does not know what it is used for.
 *
 * A context edit of pi ({"targetId","replacement"}) changes what is sent of its target
 * while both are sent; the last one counts. */
#include "chat/context_impl.h"

#define DEFAULT_BASE_PROMPT ""

/* Entries that are read first of a path that has to fit a budget; names that are looked at
 * to find out whether that will do. */
enum { WINDOW = 512, NAMES = 1000 };

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory while building a request");
}

/* What is being built. */
typedef struct building {
	rt_engine *engine;
	const rt_project *project;
	const rt_disc *disc;
	const rt_take *take;
	size_t from, end; /* positions that are looked at: up to the head */
	size_t count;     /* of them; below, position 0 is from */
	rt_slot *slots;   /* of these */
	bool *skip;
	rt_compaction *compactions;
	size_t compaction_count, compaction_room;
	rt_context_step *steps;
	size_t step_count;
	const rt_context_options *options; /* never NULL */
	rt_buf model;     /* of the options, as JSON */
	size_t prompt_tokens; /* of the settings' prompts, estimated */
	size_t left_out;  /* steps that did not fit the budget */
	bool surely_fits; /* into the budget, so that nothing is to be counted */
	size_t *edits;    /* by position: that of its edit, + 1; 0: none; NULL: none at all */
	rt_json_doc *role_map; /* NULL: none */
	rt_pairs pairs;
	rt_model_request request;
} building;

/* ---- settings ---- */

/* Of the discussion, else of the project; ptr NULL: unset. */
static rt_str
setting(const building *b, const char *key)
{
	rt_str json = rt_fields_get(b->disc->fields, rt_str_of(key));

	return json.ptr != NULL ? json : rt_fields_get(b->project->fields, rt_str_of(key));
}

size_t
rt_tokens_estimate(size_t bytes)
{
	return bytes / 4 + (bytes % 4 != 0);
}

static size_t
tokens_of(const building *b, rt_str text)
{
	return b->options->count != NULL ? b->options->count(b->options->ctx, text)
					 : rt_tokens_estimate(text.size);
}

static void
add_prompt_text(building *b, rt_str text)
{
	rt_request_prompt(&b->request, text);
	if (text.size > 0)
		b->prompt_tokens += rt_tokens_estimate(text.size) + RT_TOKENS_PER_MESSAGE;
}

/* otherwise: what is sent where the setting is empty */
static rt_status
add_prompt(building *b, const char *key, const char *otherwise, rt_error *err)
{
	rt_str json = setting(b, key), text = {NULL, 0};
	rt_json_doc *doc = NULL;
	rt_status st = json.ptr != NULL ? rt_json_read(b->engine->alloc, json, &doc, err) : RT_OK;

	if (st != RT_OK)
		return st;
	if (doc != NULL && yyjson_is_str(rt_json_root(doc)))
		text = rt_json_str(rt_json_root(doc));
	add_prompt_text(b, text.size > 0 ? text : rt_str_of(otherwise));
	rt_json_free(doc);
	return RT_OK;
}

static rt_status
add_prompts(building *b, rt_error *err)
{
	bool has_default = !rt_str_is(setting(b, "setting.use_default_base_prompt"), "false");
	rt_status st = add_prompt(b, "setting.base_system_prompt",
				  has_default ? DEFAULT_BASE_PROMPT : "", err);

	if (st == RT_OK)
		st = add_prompt(b, "setting.global_system_prompt", "", err);
	if (st == RT_OK)
		st = add_prompt(b, "setting.project_system_prompt", "", err);
	return st;
}

/* Values of the wrong type are as good as unset. */
static rt_str
number_setting(const building *b, const char *key)
{
	rt_str json = setting(b, key);
	bool is_number = json.size > 0 &&
			 (json.ptr[0] == '-' || (json.ptr[0] >= '0' && json.ptr[0] <= '9'));

	return is_number ? json : rt_str_at(NULL, 0);
}

static rt_request_settings
request_settings(const building *b)
{
	rt_request_settings s;

	s.model = setting(b, "setting.model");
	if (s.model.size < 3 || s.model.ptr[0] != '"')
		s.model = rt_str_at(NULL, 0);
	if (b->options->model.size > 0)
		s.model = rt_buf_str(&b->model);
	s.temperature = number_setting(b, "setting.temperature");
	s.top_p = number_setting(b, "setting.top_p");
	s.max_tokens = number_setting(b, "setting.max_tokens");
	s.stream = b->options->stream;
	return s;
}

/* What role_map says of a role: its exact name first, then in any case. */
static rt_str
mapped_role(const building *b, rt_str role)
{
	yyjson_val *key, *value, *found = NULL;
	size_t i, max;

	if (b->role_map == NULL)
		return rt_str_at("", 0);
	rt_json_foreach(rt_json_root(b->role_map), i, max, key, value)
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

/* The working prompt as it is sent; nothing where there is none. */
static rt_status
working_prompt(const building *b, rt_buf *text, rt_error *err)
{
	rt_str json = rt_fields_get(b->disc->fields, RT_STR("prompt"));
	rt_json_doc *doc = NULL;
	rt_status st;

	if (json.ptr == NULL)
		return RT_OK;
	st = rt_json_read(b->engine->alloc, json, &doc, err);
	if (st != RT_OK)
		return st;
	if (yyjson_get_len(rt_json_root(doc)) > 0 && yyjson_is_str(rt_json_root(doc))) {
		rt_buf_add_c(text, "[current prompt: \"");
		rt_buf_add_str(text, rt_json_str(rt_json_root(doc)));
		rt_buf_add_c(text, "\"]");
		if (text->status != RT_OK)
			st = nomem(err);
	}
	rt_json_free(doc);
	return st;
}

static rt_status
add_working_prompt(building *b, rt_error *err)
{
	rt_buf text;
	rt_status st;

	rt_buf_init(&text, b->engine->alloc, RT_BUF_UNLIMITED);
	st = working_prompt(b, &text, err);
	if (st == RT_OK)
		rt_request_system(&b->request, rt_buf_str(&text), false);
	rt_buf_deinit(&text);
	return st;
}

/* ---- entries ---- */

/* An entry with its body in hand. */
typedef struct held {
	rt_buf bytes;
	rt_body body;
	rt_context_entry entry;
} held;

static void
release(held *h)
{
	rt_body_deinit(&h->body);
	rt_buf_deinit(&h->bytes);
}

static rt_status
hold(building *b, size_t at, held *h, rt_error *err)
{
	const rt_slot *slot = &b->slots[at];
	rt_str role, kind;
	rt_status st = rt_project_name(b->project, slot->role, &role, err);

	if (st == RT_OK)
		st = rt_project_name(b->project, slot->kind, &kind, err);
	if (st != RT_OK)
		return st;
	st = rt_engine_body(b->engine, slot->body, &h->bytes, &h->body, err);
	if (st != RT_OK) {
		rt_buf_deinit(&h->bytes);
		return st;
	}
	rt_context_entry_of(&h->entry, role, kind, &h->body);
	h->entry.role_to = mapped_role(b, role);
	return RT_OK;
}

static bool
has_kind(const building *b, size_t at, const char *kind)
{
	rt_str name;

	return b->slots[at].kind != 0 &&
	       rt_project_name(b->project, b->slots[at].kind, &name, NULL) == RT_OK &&
	       rt_str_is(name, kind);
}

/* pi's own ids, where they could not become ours: in the records themselves. */
static rt_status
find_raw_id(building *b, rt_str id, size_t *out_at, rt_error *err)
{
	size_t i;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < b->count && *out_at == SIZE_MAX; i++) {
		held h;

		if ((b->slots[i].flags & RT_SLOT_RICH) == 0)
			continue;
		st = hold(b, i, &h, err);
		if (st != RT_OK)
			break;
		if (rt_str_eq(rt_json_str(rt_json_get(h.entry.record, "id")), id))
			*out_at = i;
		release(&h);
	}
	return st;
}

/* Where the entry of an id (or a label, or a unique prefix) stands; SIZE_MAX: not before
 * the head. */
static rt_status
find_id(building *b, yyjson_val *v, bool raw, size_t *out_at, rt_error *err)
{
	rt_place place = {b->disc->number, b->take->number};
	rt_str id = rt_json_str(v);
	uint32_t entry = 0;
	bool found = false;
	size_t at;
	rt_status st;

	*out_at = SIZE_MAX;
	if (!yyjson_is_str(v) || id.size == 0 || id.ptr[0] == ':' || id.ptr[0] == '@')
		return RT_OK;
	st = rt_resolve_entry(b->project, place, id, false, &entry, err);
	if (st == RT_OK)
		st = rt_take_find(b->project, b->take, entry, &at, NULL, &found, err);
	else if (st == RT_NOT_FOUND || st == RT_AMBIGUOUS)
		st = RT_OK;
	if (st == RT_OK && found && at >= b->from && at < b->end)
		*out_at = at - b->from;
	else if (st == RT_OK && raw)
		st = find_raw_id(b, id, out_at, err);
	return st;
}

/* Take a compaction in: what it says it stands for. */
static rt_status
add_compaction(building *b, size_t at, rt_error *err)
{
	rt_compaction c = {.at = at, .first_kept = SIZE_MAX};
	yyjson_val *first_kept, *from, *to;
	held h;
	rt_status st = hold(b, at, &h, err);

	if (st != RT_OK)
		return st;
	first_kept = rt_context_entry_field(&h.entry, "first_kept", "firstKeptEntryId");
	from = rt_body_field(&h.body, "from");
	to = rt_body_field(&h.body, "to");
	if (h.body.format == RT_BODY_PURGED) {
		release(&h); /* a hole stands for nothing: what it hid is seen again */
		return RT_OK;
	}
	c.is_range = first_kept == NULL && from != NULL && to != NULL;
	if (c.is_range) {
		st = find_id(b, from, false, &c.from, err);
		if (st == RT_OK)
			st = find_id(b, to, false, &c.to, err);
		if (c.from == SIZE_MAX || c.to == SIZE_MAX) { /* not on the path */
			c.from = 1;
			c.to = 0;
		}
	} else {
		st = find_id(b, first_kept, h.entry.record != NULL, &c.first_kept, err);
	}
	release(&h);
	if (st == RT_OK && b->compaction_count == b->compaction_room) {
		size_t room = b->compaction_room == 0 ? 8 : b->compaction_room * 2;
		rt_compaction *more = rt_resize(b->engine->alloc, b->compactions,
						room * sizeof(*more));

		if (more == NULL)
			return nomem(err);
		b->compactions = more;
		b->compaction_room = room;
	}
	if (st == RT_OK)
		b->compactions[b->compaction_count++] = c;
	return st;
}

/* The path ends at an entry that is named. */
static rt_status
count_upto(building *b, rt_error *err)
{
	bool found = false;
	size_t at;
	rt_status st = rt_take_find(b->project, b->take, b->options->upto, &at, NULL, &found, err);

	if (st == RT_OK && !found)
		st = rt_fail(err, RT_NOT_FOUND, "the take does not hold that entry");
	if (st == RT_OK)
		b->end = at + 1;
	return st;
}

static rt_status
find_end(building *b, rt_error *err)
{
	b->end = rt_seq_count(b->take->slots);
	if (b->options->upto != 0)
		return count_upto(b, err);
	if (b->take->number == b->disc->active)
		return rt_disc_head_at(b->project, b->disc, &b->end, err);
	return RT_OK;
}

/* Has any entry ever been a compaction? Where there are many names, perhaps. */
static rt_status
may_be_compacted(const building *b, bool *out, rt_error *err)
{
	const rt_strs *names = b->project->ledger->names;
	uint32_t count = rt_strs_count(names), i;
	rt_status st = RT_OK;

	*out = count > NAMES;
	for (i = 1; st == RT_OK && !*out && i <= count; i++) {
		rt_str name;

		st = rt_strs_get(names, i, &name, err);
		*out = st == RT_OK && rt_str_is(name, "compaction");
	}
	return st;
}

/* How much of the path's end is enough to begin with. All of it, where something further
 * ahead may matter: a compaction stands for what is before it, and who is told of each part
 * is told of those that are left out too. */
static rt_status
first_window(const building *b, size_t *out, rt_error *err)
{
	bool whole = b->options->budget_tokens == 0 || b->options->part != NULL;
	rt_status st = whole ? RT_OK : may_be_compacted(b, &whole, err);

	*out = whole ? SIZE_MAX : WINDOW;
	return st;
}

static rt_status
read_path(building *b, size_t window, rt_error *err)
{
	const rt_alloc *alloc = b->engine->alloc;
	size_t i;
	rt_status st = RT_OK;

	b->from = b->end > window ? b->end - window : 0;
	b->count = b->end - b->from;
	b->slots = rt_new_array(alloc, b->count, sizeof(*b->slots));
	b->skip = rt_new_array(alloc, b->count, sizeof(*b->skip));
	if (b->slots == NULL || b->skip == NULL)
		return nomem(err);
	if (b->count > 0)
		st = rt_seq_copy(b->take->slots, b->from, b->count, b->slots, err);
	for (i = 0; st == RT_OK && i < b->count; i++) {
		bool muted = (b->slots[i].flags & RT_SLOT_MUTED) != 0;
		bool is_compaction = has_kind(b, i, "compaction");

		b->skip[i] = muted || is_compaction;
		if (is_compaction && !muted)
			st = add_compaction(b, i, err);
	}
	return st;
}

/* Note what context edits among the steps change. */
static rt_status
read_edits(building *b, rt_error *err)
{
	size_t i, target;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < b->step_count; i++) {
		size_t at = b->steps[i].at;
		held h;

		if (b->steps[i].is_summary || !has_kind(b, at, "context_edit"))
			continue;
		st = hold(b, at, &h, err);
		if (st != RT_OK)
			break;
		st = find_id(b, rt_context_entry_field(&h.entry, "targetId", "targetId"),
			     h.entry.record != NULL, &target, err);
		release(&h);
		if (st != RT_OK || target == SIZE_MAX)
			continue;
		if (b->edits == NULL) {
			b->edits = rt_new_array(b->engine->alloc, b->count, sizeof(*b->edits));
			if (b->edits == NULL)
				return nomem(err);
			memset(b->edits, 0, b->count * sizeof(*b->edits));
		}
		b->edits[target] = at + 1;
	}
	return st;
}

/* The entry of a step with its edit, if there is one. *out_edit lives as long as it. */
static rt_status
edited(building *b, const rt_context_step *step, rt_context_entry *e, held *out_edit,
       bool *out_has_edit, bool *out_omitted, rt_error *err)
{
	yyjson_val *replacement, *content;
	rt_status st;

	*out_has_edit = *out_omitted = false;
	if (b->edits == NULL || b->edits[step->at] == 0)
		return RT_OK;
	st = hold(b, b->edits[step->at] - 1, out_edit, err);
	if (st != RT_OK)
		return st;
	*out_has_edit = true;
	replacement = rt_context_entry_field(&out_edit->entry, "replacement", "replacement");
	content = rt_json_get(replacement, "content");
	*out_omitted = yyjson_is_null(replacement);
	if (step->is_summary || rt_str_is(e->kind, "branch_summary") || rt_str_is(e->role, "system"))
		return RT_OK; /* only taken away, never changed */
	if (yyjson_is_str(content)) {
		e->content = rt_json_str(content);
		e->content_json = NULL;
	} else if (yyjson_is_arr(content)) {
		e->content_json = content;
	}
	return RT_OK;
}

/* Report the blocks of an entry that have no place in the request. */
static rt_status
tell_unsent(building *b, size_t at, rt_error *err)
{
	rt_buf *out = b->options->unsent;
	char id[RT_ID_MAX + 1];
	size_t i, k;
	rt_status st = RT_OK;

	if (out != NULL && b->request.unsent_count > 0)
		st = rt_entry_id(b->project, b->slots[at].entry, id, err);
	for (i = 0; st == RT_OK && out != NULL && i < b->request.unsent_count; i++) {
		rt_str type = b->request.unsent[i].type;
		size_t count = b->request.unsent[i].count, size = rt_utf8_cut(type, 40);

		rt_buf_add_f(out, "%zu block%s ", count, count == 1 ? "" : "s");
		rt_buf_add_c(out, size > 0 ? "of type " : "without a type");
		for (k = 0; k < size; k++) /* one line, whatever it is called */
			rt_buf_add_byte(out, (unsigned char)type.ptr[k] < ' ' ? '?' : type.ptr[k]);
		rt_buf_add_f(out, " in entry %s %s not sent: a request to %s cannot contain %s\n", id,
			     count == 1 ? "is" : "are", b->request.provider->name,
			     count == 1 ? "it" : "them");
		st = out->status == RT_OK ? RT_OK : nomem(err);
	}
	b->request.unsent_count = 0;
	return st;
}

/* One round over the steps: to pair tool calls, or to send. */
static rt_status
walk(building *b, bool send, rt_error *err)
{
	size_t i;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < b->step_count; i++) {
		const rt_context_step *step = &b->steps[i];
		bool has_edit, omitted;
		held h, edit;

		/* most entries: no call in them, and none waits for a result */
		if (!send && (b->slots[step->at].flags & RT_SLOT_RICH) == 0 &&
		    b->pairs.pending_count == 0 && b->edits == NULL)
			continue;
		st = hold(b, step->at, &h, err);
		if (st != RT_OK)
			break;
		st = edited(b, step, &h.entry, &edit, &has_edit, &omitted, err);
		/* pi's compaction has the prompt as it was then */
		if (step->is_kept && h.body.format == RT_BODY_PI && rt_str_is(h.entry.role, "system"))
			omitted = true;
		if (st == RT_OK && !omitted) {
			if (!send && !step->is_summary)
				rt_context_entry_pair(&h.entry, &b->pairs);
			else if (!send)
				b->pairs.pending_count = 0;
			else if (step->is_summary)
				rt_context_entry_summary(&h.entry, &b->request);
			else
				rt_context_entry_send(&h.entry, &b->pairs, &b->request);
		}
		if (st == RT_OK && send)
			st = tell_unsent(b, step->at, err);
		if (has_edit)
			release(&edit);
		release(&h);
	}
	return st == RT_OK && b->pairs.nomem ? nomem(err) : st;
}

/* ---- the budget (M4) ---- */

/* Tokens of what is sent of a step: counted, or estimated by size. A plain text's size is in its
 * slot; that of a body with further fields is the size of all of it, sent or not. */
static rt_status
step_tokens(building *b, const rt_context_step *step, size_t *out, rt_error *err)
{
	const rt_slot *slot = &b->slots[step->at];
	rt_token_fn count = b->surely_fits ? NULL : b->options->count;
	rt_status st = RT_OK;
	held h;

	if (count == NULL && (slot->flags & RT_SLOT_RICH) == 0 && slot->kind == 0) {
		*out = rt_tokens_estimate(slot->size) + RT_TOKENS_PER_MESSAGE;
		return RT_OK;
	}
	st = hold(b, step->at, &h, err);
	if (st != RT_OK)
		return st;
	if (!step->is_summary && rt_context_entry_is_silent(&h.entry))
		*out = 0;
	else if (rt_context_entry_tokens(&h.entry, &b->request, count, b->options->ctx, out) != RT_OK)
		st = nomem(err);
	release(&h);
	return st;
}

/* Tokens of the prompts. Where somebody counts, they are counted as they are sent: those of
 * the settings as one message, the working prompt as another. */
static rt_status
prompts_tokens(const building *b, size_t *out, rt_error *err)
{
	rt_str top = rt_buf_str(&b->request.top);
	rt_buf text;
	rt_status st;

	if (b->options->count == NULL || b->surely_fits) {
		*out = b->prompt_tokens +
		       rt_tokens_estimate(rt_fields_get(b->disc->fields, RT_STR("prompt")).size);
		return RT_OK;
	}
	rt_buf_init(&text, b->engine->alloc, RT_BUF_UNLIMITED);
	st = working_prompt(b, &text, err);
	*out = top.size > 0 ? tokens_of(b, top) + RT_TOKENS_PER_MESSAGE : 0;
	if (text.size > 0)
		*out += tokens_of(b, rt_buf_str(&text)) + RT_TOKENS_PER_MESSAGE;
	rt_buf_deinit(&text);
	return st;
}

/* Is it the result of a tool's call? It does not stand at the beginning. */
static rt_status
is_result(building *b, size_t at, bool *out, rt_error *err)
{
	rt_status st;
	held h;

	*out = false;
	if ((b->slots[at].flags & RT_SLOT_RICH) == 0)
		return RT_OK;
	st = hold(b, at, &h, err);
	if (st == RT_OK) {
		*out = rt_context_entry_is_result(&h.entry);
		release(&h);
	}
	return st;
}

static void
tell(const building *b, const rt_context_step *step, bool left_out, size_t tokens)
{
	rt_context_part part = {step->at, b->slots[step->at].entry, step->is_summary, left_out,
				tokens};

	if (b->options->part != NULL)
		b->options->part(b->options->ctx, &part);
}

/* No token has less than a byte, so that a budget may hold all without counting any. */
static bool
surely_fits(const building *b)
{
	size_t bytes = b->request.top.size +
		       rt_fields_get(b->disc->fields, RT_STR("prompt")).size + RT_TOKENS_PER_REPLY;
	size_t i;

	if (b->options->part != NULL || b->options->newest != NULL)
		return b->options->part == NULL;
	if (b->options->budget_tokens == 0)
		return false;
	for (i = 0; i < b->step_count && bytes <= b->options->budget_tokens; i++)
		bytes += b->slots[b->steps[i].at].size +
			 ((b->slots[b->steps[i].at].flags & RT_SLOT_RICH) != 0
				  ? RT_TOKENS_PER_IMAGE
				  : RT_TOKENS_PER_MESSAGE);
	return bytes <= b->options->budget_tokens;
}

/* Where a request that is built again began: so many of the newest were sent. */
static size_t
first_of(const building *b)
{
	size_t first = b->step_count, sent = 0;

	while (first > 0 && (sent < *b->options->newest || b->steps[first - 1].is_summary))
		sent += !b->steps[--first].is_summary;
	return first;
}

/* Leave the oldest entries out until the rest fits. Summaries stay, since they stand for
 * what is left out already, and so does the newest entry, whatever its size. */
static rt_status
fit(building *b, rt_error *err)
{
	size_t budget = b->options->budget_tokens, used = 0, first, i, kept = 0, begin = 0;
	size_t summaries = 0;
	size_t *tokens;
	bool at_result = true;
	rt_status st = RT_OK;

	if (budget == 0 && b->options->part == NULL && b->options->totals == NULL &&
	    b->options->newest == NULL)
		return RT_OK;
	b->surely_fits = surely_fits(b);
	if (b->options->newest != NULL) {
		begin = first_of(b);
		budget = 0;
	}
	if (budget > 0 && b->options->count != NULL)
		budget = budget > RT_TOKENS_PER_REPLY ? budget - RT_TOKENS_PER_REPLY : 1;
	tokens = rt_new_array(b->engine->alloc, b->step_count, sizeof(*tokens));
	if (tokens == NULL)
		return nomem(err);
	st = prompts_tokens(b, &used, err);
	for (i = 0; st == RT_OK && i < b->step_count; i++) {
		tokens[i] = rt_tokens_estimate(b->slots[b->steps[i].at].size) +
			    RT_TOKENS_PER_MESSAGE;
		if (b->steps[i].is_summary)
			st = step_tokens(b, &b->steps[i], &tokens[i], err);
		if (b->steps[i].is_summary) {
			used += tokens[i];
			summaries++;
		}
	}
	for (first = b->step_count; st == RT_OK && first > 0; first--) {
		if (b->steps[first - 1].is_summary)
			continue;
		st = step_tokens(b, &b->steps[first - 1], &tokens[first - 1], err);
		if (first <= begin || (budget > 0 && used + tokens[first - 1] > budget &&
				       first < b->step_count))
			break;
		used += tokens[first - 1];
	}
	while (st == RT_OK && b->options->newest == NULL && first > 0 && first + 1 < b->step_count &&
	       at_result) {
		at_result = false;
		if (!b->steps[first].is_summary)
			st = is_result(b, b->steps[first].at, &at_result, err);
		if (at_result)
			used -= tokens[first++];
	}
	for (i = 0; st == RT_OK && i < b->step_count; i++) {
		bool out = i < first && !b->steps[i].is_summary;

		if (out && i + 1 < first && b->options->part != NULL)
			st = step_tokens(b, &b->steps[i], &tokens[i], err);
		tell(b, &b->steps[i], out, tokens[i]);
		if (!out)
			b->steps[kept++] = b->steps[i];
	}
	rt_free(b->engine->alloc, tokens);
	if (st == RT_OK) {
		b->left_out = b->step_count - kept;
		b->step_count = kept;
	}
	if (st == RT_OK && b->options->totals != NULL)
		*b->options->totals = (rt_context_totals){kept, summaries, b->from + b->left_out,
							   used};
	return st;
}

/* ---- all ---- */

static void
drop_path(building *b)
{
	const rt_alloc *alloc = b->engine->alloc;

	rt_free(alloc, b->slots);
	rt_free(alloc, b->skip);
	rt_free(alloc, b->compactions);
	rt_free(alloc, b->steps);
	b->slots = NULL;
	b->skip = NULL;
	b->compactions = NULL;
	b->steps = NULL;
	b->compaction_count = b->compaction_room = b->step_count = 0;
}

/* Which entries are sent. Of a long path with a budget only the end is read: more and more
 * of it, until something did not fit. */
static rt_status
choose(building *b, rt_error *err)
{
	size_t window;
	rt_status st = find_end(b, err);

	if (st == RT_OK)
		st = first_window(b, &window, err);
	while (st == RT_OK) {
		st = read_path(b, window, err);
		if (st == RT_OK &&
		    rt_context_plan(b->engine->alloc, b->count, b->skip, b->compactions,
				    b->compaction_count, &b->steps, &b->step_count) != RT_OK)
			st = nomem(err);
		if (st == RT_OK)
			st = fit(b, err);
		if (st != RT_OK || b->from == 0 || b->left_out > 0)
			break;
		window *= 4;
		drop_path(b);
	}
	return st;
}

static rt_status
build(building *b, rt_buf *buf, rt_error *err)
{
	rt_str map = setting(b, "setting.role_map");
	rt_request_settings settings = request_settings(b);
	rt_status st = RT_OK;

	if (map.ptr != NULL)
		st = rt_json_read(b->engine->alloc, map, &b->role_map, err);
	if (st == RT_OK)
		st = add_prompts(b, err);
	if (st == RT_OK)
		st = choose(b, err);
	if (st == RT_OK)
		st = read_edits(b, err);
	if (st == RT_OK)
		st = walk(b, false, err);
	if (st == RT_OK)
		st = walk(b, true, err);
	if (st == RT_OK)
		st = add_working_prompt(b, err);
	if (st == RT_OK)
		st = rt_request_finish(&b->request, &settings, buf, err);
	if (st == RT_OK && b->options->trimmed != NULL)
		rt_buf_add_str(b->options->trimmed, rt_buf_str(&b->request.trimmed));
	return st;
}

rt_status
rt_view_context(rt_engine *engine, const rt_project *project, rt_place place,
		const rt_provider *provider, const rt_context_options *options, rt_buf *buf,
		rt_error *err)
{
	static const rt_context_options none = {0};
	building b = {.engine = engine, .project = project};
	rt_status st;

	b.options = options != NULL ? options : &none;
	st = rt_project_disc(project, place.disc != 0 ? place.disc : project->active, &b.disc, err);
	if (st != RT_OK)
		return st;
	b.take = rt_disc_take(b.disc, place.take != 0 ? place.take : b.disc->active);
	if (b.take == NULL)
		return rt_fail(err, RT_NOT_FOUND, "no such take");
	rt_buf_init(&b.model, engine->alloc, RT_BUF_UNLIMITED);
	if (b.options->model.size > 0)
		rt_json_add_string(&b.model, b.options->model);
	rt_request_init(&b.request, engine->alloc, provider);
	b.request.service = b.options->service;
	st = rt_pairs_init(&b.pairs, engine->alloc) == RT_OK ? build(&b, buf, err) : nomem(err);
	if (st == RT_OK && b.model.status != RT_OK)
		st = nomem(err);
	rt_buf_deinit(&b.model);
	rt_request_deinit(&b.request);
	rt_pairs_deinit(&b.pairs);
	rt_json_free(b.role_map);
	drop_path(&b);
	rt_free(engine->alloc, b.edits);
	return st;
}
