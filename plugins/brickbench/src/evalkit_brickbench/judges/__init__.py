"""Models that look at pictures of builds: asking them, the judge of questions, the builds of an arena."""
