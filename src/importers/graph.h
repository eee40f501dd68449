/* SPDX-License-Identifier: MIT
 *
 * Graph: the frame of importers, which read files of other programs. Those that also write them use
 * back.h.
 *
 * A conversation of another program is a set of messages that name their parents, in any order. An
 * importer adds them one by one and names the one that was open last:
 *
 *     rt_graph_begin(&g, title, id)                  a discussion
 *         rt_parts_begin(&g.parts) … rt_parts_end    the content of a message
 *         rt_graph_raw(&g, record, "…")              its record, without that content
 *         rt_graph_add(&g, &node, parent_id)
 *     rt_graph_children(&g, list)                    optional: the order of siblings
 *     rt_graph_end(&g, leaf)                         links, repairs, sorts
 *
 * Parents are found when all messages are known. A missing parent makes a root, a cycle is cut at
 * the message met first, and of several messages with one id the first one with a content counts; the
 * report has a remark about each. The nodes of the finished outline are in depth-first order, siblings in the
 * order that the file gives them. Nothing recurses.
 *
 * An importer has no takes: the engine makes one for every leaf, the open one first. Records that
 * carry no message are structure: entries of the kind "custom" without a role, which are neither
 * shown nor sent to models.
 *
 * Messages that the other program hides from its users are of the kind "custom_message" and not
 * displayed here either.
 *
 * Every node keeps its record as a further field named after the format, without the parts that
 * its content has verbatim. Members of the conversation are fields of the discussion
 * ("chatgpt.gizmo_id"). The source is the format and the conversation's id, so a file that has
 * grown since an earlier import adds only the new messages.
 *
 * A conversation without entries is left out and counted in the report.
 *
 * Like the rest of the reader (formats_reader.h), a graph does nothing after a failure. */
#ifndef RT_IMPORTERS_GRAPH_H
#define RT_IMPORTERS_GRAPH_H

#include "formats/formats_reader.h"
#include "importers/database.h"
#include "importers/parts.h"

typedef struct rt_graph {
	rt_reader *r;
	rt_build *b;         /* of r */
	const char *format;  /* its name */
	rt_outline *outline; /* the current discussion; NULL after a failure */
	rt_index ids;        /* id: node */
	rt_items links;      /* rt_link, one for each node */
	rt_items ranks;      /* uint32_t, one for each node: its place among its siblings */
	rt_parts parts;
	rt_buf *prefix;      /* of fields of the discussion */
	rt_buf *aside;       /* a JSON array of records, open; empty: none */
	bool is_repaired;    /* the text of the record is yet to be kept */
	rt_moment newest, changed; /* see rt_graph_open_newest */
	bool has_newest, has_changed;
} rt_graph;

void rt_graph_init(rt_graph *g, rt_reader *r, const char *format);

/* As rt_reader_record, without records that are nested too deep to be kept. */
yyjson_val *rt_graph_record(rt_graph *g);
/* A record that was parsed otherwise; NULL: it is NULL, or nested too deep. */
yyjson_val *rt_graph_checked(rt_graph *g, yyjson_val *record);

/* A format each of whose records is a conversation. */
typedef struct rt_graph_reader {
	const char *format;  /* its name */
	const char *wrapper; /* see rt_reader; or NULL */
	const char *noun;    /* for messages: "Grok conversation" */
	/* Adds a conversation, or calls rt_graph_skip. */
	void (*read)(rt_graph *g, yyjson_val *record);
	/* The same conversations in a database; or NULL. */
	void (*read_database)(rt_graph *g, rt_db *db);
} rt_graph_reader;

/* Reads all records; refuses an input without conversations. */
rt_status rt_graph_read(const rt_graph_reader *reader, const rt_alloc *alloc, const rt_input *in,
			const rt_reader_to *to, rt_report *report, rt_error *err);

/* NAME_read and NAME_stream of an rt_format, from the members of an rt_graph_reader. */
#define RT_GRAPH_FUNCTIONS(name, ...) \
	static rt_status name##_to(const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to, \
				   rt_report *report, rt_error *err) \
	{ \
		static const rt_graph_reader reader = {__VA_ARGS__}; \
\
		return rt_graph_read(&reader, alloc, in, to, report, err); \
	} \
	RT_READER_FUNCTIONS(name, name##_to)

/* The next conversation. Either may be empty; without an id only an identical conversation is
 * recognised. A title is cut by rt_graph_title, and is then also the field "FORMAT.title". */
void rt_graph_begin(rt_graph *g, rt_str title, rt_str id);
/* The same later, for a conversation whose title or id is found at its end. */
void rt_graph_name(rt_graph *g, rt_str title, rt_str id);
/* Members of a conversation, except these words, as fields of the discussion. */
void rt_graph_fields(rt_graph *g, yyjson_val *conversation, const char *without);
void rt_graph_field(rt_graph *g, const char *name, yyjson_val *value);
/* The current record is not a conversation: it has no such member. */
void rt_graph_skip(rt_graph *g, const char *member, rt_str title);
/* The conversation of the file that changed last is the active one of the project. */
void rt_graph_open_newest(rt_graph *g, yyjson_val *changed);

/* Fields of the next node, after rt_parts_end or rt_build_body_open. The record without the members
 * named by these words; of objects among them, as "message.content", that member becomes an empty
 * text or list. */
void rt_graph_raw(rt_graph *g, yyjson_val *record, const char *without);
/* The same object, added to a buffer. */
void rt_graph_add_raw(rt_buf *buf, yyjson_val *record, const char *without);
/* The other program does not show this message to its users. */
void rt_graph_hide(rt_graph *g, rt_node *node);
/* A member of this name (may be NULL or null), as the field of that name. */
void rt_graph_keep(rt_graph *g, const char *field, yyjson_val *value);

/* The next object of a list or an object of messages, until NULL; other items are skipped and
 * reported. */
yyjson_val *rt_graph_message(rt_graph *g, rt_json_iter *list);

/* Add the node whose body is open; its id and role are those of the file ("unknown" for a message
 * without a role). parent_id is empty for a root; a node without parent_id whose `parent` is not -1 follows that node. Returns its index, or
 * -1: there is one with this id, or the reader has failed. One with this id that has no content is
 * replaced by a message with one. */
int64_t rt_graph_add(rt_graph *g, const rt_node *node, rt_str parent_id);
/* The node whose body is open takes the place of one with this index, and keeps its parent. */
void rt_graph_replace(rt_graph *g, int64_t at, const rt_node *node);
/* A record outside of the conversation, or the text of one that was repaired, becomes an item of the
 * discussion's field "FORMAT.records". */
void rt_graph_aside(rt_graph *g, yyjson_val *record);
/* A record without a message. */
int64_t rt_graph_add_structure(rt_graph *g, rt_str id, rt_str parent_id);
/* The place of a node among its siblings, from 0; those without one are last. */
void rt_graph_rank(rt_graph *g, int64_t node, uint32_t rank);
/* Messages that contain those that follow them, in the member `children`: add is called for each,
 * parents first, with the node of the message around it, and returns its node. */
void rt_graph_nested(rt_graph *g, yyjson_val *list, const char *children, int64_t around,
		     int64_t (*add)(rt_graph *g, yyjson_val *message, int64_t around));
/* The node of this id; -1: none. */
int64_t rt_graph_find(const rt_graph *g, rt_str id);
/* The node that a node follows, of those added with their index; -1: none. */
int64_t rt_graph_parent(const rt_graph *g, int64_t node);
/* A further id of a node. */
void rt_graph_alias(rt_graph *g, rt_str id, int64_t node);
/* Every node follows the one that was added before it, in a file that names no parents. */
void rt_graph_chain(rt_graph *g);
/* The order of siblings, as a list of their ids; unknown ones are ignored. */
void rt_graph_children(rt_graph *g, yyjson_val *list);

/* The last message in the order of the file, or the one with the latest time; -1: none. */
int64_t rt_graph_last(const rt_graph *g);
int64_t rt_graph_latest(const rt_graph *g);
enum { RT_GRAPH_LAST = -1, RT_GRAPH_FIRST = -2 };
/* The conversation is complete; leaf is the node after which it continues, or the last message, or
 * the first leaf in the order of siblings. */
void rt_graph_end(rt_graph *g, int64_t leaf);

/* The first of these members that is a text which is not empty; else empty. */
rt_str rt_graph_text(yyjson_val *object, const char *words);

/* What other programs call the user, the model and its tools, as "user", "assistant" and "tool"; other
 * roles unchanged. */
rt_str rt_graph_role(rt_str role);

/* A short title: the first line of this text, at most 80 characters of it, cut at a space. */
rt_str rt_graph_title(rt_str text);

/* The best result of sniff for the first records of an input, the last of which may be cut. */
int rt_graph_sniff(rt_str head, int (*sniff)(rt_str record));
/* The raw value of a member of a record, as far as the head has it; empty: none. */
rt_str rt_graph_member(rt_str record, const char *name);

#endif
