"""Measuring speed and memory: of the whole (`python -m clara_lab.speed`), of the engine, and while a model fails."""
