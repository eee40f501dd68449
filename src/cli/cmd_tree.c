/* SPDX-License-Identifier: MIT
 *
 * tree: all takes of a discussion as one tree. Lines of descent are drawn only where the tree
 * forks, so that a long conversation is not indented further and further:
 *
 *     * User  Which database?
 *     * AI  SQLite: one file …  [good-start]
 *     |- * User  Use SQLite
 *     |  * AI  Good. Schema: …  (main)  <- head
 *     `- User  What about DuckDB?  (duck)
 *
 * Nothing here recurses: rows come depth-first, and each knows its parent's row. */
#include "cli/cli.h"
#include "app/screen.h"
#include "base/hash.h"
#include "base/hash_table.h"
#include "view/view.h"

enum {
	WIDTH = 80,
	NARROW = 50,
	NAME_MIN = 12,  /* columns of a label, and of the name of a take, on a terminal */
	NAME_PART = 5,  /* of the terminal's columns */
	ROLE_MAX = 12,  /* columns to which roles are padded */
	GUTTER_MAX = 40 /* columns of gutter at most; deeper forks show the last few levels */
};

typedef struct row {
	const rt_tree_row *entry;
	size_t parent; /* row, or SIZE_MAX */
	size_t children;
	size_t level; /* forks above */
	bool forked;  /* one of several children */
	bool last;    /* the last of them */
	bool named;   /* replies of several models are among its children */
	bool hidden;  /* not drawn: rows below it belong to the nearest drawn row above */
	bool active;  /* the head is here, or at a hidden row that belongs here */
	bool repeated; /* the entry has a row above, too: the takes differ before it */
} row;

typedef struct tree {
	rt_cli *cli;
	const rt_disc *disc;
	row *rows;
	size_t count;
	size_t roots;
	bool *more;    /* by level: do siblings follow further down? */
	size_t *tips;  /* by the number of a take: its last row that is drawn + 1; 0: none */
	size_t hidden; /* rows that are not drawn */
	size_t width;  /* columns */
	size_t preview;
	size_t role_width;
} tree;

/* --- shape --- */

/* Parents: rows come depth first, so it is the last one that is one level higher. */
static void
link_rows(tree *t, rt_tree_rows rows)
{
	rt_cli *cli = t->cli;
	size_t *last = rt_scope_array(&cli->s, rows.count + 1, sizeof(*last)); /* by depth */
	bool all = rt_cli_has(cli, "all");

	t->rows = rt_scope_array(&cli->s, rows.count + 1, sizeof(*t->rows));
	t->tips = rt_scope_array(&cli->s, rt_disc_take_count(t->disc) + 1, sizeof(*t->tips));
	for (size_t i = 0; rt_ok(&cli->s) && i < rows.count; i++) {
		const rt_tree_row *e = &rows.items[i];
		size_t above = e->depth == 0 ? SIZE_MAX : last[e->depth - 1];
		row *r = &t->rows[i];

		last[e->depth] = i;
		while (above != SIZE_MAX && t->rows[above].hidden)
			above = t->rows[above].parent;
		*r = (row){.entry = e,
			   .parent = above,
			   .hidden = !all && e->hidden,
			   .active = e->active};
		t->count = i + 1;
		if (r->hidden) {
			t->hidden++;
			if (above != SIZE_MAX && r->active)
				t->rows[above].active = true;
			continue;
		}
		if (above == SIZE_MAX)
			t->roots++;
		else
			t->rows[above].children++;
		for (size_t k = 0; k < e->take_count; k++)
			t->tips[e->takes[k]] = i + 1;
	}
}

/* Entries that takes share although they differ before them, because one of them deleted or inserted
 * an entry there. */
static void
find_repeated(tree *t)
{
	rt_scope *s = &t->cli->s;
	rt_hash_table met = {0};

	for (size_t i = 0; rt_ok(s) && i < t->count; i++) {
		rt_str id = t->rows[i].entry->id;
		uint64_t hash = rt_hash(id.ptr, id.size, 0);
		uint32_t number;

		for (size_t probe = 0; rt_hash_table_next(&met, hash, &probe, &number);)
			t->rows[i].repeated |= rt_str_eq(t->rows[number].entry->id, id);
		if (!t->rows[i].repeated)
			RT_TRY(s, rt_hash_table_add(&met, t->cli->alloc, hash, i));
	}
	rt_hash_table_deinit(&met, t->cli->alloc);
}

/* Levels; and, going backwards, the first child that is found is the last of its siblings. */
static void
shape_rows(tree *t)
{
	rt_scope *s = &t->cli->s;
	bool *met = rt_scope_array(s, t->count + 1, sizeof(bool)); /* by parent; count: the roots */
	rt_str *models = rt_scope_array(s, t->count + 1, sizeof(*models)); /* of a child, by parent */

	t->more = rt_scope_array(s, t->count + 2, sizeof(bool));
	if (!rt_ok(s))
		return;
	for (size_t i = 0; i < t->count; i++) {
		row *r = &t->rows[i];
		const row *parent = r->parent == SIZE_MAX ? NULL : &t->rows[r->parent];

		if (parent != NULL && r->entry->model.size > 0 && !r->hidden) {
			if (models[r->parent].size == 0)
				models[r->parent] = r->entry->model;
			t->rows[r->parent].named |= !rt_str_eq(models[r->parent], r->entry->model);
		}
		r->forked = parent == NULL ? t->roots > 1 : parent->children > 1;
		r->level = (parent == NULL ? 0 : parent->level) + (size_t)r->forked;
	}
	for (size_t i = t->count; i-- > 0;) {
		size_t parent = t->rows[i].parent == SIZE_MAX ? t->count : t->rows[i].parent;

		if (t->rows[i].hidden)
			continue;
		t->rows[i].last = !met[parent];
		met[parent] = true;
	}
}

/* --- drawing --- */

/* As many characters of a text as may fit on a line. */
static size_t
preview_of(size_t width)
{
	return width > WIDTH ? width : RT_TREE_PREVIEW;
}

static void
add_gutter(const tree *t, const row *r)
{
	rt_term *out = &t->cli->out;
	bool fine = out->utf8;
	size_t columns = out->columns > 0 && out->columns / 2 < GUTTER_MAX ? out->columns / 2
									   : GUTTER_MAX;
	size_t levels = columns >= 3 ? columns / 3 : 1, level = 1;

	rt_term_style(out, RT_STYLE_DIM);
	if (r->level > levels) {
		level = r->level - levels + 1;
		rt_term_c(out, fine ? "\xE2\x80\xA6" : "<");
	}
	for (; level <= r->level; level++) {
		if (level < r->level || !r->forked)
			rt_term_c(out, !t->more[level] ? "   " : fine ? "\xE2\x94\x82  " : "|  ");
		else if (r->last)
			rt_term_c(out, fine ? "\xE2\x94\x94\xE2\x94\x80 " : "`- ");
		else
			rt_term_c(out, fine ? "\xE2\x94\x9C\xE2\x94\x80 " : "|- ");
	}
	rt_term_style(out, RT_STYLE_NONE);
}

static bool
is_in_active(const tree *t, const rt_tree_row *e)
{
	for (size_t i = 0; i < e->take_count; i++)
		if (e->takes[i] == t->disc->active)
			return true;
	return false;
}

/* Columns of a name on a terminal; 0: in full. */
static size_t
name_columns(const tree *t)
{
	size_t part = t->cli->out.columns / NAME_PART;

	return part == 0 || part >= NAME_MIN ? part : NAME_MIN;
}

/* Takes that end here: "  (take duck *, main)". */
static void
add_tips(const tree *t, size_t at, rt_buf *buf)
{
	const rt_tree_row *e = t->rows[at].entry;
	bool any = false;

	for (size_t i = 0; i < e->take_count; i++) {
		if (t->tips[e->takes[i]] != at + 1)
			continue;
		rt_buf_add_c(buf, any ? ", " : "  (take ");
		rt_screen_add_name(buf, rt_text_str(rt_disc_take(t->disc, e->takes[i])->name),
				   name_columns(t), t->cli->out.utf8);
		rt_buf_add_c(buf, e->takes[i] == t->disc->active ? " *" : "");
		any = true;
	}
	rt_buf_add_c(buf, any ? ")" : "");
}

/* The notes after the text, without styles, to know their width. */
static void
add_tail(const tree *t, size_t at, rt_buf *buf)
{
	const rt_tree_row *e = t->rows[at].entry;

	if (e->kind.size > 0 && !rt_str_is(e->kind, "message") && !e->has_title) {
		rt_buf_add_c(buf, "  (");
		rt_screen_add_line(buf, e->kind);
		rt_buf_add_c(buf, ")");
	}
	rt_buf_add_c(buf, e->muted ? "  (muted)" : "");
	rt_buf_add_c(buf, e->edited ? "  (edited)" : "");
	rt_buf_add_c(buf, e->partial ? "  (partial)" : "");
	rt_buf_add_c(buf, e->variant_count > 0 ? "  (differs by take)" : "");
	rt_buf_add_c(buf, t->rows[at].repeated ? "  (also above)" : "");
	if (t->rows[at].parent != SIZE_MAX && t->rows[t->rows[at].parent].named && e->model.size > 0) {
		rt_buf_add_c(buf, "  (");
		rt_screen_add_line(buf, e->model);
		rt_buf_add_c(buf, ")");
	}
	add_tips(t, at, buf);
	rt_buf_add_c(buf, t->rows[at].active ? "  <- head" : "");
}

/* Everything before the text. Returns its columns. */
static size_t
draw_front(const tree *t, const row *r)
{
	const rt_tree_row *e = r->entry;
	rt_term *out = &t->cli->out;
	size_t levels = r->level < GUTTER_MAX / 3 ? r->level : GUTTER_MAX / 3;
	rt_str role = rt_cli_role_label(t->cli, e->role);
	size_t role_width = rt_screen_width(role);
	/* On a very narrow screen the text has priority over the id. */
	bool has_id = e->id.size > 0 && !(out->columns > 0 && out->columns < NARROW);
	rt_str id = has_id ? rt_cli_short_id(t->cli, e->id) : e->id;

	add_gutter(t, r);
	rt_term_style(out, RT_STYLE_BOLD);
	rt_term_c(out, !is_in_active(t, e) ? "  " : out->utf8 ? "\xE2\x80\xA2 " : "* ");
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_style(out, rt_cli_role_style(e->role));
	rt_term_line(out, role);
	if (role_width < t->role_width) {
		rt_term_spaces(out, t->role_width - role_width);
		role_width = t->role_width;
	}
	if (has_id) {
		rt_term_style(out, RT_STYLE_DIM);
		rt_term_c(out, "  ");
		rt_term_line(out, id);
		rt_term_style(out, RT_STYLE_NONE);
	}
	rt_term_c(out, "  ");
	return levels * 3 + 2 + role_width + 2 + (has_id ? rt_screen_width(id) + 2 : 0);
}

static size_t
label_columns(const tree *t, rt_str label)
{
	size_t columns = rt_screen_width(label), most = name_columns(t);

	return most > 0 && columns > most ? most : columns;
}

static void
draw_row(const tree *t, size_t at)
{
	const rt_tree_row *e = t->rows[at].entry;
	rt_term *out = &t->cli->out;
	size_t used = draw_front(t, &t->rows[at]), columns;
	rt_buf tail, text;

	rt_buf_init(&tail, t->cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&text, t->cli->alloc, RT_BUF_UNLIMITED);
	add_tail(t, at, &tail);
	rt_screen_add_preview(&text, e->preview, t->preview, out->utf8);
	/* The preview may have been cut there; whether more follows is not known. */
	if (rt_utf8_count(e->preview) == t->preview)
		rt_buf_add_c(&text, out->utf8 ? "\xE2\x80\xA6" : "...");
	used += rt_screen_width(rt_buf_str(&tail)) +
		(e->label.size > 0 ? label_columns(t, e->label) + 4 : 0);
	columns = t->width > used + 4 ? t->width - used : 4;
	if (rt_screen_width(rt_buf_str(&text)) > columns) {
		rt_term_text(out, rt_screen_cut(rt_buf_str(&text), columns - 1));
		rt_term_c(out, out->utf8 ? "\xE2\x80\xA6" : "~");
	} else {
		rt_term_text(out, rt_buf_str(&text));
	}
	if (e->label.size > 0) {
		rt_term_style(out, RT_STYLE_YELLOW);
		rt_term_c(out, "  [");
		rt_term_name(out, e->label, name_columns(t));
		rt_term_c(out, "]");
		rt_term_style(out, RT_STYLE_NONE);
	}
	rt_term_text(out, rt_buf_str(&tail));
	rt_term_c(out, "\n");
	rt_buf_deinit(&tail);
	rt_buf_deinit(&text);
}

/* Can this row be left out, as one of several that are shown above? */
static bool
is_folded(const tree *t, size_t at)
{
	const row *r = &t->rows[at];

	if (!r->repeated || r->forked || r->active || r->children != 1)
		return false;
	for (size_t i = 0; i < r->entry->take_count; i++)
		if (t->tips[r->entry->takes[i]] == at + 1)
			return false;
	return true;
}

static void
draw_folded(const tree *t, const row *last, size_t count)
{
	rt_term *out = &t->cli->out;

	add_gutter(t, last);
	rt_term_style(out, RT_STYLE_DIM);
	rt_term_f(out, "  (%zu entr%s as above)\n", count, RT_CLI_IES(count));
	rt_term_style(out, RT_STYLE_NONE);
}

static bool
is_listed(const rt_cli *cli, const rt_tree_row *e)
{
	return !(rt_cli_has(cli, "labels") && e->label.size == 0) &&
	       !(rt_cli_has(cli, "user-only") && !rt_str_eq_nocase(e->role, RT_STR("user")));
}

static void
draw(rt_cli *cli)
{
	size_t width = rt_term_width(&cli->out);
	tree t = {.cli = cli,
		  .disc = rt_cli_disc(cli),
		  .width = width,
		  .preview = preview_of(width)};
	rt_view view = rt_cli_view(cli);

	if (t.disc == NULL)
		return;
	link_rows(&t, rt_tree_list(&view, t.preview));
	find_repeated(&t);
	shape_rows(&t);
	if (!rt_ok(&cli->s))
		return;
	if (!rt_cli_has(cli, "no-pager"))
		rt_term_page(&cli->out);
	if (t.count == 0)
		rt_cli_advise(cli, cli->session.is_scratch
					   ? "There is no store yet in %.300s. The first entry creates "
					     "it: retake add TEXT\n"
					   : "No entries yet. Add one: retake add TEXT\n",
			      rt_session_shown(&cli->session));
	for (size_t i = 0; i < t.count; i++) {
		size_t used = rt_screen_width(rt_cli_role_label(cli, t.rows[i].entry->role));

		if (used > t.role_width && used <= ROLE_MAX)
			t.role_width = used;
	}
	for (size_t i = 0, folded = 0; i < t.count && !cli->out.broken; i++) {
		const row *r = &t.rows[i];

		if (r->hidden)
			continue;
		if (r->forked)
			t.more[r->level] = !r->last;
		if (!is_listed(cli, r->entry))
			continue;
		if (is_folded(&t, i)) {
			folded++;
			continue;
		}
		if (folded > 0)
			draw_folded(&t, &t.rows[r->parent], folded);
		folded = 0;
		draw_row(&t, i);
	}
	if (t.hidden > 0)
		rt_cli_advise(cli, "%zu hidden   All entries: retake tree --all\n", t.hidden);
	rt_cli_inflight_report(cli);
}

/* --- JSON --- */

/* The replies in flight to this entry, or continuing it, as a member "arriving". */
static void
add_arriving(rt_buf *out, yyjson_val *replies, rt_str id)
{
	size_t count = 0;

	for (rt_json_iter it = rt_json_items(replies); rt_json_next(&it);) {
		if (rt_str_is(rt_json_str(rt_json_get(it.value, "state")), "aside") ||
		    (!rt_str_eq(rt_json_str(rt_json_get(it.value, "after")), id) &&
		     !rt_str_eq(rt_json_str(rt_json_get(it.value, "into")), id)))
			continue;
		if (count++ == 0)
			rt_json_open(out, "arriving", '[');
		rt_json_put_value(out, NULL, it.value);
	}
	if (count > 0)
		rt_json_close(out, ']');
}

static void
print_json(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	rt_view view = rt_cli_view(cli);
	const rt_disc *disc = rt_cli_disc(cli);
	rt_buf *json = rt_scope_buf(s), *replies = rt_scope_buf(s);
	rt_tree_cursor *c = rt_tree_open(&view, RT_TREE_PREVIEW);

	rt_json_open(replies, NULL, '[');
	(void)rt_cli_inflight_add(cli, replies);
	rt_json_close(replies, ']');

	yyjson_val *arriving = rt_json_parse(s, rt_scope_str(s, replies));

	rt_json_open(json, NULL, '[');
	for (const rt_tree_row *e; (e = rt_tree_next(c)) != NULL;) {
		rt_tree_row_write(json, disc, e);
		if (yyjson_arr_size(arriving) == 0 || json->size == 0)
			continue;
		json->size--; /* its brace */
		add_arriving(json, arriving, e->id);
		rt_json_close(json, '}');
	}
	rt_json_close(json, ']');
	rt_cli_print_json(cli, json);
}

static void
run_tree(rt_cli *cli)
{
	if (!rt_cli_open(cli, RT_SESSION_LOOK))
		return;
	if (cli->json)
		print_json(cli);
	else
		draw(cli);
}

static const rt_flag tree_flags[] = {
	{"user-only", 'u', NULL, RT_ARG_TEXT, "only the user's entries"},
	{"labels", 'l', NULL, RT_ARG_TEXT, "only labelled entries"},
	{"all", 'a', NULL, RT_ARG_TEXT, "include hidden entries (see retake help show)"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_tree = {
	.name = "tree",
	.group = RT_COMMANDS_LOOKING,
	.traits = RT_COMMAND_AT_STEP,
	.usage = "[--user-only] [--labels] [--all]",
	.summary = "show all takes of the discussion as a tree",
	.about =
		"Entries of the active take have a dot. The last entry of a take names the "
		"take; the active one has a star.",
	.examples = "retake tree\nretake tree --labels\nretake tree --json",
	.flags = tree_flags,
	.run = run_tree,
};
