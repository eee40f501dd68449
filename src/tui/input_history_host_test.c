/* SPDX-License-Identifier: MIT
 *
 * Sent texts are available the next time, bounded and private; a purge removes a text from all
 * copies of sent and written texts, also in a running program. */
#define _GNU_SOURCE

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/host.h"
#include "log/folder_testing.h"
#include "tui/draft_host.h"
#include "app/input_history_host.h"
#include "tui/tui_testing.h"

typedef struct fixture {
	char folder[80];
	rt_input_history_key whose;
	rt_buf seen; /* "one|two|" */
	size_t count;
} fixture;

static int
set_up(void **state)
{
	fixture *f = test_calloc(1, sizeof(*f));

	assert_true(test_folder(f->folder, sizeof(f->folder), "sent_test"));
	f->whose = (rt_input_history_key){rt_str_of(f->folder), RT_STR("/a/store.db"),
					  RT_STR("default")};
	rt_buf_init(&f->seen, rt_alloc_libc(), RT_BUF_UNLIMITED);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	fixture *f = *state;
	char command[120];

	snprintf(command, sizeof(command), "rm -rf '%s'", f->folder);
	assert_int_equal(system(command), 0);
	rt_buf_deinit(&f->seen);
	test_free(f);
	return 0;
}

static void
see(void *ctx, rt_str text)
{
	fixture *f = ctx;

	rt_buf_add_str(&f->seen, text);
	rt_buf_add_byte(&f->seen, '|');
	f->count++;
}

static const char *
all(fixture *f)
{
	rt_buf_clear(&f->seen);
	rt_buf_add_c(&f->seen, "");
	f->count = 0;
	rt_input_history_each(rt_alloc_libc(), &f->whose, see, f);
	rt_buf_add_byte(&f->seen, '\0');
	assert_int_equal(f->seen.status, RT_OK);
	return f->seen.ptr;
}

static void
add(fixture *f, const char *text)
{
	rt_input_history_add(rt_alloc_libc(), &f->whose, rt_str_of(text));
}

static void
path_to(const fixture *f, char *path, size_t size)
{
	snprintf(path, size, "%s/sent-%016llx.jsonl", f->folder,
		 (unsigned long long)rt_input_history_hash(f->whose.store, f->whose.project, 0));
}

/* Does any file of the folder contain what? */
static bool
is_on_disk(const char *folder, const char *what)
{
	char command[200];

	snprintf(command, sizeof(command), "grep -rqaF -- '%s' '%s'", what, folder);
	return system(command) == 0;
}

static void
is_there_the_next_time(void **state)
{
	fixture *f = *state, other = *f;
	char path[160];
	struct stat is;

	assert_string_equal(all(f), "");
	add(f, "one");
	add(f, "two\nlines \"quoted\" \xC3\xA4");
	add(f, "two\nlines \"quoted\" \xC3\xA4"); /* not twice in a row */
	add(f, "one");
	add(f, "");
	assert_string_equal(all(f), "one|two\nlines \"quoted\" \xC3\xA4|one|");
	path_to(f, path, sizeof(path));
	assert_int_equal(stat(path, &is), 0);
	assert_int_equal(is.st_mode & 0777, 0600);
	/* another project, another store, nowhere */
	other.whose.project = RT_STR("work");
	assert_string_equal(all(&other), "");
	other.whose = (rt_input_history_key){f->whose.folder, RT_STR("/b/store.db"),
					     f->whose.project};
	assert_string_equal(all(&other), "");
	other.whose = (rt_input_history_key){RT_STR(""), f->whose.store, f->whose.project};
	add(&other, "lost");
	assert_string_equal(all(&other), "");
	rt_buf_deinit(&other.seen);
}

static void
keeps_the_newest(void **state)
{
	fixture *f = *state;
	char *big = test_calloc(1, RT_INPUT_HISTORY_TEXT_MAX + 2), number[20], path[160];
	struct stat is;
	size_t i;

	for (i = 0; i < RT_INPUT_HISTORY_MAX + 7; i++) {
		snprintf(number, sizeof(number), "No. %zu", i);
		add(f, number);
	}
	assert_non_null(strstr(all(f), "|No. 506|"));
	assert_int_equal(f->count, RT_INPUT_HISTORY_MAX);
	assert_int_equal(strncmp(f->seen.ptr, "No. 7|", 6), 0);
	memset(big, 'a', RT_INPUT_HISTORY_TEXT_MAX + 1);
	add(f, big); /* too long */
	assert_int_equal((all(f), f->count), RT_INPUT_HISTORY_MAX);
	big[RT_INPUT_HISTORY_TEXT_MAX] = '\0';
	for (i = 0; i < 6; i++) {
		big[0] = (char)('a' + i);
		add(f, big);
	}
	path_to(f, path, sizeof(path));
	assert_int_equal(stat(path, &is), 0);
	assert_true(is.st_size <= RT_INPUT_HISTORY_BYTES);
	assert_int_equal((all(f), f->count), 3);
	assert_int_equal(f->seen.ptr[0], 'd');
	memset(big, 1,
	       RT_INPUT_HISTORY_TEXT_MAX); /* its line would be longer than the file may be */
	add(f, big);
	assert_int_equal((all(f), f->count), 3);
	test_free(big);
}

static void
passes_over_what_is_damaged(void **state)
{
	fixture *f = *state;
	char path[160];
	FILE *file;

	add(f, "one");
	path_to(f, path, sizeof(path));
	file = fopen(path, "a");
	assert_non_null(file);
	fputs("rubbish\n7\n\"\"\n\"cut sho", file);
	fclose(file);
	assert_string_equal(all(f), "one|");
	add(f, "two");
	assert_string_equal(all(f), "one|two|");
}

/* Several programs at once: nothing is lost. */
static void
many_write_at_once(void **state)
{
	enum { PROGRAMS = 4, TEXTS = 50 };
	fixture *f = *state;
	int i, k, status;

	for (i = 0; i < PROGRAMS; i++)
		if (fork() == 0) {
			char text[40];

			for (k = 0; k < TEXTS; k++) {
				snprintf(text, sizeof(text), "text %d of program %d", k, i);
				add(f, text);
			}
			_exit(0);
		}
	for (i = 0; i < PROGRAMS; i++)
		assert_true(wait(&status) > 0 && status == 0);
	(void)all(f);
	assert_int_equal(f->count, PROGRAMS * TEXTS);
}

static void
a_purge_takes_it_out(void **state)
{
	fixture *f = *state;
	size_t count = 0;

	add(f, "harmless");
	add(f, "the key is sk-\"1234\", mind you");
	add(f, "more");
	assert_int_equal(rt_input_history_purge(rt_alloc_libc(), &f->whose, RT_STR("sk-\"1234\""),
						&count, NULL),
			 RT_OK);
	assert_int_equal(count, 1);
	assert_string_equal(all(f), "harmless|more|");
	assert_false(is_on_disk(f->folder, "1234"));
	assert_int_equal(
		rt_input_history_purge(rt_alloc_libc(), &f->whose, RT_STR("nowhere"), &count, NULL),
		RT_OK);
	assert_int_equal(count, 0);
}

/* A program that has died while it wrote a draft has left it under another name. */
static void
a_purge_reaches_what_was_left_over(void **state)
{
	fixture *f = *state;
	uint64_t hash = rt_input_history_hash(f->whose.store, f->whose.project, 3);
	static const char *const names[] = {"", ".1234", ".99", ".1234.0badcafe.tmp", ".0badcafe.tmp"};
	enum { NAMES = sizeof(names) / sizeof(names[0]) };
	size_t i, count = 0;
	char path[160];
	FILE *file;

	/* the contents of other files do not prevent it */
	path_to(f, path, sizeof(path));
	assert_int_equal(symlink("/dev/null", path), 0);
	for (i = 0; i < NAMES; i++) {
		snprintf(path, sizeof(path), "%s/draft-%016llx.md%s", f->folder,
			 (unsigned long long)hash, names[i]);
		file = fopen(path, "w");
		assert_non_null(file);
		fputs("it is sk-1234", file);
		fclose(file);
	}
	assert_int_equal(
		rt_input_history_purge(rt_alloc_libc(), &f->whose, RT_STR("sk-1234"), &count, NULL),
		RT_IO);
	assert_int_equal(count, NAMES);
	assert_false(is_on_disk(f->folder, "1234"));
}

/* However many other files the folder contains. */
static void
a_purge_reaches_all_drafts(void **state)
{
	enum { OTHERS = 5000, OURS = 20 };
	fixture *f = *state;
	size_t i, count = 0;
	char path[160];
	FILE *file;

	add(f, "harmless");
	for (i = 0; i < OTHERS + OURS; i++) {
		snprintf(path, sizeof(path), "%s/draft-%016llx.md", f->folder,
			 (unsigned long long)(i < OTHERS ? i : rt_input_history_hash(f->whose.store,
									    f->whose.project,
									    (uint32_t)(i - OTHERS) + 1)));
		file = fopen(path, "w");
		assert_non_null(file);
		fputs(i < OTHERS ? "harmless" : "it is sk-1234", file);
		fclose(file);
	}
	assert_int_equal(
		rt_input_history_purge(rt_alloc_libc(), &f->whose, RT_STR("sk-1234"), &count, NULL),
		RT_OK);
	assert_int_equal(count, OURS);
	assert_false(is_on_disk(f->folder, "1234"));
}

/* A purge that cannot read the files reports that, with the reason. */
static void
what_cannot_be_purged_is_told(void **state)
{
	fixture *f = *state;
	rt_error err = {0};
	char path[160];
	size_t count;

	path_to(f, path, sizeof(path));
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(
		rt_input_history_purge(rt_alloc_libc(), &f->whose, RT_STR("sk-1234"), &count, &err),
		RT_IO);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(
		rt_input_history_purge(rt_alloc_libc(), &f->whose, RT_STR("sk-1234"), &count, &err),
		RT_IO);
	assert_non_null(strstr(err.text, "belongs to another user"));
	assert_int_equal(unlink(path), 0);

	add(f, "harmless");
	if (geteuid() == 0) /* may read everything */
		return;
	assert_int_equal(chmod(f->folder, 0300), 0);
	assert_int_equal(
		rt_input_history_purge(rt_alloc_libc(), &f->whose, RT_STR("sk-1234"), &count, &err),
		RT_IO);
	assert_int_equal(chmod(f->folder, 0700), 0);
}

/* ---- no memory ---- */

/* Memory for this many more allocations. */
static void *
scarce(void *ctx, void *ptr, size_t size)
{
	size_t *left = ctx;

	if (*left == 0)
		return NULL;
	--*left;
	return realloc(ptr, size);
}

static void
release(void *ctx, void *ptr)
{
	(void)ctx;
	free(ptr);
}

/* If any allocation fails: files without the text stay, and those with it are removed, or a failure
 * is reported. */
static void
a_purge_without_memory_takes_nothing_else(void **state)
{
	fixture *f = *state;
	size_t turns, left, count;
	const rt_alloc alloc = {scarce, release, &left};
	rt_status st = RT_NOMEM;

	add(f, "harmless");
	for (turns = 0; st != RT_OK; turns++) {
		left = turns;
		add(f, "it is sk-1234");
		st = rt_input_history_purge(&alloc, &f->whose, RT_STR("sk-1234"), &count, NULL);
		assert_true(st == RT_OK || st == RT_NOMEM);
		assert_string_equal(all(f), st == RT_OK ? "harmless|" : "harmless|it is sk-1234|");
	}
	assert_true(turns > 3);
}

/* ---- in the terminal UI ---- */

/* A desk with its own store, and a state folder. */
static void
open_desk(desk *d, fixture *f)
{
	char path[120];

	snprintf(path, sizeof(path), "%s/talk.db", f->folder);
	desk_open_at(d, path, 60, 14);
	setenv("XDG_STATE_HOME", f->folder, 1);
	rt_buf_clear(&d->tui.work.state);
	assert_int_equal(rt_host_state_dir(&d->tui.work.state, NULL), RT_OK);
}

static void
up_brings_back_what_another_run_sent(void **state)
{
	fixture *f = *state;
	desk d;

	open_desk(&d, f);
	desk_type(&d, "first question");
	desk_press(&d, "escape");
	desk_type(&d, "second one");
	desk_press(&d, "escape");
	desk_close(&d);
	open_desk(&d, f);
	desk_press(&d, "up");
	assert_shows(&d, "second one");
	desk_press(&d, "up");
	assert_shows(&d, "first question");
	assert_false(desk_shows(&d, "second one"));
	desk_close(&d);
}

/* Another program purges it. */
static void
purge_elsewhere(fixture *f, const char *text)
{
	rt_request r = {.op = RT_OP_PURGE, .text = rt_str_of(text)};
	rt_error err = {0};
	desk other;

	open_desk(&other, f);
	if (work_apply(&other.tui.work, &r, 1, NULL, &err) != RT_OK)
		fail_msg("%s", err.text);
	desk_close(&other);
}

static void
a_purge_reaches_what_runs(void **state)
{
	fixture *f = *state;
	rt_buf text;
	desk d;

	open_desk(&d, f);
	desk_add(&d, "User", "the secret word is swordfish-9");
	desk_add(&d, "AI", "swordfish-9, I see");
	desk_type(&d, "swordfish-9 it was");
	desk_press(&d, "escape");
	desk_type(&d, "harmless");
	desk_press(&d, "escape");
	desk_type(&d, "again: swordfish-9!");
	rt_pane_chat_keep(&d.tui, false);
	desk_press(&d, "f2");
	desk_press(&d, "/");
	desk_type(&d, "swordfish");
	assert_shows(&d, "(2/2)");
	assert_true(is_on_disk(f->folder, "swordfish-9 it"));
	purge_elsewhere(f, "swordfish-9");
	assert_false(is_on_disk(f->folder, "swordfish-9"));
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	assert_false(desk_shows(&d, "swordfish-9"));
	desk_press(&d, "enter escape escape");
	assert_false(desk_shows(&d, "swordfish-9"));
	assert_shows(&d, "again: xxxxxxxxxxx!");
	desk_press(&d, "ctrl+z"); /* there is nothing to undo */
	assert_false(desk_shows(&d, "swordfish"));
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_true(rt_draft_read(&d.tui.work, d.tui.work.place.disc, &text));
	assert_true(rt_str_is(rt_buf_str(&text), "again: xxxxxxxxxxx!"));
	rt_buf_deinit(&text);
	desk_press(&d, "up");
	assert_shows(&d, "harmless");
	desk_press(&d, "up");
	assert_shows(&d, "harmless");
	desk_close(&d);
}

/* Text typed since the draft was stored stays, without the purged text. */
static void
a_purge_reaches_what_was_typed_since(void **state)
{
	fixture *f = *state;
	desk d;

	open_desk(&d, f);
	desk_add(&d, "User", "the secret word is swordfish-9");
	desk_type(&d, "mine: xswordfish-9");
	rt_pane_chat_keep(&d.tui, false);
	desk_type(&d, ", and swordfish-9 once more");
	purge_elsewhere(f, "swordfish-9");
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	assert_shows(&d, "\n > mine: xxxxxxxxxxxx, and xxxxxxxxxxx once more\n");
	rt_pane_chat_keep(&d.tui, false);
	assert_false(is_on_disk(f->folder, "swordfish-9"));
	desk_close(&d);
}

/* A field that a purge overwrites does not contain the words: text that continues it is masked,
 * too. */
static void
a_purge_reaches_the_field(void **state)
{
	fixture *f = *state;
	desk d;

	open_desk(&d, f);
	desk_add(&d, "User", "the secret word is swordfish-9");
	desk_type(&d, "mine: swordfish-9");
	rt_pane_chat_keep(&d.tui, true);
	desk_type(&d, ", and swordfish-9 once more");
	assert_true(is_on_disk(f->folder, "mine: swordfish-9"));
	purge_elsewhere(f, "swordfish-9");
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	assert_shows(&d, "\n > XXXXXXXXXXXXXXXXX\n");
	desk_press(&d, "ctrl+z");
	assert_false(desk_shows(&d, "swordfish"));
	desk_press(&d, "up");
	assert_false(desk_shows(&d, "swordfish"));
	rt_pane_chat_keep(&d.tui, true);
	desk_close(&d);
	assert_false(is_on_disk(f->folder, "swordfish-9"));
}

/* Text that is being written into a question stays there, and only there. */
static void
a_purge_reaches_a_question(void **state)
{
	fixture *f = *state;
	desk d;

	open_desk(&d, f);
	desk_add(&d, "User", "the secret word is swordfish-9");
	desk_type(&d, "harmless");
	desk_press(&d, "alt+e");
	desk_type(&d, "!");
	rt_pane_chat_keep(&d.tui, true);
	purge_elsewhere(f, "swordfish-9");
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	assert_shows(&d, "the secret word is xxxxxxxxxxx!\n");
	assert_shows(&d, "\n > harmless\n");
	desk_press(&d, "ctrl+z ctrl+z");
	assert_false(desk_shows(&d, "swordfish-9"));
	desk_close(&d);
}

/* The draft of another program with the same discussion is not touched. */
static void
a_purge_brings_no_draft_of_others(void **state)
{
	fixture *f = *state;
	desk d;

	open_desk(&d, f);
	desk_add(&d, "User", "the secret word is swordfish-9");
	desk_type(&d, "mine");
	rt_pane_chat_keep(&d.tui, false);
	rt_draft_keep(&d.tui.work, d.tui.work.place.disc, RT_STR("theirs, swordfish-9"));
	purge_elsewhere(f, "swordfish-9");
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	assert_shows(&d, "\n > mine\n");
	desk_close(&d);
}

/* The store is purged before the files are, and may be read between the two. */
static void
a_purge_reaches_files_later(void **state)
{
	fixture *f = *state;
	rt_input_history_key whose;
	size_t count = 0;
	desk d;

	open_desk(&d, f);
	whose = (rt_input_history_key){rt_buf_str(&d.tui.work.state),
				       rt_str_of(d.tui.work.store_path),
				       rt_session_project(&d.session)};
	desk_add(&d, "User", "the secret word is swordfish-9");
	desk_type(&d, "mine: swordfish-9");
	rt_pane_chat_keep(&d.tui, false);
	purge_elsewhere(f, "swordfish-9");
	rt_draft_keep(&d.tui.work, d.tui.work.place.disc, RT_STR("mine: swordfish-9"));
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	assert_shows(&d, "\n > mine: swordfish-9\n");
	assert_int_equal(rt_input_history_purge(rt_alloc_libc(), &whose, RT_STR("swordfish-9"),
						&count, NULL),
			 RT_OK);
	assert_int_equal(count, 1);
	rt_pane_chat_keep(&d.tui, false);
	assert_shows(&d, "\n > mine: xxxxxxxxxxx\n");
	desk_close(&d);
}

static void
a_purged_entry_is_not_brought_back(void **state)
{
	fixture *f = *state;
	rt_error err = {0};
	desk d;

	open_desk(&d, f);
	desk_add(&d, "User", "a text of its own, and of some length");
	desk_type(&d, "a text of its own, and of some length");
	desk_press(&d, "escape");
	desk_type(&d, "another");
	desk_press(&d, "escape");
	if (work_apply_json(&d.tui.work, "[{\"op\":\"purge\",\"entry\":\":1\"}]", NULL, &err) != RT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	assert_false(is_on_disk(f->folder, "a text of its"));
	desk_press(&d, "up up");
	assert_shows(&d, "another");
	desk_close(&d);
}

/* Another program was faster, and the user is asked what should happen to the text. */
static void
begin_conflict(fixture *f, desk *d, const char *theirs)
{
	rt_request r = {.op = RT_OP_ENTRY_EDIT,
			.entry = RT_STR(":1"),
			.content.text = rt_str_of(theirs)};
	rt_error err = {0};
	desk other;

	open_desk(d, f);
	if (rt_work_count(&d->tui.work) == 0)
		desk_add(d, "User", "one");
	open_desk(&other, f);
	desk_press(d, "alt+up alt+e");
	desk_type(d, " as I would say it");
	if (work_apply(&other.tui.work, &r, 1, NULL, &err) != RT_OK)
		fail_msg("%s", err.text);
	desk_close(&other);
	desk_press(d, "enter");
	assert_shows(d, "was changed after you opened it");
}

/* The program ends while the question is open: by a key, or since the terminal is gone. */
static void
a_text_in_question_stays(void **state)
{
	fixture *f = *state;
	desk d;

	begin_conflict(f, &d, "theirs");
	d.tui.ends = true;
	rt_pane_chat_keep(&d.tui, true);
	desk_close(&d);
	open_desk(&d, f);
	desk_press(&d, "up");
	assert_shows(&d, "one as I would say it");
	desk_press(&d, "ctrl+c");
	desk_close(&d);

	begin_conflict(f, &d, "theirs once more");
	d.tui.ends = d.tui.is_forced = true;
	rt_pane_chat_keep(&d.tui, true);
	desk_close(&d);
	assert_true(is_on_disk(f->folder, "theirs as I would say it"));
	open_desk(&d, f);
	assert_shows(&d, "theirs as I would say it");
	desk_close(&d);
}

/* A text that was decided on is not kept twice. */
static void
a_text_that_was_decided_on_is_not_kept(void **state)
{
	fixture *f = *state;
	desk d;

	begin_conflict(f, &d, "theirs");
	desk_press(&d, "s escape o");
	assert_shows(&d, "one as I would say it");
	rt_pane_chat_keep(&d.tui, true);
	desk_close(&d);
	open_desk(&d, f);
	desk_press(&d, "up");
	assert_false(desk_shows(&d, "> one as"));
	desk_close(&d);
}

#define IN_A_FOLDER(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		IN_A_FOLDER(is_there_the_next_time),
		IN_A_FOLDER(keeps_the_newest),
		IN_A_FOLDER(passes_over_what_is_damaged),
		IN_A_FOLDER(many_write_at_once),
		IN_A_FOLDER(a_purge_takes_it_out),
		IN_A_FOLDER(a_purge_reaches_what_was_left_over),
		IN_A_FOLDER(a_purge_reaches_all_drafts),
		IN_A_FOLDER(what_cannot_be_purged_is_told),
		IN_A_FOLDER(a_purge_without_memory_takes_nothing_else),
		IN_A_FOLDER(up_brings_back_what_another_run_sent),
		IN_A_FOLDER(a_purge_reaches_what_runs),
		IN_A_FOLDER(a_purge_reaches_what_was_typed_since),
		IN_A_FOLDER(a_purge_reaches_the_field),
		IN_A_FOLDER(a_purge_reaches_a_question),
		IN_A_FOLDER(a_purge_brings_no_draft_of_others),
		IN_A_FOLDER(a_purge_reaches_files_later),
		IN_A_FOLDER(a_purged_entry_is_not_brought_back),
		IN_A_FOLDER(a_text_in_question_stays),
		IN_A_FOLDER(a_text_that_was_decided_on_is_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
