"""How builds are scored: question graphs, duels, ratings, studies with people, tables.

Pure functions on plain records: no model is asked and no file is read here. `docs/brickbench-scoring.md`
says what each number means.
"""
