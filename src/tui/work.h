/* SPDX-License-Identifier: MIT
 *
 * Work: the conversation that the terminal UI shows: its value, changes to it, runs of models. No
 * drawing.
 *
 * It always shows one place, a discussion and a take of it: the active ones, unless `-d` or `-t`
 * pin others. Changes by other processes appear with the next rt_work_tend, our own immediately.
 *
 * Threads: the terminal's. Models run in separate threads (app/run.h). */
#ifndef RT_TUI_WORK_H
#define RT_TUI_WORK_H

#include <stdatomic.h>

#include "app/session.h"
#include "app/run.h"
#include "base/scope.h"
#include "codec/content.h"
#include "codec/thinking.h"
#include "ops/action.h"
#include "view/view_rows.h"

/* A reply of several models that arrives besides the one that is shown. */
typedef struct rt_work_background {
	char run[24];
	rt_buf text, thinking, notice, model;
} rt_work_background;

/* How a run ended. */
typedef struct rt_work_end {
	bool has_ended;          /* false: none has, and the rest is zero */
	rt_run_how how;
	rt_run_state state;
	bool has_problem;
	rt_error problem;
	char take[260];          /* AGAIN: the new take; or empty */
	char entry[132];         /* of the reply or the compaction; GO: where the head is; or empty */
	bool has_summary;        /* GO: the abandoned branch was summarized */
	bool is_unchanged;       /* GO: the head did not move */
	bool is_removed;         /* its discussion was reset or deleted before it ended */
	uint64_t seq;
	size_t entries, tokens_before, tokens_after;
	const rt_text *note, *editor; /* owned; or NULL */
	size_t models;           /* of several models: how many were asked; else 0 */
} rt_work_end;

typedef struct rt_work {
	rt_session *session; /* open until rt_work_close */
	const rt_alloc *alloc;
	rt_engine *engine;
	const rt_project *value; /* owned */
	const rt_disc *disc;     /* borrowed from value */
	const rt_take *take;
	rt_place place;
	size_t take_count;     /* present takes of the discussion */
	uint32_t seen_take;    /* take in which the current entry was seen, if it is not the one in
				* view; mostly 0 */
	uint64_t change;       /* rises when the value, the place or a reply in flight changes */
	uint64_t epoch;        /* of the store */
	uint64_t value_change; /* rises when the value or the place changes */
	bool read_only;

	rt_runs *runs;
	rt_run_cursor *cursor;
	rt_comms *comms;
	char run[24];          /* the run that is shown; empty: none */
	uint32_t run_disc;     /* its discussion, or that of the last one */
	rt_buf run_text;       /* of the reply in flight so far */
	rt_buf run_thinking;
	rt_buf run_notice;     /* "waiting …"; one line */
	rt_buf run_model;      /* of several models: the one that is shown */
	size_t run_models;     /* how many were asked together; 0: one */
	rt_work_background background[RT_RUN_MODELS_MAX];
	size_t background_count;
	rt_run_how run_how;
	char run_question[RT_ID_MAX + 1];
	rt_buf owner, state;
	rt_buf model;          /* the name of the model that would answer; empty: none is chosen */
	rt_scope files_scope;
	rt_file_options files; /* where files are read: the working directory */
	rt_buf usage;          /* rt_work_usage, in … */
	uint64_t usage_value;  /* … this value_change */
	size_t sent_tokens;    /* of the entries and prompts that are sent, as estimated … */
	uint64_t sent_value;   /* … in this value_change … */
	const rt_take *sent_take; /* … and take (compared only) */
	size_t file_tokens;    /* of the files that are sent, as estimated … */
	rt_buf file_lists;     /* … for these lists … */
	int64_t files_read_us; /* … at this time … */
	uint64_t files_value;  /* … and value_change */
	char *store_path;

	rt_work_end end;       /* of the last run */
	rt_buf only;           /* the role to which the chat is filtered, with User; empty: all */
	rt_buf hint;           /* after a failure: the next step; or empty */
	const char *said_model; /* for this run of the program (-m), or NULL */
	bool is_pinned;        /* the take was given, and is not just the active one */
	atomic_bool is_writing; /* the engine's value may contain our own change that is still
				 * pending; it is shown when that has ended */
} rt_work;

/* The session must be open, for changing or for reading (read_only). model: as said_model;
 * borrowed. */
RT_CHECKED rt_status rt_work_open(rt_work *work, rt_session *session, const char *model,
				  rt_error *err);
/* Stops models; received text is kept as a partial reply. */
void rt_work_close(rt_work *work);
/* Read changes: rows of other processes, pieces of a reply. Call it at least every 250 ms, every 30
 * ms while rt_work_is_running. *out_ended (may be NULL): a run has ended, see work->end. */
RT_CHECKED rt_status rt_work_tend(rt_work *work, bool *out_ended, rt_error *err);

/* ---- looking ---- */

size_t rt_work_count(const rt_work *work);   /* entries of the take */
/* Position of the next entry: 0 is before the first. */
size_t rt_work_head(const rt_work *work);
/* Does the filter hide this entry, and the one at the head? Actions ignore hidden ones. */
bool rt_work_is_filtered(const rt_work *work, size_t at);
bool rt_work_filters_head(const rt_work *work);
/* Estimated tokens of the take and of the files that are sent with it. Files are read when the lists
 * or the discussion have changed, else at most every few seconds. */
size_t rt_work_tokens(rt_work *work);
/* Is there a system prompt, of the discussion or its project? */
bool rt_work_has_system_prompt(const rt_work *work);
/* The tokens of the discussion's replies and their cost, in words; empty if none are known, or for more
 * than RT_USAGE_ENTRIES_MAX entries. */
rt_str rt_work_usage(rt_work *work);
rt_str rt_work_disc_name(const rt_work *work);
rt_str rt_work_take_name(const rt_work *work);
/* For view_rows.h. */
rt_view rt_work_view(const rt_work *work, rt_scope *s);

/* An entry for display. Borrows from the work. */
typedef struct rt_work_entry {
	rt_slot slot;
	size_t at;          /* 0-based position; SIZE_MAX: not in the take in view */
	char id[RT_ID_MAX + 1];
	rt_str role, kind, label; /* kind "message" if it has none */
	bool is_collapsed, is_read, is_muted, is_partial;
	const rt_body *body;
	rt_buf text;        /* for people */
	rt_body_parts said; /* thinking and text in order; thinking_count is 0 for most */
	rt_buf parts;       /* its other contents: "calls read, bash"; or empty */
	bool is_tool;       /* a tool's result */
	bool is_hidden;     /* rt_content_is_hidden */
	rt_scope scope;     /* of body; the entry must not move */
} rt_work_entry;

RT_CHECKED rt_status rt_work_entry_at(rt_work *work, size_t at, rt_work_entry *out, rt_error *err);
/* By number: of work->seen_take, the take in view, or any that holds it. */
RT_CHECKED rt_status rt_work_entry_of(rt_work *work, uint32_t entry, rt_work_entry *out,
				      rt_error *err);
void rt_work_entry_deinit(rt_work_entry *entry);
/* As rt_work_entry_of; lives as long as the scope. NULL once that has failed. */
const rt_work_entry *rt_work_entry_get(rt_scope *s, rt_work *work, uint32_t entry);
/* The entry's content as editable text. */
rt_str rt_work_entry_text(rt_scope *s, rt_work *work, uint32_t entry);
/* The position of an entry in the take; SIZE_MAX: not there. */
size_t rt_work_position(rt_work *work, uint32_t entry);
/* The take that an entry belongs to: seen_take if that is not 0, the take in view if that holds it,
 * else any other that does. 0: none. */
uint32_t rt_work_take_of(rt_scope *s, rt_work *work, uint32_t seen_take, uint32_t entry);
/* The id of an entry; "t3". */
rt_str rt_work_entry_id(rt_scope *s, const rt_work *work, uint32_t entry);
rt_str rt_work_take_id(rt_scope *s, uint32_t take);

/* The step of the history with this number, or NULL. */
const rt_history_row *rt_work_step(rt_scope *s, const rt_work *work, uint64_t seq);
/* A description of a step without ids, with the first words of its entry. */
void rt_work_add_step(const rt_history_row *step, rt_buf *out);

/* Show another place, without changing anything: this discussion and take; take 0: the active one.
 * On failure the place does not change. */
RT_CHECKED rt_status rt_work_look_at(rt_work *work, uint32_t disc, uint32_t take, rt_error *err);

/* ---- changing ---- */

/* The result of a change, for display. */
typedef struct rt_work_said {
	rt_buf words;  /* "Deleted 8 entries." and hooks' notes; one or more lines */
	rt_buf note;   /* the result's, with which the description ends */
	uint64_t seq;  /* the step; 0: nothing was changed */
	char entry[132];
	char take[260];
	char discussion[260];
	rt_buf editor; /* text returned for re-submission */
	bool has_editor;
	bool is_step;  /* seq is a step of the history, which undo would revert */
	bool is_elsewhere; /* in another discussion, the only one in which undo reverts it */
	bool is_undo;  /* steps were undone: redo reverts it */
	rt_buf elsewhere; /* a take of the discussion, if only that one changed and it is not in view */
	uint64_t shown; /* the number of the step for the user: of undo and redo, the newest one that moved */
	uint64_t steps, count;
} rt_work_said;
void rt_work_said_init(rt_work_said *said, const rt_alloc *alloc);
void rt_work_said_deinit(rt_work_said *said);

/* A change in three parts, of which only rt_work_job_run may wait, for other processes and for
 * hooks. It may run in any thread, and uses nothing but the job. */
typedef struct rt_work_job {
	rt_scope scope;        /* of requests and results */
	rt_engine *engine;
	rt_request *requests;  /* copies; several are one step */
	rt_result *results;
	size_t count;
	rt_request *draft;     /* a copy, executed before them as a separate step; or NULL */
	rt_status draft_status;
	bool is_at_draft;      /* the draft is being executed */
	char disc[24], take[24];
	rt_apply_context with; /* hooks, stop and check are set by the caller */
	rt_buf notes;
	uint32_t disc_number;  /* the discussion in view */
	const rt_project *before; /* owned; the value in view when it began */
	rt_status status;      /* the outcome */
	rt_error error;
} rt_work_job;
/* draft: or NULL. A failure of it is in draft_status, and the requests are executed anyway.
 * Deinit the job after a failure, too. RT_USAGE: no requests. */
RT_CHECKED rt_status rt_work_job_init(rt_work_job *job, rt_work *work, const rt_request *requests,
				      size_t count, const rt_request *draft, rt_error *err);
void rt_work_job_run(rt_work_job *job);
/* The status of the job. Afterwards the work shows the new value, and the take or discussion
 * that the change made active; after RT_CONFLICT it shows the new value, too. said may be NULL. */
RT_CHECKED rt_status rt_work_job_end(rt_work_job *job, rt_work *work, rt_work_said *said,
				     rt_error *err);
void rt_work_job_deinit(rt_work_job *job);

/* ---- models ---- */

/* If config.toml was changed after it was read: adds to the hint of an error that a restart is
 * needed. */
void rt_work_add_restart(rt_work *work);
bool rt_work_is_running(const rt_work *work);
/* Is it running in the discussion in view? */
bool rt_work_is_running_here(const rt_work *work);
/* Start a run in the place in view; the place, the model and `by` are filled in. RT_BUSY: one is
 * running, or it would have to wait for a change that is being written. RT_CREDENTIALS: no model is
 * chosen; work->hint has the next step. */
RT_CHECKED rt_status rt_work_run(rt_work *work, const rt_run_request *request, rt_error *err);
/* The same for several models in parallel (at most RT_RUN_MODELS_MAX). The replies are shown one
 * after another, in the order of the models; the run is over when all have ended. */
RT_CHECKED rt_status rt_work_run_several(rt_work *work, const rt_run_request *request,
					 const rt_str *models, size_t count, rt_error *err);
void rt_work_stop(rt_work *work);

#endif
