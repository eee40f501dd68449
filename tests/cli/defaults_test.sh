#!/bin/sh
# SPDX-License-Identifier: MIT
#
# [defaults] of config.toml: initial settings of new projects, whichever program creates them;
# unknown keys in that file.
. "$(dirname "$0")/lib.sh"

mkdir -p "$work/config/retake"
config=$work/config/retake/config.toml
setting() {
	r settings --json "$@" | json 'json.dumps(d["settings"], sort_keys=True)'
}
roles() {
	r roles --json | json '" ".join(d)'
}

r -q add old
cat >"$config" <<'E'
[defaults]
temperature = 0.2
symbols_sent = true
base_system_prompt = "Be brief."
roles = ["User", "Critic"]
E
r -q add more
is 'a project with a history keeps what it has' '{}' "$(setting)"

db=$work/new.db
all='{"base_system_prompt": "Be brief.", "symbols_sent": true, "temperature": 0.2}'
code 'nothing to undo' 1 r undo
is 'reading sets nothing' '{}' "$(setting)"
r -q add hi
is 'a new project has them' "$all" "$(setting)"
is 'the roles' 'User Critic' "$(roles)"
has 'they are a step' config "$(r history)"
r -q new other
is 'a new discussion has them' "$all" "$(setting)"
r -q set temperature 0.9
has 'a discussion has its own value' '"temperature": 0.9' "$(setting)"
r -q set temperature --unset
is 'reset to the default' "$all" "$(setting)"
r -q add question
has 'they are sent' '"temperature":0.2' "$(r context --json 2>/dev/null)"
has 'prompts as well' 'Be brief.' "$(r context --json 2>/dev/null)"
r -q set temperature 0.7 --for-all
r -q use main
has 'for all discussions' '"temperature": 0.7' "$(setting)"
code 'a draft is not a default' 2 r set draft x --for-all
has 'a draft is not a default' '"draft" is a setting of a discussion: it cannot be set for the project' "$err"
printf '%s\n' '{"op":"setting.set","key":"top_p","value":1,"of":"take"}' >"$work/request"
has 'another owner' 'must be \"project\"' "$(r apply - --json <"$work/request" 2>&1)"
r -q undo 20
is 'undone' '{}' "$(setting)"
is 'undone: roles' 'User AI Vendor API System' "$(roles)"

# --- a project created by an import ---
db=$work/import.db
printf '{"messages":[{"role":"user","content":"hi"}]}' >"$work/in.json"
r -q import "$work/in.json"
is 'an import brings its own' '{}' "$(setting)"

# --- the server ---
db=$work/served.db
got=$(PYTHONPATH=$root/tests/server "$python" - "$work" <<'E'
import sys
from client import Place, Server

with Server(Place(sys.argv[1], "served.db")) as server:
    client = server.client()
    client.op({"op": "entry.append", "content": "hi"})
    print(client.get("/discussions/main/settings").json["settings"]["temperature"])
    client.post("/projects", {"name": "second"})
    second = server.client("second")
    second.op({"op": "entry.append", "content": "hi"})
    print(second.get("/discussions/main/settings").json["settings"]["temperature"])
    second.op({"op": "setting.set", "key": "temperature", "value": 0.4, "of": "project"})
    second.op({"op": "discussion.new", "name": "other"})
    print(second.get("/discussions/other/settings").json["settings"]["temperature"])
E
)
is 'projects of the server' '0.2 0.2 0.4' "$(echo $got)"

# --- unknown keys ---
printf 'modle = "x"\n[defaults]\ntemperatur = 1\n' >"$config"
code 'unknown keys stop nothing' 0 r add more
has 'an unknown key' 'config.toml: line 1, column 1: unknown key "modle" (did you mean model?)' "$err"
has 'an unknown default' 'line 3, column 1: unknown key "temperatur" (did you mean temperature?)' "$err"
printf '[defaults]\ntemperature = "hot"\n' >"$config"
code 'a wrong value' 2 r add more
has 'a wrong value' 'line 2, column 1: defaults.temperature: must be a number' "$err"
code 'reading still works' 0 r ls

finish
