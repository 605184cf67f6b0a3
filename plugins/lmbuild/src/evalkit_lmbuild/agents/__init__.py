"""Offline agents. They see what any agent sees, the brief and the tools' answers, and nothing else."""
