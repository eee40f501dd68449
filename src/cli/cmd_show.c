/* SPDX-License-Identifier: MIT
 *
 * show: the entries of a take, or some of them. */
#include "cli/cli.h"
#include "app/screen.h"
#include "cli/takefile.h"
#include "codec/content.h"
#include "codec/thinking.h"
#include "core/role.h"
#include "view/view.h"

enum { PREVIEW = 60 };

/* Does it have the requested role? Questions are shown with it, as everywhere that entries are
 * filtered by role. */
static bool
is_wanted(const rt_cli *cli, const rt_entry_row *e)
{
	return rt_role_passes(cli->session.value, e->role,
			      rt_str_of(rt_cli_flag_value(cli, "role")));
}

/* --- JSON --- */

/* {"discussion","take","head","count","entries":[…],"replies":[…]}, written entry by entry;
 * replies only if some are in flight. */
static void
print_json(rt_cli *cli, rt_cli_span span)
{
	rt_view view = rt_cli_view(cli);
	const rt_show_row *show = rt_show_read(&view);
	rt_entry_cursor *c = rt_cli_entries(cli, span);
	rt_buf *buf = rt_scope_buf(&cli->s), *replies = rt_scope_buf(&cli->s);

	if (show == NULL)
		return;
	rt_json_open(buf, NULL, '{');
	rt_json_put_str(buf, "discussion", show->discussion);
	rt_json_put_str(buf, "take", show->take);
	if (show->head.ptr != NULL)
		rt_json_put_str(buf, "head", show->head);
	else
		rt_json_put_null(buf, "head");
	rt_json_put_u64(buf, "count", show->count);
	rt_json_open(buf, "entries", '[');
	for (const rt_entry_row *e; (e = rt_entries_next(c)) != NULL && !cli->out.broken;) {
		if (!is_wanted(cli, e))
			continue;
		rt_entry_write(buf, e);
		rt_term_json(&cli->out, rt_scope_str(&cli->s, buf));
		rt_buf_clear(buf);
		rt_buf_add_byte(buf, ',');
	}
	if (buf->size == 1) /* a comma that nothing follows */
		rt_buf_clear(buf);
	rt_json_close(buf, ']');
	rt_json_open(replies, "replies", '[');
	if (rt_cli_inflight_add(cli, replies) > 0) {
		rt_json_close(replies, ']');
		rt_buf_add_byte(buf, ',');
		rt_buf_add_str(buf, rt_scope_str(&cli->s, replies));
	}
	rt_json_close(buf, '}');
	rt_cli_print_json(cli, buf);
}

/* --- for people --- */

static void
add_time(rt_term *out, const rt_entry_row *e)
{
	rt_buf text;

	if (!e->has_time)
		return;
	rt_buf_init(&text, out->buf.alloc, 256);
	rt_host_add_local_time(&text, rt_slot_moment(&e->slot).us, false);
	rt_term_style(out, RT_STYLE_DIM);
	rt_term_c(out, "  ");
	rt_term_line(out, rt_buf_str(&text));
	rt_term_style(out, RT_STYLE_NONE);
	rt_buf_deinit(&text);
}

static void
add_marks(rt_term *out, const rt_entry_row *e, rt_str head)
{
	rt_str name = rt_body_custom_type(e->body);

	if (e->label.size > 0) {
		rt_term_style(out, RT_STYLE_YELLOW);
		rt_term_c(out, "  [");
		rt_term_line(out, e->label);
		rt_term_c(out, "]");
		rt_term_style(out, RT_STYLE_NONE);
	}
	if (e->kind.size > 0 && !rt_str_is(e->kind, "message")) {
		rt_term_c(out, "  (");
		rt_term_line(out, e->kind);
		if (rt_str_is(e->kind, "custom_message") && name.size > 0) {
			rt_term_c(out, ": ");
			rt_term_line(out, name);
		}
		rt_term_c(out, ")");
	}
	rt_term_c(out, e->muted ? "  (muted)" : "");
	rt_term_c(out, e->edited ? "  (edited)" : "");
	rt_term_c(out, e->purged ? "  (purged)" : "");
	rt_term_c(out, e->lost ? "  (lost)" : "");
	rt_term_c(out, e->partial ? "  (partial)" : "");
	add_time(out, e);
	if (head.size > 0 && rt_str_eq(head, e->id))
		rt_term_c(out, "  <- head");
}

/* On a terminal, replies as Markdown, and questions in read mode; otherwise the source. */
static void
show_prose(rt_cli *cli, const rt_entry_row *e, rt_str text)
{
	if (cli->out.renders && (e->read_mode || !rt_role_is_source(e->role)))
		(void)cli->print_markdown(&cli->out, text, 4, &(rt_markdown_part){.is_end = true});
	else
		rt_term_indented(&cli->out, text, 4);
}

/* One line for each thinking, or (--thinking) its text; prose unchanged. */
static void
show_parts(rt_cli *cli, const rt_entry_row *e, const rt_body_parts *parts)
{
	bool expands = rt_cli_has(cli, "thinking") || cli->verbose;
	rt_term *out = &cli->out;
	rt_buf text;

	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	for (size_t i = 0; i < parts->count; i++) {
		const rt_body_part *part = &parts->items[i];

		if (!part->is_thinking) {
			show_prose(cli, e, rt_str_trim(part->text));
			continue;
		}
		rt_buf_clear(&text);
		rt_thinking_add_size(&text, part->text);
		rt_term_style(out, RT_STYLE_DIM);
		rt_term_c(out, "    [thinking, ");
		rt_term_text(out, rt_buf_str(&text));
		rt_term_c(out, expands ? "]\n" : "; show --thinking]\n");
		if (expands && part->text.size > 0)
			rt_term_indented(out, part->text, 6);
		rt_term_style(out, RT_STYLE_NONE);
	}
	rt_buf_clear(&text);
	rt_content_add_brief(&text, e->content, rt_body_field(e->body, "tool_calls"),
			     rt_body_field(e->body, "pi"));
	if (text.size > 0)
		rt_term_indented(out, rt_buf_str(&text), 4);
	rt_buf_deinit(&text);
}

static bool
show_thinking(rt_cli *cli, const rt_entry_row *e, bool whole)
{
	rt_body_parts parts;
	rt_scope s;

	if (e->body == NULL || (!whole && e->collapsed))
		return false;
	rt_scope_init(&s, cli->alloc);
	parts = rt_body_parts_of(&s, e->role, e->body);
	bool thinks = rt_ok(&s) && parts.thinking_count > 0;
	if (thinks)
		show_parts(cli, e, &parts);
	rt_scope_deinit(&s);
	return thinks;
}

static void
show_content(rt_cli *cli, const rt_entry_row *e, bool whole)
{
	rt_term *out = &cli->out;
	rt_buf text, preview;

	if (show_thinking(cli, e, whole))
		return;
	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&preview, cli->alloc, 4096);
	rt_entry_add_text(&text, e);
	if (text.size == 0) {
		rt_term_style(out, RT_STYLE_DIM);
		rt_term_c(out, e->purged ? "    (empty)\n"
			       : e->lost ? "    (text damaged)\n"
					 : "    (empty)\n");
		rt_term_style(out, RT_STYLE_NONE);
	} else if (!whole && e->collapsed) {
		rt_screen_add_preview(&preview, rt_buf_str(&text), PREVIEW, out->utf8);
		rt_term_c(out, "    ");
		rt_term_text(out, rt_buf_str(&preview));
		rt_term_style(out, RT_STYLE_DIM);
		rt_term_c(out, "  (collapsed)\n");
		rt_term_style(out, RT_STYLE_NONE);
	} else {
		show_prose(cli, e, rt_buf_str(&text));
	}
	rt_buf_deinit(&text);
	rt_buf_deinit(&preview);
}

/* "1,204 tokens in, 310 out, 1,000 from the cache"; counts that are unknown are left out, and
 * unknown ones stay JSON. */
static void
add_usage(rt_buf *out, yyjson_val *usage)
{
	static const struct {
		const char *names[3]; /* ours, pi's, and OpenAI's or our older one */
		const char *words;
	} counts[] = {{{"input_tokens", "input", "prompt_tokens"}, " tokens in"},
		      {{"output_tokens", "output", "completion_tokens"}, " out"},
		      {{"cache_read_input_tokens", "cacheRead", "cache_read_tokens"}, " from the cache"},
		      {{"cache_creation_input_tokens", "cacheWrite", "cache_write_tokens"}, " to the cache"}};
	size_t start = out->size;
	uint64_t count;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		for (size_t k = 0; k < 3; k++) {
			if (!rt_json_u64(rt_json_get(usage, counts[i].names[k]), &count))
				continue;
			if (i >= 2 && count == 0)
				break;
			rt_buf_add_c(out, out->size > start ? ", " : "");
			rt_buf_add_grouped(out, count);
			rt_buf_add_c(out, i == 1 && out->size == start ? " tokens out"
								       : counts[i].words);
			break;
		}
	if (out->size == start)
		rt_json_add_value(out, usage);
}

static void
show_details(rt_cli *cli, const rt_entry_row *e)
{
	yyjson_val *usage = rt_body_field(e->body, "usage");
	rt_buf json;

	if (!cli->verbose)
		return;
	rt_term_style(&cli->out, RT_STYLE_DIM);
	rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
	rt_body_add_origin(&json, e->kind, e->body);
	if (json.size > 0)
		rt_term_indented(&cli->out, rt_buf_str(&json), 4);
	rt_buf_deinit(&json);
	rt_str model = rt_json_str(rt_body_field(e->body, "model"));
	rt_str provider = rt_json_str(rt_body_field(e->body, "service"));

	if (provider.size == 0) /* not sent by Retake */
		provider = rt_json_str(rt_body_field(e->body, "provider"));
	if (model.size > 0) {
		rt_term_c(&cli->out, "    model: ");
		rt_term_line(&cli->out, provider);
		rt_term_c(&cli->out, provider.size > 0 ? "/" : "");
		rt_term_line(&cli->out, model);
		rt_term_c(&cli->out, "\n");
	}
	rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
	if (usage != NULL) {
		add_usage(&json, usage);
		rt_term_c(&cli->out, "    usage: ");
		rt_term_line(&cli->out, rt_buf_str(&json));
		if (rt_json_is_number(rt_body_field(e->body, "cost"))) {
			rt_term_c(&cli->out, "   cost: ");
			rt_term_line(&cli->out, rt_json_str(rt_body_field(e->body, "cost")));
		}
		rt_buf_clear(&json);
	}
	rt_body_add_duration(&json, "", e->body);
	if (json.size > 0) {
		rt_term_c(&cli->out, usage != NULL ? "   duration: " : "    duration: ");
		rt_term_text(&cli->out, rt_buf_str(&json));
	}
	rt_term_c(&cli->out, usage != NULL || json.size > 0 ? "\n" : "");
	rt_buf_deinit(&json);
	rt_term_style(&cli->out, RT_STYLE_NONE);
}

/* Why the entry has no reply. */
static void
show_failure(rt_cli *cli, const rt_entry_row *e)
{
	if (e->failure == NULL)
		return;
	rt_term_style(&cli->out, RT_STYLE_YELLOW);
	rt_term_c(&cli->out, "    Not answered: ");
	rt_term_line(&cli->out, rt_json_str(rt_json_get(e->failure, "detail")));
	rt_term_style(&cli->out, RT_STYLE_NONE);
	rt_term_f(&cli->out, "   Try again: %s again ", rt_cli_retake(cli));
	rt_term_line(&cli->out, e->id);
	rt_term_c(&cli->out, "\n");
}

/* at: its position; SIZE_MAX: it is in another take. */
static void
show_entry(rt_cli *cli, const rt_entry_row *e, size_t at, rt_str head, bool whole)
{
	rt_term *out = &cli->out;

	rt_term_style(out, RT_STYLE_DIM);
	if (at != SIZE_MAX)
		rt_term_f(out, ":%zu  ", at + 1);
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_style(out, RT_STYLE_BOLD);
	rt_term_style(out, rt_cli_role_style(e->role));
	rt_term_line(out, rt_cli_role_label(cli, e->role));
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_c(out, "  ");
	rt_term_line(out, e->id);
	add_marks(out, e, head);
	rt_term_c(out, "\n");
	show_content(cli, e, whole);
	show_failure(cli, e);
	show_details(cli, e);
}

static void
show_raw(rt_cli *cli, const rt_entry_row *e)
{
	rt_buf text;

	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	rt_content_add_text(&text, e->content);
	rt_term_raw(&cli->out, rt_buf_str(&text));
	rt_buf_deinit(&text);
}

static void
show_title(rt_cli *cli, const rt_show_row *show, size_t hidden)
{
	rt_term *out = &cli->out;
	const char *at_step = rt_cli_flag_value(cli, "at-step");

	rt_term_c(out, "Discussion ");
	rt_term_style(out, RT_STYLE_BOLD);
	rt_term_line(out, show->discussion);
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_c(out, ", take ");
	rt_term_style(out, RT_STYLE_BOLD);
	rt_term_line(out, show->take);
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_f(out, ", %zu entr%s", show->count, RT_CLI_IES(show->count));
	if (hidden > 0)
		rt_term_f(out, ", %zu hidden", hidden);
	if (at_step != NULL)
		rt_term_f(out, ", right after step %s", at_step);
	rt_term_c(out, "\n");
	if (show->count == 0)
		rt_cli_advise(cli, cli->session.is_scratch
					   ? "\nThere is no store yet in %.300s. The first entry creates "
					     "it: retake add TEXT\n"
					   : "\nNo entries yet. Add one: retake add TEXT\n",
			      rt_session_shown(&cli->session));
}

/* One entry, which may be in another take. */
static void
show_one(rt_cli *cli, uint32_t number)
{
	rt_scope *s = &cli->s;
	rt_view view = rt_cli_view(cli);
	const rt_entry_row *e = rt_entry_find(&view, number);
	const rt_take *take = rt_cli_take(cli);
	rt_buf *json = rt_scope_buf(s);
	size_t at = SIZE_MAX;
	rt_slot slot;
	bool found = false;

	if (!rt_ok(s))
		return;
	if (cli->json) {
		rt_entry_write(json, e);
		rt_cli_print_json(cli, json);
	} else if (rt_cli_has(cli, "raw")) {
		show_raw(cli, e);
	} else {
		RT_TRY(s, rt_take_find(cli->session.value, take, number, &at, &slot, &found,
				       &s->error));
		show_entry(cli, e, found ? at : SIZE_MAX, rt_str_of(NULL), true);
	}
}

/* If the head's entry is hidden, the head is shown at the last visible one before it. */
static rt_str
find_head(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	const rt_disc *disc = rt_cli_disc(cli);
	const rt_take *take = rt_cli_take(cli);
	size_t at = rt_cli_count(cli);
	bool hidden = true;
	rt_slot slot;

	if (take != NULL && take->number == disc->active)
		RT_TRY(s, rt_disc_head_at(cli->session.value, disc, &at, &s->error));
	while (rt_ok(s) && hidden && at > 0) {
		RT_TRY(s, rt_seq_get(take->slots, --at, &slot, &s->error));
		RT_TRY(s, rt_view_is_hidden(cli->session.engine, cli->session.value, &slot, &hidden,
					    &s->error));
	}
	return rt_ok(s) && !hidden ? rt_str_of(rt_cli_id_at(cli, at)) : rt_str_of(NULL);
}

static void
show_many(rt_cli *cli, rt_cli_span span)
{
	rt_scope *s = &cli->s;
	bool raw = rt_cli_has(cli, "raw");
	rt_view view = rt_cli_view(cli);
	const rt_show_row *show = rt_show_read(&view);
	const rt_take *take = rt_cli_take(cli);
	size_t hidden = 0, shown = 0;
	rt_str head;

	if (show == NULL)
		return;
	if (!rt_cli_has(cli, "all"))
		RT_TRY(s, rt_view_count_hidden(cli->session.engine, cli->session.value, take,
					       &hidden, &s->error));
	head = hidden > 0 ? find_head(cli) : show->head;
	if (!rt_ok(s))
		return;
	if (!raw && !rt_cli_has(cli, "no-pager"))
		rt_term_page(&cli->out);
	if (!raw)
		show_title(cli, show, hidden);

	rt_entry_cursor *c = rt_cli_entries(cli, span);

	for (const rt_entry_row *e; (e = rt_entries_next(c)) != NULL && !cli->out.broken;) {
		/* Positions count hidden entries, too. */
		if (!is_wanted(cli, e) || (hidden > 0 && e->hidden))
			continue;
		if (raw) {
			show_raw(cli, e);
			rt_term_c(&cli->out, span.first != span.last ? "\n" : "");
			continue;
		}
		rt_term_c(&cli->out, "\n");
		show_entry(cli, e, e->at, head, false);
		shown += !rt_cli_has(cli, "role") || !rt_role_is_user(e->role);
	}
	if (raw || !rt_ok(s))
		return;
	if (shown == 0 && rt_cli_has(cli, "role"))
		rt_cli_advise(cli, "\nNo entry has the role \"%.80s\". Roles: retake roles\n",
			      rt_cli_flag_value(cli, "role"));
	rt_cli_inflight_report(cli);
}

static void
run_show(rt_cli *cli)
{
	const char *what = rt_cli_word(cli, 0);
	rt_cli_span span = {0};
	uint32_t entry;

	if (!rt_cli_open(cli, RT_SESSION_LOOK))
		return;
	if (rt_cli_has(cli, "take-file")) {
		rt_cli_takefile_print(cli);
		return;
	}
	/* One entry of the discussion, in any take; or several of this one. */
	if (what != NULL) {
		entry = rt_cli_entry(cli, what, true);
		if (rt_ok(&cli->s) && entry == 0)
			rt_cli_fail(cli, RT_NOT_FOUND, "the head is before the first entry");
		else if (rt_ok(&cli->s))
			show_one(cli, entry);
		if (rt_ok(&cli->s) || strstr(what, "..") == NULL)
			return;
		rt_cli_recover(cli, NULL);
		span = rt_cli_range(cli, what);
	} else {
		span.last = rt_cli_count(cli);
		span.last -= span.last > 0;
	}
	if (!rt_ok(&cli->s))
		return;
	if (cli->json)
		print_json(cli, span);
	else
		show_many(cli, span);
}

static const rt_flag show_flags[] = {
	{"role", 'r', "ROLE", RT_ARG_ROLE, "only entries with this role, and the questions (role User)"},
	{"all", 'a', NULL, RT_ARG_TEXT, "include hidden entries"},
	{"thinking", 0, NULL, RT_ARG_TEXT, "show the thinking in full"},
	{"raw", 0, NULL, RT_ARG_TEXT, "only the text, byte for byte (for a pipe or file)"},
	{"take-file", 0, NULL, RT_ARG_TEXT, "the take as a text file for retake edit --all"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_show = {
	.name = "show",
	.alias = "cat",
	.group = RT_COMMANDS_LOOKING,
	.traits = RT_COMMAND_AT_STEP,
	.max_words = 1,
	.usage = "[ENTRY | FROM..TO]",
	.summary = "show the take, or some of its entries",
	.about =
		"Shows the entries of the active take with their positions and ids. With an "
		"ENTRY, shows only that entry, from any take. Entries that programs store "
		"for themselves are hidden (kind custom, and messages with \"display\":false); "
		"positions count them. --all and --json show everything. On a terminal, "
		"replies and entries in read mode (retake view ENTRY --read) are rendered as "
		"Markdown; with --raw, or if TERM is dumb, they are not.",
	.examples = "retake show\nretake show :4\nretake show :2..:5\nretake show --at-step 12\n"
		    "retake show --json | less",
	.flags = show_flags,
	.kinds = {RT_ARG_ENTRY},
	.run = run_show,
};
