/* SPDX-License-Identifier: MIT
 *
 * Formats: the list of file formats that Retake reads and writes, and how to add one.
 *
 * A format is an rt_format (ops/format.h): functions between bytes and outlines. A new one is
 * one file, NAME.c, with its test and fuzz target, and one row in RT_FORMAT_TABLE. The rest of this
 * directory is a kit for that file:
 *
 *   reading   formats_reader.h   the frame: records, a builder, batches for the receiver, remarks
 *             formats_walk.h     JSON or lines of any size, one value at a time
 *             formats_scan.h     JSON in memory cut into members without parsing
 *             formats_build.h    makes outlines: discussions, entries, takes, fields
 *             formats_share.h    one node for an entry that several takes list
 *   writing   formats_writer.h   an output; discussions with their takes; bodies of entries
 *   both      rt_member          tables of members and the fields of rt_node that they map to
 *             formats_extras.h   properties that a foreign format cannot express, for lossless
 *                                exports
 *             formats_list.h     loops over JSON, lists of names, growing arrays, hash tables
 *
 * Formats of other programs are in a separate directory, src/importers, with a frame for
 * conversations as graphs (importers/graph.h) and one for writing them back (importers/back.h).
 *
 * Start from formats_example_test.c, a complete format in 70 lines. Then keep the data that it
 * drops (unknown members as further fields of entries and fields of the discussion, times), write
 * all takes with options.whole, and everything with options.lossless; see openai_*.c.
 * formats_random.h has outlines and round trips for the test, formats_fuzz.h the fuzz target.
 *
 * Readers skip broken records and report them with their line; only a file of another format is
 * refused, with a position. Failures stay in a scope (base/scope.h) until the end: only loops
 * have to check it. */
#ifndef RT_FORMATS_FORMATS_H
#define RT_FORMATS_FORMATS_H

#include "ops/format.h"

/* FIRST, ROW and BACK: the name in C, and the displayed name. BACK: written back for another
 * program, from src/importers. In the order of help; if two match an input equally well, the first
 * wins. */
#define RT_FORMAT_TABLE(FIRST, ROW, BACK) \
	FIRST(pi, "pi")                  /* session files of pi */ \
	ROW(toml, "toml")                /* project files of Manual Slop */ \
	ROW(canonical, "canonical")      /* the whole state, one text for it */ \
	ROW(openai, "openai")            /* chat messages, fine-tuning files */ \
	ROW(config_toml, "config-toml")  /* configuration files of Manual Slop */ \
	ROW(markdown, "markdown")        /* readable text */ \
	ROW(html, "html")                /* a page that shows everything */ \
	BACK(claude_code, "claude-code") /* sessions of Claude Code */ \
	BACK(codex, "codex")             /* sessions of Codex CLI */ \
	BACK(gemini_cli, "gemini-cli")   /* sessions of Gemini CLI */ \
	BACK(opencode, "opencode")       /* sessions of opencode */ \
	BACK(sharegpt, "sharegpt")       /* conversations for training */ \
	ROW(dpo, "dpo")                  /* pairs of replies for training, from edits */ \
	ROW(csv, "csv")                  /* a row for each entry */ \
	ROW(text, "text")                /* plain text */

/* Formats that are only read (src/importers). */
#define RT_IMPORTER_TABLE(ROW) \
	ROW(chatgpt, "chatgpt")          /* data exports of ChatGPT */ \
	ROW(claude_ai, "claude-ai")      /* data exports of Claude.ai */ \
	ROW(open_webui, "open-webui")    /* exported chats */ \
	ROW(librechat, "librechat")      /* an exported conversation */ \
	ROW(grok, "grok")                /* data exports of Grok */ \
	ROW(ai_studio, "ai-studio")      /* prompts of Google AI Studio */ \
	ROW(oasst, "oasst")              /* trees of OpenAssistant */ \
	ROW(chatbotui, "chatbotui")      /* exported histories */ \
	ROW(sillytavern, "sillytavern")  /* chat files */ \
	ROW(cursor, "cursor")            /* transcripts of Cursor's agent */ \
	ROW(aider, "aider")              /* chat histories of aider */ \
	ROW(llm, "llm")                  /* the log of llm */ \
	ROW(zip, "zip")                  /* archives of files in these formats */

#define RT_FORMAT_DECLARE(id, name) extern const rt_format rt_format_##id;
RT_FORMAT_TABLE(RT_FORMAT_DECLARE, RT_FORMAT_DECLARE, RT_FORMAT_DECLARE)
RT_IMPORTER_TABLE(RT_FORMAT_DECLARE)
#undef RT_FORMAT_DECLARE

/* A literal with the names of those that are written: "pi, toml, …". */
#define RT_FORMAT_FIRST_NAME(id, name) name
#define RT_FORMAT_NEXT_NAME(id, name)  ", " name
#define RT_FORMAT_NAMES \
	RT_FORMAT_TABLE(RT_FORMAT_FIRST_NAME, RT_FORMAT_NEXT_NAME, RT_FORMAT_NEXT_NAME)

/* The table; NULL after the last. */
extern const rt_format *const rt_formats[];

/* By name; NULL if unknown. */
const rt_format *rt_format_find(rt_str name);

/* The format with the best match for the beginning of an input (at most 64 KiB are read); NULL if
 * none matches. */
const rt_format *rt_format_sniff(rt_str head);
/* The same for an input, which is examined further where its beginning does not tell. *out_head has
 * the beginning, in the scope's memory. */
const rt_format *rt_format_detect(rt_scope *s, const rt_input *in, rt_str *out_head);
/* Calls fn for the files of a zip archive whose names end in this, at most max of them, until it returns true.
 * Those that cannot be read are left out. */
void rt_zip_each(const rt_alloc *alloc, const rt_input *in, const char *end, size_t max,
		 bool (*fn)(void *ctx, const rt_input *file), void *ctx);

#endif
