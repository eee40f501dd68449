/* SPDX-License-Identifier: MIT
 *
 * Export: a value as outlines (ops/format.h), which a format then writes.
 *
 * Threads: call from any thread. */
#ifndef RT_OPS_EXPORT_H
#define RT_OPS_EXPORT_H

#include "log/engine.h"
#include "ops/format.h"

/* The value as outlines, to be written by a format: the whole project, or one discussion
 * (disc != 0), or one take of it. Views live as long as out. */
RT_CHECKED rt_status rt_engine_export(rt_engine *engine, const rt_project *project, rt_place place,
				      bool whole_project, rt_outlines *out, rt_error *err);

/* Adds the texts before they were edited to the entries of outlines that rt_engine_export made of this
 * value. Cost: the whole log, if an entry was edited. */
RT_CHECKED rt_status rt_engine_export_before(rt_engine *engine, const rt_project *project,
					     rt_outlines *outlines, rt_error *err);

#endif
