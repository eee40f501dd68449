/* SPDX-License-Identifier: MIT
 *
 * Views as typed rows: a value read for a program or a person (C39, C40, C47). Lists are arrays in
 * the caller's scope; potentially large lists are read through a cursor, row by row:
 *
 *	rt_view view = {&scope, engine, project, place};
 *	rt_entry_cursor *c = rt_entries_open(&view, NULL);
 *
 *	for (const rt_entry_row *e; (e = rt_entries_next(c)) != NULL;)
 *		print(e->id, e->role, e->content);
 *
 * A row from a cursor and everything it points to are valid until the next call for that cursor,
 * all other rows until the scope ends; the project must live as long. Cursors close with the
 * scope. Failures are kept in the scope: lists are empty then, pointers NULL.
 *
 * Texts (rt_str) whose ptr is NULL are absent. Ids are in the visible form. JSON is made from these
 * rows: view.h.
 *
 * Threads: call from any thread; a value is immutable, texts are read from the store. A scope is
 * for one thread at a time. */
#ifndef RT_VIEW_VIEW_ROWS_H
#define RT_VIEW_VIEW_ROWS_H

#include "base/scope.h"
#include "codec/content.h"
#include "log/rows.h"

/* The viewed place, and the scope of its rows. Number 0 in place: the active one. */
typedef struct rt_view {
	rt_scope *scope;
	rt_engine *engine;
	const rt_project *project;
	rt_place place;
} rt_view;

/* The discussion, and its take. NULL: none, and the scope has failed (RT_NOT_FOUND). */
const rt_disc *rt_view_disc(const rt_view *view);
const rt_take *rt_view_take(const rt_view *view);
/* A body by number (of a slot, a revision, an effect); lives as long as the scope. */
const rt_body *rt_view_body(const rt_view *view, uint64_t number);
/* The body's text as it can be edited (rt_content_add_text). */
rt_str rt_view_text(const rt_view *view, uint64_t number);

/* Reads the bodies of neighbouring slots together once they are read in order, upwards or
 * downwards: many times faster than one by one. Zero initialised; deinit it. */
typedef struct rt_body_reader {
	rt_body_run run;
	uint64_t numbers[RT_BODY_RUN_MAX]; /* the bodies in the run */
	size_t from, count;                /* the indices of their slots */
	size_t last;                       /* the index that was read last, + 1; 0: none */
} rt_body_reader;

/* The body of slots[at]; lives as long as the view's scope, which need not be the same in every
 * call. NULL: the scope has failed. */
const rt_body *rt_view_body_at(const rt_view *view, rt_body_reader *reader, const rt_slot *slots,
			       size_t count, size_t at);
void rt_body_reader_deinit(rt_body_reader *reader);
/* The first characters of a body's text on one line without the signs of Markdown (codec/plain.h),
 * or a summary of the rest ("(calls read)", "(thinking)"); never absent. The text of a model (role) is without its thinking. Only the result
 * stays in scope. */
rt_str rt_view_preview(rt_scope *scope, rt_str role, const rt_body *body, size_t characters);
/* The same for the row of a tree: after its title (rt_body_add_title), if it has one. */
rt_str rt_view_row_preview(rt_scope *scope, rt_str kind, rt_str role, const rt_body *body,
			   size_t characters);

/* A scope that is closed with the outer one, for reading item by item: reset it for each, and
 * rt_scope_adopt its failures. It is the outer one itself once that has failed. */
rt_scope *rt_view_inner(rt_scope *outer);

/* ---- entries ---- */

typedef struct rt_window {
	size_t from;  /* first position, 0-based */
	size_t count; /* 0: to the end */
	rt_str role;  /* filter by role: this one and User (T5); empty: all */
} rt_window;

/* An entry in the form that a take has. */
typedef struct rt_entry_row {
	rt_str id;
	size_t at;     /* position in its take, 0-based */
	rt_slot slot;  /* slot.entry: its number */
	rt_str role;
	rt_str kind;   /* "message" unless it has another */
	rt_str label;  /* or absent */
	bool has_time; /* slot.ts_us, rt_slot_moment */
	bool muted, collapsed, read_mode;
	bool edited, partial;
	bool purged, lost; /* its text was purged */
	bool hidden;       /* from people (rt_body_is_hidden) */
	yyjson_val *failure; /* why it has no reply: "code", "detail", "model"; or NULL */
	const rt_body *body; /* further fields: rt_body_field */
	rt_content content;  /* the body's */
} rt_entry_row;

typedef struct rt_entry_cursor rt_entry_cursor;

/* The entries of a take in order; window may be NULL. Memory: the texts of 64 entries. */
rt_entry_cursor *rt_entries_open(const rt_view *view, const rt_window *window);
/* NULL: after the last one, and after a failure. cursor may be NULL. */
const rt_entry_row *rt_entries_next(rt_entry_cursor *cursor);
/* One entry, of the take or else of the first present take that has it. RT_NOT_FOUND. */
const rt_entry_row *rt_entry_find(const rt_view *view, uint32_t entry);
/* One side of an effect: id, role, kind, muted, body and content; the rest is 0. */
const rt_entry_row *rt_entry_of_effect(const rt_view *view, const rt_effect_slot *side);
/* The entry for display: its text and, on a separate line, its other contents, such as "(calls
 * read, bash)". */
void rt_entry_add_text(rt_buf *buf, const rt_entry_row *entry);
/* The origin of a summary (kind compaction or branch_summary), as far as it is known: "Written by
 * mock/good. Instructions: say what failed". Nothing for other entries. */
void rt_body_add_origin(rt_buf *buf, rt_str kind, const rt_body *body);
/* The model of a reply: "openai/gpt-5"; nothing if it is unknown. */
void rt_body_add_model(rt_buf *buf, const rt_body *body);
/* The model of a reply, its usage and its duration, as far as they are known: "openai/gpt-5, 1200
 * tokens in (800 cached), 35 out, 2.4 s". Also in the members that other programs use. */
void rt_body_add_usage(rt_buf *buf, const rt_body *body);
/* before, and the duration of a reply: "340 ms", "2.4 s", "48 s", "3 min 5 s". Nothing if that is
 * unknown. */
void rt_body_add_duration(rt_buf *buf, const char *before, const rt_body *body);

/* ---- usage ---- */

enum { RT_USAGE_ENTRIES_MAX = 20000 }; /* maximum of a project that is counted without a request */

/* Totals of the replies whose usage is known. */
typedef struct rt_usage_totals {
	size_t replies, priced; /* priced: with a cost */
	uint64_t input, output; /* tokens */
	double cost;            /* of the priced ones, in the currency of the prices */
} rt_usage_totals;

/* The usage in all takes of the discussion, or of the project; deleted ones do not count, and a
 * reply that was imported several times counts once. Reads every reply: about a second for
 * 200,000. */
rt_usage_totals rt_view_usage(const rt_view *view, bool is_project);
void rt_usage_add(rt_usage_totals *to, const rt_usage_totals *from);
/* {"replies","input_tokens","output_tokens","cost","without_price"}; cost only if a price is known,
 * without_price only if it is unknown for some. */
void rt_usage_add_json(const rt_usage_totals *totals, const char *key, rt_buf *out);
/* "1,200 tokens in, 35 out, cost 0.0150". */
void rt_usage_add_text(const rt_usage_totals *totals, rt_buf *out);

/* The heading of a take. */
typedef struct rt_show_row {
	rt_str discussion, take; /* names */
	rt_str head;  /* id of the entry at the head, of an inactive take the last one; absent: none */
	size_t count; /* entries */
} rt_show_row;
/* NULL: no such take. */
const rt_show_row *rt_show_read(const rt_view *view);

/* ---- takes and discussions ---- */

typedef struct rt_take_row {
	uint32_t number; /* "t3" */
	rt_str name;
	bool active;
	size_t entries;
	rt_str base;       /* the name as far as "_take_" */
	uint32_t group;    /* where grouped: the number of the first take with this base */
	rt_str git_commit; /* of the last update; or absent */
	int64_t updated_us; /* its last change; if unknown, the time of its last entry; 0: none */
	/* if titles are requested: */
	rt_str title;      /* instead of a generated name: its differences; or absent */
	rt_str preview;    /* the first words of its entries that others do not have; or absent */
	rt_str model;      /* of the reply at which it diverges; or absent */
	uint32_t another_reply; /* it is only another reply beside that of this take; 0: it is
				 * not */
	bool absent;       /* deleted */
} rt_take_row;

typedef struct rt_take_rows {
	rt_take_row *items;
	size_t count;
} rt_take_rows;

typedef struct rt_takes_options {
	bool all;      /* also those that were deleted */
	size_t max;    /* only the first ones; 0: all of them */
	uint32_t also; /* and the take of this number at any position; 0: none */
	bool times;    /* updated_us, too. Cost: a row of the log for each */
	bool grouped;  /* those with the same base together, at the position of the first of them */
	bool titles;   /* title, preview, model and another_reply, too. Cost: two texts for each */
} rt_takes_options;
/* options may be NULL. */
rt_take_rows rt_takes_list(const rt_view *view, const rt_takes_options *options);

typedef struct rt_disc_row {
	uint32_t number; /* "d3" */
	rt_str name;
	bool active;
	size_t entries; /* of the active take */
	size_t takes;   /* present ones */
	bool has_updated;
	int64_t updated_us; /* of the last change of an entry or a take, else of the last entry */
	rt_str track;       /* that it is bound to; or absent */
	rt_str title;       /* to show instead of a generated name; else the name */
	bool pinned, archived;
	const rt_str *tags; /* "work/db" is nested in "work" */
	size_t tag_count;
	bool absent;        /* deleted */
} rt_disc_row;

typedef struct rt_disc_rows {
	rt_disc_row *items;
	size_t count;
} rt_disc_rows;

/* Pinned ones first, else in order of creation. all: also those that were deleted. Cost: a row of
 * the log for each, and of those without a title or a chosen name their first question. */
rt_disc_rows rt_discs_list(const rt_view *view, bool all);
/* The title of a discussion: its name; of one with a generated name its setting "title", else the
 * first words of the first question of its active take, else the name. In the view's scope. */
rt_str rt_disc_title(const rt_view *view, uint32_t disc);
/* "main", "discussion-2" …: a generated name. */
bool rt_disc_name_is_generated(rt_str name);
/* The first words of a text, at most max characters, in the scope; cut at a space, with "…". */
rt_str rt_first_words(rt_scope *scope, rt_str text, size_t max);
/* Does it have this tag, or one nested in it? Empty: no tag at all. */
bool rt_disc_row_has_tag(const rt_disc_row *disc, rt_str tag);
/* Does a discussion belong to a track? track: its name; empty: to none; ptr NULL: true. */
bool rt_disc_row_is_of(const rt_disc_row *disc, rt_str track);


/* ---- tracks ---- */

typedef struct rt_track_row {
	rt_str name;
	bool active;         /* the active discussion is bound to it */
	size_t discussions;
	size_t entries;      /* of their active takes */
	int64_t updated_us;  /* of the discussion that was changed last; 0: none was */
} rt_track_row;

typedef struct rt_track_rows {
	rt_track_row *items;
	size_t count;
} rt_track_rows;

/* The tracks of present discussions, by name. Cost: as rt_discs_list. */
rt_track_rows rt_tracks_list(const rt_view *view);

/* ---- settings ---- */

typedef struct rt_setting_row {
	rt_str name;
	rt_str value; /* JSON */
} rt_setting_row;

typedef struct rt_setting_rows {
	rt_setting_row *items;
	size_t count;
} rt_setting_rows;

typedef struct rt_settings_row {
	rt_str discussion; /* its name */
	rt_str roles;      /* a JSON array of strings */
	rt_str prompt;     /* a JSON string */
	bool prompt_edited;
	rt_setting_rows settings; /* the project's, then the discussion's: the last of a name counts */
	size_t own;               /* how many of the settings, at their end, are the discussion's */
	rt_setting_rows fields;   /* further fields of a discussion: files, track, presets, … */
} rt_settings_row;
const rt_settings_row *rt_settings_read(const rt_view *view);
/* One setting (the discussion's, else the project's), or one further field of the discussion, as a
 * value; NULL: not set. */
yyjson_val *rt_setting_value(const rt_view *view, rt_str name);
yyjson_val *rt_disc_field_value(const rt_view *view, rt_str name);
/* The roles, an array of strings. */
yyjson_val *rt_roles_value(const rt_view *view);
/* The working prompt; out_edited may be NULL. */
rt_str rt_prompt_text(const rt_view *view, bool *out_edited);

/* ---- two takes ---- */

/* The differences of two takes. Their entries from common on are only in one of them: read them
 * with rt_entries_open. */
typedef struct rt_diff {
	const rt_take *a, *b;
	size_t common; /* entries that both begin with */
	/* the next pair of revisions that differ below common; rt_diff_next */
	size_t at;
	const rt_entry_row *was, *is; /* in a, in b */
	rt_scope *pair;
} rt_diff;
/* a is NULL after a failure; RT_NOT_FOUND: no such take. */
rt_diff rt_diff_open(const rt_view *view, uint32_t take_a, uint32_t take_b);
/* false: there is no further pair. */
bool rt_diff_next(const rt_view *view, rt_diff *diff);

/* ---- the tree ---- */

typedef struct rt_variant {
	uint64_t revision;
	const uint32_t *takes; /* numbers, ascending */
	size_t take_count;
} rt_variant;

/* An entry in the tree of all present takes. */
typedef struct rt_tree_row {
	uint64_t node, parent_node; /* 48 bits, from the path; parent_node counts only with parent */
	rt_str id;
	rt_str parent; /* id; absent: a root */
	rt_str role;
	rt_str kind;   /* "message" unless it has another */
	rt_str label;  /* or absent */
	bool active;   /* the head is at it */
	const uint32_t *takes; /* numbers of those that it is in, ascending */
	size_t take_count;
	const rt_variant *variants; /* if takes show different revisions, else none */
	size_t variant_count;
	bool muted, edited;
	size_t depth; /* 0: a root */
	rt_str preview;
	bool has_title; /* the preview begins with one (rt_body_add_title) */
	bool partial, hidden;
	rt_str model;   /* of a reply; or empty */
} rt_tree_row;

typedef struct rt_tree_rows {
	rt_tree_row *items;
	size_t count;
} rt_tree_rows;

enum { RT_TREE_PREVIEW = 60 /* characters: fits next to a tree */ };

typedef struct rt_tree_cursor rt_tree_cursor;

/* Depth first, siblings from the oldest. preview: characters. Cost: the trie (view_trie.h). */
rt_tree_cursor *rt_tree_open(const rt_view *view, size_t preview);
const rt_tree_row *rt_tree_next(rt_tree_cursor *cursor);
/* All rows at once. */
rt_tree_rows rt_tree_list(const rt_view *view, size_t preview);

/* ---- history ---- */

/* How far the history was read; all zero at first. The value and discussion of later calls must be
 * those of the first call. */
typedef struct rt_history_at {
	bool is_begun;
	uint64_t seq;                 /* of the next row to read; 0: all have been read */
	uint64_t in_disc, in_project; /* the next step of each that is in effect */
	uint64_t group; /* of the last step: rows of this group belong to it, too; 0: none */
} rt_history_at;

typedef struct rt_history_row {
	uint64_t seq, parent;
	rt_str op;
	rt_str what;  /* the description of the step */
	rt_str did;   /* the same without ids */
	rt_str about; /* the first words of the entry that it concerns; absent: none */
	uint32_t take;       /* the number of the one that it changed; 0: none */
	rt_str take_name;
	rt_str setting;      /* that it changed, if it changed nothing else; or absent */
	rt_str by;
	int64_t at_us;
	bool of_disc;        /* false: of the project only */
	bool is_current;
	bool is_undone;
	size_t rows;         /* of the log, that make up the step */
} rt_history_row;

/* Does the step only set a draft? Undo in the interfaces passes over it (C30). */
static inline bool
rt_history_row_is_draft(const rt_history_row *row)
{
	return rt_str_is(row->setting, "draft");
}

typedef struct rt_history_cursor rt_history_cursor;

/* Steps, the newest first, from at on (may be NULL: all). before: only rows below this number; 0:
 * all. Cost: the rows that are passed, once. */
rt_history_cursor *rt_history_open(const rt_view *view, const rt_history_at *at, uint64_t before);
const rt_history_row *rt_history_next(rt_history_cursor *cursor);
/* To continue after the last row that was read; seq 0: there is no further row. */
rt_history_at rt_history_position(const rt_history_cursor *cursor);
/* ' Removed with them: "a", "b"' or ' Restored: "a"': discussions of the catalogue that undo and redo
 * removed or restored, the first ones by name. False: none. */
bool rt_history_add_discussions(rt_buf *out, const rt_project *was, const rt_project *now,
				bool restored);

/* One row of the log. */
typedef struct rt_step_row {
	uint64_t seq;
	int64_t at_us;
	rt_str what; /* in words */
	rt_record record; /* op, by, effects (rt_entry_of_effect), moves */
} rt_step_row;
const rt_step_row *rt_step_read(const rt_view *view, uint64_t seq);
/* The newest step that a row of moves undid or redid, apart from drafts that were moved with it; 0:
 * a failure. *is_one: the only one. */
uint64_t rt_step_moved(const rt_view *view, uint64_t move, bool *is_one);

/* A text that an entry once had. */
typedef struct rt_revision_row {
	uint64_t seq;  /* of the step that made it */
	uint64_t body; /* its number; rt_view_body */
	int64_t at_us;
	rt_str by;
	bool is_current; /* in the active take */
} rt_revision_row;

typedef struct rt_revision_rows {
	rt_revision_row *items;
	size_t count;
} rt_revision_rows;

/* Oldest first (E10). Reads no text. Cost: the whole log. */
rt_revision_rows rt_revisions_list(const rt_view *view, uint32_t entry);

#endif
