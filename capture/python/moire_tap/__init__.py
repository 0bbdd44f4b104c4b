# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Records runs of language models as Moire captures (*.moire).

`Writer` makes a capture from arrays; `record` from a torch model while it runs; `serve` lets others watch such runs.
"""

from .errors import MoireError
from .schema import Router, Tap
from .writer import Writer

__version__ = "0.1.0"
__all__ = ["MoireError", "Router", "Tap", "Writer", "record", "serve", "taps"]


def record(*args, **kwargs):
    """See moire_tap.recorder.Recorder. torch is imported only here."""
    from .recorder import Recorder

    return Recorder(*args, **kwargs)


def serve(*args, **kwargs):
    """See moire_tap.server.Server. pyzmq is imported only here."""
    try:
        import zmq  # noqa: F401
    except ImportError:
        raise MoireError("serving needs pyzmq; pip install 'moire-tap[serve]'") from None
    from .server import Server

    return Server(*args, **kwargs)


def taps(model):
    """The names of the taps that a torch model offers."""
    from .modules import tap_names

    return tap_names(model)
