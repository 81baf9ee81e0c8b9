# docker build -t gateway . && docker run -p 8080:8080 -v ./gateway.yaml:/etc/gozer/gateway.yaml:ro gateway
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN make build VERSION="$VERSION"

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /src/bin/gateway /gateway
USER 65532:65532
# The management port answers on 127.0.0.1 unless management.server.address says otherwise.
EXPOSE 8080 8081
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
    CMD ["/gateway", "health", "--url", "http://127.0.0.1:8081/actuator/health/readiness"]
ENTRYPOINT ["/gateway"]
CMD ["run", "--config", "/etc/gozer/gateway.yaml"]
