/* SPDX-License-Identifier: MIT
 *
 * edit: the text of an entry, of many entries (replace.c), or of a whole take (cmd_takefile.c). */
#include "cli/cli.h"
#include "cli/replace.h"
#include "cli/takefile.h"
#include "codec/content.h"

/* The state of an entry before it is edited. */
typedef struct before {
	rt_str text;    /* the text in the editor */
	rt_str content; /* as JSON */
	rt_str kept;    /* description of its parts besides the text */
} before;

/* The content as JSON for people: a block a line. */
static void
add_json(rt_buf *buf, rt_content content)
{
	if (content.blocks == NULL) {
		rt_json_add_string(buf, content.text);
		return;
	}
	rt_buf_add_byte(buf, '[');
	for (rt_json_iter it = rt_json_items(content.blocks); rt_json_next(&it);) {
		rt_buf_add_c(buf, it.index > 0 ? ",\n " : "");
		rt_json_add_value(buf, it.value);
	}
	rt_buf_add_byte(buf, ']');
}

/* The present entry. */
static before
look_before(rt_cli *cli, uint32_t number)
{
	rt_scope *s = &cli->s;
	rt_view view = rt_cli_view(cli);
	const rt_entry_row *e = rt_ok(s) ? rt_entry_find(&view, number) : NULL;
	rt_buf *text = rt_scope_buf(s), *content = rt_scope_buf(s), *kept = rt_scope_buf(s);

	if (e == NULL)
		return (before){.text = {NULL, 0}};
	rt_body_add_content(content, e->body);
	if (rt_cli_has(cli, "content-json"))
		add_json(text, e->content);
	else
		rt_content_add_text(text, e->content);
	rt_content_add_parts(kept, e->content, rt_body_field(e->body, "tool_calls"));
	return (before){rt_scope_str(s, text), rt_scope_str(s, content), rt_scope_str(s, kept)};
}

/* The new content: the text alone, the text in the present blocks (is_in_blocks), or that of
 * --content-json. */
static rt_content
new_content(rt_cli *cli, const before *was, rt_str text, bool is_in_blocks)
{
	rt_scope *s = &cli->s;
	bool is_json = rt_cli_has(cli, "content-json");
	rt_buf *json = rt_scope_buf(s);
	yyjson_val *root;

	if (!is_json && !is_in_blocks)
		return (rt_content){.text = rt_cli_given(text)};
	root = rt_json_parse(s, is_json ? text : was->content);
	if (is_json && !yyjson_is_str(root) && !yyjson_is_arr(root))
		rt_cli_fail(cli, RT_USAGE, "content must be a string or an array of blocks");
	if (s->status == RT_USAGE)
		rt_cli_hint(cli,
			    "Its current content: retake show %s --json   As text: leave out "
			    "--content-json",
			    rt_cli_word(cli, 0));
	if (!is_json && rt_ok(s)) {
		rt_content_set_text(json, rt_content_of(root), text);
		root = rt_json_parse(s, rt_scope_str(s, json));
	}
	return rt_ok(s) ? rt_content_of(root) : (rt_content){.text = RT_STR("")};
}

/* The new text from the editor. */
static rt_str
edit_text(rt_cli *cli, uint32_t number, const before *was)
{
	rt_scope *s = &cli->s;
	const char *address = rt_cli_word(cli, 0);
	rt_str text = rt_cli_edit_text(cli, "entry", was->text, true);

	if (!rt_ok(s) || rt_str_eq(text, was->text))
		return text;
	/* It may have been changed while the editor was open. */
	RT_TRY(s, rt_engine_refresh(cli->session.engine, &s->error));
	rt_cli_look(cli);
	if (!rt_str_eq(look_before(cli, number).text, was->text) && rt_ok(s)) {
		rt_cli_fail(cli, RT_CONFLICT,
			    "entry %s was changed by another program while you edited it", address);
		rt_cli_hint(cli, "Your text is in %s   To use it: retake edit %s -f %s",
			    cli->draft, address, cli->draft);
	}
	return text;
}

/* A new take that ends with the edited entry: the old one keeps the old text and the later
 * entries. */
static void
request_take(rt_cli *cli, rt_cli_requests *requests, size_t at, const rt_slot *slot,
	     rt_content content)
{
	rt_scope *s = &cli->s;
	const char *name = rt_cli_flag_value(cli, "name");
	rt_str role = {NULL, 0};

	RT_TRY(s, rt_project_name(cli->session.value, slot->role, &role, &s->error));
	if (at > 0)
		rt_cli_requests_add(s, requests,
				    &(rt_request){.op = RT_OP_TAKE_BRANCH,
						  .entry = rt_str_of(rt_cli_id_at(cli, at - 1)),
						  .name = rt_str_of(name)});
	else if (name != NULL)
		rt_cli_fail(cli, RT_USAGE,
			    "--name cannot be used with the first entry: the new take gets its "
			    "name automatically; leave out --name, and rename the take afterwards");
	else
		rt_cli_requests_add(
			s, requests,
			&(rt_request){.op = RT_OP_HEAD_MOVE, .entry = RT_NULL_STR});
	rt_cli_requests_add(s, requests,
			    &(rt_request){.op = RT_OP_ENTRY_APPEND,
					  .role = role.size > 0 ? role : (rt_str){NULL, 0},
					  .content = content});
}

static void
say(rt_cli *cli, const rt_result *result, const char *address, const before *was)
{
	bool has_kept = was->kept.size > 0 && !rt_cli_has(cli, "content-json") &&
			!result->unchanged;
	const char *where = rt_cli_where(cli, result->entry);
	const char *everywhere = rt_cli_has(cli, "everywhere") ? " in every take" : "";
	const rt_take *take;
	size_t later = 0;

	if (!rt_ok(&cli->s))
		return;
	if (cli->json && has_kept)
		rt_json_put_str(rt_cli_extra(cli), "kept", was->kept);
	take = rt_cli_take(cli);
	if (rt_cli_has(cli, "as-take")) {
		if (take != NULL)
			rt_cli_say_result(cli, result,
					  "Wrote %s as entry %s of the new take \"%s\"; the "
					  "old take is unchanged.",
					  address, where, take->name->ptr);
	} else {
		if (take != NULL)
			later = rt_cli_count(cli) - rt_cli_position(cli, result->entry, NULL) - 1;
		if (rt_cli_recover(cli, NULL) != RT_OK)
			later = 0;
		if (later > 0)
			rt_cli_say_result(cli, result,
					  "Edited entry %s%s; %zu later entr%s kept.", where,
					  everywhere, later, RT_CLI_IES(later));
		else
			rt_cli_say_result(cli, result, "Edited entry %s%s.", where, everywhere);
	}
	if (rt_ok(&cli->s) && has_kept && !cli->json && !cli->quiet) {
		rt_term_c(&cli->out, "  Kept with the text: ");
		rt_term_line(&cli->out, was->kept);
		rt_term_c(&cli->out, "\n");
	}
}

static void
edit_entry(rt_cli *cli)
{
	const char *address = rt_cli_word(cli, 0);
	bool as_take = rt_cli_has(cli, "as-take"), is_json = rt_cli_has(cli, "content-json");
	rt_str text = rt_cli_text(cli, 1);
	rt_cli_requests requests = {0};
	const rt_result *result;
	rt_content content;
	before was;
	rt_slot slot;
	size_t at;

	if (!rt_cli_open(cli, RT_SESSION_CHANGE))
		return;
	at = rt_cli_position(cli, address, &slot);
	if (!rt_ok(&cli->s))
		return;
	was = look_before(cli, slot.entry);
	if (text.ptr == NULL) {
		text = edit_text(cli, slot.entry, &was);
		if (!rt_ok(&cli->s))
			return;
		if (rt_str_eq(text, was.text)) {
			rt_cli_drop_draft(cli);
			rt_term_c(&cli->out,
				  cli->json || cli->quiet ? "" : "Nothing was changed.\n");
			if (!cli->json)
				return;
		}
	}
	content = new_content(cli, &was, text, as_take);
	if (as_take && rt_ok(&cli->s))
		request_take(cli, &requests, at, &slot, content);
	else if (!as_take) /* the engine keeps the blocks that the entry has at that time */
		rt_cli_requests_add(
			&cli->s, &requests,
			&(rt_request){.op = RT_OP_ENTRY_EDIT,
				      .entry = rt_cli_request_entry(cli, address),
				      .content = content,
				      .keep_blocks = rt_cli_yes_if(!is_json),
				      .everywhere = rt_cli_yes_if(rt_cli_has(cli, "everywhere"))});
	result = rt_cli_execute(cli, requests.items, requests.count);
	rt_cli_drop_draft(cli);
	say(cli, result, address, &was);
}

static void
run_edit(rt_cli *cli)
{
	bool all = rt_cli_has(cli, "all") || rt_cli_has(cli, "take-file");
	bool replace = rt_cli_has(cli, "replace"), as_take = rt_cli_has(cli, "as-take");

	if (all && replace)
		rt_cli_fail(cli, RT_USAGE, "--all and --replace cannot be combined");
	if (rt_cli_has(cli, "name") && !as_take)
		rt_cli_fail(cli, RT_USAGE, "--name needs --as-take");
	if (as_take && rt_cli_has(cli, "everywhere"))
		rt_cli_fail(cli, RT_USAGE, "--as-take and --everywhere cannot be combined");
	if (rt_cli_has(cli, "content-json") && (all || replace))
		rt_cli_fail(cli, RT_USAGE, "--content-json needs a single entry");
	if (!all && !replace && rt_cli_has(cli, "dry-run"))
		rt_cli_fail(cli, RT_USAGE, "-n needs --replace or --all");
	if (!all && !replace && cli->args.word_count == 0)
		rt_cli_fail(cli, RT_USAGE, "edit needs an entry, such as :4");
	if (!rt_ok(&cli->s))
		return;
	if (all)
		rt_cli_takefile_edit(cli);
	else if (replace)
		rt_cli_replace(cli);
	else
		edit_entry(cli);
}

static const rt_flag edit_flags[] = {
	{"file", 'f', "FILE", RT_ARG_FILE, "read the text from a file (\"-\": standard input)"},
	{"editor", 'e', NULL, RT_ARG_TEXT, "open the editor even without a terminal"},
	{"exact", 0, NULL, RT_ARG_TEXT, "keep the newline at the end of the file"},
	{"everywhere", 0, NULL, RT_ARG_TEXT, "edit it in every take that contains the entry"},
	{"as-take", 't', NULL, RT_ARG_TEXT,
	 "keep the take unchanged and start a new one with this text"},
	{"name", 0, "NAME", RT_ARG_TEXT, "name of the new take"},
	{"content-json", 0, NULL, RT_ARG_TEXT,
	 "the text is the whole content as JSON: a string or an array of blocks"},
	{"replace", 0, NULL, RT_ARG_TEXT, "replace every OLD with NEW, as one step"},
	{"all", 0, NULL, RT_ARG_TEXT, "edit the whole take as one text file, as one step"},
	{"take-file", 0, NULL, RT_ARG_TEXT, NULL},
	{"dry-run", 'n', NULL, RT_ARG_TEXT, "with --replace or --all: print only the planned "
					    "changes"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_edit = {
	.name = "edit",
	.unchanged = "the entry already has this text",
	.group = RT_COMMANDS_WRITING,
	.traits = RT_COMMAND_DRY_RUN,
	.max_words = RT_COMMAND_WORDS_ANY,
	.text_word = 2,
	.usage = "ENTRY [TEXT | -f FILE | -]\n"
		 "--replace OLD NEW [ENTRY | FROM..TO]\n"
		 "--all [-f FILE | -]",
	.summary = "edit the text of one or more entries",
	.about =
		"The text changes in place: role, time and later entries are kept, and the old "
		"text can be restored (retake help revisions). Without a text, the editor "
		"opens. Tool calls, images and thinking of the entry are kept; --content-json "
		"can change or remove them. With --as-take the take is kept unchanged, and a "
		"new one starts with the preceding entries and the new text. With --all the "
		"editor shows the whole take: change texts and roles; move, delete and add "
		"entries. retake show --take-file prints the same file.",
	.examples = "retake edit :4 \"Use SQLite, not Postgres\"\nretake edit :-1\n"
		    "retake edit k3f9 -f reply.md --everywhere\n"
		    "retake edit --replace teh the :2..:9 -n\nretake edit --all",
	.ops = "entry.edit take.branch entry.append",
	.flags = edit_flags,
	.kinds = {RT_ARG_ENTRY, RT_ARG_TEXT},
	.run = run_edit,
};
