# Carillon: what a newcomer types. Every target works on a clean checkout with nothing but Go.
# The race detector of `make check` needs a C compiler besides.

export CGO_ENABLED ?= 0
BINARY  := bin/carillon
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
CYCLES  ?= 30
SEED    ?= 0
SEEDS   ?= 20

# The time of everything in a release: that of the commit, so that the same commit gives the same bytes.
RELEASE_TIME ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
IMAGE        ?= carillon:$(VERSION)

# Of the image: linux/amd64 or linux/arm64.
IMAGE_PLATFORM ?= linux/$(shell go env GOARCH)

# What `make failover` breaks: short, within five minutes with one shard, or all; with several shards short is all. It uses network namespaces where this user
# may make them.
FAILOVER ?= short
# Shards of the clusters that `make failover` breaks. The guarded topology has one.
SHARDS ?= 1
CRON_FOR ?= 1h

# Packages without goroutines and locks, of which the race detector learns nothing: `make check` leaves them out. TestLonePackages
# checks that they are so.
LONE := apierr backup bench/cron bench/plot crontab deploy/release fair heap instant natsfile placement rules rungroup scheduler/core seal serverurl session smallfile webhook wheel

# How `make check` builds: with the zstd of releases, which is Go, and with binaries that the linker of Go writes, without DWARF.
# The zstd in C and the linker of C cost minutes of a processor. Reports of races name functions and lines nevertheless. Where the
# linker of Go cannot do it alone: make check RACE_BUILD=
RACE_BUILD ?= -tags pebblegozstd -ldflags '-s -w -linkmode=internal'

EMPTY :=
SPACE := $(EMPTY) $(EMPTY)

.PHONY: help demo test check check-rivals check-browser check-manifests check-packages browser screenshots bench rivals build fmt site examples crash failover cron upgrade fuzz sim sim-plants release image alerts clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-13s %s\n", $$1, $$2}' Makefile

demo: build ## run the main job before your eyes: server, live jobs, firings
	./$(BINARY) demo

build: ## build bin/carillon
	go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o $(BINARY) ./cmd/carillon

test: ## run all tests
	go test ./server ./cmd/carillon ./... # the longest first, so that they do not run alone at the end

check: ## format, vet, staticcheck, import rules, race detector
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then \
		echo "not formatted (make fmt): $$unformatted"; exit 1; fi
	go vet ./...
	go tool staticcheck ./...
	go mod verify
	go test ./rules
	CGO_ENABLED=1 GORACE=atexit_sleep_ms=50 go test -race -short -vet=off $(RACE_BUILD) -timeout 25m ./server # by itself: its clusters need the whole machine
	CGO_ENABLED=1 GORACE=atexit_sleep_ms=50 go test -race -short -vet=off $(RACE_BUILD) -timeout 25m ./cmd/carillon \
		$$(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... | grep -vE '^[^/]+/[^/]+/[^/]+/(server|$(subst $(SPACE),|,$(LONE)))$$')

crash: build ## kill -9 the real binary CYCLES times under load and check what it promised
	go run ./bench/crash --binary ./$(BINARY) --cycles $(CYCLES) --seed $(SEED)

failover: build ## break a real cluster under load and check what it promised; FAILOVER=all for the long form, SHARDS=4 for several shards
	go build -o bin/failover ./bench/failover
	./bin/failover --binary ./$(BINARY) --topology embedded --shards $(SHARDS) --scenario $(FAILOVER) --seed $(SEED)
	./bin/failover --binary ./$(BINARY) --topology outside --shards $(SHARDS) --scenario $(FAILOVER) --seed $(SEED)
ifeq ($(SHARDS),1)
	./bin/failover --binary ./$(BINARY) --topology guarded --scenario $(FAILOVER) --seed $(SEED)
endif

cron: build ## run one crontab under Debian's cron and under the worker for CRON_FOR, and compare (Linux, root)
	go run ./bench/cron --binary ./$(BINARY) --for $(CRON_FOR) --seed $(SEED)

upgrade: ## roll clusters from and to releases with other rows, with a binary of each
	go test ./cmd/carillon -run '^TestUpgrade' -upgrade -count 1 -v

bench: build ## measure lateness, herds, registration and recovery of the real binary
	./$(BINARY) bench all

rivals: build ## measure others beside it: NATS schedules, River, asynq (installs PostgreSQL and Redis on Debian)
	cd bench/rivals && ./install.sh && go run . rivals --binary ../../$(BINARY)

check-rivals: ## vet and test the module of the rivals
	cd bench/rivals && go vet ./... && go test ./...

check-manifests: ## build the manifests of Kubernetes and decode them with its own types
	cd deploy/manifests && go vet ./... && go test -count 1 ./...
	cd deploy/roots && go vet ./...

check-packages: ## build a .deb and a .rpm, and read them with the programs of the distributions (installs rpm on Debian)
	cd deploy/packages && ./install.sh && go vet ./... && go test -count 1 ./...

browser: check-browser ## use the dashboard in a real browser (installs Chromium on Debian)
	cd browser && ./install.sh && go test ./...

check-browser: ## vet the module of the browser, and run staticcheck on it
	go build -o bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	cd browser && go vet ./... && ../bin/staticcheck ./...

screenshots: ## take the pictures in docs/screenshots (installs Chromium on Debian)
	cd browser && ./install.sh && go run ./shots --out ../docs/screenshots

site: ## make dist/site, a static site of the documents with search; a dead link fails
	cd deploy/site && go vet ./... && go test -count 1 ./... && go run . --out ../../dist/site

examples: build ## run the examples, each with its interpreter, against a server (installs node and Python on Debian)
	cd examples && ./install.sh && go vet ./... && go test -count 1 ./... -args -binary ../bin/carillon

fuzz: ## fuzz every decoder and parser for a short while each
	.ci/fuzz

sim: ## let SEEDS engines live through hours, months and years of virtual time, and a hundred times as many clusters
	go test ./scheduler -run 'TestSimulation$$' -sim.seeds $(SEEDS) -timeout 2h -v
	go test ./replication -run 'TestSimulation$$' -sim.seeds $(SEEDS)00 -timeout 2h -v
	go test ./replication -run 'TestSimulationOfShards$$' -sim.seeds $(SEEDS)0 -timeout 2h -v

sim-plants: ## plant bugs in the scheduler and in the replication, and see that simulations find each of them
	go test ./scheduler -run TestPlants -sim.plants 200 -timeout 2h -v
	go test ./replication -run TestPlants -sim.plants 10000 -timeout 2h -v

release: ## build dist/: archives for Linux and macOS, .deb and .rpm, SPDX, licences, SHA256SUMS; the same commit gives the same bytes
	go run ./deploy/release --version $(VERSION) --time $(RELEASE_TIME) --out dist
	cd deploy/packages && go run . --version $(VERSION) --time $(RELEASE_TIME) --dist ../../dist

image: ## build the container image IMAGE from the files of a release
	go run ./deploy/release --image --platforms $(IMAGE_PLATFORM) --version $(VERSION) --time $(RELEASE_TIME) --out dist/image
	cd deploy/roots && go run . > ../../dist/image/ca-certificates.crt
	docker build --platform $(IMAGE_PLATFORM) --build-arg VERSION=$(VERSION) --file Dockerfile --tag $(IMAGE) dist/image

alerts: ## test the alerts with promtool (fetches it on Debian)
	deploy/prometheus/check.sh

fmt: ## format all Go files
	gofmt -w $$(git ls-files '*.go')

clean: ## remove what the other targets made
	rm -rf bin dist
