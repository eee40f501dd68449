# SPDX-License-Identifier: MIT
# Made by: retake completion fish
function __retake_complete
	set -l words (commandline -opc) (commandline -ct)
	set -l found ($words[1] complete -- $words[2..-1] 2>/dev/null)
	if test "$found[1]" = :files
		__fish_complete_path (commandline -ct)
	else
		printf '%s\n' $found
	end
end
complete -c retake -f -a '(__retake_complete)'
