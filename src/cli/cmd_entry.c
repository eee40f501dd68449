/* SPDX-License-Identifier: MIT
 *
 * role, delete, move, mute, unmute, split, merge, view: what else is done to entries. */
#include "cli/cli.h"
#include "codec/content.h"
#include "view/view.h"

#include <stdio.h>

/* Carry out one request, and say "VERB entry k3f9 (User, 4 of 12)TAIL". */
static rt_status
run_and_say(rt_cli *cli, rt_old_change *change, const rt_request *request, const char *verb,
	    const char *tail)
{
	rt_status st = rt_old_change_one(change, request);
	rt_buf where;

	if (st != RT_OK)
		return st;
	rt_buf_init(&where, cli->alloc, RT_BUF_UNLIMITED);
	rt_old_add_where(cli, change->result->entry, &where);
	st = rt_old_change_say(change, "%s entry %s%s.", verb, where.size > 0 ? where.ptr : "",
			       tail);
	rt_buf_deinit(&where);
	return st;
}

/* --- role --- */

static const rt_cli_op role_op = {
	.op = RT_OP_ENTRY_ROLE,
	.fields = {{"entry", .word = 0}, {"role", .word = 1}},
	.done = "Changed the role of entry {entry}.",
};

const rt_command rt_cli_role = {
	.name = "role",
	.group = RT_COMMANDS_WRITING,
	.min_words = 2,
	.max_words = 2,
	.usage = "ENTRY ROLE",
	.summary = "change who speaks in an entry",
	.about = "Any text may be a role; retake roles lists those that the project knows.",
	.examples = "retake role :4 System",
	.ops = "entry.role",
	.kinds = {RT_ARG_ENTRY, RT_ARG_ROLE},
	.run = rt_cli_run_op,
	.op = &role_op,
};

/* --- delete --- */

static rt_status
list_doomed(rt_cli *cli, void *ctx, yyjson_val *show, size_t from)
{
	yyjson_val *entry;
	size_t i, count;

	(void)ctx;
	yyjson_arr_foreach(rt_json_get(show, "entries"), i, count, entry) {
		rt_term_f(&cli->out, "Would delete :%zu  ", from + i + 1);
		rt_term_line(&cli->out, rt_json_str(rt_json_get(entry, "id")));
		rt_term_c(&cli->out, "  ");
		rt_term_line(&cli->out, rt_json_str(rt_json_get(entry, "role")));
		rt_term_c(&cli->out, "\n");
	}
	return RT_OK;
}

static rt_status
dry_delete(rt_cli *cli, size_t first, size_t last)
{
	rt_buf buf;

	if (!cli->json)
		return rt_old_each_window(cli, first, last, list_doomed, NULL);
	rt_buf_init(&buf, cli->alloc, 4096);
	rt_buf_add_f(&buf, "{\"dry_run\":true,\"deleted\":%zu}", last - first + 1);
	(void)rt_old_print_json(cli, rt_buf_str(&buf));
	rt_buf_deinit(&buf);
	return RT_OK;
}

static rt_status
delete_run(rt_cli *cli, rt_old_change *change, size_t first, size_t last, const char *after)
{
	char from[RT_ID_ROOM], to[RT_ID_ROOM], behind[RT_ID_ROOM];
	size_t count = last - first + 1;
	const rt_take *take = NULL;
	rt_status st = rt_old_id_at(cli, first, from);

	if (st == RT_OK)
		st = rt_old_id_at(cli, last, to);
	if (st == RT_OK && after != NULL)
		st = rt_old_id_at(cli, first - 1, behind);
	if (st != RT_OK)
		return st;
	st = rt_old_change_one(change, &(rt_request){.op = RT_OP_ENTRY_DELETE,
						     .from = rt_str_of(from),
						     .to = rt_str_of(to)});
	if (st == RT_OK)
		st = rt_old_take(cli, &take);
	if (st != RT_OK)
		return st;
	rt_buf_add_f(change->extra, ",\"deleted\":%zu", count);
	if (after != NULL)
		return rt_old_change_say(change,
					 "Removed %zu entr%s after %s from take \"%s\" (still in "
					 "history).",
					 count, RT_CLI_IES(count), behind, take->name->ptr);
	return rt_old_change_say(change,
				 "Removed %zu entries, %s to %s, from take \"%s\" (still in "
				 "history).",
				 count, from, to, take->name->ptr);
}

static rt_status
delete_one(rt_cli *cli, rt_old_change *change, const char *address)
{
	const rt_take *take = NULL;
	rt_buf where;
	rt_slot slot;
	char id[RT_ID_ROOM];
	size_t at = 0;
	rt_status st;

	rt_buf_init(&where, cli->alloc, RT_BUF_UNLIMITED);
	/* Where it was can only be said beforehand. A stale id is for the engine to judge. */
	if (rt_old_position(cli, address, &at, &slot) == RT_OK &&
	    rt_entry_id(cli->session.value, slot.entry, id, &cli->error) == RT_OK)
		rt_old_add_where(cli, id, &where);
	st = rt_old_change_one(change,
			       &(rt_request){.op = RT_OP_ENTRY_DELETE,
					     .entry = rt_old_change_entry(change, address)});
	if (st == RT_OK)
		st = rt_old_take(cli, &take);
	if (st == RT_OK)
		st = rt_old_change_say(change,
				       "Removed entry %s from take \"%s\" (still in history).",
				       where.size > 0 ? where.ptr : address, take->name->ptr);
	rt_buf_deinit(&where);
	return st;
}

static rt_status
run_delete(rt_cli *cli)
{
	const char *after = rt_cli_flag_value(cli, "after"), *what = rt_cli_word(cli, 0);
	bool dry_run = rt_cli_has(cli, "dry-run");
	size_t first = 0, last = 0;
	const rt_take *take = NULL;
	rt_old_change change;
	rt_status st;

	if ((after == NULL) == (what == NULL))
		return rt_old_fail(cli, RT_USAGE,
				   "delete needs an ENTRY, a range FROM..TO, or --after ENTRY");
	st = rt_old_open(cli, dry_run ? RT_SESSION_LOOK : RT_SESSION_CHANGE);
	if (st == RT_OK)
		st = rt_old_take(cli, &take);
	if (st != RT_OK)
		return st;
	if (after != NULL) {
		st = rt_old_position(cli, after, &first, NULL);
		first++;
		last = rt_seq_count(take->slots);
		if (st == RT_OK && first == last) {
			rt_old_hint(cli, RT_REFUSED, "Nothing was changed.");
			return rt_old_fail(cli, RT_REFUSED, "nothing follows %s", after);
		}
		last--;
	} else if (strstr(what, "..") != NULL || dry_run) {
		st = rt_old_range(cli, what, &first, &last);
	}
	if (st != RT_OK)
		return st;
	if (dry_run)
		return dry_delete(cli, first, last);
	rt_old_change_init(cli, &change);
	if (after != NULL || first != last)
		st = delete_run(cli, &change, first, last, after);
	else
		st = delete_one(cli, &change, what);
	rt_old_change_deinit(&change);
	return st;
}

static const rt_flag delete_flags[] = {
	{"after", 'a', "ENTRY", RT_ARG_ENTRY, "everything that follows this entry"},
	{"dry-run", 'n', NULL, RT_ARG_TEXT, "only say what would go"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_delete = {
	.name = "delete",
	.alias = "del",
	.group = RT_COMMANDS_WRITING,
	.traits = RT_COMMAND_DRY_RUN,
	.max_words = 1,
	.usage = "ENTRY | FROM..TO | --after ENTRY",
	.summary = "take entries out of the take",
	.about =
		"What was there stays in the history, and undo brings it back. To remove a secret for "
		"good, see retake help purge.",
	.examples = "retake delete :4\nretake delete :4..:9\nretake delete --after :4",
	.ops = "entry.delete",
	.flags = delete_flags,
	.kinds = {RT_ARG_ENTRY},
	.run_status = run_delete,
};

/* --- move --- */

static rt_status
run_move(rt_cli *cli)
{
	const char *before = rt_cli_flag_value(cli, "before");
	const char *after = rt_cli_flag_value(cli, "after");
	rt_request request = {.op = RT_OP_ENTRY_MOVE};
	rt_old_change change;
	rt_status st;

	if ((before == NULL) == (after == NULL))
		return rt_old_fail(cli, RT_USAGE,
				   "move needs one of --before ENTRY and --after ENTRY");
	st = rt_old_open(cli, RT_SESSION_CHANGE);
	if (st != RT_OK)
		return st;
	rt_old_change_init(cli, &change);
	request.entry = rt_old_change_entry(&change, rt_cli_word(cli, 0));
	*(before != NULL ? &request.before : &request.after) =
		rt_old_change_entry(&change, before != NULL ? before : after);
	st = run_and_say(cli, &change, &request, "Moved", "");
	rt_old_change_deinit(&change);
	return st;
}

static const rt_flag move_flags[] = {
	{"before", 'b', "ENTRY", RT_ARG_ENTRY, "the entry that will follow"},
	{"after", 'a', "ENTRY", RT_ARG_ENTRY, "the entry that will precede"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_move = {
	.name = "move",
	.alias = "mv",
	.group = RT_COMMANDS_WRITING,
	.min_words = 1,
	.max_words = 1,
	.usage = "ENTRY --before|--after ENTRY",
	.summary = "put an entry elsewhere in the take",
	.examples = "retake move :7 --before :3",
	.ops = "entry.move",
	.flags = move_flags,
	.kinds = {RT_ARG_ENTRY},
	.run_status = run_move,
};

/* --- mute, unmute --- */

static rt_status
mute(rt_cli *cli, bool muted)
{
	rt_request request = {.op = RT_OP_ENTRY_MUTE, .muted = rt_cli_yes_no(muted)};
	rt_old_change change;
	size_t first = 0, last = 0;
	char id[RT_ID_ROOM];
	rt_status st = rt_old_open(cli, RT_SESSION_CHANGE);

	if (st == RT_OK)
		st = rt_old_range(cli, rt_cli_word(cli, 0), &first, &last);
	if (st != RT_OK)
		return st;
	rt_old_change_init(cli, &change);
	for (size_t at = first; st == RT_OK && at <= last; at++) {
		st = rt_old_id_at(cli, at, id);
		if (st != RT_OK)
			break;
		request.entry = rt_scope_copy(&change.scope, rt_str_of(id));
		if (first != last)
			rt_old_change_add(&change, &request);
	}
	if (st == RT_OK && first == last)
		st = run_and_say(cli, &change, &request, muted ? "Muted" : "Unmuted",
				 muted ? ": still in view, but not sent" : ": it is sent again");
	else if (st == RT_OK && (st = rt_old_change_run(&change)) == RT_OK)
		st = rt_old_change_say(&change, "%s %zu entries.", muted ? "Muted" : "Unmuted",
				       last - first + 1);
	rt_old_change_deinit(&change);
	return st;
}

static rt_status
run_mute(rt_cli *cli)
{
	return mute(cli, true);
}

static rt_status
run_unmute(rt_cli *cli)
{
	return mute(cli, false);
}

const rt_command rt_cli_mute = {
	.name = "mute",
	.group = RT_COMMANDS_WRITING,
	.min_words = 1,
	.max_words = 1,
	.usage = "ENTRY | FROM..TO",
	.summary = "keep entries in view but out of what is sent",
	.examples = "retake mute :4\nretake mute :2..:3",
	.ops = "entry.mute",
	.kinds = {RT_ARG_ENTRY},
	.run_status = run_mute,
};

const rt_command rt_cli_unmute = {
	.name = "unmute",
	.group = RT_COMMANDS_WRITING,
	.min_words = 1,
	.max_words = 1,
	.usage = "ENTRY | FROM..TO",
	.summary = "send muted entries again",
	.examples = "retake unmute :4",
	.ops = "entry.mute",
	.kinds = {RT_ARG_ENTRY},
	.run_status = run_unmute,
};

/* --- split, merge --- */

/* Where to cut: a number of characters, or in front of some words. */
static rt_status
find_cut(rt_cli *cli, const char *address, uint64_t *out)
{
	const char *text = rt_cli_flag_value(cli, "before-text"), *number = rt_cli_word(cli, 1);
	rt_old_view view;
	uint32_t entry = 0;
	rt_str content = {NULL, 0};
	size_t found, count;
	bool is_text = true;
	rt_status st;

	if ((text == NULL) == (number == NULL))
		return rt_old_fail(cli, RT_USAGE,
				   "split needs to know where: a number of characters, or "
				   "--before-text TEXT");
	st = number == NULL ? RT_OK
			    : rt_old_number(cli, number,
					    "how many characters stay in the first half", out);
	if (st != RT_OK)
		return st;
	st = rt_old_entry(cli, address, false, &entry);
	if (st != RT_OK)
		return st;
	rt_old_view_init(cli, &view);
	st = rt_old_view_read(cli, &view,
			      rt_view_entry(cli->session.engine, cli->session.value,
					    cli->session.place, entry, &view.buf, &cli->error));
	if (st == RT_OK) {
		/* What has not one text is for the engine to refuse. */
		is_text = rt_content_one_text(rt_content_of(rt_json_get(view.root, "content")),
					      &content);
		count = rt_utf8_count(content);
		if (is_text && count < 2)
			st = rt_old_fail(cli, RT_REFUSED,
					 "entry %s has %zu character%s; there is nothing to cut in "
					 "two",
					 address, count, RT_CLI_S(count));
		else if (is_text && number != NULL && (*out == 0 || *out >= count))
			st = rt_old_fail(cli, RT_USAGE,
					 "entry %s has %zu characters; it can be cut after 1 to %zu "
					 "of them, not after %s",
					 address, count, count - 1, number);
	}
	if (st == RT_OK && !is_text) {
		*out = 1;
	} else if (st == RT_OK && number == NULL) {
		found = rt_str_find(content, rt_str_of(text), 0);
		if (found == SIZE_MAX)
			st = rt_old_fail(cli, RT_NOT_FOUND, "\"%.80s\" does not stand in entry %s",
					 text, address);
		else
			*out = rt_utf8_count(rt_str_at(content.ptr, found));
	}
	rt_old_view_deinit(&view);
	return st;
}

static rt_status
run_split(rt_cli *cli)
{
	const char *address = rt_cli_word(cli, 0);
	uint64_t cut = 0;
	rt_old_change change;
	rt_status st = rt_old_open(cli, RT_SESSION_CHANGE);

	if (st == RT_OK)
		st = find_cut(cli, address, &cut);
	if (st != RT_OK)
		return st;
	rt_old_change_init(cli, &change);
	st = run_and_say(cli, &change,
			 &(rt_request){.op = RT_OP_ENTRY_SPLIT,
				       .entry = rt_old_change_entry(&change, address),
				       .offset = rt_cli_given_number(cut),
				       .id = rt_str_of(rt_cli_flag_value(cli, "id"))},
			 "Split: the second half is", "");
	rt_old_change_deinit(&change);
	return st;
}

static const rt_flag split_flags[] = {
	{"before-text", 'b', "TEXT", RT_ARG_TEXT, "cut in front of these words"},
	{"id", 0, "ID", RT_ARG_TEXT, "an id for the second half"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_split = {
	.name = "split",
	.group = RT_COMMANDS_WRITING,
	.min_words = 1,
	.max_words = 2,
	.usage = "ENTRY AT | ENTRY --before-text TEXT",
	.summary = "cut an entry in two",
	.about =
		"AT counts characters (code points) from the beginning. The first half keeps the id.",
	.examples = "retake split :4 120\nretake split :4 --before-text \"Second,\"",
	.ops = "entry.split",
	.flags = split_flags,
	.kinds = {RT_ARG_ENTRY, RT_ARG_TEXT},
	.run_status = run_split,
};

static const rt_cli_op merge_op = {
	.op = RT_OP_ENTRY_MERGE,
	.fields = {{"entry", .word = 0}},
	.done = "Joined the next entry to entry {entry}.",
};

const rt_command rt_cli_merge = {
	.name = "merge",
	.alias = "join",
	.group = RT_COMMANDS_WRITING,
	.min_words = 1,
	.max_words = 1,
	.usage = "ENTRY",
	.summary = "join an entry with the next one",
	.about = "The next entry's text is put behind this one's, with nothing between.",
	.examples = "retake merge :4",
	.ops = "entry.merge",
	.kinds = {RT_ARG_ENTRY},
	.run = rt_cli_run_op,
	.op = &merge_op,
};

/* --- view --- */

static rt_status
run_view(rt_cli *cli)
{
	bool collapse = rt_cli_has(cli, "collapse"), expand = rt_cli_has(cli, "expand");
	bool read = rt_cli_has(cli, "read"), write = rt_cli_has(cli, "edit");
	bool all = rt_cli_has(cli, "all");
	const char *address = rt_cli_word(cli, 0);
	rt_request request = {.op = RT_OP_ENTRY_VIEW};
	rt_old_change change;
	rt_status st;

	if (all == (address != NULL))
		return rt_old_fail(cli, RT_USAGE, "view needs an ENTRY, or --all");
	if (collapse + expand > 1 || read + write > 1 || collapse + expand + read + write == 0)
		return rt_old_fail(cli, RT_USAGE,
				   "view needs --collapse or --expand, or --read or --edit");
	st = rt_old_open(cli, RT_SESSION_CHANGE);
	if (st != RT_OK)
		return st;
	rt_old_change_init(cli, &change);
	if (all)
		request.all = RT_YES;
	else
		request.entry = rt_old_change_entry(&change, address);
	if (collapse || expand)
		request.collapsed = rt_cli_yes_no(collapse);
	if (read || write)
		request.read_mode = rt_cli_yes_no(read);
	st = rt_old_change_one(&change, &request);
	/* How things look is no step: there is nothing to undo, and nothing is said of it. */
	if (st == RT_OK && (cli->json || change.result->unchanged))
		st = rt_old_change_say(&change, "%s", "");
	else if (st == RT_OK && !cli->quiet)
		rt_term_c(&cli->out,
			  "Changed how it is shown (not a step; undo leaves it alone).\n");
	rt_old_change_deinit(&change);
	return st;
}

static const rt_flag view_flags[] = {
	{"all", 'a', NULL, RT_ARG_TEXT, "all entries of the take"},
	{"collapse", 'c', NULL, RT_ARG_TEXT, "show a preview only"},
	{"expand", 'x', NULL, RT_ARG_TEXT, "show the whole text"},
	{"read", 0, NULL, RT_ARG_TEXT, "show as rendered text where a screen can"},
	{"edit", 0, NULL, RT_ARG_TEXT, "show as plain text"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_view_command = {
	.name = "view",
	.group = RT_COMMANDS_WRITING,
	.max_words = 1,
	.usage = "ENTRY|--all --collapse|--expand|--read|--edit",
	.summary = "collapse or expand entries, read or edit mode",
	.about = "How an entry is shown is kept beside the history: undo leaves it as it is.",
	.examples = "retake view :4 --collapse\nretake view --all --expand",
	.ops = "entry.view",
	.flags = view_flags,
	.kinds = {RT_ARG_ENTRY},
	.run_status = run_view,
};
