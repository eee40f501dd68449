/* SPDX-License-Identifier: MIT
 *
 * revisions: every text that an entry ever had, and restoring one. */
#include "cli/cli.h"
#include "codec/body.h"
#include "view/view.h"

/* The content of a body without its further fields. */
static rt_content
content_of(const rt_body *body)
{
	return (rt_content){.text = rt_cli_given(body->content), .blocks = body->content_json};
}

static void
list_revision(rt_cli *cli, const rt_revision_row *row, const rt_body *body, size_t number)
{
	static const rt_body without_fields = {.format = RT_BODY_TEXT};
	rt_term *out = &cli->out;
	rt_buf text;

	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	rt_term_style(out, row->is_current ? RT_STYLE_BOLD : RT_STYLE_NONE);
	rt_term_f(out, "Version %zu", number);
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_f(out, "  step %llu%s\n", (unsigned long long)row->seq,
		  row->is_current ? "  <- now" : "");
	rt_entry_add_text(&text, &(rt_entry_row){.body = &without_fields,
						 .content = content_of(body)});
	if (text.size > 0)
		rt_term_indented(out, rt_buf_str(&text), 4);
	else
		rt_term_c(out, body->format == RT_BODY_PURGED ? "    (purged)\n"
							      : "    (empty)\n");
	rt_term_c(out, "\n");
	rt_buf_deinit(&text);
}

/* Prints them with one text in memory at a time. */
static void
list_revisions(rt_cli *cli, rt_revision_rows rows)
{
	rt_scope text;
	rt_view view = rt_cli_view(cli);
	size_t left = 0;

	rt_scope_init(&text, cli->alloc);
	view.scope = &text;
	if (!rt_cli_has(cli, "no-pager"))
		rt_term_page(&cli->out);
	for (size_t i = 0; i < rows.count && rt_ok(&cli->s); i++) {
		const rt_body *body = rt_view_body(&view, rows.items[i].body);

		if (body != NULL) {
			list_revision(cli, &rows.items[i], body, i + 1);
			left += body->format != RT_BODY_PURGED;
		}
		rt_scope_adopt(&cli->s, &text);
		rt_scope_reset(&text);
	}
	rt_scope_deinit(&text);
	if (!rt_ok(&cli->s))
		return;
	if (left > 0)
		rt_cli_advise(cli, "Restore one: retake revisions %s --restore N\n",
			      rt_cli_word(cli, 0));
	else
		rt_term_c(&cli->out, "All versions were purged.\n");
}

static void
restore(rt_cli *cli, rt_revision_rows rows, const char *word)
{
	const char *address = rt_cli_word(cli, 0);
	uint64_t number = rt_cli_number(cli, word, "a version number");
	rt_view view = rt_cli_view(cli);
	const rt_body *body;
	const rt_result *result;

	if (!rt_ok(&cli->s))
		return;
	if (number == 0 || number > rows.count) {
		rt_cli_hint(cli, "Versions: retake revisions %s", address);
		rt_cli_fail(cli, RT_NOT_FOUND, "there is no version %s of %s; it has %zu", word,
			    address, rows.count);
		return;
	}
	body = rt_view_body(&view, rows.items[number - 1].body);
	if (body == NULL)
		return;
	if (body->format == RT_BODY_PURGED)
		rt_cli_fail(cli, RT_REFUSED, "version %s was purged and cannot be restored", word);
	result = rt_cli_execute(cli,
				&(rt_request){.op = RT_OP_ENTRY_EDIT,
					      .entry = rt_cli_request_entry(cli, address),
					      .content = content_of(body)},
				1);
	rt_cli_say_result(cli, result, "Restored version %s of entry %s.", word,
			  rt_cli_where(cli, result->entry));
}

static void
run_revisions(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	const char *word = rt_cli_flag_value(cli, "restore");
	rt_buf *json = rt_scope_buf(s);
	uint32_t entry = 0;
	rt_view view;

	if (rt_cli_open(cli, word != NULL ? RT_SESSION_CHANGE : RT_SESSION_LOOK))
		entry = rt_cli_entry(cli, rt_cli_word(cli, 0), word == NULL);
	if (!rt_ok(s))
		return;
	view = rt_cli_view(cli);
	if (word != NULL) {
		restore(cli, rt_revisions_list(&view, entry), word);
	} else if (cli->json) {
		RT_TRY(s, rt_view_revisions(view.engine, view.project, view.place.disc, entry, json,
					    &s->error));
		rt_cli_print_json(cli, json);
	} else {
		rt_revision_rows rows = rt_revisions_list(&view, entry);

		if (rt_ok(s))
			list_revisions(cli, rows);
	}
}

static const rt_flag revisions_flags[] = {
	{"restore", 0, "N", RT_ARG_TEXT, "restore version N, as a new step"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_revisions = {
	.name = "revisions",
	.alias = "revs",
	.group = RT_COMMANDS_UNDOING,
	.min_words = 1,
	.max_words = 1,
	.usage = "ENTRY [--restore N]",
	.summary = "list all versions of an entry; restore one",
	.examples = "retake revisions :4\nretake revisions :4 --restore 1",
	.ops = "entry.edit",
	.flags = revisions_flags,
	.kinds = {RT_ARG_ENTRY},
	.run = run_revisions,
};
