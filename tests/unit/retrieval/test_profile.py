"""Tests of the profiles by which corpora are searched."""

import json
from pathlib import Path

import pytest

from clara.retrieval.profile import Profile, ProfileError, read_profiles


def written(folder: Path, content: object) -> Path:
    """Write a file of profiles."""
    file = folder / "profiles.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return file


def test_the_profiles_of_the_project(data: Path) -> None:
    """Every profile has its name; the legs' weights sum to 1 unless words are weighed by coverage; Clara's is the default."""
    profiles = read_profiles(data / "profiles.json")
    assert all(profile.name == name for name, profile in profiles.items())
    assert all(profile.dense + profile.lexical == pytest.approx(1) for profile in profiles.values() if not profile.by_coverage)
    assert profiles["procedures"] == Profile()
    assert profiles["code"].language == "code"


def test_every_number_is_read(tmp_path: Path) -> None:
    """All that a profile says counts, a whole number is a number, and what it leaves out has its default."""
    full = {"dense": 1, "lexical": 0.5, "by_ranks": True, "links": 0.2, "named": 0.1, "language": "en", "strategy": "mmr"}
    profiles = read_profiles(written(tmp_path, {"profiles": {"full": {**full, "about": "Text."}, "bare": {}}}))
    assert profiles == {"full": Profile("full", **{**full, "dense": 1.0}), "bare": Profile("bare")}


@pytest.mark.parametrize(
    ("links", "named", "follows"), [(0.0, 0.0, False), (0.4, 0.0, True), (0.0, 0.3, True)], ids=["neither", "links", "named"]
)
def test_names_are_kept_where_they_are_used(links: float, named: float, follows: bool) -> None:
    """Names and links are worth keeping when either counts in the search."""
    assert Profile(links=links, named=named).follows_names is follows


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        pytest.param("{", "Expecting property name", id="not-json"),
        pytest.param("[]", "must be", id="a-list"),
        pytest.param({}, "profiles", id="no-profiles"),
        pytest.param({"profiles": ["prose"]}, "items", id="profiles-without-names"),
        pytest.param({"profiles": {"prose": 0.7}}, "keys", id="a-profile-that-is-a-number"),
        pytest.param({"profiles": {"prose": {"dens": 1}}}, "prose has unknown fields: dens; known are .*dense", id="unknown"),
        pytest.param({"profiles": {"prose": {"name": "x"}}}, "unknown fields: name", id="a-name-within"),
        pytest.param({"profiles": {"prose": {"dense": "high"}}}, "prose: dense is 'high'; it must be like 0.7", id="text"),
        pytest.param({"profiles": {"prose": {"links": True}}}, "links is True", id="truth-for-a-number"),
        pytest.param({"profiles": {"prose": {"by_ranks": 1}}}, "by_ranks is 1", id="number-for-a-truth"),
        pytest.param({"profiles": {"prose": {"language": None}}}, "language is None", id="no-language"),
    ],
)
def test_faults_are_named(tmp_path: Path, content: object, fault: str) -> None:
    """A fault names the file, what is wrong and the remedy."""
    with pytest.raises(ProfileError, match=rf"(?s)^profiles\.json: .*{fault}.*; restore the file"):
        read_profiles(written(tmp_path, content))


def test_no_file(tmp_path: Path) -> None:
    """A file that is not there is a fault of the profiles, with the same remedy."""
    with pytest.raises(ProfileError, match=r"profiles\.json: .*No such file.*; restore the file"):
        read_profiles(tmp_path / "profiles.json")
