# The server and nothing else: one static binary, root certificates and licences, about 41 MB. No image is below it, and
# none builds it: `make image` compiles the binary, writes it to dist/image with the other files, and runs
#
#   docker build --build-arg VERSION=v1.2.0 --file Dockerfile --tag carillon:v1.2.0 dist/image
#   docker run -p 127.0.0.1:4222:4222 -p 127.0.0.1:7272:7272 -v carillon:/data carillon:v1.2.0 serve --insecure

FROM scratch
ARG TARGETARCH
ARG VERSION=dev
LABEL org.opencontainers.image.title="carillon" \
      org.opencontainers.image.description="Durable job scheduler" \
      org.opencontainers.image.source="https://github.com/carillon-io/carillon" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY linux/${TARGETARCH}/LICENSE linux/${TARGETARCH}/LICENSES.txt /usr/share/doc/carillon/
COPY --chmod=0755 linux/${TARGETARCH}/carillon /usr/bin/carillon
# A volume gets its owner from the directory of the image.
COPY --chown=65532:65532 --chmod=0700 data /data
# Listen on every address of the container, because a published port reaches no other. So the server refuses to start
# without rights and TLS: set CARILLON_AUTH, and the certificates or CARILLON_PLAINTEXT (docs/packages.md); for a trial,
# CARILLON_INSECURE. --cluster-listen is not set here, because a single node refuses it.
ENV CARILLON_DATA=/data \
    CARILLON_LISTEN=0.0.0.0:4222 \
    CARILLON_HTTP_LISTEN=0.0.0.0:7272 \
    CARILLON_LOG_FORMAT=json
USER 65532:65532
VOLUME ["/data"]
# NATS, HTTP, and NATS peers of a cluster.
EXPOSE 4222 7272 6222
STOPSIGNAL SIGTERM
# Asks /readyz of the server in the container, at CARILLON_HTTP_LISTEN, over TLS if CARILLON_HTTP_TLS_CERT is set. It
# needs no token.
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s --retries=3 CMD ["/usr/bin/carillon", "ready", "--timeout", "5s"]
ENTRYPOINT ["/usr/bin/carillon"]
CMD ["serve"]
