"""The errors of the laboratory whose message tells a person what to mend."""

from clara_lab.bench.dataset import BenchDataError
from clara_lab.bench.plan import PlanError
from clara_lab.bench.record import IncomparableRunsError, ResumeError, RunUnreadableError
from clara_lab.chat import ChatUnavailableError
from clara_lab.runner.contenders import UnknownPeerError

MENDABLE = (
    BenchDataError,
    ChatUnavailableError,
    IncomparableRunsError,
    PlanError,
    ResumeError,
    RunUnreadableError,
    UnknownPeerError,
)
