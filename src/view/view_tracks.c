/* SPDX-License-Identifier: MIT
 *
 * Tracks: the discussions that are bound to the same name. That is all that a track is. */
#include <stdlib.h> /* qsort */

#include "view/view.h"
#include "view/view_impl.h"

bool
rt_disc_row_is_of(const rt_disc_row *disc, rt_str track)
{
	return track.ptr == NULL || rt_str_eq(disc->track, track);
}

static int
by_name(const void *a, const void *b)
{
	const rt_track_row *x = a, *y = b;

	return rt_str_cmp(x->name, y->name);
}

rt_track_rows
rt_tracks_list(const rt_view *v)
{
	rt_disc_rows discs = rt_discs_list(v, false);
	rt_track_rows rows = {.items = rt_scope_array(v->scope, discs.count, sizeof(*rows.items))};
	size_t count = 0;

	for (size_t i = 0; rows.items != NULL && i < discs.count; i++) {
		const rt_disc_row *disc = &discs.items[i];

		if (disc->track.size > 0)
			rows.items[count++] = (rt_track_row){.name = disc->track,
							     .active = disc->active,
							     .discussions = 1,
							     .entries = disc->entries,
							     .updated_us = disc->updated_us};
	}
	if (count > 1)
		qsort(rows.items, count, sizeof(*rows.items), by_name);
	for (size_t i = 0; i < count; i++) {
		const rt_track_row *one = &rows.items[i];
		rt_track_row *last = rows.count > 0 ? &rows.items[rows.count - 1] : NULL;

		if (last == NULL || !rt_str_eq(last->name, one->name)) {
			rows.items[rows.count++] = *one;
			continue;
		}
		last->active = last->active || one->active;
		last->discussions++;
		last->entries += one->entries;
		if (one->updated_us > last->updated_us)
			last->updated_us = one->updated_us;
	}
	return rows;
}

static const rt_view_field track_fields[] = {
	RT_VIEW_FIELD(rt_track_row, "name", name, STR, ALWAYS),
	RT_VIEW_FIELD(rt_track_row, "active", active, BOOL, ALWAYS),
	RT_VIEW_FIELD(rt_track_row, "discussions", discussions, SIZE, ALWAYS),
	RT_VIEW_FIELD(rt_track_row, "entries", entries, SIZE, ALWAYS),
	RT_VIEW_FIELD(rt_track_row, "updated", updated_us, TIME, NULL),
};

void
rt_view_tracks(const rt_view *v, rt_buf *buf)
{
	rt_track_rows rows = rt_tracks_list(v);

	rt_json_open(buf, NULL, '[');
	for (size_t i = 0; i < rows.count; i++) {
		rt_json_open(buf, NULL, '{');
		RT_VIEW_PUT(buf, track_fields, &rows.items[i]);
		rt_json_close(buf, '}');
	}
	rt_json_close(buf, ']');
}
