"""lnnkit's relational engine against the engines that a user would pick instead; see ``__main__``."""
