/* SPDX-License-Identifier: MIT
 *
 * OpenAPI: the documents of /retake/v1, made from the tables of routes and of operations
 * (core/op.def), so that they cannot contradict them. The shapes of answers are in openapi.c.
 *
 * Threads: any. */
#ifndef RT_SERVER_OPENAPI_H
#define RT_SERVER_OPENAPI_H

#include "server/route.h"

/* The OpenAPI 3.1 document of these routes (ended by a NULL path), as JSON, appended. */
void rt_openapi_write(const rt_route *routes, rt_buf *buf);
/* docs/api.md, appended. */
void rt_api_docs_write(const rt_route *routes, rt_buf *buf);

/* The chapters of the documents, in their order; NULL: there are no more. */
const char *rt_openapi_noun(size_t at);
/* The chapter of a route; never NULL for routes in the table. */
const char *rt_openapi_noun_of(const rt_route *route);
/* Is there a parameter of that name in its path? */
bool rt_openapi_in_path(const rt_route *route, const char *name);
/* The first field of an operation from this one on that is not in the path (of route, or NULL);
 * NULL: none. */
const rt_op_field *rt_openapi_next_field(const rt_route *route, const rt_op_field *field);

/* A shape by its name in routes. NULL: unknown. */
typedef struct rt_shape {
	const char *name;
	const char *about;  /* a sentence with the members */
	const char *schema; /* JSON Schema */
	const char *type;   /* media type; NULL: application/json */
} rt_shape;
extern const rt_shape rt_shapes[]; /* ended by a NULL name */
const rt_shape *rt_shape_named(const char *name);

#endif
