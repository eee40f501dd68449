/* SPDX-License-Identifier: MIT
 *
 * Engine: one project of one store, open for reading and changing.
 *
 * The engine holds the newest value. Readers take a reference and never wait. A change is
 * a request (an operation as JSON, contract section 7); requests are compiled against the
 * value as it is under the store's write lock, appended to the log, and published when
 * they are durable. Several threads share one commit; other processes' rows are taken in
 * first.
 *
 * Threads: the engine locks itself; call from any thread. Values and what is borrowed from
 * them live until the caller's own rt_object_unref. */
#ifndef RT_LOG_ENGINE_H
#define RT_LOG_ENGINE_H

#include "base/env.h"
#include "codec/body.h"
#include "codec/request_json.h"
#include "core/address.h"
#include "ops/format.h"
#include "chat/provider.h"
#include "log/store.h"

typedef struct rt_engine rt_engine;

typedef struct rt_engine_options {
	const rt_alloc *alloc; /* NULL: the C library's */
	const rt_env *env;     /* needed: clock and randomness */
	rt_str project;        /* name; empty: "default" */
	rt_str by;             /* who asks, for the history: "cli", "web", "hook:name" */
	bool read_only;
	/* Open it for reading also where its parts disagree (its log lost its end, say), as far
	 * as it can be read: for whoever looks for damage or recovers what is left. */
	bool lenient;
	bool create;           /* make the project when the store has none of that name */
	unsigned checkpoint_every; /* log rows between checkpoints; 0: 1024 */
	const char *(*git_commit)(void *ctx); /* of a take that is made; may be NULL, may give NULL */
	void *git_ctx;
	/* A text was purged from the project: whatever else keeps texts should lose it too. May
	 * be NULL. Of an entry that was purged: each text that it had of 32 bytes or more (shorter
	 * ones stand in innocent texts by chance: purge those as a text), the newest 16 at most.
	 * Called by the thread that carries out, not within a transaction. */
	void (*purged)(void *ctx, rt_str text);
	void *purged_ctx;
} rt_engine_options;

/* store stays the caller's and must outlive the engine. A damaged or older checkpoint is
 * not an error: the log rebuilds it. Where the log goes on with effects that this version
 * does not know, the value is that of the last row that it knows, nothing is written, and
 * every change is RT_TOO_NEW: see rt_engine_newer.
 * Cost: the checkpoint's root and the log's rows since. */
RT_CHECKED rt_status rt_engine_open(const rt_engine_options *options, rt_store *store,
				    rt_engine **out_engine, rt_error *err);
/* Writes a checkpoint when there is something new and the store lets us. */
void rt_engine_close(rt_engine *engine);

rt_store *rt_engine_store(const rt_engine *engine);
/* Of the history that the newest value belongs to, see store.h. */
uint64_t rt_engine_epoch(rt_engine *engine);
uint64_t rt_engine_project_number(const rt_engine *engine);
const rt_alloc *rt_engine_alloc(const rt_engine *engine);

/* The newest value; yours to rt_object_unref. Never waits. */
const rt_project *rt_engine_value(rt_engine *engine);
/* Take in what other processes have written since. Who looks at a value for long, or comes
 * back to it, may find (RT_CORRUPT) that another process has dropped what parts of it were to
 * be loaded from, since a newer checkpoint has no use for it: this gives a value that is whole,
 * so refresh once and look again, and only then it is damage. Cost where nothing is new: two
 * look-ups in the store; waits for nobody then. */
RT_CHECKED rt_status rt_engine_refresh(rt_engine *engine, rt_error *err);
/* The same for who must not wait: where a thread of ours is at work on the store, which may be
 * waiting for another process, RT_BUSY, and what there is stays. */
RT_CHECKED rt_status rt_engine_refresh_now(rt_engine *engine, rt_error *err);
/* Does the log go on behind the newest value with rows that only a newer version can read?
 * out (may be NULL): RT_TOO_NEW, with the first of them and the version that it needs. */
bool rt_engine_newer(rt_engine *engine, rt_error *out);
/* The value right after log row seq (a step, a move, a view); 0: the first state. Changes
 * nothing. RT_NOT_FOUND, RT_TOO_NEW. Cost: the steps between here and there. */
RT_CHECKED rt_status rt_engine_value_at(rt_engine *engine, uint64_t seq, const rt_project **out,
					rt_error *err);

/* ---- changing ---- */

/* What became of a request. */
typedef struct rt_result {
	rt_status status;
	rt_error error;      /* where status is not RT_OK */
	uint64_t seq;        /* the row that was written; the current one when unchanged */
	bool unchanged;
	uint64_t steps;      /* undo, redo: how many; 0 otherwise */
	uint64_t count;      /* entries, matches, blanked bodies … that it was about */
	uint32_t undo_disc;  /* a step: undo takes it back in this discussion; 0: in any */
	char entry[132];     /* id of the entry made or changed; empty: none */
	char take[260];      /* name of the take made or activated (cut); empty: none */
	char discussion[260];/* the same for discussions */
	rt_text *editor;     /* text handed back for re-submission, or NULL; yours to unref */
	rt_text *note;       /* for people: what could not be reached, what else happened; or NULL */
} rt_result;

void rt_result_deinit(rt_result *result);

/* What must hold for requests to be carried out (ops/action.h). Called with the newest value,
 * under the store's lock, right before the first of them; another status than RT_OK is theirs,
 * and none of them is done. It may be called again, and from another thread while its own
 * waits. */
typedef rt_status (*rt_apply_check_fn)(void *ctx, const rt_project *now, rt_error *err);

/* Called when the requests were carried out, in their transaction and before it is committed,
 * with the value right after the last of them: what it writes into side rows of the project is
 * there when they are, and not otherwise. Not called where nothing was written: every result is a
 * failure or unchanged then. Another status than RT_OK undoes the whole round and is the result of
 * all who shared it, so it has to be a failure of the store. It may be called again, and from
 * another thread while its own waits. */
typedef rt_status (*rt_apply_keep_fn)(void *ctx, rt_store *store, uint64_t project,
				      const rt_project *now, const rt_result *results,
				      size_t count, rt_error *err);

/* Carry out requests in order. Each is a step of its own, or
 * (atomic) all are one step and nothing is done when one fails. results has count items;
 * every one is filled in. The status is RT_OK when all were; else that of the first that
 * was not. On return what succeeded is durable.
 * default_disc, default_take (may be empty): where requests without "discussion"/"take"
 * work; empty: the active ones. */
rt_status rt_engine_apply(rt_engine *engine, const rt_request *requests, size_t count, bool atomic,
			  rt_str default_disc, rt_str default_take, rt_result *results);
/* The same with requests as JSON objects {"op":…}. */
rt_status rt_engine_apply_json(rt_engine *engine, yyjson_val *const *requests, size_t count,
			       bool atomic, rt_str default_disc, rt_str default_take,
			       rt_result *results);
/* One request as text. */
rt_status rt_engine_apply_text(rt_engine *engine, rt_str json, rt_str default_disc,
			       rt_str default_take, rt_result *result);
/* `{"seq":…,"entry":…}` or `{"error":{"code":…,"message":…}}`, as `apply` prints it. */
void rt_result_add_json(rt_buf *buf, const rt_result *result);

/* ---- looking, as JSON (C39, C40, C47 …); appended to buf ---- */

typedef struct rt_window {
	size_t from;  /* first position, 0-based */
	size_t count; /* 0: to the end */
	rt_str role;  /* only entries of this role and "User" (T5); empty: all */
} rt_window;

/* {"discussion","take","head","count","entries":[{"id","role","content","ts",…}]} */
RT_CHECKED rt_status rt_view_show(rt_engine *engine, const rt_project *project, rt_place place,
				  const rt_window *window, rt_buf *buf, rt_error *err);
/* One entry as in show. */
RT_CHECKED rt_status rt_view_entry(rt_engine *engine, const rt_project *project, rt_place place,
				   uint32_t entry, rt_buf *buf, rt_error *err);
/* Is the entry hidden from people: a program's state, or its message with "display":false
 * (rt_content_is_hidden)? Reads the text of such messages only. */
RT_CHECKED rt_status rt_view_is_hidden(rt_engine *engine, const rt_project *project,
				       const rt_slot *slot, bool *out, rt_error *err);
/* How many of a take's entries are. */
RT_CHECKED rt_status rt_view_count_hidden(rt_engine *engine, const rt_project *project,
					  const rt_take *take, size_t *out, rt_error *err);
/* [{"node","parent_node","id","parent","role","label","active","takes":[…]}], display order;
 * also "kind", "preview", "depth", "muted", "hidden" where they say something. */
RT_CHECKED rt_status rt_view_tree(rt_engine *engine, const rt_project *project, uint32_t disc,
				  rt_buf *buf, rt_error *err);
/* The same with previews of so many characters, not 60. */
RT_CHECKED rt_status rt_view_tree_wide(rt_engine *engine, const rt_project *project, uint32_t disc,
				       size_t preview, rt_buf *buf, rt_error *err);
/* [{"id","name","active","entries","base","git_commit"}] */
RT_CHECKED rt_status rt_view_takes(rt_engine *engine, const rt_project *project, uint32_t disc,
				   bool all, rt_buf *buf, rt_error *err);
/* Only the first so many, and the take of the number also (0: none) wherever it stands. */
RT_CHECKED rt_status rt_view_takes_first(rt_engine *engine, const rt_project *project,
					 uint32_t disc, bool all, size_t most, uint32_t also,
					 rt_buf *buf, rt_error *err);
/* Where other takes go on otherwise than this one does (take 0: the active one), in its order:
 * {"seq","discussion","take","forks":[{"entry","place","count","previous","next"}],"differ":[…]}
 * The entry is one of count that follow the same one, the place'th of them from 0, in display
 * order; previous and next are takes ("t2") that hold those beside it, or null. differ: ids of
 * the take's entries of which others show another revision. Cost: the tree. */
RT_CHECKED rt_status rt_view_forks(rt_engine *engine, const rt_project *project, rt_place place,
				   rt_buf *buf, rt_error *err);
/* [{"id","name","active","entries","takes","updated"}]; all: also what is not in the catalogue */
RT_CHECKED rt_status rt_view_discussions(rt_engine *engine, const rt_project *project, bool all,
					 rt_buf *buf, rt_error *err);
/* The same as columns, for who wants all of a large tree at once and its texts later:
 * {"seq","discussion","count","from","roles":[…],"kinds":[…],"takes":[{"id","name",…}],
 *  "id":["k3f9",…],"parent":[-1,0,…],"role":[0,…],"kind":[0,…],"flags":[0,…],
 *  "size":[…],"preview":["…",…],"labels":{"12":"start"},"head":17,"tips":{"t1":17}}
 * Rows are in display order and numbered from 0, also where only some of them are given: then
 * the columns begin with row "from", and labels are theirs, while count, parent, head and tips
 * are as in the whole. -1: a root; no head; a take without entries. role and kind are indices
 * into roles and kinds. size: bytes of the content. flags: 1 muted, 2 collapsed, 4 read mode, 8
 * more than text, 16 differs between takes, 32 edited, 64 hidden (rt_view_is_hidden). takes: as rt_view_takes. Without
 * previews that column is left out. options may be NULL. RT_NOT_FOUND: no such discussion or
 * take.
 * Cost: the tree; a take: its rows that are asked for, and a look at every other take. */
typedef struct rt_columns_options {
	uint32_t take;       /* number; only its entries, in order; 0: the tree of all takes */
	size_t preview;      /* characters of each text; 0: no previews, no text is read */
	size_t from, count;  /* rows; count 0: to the end */
	bool bare;           /* one take: "takes" is empty, flag 16 is not looked for */
} rt_columns_options;
RT_CHECKED rt_status rt_view_columns(rt_engine *engine, const rt_project *project, uint32_t disc,
				     const rt_columns_options *options, rt_buf *buf,
				     rt_error *err);
/* What row seq of the log did, for who holds the value before it and wants the one after:
 * {"seq":42,"kind":"step"|"move"|"view"|"note","op":"entry.edit","by":"cli","at":"…",
 *  "discussion":"d1",          the one in view when it was asked for
 *  "discussions":["d1"],       that it touches; "project":true: the project's own things too
 *  "splices":[…],              in the order in which they apply, see below
 *  "entries":["k3f9"],         whose text, role, flags, label or view it touches; so are those
 *                              that a splice puts in
 *  "takes":["d1/t1"],          that it touches, made or dropped
 *  "fields":["d1/head",…],     further things: discussion/key, "project/key", "d1/t2/name"
 *  "whole":true}               too much to list: fetch the discussions anew (lists are left
 *                              out, and "discussions" too where it may be any of them)
 * A splice is one of
 *  {"discussion","take","at","remove","insert":["k3f9"]}   ids are taken out and put in there
 *  {"discussion","take","from_discussion","from_take","count"}   a take (t1: with its
 *                              discussion) is made, of the first ids of another; of none: it
 *                              is empty, and nothing is said of where from
 *  {"discussion","take","present":false}   it is there no more, or (true) again; without a
 *                              take: the discussion. What it holds stays as it was, so keep
 *                              it, or fetch it when it comes back
 * project: the newest value (ids and names are looked up in it). *out_discs (or NULL): numbers
 * of the documents, to choose by, 0: the project's own; room for RT_CHANGE_DISCS, a count of
 * RT_CHANGE_DISCS + 1: more, or any. That is so for what is shown of an entry, too, where there
 * are several discussions: look at "entries". RT_NOT_FOUND: there is no such row (yet).
 * Cost: the row; of a move, its steps, as long as they can be listed. */
enum { RT_CHANGE_DISCS = 8, RT_CHANGE_LIST_MAX = 256 };
typedef struct rt_change_discs {
	uint32_t at[RT_CHANGE_DISCS];
	size_t count;
} rt_change_discs;
RT_CHECKED rt_status rt_view_change(rt_engine *engine, const rt_project *project, uint64_t seq,
				    rt_buf *buf, rt_change_discs *out_discs, rt_error *err);
/* Steps, newest first: [{"seq","parent","op","what","did","about","take":{"id","name"},"setting",
 * "by","at","scope","current","undone"}]. what: the step in words; did: the same without ids; about: the
 * first words of the entry that it is about; take: the one that it changed; setting: its name,
 * where that is all that it changed. The last three only where there is such a thing.
 * before: only rows below this number (0: all); limit 0: all. */
RT_CHECKED rt_status rt_view_history(rt_engine *engine, const rt_project *project, uint32_t disc,
				     uint64_t before, size_t limit, rt_buf *buf, rt_error *err);
/* The same some at a time: how far it was read, all zero to begin with. project and disc are
 * those of the first call in all that follow. The next `limit` steps (0: all that are left);
 * fewer: these were the last. Cost: the rows that are passed, once. */
typedef struct rt_history_at {
	bool is_begun;
	uint64_t seq;                 /* of the row that is read next; 0: all were */
	uint64_t in_disc, in_project; /* the next step of each that is in effect */
	uint64_t group; /* the rest of the step at hand: rows of this group; 0: none */
} rt_history_at;
RT_CHECKED rt_status rt_view_history_next(rt_engine *engine, const rt_project *project,
					  uint32_t disc, rt_history_at *at, size_t limit,
					  rt_buf *buf, rt_error *err);
/* One step with its effects in words, before and after. */
RT_CHECKED rt_status rt_view_step(rt_engine *engine, const rt_project *project, uint64_t seq,
				  rt_buf *buf, rt_error *err);
/* When entries of a discussion were given the label that they have: fn gets each step of its own
 * that gave one, the newest first. So many rows of the log (limit, at least 1) at a time: *seq is 0
 * at first, and 1 when all were looked at. Labels that came with an import are not among them, nor is it known of a
 * step whether it was undone and made again since. Cost: limit rows. */
typedef void (*rt_label_time_fn)(void *ctx, uint32_t entry, int64_t at_us);
RT_CHECKED rt_status rt_view_label_times(rt_engine *engine, const rt_project *project, uint32_t disc,
					 uint64_t *seq, size_t limit, rt_label_time_fn fn, void *ctx,
					 rt_error *err);
/* Every text that an entry ever had in this discussion, oldest first (E10):
 * [{"seq","body","content","ts","current"}] */
RT_CHECKED rt_status rt_view_revisions(rt_engine *engine, const rt_project *project, uint32_t disc,
				       uint32_t entry, rt_buf *buf, rt_error *err);
/* {"discussion","prompt","settings","files",…} of the project and discussion. */
RT_CHECKED rt_status rt_view_settings(rt_engine *engine, const rt_project *project, uint32_t disc,
				      rt_buf *buf, rt_error *err);
/* Two takes side by side from where they part:
 * {"common","a":[…],"b":[…],"changed":[{"id","a","b"}]} */
RT_CHECKED rt_status rt_view_diff(rt_engine *engine, const rt_project *project, uint32_t disc,
				  uint32_t take_a, uint32_t take_b, rt_buf *buf, rt_error *err);
/* [{"discussion","take","id","role","at","snippet"}]: \001 and \002 stand around what matched
 * in the snippet. Brings the index up to date first where the store can be written. */
RT_CHECKED rt_status rt_view_search(rt_engine *engine, const rt_project *project, rt_str query,
				    uint32_t disc, rt_str role, size_t limit, rt_buf *buf,
				    rt_error *err);

/* A search that may take long: the first one of a large store makes its index. */
typedef struct rt_search {
	rt_str query;
	uint32_t disc; /* 0: all */
	rt_str role;   /* empty: any */
	size_t limit;  /* 0: the usual 50 */
	/* Asked again and again, some 20 times a second or more, outside the store's lock; true: it
	 * ends with what was found so far, and what was put into the index stays there. Or NULL. */
	bool (*stop)(void *ctx);
	/* Told how much is done (0 .. 100, never less than before) and what was found so far, the
	 * same JSON as in the end; hits lives until it returns. In between as stop is. Or NULL. */
	void (*told)(void *ctx, unsigned percent, rt_str hits);
	void *ctx;
} rt_search;

/* rt_view_search, told how it goes and stopped. */
RT_CHECKED rt_status rt_view_search_on(rt_engine *engine, const rt_project *project,
				       const rt_search *search, rt_buf *buf, rt_error *err);

/* One entry (or summary) of a context, in the order in which they are sent. */
typedef struct rt_context_part {
	size_t at;         /* its position in the take */
	uint32_t entry;
	bool is_summary;   /* a compaction speaks for what it stands for */
	bool left_out;     /* did not fit into the budget */
	size_t tokens;     /* 0: its kind is never sent */
} rt_context_part;
typedef void (*rt_context_part_fn)(void *ctx, const rt_context_part *part);
/* Tokens of a text. */
typedef size_t (*rt_token_fn)(void *ctx, rt_str text);

/* What a context came to. */
typedef struct rt_context_totals {
	size_t entries;    /* that are sent */
	size_t summaries;  /* of these */
	size_t left_out;   /* that did not fit; muted ones before them may be counted too */
	size_t tokens;     /* of all that is sent, prompts too */
} rt_context_totals;

/* How a request is wanted. */
typedef struct rt_context_options {
	bool stream;          /* the reply piece by piece, where the body says so */
	rt_str model;         /* instead of the setting's; empty: that one */
	rt_str service;       /* whom of the provider's kind it is for, as rt_model has it; empty:
	                       * the one that is called as its kind */
	uint32_t upto;        /* the last entry of the path; 0: up to the head */
	size_t budget_tokens; /* oldest entries are left out until the rest fits; 0: no limit */
	const size_t *newest; /* so many beside summaries, whatever the budget; or NULL */
	/* NULL: rt_tokens_estimate of what is sent of an entry. Not asked where nobody wants
	 * to know (part is NULL) and all fits however its texts are counted. */
	rt_token_fn count;
	rt_context_part_fn part; /* told of every entry; or NULL */
	void *ctx;            /* of both */
	rt_context_totals *totals; /* or NULL */
	/* One line for each type of block in an entry that the request cannot contain is appended,
	 * for people; or NULL. */
	rt_buf *unsent;
	rt_buf *trimmed; /* blanks that end the path but not the request, since the provider
				 refuses them there, are appended; or NULL */
} rt_context_options;

enum {
	RT_TOKENS_PER_MESSAGE = 4,
	RT_TOKENS_PER_REPLY = 3,  /* begin it, where tokens are counted */
	RT_TOKENS_PER_IMAGE = 1200 /* about; what it costs depends on its size and the model */
};
/* About as many tokens as a text of so many bytes has: a quarter, rounded up. */
size_t rt_tokens_estimate(size_t bytes);

/* The request body for a provider (M2, M3, M5, C54-C57), from the path by the context rules.
 * options NULL: as if it were zero. */
RT_CHECKED rt_status rt_view_context(rt_engine *engine, const rt_project *project, rt_place place,
				     const rt_provider *provider,
				     const rt_context_options *options, rt_buf *buf,
				     rt_error *err);

/* An entry's body, read and taken apart. bytes holds what it borrows from: deinit both
 * (after a failure there is nothing to deinit). */
RT_CHECKED rt_status rt_engine_body(rt_engine *engine, uint64_t number, rt_buf *bytes, rt_body *out,
				    rt_error *err);

enum { RT_BODY_RUN_MAX = 64 };

/* The bodies of up to RT_BODY_RUN_MAX slots, read together where they lie together: many
 * times faster than one by one. bytes holds them all; deinit it. */
typedef struct rt_body_run {
	rt_buf bytes;
	size_t at[RT_BODY_RUN_MAX], size[RT_BODY_RUN_MAX];
} rt_body_run;

RT_CHECKED rt_status rt_engine_body_run(rt_engine *engine, const rt_slot *slots, size_t count,
					rt_body_run *out, rt_error *err);

/* ---- formats ---- */

typedef struct rt_import_result {
	size_t discussions, entries, takes; /* added */
	size_t known;                       /* entries that were there already */
	size_t settings;                    /* of the project that changed, its roles included */
	uint64_t seq;
	char discussion[260];               /* the last that was added, else extended, else known */
} rt_import_result;

/* Add outlines to the project: new discussions, or what is new in ones imported before
 * (the same source). dry_run: only counts. One step; see import.h for large ones. Roles and
 * settings are taken by a new project, and by any project from a file without discussions. */
RT_CHECKED rt_status rt_engine_import(rt_engine *engine, const rt_outlines *outlines, rt_str name,
				      bool dry_run, rt_import_result *out, rt_error *err);
/* The value as outlines, to be written by a format: the whole project, or one discussion
 * (disc != 0), or one take of it. Views live as long as out. */
RT_CHECKED rt_status rt_engine_export(rt_engine *engine, const rt_project *project, rt_place place,
				      bool whole_project, rt_outlines *out, rt_error *err);

/* ---- care ---- */

typedef struct rt_finding {
	const char *id;       /* stable: "log-gap", "entry-unfindable" … */
	const char *severity; /* "error", "warning", "note" */
	const char *text;
} rt_finding;
typedef bool (*rt_fsck_fn)(void *ctx, const rt_finding *finding);

/* Check the store, the log, the bodies and the value that the checkpoint gives against the
 * one that the log gives. Changes nothing. */
RT_CHECKED rt_status rt_engine_fsck(rt_engine *engine, rt_fsck_fn fn, void *ctx, rt_error *err);
/* The same but for the store itself, where that was checked already: of many projects. */
RT_CHECKED rt_status rt_engine_fsck_project(rt_engine *engine, rt_fsck_fn fn, void *ctx,
					    rt_error *err);
/* Throw the checkpoint away and make it anew from the log. */
RT_CHECKED rt_status rt_engine_rebuild(rt_engine *engine, rt_error *err);

/* What became of a project whose store lacks rows or bodies. */
typedef struct rt_salvaged {
	uint64_t rows;        /* taken over as they were: 1 .. rows */
	uint64_t rows_known;  /* the last row that anything speaks of */
	uint64_t rows_lost;   /* of those; and these are there, but follow one that is lost: */
	uint64_t rows_unused;
	uint64_t state_seq;   /* the state is the one after this row, from the checkpoint; 0: the
	                         one after the last row that was taken over */
	size_t bodies_lost;   /* texts that a row or the state names and that are not there */
	size_t recovered;     /* texts that nothing names any more, */
	char discussion[40];  /* and the discussion that they were put into */
} rt_salvaged;
/* Rows first .. last are lost. */
typedef void (*rt_lost_rows_fn)(void *ctx, uint64_t first, uint64_t last);

/* Make the project of this name in the store `to`, which has none of that name, from what is
 * left of it in `from`, which is not changed. The new one can be used; texts that are lost are
 * there as bodies that cannot be read, until rt_engine_repair. RT_TOO_NEW: a newer version wrote
 * to it. O(everything). */
RT_CHECKED rt_status rt_engine_salvage(const rt_alloc *alloc, const rt_env *env, rt_store *from,
				       rt_str name, rt_store *to, rt_salvaged *out,
				       rt_lost_rows_fn fn, void *ctx, rt_error *err);

/* A text that could not be read any more, and where a present take shows it. */
typedef struct rt_lost_text {
	rt_str discussion, take;
	size_t position; /* from 1 */
	char entry[RT_ID_MAX + 1];
} rt_lost_text;
typedef void (*rt_lost_fn)(void *ctx, const rt_lost_text *text);

/* Texts that are not what was written become empty, marked as lost, so that everything
 * else can be used again. The caller has made a copy before. fn is told of each that a
 * present take shows; out_count counts them all. RT_READ_ONLY. O(bodies). */
RT_CHECKED rt_status rt_engine_repair(rt_engine *engine, rt_lost_fn fn, void *ctx,
				      size_t *out_count, rt_error *err);
RT_CHECKED rt_status rt_engine_checkpoint(rt_engine *engine, rt_error *err);
/* Index what is not indexed yet. */
RT_CHECKED rt_status rt_engine_index(rt_engine *engine, rt_error *err);

#endif
