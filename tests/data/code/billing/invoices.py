"""Invoices: what a customer owes."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal


@dataclass(frozen=True)
class Line:
    """One thing that was bought."""

    name: str
    price: Decimal
    quantity: int


def total_with_tax(lines: list[Line], rate: Decimal) -> Decimal:
    """Sum up the lines of an invoice, add the sales tax and round to cents."""
    net = sum((line.price * line.quantity for line in lines), Decimal())
    return round_to_cents(net * (1 + rate))


def round_to_cents(amount: Decimal) -> Decimal:
    """Round half up, as tax offices do."""
    return amount.quantize(Decimal("0.01"), ROUND_HALF_UP)
