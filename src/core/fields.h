/* SPDX-License-Identifier: MIT
 *
 * Fields: an immutable map from names to JSON texts, sorted by name: settings, roles, prompts,
 * file lists and the data of imported files that export writes back. */
#ifndef RT_CORE_FIELDS_H
#define RT_CORE_FIELDS_H

#include "core/object.h"

typedef struct rt_fields rt_fields; /* an rt_object */

RT_CHECKED rt_status rt_fields_new(const rt_alloc *alloc, const rt_fields **out_fields);
/* The JSON text; ptr NULL when the field is absent. */
rt_str rt_fields_get(const rt_fields *fields, rt_str name);
size_t rt_fields_count(const rt_fields *fields);
rt_str rt_fields_name(const rt_fields *fields, size_t at);
rt_str rt_fields_value(const rt_fields *fields, size_t at);
/* value.ptr NULL removes the field. */
RT_CHECKED rt_status rt_fields_set(const rt_fields *fields, rt_str name, rt_str value,
				   const rt_fields **out_fields);

#endif
