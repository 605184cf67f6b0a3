"""Stand-in for a coding agent's program: `standin_agent.py WHAT`. Needs the standard library only."""

from __future__ import annotations

import json
import math
import os
import socket
import subprocess
import sys
import time
from pathlib import Path


def say(**event: object) -> None:
    """Print an event."""
    print(json.dumps(event), flush=True)


def turn(number: int, tokens: int = 10) -> None:
    """Print the lines of one turn: two, as real programs do for two blocks of one message."""
    usage = {"input_tokens": tokens, "output_tokens": tokens // 2}
    for block in ("text", "tool_use"):
        say(type="assistant", message={"id": f"msg_{number}", "content": [{"type": block}], "usage": usage})


def build() -> None:
    """Write a stack that stands, from the task in the workspace."""
    task = json.loads(Path("task.json").read_text())
    count = math.ceil(task["height_m"] / task["max_height_m"] - 1e-9)
    width = math.floor(min(task["max_width_m"], task["area_m2"] / task["height_m"]) * 1e4) / 1e4
    boxes = [[0.0, width, math.ceil(task["height_m"] / count * 1e4) / 1e4]] * count
    Path("stack.json").write_text(json.dumps({"boxes": boxes}))


def behave() -> None:
    brief = sys.stdin.read()
    assert "stack.json" in brief
    turn(1)
    build()
    turn(2)
    say(type="result", usage={"input_tokens": 40, "output_tokens": 9}, total_cost_usd=0.25, is_error=False)


def silent() -> None:
    build()


def loop() -> None:
    build()
    for number in range(10_000):
        turn(number)
        time.sleep(0.001)


def sleep() -> None:
    build()
    time.sleep(600)


def flood() -> None:
    build()
    while True:
        sys.stdout.write("x" * 65536)


def fill() -> None:
    build()
    for number in range(10_000):
        with open(f"fill-{number}", "wb") as file:
            file.write(os.urandom(1 << 20))


def crash() -> None:
    turn(1)
    build()
    sys.exit("I can't go on")


def no_start() -> None:
    sys.exit("401: bad key")


def fail() -> None:
    turn(1)
    say(type="result", is_error=True, result="the service is overloaded")


def links() -> None:
    Path("secret").symlink_to("/etc/passwd")
    Path("stack.json").symlink_to("/etc/passwd")


def junk() -> None:
    Path("stack.json").write_bytes(b"\xff{" + b"[" * 5000)


def huge() -> None:
    Path("stack.json").write_bytes(b" " * 300_000)


def fifo() -> None:
    os.mkfifo("stack.json")


def odd_name() -> None:
    build()
    Path(os.fsdecode(b"stack-\xff.json")).write_text("{}")


def in_the_way() -> None:
    """Take the names that evalkit may want to use beside the workspace."""
    build()
    for name in ("delivery", "nothing", "passwd"):
        try:
            Path("..", name).symlink_to("/etc")
        except OSError:
            continue


def stays() -> None:
    """Leave a file that nobody can remove as long as it is immutable."""
    build()
    Path("stays").touch()
    subprocess.run(["chattr", "+i", "stays"], check=True)
    print(os.getcwd(), flush=True)


def deaf_and_dumb() -> None:
    """Close stdout and stderr, and work on."""
    turn(1)
    os.close(1)
    os.close(2)
    time.sleep(1.5)
    build()


def daemon() -> None:
    build()
    mark = sys.argv[2]
    code = "import os, time; os.setsid(); time.sleep(600)"
    subprocess.Popen([sys.executable, "-c", code, mark], start_new_session=True, close_fds=False)
    turn(1)


def leak() -> None:
    build()
    print("my key is", os.environ["STANDIN_KEY"], flush=True)
    turn(1)


def betray() -> None:
    """Print everything that it was given, hand it in, and fail with it."""
    build()
    given = [value for name, value in os.environ.items() if name.startswith(("STANDIN", "HTTPS_PROXY"))]
    given += [
        path.read_text() for path in Path.home().rglob("*") if path.name != "prompt.md" and path.is_file()
    ]
    print(*given, sep="\n", flush=True)
    print(json.dumps(given), flush=True)
    stack = json.loads(Path("stack.json").read_text())
    Path("stack.json").write_text(json.dumps({**stack, "given": given}))
    say(type="result", is_error=True, result=" ".join(given))


def look() -> None:
    """Tell in stack.json's place what there is: environment, identity, folders."""
    build()
    seen = {
        "environment": sorted(os.environ),
        "uid": os.getuid(),
        "cwd": os.getcwd(),
        "home": sorted(str(p.relative_to(Path.home())) for p in Path.home().rglob("*")),
        "arguments": sys.argv[2:],
        "root": sorted(os.listdir("/")),
    }
    print(json.dumps(seen), flush=True)


def connect() -> None:
    """Connect to an abstract socket of the host and to one of its own, and say what became of it."""
    build()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0own-{os.getpid()}")
        server.listen()
        for name, address in (("host", sys.argv[2]), ("own", f"own-{os.getpid()}")):
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(5)
                try:
                    client.connect(f"\0{address}")
                    print(name, "REACHED", flush=True)
                except OSError as error:
                    print(name, type(error).__name__, flush=True)


def hunt() -> None:
    """Look for a canary everywhere, and print the places where it is."""
    build()
    canary = sys.argv[2][::-1].encode()
    for place in places():
        try:
            with open(place, "rb") as file:
                if canary in file.read(1 << 20):
                    print("FOUND", place, flush=True)
        except OSError:
            continue
    say(type="result", looked=True)


def places():  # type: ignore[no-untyped-def]
    """Files of processes, and all that can be reached from the folders where secrets would be."""
    for process in Path("/proc").glob("[0-9]*"):
        if process.name != str(os.getpid()):
            yield from (process / name for name in ("environ", "cmdline"))
    for top in sys.argv[3:]:
        for folder, _, names in os.walk(top):
            yield from (os.path.join(folder, name) for name in names if not name.endswith((".so", ".pyc")))


def version() -> None:
    """Tell in the version's place who asks, and what could be seen."""
    print("standin 1.2", os.getuid(), "key" if "STANDIN_KEY" in os.environ else "no key", os.getcwd())


def sleepy_version() -> None:
    time.sleep(600)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
