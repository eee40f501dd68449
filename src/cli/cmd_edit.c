/* SPDX-License-Identifier: MIT
 *
 * edit: the text of an entry, a replacement over many, or the whole take at once. */
#define _POSIX_C_SOURCE 200809L

#include <unistd.h>

#include "cli/cli.h"
#include "cli/replace.h"
#include "cli/takefile.h"
#include "codec/content.h"
#include "view/view.h"

/* What an entry is before it is edited. */
typedef struct before {
	rt_buf text;    /* what the editor shows */
	rt_buf content; /* as JSON */
	rt_buf kept;    /* what is beside the text, in words */
} before;

static void
before_init(rt_cli *cli, before *b)
{
	rt_buf_init(&b->text, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&b->content, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&b->kept, cli->alloc, RT_BUF_UNLIMITED);
}

static void
before_deinit(before *b)
{
	rt_buf_deinit(&b->text);
	rt_buf_deinit(&b->content);
	rt_buf_deinit(&b->kept);
}

/* The content as JSON for people: a block a line. */
static void
add_json(rt_buf *buf, yyjson_val *content)
{
	yyjson_val *block;
	size_t i, count;

	if (!yyjson_is_arr(content)) {
		rt_json_add_value(buf, content);
		return;
	}
	rt_buf_add_byte(buf, '[');
	yyjson_arr_foreach(content, i, count, block) {
		rt_buf_add_c(buf, i > 0 ? ",\n " : "");
		rt_json_add_value(buf, block);
	}
	rt_buf_add_byte(buf, ']');
}

/* The entry as it is now. */
static rt_status
look_before(rt_cli *cli, uint32_t entry, before *b)
{
	rt_old_view view;
	yyjson_val *content;
	rt_status st;

	rt_old_view_init(cli, &view);
	st = rt_old_view_read(cli, &view,
			      rt_view_entry(cli->session.engine, cli->session.value,
					    cli->session.place, entry, &view.buf, &cli->error));
	if (st == RT_OK) {
		content = rt_json_get(view.root, "content");
		rt_json_add_value(&b->content, content);
		if (rt_cli_has(cli, "content-json"))
			add_json(&b->text, content);
		else
			rt_content_add_text(&b->text, rt_content_of(content));
		rt_content_add_parts(&b->kept, rt_content_of(content),
				     rt_json_get(view.root, "tool_calls"));
		st = rt_old_buf(cli, &b->text);
	}
	if (st == RT_OK)
		st = rt_old_buf(cli, &b->content);
	if (st == RT_OK)
		st = rt_old_buf(cli, &b->kept);
	rt_old_view_deinit(&view);
	return st;
}

/* The new content: the text alone, the text in the present blocks (is_in_blocks), or what
 * --content-json gives. A failure is the change's. */
static rt_content
new_content(rt_old_change *change, const before *b, rt_str text, bool is_in_blocks)
{
	rt_cli *cli = change->cli;
	rt_scope *s = &change->scope;
	bool is_given = rt_cli_has(cli, "content-json");
	yyjson_val *root;

	if (!is_given && !is_in_blocks)
		return (rt_content){.text = rt_cli_given(text)};
	root = rt_old_change_value(change, is_given ? text : rt_buf_str(&b->content));
	if (is_given && rt_ok(s) && !yyjson_is_str(root) && !yyjson_is_arr(root))
		(void)rt_scope_fail(s, RT_USAGE, "a content is a string or an array of blocks");
	if (s->status == RT_USAGE)
		rt_old_hint(cli, RT_USAGE,
			    "What it is now: retake show %s --json   As text: leave out "
			    "--content-json",
			    rt_cli_word(cli, 0));
	if (!is_given && rt_ok(s)) {
		rt_buf *json = rt_scope_buf(s);

		rt_content_set_text(json, rt_content_of(root), text);
		root = rt_old_change_value(change, rt_scope_str(s, json));
	}
	return rt_ok(s) ? rt_content_of(root) : (rt_content){.text = RT_STR("")};
}

/* The new text by way of the editor. *out_same: nothing was changed in it. */
static rt_status
edited_text(rt_cli *cli, uint32_t entry, const before *was, rt_buf *text, rt_buf *path,
	    bool *out_same)
{
	before now;
	rt_status st;

	before_init(cli, &now);
	rt_buf_add_str(text, rt_buf_str(&was->text));
	st = rt_old_buf(cli, text);
	if (st == RT_OK)
		st = rt_old_edit_one(cli, "entry", text, path);
	if (st == RT_OK)
		*out_same = rt_str_eq(rt_buf_str(text), rt_buf_str(&was->text));
	if (st != RT_OK || *out_same)
		goto done;
	/* Somebody may have been faster while the editor was open. */
	st = rt_engine_refresh(cli->session.engine, &cli->error);
	if (st == RT_OK)
		st = rt_old_look(cli);
	if (st == RT_OK)
		st = look_before(cli, entry, &now);
	if (st == RT_OK && !rt_str_eq(rt_buf_str(&now.text), rt_buf_str(&was->text))) {
		st = rt_old_fail(cli, RT_CONFLICT,
				 "entry %s was changed by somebody else while you edited it",
				 rt_cli_word(cli, 0));
		rt_old_hint(cli, st, "Your text is kept in %s   To use it: retake edit %s -f %s",
			    path->ptr, rt_cli_word(cli, 0), path->ptr);
	}
	if (st != RT_OK)
		(void)rt_old_keep(cli, st, path->ptr);
done:
	before_deinit(&now);
	return st;
}

/* A new take that ends with the edited entry: the old one keeps the old text and what
 * followed. */
static rt_status
ask_as_take(rt_cli *cli, rt_old_change *change, const char *address, rt_content content)
{
	const char *name = rt_cli_flag_value(cli, "name");
	char id[RT_ID_ROOM];
	rt_str role = {NULL, 0};
	rt_slot slot;
	size_t at = 0;
	rt_status st = rt_old_position(cli, address, &at, &slot);

	if (st == RT_OK)
		st = rt_project_name(cli->session.value, slot.role, &role, &cli->error);
	if (st != RT_OK)
		return st;
	if (at > 0) {
		st = rt_old_id_at(cli, at - 1, id);
		if (st != RT_OK)
			return st;
		rt_old_change_add(change, &(rt_request){.op = RT_OP_TAKE_BRANCH,
							.entry = rt_scope_copy(&change->scope,
									       rt_str_of(id)),
							.name = rt_str_of(name)});
	} else if (name != NULL) {
		return rt_old_fail(cli, RT_USAGE,
				   "a take that begins with its first entry names itself; leave "
				   "out --name, or rename it afterwards");
	} else {
		rt_old_change_add(change,
				  &(rt_request){.op = RT_OP_HEAD_MOVE, .entry = RT_NULL_STR});
	}
	rt_old_change_add(change, &(rt_request){.op = RT_OP_ENTRY_APPEND,
						.role = role.size > 0 ? role : (rt_str){NULL, 0},
						.content = content});
	return RT_OK;
}

/* What there was beside the text, and still is. */
static void
say_kept(rt_cli *cli, rt_old_change *change, const before *was)
{
	if (was->kept.size == 0 || rt_cli_has(cli, "content-json") || change->result->unchanged)
		return;
	if (cli->json) {
		rt_buf_add_c(change->extra, ",\"kept\":");
		rt_json_add_string(change->extra, rt_buf_str(&was->kept));
	} else if (!cli->quiet) {
		rt_term_c(&cli->out, "  Kept beside the text: ");
		rt_term_line(&cli->out, rt_buf_str(&was->kept));
		rt_term_c(&cli->out, "\n");
	}
}

static rt_status
say(rt_cli *cli, rt_old_change *change, const char *address, const before *was)
{
	const rt_take *take = NULL;
	rt_status st;
	size_t at = 0, later;
	rt_buf where;

	rt_buf_init(&where, cli->alloc, RT_BUF_UNLIMITED);
	if (cli->json)
		say_kept(cli, change, was);
	if (rt_cli_has(cli, "as-take")) {
		st = rt_old_take(cli, &take);
		rt_old_add_where(cli, change->result->entry, &where);
		if (st == RT_OK)
			st = rt_old_change_say(
				change,
				"Wrote %s as entry %s of the new take \"%s\"; the old "
				"take keeps its text.",
				address, where.ptr, take->name->ptr);
	} else {
		rt_old_add_where(cli, change->result->entry, &where);
		later = 0;
		if (rt_old_take(cli, &take) == RT_OK &&
		    rt_old_position(cli, change->result->entry, &at, NULL) == RT_OK)
			later = rt_seq_count(take->slots) - at - 1;
		if (later > 0)
			st = rt_old_change_say(
				change, "Edited entry %s%s; %zu later entr%s kept.", where.ptr,
				rt_cli_has(cli, "everywhere") ? " in every take" : "", later,
				RT_CLI_IES(later));
		else
			st = rt_old_change_say(change, "Edited entry %s%s.", where.ptr,
					       rt_cli_has(cli, "everywhere") ? " in every take"
									     : "");
	}
	if (st == RT_OK && !cli->json)
		say_kept(cli, change, was);
	rt_buf_deinit(&where);
	return st;
}

static rt_status
edit_entry(rt_cli *cli, before *was, rt_buf *text, rt_buf *path)
{
	const char *address = rt_cli_word(cli, 0);
	bool given = false, same = false, as_take = rt_cli_has(cli, "as-take");
	rt_content content;
	uint32_t entry = 0;
	size_t at = 0;
	rt_slot slot;
	rt_old_change change;
	rt_status st = rt_old_text(cli, 1, text, &given);

	if (st == RT_OK)
		st = rt_old_open(cli, RT_SESSION_CHANGE);
	if (st == RT_OK)
		st = rt_old_position(cli, address, &at, &slot);
	if (st != RT_OK)
		return st;
	entry = slot.entry;
	st = look_before(cli, entry, was);
	if (st == RT_OK && !given)
		st = edited_text(cli, entry, was, text, path, &same);
	if (st != RT_OK)
		return st;
	if (same) {
		(void)unlink(path->ptr);
		rt_term_c(&cli->out, cli->json || cli->quiet ? "" : "Nothing was changed.\n");
		if (!cli->json)
			return RT_OK;
	}
	rt_old_change_init(cli, &change);
	content = new_content(&change, was, rt_buf_str(text), as_take);
	if (as_take && rt_ok(&change.scope))
		st = ask_as_take(cli, &change, address, content);
	else if (!as_take) /* the engine keeps the blocks that the entry has by then */
		rt_old_change_add(
			&change,
			&(rt_request){.op = RT_OP_ENTRY_EDIT,
				      .entry = rt_old_change_entry(&change, address),
				      .content = content,
				      .keep_blocks = rt_cli_yes_if(!rt_cli_has(cli, "content-json")),
				      .everywhere = rt_cli_yes_if(rt_cli_has(cli, "everywhere"))});
	if (st == RT_OK)
		st = rt_old_change_run(&change);
	if (st != RT_OK && path->size > 0 && !same)
		(void)rt_old_keep(cli, st, path->ptr);
	if (st == RT_OK && path->size > 0)
		(void)unlink(path->ptr);
	if (st == RT_OK)
		st = say(cli, &change, address, was);
	rt_old_change_deinit(&change);
	return st;
}

static rt_status
run_edit(rt_cli *cli)
{
	bool all = rt_cli_has(cli, "all") || rt_cli_has(cli, "take-file");
	bool replace = rt_cli_has(cli, "replace");
	rt_buf text, path;
	before was;
	rt_status st;

	if (all && replace)
		return rt_old_fail(cli, RT_USAGE, "--all and --replace are two different things");
	if (rt_cli_has(cli, "name") && !rt_cli_has(cli, "as-take"))
		return rt_old_fail(cli, RT_USAGE, "--name is for the new take of --as-take");
	if (rt_cli_has(cli, "as-take") && rt_cli_has(cli, "everywhere"))
		return rt_old_fail(cli, RT_USAGE,
				   "--as-take and --everywhere contradict each other");
	if (rt_cli_has(cli, "content-json") && (all || replace))
		return rt_old_fail(cli, RT_USAGE, "--content-json is for one entry");
	if (all)
		return rt_cli_takefile_edit(cli);
	if (replace)
		return rt_cli_replace(cli);
	if (rt_cli_has(cli, "dry-run"))
		return rt_old_fail(cli, RT_USAGE, "-n is for --replace and --all");
	if (cli->args.word_count == 0)
		return rt_old_fail(cli, RT_USAGE, "edit needs an entry, such as :4");
	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&path, cli->alloc, RT_BUF_UNLIMITED);
	before_init(cli, &was);
	st = edit_entry(cli, &was, &text, &path);
	before_deinit(&was);
	rt_buf_deinit(&text);
	rt_buf_deinit(&path);
	return st;
}

static const rt_flag edit_flags[] = {
	{"file", 'f', "FILE", RT_ARG_FILE, "take the text from a file (\"-\": standard input)"},
	{"editor", 'e', NULL, RT_ARG_TEXT, "open the editor even when this is no terminal"},
	{"exact", 0, NULL, RT_ARG_TEXT, "keep the line end at the end of a file"},
	{"everywhere", 0, NULL, RT_ARG_TEXT, "in every take that holds the entry"},
	{"as-take", 't', NULL, RT_ARG_TEXT,
	 "leave the take as it is and begin a new one with this"},
	{"name", 0, "NAME", RT_ARG_TEXT, "of the new take"},
	{"content-json", 0, NULL, RT_ARG_TEXT,
	 "the text is all of the content, as JSON: a string, or an array of blocks"},
	{"replace", 0, NULL, RT_ARG_TEXT, "replace every OLD by NEW, as one step"},
	{"all", 0, NULL, RT_ARG_TEXT, "edit the whole take as one text file, as one step"},
	{"take-file", 0, NULL, RT_ARG_TEXT, NULL},
	{"dry-run", 'n', NULL, RT_ARG_TEXT, "with --replace or --all: only say what would change"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_edit = {
	.name = "edit",
	.group = RT_COMMANDS_WRITING,
	.traits = RT_COMMAND_DRY_RUN,
	.max_words = RT_COMMAND_WORDS_ANY,
	.usage = "ENTRY [TEXT | -f FILE | -]\n"
		 "--replace OLD NEW [ENTRY | FROM..TO]\n"
		 "--all [-f FILE | -]",
	.summary = "change an entry's text, or many at once",
	.about =
		"The text changes in place: role, time and everything that follows stay, and the old "
		"text can be brought back (retake help revisions). Without a text, the editor "
		"opens.\n\n"
		"What an entry has beside its text (calls of tools, images, thinking) stays with it. "
		"With --content-json it can be changed as well, or left out.\n\n"
		"With --as-take the present take stays as it is, and a new one begins with what came "
		"before the entry and the new text.\n\n"
		"With --all the editor shows the whole take; change texts and roles, move, delete and "
		"add entries. retake show --take-file prints the same file.",
	.examples = "retake edit :4 \"Use SQLite, not Postgres\"\nretake edit :-1\n"
		    "retake edit k3f9 -f reply.md --everywhere\n"
		    "retake edit --replace teh the :2..:9 -n\nretake edit --all",
	.ops = "entry.edit take.branch entry.append",
	.flags = edit_flags,
	.kinds = {RT_ARG_ENTRY, RT_ARG_TEXT},
	.run_status = run_edit,
};
