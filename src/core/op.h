/* SPDX-License-Identifier: MIT
 *
 * Op: the one table of operations (core/op.def). Static and constant. */
#ifndef RT_CORE_OP_H
#define RT_CORE_OP_H

#include "base/text.h"
#include "core/right.h"

typedef enum rt_op_id {
#define OP(id, function, ...) RT_OP_##id,
#include "core/op.def"
#undef OP
	RT_OP_COUNT
} rt_op_id;

typedef enum rt_field_type {
	RT_FIELD_STRING,
	RT_FIELD_CONTENT, /* a string, or an array of content blocks */
	RT_FIELD_ADDRESS, /* of an entry: id, prefix, label, @, :7 */
	RT_FIELD_NUMBER,  /* a whole number, 0 or more */
	RT_FIELD_BOOL,
	RT_FIELD_ARRAY,
	RT_FIELD_MOMENT,  /* ISO 8601 string or epoch number */
	RT_FIELD_ANY
} rt_field_type;

enum { RT_FIELD_REQUIRED = 1, RT_FIELD_NULLABLE = 2 };

typedef struct rt_op_field {
	const char *name; /* in JSON */
	rt_field_type type;
	unsigned flags;
	const char *about;
	size_t offset; /* of its member in rt_request */
} rt_op_field;

enum {
	RT_OP_OPEN = 1 << 0,          /* unknown fields become fields of the entry */
	RT_OP_MAKES = 1 << 1,         /* creates an entry, a take or a discussion (HTTP 201) */
	RT_OP_EDITS_ENTRIES = 1 << 2, /* changes entries that may have been sent to a model */
	RT_OP_REVERTIBLE = 1 << 3,    /* HTTP offers revert as its undo: C17 restores it by entry */
	RT_OP_ALONE = 1 << 4,         /* cannot be combined with others in one step */
	RT_OP_MOVES_HISTORY = 1 << 5, /* undo, redo, jump */
	RT_OP_NO_UNDO = 1 << 6,       /* cannot be undone by any operation */
	RT_OP_CATALOGUE = 1 << 7,     /* changes the list of discussions; its own may be deleted */
	RT_OP_EDITS_TEXT = 1 << 8,    /* replaces the text of `entry` */
	RT_OP_REPLIES = 1 << 9,       /* by a model, which has read the entries before it */
	RT_OP_SWITCHES = 1 << 10,     /* only changes the active take or discussion */
	RT_OP_ADDS = 1 << 11,         /* adds texts: counts against quotas */
	RT_OP_ADDS_ENTRY = 1 << 12    /* adds an entry; the same */
};

/* Events that hooks receive before or after a change. The row of an operation lists all events
 * that it can cause; its effects determine which of them occur (ops/action_event.c). */
enum {
	RT_EVENT_ADD = 1 << 0,
	RT_EVENT_EDIT = 1 << 1,
	RT_EVENT_DELETE = 1 << 2,
	RT_EVENT_ROLE = 1 << 3,
	RT_EVENT_ENTRY = 1 << 4,  /* entry.after */
	RT_EVENT_TAKE = 1 << 5,   /* a take or a discussion is created from an entry */
	RT_EVENT_HEAD = 1 << 6,
	RT_EVENT_SWITCH = 1 << 7, /* another discussion */
	RT_EVENT_UNDO = 1 << 8,
	RT_EVENT_REDO = 1 << 9
};

/* How a step of the operation is described in the history (view). */
typedef enum rt_op_text {
	RT_OP_TEXT_DONE,     /* `done`, and the name of the created object */
	RT_OP_TEXT_PLAIN,    /* `done` */
	RT_OP_TEXT_ENTRIES,  /* "VERB entry ID: …" */
	RT_OP_TEXT_REPLY,
	RT_OP_TEXT_ROLE,
	RT_OP_TEXT_MUTE,
	RT_OP_TEXT_SWITCHED, /* "switched to NOUN …" */
	RT_OP_TEXT_RENAMED,
	RT_OP_TEXT_DELETED,
	RT_OP_TEXT_HEAD,
	RT_OP_TEXT_LABEL,
	RT_OP_TEXT_SETTING
} rt_op_text;

typedef struct rt_op {
	rt_op_id id;
	const char *name;  /* "entry.append" */
	const char *about; /* one line for help */
	const char *done;  /* for the history: "added an entry" */
	unsigned flags;    /* RT_OP_ */
	unsigned events;   /* RT_EVENT_ */
	rt_right right;    /* that it needs, of a server with accounts */
	const char *role;  /* default role of an entry that it creates; "": the first of the
	                    * project's roles; NULL: it creates none */
	rt_op_text text;
	const char *verb, *noun; /* for text; or NULL */
	rt_op_field fields[12];  /* ended by a NULL name */
} rt_op;

/* Names of steps that are not those of an operation. */
#define RT_STEP_BATCH "batch" /* different operations in one step */
#define RT_STEP_IMPORT "import"

extern const rt_op rt_ops[RT_OP_COUNT];
const rt_op *rt_op_named(rt_str name); /* NULL: unknown */
/* Has the operation of a step one of the flags? A batch can contain edits of texts. */
bool rt_op_may(rt_str name, unsigned flags);
/* The most similar known name, for "did you mean"; NULL: none is similar. */
const char *rt_op_nearest(rt_str name);
const rt_op_field *rt_op_field_named(const rt_op *op, rt_str name);

#endif
