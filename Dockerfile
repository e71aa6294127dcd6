# One image for Airflow and Spark: nothing is downloaded when it runs. It has Sluice as its wheel, in
# the virtual environment that docs/spark-server.conf names.
FROM eclipse-temurin:17.0.15_6-jdk-jammy AS java

FROM python:3.11.13-slim-bookworm AS base
COPY --from=java /opt/java/openjdk /opt/java
ENV JAVA_HOME=/opt/java \
    PATH=/opt/sluice/.venv/bin:/opt/java/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1
WORKDIR /opt/sluice

# The lock holds a hash of each file: another one is refused. Only pyspark and its client are
# published as sources.
FROM base AS packages
COPY requirements.txt ./
RUN python -m venv .venv \
    && .venv/bin/python -m pip install --no-cache-dir --require-hashes \
        --only-binary :all: --no-binary pyspark,pyspark-client -r requirements.txt

# The jars go into the environment, and our own classes into the sources of the wheel.
FROM packages AS wheel
COPY pyproject.toml README.md LICENSE ./
COPY docs/*.md docs/
COPY local local
COPY jobs jobs
RUN local/setup.sh jars && local/wheel.sh

FROM packages AS installed
COPY --from=wheel /opt/sluice/.venv/share .venv/share
COPY --from=wheel /opt/sluice/dist dist
RUN pip install --no-cache-dir --no-deps --no-index dist/*.whl && rm -r dist

# The class archive is left by a real run, which needs the embedded broker.
FROM installed AS classes
COPY local local
RUN python -m local.embedded.broker_jars && python -m local.class_archive

FROM base
RUN useradd --uid 1000 --user-group --home-dir /var/lib/airflow sluice \
    && install --directory --owner sluice --group sluice /warehouse /var/lib/airflow /var/lib/spark
COPY --from=classes /opt/sluice/.venv .venv
COPY dags dags
COPY docs/spark-server.conf docs/
COPY local/healthy.py local/
USER sluice
