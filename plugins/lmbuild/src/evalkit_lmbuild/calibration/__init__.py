"""The maps of level D fitted to people's ratings, and how far scores agree with people on other objects.

items = read_ratings(Path("ratings.csv"))
fitted, held_out = split(items, ("wheelchair",))
maps = fit(fitted)
agreements(held_out, maps)
"""
