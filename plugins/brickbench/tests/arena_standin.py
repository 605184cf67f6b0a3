"""A judge behind OpenAI's protocol with tastes, a bias and errors that are known: it knows builds by colour.

    with StandIn() as provider:
        provider.otherwise = ColourJudge({RED: 2.0, BLUE: 0.0}, first_bias=0.2)

Builds are walls of one colour; what the judge prefers is seen in the pictures that it's sent.
"""

from __future__ import annotations

import base64
import io
import json
import math
import os
import random
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from evalkit_brickbench.designs import candidate_of
from evalkit_brickbench.judges.entrants import Build

sys.path.insert(0, str(Path(__file__).parents[3] / "tests" / "provider"))

RED, BLUE, GREEN, YELLOW = 4, 1, 2, 14
HUES = {RED: (1, 0, 0), BLUE: (0, 0, 1), GREEN: (0, 1, 0), YELLOW: (1, 1, 0)}


def wall(colour: int, bricks: int = 1) -> bytes:
    """A tower of 2 × 4 bricks in an LDraw colour."""
    placed = [f"1 {colour} 0 {-24 * n} 0 1 0 0 0 1 0 0 0 1 3001.dat" for n in range(1, bricks + 1)]
    return "\n".join(["0 Wall", *placed, ""]).encode()


def wall_of(system: str, colour: int, bricks: int = 1) -> Build:
    """A system's build in an arena: a tower."""
    candidate = candidate_of("model.ldr", wall(colour, bricks))
    return Build(system, candidate.data["sha256"], candidate, {})


def colour_of(png: bytes) -> int:
    """The colour that most of a picture's inside has: by which of red, green and blue are strong."""
    pixels = np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).reshape(-1, 3).astype(float)
    strong = pixels[np.ptp(pixels, axis=1) > 60].mean(axis=0)
    hue = tuple(int(part > 0.6 * strong.max()) for part in strong)
    return next(colour for colour, known in HUES.items() if known == hue)


def shown(body: Mapping[str, Any]) -> tuple[list[bytes], str, list[str]]:
    """The pictures and the text of a request, and the kinds of its parts in order."""
    parts = [part for m in body["messages"] for part in _parts(m["content"])]
    pictures = [base64.b64decode(p["image_url"]["url"].partition(",")[2]) for p in parts if "image_url" in p]
    text = "\n".join(p["text"] for p in parts if p["type"] == "text")
    return pictures, text, [p["type"] for p in parts]


def _parts(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


class ColourJudge:
    """Prefers by strength (log odds) after the pictures; a behaviour of the provider stand-in.

    In a share `first_bias` of cases it takes the first build without a look, in a share `babble` it says
    something that isn't an answer. `seed` makes a sequence of questions repeatable.
    """

    def __init__(
        self, strength: Mapping[int, float], *, first_bias: float = 0.0, babble: float = 0.0, seed: int = 0
    ) -> None:
        self.strength, self.first_bias, self.babble = strength, first_bias, babble
        self.asked: list[tuple[str, int, int]] = []
        self.babbled = 0
        self._random, self._lock = random.Random(seed), threading.Lock()

    def __call__(self, exchange: Any) -> None:
        """Answer a request."""
        from provider_standin import reply

        pictures, text, _ = shown(exchange.received.body)
        first, second = map(colour_of, pictures)
        with self._lock:
            babbles, unseen, throw = (self._random.random() for _ in range(3))
            question = "design" if "withheld" in text else "alignment"
            if babbles < self.babble:
                self.babbled += 1
                answer = "I prefer model 1."
            else:
                self.asked.append((question, first, second))
                answer = "1" if unseen < self.first_bias or throw < self._odds(first, second) else "2"
        reply(answer)(exchange)

    def _odds(self, first: int, second: int) -> float:
        return 1 / (1 + math.exp(self.strength[second] - self.strength[first]))


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The records of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def evalkit(folder: Path, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; it has to end with `code`."""
    done = subprocess.run(
        [sys.executable, "-m", "evalkit", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "NO_PROXY": "127.0.0.1"},
    )
    assert done.returncode == code, done.stderr
    return done
