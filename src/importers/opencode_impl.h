/* SPDX-License-Identifier: MIT */
#ifndef RT_IMPORTERS_OPENCODE_IMPL_H
#define RT_IMPORTERS_OPENCODE_IMPL_H

#include "importers/graph.h"

void rt_opencode_begin(rt_graph *g, yyjson_val *info, yyjson_val *updated);
/* {"info","parts"}, after the node tip; returns its node. */
int64_t rt_opencode_message(rt_graph *g, yyjson_val *message, int64_t tip);
/* reverted: the id of the message before which the session continues, or empty. */
void rt_opencode_end(rt_graph *g, rt_str reverted, int64_t tip);

/* Is it a file of the storage folder? */
bool rt_opencode_is_stored(rt_str record);
/* The files of a storage folder, one after the other in any order. */
void rt_opencode_storage(rt_graph *g, const rt_input *in);

rt_status rt_opencode_write(const rt_alloc *alloc, const rt_outlines *in,
			    const rt_export_options *options, rt_buf *out, rt_error *err);

#endif
