"""Where Clara listens."""

import socket

from clara.settings import Settings, SettingsError


def require_free_port(settings: Settings) -> None:
    """See that nobody else listens where Clara should. Raises SettingsError."""
    with socket.socket(socket.AF_INET6 if ":" in settings.clara_host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.clara_host, settings.port))
        except OSError as error:
            address = f"{settings.clara_host}:{settings.port}"
            msg = f"cannot listen on {address} ({error.strerror}). Choose another port, such as PORT={settings.port + 1}"
            raise SettingsError(msg) from error
