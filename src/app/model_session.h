/* SPDX-License-Identifier: MIT
 *
 * Model session: a model and the log of requests, opened for one command or chat. Nothing is
 * printed: remarks are notes of the session, and the next step after a failure is its hint. */
#ifndef RT_APP_MODEL_SESSION_H
#define RT_APP_MODEL_SESSION_H

#include "app/session.h"
#include "llm/comms_host.h"
#include "llm/models_host.h"

typedef struct rt_model_session_options {
	const char *model; /* of -m; NULL: the setting, RETAKE_MODEL or the configuration */
	size_t budget;     /* of --budget; 0: the configuration */
	unsigned pace_ms; /* between the pieces of a built-in model's reply */
	bool needs_model; /* false: the command may run without a model */
} rt_model_session_options;

typedef struct rt_model_session {
	rt_session *session;
	const rt_config *config;     /* the session's */
	rt_model *model;             /* NULL: none */
	rt_comms *comms;             /* NULL: there is no state folder */
	rt_buf name;                 /* of the model, as it was chosen */
	rt_buf owner, state;         /* this process; the state folder */
	char *store;                 /* the store's full path; NULL: not known, or not a file */
	size_t budget, given_budget; /* the effective one; of --budget, or 0 */
	unsigned pace_ms;
	rt_pick_counter counter; /* of the model's tokens */
} rt_model_session;

/* The session must be open for changing. RT_CREDENTIALS: no model is chosen; the hint names those
 * found on this machine. Close in any case. */
RT_CHECKED rt_status rt_model_session_open(rt_model_session *m, rt_session *session,
					   const rt_model_session_options *options, rt_error *err);
void rt_model_session_close(rt_model_session *m);
/* Opens a model by name: a server's, or a built-in one ("builtin/play:FILE" plays a file, with
 * may_play). It is the caller's. */
RT_CHECKED rt_status rt_model_session_model(rt_model_session *m, rt_str name, bool may_play,
					    rt_model **out, rt_error *err);
/* May this name become the setting "model"? As rt_model_names_verify; with a note if that cannot be
 * found out, and a hint. */
RT_CHECKED rt_status rt_model_session_verify(rt_session *session, rt_str name, rt_error *err);
/* The model's name in the setting, appended; nothing: none. */
RT_CHECKED rt_status rt_model_session_setting(const rt_session *session, rt_buf *out,
					      rt_error *err);

#endif
