# Every target with a "## text" behind it is listed by `make help`.

GO        ?= go
MODULE    := github.com/gozer-gateway/gozer
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# gRPC's own traces, which we do not use, make the linker keep every method of every type (decision 8).
TAGS      := grpcnotrace
LDFLAGS   := -s -w -X main.version=$(VERSION)
CONFIG    ?= gateway.yaml
FUZZTIME  ?= 30s
SOAK      ?= 1m
BENCH     ?= .
COUNT     ?= 1
# Flags of bench/compare, such as -quick or "-only nginx,gozer -scenes small".
BENCH_COMPARE ?=
IMAGE     ?= gozer-gateway/gateway:$(VERSION)

LINT_VERSION := v2.15.0
LINT         := bin/golangci-lint

# The product needs no C compiler; only the race detector does.
export CGO_ENABLED ?= 0

.DEFAULT_GOAL := help
# Quiet, and only when missing. The tests of the alert rules and of a real Prometheus need it.
PROMETHEUS_MISSING = echo 'make promtool: without promtool and prometheus (Debian: apt-get install prometheus) the tests of the alert rules are skipped' >&2

.PHONY: help build run test test-nethttp soak race lint fmt fuzz bench bench-compare bench-registry profile interop check docker clean fmt-check tidy-check vet lint-tool promtool

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/gateway, a static binary
	$(GO) build -trimpath -tags $(TAGS) -ldflags '$(LDFLAGS)' -o bin/gateway ./cmd/gateway

run: build ## build and start the gateway with its demo upstreams
	bin/gateway run --config $(CONFIG) --demo

test: ## run all tests
	$(GO) test ./...

test-nethttp: ## run the end-to-end tests with the standard library's HTTP
	E2E_ENGINE=nethttp $(GO) test -short -count=1 ./e2e

soak: ## run the soak tests for SOAK (1m) each
	SOAK=$(SOAK) $(GO) test -count=1 -v -run 'Soak' ./e2e
	SOAK=$(SOAK) $(GO) test -count=1 -v -run 'LeaveNothingBehind' .

race: ## run all tests under the race detector (needs a C compiler)
	@command -v $$($(GO) env CC) >/dev/null || { echo 'make race: the race detector needs a C compiler' >&2; exit 1; }
	CGO_ENABLED=1 $(GO) test -race ./...

lint: lint-tool ## run the linters of .golangci.yml
	$(LINT) run ./...

fmt: lint-tool ## format every Go file (gofumpt, import groups)
	$(LINT) fmt

fuzz: ## fuzz every Fuzz target for FUZZTIME each (30s)
	@mkdir -p bin
	@$(GO) test -list '^Fuzz' ./... > bin/fuzz-targets
	@awk '/^Fuzz/ {name[n++] = $$1} /^ok/ {for (i = 0; i < n; i++) print $$2, name[i]; n = 0}' bin/fuzz-targets | \
	while read -r package target; do \
		echo "$$package $$target"; \
		$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$package || exit 1; \
	done

bench: ## run the benchmarks matching BENCH (all), COUNT times (1)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) ./...

profile: ## take the profile that the compiler optimises the gateway by
	$(GO) test -run '^$$' -bench 'BenchmarkProxy/native' -benchtime 20s -cpuprofile cmd/gateway/default.pgo -o bin/profile.test .

bench-compare: ## measure beside other proxies, write docs/performance.md (Linux, nginx)
	@mkdir -p bin
	$(GO) build -o bin/compare ./bench/compare
	bin/compare -out docs/performance.md $(BENCH_COMPARE)

interop: ## run the tests against a real Eureka server and real clients (JDK 17, Maven, npm)
	@{ command -v java && command -v mvn; } >/dev/null && mvn -q -B -f interop/java/pom.xml package || \
		echo 'make interop: without a JDK and Maven, the tests with Java are skipped' >&2
	@command -v npm >/dev/null && npm --prefix interop/node ci --no-audit --no-fund --silent || \
		echo 'make interop: without npm, the tests with Node are skipped' >&2
	INTEROP=1 $(GO) test -count=1 -v ./interop

bench-registry: build ## measure the registry with 10,000 instances (Linux)
	$(GO) run ./bench/registry -gateway bin/gateway $(BENCH_REGISTRY)

check: fmt-check tidy-check vet lint test test-nethttp race ## everything a change has to pass

promtool: ## install Debian's Prometheus, for the tests of the alert rules (as root)
	@{ command -v promtool && command -v prometheus; } >/dev/null || { \
		[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		apt-get -qq update >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends prometheus >/dev/null; \
	} || $(PROMETHEUS_MISSING)

docker: ## build the container image IMAGE
	docker build --build-arg VERSION=$(VERSION) -t $(IMAGE) .

clean: ## remove what the other targets built
	rm -rf bin

fmt-check: lint-tool
	$(LINT) fmt --diff

tidy-check:
	$(GO) mod tidy -diff

vet:
	$(GO) vet ./...

# Installed only when missing or of another version: the first time takes a few minutes.
lint-tool:
	@$(LINT) version --short 2>/dev/null | grep -qxF '$(LINT_VERSION:v%=%)' || { \
		echo 'installing golangci-lint $(LINT_VERSION) into bin/'; \
		GOBIN='$(CURDIR)/bin' $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION); \
	}
