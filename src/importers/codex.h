/* SPDX-License-Identifier: MIT
 *
 * Codex: the writer of its sessions; the reader is in codex.c. */
#ifndef RT_IMPORTERS_CODEX_H
#define RT_IMPORTERS_CODEX_H

#include "ops/format.h"

/* Is it context that the program adds in the name of the user? */
bool rt_codex_is_context(rt_str text);

rt_status rt_codex_write(const rt_alloc *alloc, const rt_outlines *in,
			 const rt_export_options *options, rt_buf *out, rt_error *err);

#endif
