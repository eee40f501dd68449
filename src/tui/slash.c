/* SPDX-License-Identifier: MIT
 *
 * Commands of the chat: lines that begin with "/". Commands of the
 * command line work, too. */
#include <stdio.h>
#include <string.h>

#include "tui/slash_ask.h"
#include "tui/slash_show.h"
#include "tui/pending.h"
#include "tui/switch.h"
#include "tui/verb_impl.h"

static rt_status
no_entry(rt_tui *tui)
{
	rt_tui_say(tui, "There is no entry before the head");
	return RT_OK;
}

/* The entry at the head, or 0. */
static uint32_t
entry_at_head(rt_tui *tui)
{
	size_t head = rt_work_head(&tui->work);
	rt_slot slot;

	if (head == 0 || rt_seq_get(tui->work.take->slots, head - 1, &slot, NULL) != RT_OK)
		return 0;
	return slot.entry;
}

/* A verb on the entry at the head, whose question is answered by the line. */
static rt_status
verb_at_head(rt_tui *tui, rt_action action, rt_str answer)
{
	uint32_t entry = entry_at_head(tui);

	if (rt_work_filters_head(&tui->work)) {
		rt_tui_say(tui, "The entry at the head is not shown; /only shows all");
		return RT_OK;
	}
	return entry == 0 ? no_entry(tui) : rt_verb_with(tui, action, &entry, 1, answer);
}

/* The same, but with an empty line the question is asked. */
static rt_status
verb_or_question(rt_tui *tui, rt_action action, rt_str answer)
{
	uint32_t entry = entry_at_head(tui);
	bool used;

	if (answer.size > 0 || entry == 0 || rt_work_filters_head(&tui->work))
		return verb_at_head(tui, action, answer);
	return rt_verb_act(tui, action, &entry, 1, &used);
}

static rt_status
source(rt_tui *tui, rt_action action, rt_str rest)
{
	(void)rest;
	return verb_or_question(tui, action, RT_STR(""));
}

static rt_status
undo(rt_tui *tui, rt_action action, rt_str count)
{
	for (size_t i = 0; i < count.size; i++)
		if (count.ptr[i] < '0' || count.ptr[i] > '9' || count.size > 9) {
			rt_tui_say_str(tui, RT_STR("How many steps? For example /undo 3"),
				       RT_INK_ERROR);
			return RT_OK;
		}
	return rt_verb_with(tui, action, NULL, 0, count);
}

/* ---- lists to choose from ---- */

/* Messages of the user: the path before the chosen one becomes a discussion, and its text goes back
 * into the input. */
static rt_status
extracted(rt_tui *tui, void *ctx, rt_status st, rt_work_said *said, const rt_error *err)
{
	const rt_text *text = ctx;
	rt_status then = rt_pending_change_report(tui, NULL, st, said, err);

	return then == RT_OK && st == RT_OK ? rt_tui_fill_input(tui, rt_text_str(text)) : then;
}

static void
free_text(rt_tui *tui, void *ctx)
{
	(void)tui;
	rt_text_unref(ctx);
}

static rt_status
extract(rt_tui *tui, rt_str name, uint32_t entry)
{
	rt_work *work = &tui->work;
	size_t at = rt_work_position(work, entry);
	rt_request request = {.op = RT_OP_DISCUSSION_EXTRACT, .name = {NULL, 0}};
	const rt_text *text = NULL;
	const rt_work_entry *e;
	rt_slot before = {0};
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	e = rt_work_entry_get(&s, work, entry);
	if (e != NULL && (text = rt_text_new(tui->alloc, rt_work_entry_text(&s, work, entry))) == NULL)
		(void)rt_scope_nomem(&s);
	if (name.size > 0)
		request.name = name;
	if (at == 0 || at == SIZE_MAX) { /* nothing is before it: the discussion is empty */
		request.op = RT_OP_DISCUSSION_NEW;
		if (name.size == 0)
			request.name = RT_STR("branch");
	} else {
		RT_TRY(&s, rt_seq_get(work->take->slots, at - 1, &before, &s.error));
		request.entry = rt_work_entry_id(&s, work, before.entry);
	}
	if (rt_ok(&s))
		RT_TRY(&s, rt_pending_change_start(
				   tui, &(rt_pending_change_options){.requests = &request,
								     .count = 1,
								     .done = extracted,
								     .ctx = (void *)(uintptr_t)text,
								     .free_ctx = free_text}));
	else
		rt_text_unref(text);
	return rt_verb_end(tui, &s);
}

static rt_status
chose_message(rt_tui *tui, void *ctx, rt_str answer)
{
	const rt_pick_items *n = ctx;
	uint32_t entry = rt_pick_items_at(n, answer);

	return entry == 0 ? RT_OK : extract(tui, rt_str_of(n->name), entry);
}

/* The newest first, up to a reasonable number. all: also those of other roles, after the role; no
 * hidden ones. */
static yyjson_val *
list_messages(rt_scope *s, rt_work *work, rt_pick_items *n, bool all)
{
	enum { PREVIEW = 70 };
	rt_buf *json = rt_scope_buf(s), *row = rt_scope_buf(s);

	rt_json_open(json, NULL, '[');
	for (size_t at = all ? rt_work_head(work) : rt_work_count(work);
	     rt_ok(s) && at-- > 0 && n->count < RT_PICK_ITEMS_MAX;) {
		rt_work_entry e;
		rt_slot slot;

		RT_TRY(s, rt_seq_get(work->take->slots, at, &slot, &s->error));
		if (!rt_ok(s) || (!all && (slot.flags & RT_SLOT_TURN) == 0) ||
		    RT_TRY(s, rt_work_entry_at(work, at, &e, &s->error)) != RT_OK)
			continue;
		if (!all || !e.is_hidden) {
			n->items[n->count++] = slot.entry;
			rt_buf_clear(row);
			rt_buf_add_f(row, "%zu  ", n->count);
			if (all)
				rt_buf_add_f(row, ":%zu %.*s: ", at + 1, RT_STR_ARG(e.role));
			rt_buf_add(row, e.text.ptr, rt_utf8_cut(rt_buf_str(&e.text), PREVIEW * 4));
			rt_json_put_str(json, NULL, rt_scope_str(s, row));
		}
		rt_work_entry_deinit(&e);
	}
	rt_json_close(json, ']');
	return rt_json_parse(s, rt_scope_str(s, json));
}

static rt_status
pick_message(rt_tui *tui, rt_str name, bool all, const char *title, const char *none,
	     rt_answer_fn fn)
{
	rt_pick_items *n = rt_pick_items_new(tui, name);
	yyjson_val *rows;
	rt_scope s;

	if (n == NULL)
		return RT_NOMEM;
	rt_scope_init(&s, tui->alloc);
	rows = list_messages(&s, &tui->work, n, all);
	if (rt_ok(&s) && n->count > 0) {
		RT_TRY(&s, rt_pane_pick(tui, title, rows, false, fn, n, rt_pick_items_free));
		n = NULL;
	} else if (rt_ok(&s)) {
		rt_tui_say(tui, "%s", none);
	}
	if (n == NULL && rt_ok(&s))
		rt_pane_pick_texts(tui);
	rt_pick_items_free(tui, n);
	return rt_verb_end(tui, &s);
}

static rt_status
branch(rt_tui *tui, rt_action action, rt_str name)
{
	(void)action;
	return pick_message(tui, name, false,
			    "Branch before which message? It is put in the input",
			    "You have no message here", chose_message);
}

static rt_status
chose_point(rt_tui *tui, void *ctx, rt_str answer)
{
	const rt_pick_items *n = ctx;
	uint32_t entry = rt_pick_items_at(n, answer);

	return entry == 0 ? RT_OK
			  : rt_verb_with(tui, RT_ACT_BRANCH, &entry, 1, rt_str_of(n->name));
}

/* /branch-here :2 NAME, after that entry; /branch-here NAME, after the head's; without either,
 * after the chosen one. */
static rt_status
branch_here(rt_tui *tui, rt_action action, rt_str rest)
{
	rt_work *work = &tui->work;
	rt_str name = rest, point = {0};
	uint32_t entry = 0;
	rt_error err;
	rt_status st;

	if (rest.size == 0)
		return pick_message(tui, rest, true, "Branch after which entry?",
				    "There is no entry before the head", chose_point);
	if (rest.ptr[0] != ':' && rest.ptr[0] != '@')
		return verb_at_head(tui, action, rest);
	(void)rt_str_split(&name, ' ', &point);
	st = rt_resolve_entry(work->value, work->place, point, true, &entry, &err);
	if (st != RT_OK)
		return rt_tui_say_failure(tui, st, &err);
	return rt_verb_with(tui, action, &entry, 1, name.size > 0 ? rt_str_trim(name) : name);
}

/* ---- discussions and files ---- */

/* Without a name: "discussion-2", or the next free number. Its first question is its title. */
static rt_status
new_discussion(rt_tui *tui, rt_action action, rt_str name)
{
	char generated[RT_SESSION_NAME_ROOM];

	(void)action;
	if (name.size == 0) {
		rt_session_free_name(tui->work.value, generated);
		name = rt_str_of(generated);
	}
	return rt_verb_apply(tui, &(rt_request){.op = RT_OP_DISCUSSION_NEW, .name = name});
}

rt_status
rt_slash_new(rt_tui *tui)
{
	return new_discussion(tui, RT_ACT_NONE, RT_STR(""));
}

/* Run a command of the command line. */
static rt_status
run_command(rt_tui *tui, rt_scope *s, rt_buf *line)
{
	rt_str text = rt_scope_str(s, line);

	if (rt_ok(s))
		RT_TRY(s, rt_pane_palette_run(tui, text));
	return rt_verb_end(tui, s);
}

static rt_status
rename_to(rt_tui *tui, void *ctx, rt_str name)
{
	rt_request request;
	rt_status st;

	(void)ctx;
	if (name.size == 0)
		return RT_OK;
	(void)rt_tui_begin(tui);
	request = rt_switch_request(tui, RT_OP_DISCUSSION_RENAME,
				    (rt_switch_place){tui->work.place.disc, 0});
	request.name = name;
	st = rt_tui_end(tui);
	return st == RT_OK ? rt_verb_apply(tui, &request) : st;
}

/* /rename NAME: the discussion in view; the name may have blanks. Two quoted names: on the command
 * line. Without a name it is asked for. */
static rt_status
rename_discussion(rt_tui *tui, rt_action action, rt_str name)
{
	rt_buf *line;
	rt_scope s;

	(void)action;
	if (name.size == 0)
		return rt_pane_ask(tui, "New name of this discussion", rt_tui_disc_title(tui), false,
				   rename_to, NULL, NULL);
	if (name.ptr[0] != '-' && rt_str_find(name, RT_STR("\""), 0) == SIZE_MAX)
		return rename_to(tui, NULL, name);
	rt_scope_init(&s, tui->alloc);
	line = rt_scope_buf(&s);
	rt_buf_add_f(line, "rename %.*s", RT_STR_ARG(name));
	return run_command(tui, &s, line);
}

/* /rm DISCUSSION; without one it is chosen in the list. */
static rt_status
remove_discussion(rt_tui *tui, rt_action action, rt_str name)
{
	rt_buf *line, *key;
	rt_scope s;

	(void)action;
	rt_scope_init(&s, tui->alloc);
	line = rt_scope_buf(&s);
	if (name.size > 0) {
		rt_buf_add_f(line, "rm %.*s", RT_STR_ARG(name));
		return run_command(tui, &s, line);
	}
	key = rt_scope_buf(&s);
	rt_keymap_add_key(tui->keys, RT_SCREEN_DISCUSSIONS, RT_ACT_DELETE, key);
	RT_TRY(&s, rt_pane_discussions(tui, RT_STR("")));
	if (rt_ok(&s) && key->size > 0)
		rt_tui_say(tui, "Which discussion? %.*s deletes the selected one",
			   RT_STR_ARG(rt_buf_str(key)));
	return rt_verb_end(tui, &s);
}

/* Without a file its name is completed in the input. */
static rt_status
import_file(rt_tui *tui, rt_action action, rt_str file)
{
	rt_buf *line;
	rt_scope s;

	(void)action;
	if (file.size == 0)
		return rt_slash_ask_file(tui, "/import ", "Which file? Tab completes its name");
	rt_scope_init(&s, tui->alloc);
	line = rt_scope_buf(&s);
	rt_buf_add_c(line, "import ");
	rt_buf_add_str(line, file);
	return run_command(tui, &s, line);
}

/* /export FILE, or with flags as on the command line. */
static rt_status
export_file(rt_tui *tui, rt_action action, rt_str rest)
{
	uint32_t disc = tui->work.place.disc;
	rt_buf *line;
	rt_scope s;

	(void)action;
	if (rest.size == 0)
		return rt_verb_export_to(tui, disc, 0,
					 "Export this discussion to which file? (.html, .md, "
					 ".json, .toml)");
	if (rest.ptr[0] != '-' && rt_str_find(rest, RT_STR(" -"), 0) == SIZE_MAX &&
	    memchr(rest.ptr, '\\', rest.size) == NULL && memchr(rest.ptr, '\'', rest.size) == NULL)
		return rt_verb_export_file(tui, disc, 0, rest);
	rt_scope_init(&s, tui->alloc);
	line = rt_scope_buf(&s);
	if (rt_str_starts(rest, RT_STR("-"))) {
		rt_buf_add_c(line, "export ");
	} else {
		rt_verb_add_export(line, disc, 0);
		rt_buf_add_c(line, "-o ");
	}
	rt_buf_add_str(line, rest);
	return run_command(tui, &s, line);
}

static rt_status
show_config(rt_tui *tui, rt_action action, rt_str rest)
{
	(void)action;
	(void)rest;
	return rt_pane_palette_run(tui, RT_STR("help config"));
}

static rt_status
collapse(rt_tui *tui, rt_action action, rt_str rest)
{
	(void)rest;
	return rt_pane_palette_run(tui, action == RT_ACT_FOLD_ALL ? RT_STR("view --all --collapse")
								   : RT_STR("view --all --expand"));
}

/* ---- the rest ---- */

static rt_status
run(rt_tui *tui, rt_action action, rt_str instructions)
{
	rt_run_how how = action == RT_ACT_AGAIN      ? RT_RUN_AGAIN
			 : action == RT_ACT_CONTINUE ? RT_RUN_CONTINUE
						     : RT_RUN_COMPACT;

	return rt_verb_run(tui, &(rt_run_request){.how = how,
						  .instructions = how == RT_RUN_COMPACT
									  ? instructions
									  : rt_str_at(NULL, 0)});
}

static rt_status
model(rt_tui *tui, rt_action action, rt_str name)
{
	bool used;

	return name.size > 0 ? rt_verb_with(tui, action, NULL, 0, name)
			     : rt_verb_act(tui, action, NULL, 0, &used);
}

static rt_status
only(rt_tui *tui, rt_action action, rt_str role)
{
	(void)action;
	rt_buf_clear(&tui->work.only);
	rt_buf_add_str(&tui->work.only, role);
	if (role.size == 0)
		rt_tui_say(tui, "All roles are shown");
	return tui->work.only.status;
}

static rt_status
verb_without_entry(rt_tui *tui, rt_action action, rt_str rest)
{
	bool used;

	(void)rest;
	return rt_verb_act(tui, action, NULL, 0, &used);
}

static rt_status
act(rt_tui *tui, rt_action action, rt_str rest)
{
	(void)rest;
	return rt_tui_act(tui, action);
}

static rt_status
search(rt_tui *tui, rt_action action, rt_str words)
{
	return words.size > 0 ? rt_pane_discussions(tui, words) : rt_tui_act(tui, action);
}

static rt_status
resume(rt_tui *tui, rt_action action, rt_str words)
{
	(void)action;
	return rt_pane_discussions(tui, words);
}

static rt_status
open_screen(rt_tui *tui, rt_action action, rt_str rest)
{
	(void)rest;
	switch (action) {
	case RT_ACT_TREE: return rt_pane_tree(tui);
	case RT_ACT_HISTORY: return rt_pane_history(tui);
	default: return rt_pane_discussions(tui, RT_STR(""));
	}
}

static rt_status
help(rt_tui *tui, rt_action action, rt_str command)
{
	(void)action;
	if (command.size == 0)
		return rt_pane_palette(tui, RT_STR(""));
	return rt_pane_palette_run(tui, rt_tui_format(tui, "help %.*s", RT_STR_ARG(command)));
}

static rt_status
quit(rt_tui *tui, rt_action action, rt_str rest)
{
	(void)action;
	(void)rest;
	tui->ends = true;
	return RT_OK;
}

const rt_slash rt_slashes[] = {
	{"/again", "", "get another reply, in a new take", run, RT_ACT_AGAIN},
	{"/ask-models", "MODEL MODEL …", "ask several models; each reply is a take",
	 rt_slash_ask_models, RT_ACT_NONE},
	{"/attach", "FILE…", "attach files to the next message", rt_slash_attach, RT_ACT_NONE},
	{"/branch", "[NAME]", "choose one of your messages; the path to it becomes a discussion",
	 branch, RT_ACT_NONE},
	{"/branch-here", "[:N] [NAME]", "start a new take at an entry (or choose one)",
	 branch_here, RT_ACT_BRANCH},
	{"/branches", "[NAME]", "list the takes of this discussion, switch to one", rt_slash_branches,
	 RT_ACT_NONE},
	{"/clear", "", "start a new discussion; the current one is kept: /resume", new_discussion,
	 RT_ACT_NONE},
	{"/collapse", "", "collapse all entries", collapse, RT_ACT_FOLD_ALL},
	{"/compact", "[INSTRUCTIONS]", "summarise the beginning for the model", run, RT_ACT_COMPACT},
	{"/compare", "", "compare this take with another one", rt_slash_diff, RT_ACT_NONE},
	{"/config", "", "how to set the theme, prices, keys and providers", show_config, RT_ACT_NONE},
	{"/context", "", "show the next request: its parts and their tokens", rt_slash_context,
	 RT_ACT_NONE},
	{"/continue", "", "continue a reply that ended early", run, RT_ACT_CONTINUE},
	{"/detach", "", "remove all attached files", rt_slash_detach, RT_ACT_NONE},
	{"/diff", "", "compare this take with another one", rt_slash_diff, RT_ACT_NONE},
	{"/discussions", "", "list all discussions", open_screen, RT_ACT_DISCUSSIONS},
	{"/edit", "", "edit your last message in place", act, RT_ACT_LAST_USER},
	{"/expand", "", "expand all entries", collapse, RT_ACT_NONE},
	{"/export", "[FILE]", "export this discussion to a file: .md, .html, .json, .toml",
	 export_file, RT_ACT_NONE},
	{"/help", "[COMMAND]", "list all commands, or explain one; F1 shows the keys", help, RT_ACT_NONE},
	{"/history", "", "list all steps; preview, jump, revert", open_screen, RT_ACT_HISTORY},
	{"/import", "FILE", "import a conversation from another program", import_file, RT_ACT_NONE},
	{"/label", "[NAME]", "label the entry at the head", verb_or_question, RT_ACT_LABEL},
	{"/model", "[PROVIDER/NAME]", "choose the model", model, RT_ACT_MODEL},
	{"/new", "[NAME]", "start a discussion; without a name, its first question is the title",
	 new_discussion, RT_ACT_NONE},
	{"/only", "[ROLE]", "show only the entries of a role and of User; without a role: all",
	 only, RT_ACT_NONE},
	{"/prompt", "", "edit the working prompt", verb_without_entry, RT_ACT_PROMPT},
	{"/quit", "", "quit; nothing is lost", quit, RT_ACT_QUIT},
	{"/redo", "[N]", "redo undone steps", undo, RT_ACT_REDO},
	{"/rename", "[NAME]", "rename this discussion", rename_discussion, RT_ACT_NONE},
	{"/rename-take", "[NAME]", "rename this take", rt_slash_rename_take, RT_ACT_NONE},
	{"/resume", "[WORDS]", "list all discussions and open one", resume, RT_ACT_NONE},
	{"/rm", "[DISCUSSION]", "delete a discussion", remove_discussion, RT_ACT_NONE},
	{"/role", "[ROLE]", "change the role of the entry at the head", verb_or_question,
	 RT_ACT_ROLE},
	{"/search", "[WORDS]", "search all discussions", search, RT_ACT_SEARCH},
	{"/source", "", "switch the entry at the head between source and rendered Markdown", source,
	 RT_ACT_READ_MODE},
	{"/system", "[here]", "edit the instructions of the project, or of this discussion only", rt_slash_system,
	 RT_ACT_NONE},
	{"/takes", "", "list the takes of this discussion, switch or compare", rt_slash_branches,
	 RT_ACT_NONE},
	{"/template", "", "choose a template; it is put in the input", rt_slash_templates, RT_ACT_NONE},
	{"/tree", "", "show the tree", open_screen, RT_ACT_TREE},
	{"/undo", "[N]", "undo the newest steps", undo, RT_ACT_UNDO},
	{NULL, NULL, NULL, NULL, RT_ACT_NONE},
};

static bool
is_command(const rt_tui *tui, rt_str verb)
{
	char word[64];

	if (verb.size >= 40)
		return false;
	(void)snprintf(word, sizeof(word), "%.*s", RT_STR_ARG(rt_str_skip(verb, 1)));
	return rt_command_named(tui->commands, word) != NULL;
}

bool
rt_slash_add_ambiguous(const rt_tui *tui, rt_str verb, rt_buf *out)
{
	size_t count = 0;

	for (const rt_slash *slash = rt_slashes; verb.size > 1 && slash->name != NULL; slash++)
		if (rt_str_starts(rt_str_of(slash->name), verb))
			rt_buf_add_f(out, "%s%s", count++ > 0 ? ", " : "", slash->name);
	for (const rt_command *const *c = tui->commands; verb.size > 1 && *c != NULL; c++) {
		bool is_slash = false;

		for (const rt_slash *slash = rt_slashes; slash->name != NULL; slash++)
			is_slash = is_slash || strcmp(slash->name + 1, (*c)->name) == 0;
		if (!is_slash && ((*c)->traits & RT_COMMAND_HIDDEN) == 0 &&
		    rt_str_starts(rt_str_of((*c)->name), rt_str_skip(verb, 1)))
			rt_buf_add_f(out, "%s/%s", count++ > 0 ? ", " : "", (*c)->name);
	}
	return count > 1;
}

rt_str
rt_slash_complete(const rt_tui *tui, rt_str verb)
{
	const char *found = NULL;

	if (is_command(tui, verb))
		return verb;
	for (const rt_slash *slash = rt_slashes; slash->name != NULL; slash++) {
		if (rt_str_is(verb, slash->name))
			return verb;
		if (rt_str_starts(rt_str_of(slash->name), verb)) {
			if (found != NULL)
				return verb;
			found = slash->name;
		}
	}
	return found != NULL && verb.size > 1 ? rt_str_of(found) : verb;
}

/* Must it be parsed by the grammar of the command line? Addresses, flags and words where the slash
 * command takes none are. */
static bool
is_for_command_line(const rt_slash *slash, rt_str rest)
{
	return rest.size > 0 &&
	       (slash->words[0] == 0 || rest.ptr[0] == ':' || rest.ptr[0] == '@' ||
		(rest.size > 1 && rest.ptr[0] == '-' && rest.ptr[1] == '-'));
}

/* "two words" without the quotes. */
static rt_str
unquoted(rt_str text)
{
	bool is_quoted = text.size >= 2 && text.ptr[0] == '"' && text.ptr[text.size - 1] == '"';

	return is_quoted ? rt_str_at(text.ptr + 1, text.size - 2) : text;
}

static rt_status
run_slash(rt_tui *tui, const rt_slash *slash, rt_str line, rt_str rest)
{
	if (is_for_command_line(slash, rest)) {
		if (is_command(tui, rt_str_of(slash->name)))
			return rt_pane_palette_run(tui, rt_str_skip(line, 1));
		if (slash->words[0] == 0) {
			rt_tui_say_str(tui, rt_tui_format(tui, "%s takes no arguments", slash->name),
				       RT_INK_ERROR);
			return RT_OK;
		}
	}
	return slash->run(tui, slash->action, unquoted(rest));
}

rt_status
rt_slash_run(rt_tui *tui, rt_str line, bool *out_known)
{
	rt_str rest = line, verb = line;
	rt_status st = RT_OK;

	(void)rt_str_split(&rest, ' ', &verb);
	rest = rest.size > 0 ? rt_str_trim(rest) : RT_STR("");
	verb = rt_slash_complete(tui, verb);
	*out_known = true;
	if (rt_str_is(verb, "/exit"))
		verb = RT_STR("/quit");
	for (const rt_slash *slash = rt_slashes; slash->name != NULL; slash++)
		if (rt_str_is(verb, slash->name))
			return run_slash(tui, slash, line, rest);
	*out_known = is_command(tui, verb);
	if (*out_known)
		return rt_pane_palette_run(tui, rt_str_skip(line, 1));
	*out_known = rt_slash_template(tui, rt_str_skip(verb, 1), rest, &st);
	return st;
}
