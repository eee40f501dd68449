/* SPDX-License-Identifier: MIT
 *
 * role, delete, move, mute, unmute, split, merge, view: changes to entries. */
#include "cli/cli.h"
#include "codec/content.h"
#include "core/role.h"

/* --- role --- */

static const rt_cli_op role_op = {
	.op = RT_OP_ENTRY_ROLE,
	.fields = {{"entry", .word = 0}, {"role", .word = 1, .is_role = true}},
	.done = "Changed the role of entry {entry}.",
};

const rt_command rt_cli_role = {
	.name = "role",
	.unchanged = "the entry already has this role",
	.group = RT_COMMANDS_WRITING,
	.min_words = 2,
	.max_words = 2,
	.usage = "ENTRY ROLE",
	.summary = "change the role of an entry",
	.about = "Any text can be a role; retake roles lists those of the project.",
	.examples = "retake role :4 System",
	.ops = "entry.role",
	.kinds = {RT_ARG_ENTRY, RT_ARG_ROLE},
	.run = rt_cli_run_op,
	.op = &role_op,
};

/* The request for each entry that the words of the command name, once. */
static void
add_named(rt_cli *cli, rt_request request, rt_cli_requests *requests)
{
	bool *is_named = rt_scope_array(&cli->s, rt_cli_count(cli) + 1, sizeof(*is_named));

	for (size_t i = 0; rt_ok(&cli->s) && i < cli->args.word_count; i++) {
		rt_cli_span span = rt_cli_range(cli, rt_cli_word(cli, i));

		for (size_t at = span.first; rt_ok(&cli->s) && at <= span.last; at++) {
			if (is_named[at])
				continue;
			is_named[at] = true;
			request.entry = rt_str_of(rt_cli_id_at(cli, at));
			rt_cli_requests_add(&cli->s, requests, &request);
		}
	}
}

/* --- delete --- */

static void
dry_delete(rt_cli *cli, rt_cli_span span)
{
	rt_buf *json = rt_scope_buf(&cli->s);

	if (!cli->json) {
		rt_entry_cursor *c = rt_cli_entries(cli, span);

		for (const rt_entry_row *e; (e = rt_entries_next(c)) != NULL;) {
			rt_term_f(&cli->out, "Would delete :%zu  ", e->at + 1);
			rt_term_line(&cli->out, rt_cli_short_id(cli, e->id));
			rt_term_c(&cli->out, "  ");
			rt_term_line(&cli->out, e->role);
			rt_term_c(&cli->out, "\n");
		}
		return;
	}
	rt_json_open(json, NULL, '{');
	rt_json_put_bool(json, "dry_run", true);
	rt_json_put_u64(json, "deleted", span.last - span.first + 1);
	rt_json_close(json, '}');
	rt_cli_print_json(cli, json);
}

static void
delete_run(rt_cli *cli, rt_cli_span span, bool is_after)
{
	const char *first = rt_cli_id_at(cli, span.first), *last = rt_cli_id_at(cli, span.last);
	const char *previous = is_after ? rt_cli_id_at(cli, span.first - 1) : NULL;
	size_t count = span.last - span.first + 1;
	const rt_result *result = rt_cli_execute(cli,
						 &(rt_request){.op = RT_OP_ENTRY_DELETE,
							       .from = rt_str_of(first),
							       .to = rt_str_of(last)},
						 1);
	const rt_take *take = rt_cli_take(cli);

	if (take == NULL)
		return;
	rt_json_put_u64(rt_cli_extra(cli), "deleted", count);
	if (is_after)
		rt_cli_say_result(cli, result,
				  "Deleted %zu entr%s after %s from take \"%s\" (still in "
				  "history).",
				  count, RT_CLI_IES(count), previous, take->name->ptr);
	else
		rt_cli_say_result(cli, result,
				  "Deleted %zu entries, %s to %s, from take \"%s\" (still in "
				  "history).",
				  count, first, last, take->name->ptr);
}

static void
delete_one(rt_cli *cli, const char *address)
{
	/* The place must be read before the deletion. A stale id is left to the engine. */
	size_t at = rt_cli_position(cli, address, NULL);
	const char *where = rt_ok(&cli->s) ? rt_cli_where(cli, rt_cli_id_at(cli, at)) : address;

	rt_cli_recover(cli, NULL);

	const rt_result *result =
		rt_cli_execute(cli,
			       &(rt_request){.op = RT_OP_ENTRY_DELETE,
					     .entry = rt_cli_request_entry(cli, address)},
			       1);
	const rt_take *take = rt_cli_take(cli);

	if (take != NULL)
		rt_cli_say_result(cli, result,
				  "Deleted entry %s from take \"%s\" (still in history).", where,
				  take->name->ptr);
}

static void
delete_several(rt_cli *cli)
{
	rt_cli_requests requests = {0};
	const rt_result *result;
	const rt_take *take;

	add_named(cli, (rt_request){.op = RT_OP_ENTRY_DELETE}, &requests);
	if (!rt_ok(&cli->s))
		return;
	result = rt_cli_execute(cli, requests.items, requests.count);
	take = rt_cli_take(cli);
	if (take == NULL)
		return;
	rt_json_put_u64(rt_cli_extra(cli), "deleted", requests.count);
	rt_cli_say_result(cli, result, "Deleted %zu entr%s from take \"%s\" (still in history).",
			  requests.count, RT_CLI_IES(requests.count), take->name->ptr);
}

static void
run_delete(rt_cli *cli)
{
	const char *after = rt_cli_flag_value(cli, "after"), *what = rt_cli_word(cli, 0);
	bool dry_run = rt_cli_has(cli, "dry-run");
	rt_cli_span span = {0};

	if ((after == NULL) == (what == NULL))
		rt_cli_fail(cli, RT_USAGE,
			    "delete needs an ENTRY, a range FROM..TO, or --after ENTRY");
	else if (dry_run && cli->args.word_count > 1)
		rt_cli_fail(cli, RT_USAGE, "--dry-run needs a single ENTRY or range");
	rt_cli_open(cli, dry_run ? RT_SESSION_LOOK : RT_SESSION_CHANGE);
	if (!rt_ok(&cli->s))
		return;
	if (cli->args.word_count > 1) {
		delete_several(cli);
		return;
	}
	if (after != NULL) {
		span.first = rt_cli_position(cli, after, NULL) + 1;
		span.last = rt_cli_count(cli);
		if (rt_ok(&cli->s) && span.first == span.last) {
			rt_cli_hint(cli, "Nothing was changed.");
			rt_cli_fail(cli, RT_REFUSED, "there is no entry after %s", after);
		}
		span.last--;
	} else if (strstr(what, "..") != NULL || dry_run) {
		span = rt_cli_range(cli, what);
	}
	if (!rt_ok(&cli->s))
		return;
	if (dry_run)
		dry_delete(cli, span);
	else if (after != NULL || span.first != span.last)
		delete_run(cli, span, after != NULL);
	else
		delete_one(cli, what);
}

static const rt_flag delete_flags[] = {
	{"after", 'a', "ENTRY", RT_ARG_ENTRY, "all entries after this one"},
	{"dry-run", 'n', NULL, RT_ARG_TEXT, "print only the planned deletions"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_delete = {
	.name = "delete",
	.alias = "del",
	.group = RT_COMMANDS_WRITING,
	.traits = RT_COMMAND_DRY_RUN,
	.max_words = RT_COMMAND_WORDS_ANY,
	.usage = "ENTRY… | FROM..TO… | --after ENTRY",
	.summary = "delete entries from the take",
	.about =
		"Deleted entries remain in the history, and undo restores them. To remove a "
		"secret permanently: retake help purge.",
	.examples = "retake delete :4\nretake delete :4..:9\nretake delete :2 :5\nretake delete --after :4",
	.ops = "entry.delete",
	.flags = delete_flags,
	.kinds = {RT_ARG_ENTRY},
	.run = run_delete,
};

/* --- move --- */

static void
run_move(rt_cli *cli)
{
	rt_request request = {.op = RT_OP_ENTRY_MOVE};

	rt_cli_request_place(cli, &request);
	request.entry = rt_cli_request_entry(cli, rt_cli_word(cli, 0));
	rt_cli_do(cli, &request, "Moved entry {entry}.");
}

static const rt_flag move_flags[] = {
	{"before", 'b', "ENTRY", RT_ARG_ENTRY, "the entry before which it is added"},
	{"after", 'a', "ENTRY", RT_ARG_ENTRY, "the entry after which it is added"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_move = {
	.name = "move",
	.unchanged = "the entry already has this position",
	.alias = "mv",
	.group = RT_COMMANDS_WRITING,
	.min_words = 1,
	.max_words = 1,
	.usage = "ENTRY --before|--after ENTRY",
	.summary = "move an entry within the take",
	.examples = "retake move :7 --before :3",
	.ops = "entry.move",
	.flags = move_flags,
	.kinds = {RT_ARG_ENTRY},
	.run = run_move,
};

/* --- mute, unmute --- */

static void
mute(rt_cli *cli, bool muted)
{
	rt_request request = {.op = RT_OP_ENTRY_MUTE, .muted = rt_cli_yes_no(muted)};
	rt_cli_requests requests = {0};

	rt_cli_open(cli, RT_SESSION_CHANGE);
	add_named(cli, request, &requests);
	if (requests.count == 1)
		request = requests.items[0];
	if (requests.count < 2)
		rt_cli_do(cli, &request,
			  muted ? "Muted entry {entry}: still shown, but not sent."
				: "Unmuted entry {entry}: it is sent again.");
	else
		rt_cli_say_result(cli, rt_cli_execute(cli, requests.items, requests.count),
				  "%s %zu entries.", muted ? "Muted" : "Unmuted",
				  requests.count);
}

static void
run_mute(rt_cli *cli)
{
	mute(cli, true);
}

static void
run_unmute(rt_cli *cli)
{
	mute(cli, false);
}

const rt_command rt_cli_mute = {
	.name = "mute",
	.unchanged = "already muted",
	.group = RT_COMMANDS_WRITING,
	.min_words = 1,
	.max_words = RT_COMMAND_WORDS_ANY,
	.usage = "ENTRY… | FROM..TO…",
	.summary = "keep entries but do not send them",
	.examples = "retake mute :4\nretake mute :2..:3",
	.ops = "entry.mute",
	.kinds = {RT_ARG_ENTRY},
	.run = run_mute,
};

const rt_command rt_cli_unmute = {
	.name = "unmute",
	.unchanged = "not muted",
	.group = RT_COMMANDS_WRITING,
	.min_words = 1,
	.max_words = RT_COMMAND_WORDS_ANY,
	.usage = "ENTRY… | FROM..TO…",
	.summary = "send muted entries again",
	.examples = "retake unmute :4",
	.ops = "entry.mute",
	.kinds = {RT_ARG_ENTRY},
	.run = run_unmute,
};

/* --- split, merge --- */

/* Where to split: a number of characters, or before some words. */
static uint64_t
find_cut(rt_cli *cli, const char *address)
{
	rt_scope *s = &cli->s;
	const char *text = rt_cli_flag_value(cli, "before-text"), *word = rt_cli_word(cli, 1);
	rt_str content = {NULL, 0};
	uint64_t cut = 1;

	if ((text == NULL) == (word == NULL))
		rt_cli_fail(cli, RT_USAGE,
			    "split needs a number of characters, or --before-text TEXT");
	else if (word != NULL)
		cut = rt_cli_number(cli, word, "number of characters in the first half");

	uint32_t number = rt_cli_entry(cli, address, false);
	rt_view view = rt_cli_view(cli);
	const rt_entry_row *entry = rt_ok(s) ? rt_entry_find(&view, number) : NULL;

	/* The engine refuses entries without a single text. */
	if (entry == NULL || !rt_content_one_text(entry->content, &content))
		return 1;

	size_t count = rt_utf8_count(content);

	if (count < 2)
		rt_cli_fail(cli, RT_REFUSED,
			    "entry %s has %zu character%s; it cannot be split", address,
			    count, RT_CLI_S(count));
	else if (word != NULL && (cut == 0 || cut >= count))
		rt_cli_fail(cli, RT_USAGE,
			    "entry %s has %zu characters; it can be split after 1 to %zu of "
			    "them, not after %s",
			    address, count, count - 1, word);
	if (word != NULL || !rt_ok(s))
		return cut;

	size_t found = rt_str_find(content, rt_str_of(text), 0);

	if (found == SIZE_MAX)
		rt_cli_fail(cli, RT_NOT_FOUND, "entry %s does not contain \"%.80s\"",
			    address, text);
	return found == SIZE_MAX ? 0 : rt_utf8_count(rt_str_at(content.ptr, found));
}

static void
run_split(rt_cli *cli)
{
	const char *address = rt_cli_word(cli, 0);

	rt_cli_open(cli, RT_SESSION_CHANGE);
	rt_cli_do(cli,
		  &(rt_request){.op = RT_OP_ENTRY_SPLIT,
				.offset = rt_cli_given_number(find_cut(cli, address)),
				.entry = rt_cli_request_entry(cli, address),
				.id = rt_str_of(rt_cli_flag_value(cli, "id"))},
		  "Split: the second half is entry {entry}.");
}

static const rt_flag split_flags[] = {
	{"before-text", 'b', "TEXT", RT_ARG_TEXT, "split before these words"},
	{"id", 0, "ID", RT_ARG_TEXT, "id of the second half"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_split = {
	.name = "split",
	.group = RT_COMMANDS_WRITING,
	.min_words = 1,
	.max_words = 2,
	.usage = "ENTRY AT | ENTRY --before-text TEXT",
	.summary = "split an entry in two",
	.about =
		"AT is a number of characters (code points). The first half keeps the id.",
	.examples = "retake split :4 120\nretake split :4 --before-text \"Second,\"",
	.ops = "entry.split",
	.flags = split_flags,
	.kinds = {RT_ARG_ENTRY, RT_ARG_TEXT},
	.run = run_split,
};

static const rt_cli_op merge_op = {
	.op = RT_OP_ENTRY_MERGE,
	.fields = {{"entry", .word = 0}},
	.done = "Merged the next entry into entry {entry}.",
};

const rt_command rt_cli_merge = {
	.name = "merge",
	.alias = "join",
	.group = RT_COMMANDS_WRITING,
	.min_words = 1,
	.max_words = 1,
	.usage = "ENTRY",
	.summary = "merge an entry with the next one",
	.about = "The text of the next entry is appended to this one, without a separator.",
	.examples = "retake merge :4",
	.ops = "entry.merge",
	.kinds = {RT_ARG_ENTRY},
	.run = rt_cli_run_op,
	.op = &merge_op,
};

/* --- view --- */

/* Edit mode is the default of every entry, so for show it is not a request for the source of a
 * reply. address NULL: all entries of the take. */
static void
advise_source(rt_cli *cli, const char *address)
{
	rt_view view;
	const rt_entry_row *e = NULL;

	if (cli->json || cli->quiet || !rt_ok(&cli->s))
		return;
	if (address != NULL) {
		view = rt_cli_view(cli);
		e = rt_entry_find(&view, rt_cli_entry(cli, address, true));
	}
	if (rt_ok(&cli->s) && (e == NULL || !rt_role_is_source(e->role)))
		rt_cli_advise(cli,
			      "On a terminal, show renders replies in either mode. Their source: "
			      "retake show %s --raw\n",
			      address != NULL ? address : "ENTRY");
}

static void
run_view(rt_cli *cli)
{
	bool collapse = rt_cli_has(cli, "collapse"), expand = rt_cli_has(cli, "expand");
	bool read = rt_cli_has(cli, "read"), edit = rt_cli_has(cli, "edit");
	bool all = rt_cli_has(cli, "all");
	const char *address = rt_cli_word(cli, 0);
	rt_request request = {.op = RT_OP_ENTRY_VIEW, .all = rt_cli_yes_if(all)};
	const rt_result *result;

	if (all == (address != NULL))
		rt_cli_fail(cli, RT_USAGE, "view needs an ENTRY, or --all");
	if (collapse + expand > 1 || read + edit > 1 || collapse + expand + read + edit == 0)
		rt_cli_fail(cli, RT_USAGE,
			    "view needs --collapse or --expand, or --read or --edit");
	rt_cli_open(cli, RT_SESSION_CHANGE);
	if (!all && rt_ok(&cli->s))
		request.entry = rt_cli_request_entry(cli, address);
	if (collapse || expand)
		request.collapsed = rt_cli_yes_no(collapse);
	if (read || edit)
		request.read_mode = rt_cli_yes_no(read);
	result = rt_cli_execute(cli, &request, 1);
	/* Changes of views are not steps: there is nothing to undo. */
	if (cli->json || result->unchanged)
		rt_cli_say_result(cli, result, "%s", "");
	else if (rt_ok(&cli->s) && !cli->quiet)
		rt_term_c(&cli->out,
			  "Changed the display (not a step; undo does not affect it).\n");
	if (edit)
		advise_source(cli, address);
}

static const rt_flag view_flags[] = {
	{"all", 'a', NULL, RT_ARG_TEXT, "all entries of the take"},
	{"collapse", 'c', NULL, RT_ARG_TEXT, "show only a preview"},
	{"expand", 'x', NULL, RT_ARG_TEXT, "show the whole text"},
	{"read", 0, NULL, RT_ARG_TEXT, "render as Markdown, on a terminal"},
	{"edit", 0, NULL, RT_ARG_TEXT, "show the source of a question"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_view_command = {
	.name = "view",
	.group = RT_COMMANDS_WRITING,
	.max_words = 1,
	.usage = "ENTRY|--all --collapse|--expand|--read|--edit",
	.summary = "collapse or expand entries, or set read or edit mode",
	.about = "The display of an entry is not part of the history: undo does not change it.",
	.examples = "retake view :4 --collapse\nretake view --all --expand",
	.ops = "entry.view",
	.flags = view_flags,
	.kinds = {RT_ARG_ENTRY},
	.run = run_view,
};
