/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of verbs: verb.c (the table), verb_request.c (executing a verb, and the
 * questions after a conflict), verb_read.c (verbs that only read), verb_navigate.c, and slash.c
 * (the commands of the chat).
 *
 * A verb request is a verb in progress: its entries, the answer to its question, and the
 * precondition under which it is executed. It lives while its question is open or its change is
 * pending. */
#ifndef RT_TUI_VERB_IMPL_H
#define RT_TUI_VERB_IMPL_H

#include "tui/pane.h"
#include "tui/precondition.h"
#include "tui/verb.h"

struct rt_verb;

typedef struct rt_verb_request {
	const struct rt_verb *verb;
	unsigned references;
	uint32_t seen_take; /* 0: any take that has the entries */
	bool is_on;         /* mute, collapse: set or clear */
	bool is_address;    /* move: the answer is an address, not a position */
	bool is_open;       /* a conflict's question is open: if freed without an answer, the text goes
			     * to the chat's input history */
	rt_precondition precondition;
	rt_buf answer;      /* to its question */
	rt_buf question;    /* of the conflict */
	char words[80];     /* the result of several requests together; or empty */
	size_t count;       /* of entries */
	uint32_t entries[];
} rt_verb_request;

/* A verb being executed: its requests and their memory. */
typedef struct rt_verb_build {
	rt_scope scope;
	rt_tui *tui;
	rt_verb_request *request;
	rt_str answer;
	rt_request *requests;
	size_t count;    /* 0: nothing to do, which was reported */
	const char *did; /* the result of several requests: "Deleted" (8 entries), or NULL */
} rt_verb_build;

enum {
	RT_VERB_ONE = 1,      /* only the first of the entries counts */
	RT_VERB_ALONE = 2,    /* needs no entries */
	RT_VERB_TEXT = 4,     /* the answer is a text written by the user; else it is trimmed */
	RT_VERB_OPTIONAL = 8, /* an empty answer is left out */
	RT_VERB_INTERNAL = 16 /* not for rt_verb_act */
};

typedef struct rt_verb {
	rt_action action;
	unsigned flags;
	rt_fact_kind sees; /* the precondition */
	/* How it begins: with a function; or with a question for one line; or neither. */
	rt_status (*begin)(rt_tui *tui, const struct rt_verb *verb, const uint32_t *entries,
			   size_t count);
	const char *before, *after; /* of the question, around "User, entry 4" */
	/* The verb's action: a function, or this operation for each entry. */
	void (*build)(rt_verb_build *b);
	rt_op_id op;
	/* Members of the operation's request, as offsets; 0: none. */
	size_t place;  /* the entry's address */
	size_t answer; /* an rt_str */
	size_t toggle; /* an rt_tristate */
	const char *did, *did_not; /* rt_verb_build.did; for off or an empty answer, if that
				    * differs */
	const struct rt_verb *as_take; /* the same in a new take, for conflicts; or NULL */
} rt_verb;

/* ---- verb_request.c ---- */

/* With a precondition from the current state. RT_OK with NULL: that failed and was reported. */
RT_CHECKED rt_status rt_verb_request_new(rt_tui *tui, const rt_verb *verb, const uint32_t *entries,
					 size_t count, rt_verb_request **out);
/* Drop a reference; request may be NULL. */
void rt_verb_request_free(rt_tui *tui, void *request);
/* Executes a request whose question is answered. */
RT_CHECKED rt_status rt_verb_do(rt_tui *tui, rt_verb_request *request, rt_str answer);
/* Make a request, and ask for its answer: a text; or one of the names, an array in s, which ends
 * here (begin_on: the cursor's; or empty). */
RT_CHECKED rt_status rt_verb_ask(rt_tui *tui, const rt_verb *verb, const uint32_t *entries,
				 size_t count, const char *title, rt_str text, bool several_lines);
RT_CHECKED rt_status rt_verb_pick(rt_tui *tui, rt_scope *s, const rt_verb *verb,
				  const uint32_t *entries, size_t count, const char *title,
				  yyjson_val *names, rt_str begin_on);
/* End a scope, and report its failure. */
RT_CHECKED rt_status rt_verb_end(rt_tui *tui, rt_scope *s);

/* For build functions: zeroed requests, NULL after a failure; one request; the row's operation for
 * each entry, or once if there are none. */
rt_request *rt_verb_add_requests(rt_verb_build *b, size_t count);
void rt_verb_add_request(rt_verb_build *b, rt_request request);
void rt_verb_add_each(rt_verb_build *b);
/* Set *field to the address of an entry, and the take that holds it, unless that is the one in view
 * and need not be named. Returns that take; 0: none contains it. */
uint32_t rt_verb_set_address(rt_verb_build *b, rt_request *r, rt_str *field, uint32_t entry,
			     bool is_named);

/* ---- verb.c ---- */

/* Begin a verb and answer its question at once. */
RT_CHECKED rt_status rt_verb_with(rt_tui *tui, rt_action action, const uint32_t *entries,
				  size_t count, rt_str answer);
/* Executes one operation. */
RT_CHECKED rt_status rt_verb_apply(rt_tui *tui, const rt_request *request);
/* Start a model. */
RT_CHECKED rt_status rt_verb_run(rt_tui *tui, const rt_run_request *request);
/* Move entries before another one, in their order. */
RT_CHECKED rt_status rt_verb_move_before(rt_tui *tui, const uint32_t *entries, size_t count,
					 uint32_t before);
/* Ask for a new name of a take; 0: the one in view. */
RT_CHECKED rt_status rt_verb_rename(rt_tui *tui, uint32_t take);
/* Start a discussion with a generated name. */
RT_CHECKED rt_status rt_slash_new(rt_tui *tui);

/* "User, entry 4", "3 entries". */
void rt_verb_name(rt_tui *tui, const uint32_t *entries, size_t count, char *out, size_t size);
/* Options for text of the width of the screen without `margin` columns. */
rt_lines_options rt_verb_lines(const rt_tui *tui, int margin, int indent);
/* Show lines in a reader, unless the scope has failed, and end it. */
RT_CHECKED rt_status rt_verb_show(rt_tui *tui, rt_scope *s, const char *title, rt_lines *lines);

/* An entry, or its versions, on a separate screen. */
RT_CHECKED rt_status rt_verb_read(rt_tui *tui, uint32_t entry);
RT_CHECKED rt_status rt_verb_versions(rt_tui *tui, uint32_t entry);
/* Copy texts; path: those of all entries up to the first of these. */
RT_CHECKED rt_status rt_verb_copy(rt_tui *tui, const uint32_t *entries, size_t count, bool path);
/* The command that exports a discussion, or a take of it (0: as much of the discussion as the
 * format supports); to be followed by the file. */
void rt_verb_add_export(rt_buf *line, uint32_t disc, uint32_t take);
/* Exports to a file; asks before one is replaced. */
RT_CHECKED rt_status rt_verb_export_file(rt_tui *tui, uint32_t disc, uint32_t take, rt_str name);
/* Ask for a file, and export to it. */
RT_CHECKED rt_status rt_verb_export_to(rt_tui *tui, uint32_t disc, uint32_t take,
				       const char *title);
/* The same for the take of an entry; 0: the one in view. */
RT_CHECKED rt_status rt_verb_export(rt_tui *tui, uint32_t entry);

/* chat_attach.c: /attach FILE… and /detach. */
rt_status rt_slash_attach(rt_tui *tui, rt_action action, rt_str rest);
rt_status rt_slash_detach(rt_tui *tui, rt_action action, rt_str rest);
/* A command without its file: puts it into the input, if that is empty, and asks. */
RT_CHECKED rt_status rt_slash_ask_file(rt_tui *tui, const char *command, const char *question);

#endif
