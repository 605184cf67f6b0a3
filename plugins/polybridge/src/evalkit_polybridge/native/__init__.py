"""The real game as an executor: its save file is replaced, its window driven and filmed.

Everything that needs a screen is imported when it is used; the libraries for it are the extra `native`.
"""
