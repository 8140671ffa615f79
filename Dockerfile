# syntax=docker/dockerfile:1
# The server and nothing else: one static binary and root certificates, about 40 MB.
#
#   make image                  or: docker build --build-arg VERSION=v1.2.0 -t carillon:v1.2.0 .
#   docker run -p 127.0.0.1:4222:4222 -p 127.0.0.1:7272:7272 -v carillon:/data carillon:v1.2.0

ARG GO_VERSION=1.26
FROM --platform=$BUILDPLATFORM golang:${GO_VERSION} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG TARGETOS=linux
ARG TARGETARCH=amd64
ARG VERSION=dev
# The same flags as for a release, so that the same version is the same binary.
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X main.version=${VERSION}" -o /out/carillon ./cmd/carillon
# A volume gets its owner from the directory of the image.
RUN mkdir -p /out/data

FROM scratch
ARG VERSION=dev
LABEL org.opencontainers.image.title="carillon" \
      org.opencontainers.image.description="Durable job scheduler" \
      org.opencontainers.image.source="https://github.com/carillon-io/carillon" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/carillon /usr/bin/carillon
COPY --from=build --chown=65532:65532 --chmod=0750 /out/data /data
# Listen on every address of the container: the operator decides which ports are reachable from outside.
# --cluster-listen is not set here, because a single node refuses it.
ENV CARILLON_DATA=/data \
    CARILLON_LISTEN=0.0.0.0:4222 \
    CARILLON_HTTP_LISTEN=0.0.0.0:7272 \
    CARILLON_LOG_FORMAT=json
USER 65532:65532
VOLUME ["/data"]
# NATS, HTTP, and NATS peers of a cluster.
EXPOSE 4222 7272 6222
STOPSIGNAL SIGTERM
# Asks over NATS whether a node leads. With --nats, set CARILLON_SERVER to the same servers.
# With --listen-tls-cert, set CARILLON_TLS_CA (docs/tls.md).
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s --retries=3 CMD ["/usr/bin/carillon", "status", "--timeout", "5s"]
ENTRYPOINT ["/usr/bin/carillon"]
CMD ["serve"]
