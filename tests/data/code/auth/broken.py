"""A file in the middle of an edit: one function does not parse."""


def sign_out(session: dict) -> None:
    """End a session, so that its token is worth nothing."""
    session.clear()


def half_written(user:
    return


def remember_device(user: str, device: str) -> tuple[str, str]:
    """Trust a device, so that its user is not asked for a second factor again."""
    return user, device
