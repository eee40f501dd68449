/* SPDX-License-Identifier: MIT
 *
 * The output of commands cannot control the terminal: every command that shows something reads a
 * project with hostile texts in every field, each on a separate pseudo-terminal with libvterm as
 * the judge. There must be no reply, no bell, no title, no mode, no OSC or DCS string, no escape
 * sequence except colours, and the cursor may only advance along columns and lines. RETAKE names
 * the program. */
#define _GNU_SOURCE
#include <ftw.h>
#include <pty.h>
#include <sys/wait.h>

#include "judge.h"

#include "codec/json.h"
#include "log/folder_testing.h"

enum { COLUMNS = 100, ROWS = 40, ENTRIES = 60, WORDS_MAX = 8, PATH = 200 };

static char folder[PATH], db[PATH + 16];
static uint64_t seed = 20261123;

static const char *
program(void)
{
	const char *named = getenv("RETAKE");

	return named == NULL ? "build/retake" : named;
}

/* ---- the project ---- */

static void
add_text(rt_buf *json, const char *key, int texts)
{
	rt_buf raw, text;
	size_t i;

	rt_buf_init(&raw, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	while (texts-- > 0)
		add_hostile(&raw, &seed);
	/* A setting's name must not contain NUL. */
	for (i = 0; i < raw.size && strcmp(key, "key") == 0; i++)
		raw.ptr[i] = raw.ptr[i] == 0 ? '.' : raw.ptr[i];
	rt_utf8_repair(&text, rt_buf_str(&raw));
	rt_json_add_string(json, rt_buf_str(&text));
	rt_buf_deinit(&raw);
	rt_buf_deinit(&text);
}

static void
add_field(rt_buf *json, const char *key, int texts)
{
	rt_buf_add_f(json, ",\"%s\":", key);
	add_text(json, key, texts);
}

static void
add_operation(rt_buf *json, const char *op, const char *more)
{
	rt_buf_add_f(json, "{\"op\":\"%s\"%s", op, more);
}

static void
end_operation(rt_buf *json)
{
	rt_buf_add_c(json, "}\n");
}

static void
add_project(rt_buf *json)
{
	static const struct {
		const char *op, *more, *field, *other;
	} once[] = {
		{"prompt.update", "", "text", NULL},
		{"setting.set", ",\"key\":\"model\"", "value", NULL},
		{"setting.set", "", "key", "value"},
		{"role.add", "", "role", NULL},
		{"track.set", "", "track", NULL},
		{"preset.save", "", "name", NULL},
		{"discussion.rename", ",\"discussion\":\"main\"", "name", NULL},
		{"take.rename", ",\"take\":\"main\"", "name", NULL},
	};
	size_t i;

	add_operation(json, "discussion.new", ",\"name\":\"discussion-2\"");
	end_operation(json);
	add_operation(json, "setting.set", ",\"key\":\"title\"");
	add_field(json, "value", 5);
	end_operation(json);
	add_operation(json, "setting.set", ",\"key\":\"tags\",\"value\":[");
	add_text(json, "value", 5);
	rt_buf_add_byte(json, ']');
	end_operation(json);
	add_operation(json, "discussion.switch", ",\"discussion\":\"main\"");
	end_operation(json);
	for (i = 0; i < ENTRIES; i++) {
		add_operation(json, "entry.append", "");
		add_field(json, "role", 3);
		add_field(json, "content", 30);
		end_operation(json);
		if (i % 3 == 0) {
			add_operation(json, "label.set", ",\"entry\":\"@\"");
			add_field(json, "label", 3);
			end_operation(json);
		}
		if (i % 4 == 0) {
			add_operation(json, "entry.edit", ",\"entry\":\"@\"");
			add_field(json, "content", 30);
			end_operation(json);
		}
		if (i % 7 == 3) {
			add_operation(json, "take.branch", ",\"at\":\"@\"");
			add_field(json, "name", 3);
			end_operation(json);
		}
	}
	for (i = 0; i < sizeof(once) / sizeof(once[0]); i++) {
		add_operation(json, once[i].op, once[i].more);
		add_field(json, once[i].field, 5);
		if (once[i].other != NULL)
			add_field(json, once[i].other, 5);
		end_operation(json);
	}
}

/* An empty configuration, and the tests' store. */
static void
set_surroundings(void)
{
	static const char *const folders[] = {"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
					      "TMPDIR"};
	size_t i;

	for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		setenv(folders[i], folder, 1);
	setenv("TERM", "xterm-256color", 1);
	setenv("PAGER", "cat", 1);
	setenv("RETAKE_DB", db, 1);
	unsetenv("NO_COLOR");
	unsetenv("RETAKE_PROJECT");
	unsetenv("RETAKE_MODEL");
}

static void
make_project(void)
{
	FILE *lines = tmpfile(), *results = tmpfile();
	char *argv[] = {(char *)(uintptr_t)program(), (char *)(uintptr_t)"apply", NULL};
	char line[300];
	int status = -1;
	rt_buf json;
	pid_t child;

	rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
	add_project(&json);
	assert_true(lines != NULL && results != NULL);
	assert_int_equal(fwrite(json.ptr, 1, json.size, lines), json.size);
	rewind(lines);
	rt_buf_deinit(&json);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		dup2(fileno(lines), STDIN_FILENO);
		dup2(fileno(results), STDOUT_FILENO);
		execv(argv[0], argv);
		_exit(127);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	rewind(results);
	while (fgets(line, sizeof(line), results) != NULL)
		if (strncmp(line, "{\"error\"", 8) == 0)
			fail_msg("%s", line);
	assert_int_equal(status, 0);
	fclose(lines);
	fclose(results);
}

/* ---- commands ---- */

/* The only control characters are line ends, tabs, and those of colour sequences and links. utf8:
 * bytes beyond ASCII are allowed. */
static void
assert_harmless(const char *command, bool utf8)
{
	size_t i, end;

	for (i = 0; i < came_size; i++) {
		unsigned char c = (unsigned char)came[i];

		if (c == 033 && i + 1 < came_size && came[i + 1] == '[') {
			for (end = i + 2; end < came_size && (came[end] == ';' ||
							      (came[end] >= '0' && came[end] <= '9'));)
				end++;
			if (end < came_size && came[end] == 'm') {
				i = end;
				continue;
			}
		}
		if (c == 033 && i + 1 < came_size && came[i + 1] == ']') {
			for (end = i + 2; end < came_size && came[end] >= ' ';)
				end++;
			if (end + 1 < came_size && came[end] == 033 && came[end + 1] == '\\' &&
			    judge_link(came + i + 2, end - i - 2)) {
				i = end + 1;
				continue;
			}
		}
		if (c == '\n' && is_linked)
			fail_msg("retake %s: a link without an end at %zu", command, i);
		if ((c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7F || (c >= 0x80 && !utf8))
			fail_msg("retake %s: byte %02X at %zu: %.60s", command, c, i,
				 came + (i > 20 ? i - 20 : 0));
		if (c == '\r' && (i + 1 == came_size || came[i + 1] != '\n'))
			fail_msg("retake %s: a return at %zu", command, i);
	}
}

static int
run(const char *command, const char *locale)
{
	struct winsize size = {ROWS, COLUMNS, 0, 0};
	char *argv[WORDS_MAX + 2], words[200];
	struct pollfd file;
	int tty, status = -1, count = 1;
	pid_t child;

	snprintf(words, sizeof(words), "%s", command);
	argv[0] = (char *)(uintptr_t)program();
	for (char *word = words, *end; *word != 0 && count < WORDS_MAX; word = end) {
		end = word + strcspn(word, " ");
		argv[count++] = word;
		if (*end != 0)
			*end++ = 0;
	}
	argv[count] = NULL;
	came_size = 0;
	child = forkpty(&tty, NULL, NULL, &size);
	assert_true(child >= 0);
	if (child == 0) {
		set_surroundings();
		setenv("LC_ALL", locale, 1);
		execv(argv[0], argv);
		_exit(127);
	}
	file = (struct pollfd){tty, POLLIN, 0};
	do {
		ssize_t got;

		assert_true(poll(&file, 1, 120000) > 0);
		assert_true(came_size < sizeof(came));
		got = read(tty, came + came_size, sizeof(came) - came_size);
		if (got <= 0)
			break;
		came_size += (size_t)got;
	} while (true);
	assert_int_equal(waitpid(child, &status, 0), child);
	close(tty);
	return status;
}

static const char *const commands[] = {
	"show", "show :1", "show :1 --raw", "show :2 --raw", "show --json", "show --jsonl", "show --take-file",
	"show --all", "tree", "tree --json", "tree --all", "status", "status --json", "ls", "ls --json",
	"stats", "stats --by model", "stats --by discussion", "stats --by project",
	"takes", "takes --json", "takes tree", "search plain", "search words --json", "history",
	"history --json", "history show 1", "history show 40", "diff", "revisions :1", "revisions :1 --json",
	"context", "context --json", "label", "label --json", "roles", "settings", "settings --json", "prompt",
	"prompt --raw", "prompt --json", "track", "tracks", "tag", "preset", "models",
	"comms", "hooks", "doctor", "files", "symbols",
	"export --format canonical", "export --format markdown", "export --format html",
	"export --format pi", "backup /nonexistent/\033[2J", "show \033[2J", "\033]0;t\a", "show --\033[31m",
	"use \033[5n", "search \033[2J", "label set \033c \033c",
};

static void
test_no_command_drives_the_terminal(void **state)
{
	unsigned long long all = 0;
	size_t i, done = 0;
	VTerm *vterm;

	(void)state;
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		int status = run(commands[i], "C.UTF-8");

		assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 127);
		done += WEXITSTATUS(status) == 0;
		assert_true(came_size > 0);
		assert_int_equal(rt_utf8_valid_size(rt_str_at(came, came_size)), came_size);
		assert_harmless(commands[i], true);
		all += came_size;
		vterm = judge_new(COLUMNS, ROWS);
		judge_read(vterm);
		if (crime != NULL)
			fail_msg("retake %s: %s", commands[i], crime);
		if (vterm_output_get_buffer_current(vterm) != 0)
			fail_msg("retake %s: a reply", commands[i]);
		vterm_free(vterm);
	}
	/* Most of these are valid commands that show something. */
	assert_true(done > sizeof(commands) / sizeof(commands[0]) * 2 / 3);
	assert_true(all > 500000);
}

/* In another encoding, the bytes of a character may be control characters. */
static void
test_nor_where_there_is_no_utf8(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		(void)run(commands[i], "C");
		assert_harmless(commands[i], false);
	}
}

static int
remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
	(void)info;
	(void)kind;
	(void)at;
	return remove(path);
}

static int
setup(void **state)
{
	(void)state;
	if (!test_folder(folder, sizeof(folder), "retake-hostile"))
		return -1;
	snprintf(db, sizeof(db), "%s/test.db", folder);
	set_surroundings();
	make_project();
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_command_drives_the_terminal),
		cmocka_unit_test(test_nor_where_there_is_no_utf8),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
