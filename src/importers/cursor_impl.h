/* SPDX-License-Identifier: MIT */
#ifndef RT_IMPORTERS_CURSOR_IMPL_H
#define RT_IMPORTERS_CURSOR_IMPL_H

#include "importers/graph.h"

/* The conversations of a state.vscdb; refuses a database without one. db may be NULL. */
void rt_cursor_database(rt_graph *g, rt_db *db);

#endif
