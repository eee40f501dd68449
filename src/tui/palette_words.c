/* SPDX-License-Identifier: MIT */
#include "tui/palette_words.h"

#include "tui/find.h"

static const struct {
	const char *name, *words;
} synonyms[] = {
	{"add", "append, write, new entry, note"},
	{"again", "retry, regenerate, another answer"},
	{"attach", "image, picture, photo, screenshot, pdf, file, upload"},
	{"backup", "copy of the store"},
	{"branch", "fork, new take"},
	{"branch-here", "fork, new take"},
	{"branches", "takes, tabs, switch"},
	{"clear", "empty, delete all"},
	{"collapse", "fold, expand, unfold, preview"},
	{"comms", "log, network, provider, usage"},
	{"compact", "summary, summarise, summarize, compaction, shorten, tokens"},
	{"compress", "summary, summarise, summarize, compression, shorten, tokens"},
	{"config", "theme, colours, colors, dark, light"},
	{"context", "tokens, sent, preview of the request"},
	{"delete", "remove, erase"},
	{"diff", "compare, difference"},
	{"discussions", "sessions, switch, rename, delete, archive, promote, folder, folders, tags, pin"},
	{"edit", "change, rewrite, correct"},
	{"export", "write a file, download, markdown, html, share, publish, save as, redact, secret"},
	{"extract", "fork, new session, branch"},
	{"files", "context, attach, images, screenshots, snapshot"},
	{"filter-next", "show only, hide"},
	{"go", "navigate, move the head, continue from"},
	{"graft", "cherry-pick, copy, bring"},
	{"history", "steps, snapshots, log, undo list"},
	{"jump", "restore, go back, state, time"},
	{"label", "bookmark, name, tag, checkpoint"},
	{"ls", "sessions, discussions"},
	{"mark", "select"},
	{"merge-take", "merge, combine, conclusion, bring"},
	{"model", "provider, llm"},
	{"mute", "exclude, do not send"},
	{"new", "create, session"},
	{"only", "filter, focus, agent, persona, role, hide, show only"},
	{"preset", "context, snapshot"},
	{"prompt", "working prompt, system prompt, instructions"},
	{"promote", "top-level, separate"},
	{"purge", "secret, redact, erase, forget"},
	{"quit", "exit, close"},
	{"reset", "start over, clear everything"},
	{"revert", "undo one step"},
	{"revisions", "versions, earlier texts"},
	{"rm", "delete, remove"},
	{"role", "speaker, author"},
	{"roles", "speakers, add a role, persona"},
	{"save", "flush, write, disk, checkpoint"},
	{"search", "find"},
	{"serve", "server, browser, web, page"},
	{"set", "settings, preferences, options, configure"},
	{"settings", "preferences, options, configuration"},
	{"source", "read mode, edit mode, markdown, raw"},
	{"status", "cost, price, usage, tokens used, spent"},
	{"symbols", "definition, functions, ctags"},
	{"system", "system prompt, instructions, persona, custom instructions"},
	{"tag", "folder, folders, group"},
	{"takes", "branches, tabs, switch, rename"},
	{"template", "snippet, prompt library"},
	{"thinking", "reasoning"},
	{"tools", "tool calls"},
	{"track", "worktree, group"},
	{"tracks", "groups, filter"},
	{"tree", "outline, branches, map"},
	{"truncate", "shorten, keep the last pairs, trim"},
	{"use", "switch, open, session"},
	{"versions", "revisions, earlier texts"},
	{"view", "read mode, edit mode, fold, unfold, collapse all, expand all"},
};

static const char *
words_of(const char *name)
{
	for (size_t i = 0; i < sizeof(synonyms) / sizeof(synonyms[0]); i++)
		if (strcmp(synonyms[i].name, name) == 0)
			return synonyms[i].words;
	return NULL;
}

bool
rt_palette_words_hold(const char *name, rt_str part)
{
	const char *words = words_of(name);

	return words != NULL && rt_find_holds(rt_str_of(words), part);
}

bool
rt_palette_words_have(const char *name, rt_str word)
{
	const char *words = words_of(name);
	rt_str rest = rt_str_of(words == NULL ? "" : words), one;

	while (words != NULL && word.size > 0 && rt_str_split(&rest, ',', &one))
		if (rt_str_eq_nocase(rt_str_trim(one), word))
			return true;
	return false;
}
