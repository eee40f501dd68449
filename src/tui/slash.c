/* SPDX-License-Identifier: MIT
 *
 * Commands of the chat: lines that begin with "/". Those of the command line are there, too: what
 * is none of these and one of those is carried out as it would be there. */
#include <stdio.h>

#include "tui/pending.h"
#include "tui/verb_impl.h"

const rt_slash rt_slashes[] = {
	{"/again", "", "another reply, in a take of its own"},
	{"/branch", "[NAME]", "choose a message of yours; the path to it becomes a discussion"},
	{"/branch-here", "[NAME]", "a new take from the head on"},
	{"/branches", "", "the takes of this discussion, to go to one"},
	{"/compact", "[INSTRUCTIONS]", "sum up the beginning for the model"},
	{"/continue", "", "more of a reply that ended too early"},
	{"/discussions", "", "all discussions"},
	{"/edit", "", "your last message, in place"},
	{"/export", "[FILE]", "write this discussion to a file: .md, .html, .json, .toml"},
	{"/help", "", "all keys and commands"},
	{"/history", "", "every step; preview, jump, revert"},
	{"/import", "FILE", "bring in a conversation of another program"},
	{"/label", "[NAME]", "name the entry at the head"},
	{"/model", "[PROVIDER/NAME]", "who answers"},
	{"/new", "NAME", "start a discussion"},
	{"/prompt", "", "edit the working prompt"},
	{"/quit", "", "leave; nothing is lost"},
	{"/redo", "[N]", "bring back what was undone"},
	{"/role", "ROLE", "change who speaks in the entry at the head"},
	{"/search", "[WORDS]", "search all discussions"},
	{"/tree", "", "the whole tree"},
	{"/undo", "[N]", "take back the newest steps"},
	{NULL, NULL, NULL},
};

/* The entry at the head, or 0. */
static uint32_t
at_head(rt_tui *tui)
{
	size_t head = rt_work_head(&tui->work);
	rt_slot slot;
	rt_error err;

	if (head == 0 || rt_seq_get(tui->work.take->slots, head - 1, &slot, &err) != RT_OK)
		return 0;
	return slot.entry;
}

static rt_status
act_at_head(rt_tui *tui, rt_action action)
{
	uint32_t entry = at_head(tui);
	bool used;

	if (entry == 0) {
		rt_tui_say(tui, "There is no entry before the head");
		return RT_OK;
	}
	return rt_verb_act(tui, action, &entry, 1, &used);
}

/* A verb on the entry at the head, whose question the line has answered. */
static rt_status
with_head(rt_tui *tui, rt_action action, rt_str answer)
{
	uint32_t entry = at_head(tui);

	if (entry == 0) {
		rt_tui_say(tui, "There is no entry before the head");
		return RT_OK;
	}
	return rt_verb_with(tui, action, entry, answer.size > 0 ? answer : rt_str_at("", 0));
}

static rt_status
several(rt_tui *tui, bool redo, rt_str count)
{
	size_t i;

	for (i = 0; i < count.size; i++)
		if (count.ptr[i] < '0' || count.ptr[i] > '9' || count.size > 9) {
			rt_tui_say_str(tui, RT_STR("How many steps? A number, as in /undo 3"), RT_INK_ERROR);
			return RT_OK;
		}
	return rt_verb_undo(tui, redo, count);
}

/* ---- lists to choose from ---- */

static rt_status
went_to_take(rt_tui *tui, void *ctx, rt_str answer)
{
	(void)ctx;
	return answer.ptr == NULL
		       ? RT_OK
		       : rt_verb_apply(tui, &(rt_request){.op = RT_OP_TAKE_SWITCH,
								  .target = answer});
}

static rt_status
pick_take(rt_tui *tui)
{
	rt_work *work = &tui->work;
	rt_json_doc *doc = NULL;
	rt_error err;
	rt_buf json;
	uint32_t i;
	rt_status st;

	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&json, '[');
	for (i = 1; i <= rt_disc_take_count(work->disc); i++)
		if (rt_disc_take(work->disc, i)->present) {
			rt_json_add_comma(&json);
			rt_json_add_string(&json, rt_text_str(rt_disc_take(work->disc, i)->name));
		}
	rt_buf_add_byte(&json, ']');
	st = json.status == RT_OK ? rt_json_read(tui->alloc, rt_buf_str(&json), &doc, &err) : RT_NOMEM;
	if (st == RT_OK)
		st = rt_pane_pick(tui, "Which take", rt_json_root(doc), false, went_to_take, NULL, NULL);
	rt_json_free(doc);
	rt_buf_deinit(&json);
	return st;
}

/* Messages of the user: the path before the chosen one becomes a discussion, and its text is
 * handed back to be sent again. */
typedef struct messages {
	char name[300]; /* of the new discussion; may be empty */
	size_t count;
	uint32_t *entries;
} messages;

static void
free_messages(rt_tui *tui, void *ctx)
{
	messages *m = ctx;

	rt_free(tui->alloc, m->entries);
	rt_free(tui->alloc, m);
}

/* Its text, handed back when the discussion is there. */
static rt_status
extracted(rt_tui *tui, void *ctx, rt_status st, rt_work_said *said, const rt_error *err)
{
	rt_buf *text = ctx;
	rt_status then = rt_pending_change_report(tui, NULL, st, said, err);

	return then == RT_OK && st == RT_OK ? rt_tui_fill_input(tui, rt_buf_str(text)) : then;
}

static void
free_text(rt_tui *tui, void *ctx)
{
	rt_buf_deinit(ctx);
	rt_free(tui->alloc, ctx);
}

/* The path before the entry at this position. */
static rt_request
extraction(rt_tui *tui, rt_scope *s, rt_str name, size_t at)
{
	char id[RT_ID_MAX + 1] = "";
	rt_slot before = {0};

	if (at == 0 || at == SIZE_MAX) /* nothing is before it: the new discussion begins empty */
		return (rt_request){.op = RT_OP_DISCUSSION_NEW,
				    .name = name.size > 0 ? name : RT_STR("branch")};
	RT_TRY(s, rt_seq_get(tui->work.take->slots, at - 1, &before, &s->error));
	RT_TRY(s, rt_entry_id(tui->work.value, before.entry, id, &s->error));
	return (rt_request){.op = RT_OP_DISCUSSION_EXTRACT,
			    .entry = rt_scope_copy(s, rt_str_of(id)),
			    .name = name.size > 0 ? name : rt_str_at(NULL, 0)};
}

static rt_status
extract(rt_tui *tui, const messages *m, uint32_t entry)
{
	rt_pending_change_options how = {.count = 1, .done = extracted, .free_ctx = free_text};
	rt_buf *text = rt_new(tui->alloc, sizeof(*text));
	rt_request request;
	rt_work_entry e;
	rt_scope s;
	rt_status st;

	if (text == NULL)
		return RT_NOMEM;
	rt_scope_init(&s, tui->alloc);
	rt_buf_init(text, tui->alloc, RT_BUF_UNLIMITED);
	if (RT_TRY(&s, rt_work_entry_of(&tui->work, entry, &e, &s.error)) == RT_OK) {
		rt_buf_add_str(text, rt_buf_str(&e.text));
		rt_work_entry_deinit(&e);
		(void)rt_scope_str(&s, text);
	}
	request = extraction(tui, &s, rt_str_of(m->name), rt_work_position(&tui->work, entry));
	if (rt_ok(&s)) {
		how.requests = &request;
		how.ctx = text;
		st = rt_pending_change_start(tui, &how);
	} else {
		free_text(tui, text);
		st = rt_tui_say_failure(tui, s.status, &s.error);
	}
	rt_scope_deinit(&s);
	return st;
}

static rt_status
chose_message(rt_tui *tui, void *ctx, rt_str answer)
{
	const messages *m = ctx;
	size_t number = 0, i;

	if (answer.ptr == NULL)
		return RT_OK;
	for (i = 0; i < answer.size && answer.ptr[i] >= '0' && answer.ptr[i] <= '9'; i++)
		number = number * 10 + (size_t)(answer.ptr[i] - '0');
	return number == 0 || number > m->count ? RT_OK : extract(tui, m, m->entries[number - 1]);
}

static rt_status
pick_message(rt_tui *tui, rt_str name)
{
	enum { MESSAGES_MAX = 2000, PREVIEW = 70 };
	rt_work *work = &tui->work;
	messages *m = rt_new0(tui->alloc, sizeof(*m));
	rt_json_doc *doc = NULL;
	size_t at, i;
	rt_error err;
	rt_buf json;
	rt_status st = RT_OK;

	if (m == NULL)
		return RT_NOMEM;
	m->entries = rt_new_array(tui->alloc, MESSAGES_MAX, sizeof(*m->entries));
	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	if (m->entries == NULL)
		st = RT_NOMEM;
	(void)snprintf(m->name, sizeof(m->name), "%.*s", RT_STR_ARG(name));
	/* The newest first, as many as anybody would look through. */
	rt_buf_add_byte(&json, '[');
	for (at = rt_work_count(work); st == RT_OK && at-- > 0 && m->count < MESSAGES_MAX;) {
		rt_slot slot;

		st = rt_seq_get(work->take->slots, at, &slot, &err);
		if (st == RT_OK && (slot.flags & RT_SLOT_TURN) != 0)
			m->entries[m->count++] = slot.entry;
	}
	for (i = 0; st == RT_OK && i < m->count; i++) {
		rt_work_entry e;
		rt_buf row;

		st = rt_work_entry_of(work, m->entries[i], &e, &err);
		if (st != RT_OK)
			break;
		rt_buf_init(&row, tui->alloc, 4096);
		rt_buf_add_f(&row, "%zu  ", i + 1);
		rt_buf_add(&row, e.text.ptr,
			   rt_utf8_cut(rt_buf_str(&e.text), PREVIEW * 4));
		rt_json_add_comma(&json);
		rt_json_add_string(&json, rt_buf_str(&row));
		rt_buf_deinit(&row);
		rt_work_entry_deinit(&e);
	}
	rt_buf_add_byte(&json, ']');
	if (st == RT_OK)
		st = json.status == RT_OK ? rt_json_read(tui->alloc, rt_buf_str(&json), &doc, &err)
					  : RT_NOMEM;
	if (st == RT_OK && m->count == 0)
		rt_tui_say(tui, "There is no message of yours here");
	if (st == RT_OK && m->count > 0) {
		st = rt_pane_pick(tui, "Branch before which message? It comes into the input",
				  rt_json_root(doc), false, chose_message, m, free_messages);
		rt_pane_pick_texts(tui);
		m = NULL;
	}
	if (m != NULL)
		free_messages(tui, m);
	rt_json_free(doc);
	rt_buf_deinit(&json);
	return st == RT_OK || st == RT_NOMEM ? st : rt_tui_say_failure(tui, st, &err);
}

/* ---- files and names ---- */

static rt_status
named(rt_tui *tui, void *ctx, rt_str answer)
{
	(void)ctx;
	if (answer.ptr == NULL || rt_str_trim(answer).size == 0)
		return RT_OK;
	return rt_verb_apply(tui, &(rt_request){.op = RT_OP_DISCUSSION_NEW, .name = rt_str_trim(answer)});
}

rt_status
rt_slash_new(rt_tui *tui)
{
	return rt_pane_ask(tui, "Name of the new discussion", rt_str_at("", 0), false, named, NULL, NULL);
}

/* ---- dispatch ---- */

static rt_status
with_words(rt_tui *tui, const char *command, rt_str rest)
{
	rt_buf line;
	rt_status st;

	rt_buf_init(&line, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&line, command);
	rt_buf_add_byte(&line, ' ');
	rt_buf_add_str(&line, rest);
	st = line.status != RT_OK ? RT_NOMEM
	     : rest.size > 0	  ? rt_pane_palette_run(tui, rt_buf_str(&line))
				  : rt_pane_palette(tui, rt_buf_str(&line));
	rt_buf_deinit(&line);
	return st;
}

/* /export FILE, or with flags as on the command line. */
static rt_status
export_with(rt_tui *tui, rt_str rest)
{
	rt_buf line;
	rt_status st;

	rt_buf_init(&line, tui->alloc, RT_BUF_UNLIMITED);
	if (rt_str_starts(rest, RT_STR("-")))
		rt_buf_add_c(&line, "export ");
	else
		rt_verb_add_export(&line, tui->work.place.disc, 0);
	rt_buf_add_c(&line, rt_str_starts(rest, RT_STR("-")) ? "" : "-o ");
	rt_buf_add_str(&line, rest);
	st = line.status == RT_OK ? rt_pane_palette_run(tui, rt_buf_str(&line)) : RT_NOMEM;
	rt_buf_deinit(&line);
	return st;
}

static rt_status
compact(rt_tui *tui, rt_str rest)
{
	return rt_verb_run(tui, &(rt_run_request){.how = RT_RUN_COMPACT, .instructions = rest});
}

/* A command that only one begins with is that one. */
static rt_str
whole(rt_str verb)
{
	const char *found = NULL;
	size_t i;

	for (i = 0; rt_slashes[i].name != NULL; i++) {
		if (rt_str_is(verb, rt_slashes[i].name))
			return verb;
		if (rt_str_starts(rt_str_of(rt_slashes[i].name), verb)) {
			if (found != NULL)
				return verb;
			found = rt_slashes[i].name;
		}
	}
	return found != NULL && verb.size > 1 ? rt_str_of(found) : verb;
}

rt_status
rt_slash_run(rt_tui *tui, rt_str line, bool *out_known)
{
	size_t space = rt_str_find(line, RT_STR(" "), 0);
	rt_str verb = space == SIZE_MAX ? line : rt_str_at(line.ptr, space);
	rt_str rest = space == SIZE_MAX
			      ? rt_str_at("", 0)
			      : rt_str_trim(rt_str_at(line.ptr + space, line.size - space));
	bool used;
	char word[64];

	*out_known = true;
	verb = whole(verb);
	if (rt_str_is(verb, "/tree"))
		return rt_pane_tree(tui);
	if (rt_str_is(verb, "/history"))
		return rt_pane_history(tui);
	if (rt_str_is(verb, "/discussions"))
		return rt_pane_discussions(tui, rt_str_at("", 0));
	if (rt_str_is(verb, "/search"))
		return rest.size > 0 ? rt_pane_discussions(tui, rest)
				     : rt_tui_act(tui, RT_ACT_SEARCH);
	if (rt_str_is(verb, "/help"))
		return rt_pane_help(tui, RT_SCREEN_CHAT);
	if (rt_str_is(verb, "/undo"))
		return several(tui, false, rest);
	if (rt_str_is(verb, "/redo"))
		return several(tui, true, rest);
	if (rt_str_is(verb, "/branch"))
		return pick_message(tui, rest);
	if (rt_str_is(verb, "/branch-here"))
		return with_head(tui, RT_ACT_BRANCH, rest);
	if (rt_str_is(verb, "/branches"))
		return pick_take(tui);
	if (rt_str_is(verb, "/label"))
		return rest.size > 0 ? with_head(tui, RT_ACT_LABEL, rest)
				     : act_at_head(tui, RT_ACT_LABEL);
	if (rt_str_is(verb, "/role"))
		return rest.size > 0 ? with_head(tui, RT_ACT_ROLE, rest)
				     : act_at_head(tui, RT_ACT_ROLE);
	if (rt_str_is(verb, "/edit"))
		return rt_tui_act(tui, RT_ACT_LAST_USER);
	if (rt_str_is(verb, "/prompt"))
		return rt_verb_prompt(tui);
	if (rt_str_is(verb, "/model"))
		return rest.size > 0 ? rt_verb_set_model(tui, rest)
				     : rt_verb_act(tui, RT_ACT_MODEL, NULL, 0, &used);
	if (rt_str_is(verb, "/compact"))
		return compact(tui, rest);
	if (rt_str_is(verb, "/again"))
		return rt_verb_run(tui, &(rt_run_request){.how = RT_RUN_AGAIN});
	if (rt_str_is(verb, "/continue"))
		return rt_verb_run(tui, &(rt_run_request){.how = RT_RUN_CONTINUE});
	if (rt_str_is(verb, "/new") && rest.size > 0)
		return rt_verb_apply(tui, &(rt_request){.op = RT_OP_DISCUSSION_NEW, .name = rest});
	if (rt_str_is(verb, "/new"))
		return rt_slash_new(tui);
	if (rt_str_is(verb, "/export") && rest.size == 0)
		return rt_verb_export_to(
			tui, tui->work.place.disc, 0,
			"Write this discussion to which file? (.html, .md, .json, .toml)");
	if (rt_str_is(verb, "/export"))
		return export_with(tui, rest);
	if (rt_str_is(verb, "/import"))
		return with_words(tui, "import", rest);
	if (rt_str_is(verb, "/quit") || rt_str_is(verb, "/q") || rt_str_is(verb, "/exit")) {
		tui->ends = true;
		return RT_OK;
	}
	(void)snprintf(word, sizeof(word), "%.*s", (int)(verb.size > 40 ? 40 : verb.size) - 1, verb.ptr + 1);
	*out_known = verb.size < 40 && rt_command_named(tui->commands, word) != NULL;
	return *out_known ? rt_pane_palette_run(tui, rt_str_at(line.ptr + 1, line.size - 1)) : RT_OK;
}
