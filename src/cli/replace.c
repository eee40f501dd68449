/* SPDX-License-Identifier: MIT
 *
 * Replaces the same words in many entries, as one step; or (-n) lists the matches. In arrays of
 * blocks the texts are searched, one by one; everything else is kept. */
#include "cli/replace.h"

#include "app/screen.h"
#include "codec/content.h"

enum { AROUND = 24 /* bytes shown on either side of a match */ };

typedef struct replacing {
	rt_str old, new;
	rt_cli_requests requests;
	bool dry_run;
	size_t matches, entries;
	rt_buf *list; /* JSON of the changes */
} replacing;

/* ":4 k3f9  2 times: … around the first …" */
static void
say_match(rt_cli *cli, const replacing *r, const rt_entry_row *e, size_t count)
{
	rt_term *out = &cli->out;
	rt_buf buf;
	rt_str text;

	rt_buf_init(&buf, cli->alloc, RT_BUF_UNLIMITED);
	rt_content_add_text(&buf, e->content);
	text = rt_scope_str(&cli->s, &buf);

	size_t found = rt_str_find(text, r->old, 0), from = found > AROUND ? found - AROUND : 0;
	size_t end = found + r->old.size, to = end + AROUND < text.size ? end + AROUND : text.size;

	if (!rt_ok(&cli->s)) {
		rt_buf_deinit(&buf);
		return;
	}
	while (from > 0 && ((unsigned char)text.ptr[from] & 0xC0) == 0x80)
		from--;
	while (to < text.size && ((unsigned char)text.ptr[to] & 0xC0) == 0x80)
		to++;
	rt_term_f(out, ":%zu  ", e->at + 1);
	rt_term_line(out, e->id);
	rt_term_f(out, "  %zu time%s:  ", count, RT_CLI_S(count));
	rt_term_c(out, from > 0 ? "..." : "");
	rt_term_line(out, rt_str_at(text.ptr + from, found - from));
	rt_term_c(out, found > from && text.ptr[found - 1] == ' ' ? " " : "");
	rt_term_style(out, RT_STYLE_RED);
	rt_term_c(out, "[-");
	rt_term_line(out, r->old);
	rt_term_c(out, "-]");
	rt_term_style(out, RT_STYLE_GREEN);
	rt_term_c(out, "{+");
	rt_term_line(out, r->new);
	rt_term_c(out, "+}");
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_c(out, end < text.size && text.ptr[end] == ' ' ? " " : "");
	rt_term_line(out, rt_str_at(text.ptr + end, to - end));
	rt_term_c(out, to < text.size ? "...\n" : "\n");
	rt_buf_deinit(&buf);
}

static void
replace_entry(rt_cli *cli, replacing *r, const rt_entry_row *e)
{
	rt_scope *s = &cli->s;
	rt_buf content;
	size_t found;

	rt_buf_init(&content, cli->alloc, RT_BUF_UNLIMITED);
	found = rt_content_replace(&content, e->content, r->old, r->new);
	rt_str json = rt_scope_str(s, &content);

	if (found > 0 && rt_ok(s)) {
		r->entries++;
		r->matches += found;
		if (r->dry_run && !cli->json)
			say_match(cli, r, e, found);
		rt_json_open(r->list, NULL, '{');
		rt_json_put_str(r->list, "entry", e->id);
		rt_json_put_u64(r->list, "count", found);
		rt_json_close(r->list, '}');
		if (!r->dry_run)
			rt_cli_requests_add(s, &r->requests,
					    &(rt_request){.op = RT_OP_ENTRY_EDIT,
							  .entry = rt_scope_copy(s, e->id),
							  .content = rt_content_of(
								  rt_json_parse(s, json))});
	}
	rt_buf_deinit(&content);
}

static void
put_result(rt_cli *cli, rt_buf *json, replacing *r)
{
	rt_json_put_u64(json, "replaced", r->matches);
	rt_json_close(r->list, ']');
	rt_json_put_raw(json, "entries", rt_scope_str(&cli->s, r->list));
}

static void
say_dry(rt_cli *cli, replacing *r)
{
	rt_buf *json = rt_scope_buf(&cli->s);

	if (!cli->json) {
		rt_term_f(&cli->out,
			  "Would replace \"%.*s\" %zu time%s in %zu entr%s. Nothing was changed.\n",
			  (int)rt_utf8_cut(r->old, 60), r->old.ptr, r->matches, RT_CLI_S(r->matches), r->entries, RT_CLI_IES(r->entries));
		return;
	}
	rt_json_open(json, NULL, '{');
	rt_json_put_bool(json, "dry_run", true);
	put_result(cli, json, r);
	rt_json_close(json, '}');
	rt_cli_print_json(cli, json);
}

static void
finish(rt_cli *cli, replacing *r)
{
	const rt_result *result;

	if (!rt_ok(&cli->s))
		return;
	if (r->matches == 0) {
		rt_cli_hint(cli, "Search for it: retake search TEXT");
		rt_cli_fail(cli, RT_NOT_FOUND, "no match for \"%.*s\"",
			    (int)rt_utf8_cut(r->old, 100), r->old.ptr);
		return;
	}
	if (r->dry_run) {
		say_dry(cli, r);
		return;
	}
	result = rt_cli_execute(cli, r->requests.items, r->requests.count);
	put_result(cli, rt_cli_extra(cli), r);
	rt_cli_say_result(cli, result, "Replaced \"%.*s\" with \"%.*s\" %zu time%s in %zu entr%s.",
			  (int)rt_utf8_cut(r->old, 60), r->old.ptr, (int)rt_utf8_cut(r->new, 60),
			  r->new.ptr == NULL ? "" : r->new.ptr, r->matches, RT_CLI_S(r->matches),
			  r->entries, RT_CLI_IES(r->entries));
}

void
rt_cli_replace(rt_cli *cli)
{
	const char *range = rt_cli_word(cli, 2);
	replacing r = {.old = rt_str_of(rt_cli_word(cli, 0)),
		       .new = rt_str_of(rt_cli_word(cli, 1)),
		       .dry_run = rt_cli_has(cli, "dry-run"),
		       .list = rt_scope_buf(&cli->s)};
	rt_cli_span span = {0};

	if (cli->args.word_count < 2 || cli->args.word_count > 3)
		rt_cli_fail(cli, RT_USAGE,
			    "edit --replace needs OLD, NEW and optionally ENTRY or FROM..TO");
	else if (r.old.size == 0)
		rt_cli_fail(cli, RT_USAGE, "nothing to replace: OLD is empty");
	else if (rt_utf8_valid_size(r.old) != r.old.size ||
		 rt_utf8_valid_size(r.new) != r.new.size)
		rt_cli_fail(cli, RT_USAGE, "OLD and NEW must be UTF-8");
	if (!rt_cli_open(cli, r.dry_run ? RT_SESSION_LOOK : RT_SESSION_CHANGE))
		return;
	if (range != NULL) {
		span = rt_cli_range(cli, range);
	} else {
		span.last = rt_cli_count(cli);
		span.last -= span.last > 0;
	}

	rt_entry_cursor *c = rt_cli_entries(cli, span);

	rt_json_open(r.list, NULL, '[');
	for (const rt_entry_row *e; (e = rt_entries_next(c)) != NULL;)
		replace_entry(cli, &r, e);
	finish(cli, &r);
}
