"""Completion of verbs, options, ids, parameters and labels in a shell; the script calls `verify __complete LINE`."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Annotated, Any

import typer

from verify.errors import InputError, meant
from verify.reports.commands.frame import AsJson, app, print_json, say_whole, verb

CALL = "__complete"
"""The word that a shell writes in place of a verb to request completions."""
_BASH = """_verify() {
    local line="${COMP_LINE:0:COMP_POINT}" IFS=$'\\n'
    local word="${line##* }" before=""
    # In bash, = begins a new word.
    [[ $word == *=* ]] && before="${word%=*}="
    COMPREPLY=($(verify __complete "$line" 2>/dev/null))
    COMPREPLY=("${COMPREPLY[@]#"$before"}")
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && type compopt &>/dev/null && compopt -o nospace 2>/dev/null
    return 0
}
complete -o default -F _verify verify
"""
_ZSH = """#compdef verify
_verify() {
    local -a found
    local nothing=1
    found=("${(@f)$(verify __complete "${(j: :)words[1,CURRENT-1]} $PREFIX" 2>/dev/null)}")
    if [[ -z "${found[*]}" ]]; then
        _files
        return
    fi
    compadd -S '' -- ${(M)found:#*=} && nothing=0
    compadd -- ${found:#*=} && nothing=0
    return nothing
}
if [[ "${funcstack[1]}" == _verify ]]; then
    # If zsh loads this file from $fpath as the function _verify, complete at once.
    _verify "$@"
else
    # compdef is not defined until compinit has run.
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -D -i }
    compdef _verify verify
fi
"""
_FISH = """function __verify_complete
    set -l found (verify __complete (commandline -cp | string collect) 2>/dev/null)
    if test -n "$found"
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c verify -f -a '(__verify_complete)'
"""
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


@verb("completion", "bash")
def _completion(
    shell: Annotated[str, typer.Argument(metavar="bash|zsh|fish", show_default=False)], as_json: AsJson = False
) -> None:
    """Print a completion script; to load it: eval "$(verify completion bash)", or pipe it to source in fish.

    Completing the names in a file.py, such as its parameters, runs the file's code.
    """
    if shell not in SCRIPTS:
        raise InputError("shell", shell, meant(shell, SCRIPTS))
    if as_json:
        print_json({"shell": shell, "script": SCRIPTS[shell]})
    else:
        say_whole(SCRIPTS[shell].rstrip("\n"))


def complete(line: str) -> list[str]:
    """Return the completions of a line's last word, sorted; none after any error."""
    import contextlib
    import io

    words = line.split()
    current = "" if not words or line[-1:].isspace() else words.pop()
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            known = list(_known(words[1:], current))
    except (Exception, SystemExit):
        return []
    return sorted({each for each in known if each.startswith(current)})


def _known(words: list[str], current: str) -> Iterable[str]:
    commands: dict[str, Any] = typer.main.get_command(app).commands  # pyright: ignore[reportAttributeAccessIssue]
    if not words:
        return [*commands, "--help", "--version"]
    command = commands[words[0]]
    options = {name: option for option in command.params for name in option.opts if name.startswith("--")}
    last = words[-1] if len(words) > 1 else ""
    if current.startswith("-"):
        return [*options, "--help"]
    taken = [word for before, word in pairwise(words) if _stands(word, before, options)]
    # The word is the value of an option that takes one.
    if last in options and not getattr(options[last], "is_flag", False):
        return _values(options[last], taken)
    named = {each.name: each for each in command.params if each.param_type_name == "argument"}
    for kind in named.keys() & {"theorem", "experiment"}:
        return _assignments(kind, taken, current) if taken else _ids(kind)
    return [] if taken else [word for each in named.values() for word in _words(each)]


def _words(parameter: Any) -> list[str]:
    """Return the words that the help of an argument or option lists, as in `a|b`; none if it lists none."""
    return parameter.metavar.split("|") if "|" in (parameter.metavar or "") else []


def _stands(word: str, before: str, options: dict[str, Any]) -> bool:
    """Whether a word is an argument: neither an option nor an option's value."""
    given = before in options and not getattr(options[before], "is_flag", False)
    return not word.startswith("-") and not given


def _ids(kind: str) -> list[str]:
    from verify.checking.registry import ids

    return ids(kind)


def _values(option: Any, taken: list[str]) -> Iterable[str]:
    """Return the values that an option may take; `taken[0]` names the theorem."""
    if option.name == "paper":
        return {name.partition(".")[0] for name in _ids("theorem")}
    if option.name in ("drop", "over"):
        from verify.checking.theorem import load_theorem

        statement = load_theorem(taken[0]).statement
        if option.name == "over":
            return [f"{parameter.name}=" for parameter in statement.parameters]
        return [h.label for h in statement.hypotheses if h.relation is not None or h.varies is not None]
    return _words(option)


def parameters(kind: str, name: str) -> list[Any]:
    """Return the parameters of a `theorem`, or the parameters that are the settings of an `experiment`."""
    if kind == "theorem":
        from verify.checking.theorem import load_theorem

        return list(load_theorem(name).statement.parameters)
    from verify.runs.experiments import load_experiment

    return [setting.parameter for setting in load_experiment(name).settings]


def _assignments(kind: str, taken: list[str], current: str) -> Iterable[str]:
    """Yield `name=` for each parameter not given yet; `name=word` for each of its words if `name=` is typed already."""
    given = {word.partition("=")[0] for word in taken[1:]}
    for parameter in parameters(kind, taken[0]):
        if parameter.name not in given:
            whole = parameter.words if current.startswith(f"{parameter.name}=") else ()
            yield from [f"{parameter.name}={word}" for word in whole] or [f"{parameter.name}="]
