/* SPDX-License-Identifier: MIT
 *
 * Lists of files in a directory made for the test: the files that are sent, and that all others are
 * problems. */
#define _GNU_SOURCE

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/failing_testing.h"
#include "files/files_impl.h"
#include "files/files_walk.h"
#include "files/ignore.h"

static char top[64], root[80];

static void
put(const char *path, const void *bytes, size_t size)
{
	char full[256];
	FILE *file;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')) != NULL; *at++ = '/') {
		*at = 0;
		(void)mkdir(full, 0700);
	}
	file = fopen(full, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void
put_text(const char *path, const char *text)
{
	put(path, text, strlen(text));
}

static void
at_root(char *full, size_t size, const char *path)
{
	snprintf(full, size, "%s/%s", root, path);
}

static void
put_link(const char *path, const char *target)
{
	char full[256];

	at_root(full, sizeof(full), path);
	assert_int_equal(symlink(target, full), 0);
}

static int
make_tree(void **state)
{
	static const char png[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char full[256];
	int fd;

	(void)state;
	snprintf(top, sizeof(top), "/tmp/retake-files-XXXXXX");
	assert_non_null(mkdtemp(top));
	snprintf(root, sizeof(root), "%s/root", top);
	assert_int_equal(mkdir(root, 0700), 0);
	put_text("../secret.txt", "secret\n");
	put_text("../root2/secret.txt", "secret\n");
	put_text("a.c", "int one(void)\n{\n\treturn 1;\n}\n\nint two(int x)\n{\n\treturn x;\n}\n");
	put_text("src/b.c", "b\n");
	put_text("src/.hidden.c", "h\n");
	put_text("src/deep/c.c", "c\n");
	put_text("src/deep/c.o", "object\n");
	put_text("src/deep/keep.o", "kept\n");
	put_text("src/build/out.c", "out\n");
	put_text(".gitignore", "*.o\n/src/build/\nthings/*\n!things/kept.txt\n");
	put_text("src/deep/.gitignore", "!keep.o\n");
	put_text(".git/config", "config\n");
	put_text("things/kept.txt", "kept\n");
	put_text("things/other.txt", "other\n");
	put_text("odd:1-2", "odd\n");
	put_text("with#hash", "hash\n");
	put_text("star*.txt", "star\n");
	put_text("lines.txt", "1\n2\n3\n4");
	put_text("empty.txt", "");
	put_text("notes/latin1.txt", "caf\xe9\n");
	put("notes/nul.bin", "a\0b", 3);
	put("shot.png", png, sizeof(png));
	put_text("fake.png", "no image");
	put_text("closed.txt", "closed\n");
	at_root(full, sizeof(full), "closed.txt");
	assert_int_equal(chmod(full, 0), 0);
	put_text("many/1", "1");
	put_text("many/2", "2");
	put_text("bad/new\nline.txt", "x");
	put_text("bytes/\xff.txt", "x");
	put_text("sparse.txt", "");
	at_root(full, sizeof(full), "sparse.txt");
	assert_int_equal(truncate(full, (off_t)10 << 30), 0);
	at_root(full, sizeof(full), "special");
	assert_int_equal(mkdir(full, 0700), 0);
	at_root(full, sizeof(full), "special/fifo");
	assert_int_equal(mkfifo(full, 0600), 0);
	at_root(full, sizeof(full), "socket");
	assert_true(strlen(full) < sizeof(address.sun_path));
	memcpy(address.sun_path, full, strlen(full) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	at_root(full, sizeof(full), "nothing");
	assert_int_equal(mkdir(full, 0700), 0);
	put_link("out-link", "../secret.txt");
	put_link("out-dir", "..");
	put_link("abs-link", "/etc/passwd");
	put_link("in-link", "src/b.c");
	put_link("in-dir", "src/deep");
	put_link("loop", "loop");
	put_text("links/1", "1");
	put_link("links/again", "..");
	put_text("linked/1", "1");
	put_link("linked/build", "../src/build");
	put_link("linked/built", "../src/build/out.c");
	put_link("linked/config", "../.git/config");
	put_link("linked/keep.o", "../src/deep/keep.o");
	put_link("linked/kept", "../src/deep/keep.o");
	put_link("linked/object", "../src/deep/c.o");
	put_link("linked/repo", "../.git");
	put_link("src/build/out", "out.c");
	put_link("many/self", ".");
	put_link("dangling", "gone.txt");
	put_link("dev-link", "/dev/zero");
	snprintf(full, sizeof(full), "%s/a.c", root);
	put_link("abs-in", full);
	return 0;
}

static int
remove_tree(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	return system(command);
}

static const rt_file_set *
read_lists(rt_scope *s, const char *context_files, const char *screenshots)
{
	rt_str *roots = rt_scope_array(s, 1, sizeof(*roots));
	rt_file_options *options = rt_scope_get(s, sizeof(*options));
	rt_file_lists lists = {.context_files = rt_str_of(context_files),
			       .screenshots = rt_str_of(screenshots)};

	if (roots == NULL || options == NULL)
		return NULL;
	roots[0] = rt_str_of(root);
	*options = (rt_file_options){.roots = roots, .root_count = 1, .path = getenv("PATH")};
	return rt_file_set_read(s, options, &lists);
}

typedef struct sent_case {
	const char *list;  /* context_files */
	const char *names; /* of the sent files, each followed by a space */
} sent_case;

static const sent_case sent_cases[] = {
	{"[\"a.c\"]", "a.c "},
	{"[\"a.c\",\"./a.c\",\"src/../a.c\",{\"path\":\"abs-in\"}]", "a.c "},
	{"[{\"path\":\"a.c\",\"auto_aggregate\":false},\"src/b.c\"]", "src/b.c "},
	{"[\"src\"]", "src/.hidden.c src/b.c src/deep/.gitignore src/deep/c.c src/deep/keep.o "},
	{"[\"src/deep/c.o\"]", "src/deep/c.o "},
	{"[\"src/build\"]", "src/build/out.c "},
	{"[\"linked\"]", "linked/1 src/deep/keep.o "},
	{"[\"linked/**\"]", "linked/1 src/deep/keep.o "},
	{"[\"linked/object\"]", "src/deep/c.o "},
	{"[\"linked/build\"]", "src/build/out.c "},
	{"[\"things\"]", "things/kept.txt "},
	{"[\"**/*.c\"]", "a.c src/.hidden.c src/b.c src/deep/c.c "},
	{"[\"src/*.c\"]", "src/.hidden.c src/b.c "},
	{"[\"s[qr]c/d??p/[!a-b].c\"]", "src/deep/c.c "},
	{"[\"many/**\"]", "many/1 many/2 "},
	{"[\"in-link\"]", "src/b.c "},
	{"[\"in-dir\"]", "src/deep/.gitignore src/deep/c.c src/deep/keep.o "},
	{"[\"odd:1-2\"]", "odd:1-2 "},
	{"[\"with#hash\"]", "with#hash "},
	{"[\"star*.txt\"]", "star*.txt "},
	{"[\"lines.txt:2-3\"]", "lines.txt:2-3 "},
	{"[\"lines.txt:4\",\"lines.txt:-2\",\"lines.txt:3-\"]",
	 "lines.txt:4 lines.txt:1-2 lines.txt:3-4 "},
	{"[\"lines.txt:2-3\",\"lines.txt\"]", "lines.txt "},
	{"[{\"path\":\"lines.txt\",\"lines\":[2,3],\"other\":1}]", "lines.txt:2-3 "},
	{"[{\"path\":\"closed.txt\",\"view_mode\":\"none\"}]", "closed.txt "},
	{"[\"empty.txt\"]", "empty.txt "},
	{"[\"shot.png\"]", "shot.png "},
	{"[]", ""},
	{"null", ""},
};

static void
test_sent(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(sent_cases) / sizeof(sent_cases[0]); i++) {
		const rt_file_set *set;
		char names[512] = "";
		size_t size = 0;
		rt_scope s;

		rt_scope_init(&s, rt_alloc_libc());
		set = read_lists(&s, sent_cases[i].list, "");
		assert_non_null(set);
		if (set->problem_count > 0)
			fail_msg("%s: %.*s", sent_cases[i].list,
				 RT_STR_ARG(set->problems[0].message));
		for (size_t k = 0; k < set->count; k++)
			size += (size_t)snprintf(names + size, sizeof(names) - size, "%.*s ",
						 RT_STR_ARG(set->files[k].name));
		assert_string_equal(names, sent_cases[i].names);
		rt_scope_deinit(&s);
	}
}

typedef struct name_case {
	const char *word, *names; /* each followed by a space */
	size_t max;
	bool is_cut;
} name_case;

static const name_case name_cases[] = {
	{"b.", "src/b.c ", 0, false},
	{"SRC/", "src/b.c src/deep/c.c src/deep/keep.o ", 0, false},
	{"keep", "src/deep/keep.o ", 0, false},
	{"PT.t", "things/kept.txt ", 0, false},
	{".hid", "src/.hidden.c ", 0, false},
	{"hid", "", 0, false},
	{"config", "", 0, false},   /* .git */
	{"out.c", "", 0, false},    /* ignored */
	{"c.o", "", 0, false},
	{"secret", "", 0, false},   /* outside */
	{"passwd", "", 0, false},
	{"../", "", 0, false},
	{"/etc", "", 0, false},
	{"line.txt", "", 0, false}, /* its name has a line break */
	{"fifo", "", 0, false},
	{"many/", "many/1 many/2 ", 0, false},
	{"many/", "many/1 ", 1, true},
};

static void
test_names(void **state)
{
	rt_str top_root = rt_str_of(root);
	rt_file_options options = {.roots = &top_root, .root_count = 1};

	(void)state;
	for (size_t i = 0; i < sizeof(name_cases) / sizeof(name_cases[0]); i++) {
		size_t max = name_cases[i].max > 0 ? name_cases[i].max : 20;
		rt_file_names names;
		rt_buf *text;
		rt_scope s;

		rt_scope_init(&s, rt_alloc_libc());
		names = rt_file_names_find(&s, &options, rt_str_of(name_cases[i].word), max);
		text = rt_scope_buf(&s);
		for (size_t k = 0; k < names.count; k++)
			rt_buf_add_f(text, "%.*s ", RT_STR_ARG(names.items[k]));
		if (!rt_str_is(rt_scope_str(&s, text), name_cases[i].names))
			fail_msg("%s: %.*s", name_cases[i].word, RT_STR_ARG(rt_scope_str(&s, text)));
		assert_int_equal(names.is_cut, name_cases[i].is_cut);
		rt_scope_deinit(&s);
	}
	/* nothing is allowed */
	options.root_count = 0;
	rt_scope s;
	rt_scope_init(&s, rt_alloc_libc());
	assert_int_equal(rt_file_names_find(&s, &options, RT_STR(""), 20).count, 0);
	rt_scope_deinit(&s);
}

typedef struct hostile_case {
	const char *list;
	rt_file_problem_kind kind; /* of the first problem */
} hostile_case;

static const hostile_case hostile_cases[] = {
	{"[\"../secret.txt\"]", RT_FILE_OUTSIDE},
	{"[\"src/../../secret.txt\"]", RT_FILE_OUTSIDE},
	{"[\"src/deep/../../../secret.txt\"]", RT_FILE_OUTSIDE},
	{"[\"/etc/passwd\"]", RT_FILE_OUTSIDE},
	{"[\"/\"]", RT_FILE_OUTSIDE},
	{"[\"..\"]", RT_FILE_OUTSIDE},
	{"[\"../root2/secret.txt\"]", RT_FILE_OUTSIDE},
	{"[\"../*\"]", RT_FILE_OUTSIDE},
	{"[\"/etc/*\"]", RT_FILE_OUTSIDE},
	{"[\"out-link\"]", RT_FILE_OUTSIDE},
	{"[\"out-dir/secret.txt\"]", RT_FILE_OUTSIDE},
	{"[\"out-dir\"]", RT_FILE_OUTSIDE},
	{"[\"out-dir/*\"]", RT_FILE_OUTSIDE},
	{"[\"abs-link\"]", RT_FILE_OUTSIDE},
	{"[\"dev-link\"]", RT_FILE_OUTSIDE},
	{"[\"out-*\"]", RT_FILE_OUTSIDE},
	{"[\"links/again/../secret.txt\"]", RT_FILE_OUTSIDE},
	{"[\"loop\"]", RT_FILE_MISSING},
	{"[\"dangling\"]", RT_FILE_MISSING},
	{"[\"gone.c\"]", RT_FILE_MISSING},
	{"[\"gone.c:1-2\"]", RT_FILE_MISSING},
	{"[\"a.c/b\"]", RT_FILE_MISSING},
	{"[\"a.c/\"]", RT_FILE_MISSING},
	{"[\"*.nothing\"]", RT_FILE_EMPTY},
	{"[\"gone/*.c\"]", RT_FILE_EMPTY},
	{"[\"nothing\"]", RT_FILE_EMPTY},
	{"[\"special/fifo\"]", RT_FILE_SPECIAL},
	{"[\"special\"]", RT_FILE_SPECIAL},
	{"[\"socket\"]", RT_FILE_SPECIAL},
	{"[\"sparse.txt\"]", RT_FILE_TOO_LARGE},
	{"[\"notes/latin1.txt\"]", RT_FILE_BINARY},
	{"[\"notes/nul.bin\"]", RT_FILE_BINARY},
	{"[\"notes\"]", RT_FILE_BINARY},
	{"[\"bad\"]", RT_FILE_BAD_NAME},
	{"[\"bytes\"]", RT_FILE_BAD_NAME},
	{"[\"bad/new\\nline.txt\"]", RT_FILE_BAD_NAME},
	{"[\"a\\u0000.c\"]", RT_FILE_BAD_NAME},
	{"[\"\\u001b[31mred\"]", RT_FILE_BAD_NAME},
	{"[\"lines.txt:3-9\"]", RT_FILE_BAD_RANGE},
	{"[\"lines.txt:5\"]", RT_FILE_BAD_RANGE},
	{"[\"empty.txt:1\"]", RT_FILE_BAD_RANGE},
	{"[\"shot.png:1-2\"]", RT_FILE_BAD_RANGE},
	{"[\"src:1-2\"]", RT_FILE_BAD_RANGE},
	{"[\"\"]", RT_FILE_BAD_ITEM},
	{"[7]", RT_FILE_BAD_ITEM},
	{"[null]", RT_FILE_BAD_ITEM},
	{"[[\"a.c\"]]", RT_FILE_BAD_ITEM},
	{"[{}]", RT_FILE_BAD_ITEM},
	{"[{\"path\":7}]", RT_FILE_BAD_ITEM},
	{"[{\"path\":\"a.c\",\"view_mode\":\"upside down\"}]", RT_FILE_BAD_ITEM},
	{"[{\"path\":\"a.c\",\"lines\":\"x\"}]", RT_FILE_BAD_ITEM},
	{"[{\"path\":\"a.c\",\"lines\":[3,2]}]", RT_FILE_BAD_ITEM},
	{"[{\"path\":\"a.c\",\"auto_aggregate\":\"no\"}]", RT_FILE_BAD_ITEM},
	{"{\"path\":\"a.c\"}", RT_FILE_BAD_ITEM},
	{"no JSON", RT_FILE_BAD_ITEM},
};

static void
test_hostile(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(hostile_cases) / sizeof(hostile_cases[0]); i++) {
		const char *list = hostile_cases[i].list;
		const rt_file_set *set;
		rt_scope s;

		rt_scope_init(&s, rt_alloc_libc());
		set = read_lists(&s, list, "");
		assert_non_null(set);
		if (set->problem_count == 0 || set->problems[0].kind != hostile_cases[i].kind)
			fail_msg("%s: %s, not %s", list,
				 set->problem_count == 0
					 ? "no problem"
					 : rt_file_problem_word(set->problems[0].kind),
				 rt_file_problem_word(hostile_cases[i].kind));
		for (size_t k = 0; k < set->problem_count; k++) {
			rt_str message = set->problems[k].message;

			assert_true(message.size > 20);
			for (size_t at = 0; at < message.size; at++)
				assert_true((unsigned char)message.ptr[at] >= 0x20);
		}
		for (size_t k = 0; k < set->count; k++)
			assert_true(rt_str_find(set->files[k].bytes, RT_STR("secret"), 0) ==
				    SIZE_MAX);
		rt_scope_deinit(&s);
	}
}

static void
test_unreadable(void **state)
{
	rt_scope s;

	(void)state;
	if (geteuid() == 0) /* may read everything */
		skip();
	rt_scope_init(&s, rt_alloc_libc());
	assert_int_equal(read_lists(&s, "[\"closed.txt\"]", "")->problems[0].kind,
			 RT_FILE_UNREADABLE);
	rt_scope_deinit(&s);
}

static void
test_screenshots(void **state)
{
	const rt_file_set *set;
	rt_scope s;

	(void)state;
	rt_scope_init(&s, rt_alloc_libc());
	set = read_lists(&s, "[]", "[\"shot.png\",\"fake.png\",\"a.c\"]");
	assert_int_equal(set->count, 1);
	assert_true(rt_str_is(set->files[0].mime, "image/png"));
	assert_int_equal(set->problem_count, 2);
	assert_int_equal(set->problems[0].kind, RT_FILE_NOT_IMAGE);
	rt_scope_deinit(&s);
}

static void
test_limits(void **state)
{
	rt_str roots[1] = {rt_str_of(root)};
	rt_file_lists lists = {.files = RT_STR("[\"many\",\"a.c\"]")};
	rt_file_options options = {.roots = roots, .root_count = 1, .count_max = 1};
	const rt_file_set *set;
	rt_scope s;

	(void)state;
	rt_scope_init(&s, rt_alloc_libc());
	set = rt_file_set_read(&s, &options, &lists);
	assert_int_equal(set->count, 1);
	assert_int_equal(set->problem_count, 1);
	assert_int_equal(set->problems[0].kind, RT_FILE_TOO_MANY);
	options = (rt_file_options){.roots = roots, .root_count = 1, .total_max = 3};
	set = rt_file_set_read(&s, &options, &lists);
	assert_int_equal(set->count, 2);
	assert_int_equal(set->problems[0].kind, RT_FILE_TOO_MANY);
	options = (rt_file_options){.roots = roots, .root_count = 1, .text_max = 10};
	set = rt_file_set_read(&s, &options, &lists);
	assert_int_equal(set->problems[0].kind, RT_FILE_TOO_LARGE);
	options = (rt_file_options){.root_count = 0};
	set = rt_file_set_read(&s, &options, &lists);
	assert_int_equal(set->problem_count, 2);
	assert_int_equal(set->problems[1].kind, RT_FILE_NO_ROOT);
	rt_scope_deinit(&s);
}

static bool
has_ctags(void)
{
	return system("ctags --list-features 2>/dev/null | grep -q '^sandbox '") == 0;
}

static void
test_symbols(void **state)
{
	const rt_file_symbols *symbols;
	const rt_file_symbol *two;
	const rt_file_set *set;
	rt_file_options options = {.path = getenv("PATH")};
	size_t count;
	rt_scope s;

	(void)state;
	if (!has_ctags())
		skip();
	rt_scope_init(&s, rt_alloc_libc());
	set = read_lists(&s,
			 "[\"a.c#two\",{\"path\":\"src/b.c\",\"view_mode\":\"none\"},"
			 "{\"path\":\"a.c\",\"view_mode\":\"outline\"}]",
			 "");
	assert_int_equal(set->problem_count, 0);
	assert_int_equal(set->count, 3);
	assert_true(rt_str_is(set->files[0].name, "a.c#two"));
	assert_true(rt_str_is(set->files[0].bytes, "int two(int x)\n{\n\treturn x;\n}\n"));
	assert_true(rt_str_is(set->files[2].bytes,
			      "1-4 function one(void)\n6-9 function two(int x)\n"));
	symbols = rt_file_symbols_read(&s, &options, set);
	assert_int_equal(symbols->count, 2);
	two = &symbols->items[rt_file_symbols_range(symbols, RT_STR("two"), &count)];
	assert_int_equal(count, 1);
	assert_int_equal(two->first_line, 6);
	assert_int_equal(two->last_line, 9);
	assert_int_equal(rt_file_symbols_range(symbols, RT_STR("o"), &count), 0);
	assert_int_equal(count, 1);
	set = read_lists(&s, "[\"a.c#three\"]", "");
	assert_int_equal(set->problems[0].kind, RT_FILE_NO_SYMBOL);
	options.path = "/nowhere";
	set = read_lists(&s, "[\"a.c\"]", "");
	assert_true(rt_file_symbols_read(&s, &options, set)->problem.size > 0);
	rt_scope_deinit(&s);
}

/* No allocation that fails leaks, or yields half a set. */
static void
test_torture(void **state)
{
	(void)state;
	for (long n = 0;; n++) {
		failing f = {.left = n};
		rt_alloc alloc = {failing_resize, failing_release, &f};
		const rt_file_set *set;
		rt_scope s;

		rt_scope_init(&s, &alloc);
		set = read_lists(&s, "[\"src\",\"*.c\",\"lines.txt:2-3\",\"gone\"]", "[\"shot.png\"]");
		if (atomic_load(&f.failed)) {
			assert_null(set);
			assert_int_equal(s.status, RT_NOMEM);
		}
		rt_scope_deinit(&s);
		assert_int_equal(atomic_load(&f.live), 0);
		if (!atomic_load(&f.failed))
			return;
	}
}

/* The rules of an ignore file, against `git check-ignore`. */
static void
test_ignore_as_git(void **state)
{
	static const char rules[] = "*.o\n!keep.o\n/top.txt\ndocs/*.md\n**/gen\nlogs/**\n"
				    "a/**/z\n\\!bang\n\\#hash\n# comment\nsp\\ \ntrail   \n"
				    "dironly/\n[ab]?.x\n[!c]1.y\nfoo*bar\n*.[[:digit:]]\r\n";
	static const char *const paths[] = {
		"x.o", "keep.o", "d/x.o", "d/keep.o", "top.txt", "d/top.txt", "docs/a.md",
		"docs/d/a.md", "gen", "d/gen", "d/e/gen", "logs/a", "d/logs/a", "a/z", "a/b/z",
		"a/b/c/z", "a/b/zz", "!bang", "#hash", "comment", "sp ", "sp", "trail",
		"dironly", "a1.x", "c1.x", "ab.x", "d/b2.x", "c1.y", "d1.y", "foobar", "fooxbar",
		"foo/bar", "m.1", "m.a",
	};
	char command[512];
	const rt_ignore *ignore;
	rt_scope s;

	(void)state;
	if (system("git --version >/dev/null 2>&1") != 0)
		skip();
	rt_scope_init(&s, rt_alloc_libc());
	put_text("repo/.gitignore", rules);
	snprintf(command, sizeof(command), "git init -q '%s/repo' 2>/dev/null", root);
	assert_int_equal(system(command), 0);
	ignore = rt_ignore_read(&s, NULL, RT_STR(""), rt_str_of(rules));
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		bool ours = rt_ignore_matches(ignore, rt_str_of(paths[i]), false), gits;

		snprintf(command, sizeof(command),
			 "HOME=/ git -C '%s/repo' check-ignore -q --no-index -- '%s'", root,
			 paths[i]);
		gits = system(command) == 0;
		if (ours != gits)
			fail_msg("%s: %d, git says %d", paths[i], ours, gits);
	}
	rt_scope_deinit(&s);
}

/* Rules may exclude files that must not be sent: an unreadable file of rules is a problem. */
static void
test_ignore_too_large(void **state)
{
	static char rules[(1 << 20) + 2];
	const rt_file_set *set;
	rt_scope s;

	(void)state;
	rt_scope_init(&s, rt_alloc_libc());
	memset(rules, '\n', sizeof(rules) - 1);
	put_text("rules/.gitignore", rules);
	put_text("rules/secret", "x");
	set = read_lists(&s, "[\"rules/s*\"]", "");
	assert_true(set->problem_count > 0);
	assert_int_equal(set->problems[0].kind, RT_FILE_TOO_LARGE);
	assert_true(rt_str_is(set->problems[0].path, "rules/.gitignore"));
	rt_scope_deinit(&s);
}

/* Rules and comparisons with them count as visits: very many of both end with a problem. */
static void
test_ignore_many_rules(void **state)
{
	static char rules[1 << 20];
	size_t visits = 20000, count, size = 0;
	const rt_file_found *found;
	const rt_file_root *roots;
	rt_str at;
	rt_file_options options = {.roots = &at, .root_count = 1};
	rt_file_place place;
	rt_glob glob;
	char path[40];
	rt_scope s;

	(void)state;
	rt_scope_init(&s, rt_alloc_libc());
	for (; size + 3 < sizeof(rules); size += 3)
		memcpy(rules + size, "/a\n", 3);
	put_text("many/.gitignore", rules);
	for (int i = 0; i < 300; i++) {
		snprintf(path, sizeof(path), "many/%d.txt", i);
		put_text(path, "");
	}
	at = rt_str_of(root);
	roots = rt_file_roots_open(&s, &options);
	assert_int_equal(rt_file_find(&s, roots, RT_STR("many"), &place).kind,
			 RT_FILE_NO_PROBLEM);
	assert_true(rt_glob_init(&glob, RT_STR("*.none")));
	found = rt_file_walk(&s, &place, &glob, &visits, &count);
	assert_int_equal(count, 1);
	assert_int_equal(found->fault.kind, RT_FILE_TOO_MANY);
	rt_scope_deinit(&s);
}

/* The seconds that the definitions of a line with this many take. */
static double
time_one_line(int count)
{
	rt_file_options options = {.path = getenv("PATH")};
	const rt_file_symbols *symbols;
	rt_file file = {.path = RT_STR("min.js")};
	rt_file_set set = {.files = &file, .count = 1};
	double seconds;
	clock_t start;
	rt_buf *text;
	rt_scope s;

	rt_scope_init(&s, rt_alloc_libc());
	text = rt_scope_buf(&s);
	for (int i = 0; i < count; i++)
		rt_buf_add_f(text, "var v%d=%d;", i, i);
	file.whole = file.bytes = rt_scope_str(&s, text);
	start = clock();
	symbols = rt_file_symbols_read(&s, &options, &set);
	seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
	assert_int_equal(symbols->problem.size, 0);
	assert_int_equal(symbols->count, count);
	assert_int_equal(symbols->items[count - 1].last_line, 1);
	assert_int_equal(symbols->items[count - 1].text.size, text->size);
	rt_scope_deinit(&s);
	return seconds;
}

/* A line can have very many definitions, as in generated code: the time does not grow with the
 * square of their number. */
static void
test_symbols_of_one_line(void **state)
{
	(void)state;
	if (!has_ctags())
		skip();
	assert_true(time_one_line(40000) < 8 * time_one_line(10000) + 1);
}

/* Writes the second half of a file a little later, like a process that is suspended in between. */
static void *
write_rest(void *ctx)
{
	const struct timespec pause = {.tv_nsec = 60 * 1000000L};

	(void)nanosleep(&pause, NULL);
	assert_int_equal(pwrite(*(int *)ctx, "2222", 4, 4), 4);
	return NULL;
}

static void
test_half_written(void **state)
{
	pthread_t writer;
	char full[256];
	rt_scope s;
	int fd;

	(void)state;
	put_text("slow.txt", "11111111");
	at_root(full, sizeof(full), "slow.txt");
	fd = open(full, O_WRONLY);
	assert_int_equal(pwrite(fd, "2222", 4, 0), 4);
	assert_int_equal(pthread_create(&writer, NULL, write_rest, &fd), 0);
	rt_scope_init(&s, rt_alloc_libc());
	const rt_file_set *set = read_lists(&s, "[\"slow.txt\"]", "");
	assert_int_equal(set->problem_count, 0);
	assert_int_equal(set->count, 1);
	assert_true(rt_str_is(set->files[0].bytes, "22222222"));
	rt_scope_deinit(&s);
	assert_int_equal(pthread_join(writer, NULL), 0);
	close(fd);
	assert_int_equal(unlink(full), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sent),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_screenshots),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_torture),
		cmocka_unit_test(test_half_written),
		cmocka_unit_test(test_ignore_as_git),
		cmocka_unit_test(test_ignore_too_large),
		cmocka_unit_test(test_ignore_many_rules),
		cmocka_unit_test(test_symbols_of_one_line),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
