# Messor as an image: the package with its locked dependencies, no compiler, no root.
#   docker build -t messor .
#   docker build -t messor --build-arg CHROMIUM=1 .     # also renders pages that need a browser

FROM python:3.13-slim-bookworm AS build
RUN python -m venv /opt/messor
COPY requirements-image.txt /src/
RUN /opt/messor/bin/pip install --no-cache-dir --no-deps --require-hashes -r /src/requirements-image.txt
COPY pyproject.toml hatch_build.py README.md LICENSE /src/
COPY src /src/src
RUN /opt/messor/bin/pip install --no-cache-dir --no-deps /src

FROM python:3.13-slim-bookworm
ARG CHROMIUM=""
RUN if [ -n "$CHROMIUM" ]; then \
      apt-get update && apt-get install -y --no-install-recommends chromium-headless-shell \
      && rm -rf /var/lib/apt/lists/*; \
    fi \
    && useradd --system --uid 10001 --home-dir /var/lib/messor --shell /usr/sbin/nologin messor \
    && install -d -o messor -g messor -m 0700 /var/lib/messor
COPY --from=build /opt/messor /opt/messor
# Everything that is written is in the data folder and /tmp, so the root file system may be read-only.
ENV PATH=/opt/messor/bin:$PATH \
    MESSOR_DATA_DIR=/var/lib/messor \
    MESSOR_LISTEN_HOST=0.0.0.0 \
    MESSOR_LOG_FORMAT=json \
    PYTHONDONTWRITEBYTECODE=1
WORKDIR /var/lib/messor
USER messor
VOLUME /var/lib/messor
EXPOSE 8321 9464
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8321/healthz', timeout=4)"]
ENTRYPOINT ["messor"]
CMD ["up"]
