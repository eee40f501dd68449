/* SPDX-License-Identifier: MIT
 *
 * Work: the conversation that the terminal UI works on: the value that is looked at, changes to
 * it, models at work. No drawing.
 *
 * It always looks at one place, a discussion and a take of it: the active ones, until `-d` or
 * `-t` pin others. What another process changes is there with the next rt_work_tend; a change of
 * our own at once.
 *
 * Threads: the one of the terminal. Models run in threads of their own (app/run.h). */
#ifndef RT_TUI_WORK_H
#define RT_TUI_WORK_H

#include <stdatomic.h>

#include "app/session.h"
#include "base/scope.h"
#include "codec/content.h"
#include "ops/action.h"
#include "app/run.h"

/* How a run ended. */
typedef struct rt_work_end {
	bool has_ended;          /* false: none has; the rest means nothing */
	rt_run_how how;
	rt_run_state state;
	bool has_problem;
	rt_error problem;
	char entry[132];         /* of the reply or the compaction; GO: where the head is; or empty */
	bool has_summary;        /* GO: what was left is summed up */
	bool is_unchanged;       /* GO: the head was there already */
	uint64_t seq;
	size_t entries, tokens_before, tokens_after;
	const rt_text *note, *editor; /* ours; or NULL */
} rt_work_end;

typedef struct rt_work {
	rt_session *session; /* open, ours until rt_work_close */
	const rt_alloc *alloc;
	rt_engine *engine;
	const rt_project *value; /* ours */
	const rt_disc *disc;     /* borrowed from value */
	const rt_take *take;
	rt_place place;
	size_t take_count;       /* present ones of the discussion */
	uint32_t seen_take;      /* the take in which the entry at hand was seen, where that is
				  * another than the one that is looked at; mostly 0 */
	uint64_t change;       /* rises whenever value, place or a reply in flight changes */
	uint64_t epoch;        /* of the store: another one after a purge */
	uint64_t value_change; /* the same for value and place alone */
	bool read_only;

	rt_runs *runs;
	rt_run_cursor *cursor;
	rt_comms *comms;
	char run[24];          /* the run that is shown; empty: none */
	rt_buf run_text;       /* of the reply in flight, as far as it came */
	rt_buf run_thinking;
	rt_buf run_notice;     /* "waiting …"; one line */
	rt_run_how run_how;
	char run_question[RT_ID_MAX + 1];
	rt_buf owner, state, model; /* model: the name that would answer; empty: none is chosen */
	char *store_path;

	rt_work_end end;       /* how the last run ended */
	rt_buf hint;           /* after a failure: the next step; or empty */
	const char *said_model; /* for this run of the program (-m), or NULL */
	bool is_pinned;        /* the take is the one that -t names, not the active one */
	atomic_bool is_writing; /* a change of ours may be in the engine's value already; what is
				 * new is looked at when that has ended */
} rt_work;

/* The session must be open for changing, or for looking (read_only then). model: that answers in
 * this run of the program, or NULL; borrowed. */
RT_CHECKED rt_status rt_work_open(rt_work *work, rt_session *session, const char *model,
				  rt_error *err);
/* Stops models; what had arrived is kept as a partial reply. */
void rt_work_close(rt_work *work);
/* What came since: other processes' rows, pieces of a reply. Call it at least every 250 ms, every
 * 30 ms while rt_work_is_running. *out_ended (may be NULL): a run has ended; how is in
 * work->end until the next one begins. */
RT_CHECKED rt_status rt_work_tend(rt_work *work, bool *out_ended, rt_error *err);

/* ---- looking ---- */

size_t rt_work_count(const rt_work *work);   /* entries of the take */
/* Position behind which the next entry goes: 0 is before the first. */
size_t rt_work_head(const rt_work *work);
rt_str rt_work_disc_name(const rt_work *work);
rt_str rt_work_take_name(const rt_work *work);

/* An entry as it is shown. Borrowed from the work and the entry: deinit it. */
typedef struct rt_work_entry {
	rt_slot slot;
	size_t at;          /* its position, 0-based; SIZE_MAX: not in the take at hand */
	char id[RT_ID_MAX + 1];
	rt_str role, kind, label; /* kind "message" where it has none */
	bool is_collapsed, is_muted, is_partial;
	rt_buf bytes;
	rt_body body;
	rt_buf text;        /* what people read */
	rt_buf thinking;    /* of the model, as far as it is told */
	rt_buf parts;       /* what else there is: "calls read, bash"; or empty */
	bool is_tool;       /* a tool's result */
	bool is_hidden;     /* rt_content_is_hidden */
} rt_work_entry;

RT_CHECKED rt_status rt_work_entry_at(rt_work *work, size_t at, rt_work_entry *out, rt_error *err);
/* By number; of the whole discussion. */
RT_CHECKED rt_status rt_work_entry_of(rt_work *work, uint32_t entry, rt_work_entry *out,
				      rt_error *err);
void rt_work_entry_deinit(rt_work_entry *entry);
/* The position of an entry in the take; SIZE_MAX: it is not there. */
size_t rt_work_position(rt_work *work, uint32_t entry);

/* A step, as rt_view_history tells it, in words without ids: what it did, and the first words of the
 * entry that it is about. */
void rt_work_add_step(yyjson_val *step, rt_buf *out);

/* Look elsewhere, without changing anything: the discussion of this number and this take of it,
 * whichever is active; take 0: the active one. On failure it looks where it did. */
RT_CHECKED rt_status rt_work_look_at(rt_work *work, uint32_t disc, uint32_t take, rt_error *err);

/* ---- changing ---- */

/* What became of a change, for people. */
typedef struct rt_work_said {
	rt_buf words;  /* "Deleted 8 entries." and hooks' notes; one or more lines */
	rt_buf note;   /* the result's, which words end with */
	uint64_t seq;  /* the step; 0: nothing was changed */
	char entry[132];
	char take[260];
	char discussion[260];
	rt_buf editor; /* text handed back for re-submission */
	bool has_editor;
	bool is_step;  /* seq is a step of the history, which undo would take back */
	bool is_elsewhere; /* it is in another discussion, where alone undo takes it back */
	bool is_undo;  /* steps were taken back: the way back is redo */
	uint64_t steps, count;
} rt_work_said;
void rt_work_said_init(rt_work_said *said, const rt_alloc *alloc);
void rt_work_said_deinit(rt_work_said *said);

/* A change in three parts, of which only the second may wait, for other processes and for hooks.
 * That one may run in any thread, and uses nothing but the job. */
typedef struct rt_work_job {
	rt_scope scope;        /* of requests and results */
	rt_engine *engine;
	rt_request *requests;  /* copies; several are one step */
	rt_result *results;
	size_t count;
	char disc[24], take[24];
	rt_apply_context with; /* hooks, stop and check are the caller's to set */
	rt_buf notes;
	uint32_t disc_number;  /* the discussion in view */
	uint64_t was[2];       /* the last step of the discussion and of the project before it */
	rt_status status;      /* how it ended */
	rt_error error;
} rt_work_job;
/* Failures leave a job that is to be freed. RT_USAGE: no requests. */
RT_CHECKED rt_status rt_work_job_init(rt_work_job *job, rt_work *work, const rt_request *requests,
				      size_t count, rt_error *err);
void rt_work_job_run(rt_work_job *job);
/* Its status. The work looks at the new value afterwards, and at the take or discussion that the
 * change made active. On RT_CONFLICT it looks at the new value, too. */
RT_CHECKED rt_status rt_work_job_end(rt_work_job *job, rt_work *work, rt_work_said *said,
				     rt_error *err);
void rt_work_job_deinit(rt_work_job *job);

/* ---- models ---- */

bool rt_work_is_running(const rt_work *work);
/* Start one in the place that is shown; the place, the model and who asks are filled in. RT_BUSY:
 * one is at work already, or it would have to wait for a change that is being written.
 * RT_CREDENTIALS: no model is chosen; work->hint says what to do. */
RT_CHECKED rt_status rt_work_run(rt_work *work, const rt_run_request *request, rt_error *err);
void rt_work_stop(rt_work *work);

#endif
