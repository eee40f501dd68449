/* SPDX-License-Identifier: MIT
 *
 * Framing: the bytes of a stream, as they arrive, into pieces of data. They may be cut
 * anywhere, also within a CRLF or a character.
 *
 *   SSE     lines end with LF, CRLF or CR. The "data:" lines of an event are joined by LF; an
 *           empty line ends the event. Comments (": …") and other fields, "event:" too, are
 *           ignored: every provider has the event's type in the data. A U+FEFF at the very
 *           beginning is skipped. (WHATWG HTML, 9.2.6)
 *   lines   each line that is not blank; CRLF or LF
 *
 * An unfinished event at the end of the stream is a piece too, unlike in the standard: some
 * servers send no empty line after the last one, and the reader of the data finds out whether it
 * is complete.
 *
 *	rt_str data;
 *
 *	while (rt_frames_next(&frames, &bytes, &data))
 *		use(data);
 *
 * A piece that arrives in one run of bytes is not copied. One thread at a time. */
#ifndef RT_LLM_FRAMING_H
#define RT_LLM_FRAMING_H

#include "chat/provider.h"

enum { RT_FRAME_SIZE_MAX = 16 << 20 }; /* bytes of a line, and of all data of an event */

typedef struct rt_frames {
	rt_framing framing;
	rt_buf line;      /* an unfinished line */
	rt_buf data;      /* of an unfinished event; unused while view has it */
	rt_str view;      /* the same, in the bytes that arrived last; ptr NULL: none */
	bool has_data;    /* the event has a "data:" line */
	bool is_given;    /* line and data were returned and must be cleared */
	bool begun;       /* the first line was read */
	bool after_cr;    /* an LF now belongs to the line end before */
	rt_status status; /* the first failure: RT_LIMIT or RT_NOMEM */
} rt_frames;

void rt_frames_init(rt_frames *frames, const rt_alloc *alloc, rt_framing framing);
void rt_frames_deinit(rt_frames *frames);

/* The next piece in bytes, which is advanced; valid until the next call. False: bytes is used
 * up, or the stream has failed (rt_frames_check). Call it until then with the same bytes. */
bool rt_frames_next(rt_frames *frames, rt_str *bytes, rt_str *out);
/* The unfinished rest at the end of the stream; false: none. */
bool rt_frames_last(rt_frames *frames, rt_str *out);
/* The status with a message. */
RT_CHECKED rt_status rt_frames_check(const rt_frames *frames, rt_error *err);

#endif
