/* SPDX-License-Identifier: MIT
 *
 * look LOG: a screen that reports terminal events, one line each, on the screen and in the file
 * LOG; the last paste is in LOG.paste. Its keys:
 *
 *   q  leave        x  exit(3) without closing      t  wake from another thread
 *   S  segfault     A  abort() with a message       O  stack overflow
 *   e  run $LOOK_EDITOR in the shell with access to the terminal
 *   c  "clip" to the clipboard                      C  draw all inks
 *   Ctrl+Z suspend
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "terminal/terminal.h"

enum { LINES = 200, LINE_ROOM = 80 };

static char lines[LINES][LINE_ROOM];
static int line_count;
static FILE *log_file;
static bool shows_inks;

static void
say(const char *words, rt_str text)
{
	char *line = lines[line_count++ % LINES];

	snprintf(line, LINE_ROOM, "%s %.*s", words, (int)(text.size < 50 ? text.size : 50),
		 text.size == 0 ? "" : text.ptr);
	fprintf(log_file, "%s %zu\n", words, text.size);
	fflush(log_file);
}

static void
say_key(rt_key key)
{
	char words[64];
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), 40);
	rt_key_add_word(&buf, key, false);
	snprintf(words, sizeof(words), "key %s", buf.ptr);
	rt_buf_deinit(&buf);
	say(words, rt_str_at(NULL, 0));
}

static void
say_mouse(rt_mouse mouse)
{
	static const char *const kinds[] = {"press", "wheel up", "wheel down"};
	char words[64];

	snprintf(words, sizeof(words), "mouse %s at %d,%d", kinds[mouse.kind], mouse.x, mouse.y);
	say(words, rt_str_at(NULL, 0));
}

static void
draw(rt_terminal *terminal, rt_canvas *canvas)
{
	rt_box box = rt_canvas_box(canvas);
	int y, from, room = canvas->rows - 2;

	rt_canvas_clear(canvas);
	rt_canvas_fill(canvas, (rt_box){0, 0, canvas->columns, 1}, RT_INK_BAR);
	rt_canvas_put_f(canvas, box, 1, 0, RT_INK_BAR, "look %dx%d %s %s", canvas->columns,
			canvas->rows, rt_terminal_is_utf8(terminal) ? "utf8" : "ascii",
			rt_terminal_has_color(terminal) ? "color" : "plain");
	from = line_count > room ? line_count - room : 0;
	for (y = 0; y < room && from + y < line_count; y++)
		rt_canvas_put_c(canvas, box, 0, 1 + y, lines[(from + y) % LINES], RT_INK_TEXT);
	for (y = 0; shows_inks && y < RT_INK_COUNT; y++) {
		rt_canvas_put_f(canvas, box, 40, 1 + y, (rt_ink)y, "ink %d", y);
		rt_canvas_put_c(canvas, box, 50, 1 + y, "selected", (rt_ink)(y | RT_INK_SELECTED));
		rt_canvas_put_c(canvas, box, 60, 1 + y, "bold", (rt_ink)(y | RT_INK_BOLD));
	}
	rt_canvas_put_c(canvas, box, 0, canvas->rows - 1, "> e\u0301 \u4F60\u597D \u202E|", RT_INK_TEXT);
	rt_canvas_cursor(canvas, box, 2, canvas->rows - 1);
	rt_terminal_show(terminal, canvas);
}

static void *
wake(void *ctx)
{
	rt_terminal_wake(ctx);
	rt_terminal_wake(ctx);
	return NULL;
}

static void
run_editor(rt_terminal *terminal)
{
	const char *editor = getenv("LOOK_EDITOR");
	int state = 0;
	pid_t child;

	rt_terminal_leave(terminal);
	child = fork();
	if (child == 0) {
		execl("/bin/sh", "sh", "-c", editor == NULL ? "true" : editor, (char *)NULL);
		_exit(127);
	}
	(void)waitpid(child, &state, 0);
	rt_terminal_enter(terminal);
	say("edited", rt_str_at(NULL, 0));
}

static int
overflow(const volatile char *from, long long depth)
{
	volatile char room[4096];

	room[0] = *from;
	return depth == 0 ? 0 : overflow(room, depth - 1) + room[0];
}

static void
keep(const char *log_name, rt_str text)
{
	char name[4096];
	FILE *file;

	snprintf(name, sizeof(name), "%s.paste", log_name);
	file = fopen(name, "we");
	if (file == NULL)
		return;
	fwrite(text.ptr, 1, text.size, file);
	fclose(file);
}

static bool
act(rt_terminal *terminal, rt_key key)
{
	pthread_t thread;
	volatile char start = 0;

	if (key.mods == RT_KEY_CTRL && key.code == 'z')
		rt_terminal_suspend(terminal);
	if (key.mods != 0)
		return true;
	switch (key.code) {
	case 'q': return false;
	case 'x': exit(3);
	case 'S': raise(SIGSEGV); break;
	case 'A': fputs("what went wrong\n", stderr); abort();
	case 'O': exit(overflow(&start, 1LL << 40));
	case 'e': run_editor(terminal); break;
	case 'c':
		say(rt_terminal_copy(terminal, RT_STR("clip")) ? "copied" : "not copied",
		    RT_STR(""));
		break;
	case 'C': shows_inks = !shows_inks; break;
	case 't':
		if (pthread_create(&thread, NULL, wake, terminal) == 0)
			(void)pthread_join(thread, NULL);
		break;
	default: break;
	}
	return true;
}

int
main(int argc, char **argv)
{
	rt_terminal_options options = {.alloc = rt_alloc_libc()};
	rt_terminal *terminal = NULL;
	rt_canvas canvas;
	bool goes_on = true;
	rt_error err;

	log_file = argc > 1 ? fopen(argv[1], "ae") : NULL;
	if (log_file == NULL)
		return 2;
	if (rt_terminal_open(&options, &terminal, &err) != RT_OK) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	rt_canvas_init(&canvas, rt_alloc_libc(), rt_terminal_is_utf8(terminal));
	rt_terminal_set_mouse(terminal, true);
	say("open", RT_STR(""));
	while (goes_on) {
		int columns, rows;
		rt_event event;

		rt_terminal_size(terminal, &columns, &rows);
		if ((columns != canvas.columns || rows != canvas.rows) &&
		    rt_canvas_resize(&canvas, columns, rows) != RT_OK)
			break;
		if (!rt_terminal_pending(terminal))
			draw(terminal, &canvas);
		rt_terminal_wait(terminal, -1, &event);
		switch (event.kind) {
		case RT_EVENT_KEY:
			say_key(event.key);
			goes_on = act(terminal, event.key);
			break;
		case RT_EVENT_MOUSE: say_mouse(event.mouse); break;
		case RT_EVENT_PASTE:
			keep(argv[1], event.text);
			say(event.is_cut ? "cut paste" : "paste", event.text);
			break;
		case RT_EVENT_RESIZE: say("resize", RT_STR("")); break;
		case RT_EVENT_WAKE: say("wake", RT_STR("")); break;
		case RT_EVENT_END:
			say("end", RT_STR(""));
			goes_on = getenv("LOOK_STAYS") != NULL;
			break;
		case RT_EVENT_NONE: say("none", RT_STR("")); break;
		}
	}
	rt_terminal_close(terminal);
	rt_canvas_deinit(&canvas);
	printf("closed\n");
	return 0;
}
