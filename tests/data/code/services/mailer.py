"""Sending e-mail."""

import smtplib


def send_confirmation(address: str, code: str) -> None:
    """Mail a code to somebody who wants to sign up, to confirm the address."""
    with smtplib.SMTP("localhost") as server:
        server.sendmail("no-reply@example.org", address, f"Your code is {code}")
