package main

// The reasons why commands of a document are not run by TestDocCommands. Their commands and flags are checked all the same.
const (
	inCI          = ".ci/run runs the targets of make"
	needsRoot     = "needs root, and changes the machine"
	needsRelease  = "needs the files of a release; the tests of deploy/release and deploy/packages make and read them"
	needsDocker   = "needs a container runtime or a cluster of Kubernetes; the tests of deploy read its files"
	needsNATS     = "needs the nats program or servers of NATS, which are not of this repository"
	needsMachines = "needs several machines; make failover runs clusters"
	takesMinutes  = "takes minutes, and tests the sources and not what a user has"
	isOutput      = "is explained by its output, which is another at each run"
)

// docBlocksNotRun has the blocks that are not run, by page and first line.
var docBlocksNotRun = map[string]map[string]string{
	"CONTRIBUTING.md": {"make demo": inCI},
	"README.md": {
		"make demo": inCI,
		"./bin/carillon serve --cluster-name prod --nats nats://n1:4222,nats://n2:4222,nats://n3:4222": needsMachines,
	},
	"docs/cli.md": {
		"nats context add prod --server tls://nats.example.com:4222 --creds ~/prod.creds": needsNATS,
	},
	"docs/install.md": {
		"go install github.com/carillon-io/carillon/cmd/carillon@v1.2.0": "needs a release on the network",
		"sha256sum --ignore-missing -c SHA256SUMS":                       needsRelease,
		"apt-get install ./carillon_1.2.0-1_amd64.deb":                   needsRoot,
		"systemctl enable --now carillon":                                needsRoot,
		"tar -xzf carillon_1.2.0_linux_amd64.tar.gz":                     needsRelease,
	},
	"docs/operations.md": {
		"carillon serve --cluster-name prod --data /var/lib/carillon --nats nats://n1:4222,nats://n2:4222,nats://n3:4222": needsMachines,
		"export CARILLON_CLUSTER_PASSWORD=…": needsMachines,
		"carillon serve --cluster-name prod --node a --data a --listen 127.0.0.1:4222 --http-listen 127.0.0.1:7272 --cluster-listen 127.0.0.1:6222 --routes 127.0.0.1:6222,127.0.0.1:6223,127.0.0.1:6224": "needs three terminals; README.md has the same commands for one",
		"carillon cluster found --data /var/lib/carillon --cluster-name prod --node a":                                                                                                                    needsMachines,
		"nats-server -js -sd /var/lib/carillon/nats.replaced-20261122T150405.123Z -a 127.0.0.1 -p 4333 &":                                                                                                 needsNATS,
		"nats sub 'carillon.dead.>'": needsNATS,
		"nats stream add CARILLON_DEAD --subjects 'carillon.dead.>' --storage file --retention limits \\": needsNATS,
		"nats stream add CARILLON_EVENTS --subjects 'carillon.events.>' --storage file --replicas 3 \\":   needsNATS,
	},
	"docs/packages.md": {
		"make image": needsDocker,
		"install -m 755 carillon /usr/local/bin/": needsRoot,
		"make image IMAGE=carillon:dev":           needsDocker,
		"docker tag carillon:v1.2.0 registry.example.com/carillon:v1.2.0 && docker push registry.example.com/carillon:v1.2.0":          needsDocker,
		"carillon auth certs tls --nodes carillon --hosts carillon.carillon,carillon.carillon.svc,carillon.carillon.svc.cluster.local": needsDocker,
		"make release VERSION=v1.2.0":                                                                               needsRelease,
		"ssh-keygen -Y sign -f release_key -n carillon-release dist/SHA256SUMS":                                     needsRelease,
		"ssh-keygen -Y verify -f signers -I release@example.com -n carillon-release -s SHA256SUMS.sig < SHA256SUMS": needsRelease,
	},
	"docs/recipes.md": {"$ carillon run get 0e8a5nsdb0006-1795278625811-1": isOutput},
	"docs/runbook.md": {
		"rm wal/MOVED-TO-SHARDS-0 && rmdir wal": "undoes a move that the start of this release makes once in a directory of an earlier one; the tests of datadir do",
	},
	"docs/simulation.md": {
		"make sim SEEDS=20": takesMinutes,
		"go test ./replication -run 'TestSimulation$' -sim.seeds 10000 -timeout 1h":        takesMinutes,
		"go test ./replication -run 'TestSimulationOfShards$' -sim.seeds 1000 -timeout 1h": takesMinutes,
	},
}

// docLinesNotRun has single commands that are left out of blocks that are run, by page and line.
var docLinesNotRun = map[string]map[string]string{
	"docs/operations.md": {
		"carillon serve --nats nats://nats.example.com:4222 --creds /etc/carillon/nats.creds": needsNATS,
	},
	"docs/recipes.md": {
		"systemctl disable --now cron":                                             needsRoot,
		"nats stream add ORDERS --subjects 'orders.>' --dupe-window 2h --defaults": needsNATS,
	},
	"docs/tracing.md": {
		"docker run --rm -p 16686:16686 -p 4318:4318 jaegertracing/jaeger &": needsDocker,
	},
}

// docLinesThatFail has commands that end with another status than 0, because that is what the page shows.
var docLinesThatFail = map[string]map[string]string{
	"docs/quickstart.md": {
		`nats req carillon.v1.default.jobs.put '{"name": "hello-nats", "schedul": "@every 5s"}'`: "the page shows the error",
	},
	"docs/operations.md": {
		"carillon diff -f jobs.yaml --prune": "something would change",
	},
	"docs/security.md": {
		"$ carillon serve --http-listen 0.0.0.0:7272": "the page shows the error",
	},
}
