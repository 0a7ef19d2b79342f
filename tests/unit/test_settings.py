"""Tests of reading the environment."""

from pathlib import Path

import pytest
import structlog
from click.testing import CliRunner

from clara.cli import cli
from clara.settings import DEMO_ACCOUNT, SAMPLE_KEY, Settings, SettingsError, child_environment, load_settings, resources

SID = "AC" + "0123456789abcdef" * 2
TOKEN, PASSWORD = "3f9a" * 8, "pa55word"
KEY, ADDRESS_KEY = "c4e81f0a7d3952b6" * 4, "5d90b3f7e1a8c264" * 4
DIGEST = "0123456789abcdef" * 4
REDIS = {"RAG_CACHE_ENABLED": "1", "RAG_CACHE_BACKEND": "redis", "RAG_REDIS_URL": f"redis://:{PASSWORD}@127.0.0.1/0"}
CHANNEL = {
    "TWILIO_AUTH_TOKEN": TOKEN,
    "TWILIO_ACCOUNT_SID": SID,
    "CLARA_PUBLIC_URL": "https://clara.example.org",
    "CLARA_PSEUDONYM_KEY": KEY,
    "CLARA_ADDRESS_KEY": ADDRESS_KEY,
}
COMMANDS = [
    ["up"],
    ["web"],
    ["worker"],
    ["migrate"],
    ["ingest"],
    ["ask", "x"],
    ["search", "x"],
    ["delivery", "status"],
    ["sign", "Body=x"],
]
KEYS = ["CLARA_PSEUDONYM_KEY", "CLARA_ADDRESS_KEY"]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Begin without any of Clara's variables."""
    for name in child_environment():
        if name.upper().startswith(("CLARA_", "RAG_", "TWILIO_", "GEMINI_", "RERANKER_")) or name.upper() == "PORT":
            monkeypatch.delenv(name)
    return monkeypatch


def set_all(environment: pytest.MonkeyPatch, values: dict[str, str]) -> None:
    """Set variables."""
    for name, value in values.items():
        environment.setenv(name, value)


def fault_of(environment: pytest.MonkeyPatch, values: dict[str, str]) -> str:
    """Read a wrong environment and give the message."""
    set_all(environment, values)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    return str(caught.value)


def test_defaults() -> None:
    """Without any variable there are defaults for everything, and no secret."""
    settings = load_settings()
    assert (settings.rag_enabled, settings.rag_fallback_chain, settings.rag_metrics_enabled) == (True, True, True)
    assert (settings.clara_channel, settings.clara_worker, settings.clara_host, settings.port) == (
        "twilio",
        "process",
        "127.0.0.1",
        8000,
    )
    assert (settings.rag_db_url, settings.twilio_auth_token, settings.clara_pseudonym_key) == (None, None, None)


def test_what_costs_or_keeps_something_is_off() -> None:
    """Unless somebody asks for it, nothing is remembered, reranked or searched again, and there are no addresses for admins."""
    settings = load_settings()
    assert (settings.rag_cache_enabled, settings.rag_policy, settings.rag_reranker) == (False, "none", "none")
    assert (settings.rag_cache_backend, settings.rag_redis_url, settings.gemini_api_key) == ("memory", None, None)
    assert settings.clara_admin_token_sha256 is None


@pytest.mark.parametrize(
    ("name", "value", "field", "expected"),
    [
        pytest.param("RAG_ENABLED", "false", "rag_enabled", False, id="off"),
        pytest.param("RAG_FALLBACK_CHAIN", "0", "rag_fallback_chain", False, id="zero"),
        pytest.param("CLARA_CHANNEL", "local", "clara_channel", "local", id="channel"),
        pytest.param("CLARA_PUBLIC_URL", "https://a.example/", "clara_public_url", "https://a.example", id="slash-goes"),
        pytest.param("CLARA_PUBLIC_URL", "http://[::1]:8000", "clara_public_url", "http://[::1]:8000", id="ipv6-and-port"),
        pytest.param("CLARA_PUBLIC_URL", "http://127.0.0.2", "clara_public_url", "http://127.0.0.2", id="this-machine"),
        pytest.param("CLARA_PUBLIC_URL", "http://localhost", "clara_public_url", "http://localhost", id="this-machine-s-name"),
        pytest.param("CLARA_PUBLIC_URL", "https://a.example/x//", "clara_public_url", "https://a.example/x", id="slashes-go"),
        pytest.param("PORT", "0", "port", 0, id="any-free-port"),
        pytest.param("CLARA_HOME", "/srv/clara", "home", Path("/srv/clara"), id="home"),
        pytest.param("CLARA_HOME", "/srv/clara", "spool", Path("/srv/clara/spool"), id="spool-at-home"),
        pytest.param("CLARA_SPOOL", "/srv/spool", "spool", Path("/srv/spool"), id="spool"),
        pytest.param("CLARA_SPOOL_MB", "4096", "clara_spool_mb", 4096, id="largest-spool"),
        pytest.param("CLARA_WORKER_TURNS", "64", "clara_worker_turns", 64, id="most-turns"),
        pytest.param("CLARA_MODEL_ANSWERS_PER_DAY", "0", "clara_model_answers_per_day", 0, id="no-paid-answers"),
        pytest.param("CLARA_HUMAN_CONTACT", "", "clara_human_contact", None, id="blank-is-unset"),
        pytest.param("CLARA_CHANNEL", "", "clara_channel", "twilio", id="blank-is-default"),
        pytest.param("TWILIO_ACCOUNT_SID", SID, "twilio_account_sid", SID, id="account"),
        pytest.param("RAG_CACHE_ENABLED", "true", "rag_cache_enabled", True, id="cache"),
        pytest.param("RAG_CACHE_TTL", "0.5", "rag_cache_ttl", 0.5, id="half-a-second"),
        pytest.param("RAG_POLICY", "self_reflective", "rag_policy", "self_reflective", id="self-reflective"),
        pytest.param("RAG_POLICY", "corrective", "rag_policy", "corrective", id="corrective"),
        pytest.param("RAG_POLICY", "adaptive", "rag_policy", "adaptive", id="adaptive"),
        pytest.param("RAG_RERANKER", "heuristic", "rag_reranker", "heuristic", id="heuristic"),
        pytest.param("RAG_RERANKER_CANDIDATES", "100", "rag_reranker_candidates", 100, id="most-candidates"),
        pytest.param("RAG_RERANKER_SECONDS", "30", "rag_reranker_seconds", 30, id="longest-wait"),
        pytest.param("CLARA_ADMIN_TOKEN_SHA256", DIGEST, "clara_admin_token_sha256", DIGEST, id="admin"),
        pytest.param("CLARA_ADMIN_TOKEN_SHA256", DIGEST.upper(), "clara_admin_token_sha256", DIGEST.upper(), id="capitals"),
    ],
)
def test_values(environment: pytest.MonkeyPatch, name: str, value: str, field: str, expected: object) -> None:
    """Each variable sets its field."""
    environment.setenv(name, value)
    assert getattr(load_settings(), field) == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("RAG_ENABLED", "perhaps", id="not-yes-or-no"),
        pytest.param("CLARA_CHANNEL", "signal", id="unknown-channel"),
        pytest.param("CLARA_CHANNEL", "twilio,twilio", id="a-channel-twice"),
        pytest.param("CLARA_CHANNEL", "twilio,local", id="local-beside-another"),
        pytest.param("CLARA_CHANNEL", "twilio,", id="a-channel-without-a-name"),
        pytest.param("CLARA_WORKER", "thread", id="unknown-worker"),
        pytest.param("CLARA_PUBLIC_URL", "clara.example.org", id="address-without-scheme"),
        pytest.param("CLARA_PUBLIC_URL", "https://", id="address-without-host"),
        pytest.param("CLARA_PUBLIC_URL", "https:///webhook", id="address-with-path-alone"),
        pytest.param("CLARA_PUBLIC_URL", "https://:8000", id="address-with-port-alone"),
        pytest.param("CLARA_PUBLIC_URL", "https:clara.example.org", id="address-without-slashes"),
        pytest.param("CLARA_PUBLIC_URL", "https://[clara", id="address-with-open-bracket"),
        pytest.param("CLARA_PUBLIC_URL", "ftp://clara.example.org", id="address-of-another-scheme"),
        pytest.param("CLARA_PUBLIC_URL", "httpsx://clara.example.org", id="address-of-a-longer-scheme"),
        pytest.param("CLARA_PUBLIC_URL", "http://clara.example.org", id="address-without-tls"),
        pytest.param("CLARA_PUBLIC_URL", "http://10.0.0.1", id="private-address-without-tls"),
        pytest.param("CLARA_PUBLIC_URL", "http://localhost.example.org", id="address-like-this-machine"),
        pytest.param("TWILIO_AUTH_TOKEN", "x", id="short-token"),
        pytest.param("TWILIO_AUTH_TOKEN", "g" * 32, id="token-not-hex"),
        pytest.param("TWILIO_AUTH_TOKEN", f"{TOKEN} ", id="token-with-a-blank"),
        pytest.param("TWILIO_AUTH_TOKEN", SID, id="account-as-token"),
        pytest.param("RAG_DB_URL", "postgresql+psycopg://u:p@h/d", id="driver-in-the-database"),
        pytest.param("RAG_DB_URL", "mysql://u:p@h/d", id="another-database"),
        pytest.param("RAG_DB_URL", "h/d", id="no-database"),
        pytest.param("CLARA_SPOOL_MB", "0", id="no-spool"),
        pytest.param("CLARA_WORKER_TURNS", "0", id="no-turns"),
        pytest.param("CLARA_WORKER_TURNS", "65", id="more-turns-than-connections"),
        pytest.param("CLARA_SENDER_PER_MINUTE", "0", id="nobody-is-answered"),
        pytest.param("CLARA_SENDER_PER_DAY", "0", id="nobody-is-answered-today"),
        pytest.param("CLARA_EVERYONE_PER_MINUTE", "-1", id="less-than-nobody"),
        pytest.param("CLARA_EVERYONE_PER_DAY", "many", id="a-word-of-messages"),
        pytest.param("PORT", "eight", id="port-is-a-word"),
        pytest.param("PORT", "65536", id="port-too-high"),
        pytest.param("PORT", "-1", id="port-negative"),
        pytest.param("TWILIO_ACCOUNT_SID", "AC123", id="short-account"),
        pytest.param("TWILIO_API_URL", "api.twilio.com", id="api-without-scheme"),
        pytest.param("CLARA_HUMAN_CONTACT", "x" * 201, id="contact-too-long"),
        pytest.param("RAG_CACHE_ENABLED", "perhaps", id="cache-not-yes-or-no"),
        pytest.param("RAG_CACHE_TTL", "0", id="remembered-for-no-time"),
        pytest.param("RAG_CACHE_TTL", "-1", id="remembered-for-less"),
        pytest.param("RAG_CACHE_TTL", "nan", id="remembered-for-no-number"),
        pytest.param("RAG_CACHE_TTL", "inf", id="remembered-for-ever"),
        pytest.param("RAG_REDIS_URL", "localhost:6379", id="redis-without-scheme"),
        pytest.param("RAG_REDIS_URL", f"http://:{PASSWORD}@127.0.0.1", id="redis-of-another-scheme"),
        pytest.param("RAG_CACHE_TTL", "an hour", id="remembered-for-a-word"),
        pytest.param("RAG_CACHE_BACKEND", "memcached", id="unknown-backend"),
        pytest.param("RAG_POLICY", "careful", id="unknown-policy"),
        pytest.param("RAG_RERANKER", "cohere", id="unknown-reranker"),
        pytest.param("RAG_RERANKER_CANDIDATES", "1", id="nothing-to-order"),
        pytest.param("RAG_RERANKER_CANDIDATES", "101", id="more-than-a-search-gives"),
        pytest.param("RAG_RERANKER_SECONDS", "0", id="no-time-to-rerank"),
        pytest.param("RAG_RERANKER_SECONDS", "31", id="too-long-to-wait"),
        pytest.param("RAG_RERANKER_SECONDS", "inf", id="no-end-of-waiting"),
        pytest.param("GEMINI_BASE_URL", "127.0.0.1:8080", id="gemini-without-scheme"),
        pytest.param("RERANKER_BASE_URL", "ftp://127.0.0.1", id="reranker-of-another-scheme"),
        pytest.param("CLARA_ADMIN_TOKEN_SHA256", DIGEST[:-1], id="digest-too-short"),
        pytest.param("CLARA_ADMIN_TOKEN_SHA256", DIGEST + "0", id="digest-too-long"),
        pytest.param("CLARA_ADMIN_TOKEN_SHA256", DIGEST[:-1] + "g", id="digest-not-hex"),
        pytest.param("CLARA_ADMIN_TOKEN_SHA256", DIGEST + "\n", id="digest-with-its-line-end"),
    ],
)
def test_bad_value(environment: pytest.MonkeyPatch, name: str, value: str) -> None:
    """A value that cannot be used is refused, and its variable is named."""
    assert fault_of(environment, {name: value}).startswith(f"{name}: ")


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        pytest.param("RAG_DB_URI", "RAG_DB_URL", id="one-letter"),
        pytest.param("CLARA_CHANEL", "CLARA_CHANNEL", id="letter-missing"),
        pytest.param("RAG_ENABLE", "RAG_ENABLED", id="letter-missing-at-the-end"),
        pytest.param("CLARA_PUBLIC_ULR", "CLARA_PUBLIC_URL", id="letters-swapped"),
    ],
)
def test_unknown_name(environment: pytest.MonkeyPatch, name: str, suggestion: str) -> None:
    """A misspelt variable is refused with the name that was probably meant."""
    fault = fault_of(environment, {name: "x"})
    assert fault.startswith(f"{name}: unknown setting")
    assert f"did you mean {suggestion}?" in fault


def test_unknown_name_like_nothing(environment: pytest.MonkeyPatch) -> None:
    """A variable that resembles no setting is refused without a suggestion."""
    fault = fault_of(environment, {"RAG_9": "x"})
    assert fault.startswith("RAG_9: unknown setting")
    assert "did you mean" not in fault


def test_foreign_names(environment: pytest.MonkeyPatch) -> None:
    """Variables of other programs are none of Clara's business."""
    set_all(environment, {"CLARABELLE": "x", "RAGTIME": "x", "MY_CLARA_CHANNEL": "x"})
    assert load_settings() == Settings()


def test_all_faults_at_once(environment: pytest.MonkeyPatch) -> None:
    """Every wrong variable is named by one reading, each on its own line."""
    fault = fault_of(environment, {"PORT": "x", "CLARA_WORKER": "x", "RAG_DB_URI": "x", "CLARA_CHANEL": "x"})
    named = sorted(line.split(": ")[0] for line in fault.splitlines())
    assert named == ["CLARA_CHANEL", "CLARA_WORKER", "PORT", "RAG_DB_URI"]


def test_channel_is_complete(environment: pytest.MonkeyPatch) -> None:
    """With all its values the WhatsApp channel may be served."""
    set_all(environment, CHANNEL)
    load_settings().require_channel()


@pytest.mark.parametrize("missing", sorted(CHANNEL))
@pytest.mark.parametrize("blank", [pytest.param(False, id="unset"), pytest.param(True, id="blank")])
def test_channel_lacks_one(environment: pytest.MonkeyPatch, missing: str, blank: bool) -> None:
    """The WhatsApp channel is refused without any one of its values, which is named, and the others are not."""
    set_all(environment, {name: value for name, value in CHANNEL.items() if name != missing})
    if blank:
        environment.setenv(missing, "")
    with pytest.raises(SettingsError) as caught:
        load_settings().require_channel()
    assert [name for name in CHANNEL if name in str(caught.value)] == [missing]
    assert "CLARA_CHANNEL=local" in str(caught.value)


def test_channel_lacks_all() -> None:
    """Without any value the message names them all."""
    with pytest.raises(SettingsError) as caught:
        load_settings().require_channel()
    assert all(name in str(caught.value) for name in CHANNEL)


def refusal(environment: pytest.MonkeyPatch, values: dict[str, str]) -> str:
    """Ask for the WhatsApp channel with some values changed; give the message of the refusal, or nothing."""
    set_all(environment, {**CHANNEL, **values})
    try:
        load_settings().require_channel()
    except SettingsError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize(
    ("key", "fault"),
    [
        pytest.param("zyxwvutsrq" * 3 + "z", "is too short", id="31-characters"),
        pytest.param(SAMPLE_KEY, "can be guessed", id="the-sample"),
        pytest.param("k" * 64, "can be guessed", id="one-character"),
        pytest.param("abcdefg" * 10, "can be guessed", id="seven-characters"),
        pytest.param("zyxwvutsrq" * 3 + "zy", "", id="32-characters"),
        pytest.param("abcdefgh" * 4, "", id="eight-characters"),
        pytest.param("0123456789abcdef" * 4, "", id="hexadecimal"),
    ],
)
def test_keys_that_can_be_guessed(environment: pytest.MonkeyPatch, name: str, key: str, fault: str) -> None:
    """A key that is short, public or hardly random is refused with the way to make one, and is not shown."""
    said = refusal(environment, {name: key})
    assert bool(said) == bool(fault)
    if fault:
        assert f"{name} {fault}" in said
        assert "token_hex(32)" in said
        assert key not in said
        assert [other for other in KEYS if other in said] == [name]


def test_equal_keys(environment: pytest.MonkeyPatch) -> None:
    """One key for two purposes is refused with the way to make another one."""
    said = refusal(environment, {"CLARA_ADDRESS_KEY": KEY})
    assert "CLARA_ADDRESS_KEY must differ from CLARA_PSEUDONYM_KEY" in said
    assert "token_hex(32)" in said
    assert KEY not in said


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("TWILIO_AUTH_TOKEN", "x", "32 hexadecimal digits"),
        ("CLARA_PUBLIC_URL", "http://clara.example.org", "https://"),
        ("RAG_DB_URL", f"postgresql+psycopg://u:{PASSWORD}@h/d", "postgresql://user:password@host:5432/database"),
        ("CLARA_PSEUDONYM_KEY", "short", "token_hex(32)"),
        ("CLARA_ADDRESS_KEY", "k" * 64, "token_hex(32)"),
    ],
)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_refuses_at_its_start(
    environment: pytest.MonkeyPatch, command: list[str], name: str, value: str, remedy: str
) -> None:
    """Whatever the channel, before anything begins: exit code 2, one message with the variable and the remedy, no secret."""
    environment.setenv(name, value)
    done = CliRunner().invoke(cli, command)
    structlog.reset_defaults()  # it would write to what the runner has closed
    assert done.exit_code == 2, done.output
    assert name in done.output
    assert remedy in done.output
    assert PASSWORD not in done.output
    assert "Traceback" not in done.output


def test_two_bad_keys(environment: pytest.MonkeyPatch) -> None:
    """Both are named at once."""
    said = refusal(environment, {"CLARA_PSEUDONYM_KEY": "short", "CLARA_ADDRESS_KEY": SAMPLE_KEY})
    assert "CLARA_PSEUDONYM_KEY is too short" in said
    assert "CLARA_ADDRESS_KEY can be guessed" in said


@pytest.mark.parametrize(
    ("key", "accepted"), [pytest.param(SAMPLE_KEY, True, id="sample"), pytest.param("k" * 64, False, id="another-weak-one")]
)
@pytest.mark.parametrize("cache", ["0", "1"], ids=["no-cache", "cache"])
def test_the_demonstration_s_account(environment: pytest.MonkeyPatch, key: str, accepted: bool, cache: str) -> None:
    """The stand-in's account leads to nobody: it may have the sample key for both, and no other bad one."""
    values = {"TWILIO_ACCOUNT_SID": DEMO_ACCOUNT, "CLARA_PSEUDONYM_KEY": key, "CLARA_ADDRESS_KEY": key}
    assert (refusal(environment, {**values, "RAG_CACHE_ENABLED": cache}) == "") is accepted


@pytest.mark.parametrize("backend", ["memory", "redis"])
def test_the_sample_key_of_the_cache(environment: pytest.MonkeyPatch, backend: str) -> None:
    """What is remembered is not named under the key of the documentation."""
    fault = fault_of(environment, {**REDIS, "RAG_CACHE_BACKEND": backend, "CLARA_PSEUDONYM_KEY": SAMPLE_KEY})
    assert "CLARA_PSEUDONYM_KEY can be guessed" in fault


@pytest.mark.parametrize(
    ("chosen", "missing"),
    [
        pytest.param({"RAG_RERANKER": "gemini"}, ["GEMINI_API_KEY"], id="gemini"),
        pytest.param({"RAG_RERANKER": "gemini", "GEMINI_API_KEY": ""}, ["GEMINI_API_KEY"], id="gemini-blank"),
        pytest.param({"RAG_RERANKER": "endpoint"}, ["RERANKER_BASE_URL"], id="endpoint"),
        pytest.param(REDIS, ["CLARA_PSEUDONYM_KEY"], id="redis-without-a-key"),
        pytest.param(
            {"RAG_CACHE_ENABLED": "1", "RAG_CACHE_BACKEND": "redis"}, ["RAG_REDIS_URL", "CLARA_PSEUDONYM_KEY"], id="redis"
        ),
        pytest.param(
            {**REDIS, "RAG_RERANKER": "endpoint", "CLARA_PSEUDONYM_KEY": KEY}, ["RERANKER_BASE_URL"], id="only-what-is-missing"
        ),
    ],
)
def test_a_choice_needs_its_values(environment: pytest.MonkeyPatch, chosen: dict[str, str], missing: list[str]) -> None:
    """A choice without what it needs is refused when the settings are read: what is missing is named, and what to do."""
    fault = fault_of(environment, chosen)
    needed = ("GEMINI_API_KEY", "RERANKER_BASE_URL", "RAG_REDIS_URL", "CLARA_PSEUDONYM_KEY")
    assert [name for name in needed if name in fault] == missing
    assert "set it, or leave that one at its default" in fault
    assert PASSWORD not in fault


@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param({"RAG_RERANKER": "gemini", "GEMINI_API_KEY": TOKEN}, id="gemini"),
        pytest.param({"RAG_RERANKER": "endpoint", "RERANKER_BASE_URL": "http://127.0.0.1:8001/v1"}, id="endpoint"),
        pytest.param({**REDIS, "CLARA_PSEUDONYM_KEY": KEY}, id="redis"),
        pytest.param({"RAG_CACHE_ENABLED": "1"}, id="memory-needs-nothing"),
        pytest.param({"RAG_CACHE_BACKEND": "redis"}, id="redis-that-is-off"),
    ],
)
def test_a_choice_with_its_values(environment: pytest.MonkeyPatch, chosen: dict[str, str]) -> None:
    """A choice with what it needs is taken, and one that is off needs nothing."""
    set_all(environment, chosen)
    assert load_settings().model_fields_set >= {name.lower() for name in chosen}


@pytest.mark.parametrize("backend", ["memory", "redis"])
@pytest.mark.parametrize(("length", "accepted"), [(31, False), (32, True)], ids=["31", "32"])
def test_short_key_of_the_cache(environment: pytest.MonkeyPatch, backend: str, length: int, accepted: bool) -> None:
    """What is remembered is not named under a key that can be guessed; the key itself is not shown."""
    key = ("zyxwvutsrq" * 4)[:length]
    chosen = {**REDIS, "RAG_CACHE_BACKEND": backend, "CLARA_PSEUDONYM_KEY": key}
    if accepted:
        set_all(environment, chosen)
        assert load_settings().secret("clara_pseudonym_key") == key
        return
    fault = fault_of(environment, chosen)
    assert "CLARA_PSEUDONYM_KEY is too short" in fault
    assert "token_hex(32)" in fault
    assert key not in fault


def test_a_token_in_the_place_of_its_digest_is_not_shown(environment: pytest.MonkeyPatch) -> None:
    """Whoever sets the token itself is refused without its being repeated in a log."""
    fault = fault_of(environment, {"CLARA_ADMIN_TOKEN_SHA256": TOKEN})
    assert fault.startswith("CLARA_ADMIN_TOKEN_SHA256: ")
    assert TOKEN not in fault


def test_local_channel_needs_nothing(environment: pytest.MonkeyPatch) -> None:
    """The local channel may be served without any further value, and has a key all the same."""
    environment.setenv("CLARA_CHANNEL", "local")
    settings = load_settings()
    settings.require_channel()
    assert settings.pseudonym_key
    assert settings.address_key


@pytest.mark.parametrize("show", [str, repr, lambda settings: str(settings.model_dump())], ids=["str", "repr", "dump"])
def test_secrets_are_not_shown(environment: pytest.MonkeyPatch, show: object) -> None:
    """Whoever prints the settings sees no token, no key and no password, and the program can read them."""
    url = f"postgresql://clara:{PASSWORD}@localhost/clara"
    more = {"GEMINI_API_KEY": f"gemini-{TOKEN}", "RERANKER_API_KEY": f"ranker-{TOKEN}"}
    set_all(environment, {**CHANNEL, **REDIS, **more, "RAG_DB_URL": url})
    settings = load_settings()
    shown = show(settings)
    assert [secret for secret in (TOKEN, KEY, ADDRESS_KEY, PASSWORD) if secret in shown] == []
    assert settings.rag_db_url.get_secret_value() == url
    assert {name: settings.secret(name.lower()) for name in more} == more
    assert settings.secret("rag_redis_url") == REDIS["RAG_REDIS_URL"]
    assert (settings.twilio_auth_token.get_secret_value(), settings.pseudonym_key) == (TOKEN, KEY)
    assert settings.address_key == ADDRESS_KEY


def test_faults_show_no_secret(environment: pytest.MonkeyPatch) -> None:
    """A fault elsewhere shows no secret value."""
    more = {"GEMINI_API_KEY": TOKEN, "PORT": "x", "RAG_DB_URL": PASSWORD, "RAG_REDIS_URL": f"http://:{PASSWORD}@h"}
    fault = fault_of(environment, {**CHANNEL, **more})
    assert [secret for secret in (TOKEN, KEY, ADDRESS_KEY, PASSWORD) if secret in fault] == []


def test_settings_do_not_change() -> None:
    """Settings that were read cannot be changed."""
    with pytest.raises(ValueError, match="frozen"):
        load_settings().port = 1


def test_child_environment(environment: pytest.MonkeyPatch) -> None:
    """A child process gets this environment with the changes, and this one stays as it is."""
    environment.setenv("CLARA_CHANNEL", "local")
    child = child_environment(CLARA_CHANNEL="twilio", PORT="9")
    assert (child["CLARA_CHANNEL"], child["PORT"]) == ("twilio", "9")
    assert load_settings().clara_channel == "local"


def test_resources() -> None:
    """The resources hold the knowledge and the migrations."""
    assert (resources() / "data" / "tramites").is_dir()
    assert (resources() / "migrations").is_dir()
