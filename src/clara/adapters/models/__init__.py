"""Models behind the ports: bundled, served on a network, or scripted."""
