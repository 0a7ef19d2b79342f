"""Models that come inside their wheels: no network, no key."""
