// SPDX-License-Identifier: MIT
//
// Sample: a small conversation to try everything with, in the form in which OpenAI's API takes
// conversations (which the server reads).

const MESSAGES = [
	{ role: "user", content: "Which database should a small desktop application use?" },
	{
		role: "assistant",
		content: "**SQLite**, almost always.\n\n- one file, no server to install\n- transactions, so a crash loses nothing\n- it is *fast* for one user\n\n```sql\nCREATE TABLE entry (id TEXT PRIMARY KEY, body TEXT NOT NULL);\n```\n\nPostgres earns its keep when several machines write at once.",
	},
	{ role: "user", content: "And when two windows of the same program are open?" },
	{
		role: "assistant",
		content: "Still SQLite: turn on WAL mode, and readers never wait for the writer.\n\n| mode | readers | writers |\n|---|---|---|\n| rollback journal | wait while one writes | one |\n| WAL | never wait | one at a time |",
	},
	{ role: "user", content: "Give me the shortest code that opens it that way." },
	{
		role: "assistant",
		content: "```python\nimport sqlite3\n\ndb = sqlite3.connect(\"notes.db\")\ndb.execute(\"PRAGMA journal_mode = WAL\")\n```\n\nTry: edit this reply, press `b` on the question above it, or delete something and undo it.",
	},
];

export function sample(): string {
	return JSON.stringify(MESSAGES);
}
