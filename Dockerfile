# One image for Airflow and Spark: nothing is downloaded when it runs. The folder is that of a
# checkout after `make setup`, which docs/spark-server.conf names.
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
COPY pyproject.toml ./
COPY local/install_sources.sh local/
RUN local/install_sources.sh

FROM packages AS jars
COPY ivy.xml jars.sha256 requirements-dev.txt ./
COPY local/__init__.py local/jar_checksums.py local/setup.sh local/
COPY jobs/jvm jobs/jvm
RUN local/setup.sh jars && rm -rf build/ivy

# The class archive is left by a real run, which needs the embedded broker.
FROM jars AS classes
COPY jobs jobs
COPY local local
RUN python -m local.class_archive && rm -rf build/jars/broker

FROM base
RUN useradd --uid 1000 --user-group --home-dir /var/lib/airflow sluice \
    && install --directory --owner sluice --group sluice /warehouse /var/lib/airflow /var/lib/spark
COPY --from=packages /opt/sluice/.venv .venv
COPY --from=classes /opt/sluice/build/jars build/jars
COPY --from=classes /opt/sluice/build/classes.jsa build/
COPY jobs jobs
COPY plugins plugins
COPY dags dags
COPY docs/spark-server.conf docs/
COPY local/healthy.py local/
USER sluice
