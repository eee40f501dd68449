/* SPDX-License-Identifier: MIT
 *
 * Topics of the help that no table of the program knows. */
#include "cli/help.h"
#include "llm/provider.h"

const char rt_cli_tagline[] =
	"edit, branch and undo conversations with language models";

static const rt_cli_topic_row addressing[] = {
	{"k3f9", "the entry with this id, as printed by show and tree"},
	{"k3", "a unique prefix of an id"},
	{"good-start", "the entry with this label"},
	{"@", "the head: the entry after which the next one is added"},
	{"@-", "the entry before the head; @-3: three before it"},
	{":7", "the 7th entry of the take"},
	{":-1", "the last entry; :-2: the one before it"},
	{":4..:9", "a range of entries, for commands that accept several; :4.. ends at the last, "
		   "..:9 begins at the first"},
	{NULL, NULL},
};

static const rt_cli_topic_row exit_codes[] = {
	{"0", "success"},
	{"1", "failure, or not allowed in this state"},
	{"2", "invalid command line or input"},
	{"3", "entry, take, discussion, step or file not found"},
	{"4", "missing or invalid credentials"},
	{"5", "changed by another program in the meantime; check and repeat"},
	{"6", "ambiguous address"},
	{"7", "the model or its server failed"},
	{"8", "refused by a hook"},
	{"130", "interrupted"},
	{NULL, NULL},
};

static const rt_cli_topic_row environment[] = {
	{"RETAKE_DB", "the store to work on; --db overrides it"},
	{"RETAKE_PROJECT", "the project in the store; -p overrides it"},
	{"RETAKE_MODEL", "the model, PROVIDER/NAME, if neither -m nor the model setting is set"},
	{"OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY",
	 "the API keys of the providers, unless config.toml configures others"},
	{"OPENAI_BASE_URL", "base URL of openai; default: https://api.openai.com/v1"},
	{"OLLAMA_HOST", "address of Ollama: a host, a port or both; default: 127.0.0.1:11434"},
	{"RETAKE_TOKENS", "the directory with the token encodings (*.tiktoken)"},
	{"RETAKE_OIDC_SECRET", "the client's secret for serve --oidc, without --oidc-secret-file"},
	{"RETAKE_PROXY_SECRET", "the proxy's secret for serve --proxy-user, without --proxy-secret-file"},
	{"XDG_DATA_HOME", "directory of the default store, retake/retake.db; default: ~/.local/share"},
	{"XDG_CONFIG_HOME", "directory of retake/config.toml (retake help config) and retake/hooks; "
			    "default: ~/.config"},
	{"XDG_STATE_HOME", "directory of the list of trusted hooks and the request log, below "
			   "retake/; default: ~/.local/state"},
	{"RETAKE_HOOK_DEPTH", "nesting depth of hooks; at 4, no more hooks are run"},
	{"VISUAL, EDITOR", "the editor for texts"},
	{"PAGER", "the pager for long output on a terminal; empty: none; default: less -FIRX"},
	{"NO_COLOR", "if set, no colours"},
	{"COLUMNS", "width of a terminal that does not report it"},
	{"TMPDIR", "directory for temporary files: texts in an editor, imports from a pipe"},
	{"LC_ALL, LC_CTYPE, LANG", "UTF-8 or ASCII output"},
	{NULL, NULL},
};

/* docs/models.md has the same table. */
static const rt_cli_topic_row config[] = {
	{"model", "the model, PROVIDER/NAME, if neither -m, the model setting nor RETAKE_MODEL is "
		  "set"},
	{"title_model", "PROVIDER/NAME of the model that writes the titles of discussions without a "
			"chosen name; default: none"},
	{"embedding_model", "PROVIDER/NAME of the model that computes embeddings for retake search --similar; all "
			    "texts are sent to it; default: none"},
	{"comms_texts", "false: the request log contains references to the conversation instead "
			"of texts"},
	{"[provider.NAME]", "a provider; NAME is " RT_PROVIDER_SERVERS
			    ", or a name that you choose"},
	{"kind", "of a provider: its API (" RT_PROVIDER_SERVERS "); default: its name"},
	{"url", "of a provider: its address; default: that of the API, or from the environment"},
	{"key_env", "of a provider: environment variable with the API key"},
	{"key_file", "of a provider: file with the API key"},
	{"key_cmd", "of a provider: command that prints the API key, as a list of words"},
	{"headers", "of a provider: additional request headers, as a table"},
	{"timeout_s", "of a provider: idle timeout in seconds"},
	{"context_tokens", "of a provider: context size of its models in tokens; longer requests leave "
			   "out the oldest entries"},
	{"ca_file", "of a provider: file of trusted certificates, instead of those of the system"},
	{"models",
	 "of a provider: models in addition to those that its server lists: [\"a\", \"b\"]"},
	{"allow_plain_http", "of a provider: allow sending its key to another machine "
			     "unencrypted (true or false)"},
	{"[prices]", "cost of a million tokens of a model, in any currency: \"openai/gpt-5\" = "
		     "{ input = 1.25, output = 10, cached = 0.125 }; replies then have a cost"},
	{"[defaults]", "settings of new projects (retake settings --all lists them), and roles, the "
		       "list of roles: [\"User\", \"AI\"]"},
	{"[tui]", "settings of the terminal UI"},
	{"mouse", "of [tui]: false leaves the mouse to the terminal"},
	{"theme", "of [tui]: \"dark\" or \"light\"; default: \"auto\", according to the "
		  "terminal's background"},
	{"[[hook]]", "a hook; its keys are in docs/hooks.md"},
	{NULL, NULL},
};

static const rt_cli_topic_row take_file[] = {
	{"=== :step 42", "the step that the file shows; keep it, so that no change is lost"},
	{"=== k3f9 User", "begins an entry: its id and its role; the text follows"},
	{"=== + User", "starts a new entry"},
	{"=== k3f9+muted AI", "the entry is muted"},
	{"=== k3f9+locked AI", "its content is not plain text; it can be moved and deleted"},
	{"\\=== text", "a line of text that begins with three equals signs and a space"},
	{"=== :end", "ends the file; without it nothing is changed"},
	{NULL, NULL},
};

const rt_cli_topic rt_cli_topics[] = {
	{"addressing", "Addressing", "addresses of entries",
	 "An ENTRY can be given as:", addressing,
	 "Discussions and takes are given by their full names, or by the ids that ls --all and "
	 "takes --all print."},
	{"exit-codes", "Exit status", "exit status", NULL, exit_codes,
	 "With --json, failures are also printed as "
	 "{\"error\":{\"code\":\"not_found\",\"message\":\"…\"}}."},
	{"environment", "Environment", "environment variables", NULL, environment, NULL},
	{"config", "The configuration", "the keys of config.toml",
	 "$XDG_CONFIG_HOME/retake/config.toml, or ~/.config/retake/config.toml, in TOML. "
	 "Optional.",
	 config,
	 "Give at most one of key_env, key_file and key_cmd. The file cannot contain the key "
	 "itself, because such files are copied and shared."},
	{"take-file", "The take file", "the file of edit --all",
	 "retake edit --all and retake show --take-file show a whole take as one text. Each "
	 "entry starts with a line of this form:",
	 take_file,
	 "Missing entries are deleted, reordered entries are moved, and all of it is one step. "
	 "If the file is invalid, nothing is changed and the file is kept."},
	{NULL, NULL, NULL, NULL, NULL, NULL},
};

const rt_cli_topic rt_cli_generated_topics[] = {
	{.name = "events", .summary = "events for hooks"},
	{.name = "formats", .summary = "formats of import and export"},
	{.name = "keys", .summary = "keys of the terminal UI"},
	{.name = "operations", .summary = "operations of apply"},
	{.name = NULL},
};
