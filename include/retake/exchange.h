/* SPDX-License-Identifier: MIT
 *
 * Exchange: conversations as files of other programs, in memory. The formats and how far each
 * brings everything back are in docs/formats.md. */
#ifndef RETAKE_EXCHANGE_H
#define RETAKE_EXCHANGE_H

#include "retake/look.h"

RETAKE_BEGIN

typedef struct retake_export_options {
	size_t size;  /* sizeof(retake_export_options) */
	int whole;    /* all takes, not only the active one */
	int lossless; /* add what the format cannot say, so that an import gives it back */
	int lines;    /* one conversation a line, where the format knows both forms */
} retake_export_options;

#define RETAKE_EXPORT_OPTIONS_INIT {sizeof(retake_export_options), 0, 0, 0}

/* format: "pi", "openai", "toml", "markdown" or "canonical". canonical and toml hold the whole
 * project unless place names a discussion or a take. RETAKE_USAGE: no such format.
 * Cost: everything that is written. */
RETAKE_CHECKED RETAKE_API retake_status retake_export(retake_project *project,
						      const retake_place *place,
						      const char *format,
						      const retake_export_options *options,
						      retake_text *out_file, retake_error *error);

typedef struct retake_import_options {
	size_t size;        /* sizeof(retake_import_options) */
	const char *format; /* NULL: found by the content */
	const char *name;   /* of the discussion; NULL: the file's own */
	int dry_run;        /* only count */
} retake_import_options;

#define RETAKE_IMPORT_OPTIONS_INIT {sizeof(retake_import_options), NULL, NULL, 0}

/* Adds what is new in the file: new discussions, or what was added to ones that were imported
 * before. One step for each discussion. bytes: the file; may hold anything, and what cannot be
 * understood is refused with its position (RETAKE_USAGE), never half imported.
 *
 * out_report becomes {"format","discussions","entries","takes","known","settings","repaired",
 * "skipped","noted","remarks":[{"level","line","text"}],"seq","discussion"}: what was added, how
 * many entries were there already, how many project settings changed, and what had to be mended. */
RETAKE_CHECKED RETAKE_API retake_status retake_import(retake_project *project, const char *bytes,
						      size_t size,
						      const retake_import_options *options,
						      retake_text *out_report,
						      retake_error *error);

RETAKE_END

#endif
