/* SPDX-License-Identifier: MIT
 *
 * The table of operations (contract, section 7 of ARCHITECTURE). */
#include "core/op.h"

#define REQ RT_FIELD_REQUIRED
#define NUL RT_FIELD_NULLABLE
#define PLACE_BEFORE {"before", RT_FIELD_ADDRESS, 0, "the entry that will follow"}
#define PLACE_AFTER {"after", RT_FIELD_ADDRESS, 0, "the entry that will precede"}

const rt_op rt_ops[RT_OP_COUNT] = {
	{RT_OP_ENTRY_APPEND, "entry.append", "add an entry at the head", "added an entry", true, "",
	 {{"role", RT_FIELD_STRING, 0, "default: the first of the project's roles"},
	  {"content", RT_FIELD_CONTENT, 0, "its text, or an array of content blocks"},
	  {"kind", RT_FIELD_STRING, 0, "message, compaction, branch_summary, custom …"},
	  {"id", RT_FIELD_STRING, 0, "a name of one's own"},
	  {"ts", RT_FIELD_MOMENT, 0, "default: now"},
	  {"prompt", RT_FIELD_STRING, 0, "the working prompt as the model gave it"},
	  {NULL, 0, 0, NULL}}},
	{RT_OP_ENTRY_INSERT, "entry.insert", "add an entry before or after another",
	 "inserted an entry", true, "",
	 {PLACE_BEFORE, PLACE_AFTER,
	  {"role", RT_FIELD_STRING, 0, "default: the first of the project's roles"},
	  {"content", RT_FIELD_CONTENT, 0, "its text, or an array of content blocks"},
	  {"kind", RT_FIELD_STRING, 0, "message, compaction, branch_summary, custom …"},
	  {"id", RT_FIELD_STRING, 0, "a name of one's own"},
	  {"ts", RT_FIELD_MOMENT, 0, "default: now"},
	  {NULL, 0, 0, NULL}}},
	{RT_OP_ENTRY_REPLY, "entry.reply", "add a model's reply right behind what it answers",
	 "got a reply", true, "AI",
	 {{"after", RT_FIELD_ADDRESS, NUL, "what it answers; null: the take is empty before it"},
	  {"into", RT_FIELD_ADDRESS, 0,
	   "a reply that this continues: its text and the fields given become these"},
	  {"join", RT_FIELD_BOOL, 0, "with into: the content goes behind what the reply has then"},
	  {"by_hand", RT_FIELD_BOOL, 0,
	   "with into: somebody edited its content, no model went on with it"},
	  {"fork", RT_FIELD_BOOL, 0, "when something follows already: in a new take"},
	  {"role", RT_FIELD_STRING, 0, "default: AI"},
	  {"content", RT_FIELD_CONTENT, 0, "its text, or an array of content blocks"},
	  {"id", RT_FIELD_STRING, 0, "a name of one's own"},
	  {"ts", RT_FIELD_MOMENT, 0, "default: now"},
	  {"prompt", RT_FIELD_STRING, 0, "the working prompt as the model gave it"},
	  {"flight", RT_FIELD_STRING, 0, "the side row of a reply in flight that this ends"},
	  {NULL, 0, 0, NULL}}},
	{RT_OP_ENTRY_EDIT, "entry.edit", "change an entry's text", "edited an entry", false, NULL,
	 {{"entry", RT_FIELD_ADDRESS, REQ, "which"},
	  {"content", RT_FIELD_CONTENT, REQ, "the new text"},
	  {"everywhere", RT_FIELD_BOOL, 0, "in every take that holds it, not only this one"},
	  {"keep_blocks", RT_FIELD_BOOL, 0,
	   "the text goes where the text was; blocks that are no text stay"},
	  {NULL, 0, 0, NULL}}},
	{RT_OP_ENTRY_ROLE, "entry.role", "change who speaks", "changed a role", false, NULL,
	 {{"entry", RT_FIELD_ADDRESS, REQ, "which"},
	  {"role", RT_FIELD_STRING, REQ, "any text but none"},
	  {NULL, 0, 0, NULL}}},
	{RT_OP_ENTRY_DELETE, "entry.delete", "take out an entry, or a run of them",
	 "deleted entries", false, NULL,
	 {{"entry", RT_FIELD_ADDRESS, 0, "which one"},
	  {"from", RT_FIELD_ADDRESS, 0, "the first of a run"},
	  {"to", RT_FIELD_ADDRESS, 0, "the last of the run"},
	  {NULL, 0, 0, NULL}}},
	{RT_OP_ENTRY_MOVE, "entry.move", "put an entry elsewhere", "moved an entry", false, NULL,
	 {{"entry", RT_FIELD_ADDRESS, REQ, "which"}, PLACE_BEFORE, PLACE_AFTER, {NULL, 0, 0, NULL}}},
	{RT_OP_ENTRY_MUTE, "entry.mute", "keep an entry in view but out of what is sent",
	 "muted or unmuted an entry", false, NULL,
	 {{"entry", RT_FIELD_ADDRESS, REQ, "which"},
	  {"muted", RT_FIELD_BOOL, 0, "default: true"},
	  {NULL, 0, 0, NULL}}},
	{RT_OP_ENTRY_VIEW, "entry.view", "collapse, expand, read or edit mode (not undone by undo)",
	 "changed how entries are shown", false, NULL,
	 {{"entry", RT_FIELD_ADDRESS, 0, "which"},
	  {"all", RT_FIELD_BOOL, 0, "all entries of the take"},
	  {"collapsed", RT_FIELD_BOOL, 0, "show a preview only"},
	  {"read_mode", RT_FIELD_BOOL, 0, "show as rendered text"},
	  {NULL, 0, 0, NULL}}},
	{RT_OP_ENTRY_SPLIT, "entry.split", "cut an entry in two", "split an entry", false, NULL,
	 {{"entry", RT_FIELD_ADDRESS, REQ, "which"},
	  {"at", RT_FIELD_NUMBER, REQ, "characters (code points) in the first half"},
	  {"id", RT_FIELD_STRING, 0, "a name for the second half"},
	  {NULL, 0, 0, NULL}}},
	{RT_OP_ENTRY_MERGE, "entry.merge", "join an entry with the next one", "merged two entries",
	 false, NULL,
	 {{"entry", RT_FIELD_ADDRESS, REQ, "the first of the two"}, {NULL, 0, 0, NULL}}},
	{RT_OP_TAKE_BRANCH, "take.branch", "start a new take from an entry on",
	 "branched", false, NULL,
	 {{"at", RT_FIELD_ADDRESS, REQ, "the last entry that both share"},
	  {"name", RT_FIELD_STRING, 0, "default: <base>_take_<n>"},
	  {NULL, 0, 0, NULL}}},
	{RT_OP_TAKE_SWITCH, "take.switch", "go to another take", "switched takes", false, NULL,
	 {{"take", RT_FIELD_STRING, REQ, "name or id"}, {NULL, 0, 0, NULL}}},
	{RT_OP_TAKE_RENAME, "take.rename", "rename a take", "renamed a take", false, NULL,
	 {{"take", RT_FIELD_STRING, REQ, "name or id"},
	  {"name", RT_FIELD_STRING, REQ, "the new name"},
	  {NULL, 0, 0, NULL}}},
	{RT_OP_TAKE_DELETE, "take.delete", "remove a take (never the last)",
	 "deleted a take", false, NULL,
	 {{"take", RT_FIELD_STRING, REQ, "name or id"}, {NULL, 0, 0, NULL}}},
	{RT_OP_TAKE_PROMOTE, "take.promote", "make a take a discussion of its own",
	 "promoted a take", false, NULL,
	 {{"take", RT_FIELD_STRING, REQ, "name or id"},
	  {"name", RT_FIELD_STRING, REQ, "of the new discussion"},
	  {NULL, 0, 0, NULL}}},
	{RT_OP_TAKE_CLEAR, "take.clear", "take out all entries of the take",
	 "cleared the take", false, NULL,
	 {{"all", RT_FIELD_BOOL, 0, "the prompt and its flag too"}, {NULL, 0, 0, NULL}}},
	{RT_OP_TAKE_TRUNCATE, "take.truncate", "keep the last question-answer pairs only",
	 "truncated the take", false, NULL,
	 {{"pairs", RT_FIELD_NUMBER, REQ, "how many to keep"}, {NULL, 0, 0, NULL}}},
	{RT_OP_TAKE_GRAFT, "take.graft", "bring entries of another take into this one",
	 "grafted entries", false, NULL,
	 {{"entries", RT_FIELD_ARRAY, REQ, "their addresses"},
	  {"from", RT_FIELD_STRING, REQ, "the take they are in"},
	  PLACE_BEFORE, PLACE_AFTER, {NULL, 0, 0, NULL}}},
	{RT_OP_HEAD_MOVE, "head.move", "continue from another entry", "moved the head", false, NULL,
	 {{"entry", RT_FIELD_ADDRESS, REQ | NUL, "null: before the first"}, {NULL, 0, 0, NULL}}},
	{RT_OP_LABEL_SET, "label.set", "name an entry, or take its name away",
	 "set a label", false, NULL,
	 {{"entry", RT_FIELD_ADDRESS, REQ, "which"},
	  {"label", RT_FIELD_STRING, REQ | NUL, "null or empty: none"},
	  {NULL, 0, 0, NULL}}},
	{RT_OP_SETTING_SET, "setting.set", "change a setting", "changed a setting", false, NULL,
	 {{"key", RT_FIELD_STRING, REQ, "any name"},
	  {"value", RT_FIELD_ANY, REQ | NUL, "any JSON; null: back to the default"},
	  {NULL, 0, 0, NULL}}},
	{RT_OP_ROLE_ADD, "role.add", "add a role to the project's list",
	 "added a role", false, NULL,
	 {{"role", RT_FIELD_STRING, REQ, "its name"}, {NULL, 0, 0, NULL}}},
	{RT_OP_ROLE_REMOVE, "role.remove", "remove a role from the project's list",
	 "removed a role", false, NULL,
	 {{"role", RT_FIELD_STRING, REQ, "its name"}, {NULL, 0, 0, NULL}}},
	{RT_OP_PROMPT_UPDATE, "prompt.update", "change the working prompt",
	 "changed the prompt", false, NULL,
	 {{"text", RT_FIELD_STRING, REQ, "the prompt"}, {NULL, 0, 0, NULL}}},
	{RT_OP_PROMPT_NOTIFY, "prompt.notify", "tell the model that the prompt was edited",
	 "noted the edited prompt", false, NULL,
	 {{"id", RT_FIELD_STRING, 0, "a name for the notice"}, {NULL, 0, 0, NULL}}},
	{RT_OP_FILES_SET, "files.set", "set a list of files", "set the files", false, NULL,
	 {{"which", RT_FIELD_STRING, REQ, "files, context_files or screenshots"},
	  {"items", RT_FIELD_ARRAY, REQ, "the list"},
	  {NULL, 0, 0, NULL}}},
	{RT_OP_TRACK_SET, "track.set", "bind the discussion to a track",
	 "set the track", false, NULL,
	 {{"track", RT_FIELD_STRING, REQ | NUL, "its name; null: none"}, {NULL, 0, 0, NULL}}},
	{RT_OP_PRESET_SAVE, "preset.save", "keep files, screenshots and prompts under a name",
	 "saved a preset", false, NULL,
	 {{"name", RT_FIELD_STRING, REQ, "of the preset"}, {NULL, 0, 0, NULL}}},
	{RT_OP_PRESET_LOAD, "preset.load", "bring back what a preset kept",
	 "loaded a preset", false, NULL,
	 {{"name", RT_FIELD_STRING, REQ, "of the preset"}, {NULL, 0, 0, NULL}}},
	{RT_OP_PRESET_DELETE, "preset.delete", "forget a preset", "deleted a preset", false, NULL,
	 {{"name", RT_FIELD_STRING, REQ, "of the preset"}, {NULL, 0, 0, NULL}}},
	{RT_OP_DISCUSSION_NEW, "discussion.new", "start a discussion",
	 "started a discussion", false, NULL,
	 {{"name", RT_FIELD_STRING, REQ, "not taken yet"}, {NULL, 0, 0, NULL}}},
	{RT_OP_DISCUSSION_SWITCH, "discussion.switch", "go to another discussion",
	 "switched discussions", false, NULL,
	 {{"discussion", RT_FIELD_STRING, REQ, "name or id"}, {NULL, 0, 0, NULL}}},
	{RT_OP_DISCUSSION_RENAME, "discussion.rename", "rename a discussion",
	 "renamed a discussion", false, NULL,
	 {{"discussion", RT_FIELD_STRING, REQ, "name or id"},
	  {"name", RT_FIELD_STRING, REQ, "the new name"},
	  {NULL, 0, 0, NULL}}},
	{RT_OP_DISCUSSION_DELETE, "discussion.delete", "remove a discussion (never the last)",
	 "deleted a discussion", false, NULL,
	 {{"discussion", RT_FIELD_STRING, REQ, "name or id"}, {NULL, 0, 0, NULL}}},
	{RT_OP_DISCUSSION_EXTRACT, "discussion.extract", "make a discussion of the path to an entry",
	 "extracted a path", false, NULL,
	 {{"entry", RT_FIELD_ADDRESS, REQ, "the end of the path"},
	  {"name", RT_FIELD_STRING, 0, "default: the discussion's name and a number"},
	  {NULL, 0, 0, NULL}}},
	{RT_OP_PROJECT_RESET, "project.reset", "start afresh (undo brings everything back)",
	 "reset the project", false, NULL, {{NULL, 0, 0, NULL}}},
	{RT_OP_UNDO, "undo", "take back the newest steps", "undid", false, NULL,
	 {{"count", RT_FIELD_NUMBER, 0, "how many; default 1"},
	  {"scope", RT_FIELD_STRING, 0, "discussion or project; default both"},
	  {NULL, 0, 0, NULL}}},
	{RT_OP_REDO, "redo", "bring back what was undone", "redid", false, NULL,
	 {{"count", RT_FIELD_NUMBER, 0, "how many; default 1"},
	  {"scope", RT_FIELD_STRING, 0, "discussion or project; default both"},
	  {NULL, 0, 0, NULL}}},
	{RT_OP_JUMP, "jump", "go to the state right after a step", "jumped", false, NULL,
	 {{"to", RT_FIELD_NUMBER, REQ, "a step's number; 0: before the discussion's first"},
	  {"scope", RT_FIELD_STRING, 0,
	   "discussion or project; default: the discussion in view and the project"},
	  {NULL, 0, 0, NULL}}},
	{RT_OP_REVERT, "revert", "undo one old step, as a new step", "reverted a step", false, NULL,
	 {{"seq", RT_FIELD_NUMBER, REQ, "the step's number"}, {NULL, 0, 0, NULL}}},
	{RT_OP_PURGE, "purge", "remove a secret for good (not undoable)", "purged", false, NULL,
	 {{"entry", RT_FIELD_ADDRESS, 0, "all texts of this entry"},
	  {"text", RT_FIELD_STRING, 0, "everything that holds this text"},
	  {NULL, 0, 0, NULL}}},
};

const rt_op *
rt_op_named(rt_str name)
{
	size_t i;

	for (i = 0; i < RT_OP_COUNT; i++)
		if (rt_str_is(name, rt_ops[i].name))
			return &rt_ops[i];
	return NULL;
}

const char *
rt_op_nearest(rt_str name)
{
	size_t best = SIZE_MAX, i;
	const char *found = NULL;

	for (i = 0; i < RT_OP_COUNT; i++) {
		size_t d = rt_str_distance(name, rt_str_of(rt_ops[i].name));

		if (d < best) {
			best = d;
			found = rt_ops[i].name;
		}
	}
	return best <= name.size / 3 + 1 ? found : NULL;
}

const rt_op_field *
rt_op_field_named(const rt_op *op, rt_str name)
{
	const rt_op_field *f;

	for (f = op->fields; f->name != NULL; f++)
		if (rt_str_is(name, f->name))
			return f;
	return NULL;
}
