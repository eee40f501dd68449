# SPDX-License-Identifier: MIT
# Made by: retake completion bash
_retake()
{
	local line words=("${COMP_WORDS[@]:1:COMP_CWORD}")
	local cut=
	# bash takes a colon for the end of a word, which positions (:4) begin with.
	local cur=${COMP_WORDS[COMP_CWORD]}
	if [[ $cur == : ]]; then
		cut=:
	elif ((COMP_CWORD > 0)) && [[ ${COMP_WORDS[COMP_CWORD-1]} == : ]]; then
		words=("${COMP_WORDS[@]:1:COMP_CWORD-2}" ":$cur")
		cut=:
	fi
	COMPREPLY=()
	while IFS= read -r line; do
		if [[ $line == :files ]]; then
			compopt -o filenames 2>/dev/null
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			return
		fi
		line=${line%%$'\t'*}
		[[ -n $cut ]] && line=${line#"$cut"}
		COMPREPLY+=("$(printf '%q' "$line")")
	done < <("${COMP_WORDS[0]}" complete -- "${words[@]}" 2>/dev/null)
}
complete -F _retake retake
