/* SPDX-License-Identifier: MIT */
#include "tui/palette_words.h"

#include "tui/find.h"

static const struct {
	const char *name, *words;
} synonyms[] = {
	{"add", "append, write, new entry, note"},
	{"again", "retry, regenerate, another answer"},
	{"backup", "copy of the store"},
	{"branch", "fork, new take"},
	{"branch-here", "fork, new take"},
	{"branches", "takes, tabs, switch"},
	{"clear", "empty, delete all"},
	{"collapse", "fold, expand, unfold, preview"},
	{"comms", "log, network, provider, usage"},
	{"compact", "summary, summarise, summarize, compaction, shorten, tokens"},
	{"compress", "summary, summarise, summarize, compression, shorten, tokens"},
	{"context", "tokens, sent, preview of the request"},
	{"delete", "remove, erase"},
	{"diff", "compare, difference"},
	{"discussions", "sessions, switch, rename, delete, archive, promote"},
	{"edit", "change, rewrite, correct"},
	{"export", "write a file, download, markdown, html"},
	{"extract", "fork, new session, branch"},
	{"files", "context, attach, images, screenshots, snapshot"},
	{"filter-next", "show only, hide"},
	{"go", "navigate, move the head, continue from"},
	{"graft", "cherry-pick, copy, bring"},
	{"history", "steps, snapshots, log, undo list"},
	{"jump", "restore, go back, state, time"},
	{"label", "bookmark, name, tag"},
	{"ls", "sessions, discussions"},
	{"mark", "select"},
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
	{"save", "flush, write, disk"},
	{"set", "settings, preferences, options, configure"},
	{"settings", "preferences, options, configuration"},
	{"source", "read mode, edit mode, markdown, raw"},
	{"symbols", "definition, functions, ctags"},
	{"takes", "branches, tabs, switch, rename"},
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

bool
rt_palette_words_hold(const char *name, rt_str part)
{
	for (size_t i = 0; i < sizeof(synonyms) / sizeof(synonyms[0]); i++)
		if (strcmp(synonyms[i].name, name) == 0)
			return rt_find_holds(rt_str_of(synonyms[i].words), part);
	return false;
}
