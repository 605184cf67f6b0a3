"""`release-text:MODEL`: a model that writes its calls as text, within the limits of the release."""

from __future__ import annotations

from evalkit import Dialogue, TextToolsAgent


class ReleaseTextAgent(TextToolsAgent):
    """Calls as blocks of text, several a reply, none of them behind a submission; results are cut short.

    A model that doesn't submit in the steps of a round is stopped; what it submitted before counts.
    """

    dialogue = Dialogue(
        result_characters=6000,
        newest_results=10,
        old_result_characters=200,
        nudges=3,
        hand_in="submit",
        steps=70,
    )
