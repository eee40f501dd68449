/* SPDX-License-Identifier: MIT
 *
 * ask, again, chat: questions to a model, and its replies. */
#define _POSIX_C_SOURCE 200809L

#include "cli/image.h"
#include "cli/model_session.h"
#include "codec/content.h"
#include "view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SEND_FLAGS \
	{"model", 'm', "MODEL", RT_ARG_TEXT, "PROVIDER/NAME; default: the setting model"}, \
	{ \
		"budget", 0, "TOKENS", RT_ARG_TEXT, \
			"leave the oldest entries out beyond so many; 0: as if it were not there" \
	}

enum { AGAIN_MAX = 100, INPUT_WAIT_MS = 1000 };

/* ---- what came of it ---- */

static void
add_usage(rt_buf *out, const rt_usage *usage)
{
	if (usage->input == SIZE_MAX && usage->output == SIZE_MAX)
		return;
	rt_buf_add_c(out, ", ");
	if (usage->input != SIZE_MAX)
		rt_buf_add_f(out, "%zu", usage->input);
	rt_buf_add_c(out, " tokens in, ");
	if (usage->output != SIZE_MAX)
		rt_buf_add_f(out, "%zu", usage->output);
	rt_buf_add_c(out, " out");
}

/* On standard error, since standard output is the reply's. */
static rt_status
say_result(rt_cli_model_session *t, rt_send_how how, const rt_send_result *r)
{
	rt_cli *cli = t->cli;
	rt_buf where, line, next;
	rt_status st;

	if (cli->quiet)
		return RT_OK;
	rt_buf_init(&where, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&line, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&next, cli->alloc, RT_BUF_UNLIMITED);
	rt_old_add_where(cli, r->entry, &where);
	if (r->take[0] != 0)
		rt_buf_add_f(&where, " in the new take \"%s\"", r->take);
	rt_buf_add_f(&line, "%s %s",
		     r->partial                ? "Kept what had arrived:"
		     : how == RT_SEND_CONTINUE ? "Continued reply"
					       : "Reply",
		     where.ptr == NULL ? r->entry : where.ptr);
	add_usage(&line, &r->usage);
	rt_buf_add_byte(&line, '.');
	if (r->left_out > 0)
		rt_buf_add_f(&line, " %zu older entr%s did not fit and %s not sent.", r->left_out,
			     RT_CLI_IES(r->left_out), r->left_out == 1 ? "was" : "were");
	if (r->stop == RT_STOP_LENGTH)
		rt_buf_add_c(&line, " It ended at the limit of tokens.");
	rt_cli_add_retake(cli, &next);
	st = rt_old_buf(cli, &line);
	if (st == RT_OK) {
		rt_term_style(&cli->err, RT_STYLE_DIM);
		rt_term_text(&cli->err, rt_buf_str(&line));
		if (t->in_chat)
			rt_term_f(&cli->err, "   step %llu - undo: /undo", (unsigned long long)r->seq);
		else
			rt_term_f(&cli->err, "   step %llu - undo: %s undo", (unsigned long long)r->seq,
				  next.ptr == NULL ? "retake" : next.ptr);
		if (!t->in_chat && (r->partial || r->stop == RT_STOP_LENGTH))
			rt_term_f(&cli->err, "   more: %s again --continue",
				  next.ptr == NULL ? "retake" : next.ptr);
		rt_term_style(&cli->err, RT_STYLE_NONE);
		rt_term_c(&cli->err, "\n");
		rt_term_flush(&cli->err);
	}
	rt_buf_deinit(&where);
	rt_buf_deinit(&line);
	rt_buf_deinit(&next);
	return st;
}

/* What was summed up first, and the way back: the reply is the newer step, so not undo. */
static void
say_compaction(rt_cli *cli, const rt_send_compaction *c)
{
	rt_buf retake;

	if (cli->quiet || cli->json || c->entry[0] == 0)
		return;
	rt_buf_init(&retake, cli->alloc, RT_BUF_UNLIMITED);
	rt_cli_add_retake(cli, &retake);
	rt_term_style(&cli->err, RT_STYLE_DIM);
	rt_term_f(&cli->err,
		  "Compacted %zu entr%s into %s first: about %zu tokens instead of %zu.   "
		  "step %llu - take it back: %s revert %llu",
		  c->entries, RT_CLI_IES(c->entries), c->entry, c->tokens_after, c->tokens_before,
		  (unsigned long long)c->seq, retake.ptr == NULL ? "retake" : retake.ptr,
		  (unsigned long long)c->seq);
	rt_term_style(&cli->err, RT_STYLE_NONE);
	rt_term_c(&cli->err, "\n");
	rt_term_flush(&cli->err);
	rt_buf_deinit(&retake);
}

static void
add_count(rt_buf *json, const char *key, size_t count)
{
	if (count == SIZE_MAX)
		return;
	rt_json_add_key(json, key);
	rt_buf_add_u64(json, count);
}

/* {"question","entry","take","seq","partial","stop","usage","left_out","compaction","reply"} */
static rt_status
add_result(rt_cli_model_session *t, const rt_send_result *r, rt_buf *json)
{
	rt_cli *cli = t->cli;
	uint32_t entry;
	rt_status st = RT_OK;

	rt_json_add_comma(json);
	rt_buf_add_byte(json, '{');
	if (r->question[0] != 0) {
		rt_json_add_key(json, "question");
		rt_json_add_string(json, rt_str_of(r->question));
	}
	rt_json_add_key(json, "entry");
	rt_json_add_string(json, rt_str_of(r->entry));
	if (r->take[0] != 0) {
		rt_json_add_key(json, "take");
		rt_json_add_string(json, rt_str_of(r->take));
	}
	rt_json_add_key(json, "seq");
	rt_buf_add_u64(json, r->seq);
	if (r->partial)
		rt_buf_add_c(json, ",\"partial\":true");
	rt_json_add_key(json, "stop");
	rt_json_add_string(json, rt_str_of(rt_stop_word(r->stop)));
	rt_json_add_key(json, "usage");
	rt_buf_add_byte(json, '{');
	add_count(json, "input_tokens", r->usage.input);
	add_count(json, "output_tokens", r->usage.output);
	add_count(json, "cache_read_input_tokens", r->usage.cache_read);
	add_count(json, "cache_creation_input_tokens", r->usage.cache_write);
	rt_buf_add_byte(json, '}');
	add_count(json, "left_out", r->left_out);
	add_count(json, "tokens_estimate", r->tokens);
	if (r->compaction.entry[0] != 0) {
		rt_buf_add_c(json, ",\"compaction\":{");
		rt_json_add_key(json, "entry");
		rt_json_add_string(json, rt_str_of(r->compaction.entry));
		add_count(json, "seq", (size_t)r->compaction.seq);
		add_count(json, "entries", r->compaction.entries);
		add_count(json, "tokens_before", r->compaction.tokens_before);
		add_count(json, "tokens_after", r->compaction.tokens_after);
		rt_buf_add_byte(json, '}');
	}
	rt_json_add_key(json, "reply");
	st = rt_old_entry(cli, r->entry, true, &entry);
	if (st == RT_OK)
		st = rt_view_entry(cli->session.engine, cli->session.value, cli->session.place,
				   entry, json, &cli->error);
	rt_buf_add_byte(json, '}');
	return st;
}

/* Send once; st of a reply that is partial is said in the end. */
static rt_status
send_once(rt_cli_model_session *t, rt_send_options *options, rt_buf *json, bool *out_kept)
{
	rt_cli *cli = t->cli;
	rt_send_result result;
	rt_status st, looked;

	options->discussion = rt_session_discussion(&cli->session);
	if (options->take.size == 0)
		options->take = rt_session_take(&cli->session);
	rt_cli_model_session_with(t, &options->with);
	st = rt_engine_send(cli->session.engine, options, &result, &cli->error);
	rt_cli_model_session_end(t, result.note);
	say_compaction(cli, &result.compaction);
	*out_kept = result.entry[0] != 0;
	if (result.question[0] != 0 || result.compaction.entry[0] != 0 || *out_kept) {
		cli->changed = true;
		rt_cli_say_made(cli);
	}
	looked = rt_old_look(cli);
	if (*out_kept && looked == RT_OK) {
		rt_status said = cli->json ? add_result(t, &result, json) : say_result(t, options->how, &result);

		if (st == RT_OK)
			st = said;
	}
	/* The question stays; what to do about the rest. */
	snprintf(cli->question, sizeof(cli->question), "%s", result.question);
	if (st != RT_OK && result.fate == RT_SEND_IN_ROW)
		rt_old_hint(cli, st, t->in_chat
				? "What had arrived is safe: it becomes an entry, marked as partial, "
				  "with the first command after this chat that can write"
				: "What had arrived is safe: it becomes an entry, marked as partial, "
				  "with the next command that can write. See it: retake show   "
				  "Then more of it: retake again --continue");
	else if (st != RT_OK && result.fate == RT_SEND_TAKEN)
		rt_old_hint(cli, st, t->in_chat ? "What there is of it now: /show"
						: "What there is of it now: retake show   "
						  "More of it: retake again --continue");
	else if (st != RT_OK && !*out_kept && result.question[0] != 0)
		rt_old_hint(cli, st, t->in_chat ? "The question is kept. Try again: /again   "
						  "Take it back: /undo"
						: "The question is kept. Try again: retake again   "
						  "Take it back: retake undo");
	else if (st != RT_OK && *out_kept && t->in_chat)
		rt_old_hint(cli, st, "What had arrived is kept, marked as partial. "
				     "Another: /again   Take it back: /undo");
	else if (st != RT_OK && *out_kept)
		rt_old_hint(cli, st, "What had arrived is kept, marked as partial. "
				     "More of it: retake again --continue   Take it back: retake undo");
	rt_send_result_deinit(&result);
	return st;
}

/* ---- ask ---- */

/* The question: the words, or a file, and in front of them what is piped in. */
static rt_status
read_question(rt_cli *cli, rt_buf *out, bool *out_given)
{
	rt_buf piped;
	bool from_input = false, from_file = rt_cli_has(cli, "file");
	const char *file = rt_cli_flag_value(cli, "file");
	rt_status st = RT_OK;

	rt_buf_init(&piped, cli->alloc, RT_BUF_UNLIMITED);
	if (!cli->no_input && rt_host_has_input() && !(from_file && strcmp(file, "-") == 0) &&
	    !(rt_cli_word(cli, 0) != NULL && strcmp(rt_cli_word(cli, 0), "-") == 0)) {
		if (!cli->quiet && !rt_host_input_comes(INPUT_WAIT_MS))
			rt_cli_note(cli, "waiting for the end of standard input, which stands in front of "
				    "the question (--no-input: it does not)");
		st = rt_old_read_file(cli, "-", &piped);
		from_input = st == RT_OK && rt_str_trim(rt_buf_str(&piped)).size > 0;
	}
	if (st == RT_OK && from_input)
		rt_buf_add_str(out, rt_str_trim(rt_buf_str(&piped)));
	rt_buf_deinit(&piped);
	if (st == RT_OK && from_input && (from_file || rt_cli_word(cli, 0) != NULL))
		rt_buf_add_c(out, "\n\n");
	if (st == RT_OK)
		st = rt_old_text(cli, 0, out, out_given);
	*out_given = *out_given || from_input;
	return st == RT_OK ? rt_old_buf(cli, out) : st;
}

static rt_status
run_ask(rt_cli *cli)
{
	const char *at = rt_cli_flag_value(cli, "at"), *role = rt_cli_flag_value(cli, "role");
	rt_send_options options = {.how = RT_SEND_ASK};
	char room[RT_ID_ROOM];
	rt_cli_model_session session;
	rt_buf text, content, json;
	bool given = false, kept = false;
	rt_status st;

	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&content, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
	st = read_question(cli, &text, &given);
	if (st == RT_OK && !given && !rt_cli_has(cli, "send")) {
		rt_old_hint(cli, RT_USAGE, "Ask: retake ask TEXT   Line by line: retake chat   "
					   "Have what is there answered: retake ask --send");
		st = rt_old_fail(cli, RT_USAGE, "there is no question");
	}
	if (st == RT_OK && given && rt_str_trim(rt_buf_str(&text)).size == 0)
		st = rt_old_fail(cli, RT_USAGE, "the question is empty");
	if (st == RT_OK && !given && rt_cli_has(cli, "image"))
		st = rt_old_fail(cli, RT_USAGE, "--image goes with a question");
	if (st == RT_OK && given)
		st = rt_cli_image_content(cli, rt_buf_str(&text), &content);
	if (st == RT_OK)
		st = rt_old_open(cli, RT_SESSION_CHANGE);
	if (st != RT_OK)
		goto done;
	st = rt_cli_model_session_open(cli, &session, true);
	if (st == RT_OK && at != NULL)
		st = rt_old_address(cli, at, room, &options.at);
	if (!given && at != NULL)
		options.how = RT_SEND_AGAIN; /* what is there, answered */
	if (given)
		options.text = text.size > 0 ? rt_buf_str(&text) : rt_str_at("", 0);
	options.content = rt_buf_str(&content);
	options.role = rt_str_of(role);
	if (st == RT_OK)
		st = send_once(&session, &options, &json, &kept);
	if (cli->json && kept)
		cli->json_done = rt_old_print_json(cli, rt_buf_str(&json)) == RT_OK;
	rt_cli_model_session_close(&session);
done:
	rt_buf_deinit(&text);
	rt_buf_deinit(&content);
	rt_buf_deinit(&json);
	return st;
}

static const rt_flag ask_flags[] = {
	SEND_FLAGS,
	{"at", 0, "ENTRY", RT_ARG_ENTRY, "go on from this entry"},
	{"file", 'f', "FILE", RT_ARG_FILE, "the question is in a file; - is standard input"},
	{"exact", 0, NULL, RT_ARG_TEXT, "with -f: the last line end is part of the text"},
	{"image", 0, "FILE", RT_ARG_FILE,
	 "an image that goes with it, or its https:// address; more than once for more"},
	{"role", 'r', "ROLE", RT_ARG_ROLE, "who asks; default: User"},
	{"send", 0, NULL, RT_ARG_TEXT, "no question: have what is there answered, or --at ENTRY"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_ask = {
	.name = "ask",
	.group = RT_COMMANDS_ASKING,
	.max_words = RT_COMMAND_WORDS_ANY,
	.usage = "TEXT…\n-f FILE\n--send",
	.summary = "ask a model, and keep its reply",
	.about =
		"What is sent is the take up to its head, as retake context shows it. What is piped in "
		"stands in front of the text. Several words in quotes are a question also without "
		"the word ask.\n\n"
		"The reply is printed while it arrives and is one step. Ctrl-C stops it; what had "
		"arrived is kept, and so it is after a crash.",
	.examples = "retake \"Which database for a desktop program?\"\n"
		    "retake ask -m builtin/echo \"Are you there?\"\n"
		    "git diff | retake ask \"What is wrong with this?\"\n"
		    "retake ask --image screen.png \"Why is the button grey?\"\n"
		    "retake ask --at :4 \"And if it were ten times as many?\"",
	.ops = "entry.append entry.reply",
	.flags = ask_flags,
	.run_status = run_ask,
};

/* ---- again ---- */

static rt_status
run_again(rt_cli *cli)
{
	const char *word = rt_cli_word(cli, 0), *number = rt_cli_flag_value(cli, "number");
	rt_send_options options = {.how = rt_cli_has(cli, "continue") ? RT_SEND_CONTINUE
								      : RT_SEND_AGAIN};
	char room[RT_ID_ROOM], take[24];
	rt_cli_model_session session;
	uint64_t count = 1, i;
	bool kept = false;
	rt_buf json;
	rt_str plain;
	uint32_t entry;
	rt_status st = RT_OK;

	if (number != NULL)
		st = rt_old_number(cli, number, "how many replies", &count);
	if (st == RT_OK && (count < 1 || count > AGAIN_MAX))
		return rt_old_fail(cli, RT_USAGE, "-n is 1 to %d", (int)AGAIN_MAX);
	if (st == RT_OK && count > 1 && options.how == RT_SEND_CONTINUE)
		return rt_old_fail(cli, RT_USAGE, "a reply is continued once; leave out -n");
	if (st == RT_OK)
		st = rt_old_open(cli, RT_SESSION_CHANGE);
	if (st != RT_OK)
		return st;
	rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
	st = rt_cli_model_session_open(cli, &session, true);
	if (st == RT_OK && word != NULL) {
		st = rt_old_address(cli, word, room, &plain);
		if (st == RT_OK)
			st = rt_old_entry(cli, word, false, &entry);
		if (st == RT_OK)
			st = rt_entry_id(cli->session.value, entry, room, &cli->error);
		options.at = rt_str_of(room);
	}
	/* Each reply is a take of its own, and becomes the active one: stay where we are. */
	snprintf(take, sizeof(take), "t%u", cli->session.place.take);
	options.take = rt_str_of(take);
	if (cli->json && count > 1)
		rt_buf_add_byte(&json, '[');
	for (i = 0; st == RT_OK && i < count; i++) {
		if (count > 1 && !cli->json && !cli->quiet && i > 0)
			rt_term_c(&cli->out, "\n");
		st = send_once(&session, &options, &json, &kept);
	}
	if (cli->json && count > 1)
		rt_buf_add_byte(&json, ']');
	if (cli->json && json.size > 2)
		cli->json_done = rt_old_print_json(cli, rt_buf_str(&json)) == RT_OK;
	rt_cli_model_session_close(&session);
	rt_buf_deinit(&json);
	return st;
}

static const rt_flag again_flags[] = {
	SEND_FLAGS,
	{"number", 'n', "COUNT", RT_ARG_TEXT, "so many replies, each in a take of its own"},
	{"continue", 'c', NULL, RT_ARG_TEXT, "more of a reply that ended too early"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_again = {
	.name = "again",
	.group = RT_COMMANDS_ASKING,
	.max_words = 1,
	.usage = "[ENTRY] [-n COUNT]\n[ENTRY] --continue",
	.summary = "another reply to the same question, or more of one",
	.about =
		"ENTRY is the reply, or what it answers; without it, the last reply. The new one stands "
		"beside the old one in a take of its own, which becomes active; nothing is replaced. A "
		"question that nobody has answered yet is answered where it stands. "
		"With --continue the reply goes on where it ended, in the same entry.",
	.examples = "retake again\nretake again :4 -n 3\nretake again -m ollama/qwen3:8b\n"
		    "retake again --continue",
	.ops = "entry.reply",
	.flags = again_flags,
	.kinds = {RT_ARG_ENTRY},
	.run_status = run_again,
};

/* ---- chat ---- */

/* A line, and those that follow one that ends in a backslash. */
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

static rt_status
chat_help(rt_cli *cli)
{
	rt_term_c(&cli->err, "Every line is a message; one that ends in \\ goes on in the next.\n"
			     "/again       another reply     /undo [N]   /redo [N]   take back, bring back\n"
			     "/show        the conversation  /model NAME             ask another\n"
			     "/quit        leave (Ctrl-D)    Ctrl-C while a reply comes stops it\n");
	rt_term_flush(&cli->err);
	return RT_OK;
}

static rt_status
chat_move(rt_cli *cli, rt_op_id op, rt_str count)
{
	rt_request request = {.op = op};
	rt_old_change change;
	rt_status st;

	rt_old_change_init(cli, &change);
	if (count.size > 0)
		request.count.given = rt_json_u64(rt_old_change_value(&change, count),
						  &request.count.value);
	st = rt_old_change_one(&change, &request);
	if (st == RT_OK && !cli->quiet) {
		rt_term_f(&cli->err, "%llu step%s.\n", (unsigned long long)change.result->steps,
			  RT_CLI_S(change.result->steps));
		rt_term_flush(&cli->err);
	}
	rt_old_change_deinit(&change);
	return st;
}

static rt_status
show_entry(rt_cli *cli, void *ctx, yyjson_val *show, size_t from)
{
	yyjson_val *entry;
	size_t i, max;

	(void)ctx;
	yyjson_arr_foreach(rt_json_get(show, "entries"), i, max, entry)
	{
		rt_str role = rt_json_str(rt_json_get(entry, "role"));
		rt_buf text;

		if (rt_content_is_hidden(rt_json_str(rt_json_get(entry, "kind")), entry,
					 rt_json_get(entry, "pi")))
			continue;
		rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
		rt_content_add_entry(&text, entry);
		rt_term_f(&cli->out, ":%zu ", from + i + 1);
		rt_term_style(&cli->out, rt_cli_role_style(role));
		rt_term_line(&cli->out, role);
		rt_term_style(&cli->out, RT_STYLE_NONE);
		rt_term_c(&cli->out, "\n");
		rt_term_indented(&cli->out, rt_buf_str(&text), 2);
		rt_buf_deinit(&text);
	}
	return RT_OK;
}

static rt_status
chat_show(rt_cli *cli)
{
	const rt_take *take = NULL;
	size_t count;
	rt_status st = rt_old_look(cli);

	if (st == RT_OK)
		st = rt_old_take(cli, &take);
	count = st == RT_OK ? rt_seq_count(take->slots) : 0;
	if (st == RT_OK && count > 0)
		st = rt_old_each_window(cli, 0, count - 1, show_entry, NULL);
	rt_term_flush(&cli->out);
	return st;
}

static rt_status
chat_model(rt_cli_model_session *t, rt_str name)
{
	rt_model *model = NULL;
	rt_status st = rt_model_session_model(&t->m, name, true, &model, &t->cli->error);

	if (st == RT_OK) {
		t->m.model->ops->close(t->m.model);
		t->m.model = model;
		rt_term_f(&t->cli->err, "Now %.*s/%.*s answers.\n",
			  RT_STR_ARG(rt_model_service(model)), RT_STR_ARG(model->name));
		rt_term_flush(&t->cli->err);
	}
	return st;
}

/* A command of the chat; *out_end: leave. */
static rt_status
chat_command(rt_cli_model_session *t, rt_str line, bool *out_end)
{
	size_t space = rt_str_find(line, RT_STR(" "), 0);
	rt_str verb = space == SIZE_MAX ? line : rt_str_at(line.ptr, space);
	rt_str rest = space == SIZE_MAX ? rt_str_at("", 0)
					: rt_str_trim(rt_str_at(line.ptr + space, line.size - space));
	rt_send_options options = {.how = RT_SEND_AGAIN};
	bool kept;
	size_t i;

	for (i = 0; i < rest.size; i++)
		if ((rt_str_is(verb, "/undo") || rt_str_is(verb, "/redo")) &&
		    (rest.ptr[i] < '0' || rest.ptr[i] > '9'))
			return rt_old_fail(t->cli, RT_USAGE, "%.*s takes a number", RT_STR_ARG(verb));
	*out_end = rt_str_is(verb, "/quit") || rt_str_is(verb, "/q") || rt_str_is(verb, "/exit");
	if (*out_end)
		return RT_OK;
	if (rt_str_is(verb, "/undo"))
		return chat_move(t->cli, RT_OP_UNDO, rest);
	if (rt_str_is(verb, "/redo"))
		return chat_move(t->cli, RT_OP_REDO, rest);
	if (rt_str_is(verb, "/show"))
		return chat_show(t->cli);
	if (rt_str_is(verb, "/again") && rest.size > 0)
		return rt_old_fail(t->cli, RT_USAGE, "/again takes no number; type it as often as you "
				   "like");
	if (rt_str_is(verb, "/again"))
		return send_once(t, &options, NULL, &kept);
	if (rt_str_is(verb, "/model") && rest.size > 0)
		return chat_model(t, rest);
	if (!rt_str_is(verb, "/help"))
		rt_cli_note(t->cli, "there is no %.*s here; there is:", RT_STR_ARG(verb));
	return chat_help(t->cli);
}

static rt_status
chat_line(rt_cli_model_session *t, rt_str line, bool *out_end)
{
	rt_send_options options = {.how = RT_SEND_ASK, .text = line};
	bool kept;

	*out_end = false;
	if (rt_str_trim(line).size == 0)
		return RT_OK;
	if (rt_utf8_valid_size(line) < line.size)
		return rt_old_fail(t->cli, RT_USAGE, "the text is not UTF-8 (at byte %zu)",
				   rt_utf8_valid_size(line) + 1);
	if (line.ptr[0] == '/')
		return chat_command(t, rt_str_trim(line), out_end);
	return send_once(t, &options, NULL, &kept);
}

/* What went wrong with one line is said, and the chat goes on. */
static void
say_failure(rt_cli *cli)
{
	rt_cli_note(cli, "%s", cli->error.text);
	if (cli->session.hint[0] != 0) {
		rt_term_c(&cli->err, "  ");
		rt_term_text(&cli->err, rt_str_of(cli->session.hint));
		rt_term_c(&cli->err, "\n");
		rt_term_flush(&cli->err);
	}
	cli->session.hint[0] = 0;
}

static rt_status
run_chat(rt_cli *cli)
{
	rt_cli_model_session session;
	bool end = false;
	rt_status st, last = RT_OK;

	if (cli->json)
		return rt_old_fail(cli, RT_USAGE, "chat is for people; for programs: retake ask --json");
	st = rt_old_open(cli, RT_SESSION_CHANGE);
	if (st != RT_OK)
		return st;
	st = rt_cli_model_session_open(cli, &session, true);
	session.in_chat = true;
	if (st == RT_OK && rt_host_can_ask() && !cli->quiet) {
		rt_term_f(&cli->err, "%.*s/%.*s answers. /help says what else there is.\n",
			  RT_STR_ARG(rt_model_service(session.m.model)),
			  RT_STR_ARG(session.m.model->name));
		rt_term_flush(&cli->err);
	}
	while (st == RT_OK && !end) {
		rt_buf line;

		rt_buf_init(&line, cli->alloc, RT_BUF_UNLIMITED);
		rt_host_again();
		if (!read_message(cli, &line))
			end = true;
		else
			last = chat_line(&session, rt_buf_str(&line), &end);
		rt_buf_deinit(&line);
		/* a script that talks wants to know: it ends, and is told there */
		if (last != RT_OK && !rt_host_can_ask() && last != RT_INTERRUPTED)
			st = last;
		else if (last != RT_OK)
			say_failure(cli);
		last = RT_OK;
	}
	if (rt_host_can_ask() && st == RT_OK)
		rt_term_c(&cli->err, "\n");
	rt_cli_model_session_close(&session);
	return st;
}

static const rt_flag chat_flags[] = {
	SEND_FLAGS,
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_chat = {
	.name = "chat",
	.group = RT_COMMANDS_ASKING,
	.usage = "",
	.summary = "talk line by line, on any terminal",
	.about =
		"For dumb terminals, screen readers and scripts: lines in, replies out. /help says "
		"what else can be typed.",
	.examples = "retake chat\nretake chat -m builtin/echo < questions.txt",
	.ops = "entry.append entry.reply",
	.flags = chat_flags,
	.run_status = run_chat,
};
