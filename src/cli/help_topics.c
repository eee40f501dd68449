/* SPDX-License-Identifier: MIT
 *
 * Topics of the help that no table of the program knows. */
#include "cli/help.h"

const char rt_cli_tagline[] =
	"conversations with language models that you can edit, branch and undo";

static const rt_cli_topic_row addressing[] = {
	{"k3f9", "the entry with this id, as show and tree print it"},
	{"k3", "any beginning of an id that no other entry has"},
	{"good-start", "the entry with this label"},
	{"@", "the head: where the next entry goes"},
	{"@-", "the entry before the head; @-3: three before it"},
	{":7", "the 7th entry of the take"},
	{":-1", "the last entry; :-2: the one before it"},
	{":4..:9", "a run of entries, where a command takes several; :4.. goes to the end, ..:9 "
		   "begins at the first"},
	{NULL, NULL},
};

static const rt_cli_topic_row exit_codes[] = {
	{"0", "all went well"},
	{"1", "it failed, or is not allowed as things stand"},
	{"2", "the command line or the input is wrong"},
	{"3", "there is no such entry, take, discussion, step or file"},
	{"4", "credentials are missing or wrong"},
	{"5", "somebody else was faster; look again and repeat"},
	{"6", "the address fits more than one entry"},
	{"7", "the model or its server failed"},
	{"8", "a hook refused"},
	{"130", "interrupted"},
	{NULL, NULL},
};

static const rt_cli_topic_row environment[] = {
	{"RETAKE_DB", "the store to work on; --db goes before it"},
	{"RETAKE_PROJECT", "the project in it; -p goes before it"},
	{"RETAKE_MODEL", "the model, PROVIDER/NAME, where neither -m nor the setting model says it"},
	{"OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY",
	 "the key of each provider, unless config.toml says where another is"},
	{"OPENAI_BASE_URL", "where openai is, instead of https://api.openai.com/v1"},
	{"OLLAMA_HOST", "where Ollama is: a host, a port or both; default: 127.0.0.1:11434"},
	{"RETAKE_TOKENS", "the folder with the ranks that tokens are counted with (*.tiktoken)"},
	{"XDG_DATA_HOME", "where the default store is: retake/retake.db below it, else below "
			  "~/.local/share"},
	{"XDG_CONFIG_HOME", "where config.toml (retake help config) and hooks of yours are: retake/ "
			    "below it, else below ~/.config"},
	{"XDG_STATE_HOME", "where it says which hooks you trust, and the log of requests: retake/ "
			   "below it, else below ~/.local/state"},
	{"RETAKE_HOOK_DEPTH", "how many hooks this was started by; at 4 no more are run"},
	{"VISUAL, EDITOR", "the editor for texts"},
	{"PAGER", "the pager for long output on a terminal; empty: none; default: less -FIRX"},
	{"NO_COLOR", "when set to anything, no colours"},
	{"COLUMNS", "the width of a terminal that does not say it"},
	{"TMPDIR", "where texts are while an editor is open, and what import reads from a pipe"},
	{"LC_ALL, LC_CTYPE, LANG", "whether lines are drawn with more than ASCII"},
	{NULL, NULL},
};

/* docs/models.md has the same table. */
static const rt_cli_topic_row config[] = {
	{"model", "the model, PROVIDER/NAME, where neither -m, the setting model nor RETAKE_MODEL "
		  "says it"},
	{"comms_texts", "false: the log of requests has no texts, only references to the conversation"},
	{"[provider.NAME]", "a server; NAME is that of a family (openai, anthropic, ollama, gemini), or "
			    "one of your own"},
	{"kind", "of a provider: the family that it speaks like; default: its name"},
	{"url", "of a provider: where it is; default: the family's, or what the environment says"},
	{"key_env", "of a provider: the variable that has its key"},
	{"key_file", "of a provider: the file that has its key"},
	{"key_cmd", "of a provider: the program that prints its key, as a list of words"},
	{"headers", "of a provider: further headers of each request, as a table"},
	{"timeout_s", "of a provider: how many seconds it may say nothing"},
	{"context_tokens", "of a provider: how many tokens its models take; the oldest entries are left "
			   "out beyond that"},
	{"ca_file", "of a provider: certificates to trust instead of the system's"},
	{"models",
	 "of a provider: names of models that it has, beside those that its server lists: [\"a\", \"b\"]"},
	{"allow_plain_http", "of a provider: true: its key may go to another machine unencrypted"},
	{"[defaults]", "settings of new projects (retake settings --all lists them), and roles, the "
		       "list of roles: [\"User\", \"AI\"]"},
	{"[[hook]]", "a hook; its keys are in docs/hooks.md"},
	{NULL, NULL},
};

static const rt_cli_topic_row take_file[] = {
	{"=== :step 42", "the step that the file shows; keep it, so that nobody's change is lost"},
	{"=== k3f9 User", "begins an entry: its id and its role; the text follows"},
	{"=== + User", "begins a new entry"},
	{"=== k3f9+muted AI", "the entry is muted"},
	{"=== k3f9+locked AI", "its content is no plain text; it can be moved and deleted"},
	{"\\=== text", "a line of a text that begins with three equals signs and a space"},
	{"=== :end", "ends the file; without it nothing is changed"},
	{NULL, NULL},
};

const rt_cli_topic rt_cli_topics[] = {
	{"addressing", "Addressing", "how to name an entry",
	 "Where a command wants an ENTRY, any of these will do:", addressing,
	 "Discussions and takes are named in full, or by the ids that ls --all and takes --all "
	 "print."},
	{"exit-codes", "Exit status", "what the exit status says", NULL, exit_codes,
	 "With --json, failures are also printed as "
	 "{\"error\":{\"code\":\"not_found\",\"message\":\"…\"}}."},
	{"environment", "Environment", "variables that are read", NULL, environment, NULL},
	{"config", "The configuration", "the keys of config.toml",
	 "$XDG_CONFIG_HOME/retake/config.toml, else ~/.config/retake/config.toml, in TOML. It need not "
	 "be there.",
	 config,
	 "At most one of key_env, key_file and key_cmd. A key itself never stands in the file, which "
	 "people copy and show."},
	{"take-file", "The take file", "the file of edit --all",
	 "retake edit --all and retake show --take-file show a whole take as one text. Lines of this "
	 "form stand between the texts:",
	 take_file,
	 "Entries that are missing are deleted, entries in another order are moved, and all of it is "
	 "one step. When the file cannot be understood, nothing is changed and the file is kept."},
	{NULL, NULL, NULL, NULL, NULL, NULL},
};

const rt_cli_topic rt_cli_generated_topics[] = {
	{.name = "events", .summary = "what hooks are told of"},
	{.name = "formats", .summary = "what import and export read and write"},
	{.name = "keys", .summary = "what keys do on the screens of the terminal"},
	{.name = "operations", .summary = "what apply carries out"},
	{.name = NULL},
};
