"""The command `evalkit`: one file per verb, imported when it is called."""
