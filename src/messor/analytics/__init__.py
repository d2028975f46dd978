"""What do the numbers say? Tables for analysis outside PostgreSQL, ready questions and read-only SQL."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "answers", "jobs", "queried", "questions", "store", "sync",
)  # fmt: skip
