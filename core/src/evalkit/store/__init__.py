"""The run folder: what was played, exactly as it happened. Everything else is derived from it.

run.json            frozen configuration (the manifest)
episodes.jsonl      one line per finished episode
episodes/*.jsonl    the events of each episode, hash-chained
blobs/aa/<sha256>   long values, designs, pictures
scores/             derived; may be deleted
"""

#: Version of the record format; a reader refuses newer ones.
RECORD_VERSION = 1
