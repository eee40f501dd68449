/* SPDX-License-Identifier: MIT
 *
 * The real screens with hostile texts in every displayed field: texts, roles, labels, names of
 * takes and discussions, the model, notices, errors, questions, lists, readers, searches,
 * command output. A child draws them on a pseudo-terminal; libvterm interprets the output, and
 * must show exactly the canvas, cell by cell. */
#define _GNU_SOURCE
#include <pty.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "judge.h"

#include "base/sample_testing.h"
#include "codec/json.h"
#include "terminal/terminal.h"
#include "tui/tui_testing.h"

enum { COLUMNS = 150, ROWS = 50, ROUNDS = 700, ENTRIES = 16, FIELDS_MAX = 32, WANTED = 100000 };

/* Reported by the child: the cells it drew, and the number of texts in each field. */
typedef struct board {
	rt_canvas_cell cells[COLUMNS * ROWS];
	struct field_count {
		char name[24];
		unsigned long count;
	} fields[FIELDS_MAX];
	unsigned long shown_names; /* frames in which a control character was shown by name */
} board;

static board *shared;
static uint64_t seed = 20261122;
static int from_judge, to_judge;

static void
count_field(const char *name, unsigned long count)
{
	struct field_count *f = shared->fields;

	while (f->name[0] != 0 && strcmp(f->name, name) != 0)
		f++;
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->count += count;
}

/* This many hostile texts, concatenated; UTF-8, like everything that is stored. */
static rt_str
hostile(rt_buf *buf, const char *field, unsigned long texts)
{
	static rt_buf raw;
	unsigned long i;

	if (raw.alloc == NULL)
		rt_buf_init(&raw, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_clear(&raw);
	rt_buf_clear(buf);
	for (i = 0; i < texts; i++)
		add_hostile(&raw, &seed);
	rt_utf8_repair(buf, rt_buf_str(&raw));
	count_field(field, texts);
	return rt_buf_str(buf);
}

/* {"op":…, key: value, …}, as one step; refused operations are ignored. */
static bool
change(desk *d, rt_buf *json, const char *op, const char *key, rt_str value, const char *more)
{
	rt_error err = {0};
	rt_status st;

	rt_buf_clear(json);
	rt_buf_add_f(json, "[{\"op\":\"%s\",\"%s\":", op, key);
	rt_json_add_string(json, value);
	rt_buf_add_f(json, "%s}]", more);
	st = work_apply_json(&d->tui.work, json->ptr, NULL, &err);
	assert_int_not_equal(st, RT_NOMEM);
	assert_int_equal(rt_tui_tend(&d->tui), RT_OK);
	return st == RT_OK;
}

static void
add_entry(desk *d, rt_buf *text, rt_buf *json)
{
	rt_buf role;
	rt_error err = {0};

	rt_buf_init(&role, rt_alloc_libc(), RT_BUF_UNLIMITED);
	hostile(text, "text", 9);
	rt_buf_clear(json);
	rt_buf_add_c(json, "[{\"op\":\"entry.append\",\"role\":");
	rt_json_add_string(json, random_next(&seed) % 3 == 0 ? RT_STR("AI")
							     : hostile(&role, "role", 14));
	rt_buf_add_c(json, ",\"content\":");
	rt_json_add_string(json, rt_buf_str(text));
	rt_buf_add_c(json, "}]");
	if (work_apply_json(&d->tui.work, json->ptr, NULL, &err) != RT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(rt_tui_tend(&d->tui), RT_OK);
	if (random_next(&seed) % 2 == 0 &&
	    !change(d, json, "label.set", "label", hostile(&role, "label", 20), ",\"entry\":\"@\""))
		fail_msg("a label was refused: %s", json->ptr);
	rt_buf_deinit(&role);
}

/* Renames the object, and remembers the new name. */
static void
rename_to(desk *d, rt_buf *json, const char *op, const char *what, rt_buf *name)
{
	rt_buf more, text;

	rt_buf_init(&more, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_f(&more, ",\"%s\":", what);
	rt_json_add_string(&more, rt_buf_str(name));
	if (!change(d, json, op, "name", hostile(&text, what, 12), more.ptr))
		fail_msg("a name was refused: %s", json->ptr);
	rt_buf_clear(name);
	rt_buf_add_str(name, rt_buf_str(&text));
	rt_buf_deinit(&more);
	rt_buf_deinit(&text);
}

static rt_buf discussion_name, take_name;

static void
name_anew(desk *d, rt_buf *text, rt_buf *json)
{
	rename_to(d, json, "discussion.rename", "discussion", &discussion_name);
	rename_to(d, json, "take.rename", "take", &take_name);
	if (!change(d, json, "setting.set", "value", hostile(text, "model", 12), ",\"key\":\"model\""))
		fail_msg("a model's name was refused: %s", json->ptr);
}

static void
say_anew(desk *d, rt_buf *text)
{
	rt_error err = {0};
	int i;

	/* Not repaired: notices and errors may contain any bytes. */
	rt_buf_clear(text);
	for (i = 0; i < 24; i++)
		add_hostile(text, &seed);
	if (random_next(&seed) % 2 == 0) {
		rt_tui_say_str(&d->tui, rt_buf_str(text), RT_INK_GOOD);
		count_field("notice", 24);
		return;
	}
	(void)rt_fail(&err, RT_REFUSED, "%.*s", (int)text->size, text->ptr);
	count_field("error", 24);
	rt_tui_say_error(&d->tui, &err, hostile(text, "hint", 24));
}

/* Draws a frame; the judge checks it before anything else happens. */
static void
show(desk *d, rt_terminal *terminal)
{
	char byte = 'f';
	rt_buf text, json;
	size_t i;

	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
	name_anew(d, &text, &json);
	say_anew(d, &text);
	rt_buf_deinit(&text);
	rt_buf_deinit(&json);
	rt_tui_draw(&d->tui);
	assert_int_equal(rt_tui_tend(&d->tui), RT_OK);
	rt_tui_draw(&d->tui);
	rt_terminal_show(terminal, &d->tui.canvas);
	memcpy(shared->cells, d->tui.canvas.cells, sizeof(shared->cells));
	for (i = 0; i + 3 < COLUMNS * ROWS; i++)
		if (shared->cells[i].ch == '<' && shared->cells[i + 1].ch == 'U' &&
		    shared->cells[i + 2].ch == '+') {
			shared->shown_names++;
			break;
		}
	assert_int_equal(write(to_judge, &byte, 1), 1);
	assert_int_equal(read(from_judge, &byte, 1), 1);
}

/* Shows the screen and closes it. */
static void
show_and_close(desk *d, rt_terminal *terminal)
{
	show(d, terminal);
	while (d->tui.pane_count > 1) {
		rt_tui_close(&d->tui, d->tui.panes[1]);
		assert_int_equal(rt_tui_tend(&d->tui), RT_OK);
	}
}

static rt_status
ignore(rt_tui *tui, void *ctx, rt_str answer)
{
	(void)tui;
	(void)ctx;
	(void)answer;
	return RT_OK;
}

static void
show_reader(desk *d, rt_terminal *terminal, rt_buf *text)
{
	rt_lines_options options = {.columns = COLUMNS - 4, .utf8 = true};
	rt_lines lines;

	rt_lines_init(&lines, rt_alloc_libc());
	rt_lines_add_markdown(&lines, hostile(text, "reader, markdown", 50), &options);
	rt_lines_add_plain(&lines, hostile(text, "reader, plain", 50), &options);
	rt_lines_add_code(&lines, hostile(text, "reader, code", 50), RT_STR("c"), &options);
	rt_lines_add_difference(&lines, rt_buf_str(text), hostile(text, "reader, difference", 50),
				&options);
	assert_int_equal(lines.status, RT_OK);
	hostile(text, "reader, title", 150);
	assert_int_equal(rt_pane_reader(&d->tui, text->ptr, &lines), RT_OK);
	show(d, terminal);
	desk_press(d, "end");
	show_and_close(d, terminal);
}

static void
show_questions(desk *d, rt_terminal *terminal, rt_buf *text, rt_buf *json)
{
	rt_choice choice = {"y", "yes", NULL};
	rt_json_doc *names = NULL;
	rt_buf more;
	int i;

	rt_buf_init(&more, rt_alloc_libc(), RT_BUF_UNLIMITED);
	hostile(text, "question", 150);
	hostile(&more, "answer to change", 150);
	assert_int_equal(rt_pane_ask(&d->tui, text->ptr, rt_buf_str(&more), random_next(&seed) % 2, ignore,
				     NULL, NULL),
			 RT_OK);
	show_and_close(d, terminal);
	hostile(&more, "choice", 150);
	choice.what = more.ptr;
	assert_int_equal(rt_pane_choose(&d->tui, text->ptr, &choice, 1, ignore, NULL, NULL), RT_OK);
	show_and_close(d, terminal);
	rt_buf_clear(json);
	for (i = 0; i < 10; i++) {
		rt_buf_add_byte(json, i == 0 ? '[' : ',');
		rt_json_add_string(json, hostile(&more, "list", 15));
	}
	rt_buf_add_byte(json, ']');
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(json), &names, NULL), RT_OK);
	assert_int_equal(rt_pane_pick(&d->tui, text->ptr, rt_json_root(names), true, ignore, NULL, NULL),
			 RT_OK);
	show_and_close(d, terminal);
	rt_json_free(names);
	rt_buf_deinit(&more);
}

static void
show_words(desk *d, rt_terminal *terminal, rt_buf *text)
{
	static const char *const commands[] = {"show", "tree", "takes", "history", "search .", "status",
					       "roles", "settings"};

	assert_int_equal(rt_tui_fill_input(&d->tui, hostile(text, "input", 150)), RT_OK);
	show(d, terminal);
	assert_int_equal(rt_tui_fill_input(&d->tui, RT_STR("")), RT_OK);
	assert_int_equal(rt_pane_palette(&d->tui, hostile(text, "palette", 150)), RT_OK);
	show_and_close(d, terminal);
	assert_int_equal(rt_pane_palette_run(&d->tui, rt_str_of(commands[random_next(&seed) % 8])), RT_OK);
	show_and_close(d, terminal);
}

static void
show_round(rt_terminal *terminal, rt_buf *text, rt_buf *json)
{
	desk d;
	int i;

	desk_open(&d, COLUMNS, ROWS);
	rt_buf_init(&discussion_name, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&take_name, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&discussion_name, "main");
	rt_buf_add_c(&take_name, "main");
	for (i = 0; i < ENTRIES; i++)
		add_entry(&d, text, json);
	show(&d, terminal);
	desk_press(&d, "alt+up");
	show(&d, terminal);
	assert_int_equal(rt_pane_tree(&d.tui), RT_OK);
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	show_and_close(&d, terminal);
	assert_int_equal(rt_pane_history(&d.tui), RT_OK);
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	show_and_close(&d, terminal);
	assert_int_equal(rt_pane_discussions(&d.tui, RT_STR("")), RT_OK);
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	show_and_close(&d, terminal);
	assert_int_equal(rt_pane_discussions(&d.tui, RT_STR("words")), RT_OK);
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	show_and_close(&d, terminal);
	count_field("snippet", 150);
	show_reader(&d, terminal, text);
	show_questions(&d, terminal, text, json);
	show_words(&d, terminal, text);
	desk_close(&d);
	rt_buf_deinit(&discussion_name);
	rt_buf_deinit(&take_name);
}

static int
show_all(void)
{
	rt_terminal_options options = {.alloc = rt_alloc_libc()};
	rt_buf text, json;
	rt_terminal *terminal = NULL;
	rt_error err;
	int round;

	if (rt_terminal_open(&options, &terminal, &err) != RT_OK || !rt_terminal_is_utf8(terminal))
		return 1;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (round = 0; round < ROUNDS / (int)test_sample(); round++)
		show_round(terminal, &text, &json);
	rt_terminal_close(terminal);
	rt_buf_deinit(&text);
	rt_buf_deinit(&json);
	return 0;
}

/* The next frame; false: the child has ended. */
static bool
next_frame(VTerm *vterm, int tty, int done)
{
	struct pollfd files[2] = {{tty, POLLIN, 0}, {done, POLLIN, 0}};
	char byte;

	for (;;) {
		assert_true(poll(files, 2, 120000) > 0);
		if (files[0].revents != 0)
			take(tty);
		if (files[1].revents == 0)
			continue;
		take(tty);
		judge_read(vterm);
		return read(done, &byte, 1) == 1;
	}
}

static void
test_no_screen_drives_the_terminal(void **state)
{
	unsigned long wanted;
	struct winsize size = {ROWS, COLUMNS, 0, 0};
	VTerm *vterm = judge_new(COLUMNS, ROWS);
	int go[2], done[2], said, tty, frame, status = -1, i;
	char words[2000];
	ssize_t got;
	FILE *errors = tmpfile();
	pid_t child;

	(void)state;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared != MAP_FAILED && errors != NULL);
	said = fileno(errors);
	assert_true(pipe(go) == 0 && pipe(done) == 0);
	child = forkpty(&tty, NULL, NULL, &size);
	assert_true(child >= 0);
	if (child == 0) {
		setenv("TERM", "xterm-256color", 1);
		setenv("LC_ALL", "C.UTF-8", 1);
		unsetenv("NO_COLOR");
		close(go[1]);
		close(done[0]);
		dup2(said, STDERR_FILENO);
		from_judge = go[0];
		to_judge = done[1];
		_exit(show_all());
	}
	close(go[0]);
	close(done[1]);
	assert_int_equal(fcntl(tty, F_SETFL, O_NONBLOCK), 0);
	for (frame = 0; next_frame(vterm, tty, done[0]); frame++) {
		judge_canvas(vterm, shared->cells, COLUMNS, ROWS, frame);
		assert_int_equal(write(go[1], "f", 1), 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (status != 0) {
		got = pread(said, words, sizeof(words) - 1, 0);
		words[got > 0 ? got : 0] = 0;
		fail_msg("after frame %d: status %d: %s", frame, status, words);
	}
	assert_null(crime);
	assert_true(frame >= ROUNDS / (int)test_sample() * 14);
	/* The texts were visible. */
	assert_true(shared->shown_names > (unsigned long)frame / 2);
	wanted = (unsigned long)(WANTED / (int)test_sample());
	for (i = 0; i < FIELDS_MAX && shared->fields[i].name[0] != 0; i++) {
		if (shared->fields[i].count < (shared->fields[i].name[0] == 'r' &&
						       strstr(shared->fields[i].name, "reader, ") != NULL
					       ? wanted / 3
					       : wanted))
			fail_msg("%s: %lu texts", shared->fields[i].name, shared->fields[i].count);
	}
	assert_true(i >= 20);
	close(tty);
	close(go[1]);
	close(done[0]);
	fclose(errors);
	vterm_free(vterm);
	munmap(shared, sizeof(*shared));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_screen_drives_the_terminal)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
