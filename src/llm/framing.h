/* SPDX-License-Identifier: MIT
 *
 * Framing: the bytes of a stream, as they arrive, into its pieces. They may be cut
 * anywhere, also inside a CRLF or a character.
 *
 *   SSE     lines end in LF, CRLF or CR. "event: NAME" and "data: …" gather (several data
 *           lines are joined by LF), an empty line gives the event out if it has data, and
 *           the name is forgotten. ": …" is a comment; other fields are passed over. One
 *           U+FEFF at the very beginning is not there. (WHATWG HTML, 9.2.6)
 *   lines   each line that is not empty; CRLF or LF
 *
 * What is unfinished at the end of the stream: an event of SSE is given out too, unlike in
 * the standard. Some servers send no empty line behind the last one, and the reader of the
 * data finds out whether it is whole.
 *
 * One thread at a time. */
#ifndef RT_LLM_FRAMING_H
#define RT_LLM_FRAMING_H

#include "chat/provider.h"

enum { RT_FRAME_SIZE_MAX = 16 << 20 }; /* bytes of a line, and of all data of an event */

/* One piece; event is empty unless SSE named it. Both are gone afterwards. Other than
 * RT_OK ends the reading with that status. */
typedef rt_status (*rt_frame_fn)(void *ctx, rt_str event, rt_str data, rt_error *err);

typedef struct rt_frames {
	rt_framing framing;
	rt_frame_fn fn;
	void *ctx;
	rt_buf line; /* the one that is not at its end */
	rt_buf event, data;
	bool has_data;
	bool begun;       /* the first line has been seen */
	bool after_cr;    /* an LF now belongs to the line end before */
	rt_status status; /* the first failure; it stays */
} rt_frames;

void rt_frames_init(rt_frames *frames, const rt_alloc *alloc, rt_framing framing, rt_frame_fn fn,
		    void *ctx);
void rt_frames_deinit(rt_frames *frames);

/* RT_LIMIT: a line, or an event, that is too long. RT_NOMEM. What fn said. Once something
 * has failed, nothing more is given out, and the status stays. O(bytes). */
RT_CHECKED rt_status rt_frames_add(rt_frames *frames, rt_str bytes, rt_error *err);
/* There are no more bytes. */
RT_CHECKED rt_status rt_frames_end(rt_frames *frames, rt_error *err);

#endif
