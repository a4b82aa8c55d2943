# kveil with its loops compiled; works in /data as a user of its own. See docs/guide-containers.md.
FROM python:3.12-slim

WORKDIR /opt/kveil
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src ./src
ENV NUMBA_CACHE_DIR=/opt/kveil/cache PYTHONDONTWRITEBYTECODE=1
RUN pip install --no-cache-dir -c constraints.txt '.[files,databases]' \
    && useradd --create-home --uid 10001 kveil \
    && mkdir -p /data /opt/kveil/cache \
    && kveil warmup \
    && chmod -R a+rX,a+w /opt/kveil/cache \
    && chown kveil /data

USER kveil
WORKDIR /data
ENTRYPOINT ["kveil"]
CMD ["--help"]
