"""HTTP to the outside: deadlines, public addresses only, politeness."""
