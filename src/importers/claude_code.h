/* SPDX-License-Identifier: MIT
 *
 * Claude Code: the writer of its sessions; the reader is in claude_code.c. */
#ifndef RT_IMPORTERS_CLAUDE_CODE_H
#define RT_IMPORTERS_CLAUDE_CODE_H

#include "ops/format.h"

rt_status rt_claude_code_write(const rt_alloc *alloc, const rt_outlines *in,
			       const rt_export_options *options, rt_buf *out, rt_error *err);

#endif
