"""Offline agents. They see observations only, and import neither the executor nor any reference."""
