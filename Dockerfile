# The image of web, worker, beat and migrate: the same code, and a command for each in docker-compose.yml.

FROM python:3.11-slim-bookworm AS packages
COPY requirements/run.txt .
# Wheels only: nothing is compiled here, so no compiler is needed and no package runs code of its own.
RUN ["python", "-m", "venv", "/opt/spades"]
RUN ["/opt/spades/bin/pip", "install", "--no-cache-dir", "--require-hashes", "--only-binary", ":all:", "-r", "run.txt"]

FROM python:3.11-slim-bookworm
RUN ["useradd", "--system", "--uid", "10001", "--user-group", "--home-dir", "/app", "--shell", "/usr/sbin/nologin", "spades"]
WORKDIR /app
COPY --from=packages /opt/spades /opt/spades
COPY manage.py ./
COPY openapi/ openapi/
COPY spades/ spades/
COPY bots/ bots/
COPY contract/ contract/
COPY accounts/ accounts/
COPY events/ events/
COPY games/ games/
COPY rules/ rules/
COPY scoring/ scoring/
COPY spades_api/ spades_api/
ENV PATH=/opt/spades/bin:/usr/local/bin:/usr/bin:/bin
RUN ["python", "-m", "compileall", "-q", "."]
# All that the one-process service keeps: its database and its key. Nothing else here can be written.
RUN ["install", "--directory", "--owner=spades", "--group=spades", "--mode=0700", "var"]
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 DJANGO_SETTINGS_MODULE=spades_api.settings
USER 10001:10001
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=10s --start-period=30s --retries=3 CMD ["python", "-m", "spades_api.healthcheck", "web", "8000"]
CMD ["python", "manage.py", "serve", "--host", "0.0.0.0", "--port", "8000"]
