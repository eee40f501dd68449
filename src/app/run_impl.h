/* SPDX-License-Identifier: MIT
 *
 * Internals of runs, shared by these files:
 *
 *   run.c           all runs of a project: started, stopped, forgotten
 *   run_request.c   a request, resolved and checked before anything begins
 *   run_send.c      a run's thread
 *   run_text.c      received text, in pieces
 *   run_read.c      readers and their events
 *
 * A run's request is written before its thread begins and only read from then on. Its results are
 * under the lock of all runs, which its thread holds briefly. */
#ifndef RT_APP_RUN_IMPL_H
#define RT_APP_RUN_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "app/run.h"
#include "chat/send_group.h"

enum {
	RT_RUN_ARRIVED_MAX = 2 * RT_REPLY_SIZE_MAX,
	RT_RUN_KEPT_BYTES = 32 << 20 /* texts of runs that have ended, together */
};

/* A request with ids for addresses. Texts are in the run's scope. */
typedef struct rt_run_asked {
	rt_run_how how;
	uint32_t disc;
	rt_str discussion, take; /* ids; take may be empty: the active one */
	rt_str shown_take;       /* the id, also then */
	rt_str by, trace;
	rt_str model_said;
	bool may_name_files, no_files, clears_draft;
	rt_str text, content, role, reply_role, at;
	rt_str instructions, from, to; /* MERGE: from is a take */
	rt_str target;           /* ptr NULL: before the first entry */
	rt_str target_take;      /* whose entry it is; empty: not said */
	bool select, summarize;
	uint64_t replies, keep_tokens;
	uint64_t budget;         /* 0: as configured */
	uint32_t into;           /* CONTINUE: the reply; 0: none, which its thread reports */
} rt_run_asked;

void rt_run_text_init(rt_run_text *text, const rt_alloc *alloc);
void rt_run_text_deinit(rt_run_text *text);
/* The next reply begins. */
void rt_run_text_next(rt_run_text *text);
/* Without memory, or beyond RT_RUN_ARRIVED_MAX, nothing more is added. */
void rt_run_text_add(rt_run_text *text, rt_reply_block_kind kind, size_t block, rt_str added);
/* The piece of the byte at this offset; at < text->bytes.size. */
size_t rt_run_text_piece(const rt_run_text *text, size_t at);
/* The end of the first max bytes of the reply that is arriving, in whole characters. */
size_t rt_run_text_cut(const rt_run_text *text, size_t max);

typedef struct rt_run {
	rt_runs *runs;
	struct rt_run *older, *newer; /* under the lock, like the members after "came of it" */
	uint64_t number;
	char name[24];
	pthread_t thread;
	bool is_over;          /* its thread has nothing more to do */
	rt_scope scope;        /* of its start; keeps the request's texts */
	rt_run_asked asked;
	rt_send_group *group;  /* of several models; or NULL */
	char group_name[24];   /* of its first run */
	int64_t started_us;
	atomic_uint stops;     /* how often it was stopped */
	bool is_listed;        /* its discussion was in the catalogue when it began */
	bool is_removed;       /* and no longer when it ended; under the lock */
	/* its thread's: */
	rt_model *model;       /* or NULL: none is needed */
	rt_pick_counter counter;
	size_t budget_tokens;
	rt_send_result *sending; /* the reply that is being received, as far as known */
	/* came of it: */
	rt_buf model_name;     /* "openai/gpt-4o" */
	rt_run_state state;
	rt_run_text text;
	rt_buf notice;
	unsigned notice_number;
	unsigned retry, retries; /* in the form of rt_notice */
	char question[132];
	char take[260];        /* empty: as asked */
	rt_send_result *replies; /* that have ended; notes are owned */
	size_t reply_count, reply_room;
	rt_summary_result summary;
	bool is_summed_up;     /* summary is filled in */
	rt_error problem;      /* status RT_OK: none */
	uint64_t epoch, seq;   /* of its last step; seq 0: none */
	uint64_t question_seq; /* the same of its question */
	int64_t ended_us;
} rt_run;

/* Is its discussion in the catalogue? */
bool rt_run_is_listed(const rt_run *run);

struct rt_runs {
	rt_runs_options given;
	const rt_alloc *alloc;
	pthread_mutex_t opening; /* models are opened one at a time */
	pthread_mutex_t lock;    /* the rest */
	rt_run *oldest, *newest;
	rt_run *leaving;         /* by older: ended and forgotten, but their threads have not
				  * ended */
	uint64_t last;
	uint32_t tag;            /* random: names from an earlier run of the server are not valid */
	size_t running, count;
	bool is_ending, is_stopped; /* no more are started; all threads are joined */
};

/* Resolves a request into run->asked, and opens its model. Failures are in the run's scope. */
void rt_run_resolve(rt_run *run, const rt_run_request *request, const rt_project *project);
void rt_run_open_model(rt_run *run, const rt_project *project);
/* Fails the run's scope if it would send files and one cannot be sent: the client still has the
 * question then. */
void rt_run_check_files(rt_run *run, const rt_project *project);
/* pthread_create's; run is an rt_run. */
void *rt_run_work(void *run);
/* With the lock held. */
rt_run_info rt_run_get_info(const rt_run *run);
/* By number, with the lock held; NULL: none. */
rt_run *rt_runs_find(const rt_runs *runs, uint64_t number);

#endif
