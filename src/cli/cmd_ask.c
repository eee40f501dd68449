/* SPDX-License-Identifier: MIT
 *
 * ask, again, chat: questions to a model, and its replies. */
#define _POSIX_C_SOURCE 200809L

#include "app/title.h"
#include "cli/ask_several.h"
#include "cli/model_session.h"
#include "cli/template.h"
#include "view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SEND_FLAGS \
	{"model", 'm', "MODEL", RT_ARG_MODEL, \
	 "PROVIDER/NAME; default: the model setting; repeatable, to ask several models"}, \
	{"no-files", 0, NULL, RT_ARG_TEXT, "do not send the files of the discussion"}, \
	{"raw", 0, NULL, RT_ARG_TEXT, "print the source of the reply, not rendered Markdown"}, \
	{ \
		"budget", 0, "TOKENS", RT_ARG_TEXT, \
			"maximum number of tokens; the oldest entries are left out. 0: no limit" \
	}

enum { AGAIN_MAX = 100, INPUT_WAIT_MS = 1000 };

/* ---- results ---- */

static void
add_usage(rt_buf *out, const rt_usage *usage)
{
	if (usage->input == SIZE_MAX && usage->output == SIZE_MAX)
		return;
	rt_buf_add_c(out, ", ");
	if (usage->input != SIZE_MAX)
		rt_buf_add_grouped(out, usage->input);
	rt_buf_add_c(out, " tokens in, ");
	if (usage->output != SIZE_MAX)
		rt_buf_add_grouped(out, usage->output);
	rt_buf_add_c(out, " out");
}

/* A dim line on standard error, because standard output is for the reply. */
static void
say_dim(rt_cli *cli, const rt_buf *line)
{
	rt_str text = rt_scope_str(&cli->s, line);

	if (!rt_ok(&cli->s))
		return;
	rt_term_style(&cli->err, RT_STYLE_DIM);
	rt_term_text(&cli->err, text);
	rt_term_style(&cli->err, RT_STYLE_NONE);
	rt_term_c(&cli->err, "\n");
	rt_term_flush(&cli->err);
}

static void
say_result(const rt_cli_model_session *t, rt_send_how how, const rt_send_result *r)
{
	rt_cli *cli = t->cli;
	rt_buf *line = rt_scope_buf(&cli->s);
	const char *retake = rt_cli_retake(cli);

	if (cli->quiet)
		return;
	rt_buf_add_f(line, "%s %s",
		     r->partial                ? "Kept the partial reply:"
		     : how == RT_SEND_CONTINUE ? "Continued reply"
					       : "Reply",
		     rt_cli_where(cli, r->entry));
	if (r->take[0] != 0)
		rt_buf_add_f(line, " in the new take \"%s\"", r->take);
	add_usage(line, &r->usage);
	rt_buf_add_byte(line, '.');
	if (r->left_out > 0)
		rt_buf_add_f(line, " %zu older entr%s did not fit and %s not sent.", r->left_out,
			     RT_CLI_IES(r->left_out), r->left_out == 1 ? "was" : "were");
	if (r->stop == RT_STOP_LENGTH)
		rt_buf_add_c(line, " The reply ended at the token limit.");
	rt_buf_add_f(line, "   step %llu - undo: ", (unsigned long long)r->seq);
	if (t->is_chat)
		rt_buf_add_c(line, "/undo");
	else
		rt_buf_add_f(line, "%s undo", retake);
	/* Another process may have made a step between the two. */
	if (r->question[0] != 0 && r->compaction.entry[0] == 0 && r->question_seq + 1 == r->seq)
		rt_buf_add_f(line, " (with the question: %sundo 2)", t->is_chat ? "/" : "");
	if (!t->is_chat && (r->partial || r->stop == RT_STOP_LENGTH))
		rt_buf_add_f(line, "   more: %s again --continue", retake);
	if (!t->is_chat && r->aside && r->take[0] != 0) {
		rt_buf_add_f(line, "   continue it: %s takes switch ", retake);
		rt_args_add_quoted(line, r->take);
	}
	say_dim(cli, line);
}

/* The preceding compaction and how to revert it: the reply is the newer step, so undo would not
 * do. */
static void
say_compaction(rt_cli *cli, const rt_send_compaction *c)
{
	rt_buf *line = rt_scope_buf(&cli->s);

	if (cli->quiet || cli->json || c->entry[0] == 0)
		return;
	rt_buf_add_f(line,
		     "Compacted %zu entr%s into %s first: about %zu tokens instead of %zu. step "
		     "%llu - undo: %s revert %llu",
		     c->entries, RT_CLI_IES(c->entries), c->entry, c->tokens_after,
		     c->tokens_before, (unsigned long long)c->seq, rt_cli_retake(cli),
		     (unsigned long long)c->seq);
	say_dim(cli, line);
}

/* {"question", the members of the result, "reply"} */
static void
add_result(rt_cli *cli, const rt_send_result *r, rt_buf *json)
{
	uint32_t entry = rt_cli_entry(cli, r->entry, true);

	rt_json_open(json, NULL, '{');
	if (r->question[0] != 0)
		rt_json_put_c(json, "question", r->question);
	rt_send_result_put(json, r, true);
	rt_json_add_key(json, "reply");
	RT_TRY(&cli->s, rt_view_entry(cli->session.engine, cli->session.value, cli->session.place,
				      entry, json, &cli->s.error));
	rt_json_close(json, '}');
}

/* The next step after a failure; the question, or a part of the reply, may have been kept. */
static void
hint_send(const rt_cli_model_session *t, const rt_send_result *r, rt_status st)
{
	static const char *const hints[][2] = {
		/* for a command, in a chat */
		{"The partial reply is safe: the next command that can write saves it as an "
		 "entry, marked as partial.   See it: retake show   Continue it: retake again "
		 "--continue",
		 "The partial reply is safe: after this chat, the next command that can write "
		 "saves it as an entry, marked as partial"},
		{"The reply so far: retake show   Continue it: retake again --continue",
		 "The reply so far: /show"},
		{"The question was kept. Try again: retake again   Remove it: retake undo",
		 "The question was kept. Try again: /again   Remove it: /undo"},
		{"The question was kept with the error and is left out of later requests. Try "
		 "again: retake again   Remove it: retake undo 2",
		 "The question was kept with the error and is left out of later requests. Try "
		 "again: /again   Remove it: /undo 2"},
		{"It is marked as partial. Continue it: retake again --continue   Remove it: retake "
		 "undo",
		 "It is marked as partial. Another reply: /again   Remove it: /undo"},
	};
	bool is_kept = r->entry[0] != 0;

	if (r->fate == RT_SEND_IN_ROW)
		rt_cli_hint(t->cli, "%s", hints[0][t->is_chat]);
	else if (r->fate == RT_SEND_TAKEN)
		rt_cli_hint(t->cli, "%s", hints[1][t->is_chat]);
	else if (r->files_failed && !is_kept)
		rt_cli_hint(t->cli, "%s", t->is_chat ? "All files: retake files show"
						     : "All files: retake files show   Without "
						       "files: --no-files");
	else if (is_kept || r->question[0] != 0)
		rt_cli_hint(t->cli, "%s",
			    hints[is_kept ? 4 : r->failure_seq != 0 ? 3 : 2][t->is_chat]);
	else if (st == RT_REFUSED)
		rt_cli_hint(t->cli, "%s", t->is_chat ? "Nothing was added or sent"
						     : "Nothing was added or sent. More: retake help ask");
}

/* Generates a title with the configured model if the discussion has no chosen name. A failure is only
 * noted, since the reply is stored. */
static void
write_title(rt_cli_model_session *t)
{
	rt_cli *cli = t->cli;
	rt_send_with with = rt_cli_model_session_with(t);
	rt_title_options options = {.engine = cli->session.engine,
				    .alloc = cli->alloc,
				    .env = cli->session.env,
				    .config = t->m.config,
				    .disc = cli->session.place.disc};
	rt_buf *line = rt_scope_buf(&cli->s);
	rt_view view;
	rt_summary_result result;
	rt_error error;
	rt_status st;

	if (!rt_ok(&cli->s))
		return;
	with.fn = NULL;
	st = rt_title_write(&options, with, &result, &error);
	rt_cli_model_session_end(t, result.note);
	if (st != RT_OK && st != RT_CONFLICT)
		rt_cli_note(cli, "cannot generate a title: %s", error.text);
	if (result.seq != 0 && rt_cli_look(cli) && !cli->quiet && !cli->json) {
		view = rt_cli_view(cli);
		rt_buf_add_c(line, "Title: ");
		rt_buf_add_str(line, rt_disc_title(&view, options.disc));
		say_dim(cli, line);
	}
	rt_summary_result_deinit(&result);
}

/* Sends once and prints the reply, or adds it to json (NULL: in a chat). */
static void
send_once(rt_cli_model_session *t, rt_send_options *options, rt_buf *json)
{
	rt_cli *cli = t->cli;
	rt_send_result result;
	rt_error error;
	rt_status st;

	if (!rt_ok(&cli->s))
		return;
	options->discussion = rt_session_discussion(&cli->session);
	if (options->take.size == 0)
		options->take = rt_session_take(&cli->session);
	options->with = rt_cli_model_session_with(t);
	st = rt_engine_send(cli->session.engine, options, &result, &error);
	rt_cli_model_session_end(t, result.note);
	say_compaction(cli, &result.compaction);
	if (result.question[0] != 0 || result.compaction.entry[0] != 0 || result.entry[0] != 0) {
		cli->changed = true;
		rt_cli_say_made(cli);
	}
	if (!rt_cli_look(cli))
		rt_cli_recover(cli, NULL);
	else if (result.entry[0] != 0 && cli->json)
		add_result(cli, &result, json);
	else if (result.entry[0] != 0)
		say_result(t, options->how, &result);
	snprintf(cli->question, sizeof(cli->question), "%s", result.question);
	if (st != RT_OK) {
		rt_cli_recover(cli, NULL);
		hint_send(t, &result, st);
		cli->s.error = error;
		rt_scope_note(&cli->s, st);
	}
	rt_send_result_deinit(&result);
	if (rt_ok(&cli->s))
		write_title(t);
}

/* Prints the replies, even if the last of them failed. */
static void
print_replies(rt_cli *cli, const rt_buf *json)
{
	rt_scope outer;

	if (!cli->json || json->size <= 2)
		return;
	rt_cli_begin_part(cli, &outer);
	rt_cli_print_json(cli, json);
	(void)rt_cli_end_part(cli, &outer, NULL);
}

/* ---- ask ---- */

/* The question: the words, or a file, after piped input; ptr NULL: none. */
static rt_str
read_question(rt_cli *cli)
{
	const char *file = rt_cli_flag_value(cli, "file"), *word = rt_cli_word(cli, 0);
	rt_buf *out = rt_scope_buf(&cli->s);
	rt_str piped = {NULL, 0}, text;

	if (!cli->no_input && rt_host_has_input() && !(file != NULL && strcmp(file, "-") == 0) &&
	    !(word != NULL && strcmp(word, "-") == 0)) {
		if (!cli->quiet && !rt_host_input_comes(INPUT_WAIT_MS))
			rt_cli_note(cli, "reading standard input, which is put before the "
					 "question (--no-input: do not read it)");
		piped = rt_str_trim(rt_cli_read_file(cli, "-"));
	}
	text = rt_cli_text(cli, 0);
	if (piped.size == 0)
		return text;
	rt_buf_add_str(out, piped);
	if (file != NULL || word != NULL)
		rt_buf_add_c(out, "\n\n");
	rt_buf_add_str(out, text);
	return rt_cli_check_utf8(cli, rt_scope_str(&cli->s, out));
}

static void
run_ask(rt_cli *cli)
{
	const char *at = rt_cli_flag_value(cli, "at");
	const char *template = rt_cli_flag_value(cli, "template");
	rt_str text = read_question(cli);
	rt_send_options options = {.how = RT_SEND_ASK};
	rt_buf *json = rt_scope_buf(&cli->s);

	if (rt_ok(&cli->s) && text.ptr == NULL && template == NULL && !rt_cli_has(cli, "send")) {
		rt_cli_hint(cli, "Ask: retake ask TEXT   Line by line: retake chat   Answer the "
				 "last entry: retake ask --send");
		rt_cli_fail(cli, RT_USAGE, "no question given");
	}
	if (text.ptr != NULL && rt_str_trim(text).size == 0)
		rt_cli_fail(cli, RT_USAGE, "the question is empty");
	if (text.ptr == NULL && template == NULL && (rt_cli_has(cli, "image") || rt_cli_has(cli, "attach")))
		rt_cli_fail(cli, RT_USAGE, "--image and --attach need a question");
	rt_attached_list files = rt_cli_read_attached(cli);
	if (rt_cli_open(cli, RT_SESSION_CHANGE) && template != NULL)
		text = rt_cli_template(cli, template, text);
	options.text = text;
	if (rt_ok(&cli->s))
		options.content = rt_attached_content(&cli->s, cli->session.engine, text, &files);
	options.role = rt_cli_role_meant(cli, rt_cli_flag_value(cli, "role"));
	if (rt_cli_model_count(cli) > 1) {
		rt_run_request request = {.how = RT_RUN_ASK, .text = text, .role = options.role};

		if (at != NULL)
			request.at = rt_cli_address(cli, at);
		if (options.content.size > 0)
			request.content = rt_json_parse(&cli->s, options.content);
		rt_cli_ask_several(cli, &request);
		return;
	}

	rt_cli_model_session *session = rt_cli_model_session_open(cli, true);

	if (session == NULL)
		return;
	if (at != NULL)
		options.at = rt_cli_address(cli, at);
	if (text.ptr == NULL && at != NULL)
		options.how = RT_SEND_AGAIN; /* answers the existing path */
	send_once(session, &options, json);
	print_replies(cli, json);
}

static const rt_flag ask_flags[] = {
	SEND_FLAGS,
	{"at", 0, "ENTRY", RT_ARG_ENTRY, "continue from this entry"},
	{"file", 'f', "FILE", RT_ARG_FILE, "read the question from a file (\"-\": standard input)"},
	{"exact", 0, NULL, RT_ARG_TEXT, "with -f: keep the newline at the end of the file"},
	{"attach", 'a', "FILE", RT_ARG_FILE,
	 "attach a text file, an image or a PDF; repeatable"},
	{"image", 0, "FILE", RT_ARG_FILE,
	 "attach an image file or https:// address; repeatable"},
	RT_CLI_TEMPLATE_FLAGS,
	{"role", 'r', "ROLE", RT_ARG_ROLE, "role of the question; default: User"},
	{"send", 0, NULL, RT_ARG_TEXT, "no new question: answer the last entry, or the one given "
				       "with --at"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_ask = {
	.name = "ask",
	.group = RT_COMMANDS_ASKING,
	.max_words = RT_COMMAND_WORDS_ANY,
	.text_word = 1,
	.usage = "TEXT…\n-f FILE\n--send",
	.summary = "ask a model and keep its reply",
	.about =
		"The request contains the take up to its head, as shown by retake context. Piped "
		"input is put before the text. A quoted argument of several words is a question "
		"even without the word ask; the flags of ask can precede it. The reply is printed "
		"as it arrives and is one step. Ctrl+C stops it; the partial reply is kept, even "
		"after a crash. With several -m, the models reply simultaneously: each reply is "
		"a take after the same question, and undo reverts them together.",
	.examples = "retake \"Which database for a desktop program?\"\n"
		    "retake ask -m builtin/echo \"Are you there?\"\n"
		    "retake ask -m openai/gpt-5 -m ollama/qwen3:8b \"Which one is faster?\"\n"
		    "git diff | retake ask \"What is wrong with this?\"\n"
		    "retake ask --attach paper.pdf \"Summarise this.\"\n"
		    "retake ask --image screen.png \"Why is the button grey?\"\n"
		    "retake ask --at :4 \"What if there were ten times as many?\"",
	.ops = "entry.append entry.reply entry.fail",
	.flags = ask_flags,
	.run = run_ask,
};

/* ---- again ---- */

static void
run_again(rt_cli *cli)
{
	const char *word = rt_cli_word(cli, 0);
	rt_send_options options = {.how = rt_cli_has(cli, "continue") ? RT_SEND_CONTINUE
								      : RT_SEND_AGAIN};
	uint64_t count = rt_cli_flag_number(cli, "number", "number of replies", 1);
	rt_buf *json = rt_scope_buf(&cli->s);
	char id[RT_ID_MAX + 1], take[24];

	if (count < 1 || count > AGAIN_MAX)
		rt_cli_fail(cli, RT_USAGE, "-n must be 1 to %d", (int)AGAIN_MAX);
	else if (count > 1 && options.how == RT_SEND_CONTINUE)
		rt_cli_fail(cli, RT_USAGE, "-n cannot be combined with --continue");
	rt_cli_open(cli, RT_SESSION_CHANGE);
	if (rt_cli_model_count(cli) > 1) {
		rt_run_request request = {.how = RT_RUN_AGAIN};

		if (count > 1 || options.how == RT_SEND_CONTINUE)
			rt_cli_fail(cli, RT_USAGE, "with several models, -n and --continue cannot "
						   "be used");
		if (word != NULL)
			request.at = rt_cli_address(cli, word);
		rt_cli_ask_several(cli, &request);
		return;
	}

	rt_cli_model_session *session = rt_cli_model_session_open(cli, true);

	if (session == NULL)
		return;
	if (word != NULL) {
		uint32_t entry = rt_cli_entry(cli, word, false);

		RT_TRY(&cli->s, rt_entry_id(cli->session.value, entry, id, &cli->s.error));
		options.at = rt_str_of(id);
	}
	/* Each reply is a separate take, which becomes active: return to the present one. */
	snprintf(take, sizeof(take), RT_BY_ID "t%u", cli->session.place.take);
	options.take = rt_str_of(take);
	if (count > 1)
		rt_json_open(json, NULL, '[');
	for (uint64_t i = 0; rt_ok(&cli->s) && i < count; i++) {
		if (i > 0 && !cli->json && !cli->quiet)
			rt_term_c(&cli->out, "\n");
		send_once(session, &options, json);
	}
	if (count > 1)
		rt_json_close(json, ']');
	print_replies(cli, json);
}

static const rt_flag again_flags[] = {
	SEND_FLAGS,
	{"number", 'n', "COUNT", RT_ARG_TEXT, "N replies, each in a new take"},
	{"continue", 'c', NULL, RT_ARG_TEXT, "continue a reply that ended early"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_again = {
	.name = "again",
	.group = RT_COMMANDS_ASKING,
	.max_words = 1,
	.usage = "[ENTRY] [-n COUNT]\n[ENTRY] --continue",
	.summary = "get another reply to the same question, or continue one",
	.about =
		"ENTRY is the reply or its question; default: the last reply. The new reply is "
		"in a new take, which becomes active; nothing is replaced. A question without a "
		"reply is answered in place. With --continue the reply is continued in the same "
		"entry.",
	.examples = "retake again\nretake again :4 -n 3\nretake again -m ollama/qwen3:8b\n"
		    "retake again --continue",
	.ops = "entry.reply",
	.flags = again_flags,
	.kinds = {RT_ARG_ENTRY},
	.run = run_again,
};

/* ---- chat ---- */

/* A line, and its continuations after a backslash. */
static bool
read_message(rt_cli *cli, rt_buf *out)
{
	char *text = NULL;
	size_t room = 0;
	bool more = true, any = false;

	while (more) {
		ssize_t size;

		if (rt_host_can_ask()) {
			rt_term_c(&cli->err, any ? ". " : "> ");
			rt_term_flush(&cli->err);
		}
		size = getline(&text, &room, stdin);
		if (size < 0)
			break;
		any = true;
		if (text[size - 1] == '\n')
			size--;
		more = size > 0 && text[size - 1] == '\\';
		if (more)
			text[size - 1] = '\n';
		rt_buf_add(out, text, (size_t)size);
	}
	free(text);
	return any;
}

static void
chat_help(rt_cli *cli)
{
	rt_term_c(&cli->err, "Every line is a message; one that ends in \\ continues on the next "
			     "line.\n/again       another reply     /undo [N]   /redo [N]   undo, "
			     "redo\n/show        the conversation  /model NAME             switch "
			     "to another model\n/attach FILE attach a file to the next message; "
			     "without FILE: list the attached files\n/detach      remove all "
			     "attached files\n/quit        leave (Ctrl+D)    Ctrl+C stops a reply "
			     "while it arrives\n");
	rt_term_flush(&cli->err);
}

static void
chat_undo(rt_cli *cli, rt_op_id op, rt_str count)
{
	rt_request request = {.op = op, .keep_draft = RT_YES};
	const rt_result *result;

	if (count.size > 0)
		request.count = rt_cli_given_number(rt_cli_number(
			cli, rt_scope_copy(&cli->s, count).ptr, "number of steps"));
	result = rt_cli_execute(cli, &request, 1);
	if (rt_ok(&cli->s) && !cli->quiet) {
		rt_term_f(&cli->err, "%llu step%s.\n", (unsigned long long)result->steps,
			  RT_CLI_S(result->steps));
		rt_term_flush(&cli->err);
	}
}

static void
chat_show(rt_cli *cli)
{
	bool looked = rt_cli_look(cli);
	rt_view view = rt_cli_view(cli);
	rt_entry_cursor *c = looked ? rt_entries_open(&view, NULL) : NULL;
	rt_buf *text = rt_scope_buf(&cli->s);

	for (const rt_entry_row *e; (e = rt_entries_next(c)) != NULL;) {
		if (e->hidden)
			continue;
		rt_buf_clear(text);
		rt_entry_add_text(text, e);
		rt_term_f(&cli->out, ":%zu ", e->at + 1);
		rt_term_style(&cli->out, rt_cli_role_style(e->role));
		rt_term_line(&cli->out, rt_cli_role_label(cli, e->role));
		rt_term_style(&cli->out, RT_STYLE_NONE);
		rt_term_c(&cli->out, "\n");
		rt_term_indented(&cli->out, rt_scope_str(&cli->s, text), 2);
	}
	rt_term_flush(&cli->out);
}

static void
chat_model(rt_cli_model_session *t, rt_str name)
{
	rt_model *model = NULL;
	rt_scope *s = &t->cli->s;

	if (RT_TRY(s, rt_model_session_model(&t->m, name, true, &model, &s->error)) != RT_OK)
		return;
	t->m.model->ops->close(t->m.model);
	t->m.model = model;
	rt_term_f(&t->cli->err, "Now using %.*s/%.*s.\n", RT_STR_ARG(rt_model_service(model)),
		  RT_STR_ARG(model->name));
	rt_term_flush(&t->cli->err);
}

/* The present files for the next message. */
static rt_attached_list
chat_attached(rt_cli_model_session *t)
{
	rt_scope *s = &t->cli->s;
	rt_str paths = rt_buf_str(&t->attached);
	rt_attached_list list = {NULL, 0};

	for (size_t i = 0; i < paths.size; i++)
		list.count += paths.ptr[i] == 0;
	list.items = rt_scope_array(s, list.count, sizeof(*list.items));
	for (size_t i = 0, at = 0; rt_ok(s) && i < list.count; i++) {
		rt_str path = rt_str_of(paths.ptr + at);

		list.items[i] = rt_attached_read(s, path);
		at += path.size + 1;
	}
	return list;
}

/* With a file: attach it. Both list the attached files. */
static void
chat_attach(rt_cli_model_session *t, rt_str path)
{
	rt_scope *s = &t->cli->s;
	rt_term *err = &t->cli->err;
	size_t before = t->attached.size;
	rt_attached_list list;

	if (path.size > 0) {
		rt_buf_add_str(&t->attached, path);
		rt_buf_add_byte(&t->attached, 0);
	}
	list = chat_attached(t);
	if (!rt_ok(s)) {
		t->attached.size = before;
		return;
	}
	for (size_t i = 0; i < list.count; i++) {
		rt_buf *line = rt_scope_buf(s);

		rt_buf_add_f(line, "attached: %s, ", list.items[i].name.ptr);
		rt_attached_add_type(line, list.items[i].bytes);
		rt_term_line(err, rt_scope_str(s, line));
		rt_term_c(err, "\n");
	}
	if (list.count == 0)
		rt_term_c(err, "No files are attached. To attach one: /attach FILE\n");
	rt_term_flush(err);
}

static void
chat_ask(rt_cli_model_session *t, rt_str text)
{
	rt_scope *s = &t->cli->s;
	rt_attached_list list = chat_attached(t);
	rt_send_options options = {.how = RT_SEND_ASK, .text = text};

	options.content = rt_attached_content(s, t->cli->session.engine, text, &list);
	if (!rt_ok(s))
		return;
	send_once(t, &options, NULL);
	if (rt_ok(s))
		rt_buf_clear(&t->attached);
}

/* A command of the chat. False: leave it. */
static bool
chat_command(rt_cli_model_session *t, rt_str line)
{
	size_t space = rt_str_find(line, RT_STR(" "), 0);
	rt_str verb = space == SIZE_MAX ? line : rt_str_at(line.ptr, space);
	rt_str rest = rt_str_trim(rt_str_at(line.ptr + verb.size, line.size - verb.size));
	bool is_undo = rt_str_is(verb, "/undo"), is_redo = rt_str_is(verb, "/redo");

	if (rt_str_is(verb, "/quit") || rt_str_is(verb, "/q") || rt_str_is(verb, "/exit"))
		return false;
	if (is_undo || is_redo) {
		for (size_t i = 0; i < rest.size; i++)
			if (rest.ptr[i] < '0' || rest.ptr[i] > '9')
				rt_cli_fail(t->cli, RT_USAGE, "%.*s takes a number",
					    RT_STR_ARG(verb));
		chat_undo(t->cli, is_undo ? RT_OP_UNDO : RT_OP_REDO, rest);
	} else if (rt_str_is(verb, "/show")) {
		chat_show(t->cli);
	} else if (rt_str_is(verb, "/again") && rest.size > 0) {
		rt_cli_fail(t->cli, RT_USAGE, "/again takes no number; repeat it instead");
	} else if (rt_str_is(verb, "/again")) {
		send_once(t, &(rt_send_options){.how = RT_SEND_AGAIN}, NULL);
	} else if (rt_str_is(verb, "/model") && rest.size > 0) {
		chat_model(t, rest);
	} else if (rt_str_is(verb, "/attach")) {
		chat_attach(t, rest);
	} else if (rt_str_is(verb, "/detach")) {
		rt_buf_clear(&t->attached);
		chat_attach(t, RT_STR(""));
	} else {
		if (!rt_str_is(verb, "/help"))
			rt_cli_note(t->cli, "there is no %.*s; commands:", RT_STR_ARG(verb));
		chat_help(t->cli);
	}
	return true;
}

/* False: leave the chat. */
static bool
chat_line(rt_cli_model_session *t, rt_str line)
{
	if (rt_str_trim(line).size == 0)
		return true;
	if (rt_utf8_valid_size(line) < line.size)
		rt_cli_fail(t->cli, RT_USAGE, "the text is not valid UTF-8 (at byte %zu)",
			    rt_utf8_valid_size(line) + 1);
	else if (line.ptr[0] == '/')
		return chat_command(t, rt_str_trim(line));
	else
		chat_ask(t, line);
	return true;
}

/* The failure of one line is printed, and the chat continues. */
static void
say_failure(rt_cli *cli, const rt_error *error)
{
	rt_cli_note(cli, "%s", error->text);
	if (cli->session.hint[0] != 0) {
		rt_term_c(&cli->err, "  ");
		rt_term_text(&cli->err, rt_str_of(cli->session.hint));
		rt_term_c(&cli->err, "\n");
		rt_term_flush(&cli->err);
	}
	cli->session.hint[0] = 0;
}

static void
run_chat(rt_cli *cli)
{
	bool can_ask = rt_host_can_ask(), goes_on = true;

	if (cli->json)
		rt_cli_fail(cli, RT_USAGE, "chat is interactive; for programs: retake ask --json");
	rt_cli_open(cli, RT_SESSION_CHANGE);

	rt_cli_model_session *session = rt_cli_model_session_open(cli, true);

	if (session == NULL)
		return;
	session->is_chat = true;
	rt_buf_init(&session->attached, cli->alloc, RT_BUF_UNLIMITED);
	if (can_ask && !cli->quiet) {
		rt_term_f(&cli->err, "Using %.*s/%.*s. /help lists the commands.\n",
			  RT_STR_ARG(rt_model_service(session->m.model)),
			  RT_STR_ARG(session->m.model->name));
		rt_term_flush(&cli->err);
	}
	while (goes_on && rt_ok(&cli->s)) {
		rt_error error;
		rt_scope outer;
		rt_status st;

		rt_cli_begin_part(cli, &outer);
		rt_buf *line = rt_scope_buf(&cli->s);

		rt_host_again();
		goes_on = read_message(cli, line) && chat_line(session, rt_buf_str(line));
		st = rt_cli_end_part(cli, &outer, &error);
		/* For a script: the chat ends, and the failure is that of the command. */
		if (st != RT_OK && !can_ask && st != RT_INTERRUPTED)
			(void)rt_scope_fail_as(&cli->s, st, &error);
		else if (st != RT_OK)
			say_failure(cli, &error);
	}
	rt_buf_deinit(&session->attached);
	if (can_ask && rt_ok(&cli->s))
		rt_term_c(&cli->err, "\n");
}

static const rt_flag chat_flags[] = {
	SEND_FLAGS,
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_chat = {
	.name = "chat",
	.group = RT_COMMANDS_ASKING,
	.usage = "",
	.summary = "chat line by line, on any terminal",
	.about =
		"For dumb terminals, screen readers and scripts: lines in, replies out. Lines are "
		"edited by the terminal; retake without arguments has multi-line input, history "
		"and completion. /help lists the commands.",
	.examples = "retake chat\nretake chat -m builtin/echo < questions.txt",
	.ops = "entry.append entry.reply",
	.flags = chat_flags,
	.run = run_chat,
};
