/* SPDX-License-Identifier: MIT
 *
 * Op: the one table of operations. It feeds the checks of `apply`, CLI help, the man page,
 * completions, and later HTTP, OpenAPI and MCP; an operation added here is known there. */
#ifndef RT_CORE_OP_H
#define RT_CORE_OP_H

#include "base/text.h"

typedef enum rt_op_id {
	RT_OP_ENTRY_APPEND,
	RT_OP_ENTRY_INSERT,
	RT_OP_ENTRY_REPLY,
	RT_OP_ENTRY_EDIT,
	RT_OP_ENTRY_ROLE,
	RT_OP_ENTRY_DELETE,
	RT_OP_ENTRY_MOVE,
	RT_OP_ENTRY_MUTE,
	RT_OP_ENTRY_VIEW,
	RT_OP_ENTRY_SPLIT,
	RT_OP_ENTRY_MERGE,
	RT_OP_TAKE_BRANCH,
	RT_OP_TAKE_SWITCH,
	RT_OP_TAKE_RENAME,
	RT_OP_TAKE_DELETE,
	RT_OP_TAKE_PROMOTE,
	RT_OP_TAKE_CLEAR,
	RT_OP_TAKE_TRUNCATE,
	RT_OP_TAKE_GRAFT,
	RT_OP_HEAD_MOVE,
	RT_OP_LABEL_SET,
	RT_OP_SETTING_SET,
	RT_OP_ROLE_ADD,
	RT_OP_ROLE_REMOVE,
	RT_OP_PROMPT_UPDATE,
	RT_OP_PROMPT_NOTIFY,
	RT_OP_FILES_SET,
	RT_OP_TRACK_SET,
	RT_OP_PRESET_SAVE,
	RT_OP_PRESET_LOAD,
	RT_OP_PRESET_DELETE,
	RT_OP_DISCUSSION_NEW,
	RT_OP_DISCUSSION_SWITCH,
	RT_OP_DISCUSSION_RENAME,
	RT_OP_DISCUSSION_DELETE,
	RT_OP_DISCUSSION_EXTRACT,
	RT_OP_PROJECT_RESET,
	RT_OP_UNDO,
	RT_OP_REDO,
	RT_OP_JUMP,
	RT_OP_REVERT,
	RT_OP_PURGE,
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
	const char *name;
	rt_field_type type;
	unsigned flags;
	const char *about;
} rt_op_field;

typedef struct rt_op {
	rt_op_id id;
	const char *name;  /* "entry.append" */
	const char *about; /* one line for help */
	const char *done;  /* words for the history list: "added an entry" */
	bool open;         /* further fields become fields of the entry */
	const char *role;  /* of an entry that it makes, where none is given; "": the first of
	                    * the project's; NULL: it makes none */
	rt_op_field fields[12]; /* ended by a NULL name */
} rt_op;

extern const rt_op rt_ops[RT_OP_COUNT];
const rt_op *rt_op_named(rt_str name); /* NULL: unknown */
/* The known name that is nearest in spelling, for "did you mean"; NULL: none near. */
const char *rt_op_nearest(rt_str name);
const rt_op_field *rt_op_field_named(const rt_op *op, rt_str name);

#endif
