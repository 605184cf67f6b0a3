#!/usr/bin/env python3
"""One call of an episode that `evalkit play TARGET --serve SOCKET` holds, per command.

Needs nothing but the standard library: this file can be copied to where evalkit isn't installed.
"""

from __future__ import annotations

import json
import socket
import sys

USAGE = """\
usage: evalkit-call SOCKET tools                   the tools there are, with their arguments
       evalkit-call SOCKET TOOL [KEY=VALUE …]      call a tool
       evalkit-call SOCKET observe                 what the last call showed, once more
       evalkit-call SOCKET budget                  what is left of the budget
       evalkit-call SOCKET stop                    end the episode

Arguments of a tool can also be one JSON object, '{"x": 1}', or @FILE with such an object (@- reads
standard input). KEY=@FILE takes a value from a file. --json prints the whole answer as JSON.

Exit code: 0 if the call was carried out, 1 if not.

Examples:
  evalkit-call bridge.sock propose text=@reply.json
  evalkit-call bridge.sock place x=0.5 width=1 height=0.4 --json"""

VERBS = ("tools", "observe", "budget", "stop")


class CallError(Exception):
    """What is wrong with the command, in one line."""


def main(words: list[str] | None = None) -> int:
    """Send one request, print the answer, return the exit code (`sys.argv` if `words` is None)."""
    words = list(sys.argv[1:] if words is None else words)
    as_json = "--json" in words
    words = [word for word in words if word != "--json"]
    if not words or {"-h", "--help"} & set(words):
        (sys.stdout if words else sys.stderr).write(f"{USAGE}\n")
        return 0 if words else 1
    try:
        path, verb, *rest = words if len(words) > 1 else [*words, "observe"]
        answer = ask(path, request(verb, rest))
    except CallError as mistake:
        sys.stderr.write(f"evalkit-call: {mistake}\n")
        return 1
    text = json.dumps(answer, indent=2) if as_json else str(answer.get("text", ""))
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding) + "\n")
    return 0 if answer.get("ok") else 1


def request(verb: str, words: list[str]) -> dict[str, object]:
    """The request that a verb or tool and the words behind it stand for; CallError if they make none."""
    if verb in VERBS:
        if words:
            raise CallError(f"{verb!r} takes nothing, not {words[0]!r}")
        return {"do": verb}
    pairs, arguments = read_arguments(words)
    return {"do": "call", "tool": verb, "pairs": pairs, "arguments": arguments}


def read_arguments(words: list[str]) -> tuple[dict[str, str], dict[str, object]]:
    """`key=value` words as texts, JSON objects (also from files) as values; CallError for anything else."""
    pairs: dict[str, str] = {}
    arguments: dict[str, object] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if word.startswith("{"):
            arguments.update(_json_object(word, "the arguments"))
        elif word.startswith("@"):
            arguments.update(_json_object(_read(word[1:]), word[1:]))
        elif equals and key:
            pairs[key] = _read(value[1:]) if value.startswith("@") else value
        else:
            raise CallError(f"{word!r} is neither KEY=VALUE nor a JSON object nor @FILE")
    return pairs, arguments


def ask(path: str, message: dict[str, object]) -> dict[str, object]:
    """Send a request to the server at a socket and return its answer; CallError if there is none."""
    if not hasattr(socket, "AF_UNIX"):
        raise CallError("this system has no Unix sockets; `evalkit mcp` works everywhere")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.connect(path)
            connection.sendall(json.dumps(message).encode("ascii") + b"\n")
            reply = connection.makefile("rb").readline()
            answer = json.loads(reply)
        except OSError as error:
            why = error.strerror or str(error)
            raise CallError(
                f"no episode answers at {path}: {why}; is `evalkit play --serve` running?"
            ) from error
        except ValueError as error:
            raise CallError(
                f"the server at {path} went away; the episode's record says why it ended"
            ) from error
    if not isinstance(answer, dict):
        raise CallError(f"what listens at {path} is no evalkit")
    return answer


def _json_object(text: str, what: str) -> dict[str, object]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CallError(f"{what}: not JSON: {error}") from error
    if not isinstance(value, dict):
        raise CallError(f"{what}: not a JSON object")
    return value


def _read(name: str) -> str:
    try:
        if name == "-":
            return sys.stdin.read()
        with open(name, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise CallError(f"can't read {name}: {error}") from error


if __name__ == "__main__":
    sys.exit(main())
