"""The only reader of the environment. Unknown or contradictory values stop the process before anything starts."""

import difflib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

import platformdirs
from pydantic import AfterValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from clara.data_files import package_folder
from clara.errors import Invalid

MINIMUM_KEY_CHARACTERS: Final = 32
FEWEST_DIFFERENT_CHARACTERS: Final = 8  # of 200,000 random keys of 32 hexadecimal digits none had fewer
MAKE_KEY: Final = "Make one: python3 -c 'import secrets; print(secrets.token_hex(32))'"
# As Twilio's console shows it. The signature of every webhook hangs on it, so one that can be guessed is none.
AUTH_TOKEN: Final = re.compile(r"[0-9a-f]{32}", re.IGNORECASE)
# As @BotFather gives it, and what setWebhook takes as secret_token (https://core.telegram.org/bots/api#setwebhook).
BOT_TOKEN: Final = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]{30,64}")
WEBHOOK_SECRET: Final = re.compile(r"[A-Za-z0-9_-]{1,256}")
DATABASES: Final = ("postgresql://", "postgres://")


def weak_key(key: str, *, public: bool) -> str | None:
    """Judge a key that people's secrets hang on; `public`: everybody knows it."""
    if len(key) < MINIMUM_KEY_CHARACTERS:
        return f"is too short. {MAKE_KEY}"
    if public or len(set(key)) < FEWEST_DIFFERENT_CHARACTERS:
        return f"can be guessed: it is the sample of the documentation, or hardly random. {MAKE_KEY}"
    return None


def auth_token(token: str) -> str | None:
    """Judge the token of an account at Twilio."""
    if AUTH_TOKEN.fullmatch(token):
        return None
    return "must be the account's auth token, 32 hexadecimal digits. Copy it from the console of Twilio, without blanks"


def bot_token(token: str) -> str | None:
    """Judge the token of a bot at Telegram."""
    return None if BOT_TOKEN.fullmatch(token) else "must be the bot's token, as @BotFather gives it: digits, a colon, letters"


def webhook_secret(secret: str) -> str | None:
    """Judge the secret that Telegram sends with every update: it takes letters, digits, `_` and `-`, at most 256."""
    if not WEBHOOK_SECRET.fullmatch(secret):
        return f"may have letters, digits, _ and - only, at most 256. {MAKE_KEY}"
    return weak_key(secret, public=False)


def database_address(address: str) -> str | None:
    """Judge the address of the database, which drivers and tools must understand alike."""
    if address.startswith(DATABASES):
        return None
    return "must look like postgresql://user:password@host:5432/database, without the name of a driver after postgresql"


def public_address(address: str) -> str | None:
    """Judge the address under which Twilio reaches Clara: with TLS, or on this machine."""
    try:
        parts = urlsplit(address)
        usable = parts.port is None or parts.port > 0
    except ValueError:
        usable = False
    if not usable or parts.query or parts.fragment or any(character.isspace() for character in address):
        return "must be an address like https://clara.example.org, without query or blanks"
    if parts.scheme not in {"https", "http"} or not parts.hostname:
        return "must be an address like https://clara.example.org"
    if parts.scheme == "http" and not is_this_machine(parts.hostname):
        return (
            "must begin with https://: what people write would travel readable for anybody. http:// is for this machine alone"
        )
    return None


def is_this_machine(host: str) -> bool:
    """Whether a host's name or address never leaves this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


PREFIXES = ("CLARA_", "RAG_")
A_YEAR_SECONDS = 31_536_000
REDIS_SCHEMES = ("redis://", "rediss://", "unix://")
# The demonstration's account and key: public on purpose, refused for any other account.
DEMO_ACCOUNT = "AC" + "0" * 32
# Public on purpose, like the account and the key: good for nothing but the stand-in for Twilio on this machine.
DEMO_TOKEN = "de30" * 8
SAMPLE_KEY = "sample-key-of-the-demonstration-only"
# The channels by the names that CLARA_CHANNEL has for them, each with what it needs: without that no message can be verified,
# answered or tied to its sender.
KEYS_OF_PEOPLE = ("clara_pseudonym_key", "clara_address_key")
NEEDED_BY: Final = {
    "local": (),
    "telegram": ("telegram_bot_token", "telegram_webhook_secret", *KEYS_OF_PEOPLE),
    "twilio": ("twilio_auth_token", "twilio_account_sid", "clara_public_url", *KEYS_OF_PEOPLE),
}


def channels(chosen: str) -> str | None:
    """Judge what CLARA_CHANNEL says: names of channels, with commas between them."""
    names = chosen.split(",")
    if unknown := [name for name in names if name not in NEEDED_BY]:
        return f"{', '.join(map(repr, unknown))}: no such channel. There are {', '.join(sorted(NEEDED_BY))}"
    if len(set(names)) < len(names):
        return "names a channel twice"
    if "local" in names and len(names) > 1:
        return "local has no login, and so no other channel beside it"
    return None


def redis_address(address: str) -> str | None:
    """Judge the address of the cache."""
    return None if address.startswith(REDIS_SCHEMES) else f"must begin with one of {', '.join(REDIS_SCHEMES)}"


def meant(judge: Callable[[str], str | None]) -> AfterValidator:
    """Refuse what cannot be meant, without showing it."""

    def judged(value: str | SecretStr | None) -> str | SecretStr | None:
        plain = value.get_secret_value() if isinstance(value, SecretStr) else value
        if plain is not None and (fault := judge(plain)):
            raise ValueError(fault)
        return value.rstrip("/") if isinstance(value, str) else value

    return AfterValidator(judged)


class SettingsError(Invalid):
    """The environment holds a value that Clara cannot use. The message names each variable and the remedy."""


class Settings(BaseSettings):
    """Everything that can be configured. Each field is the environment variable of the same name, in capitals."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    rag_enabled: bool = Field(True, description="search PostgreSQL; off: keywords and directory only")
    rag_fallback_chain: bool = Field(True, description="fall back to keywords and the directory; off: the first tier only")
    rag_policy: Literal["none", "self_reflective", "corrective", "adaptive"] = Field(
        "none", description="whether to search, and to ask again in other words"
    )
    rag_reranker: Literal["none", "heuristic", "gemini", "endpoint"] = Field("none", description="who orders what was found")
    rag_reranker_candidates: int = Field(20, ge=2, le=100, description="passages that the reranker sees")
    rag_reranker_seconds: float = Field(2.0, gt=0, le=30, description="seconds; after these the order stays")
    rag_writer: Literal["none", "gemini", "scripted"] = Field(
        "none", description="who writes answers; none: quotes alone; scripted: a stand-in"
    )
    rag_grounded_prompting: bool = Field(True, description="a model, where RAG_WRITER names one, writes answers; off: quotes")
    rag_translator: Literal["none", "gemini"] = Field("none", description="who asks again in Spanish and English")
    rag_transcriber: Literal["none", "gemini", "whisper"] = Field(
        "none", description="who writes down voice notes; whisper: on this machine"
    )
    rag_cache_enabled: bool = Field(False, description="remember what was found, so that it is not searched again")
    rag_cache_ttl: float = Field(3600, gt=0, le=A_YEAR_SECONDS, description="seconds for which a result is remembered")
    rag_cache_backend: Literal["memory", "redis"] = Field(
        "memory", description="redis: shared between processes; needs CLARA_PSEUDONYM_KEY"
    )
    rag_redis_url: Annotated[SecretStr | None, meant(redis_address)] = Field(
        None, description="redis://, rediss:// or unix://, for the backend redis"
    )
    rag_metrics_enabled: bool = Field(True, description="count retrievals, summed over all processes")
    rag_ingestion_enabled: bool = Field(False, description="read sources and norms again every week, by itself")
    rag_drift_check_enabled: bool = Field(False, description="compare sources with what is served every night, by itself")
    rag_boe_monitor_enabled: bool = Field(False, description="read the official gazette every morning, by itself")
    rag_db_url: Annotated[SecretStr | None, meant(database_address)] = Field(
        None, description="postgresql://user:password@host:5432/database; unset: Clara starts her own"
    )

    clara_channel: Annotated[str, meant(channels)] = Field(
        "twilio",
        description="`twilio` (WhatsApp), `telegram`, or both with a comma; `local`: the chat page of this machine, alone",
    )
    clara_public_url: Annotated[str | None, meant(public_address)] = Field(
        None, description="https:// address without /webhook, exactly as Twilio was given it"
    )
    clara_pseudonym_key: SecretStr | None = Field(
        None, description="32 or more random characters; keys pseudonyms. Never change it"
    )
    clara_address_key: SecretStr | None = Field(None, description="32 or more others; encrypts addresses, for a day")
    clara_human_contact: str | None = Field(
        None, max_length=200, description="how to reach a person of your organisation; shown in replies"
    )
    clara_whisper_model: Path | None = Field(
        None, description="for whisper: folder of a CTranslate2 model (pip install clara-tramites[voice])"
    )
    clara_worker: Literal["process", "inline"] = Field("process", description="inline: the worker runs in the web process")
    clara_worker_turns: int = Field(4, ge=1, le=64, description="messages that one worker answers at the same time")
    clara_home: Path | None = Field(None, description="folder of Clara's own database; unset: the user's data folder")
    clara_spool: Path | None = Field(
        None, description="folder for messages while the database is away; unset: CLARA_HOME/spool"
    )
    clara_spool_mb: int = Field(64, ge=1, le=4096, description="most that the spool may hold, in megabytes")
    clara_host: str = Field("127.0.0.1", description="address the web server listens on")
    port: int = Field(8000, ge=0, le=65535, description="port the web server listens on")

    clara_sender_per_minute: int = Field(10, ge=1, description="answered messages of one sender in a minute")
    clara_sender_per_day: int = Field(150, ge=1, description="answered messages of one sender in a day")
    clara_everyone_per_minute: int = Field(6_000, ge=1, description="answered messages of all senders in a minute")
    clara_everyone_per_day: int = Field(100_000, ge=1, description="answered messages of all senders in a day")
    clara_sender_model_answers_per_day: int = Field(50, ge=0, description="answers of one sender that use a paid model")
    clara_model_answers_per_day: int = Field(5_000, ge=0, description="answers of all senders that use a paid model")

    twilio_account_sid: str | None = Field(
        None, pattern=r"^AC[0-9a-fA-F]{32}$", description="the account at Twilio, AC and 32 hex digits"
    )
    twilio_auth_token: Annotated[SecretStr | None, meant(auth_token)] = Field(
        None, description="the account's secret: verifies webhooks and sends replies"
    )
    twilio_api_url: str | None = Field(None, pattern=r"^https?://", description="another base address for Twilio's REST API")

    telegram_bot_token: Annotated[SecretStr | None, meant(bot_token)] = Field(
        None, description="the bot's token, of @BotFather: sends replies"
    )
    telegram_webhook_secret: Annotated[SecretStr | None, meant(webhook_secret)] = Field(
        None, description="32 or more random characters, the `secret_token` of setWebhook: verifies updates"
    )
    telegram_api_url: str | None = Field(None, pattern=r"^https?://", description="another base address for Telegram's Bot API")

    clara_admin_token_sha256: str | None = Field(
        None,
        pattern=r"^[0-9a-fA-F]{64}$",
        description="SHA-256 of the operator's token; unset: no /admin, and /metrics for this machine only",
    )

    clara_reader_token_sha256: str | None = Field(
        None, pattern=r"^[0-9a-fA-F]{64}$", description="SHA-256 of another token, which may read /admin and do nothing there"
    )

    gemini_api_key: SecretStr | None = Field(None, description="for whatever is gemini: questions and passages go to Google")
    gemini_model: str = Field("gemini-2.5-flash-lite", description="the model of the reranker and the translator")
    gemini_writer_model: str = Field("gemini-2.5-flash", description="the writer's model")
    gemini_transcriber_model: str = Field("gemini-2.5-flash", description="the transcriber's model")
    gemini_calls_per_day: int = Field(20_000, ge=0, description="calls of Gemini of all processes; then Clara does without")
    gemini_embedding_model: str = Field(
        "gemini-embedding-001", pattern=r"^gemini-[a-z0-9.-]+$", description="embeds for `clara index build --model gemini`"
    )
    gemini_embedding_sdk: Literal["genai", "legacy"] = Field("genai", description="legacy needs the extra gemini-legacy")
    gemini_embedding_seconds: float = Field(2.0, gt=0, le=10, description="seconds; after these keywords answer")
    gemini_embedding_per_minute: int = Field(1_500, ge=1, le=100_000, description="texts a minute of `clara index build`")
    gemini_base_url: str | None = Field(None, pattern=r"^https?://", description="another base address for Gemini")
    reranker_base_url: str | None = Field(None, pattern=r"^https?://", description="serves /ranking, for `endpoint`")
    reranker_model_name: str = Field("", description="the reranker's model")
    reranker_api_key: SecretStr | None = Field(None, description="the reranker's key, if it wants one")

    boe_base_url: str = Field("https://www.boe.es", pattern=r"^https?://", description="another base address of the gazette")
    clara_alert_webhook: SecretStr | None = Field(None, description="https:// address to which alerts for operators are posted")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        """Refuse a choice without what it needs."""
        needs = {
            "gemini_api_key": self.uses_gemini,
            "reranker_base_url": self.rag_reranker == "endpoint",
            "rag_redis_url": self.rag_cache_enabled and self.rag_cache_backend == "redis",
            "clara_whisper_model": self.rag_transcriber == "whisper",
            "clara_pseudonym_key": self.rag_cache_enabled and self.rag_cache_backend == "redis",
        }
        faults: list[str] = []
        missing = [name.upper() for name, needed in needs.items() if needed and getattr(self, name) is None]
        if missing:
            msg = f"{', '.join(missing)} not set, but another setting needs it; set it, or leave that one at its default"
            raise ValueError(msg)
        for name in KEYS_OF_PEOPLE:
            key = self.secret(name)
            public = key == SAMPLE_KEY
            sample = public and self.twilio_account_sid == DEMO_ACCOUNT  # the demonstration's account may have it
            if getattr(self, name) is not None and not sample and (fault := weak_key(key, public=public)):
                faults.append(f"{name.upper()} {fault}")
        if faults:
            raise ValueError("\n".join(faults))
        return self

    def secret(self, name: str) -> str:
        """Give the value of a secret, empty when it is not set."""
        value: SecretStr | None = getattr(self, name)
        return value.get_secret_value() if value else ""

    @property
    def home(self) -> Path:
        """Give the folder of the embedded database: the user's data folder unless CLARA_HOME says otherwise.

        Root's own data folder is closed to the unprivileged account that PostgreSQL needs, so root uses /var/lib/clara
        when its home cannot be entered by others.
        """
        if self.clara_home:
            return self.clara_home
        own = Path(platformdirs.user_data_dir("clara", appauthor=False))
        if os.geteuid() == 0 and not Path.home().stat().st_mode & 0o001:
            return Path("/var/lib/clara")
        return own

    def require_channel(self) -> None:
        """Refuse to serve messages with a channel that is not fully configured. Raises SettingsError."""
        needed = dict.fromkeys(name for channel in self.channels for name in NEEDED_BY[channel])
        missing = [name.upper() for name in needed if getattr(self, name) is None]
        if missing:
            raise SettingsError(
                f"{', '.join(missing)} not set. Messages of {self.clara_channel} cannot be verified or answered without them; "
                "set them, or set CLARA_CHANNEL=local to try Clara on this machine."
            )
        if needed and self.twilio_account_sid != DEMO_ACCOUNT and self.pseudonym_key == self.address_key:
            raise SettingsError(f"CLARA_ADDRESS_KEY must differ from CLARA_PSEUDONYM_KEY. {MAKE_KEY}")

    @property
    def channels(self) -> tuple[str, ...]:
        """Give the names of the channels that are served."""
        return tuple(self.clara_channel.split(","))

    @property
    def pseudonym_key(self) -> str:
        """Give the key of the pseudonyms. In the local channel there are no addresses of people, so any key will do."""
        return self.secret("clara_pseudonym_key") or "local-channel-has-no-addresses"

    @property
    def address_key(self) -> str:
        """Give the key that seals addresses. In the local channel there are no addresses of people, so any key will do."""
        return self.secret("clara_address_key") or "local-channel-has-no-addresses"

    @property
    def uses_gemini(self) -> bool:
        """Whether any part asks Gemini."""
        return "gemini" in {self.rag_reranker, self.rag_writer, self.rag_translator, self.rag_transcriber}

    @property
    def pays_for_answers(self) -> bool:
        """Whether answers use a model that costs money: the shares of the day are counted then."""
        searching = self.rag_enabled and (self.rag_reranker in {"gemini", "endpoint"} or self.rag_translator != "none")
        return searching or (self.rag_writer == "gemini" and self.rag_grounded_prompting)

    @property
    def spool(self) -> Path:
        """Give the folder of the spool."""
        return self.clara_spool or self.home / "spool"


def load_settings() -> Settings:
    """Read the environment. Raises SettingsError naming every bad value."""
    faults = _unknown_names(os.environ)  # noqa: TID251  this module is the one reader of the environment
    try:
        settings = Settings()
    except ValidationError as error:
        found = error.errors()
        faults.extend(
            ": ".join([*(str(place).upper() for place in fault["loc"][:1]), fault["msg"].removeprefix("Value error, ")])
            for fault in found
        )
    if faults:
        raise SettingsError("\n".join(faults))
    return settings


def child_environment(**changes: str) -> dict[str, str]:
    """Give this process's environment with some values changed, for a process to be started."""
    return {**os.environ, **changes}  # noqa: TID251


def environment_of(names: Iterable[str]) -> dict[str, str]:
    """Give those of these variables that the environment has."""
    return {name: os.environ[name] for name in names if name in os.environ}  # noqa: TID251


def resources() -> Path:
    """Give the folder that holds data/ and migrations/."""
    return package_folder()


def _unknown_names(environment: Mapping[str, str]) -> list[str]:
    known = {name.upper() for name in Settings.model_fields}
    faults = []
    for name in sorted(environment):
        if name.startswith(PREFIXES) and name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            faults.append(f"{name}: unknown setting{f'; did you mean {near[0]}?' if near else ''}. Unset or correct it.")
    return faults
