package main

// docPage is what the commands of a page need besides a server, and what it leaves to its reader.
type docPage struct {
	setup   string   // commands before the first block
	bare    bool     // no server runs at the beginning: the page starts its own
	replace []string // texts of the page, each followed by what stands for it here
}

// docDead sets RUN to a dead run, by a request that no service answers.
const docDead = `
carillon job put reports/daily --schedule @yearly --target request:not.there --max-attempts 1
carillon job trigger reports/daily
eventually 'carillon run list --dead | grep -q reports/daily'
RUN=$(carillon run list --dead -o json | jq -r '.runs[0].run_id')
`

// docAuth makes a file of rights with an admin of the tenant billing, whose token is in the variable TOKEN.
const docAuth = `
TOKEN=$(openssl rand -hex 32)
cat >"$ROOT/etc/carillon/auth.yaml" <<YAML
tenants: {billing: {}}
principals:
  - {name: ci, token_sha256: "$(printf %s "$TOKEN" | sha256sum | cut -d' ' -f1)", grants: [{tenant: billing, role: admin}]}
YAML
chmod 600 "$ROOT/etc/carillon/auth.yaml"
`

// docCrontabs makes crontabs of a machine.
const docCrontabs = `
printf '17 * * * * %s run-parts /etc/cron.hourly\n' "$(id -un)" >"$ROOT/etc/crontab"
printf '5-55/10 * * * * %s command -v debian-sa1 > /dev/null && debian-sa1 1 1\n' "$(id -un)" >"$ROOT/etc/cron.d/sysstat"
printf 'crontabs:\n  - file: %s\n' "$ROOT/etc/crontab" >"$ROOT/etc/carillon/worker.yaml"
chmod 600 "$ROOT/etc/crontab" "$ROOT/etc/cron.d/sysstat" "$ROOT/etc/carillon/worker.yaml"
crontab() { printf '0 5 * * 1 tar -zcf home.tgz home\n'; }
`

// docPages has the pages that need more than a server. A page that is not here has one, in an empty directory.
var docPages = map[string]docPage{
	"README.md": {bare: true, replace: []string{
		"R=127.0.0.1:6222", "stop; R=127.0.0.1:6222",
		// The shell completes the names of the nodes meanwhile, for which no other test has a cluster.
		"# when each has printed its ready line:", "eventually 'carillon status --server nats://127.0.0.1:4224 | grep -q standby'\n" +
			"carillon __complete handover --server nats://127.0.0.1:4224 --to '' | grep -q '^b'",
	}},
	"docs/quickstart.md": {bare: true, replace: []string{
		"carillon run list hello\n", "eventually 'carillon run list hello | grep -q succeeded'\ncarillon run list hello\n",
	}},
	"docs/cli.md": {
		bare: true,
		setup: docAuth + `
carillon serve --auth "$ROOT/etc/carillon/auth.yaml"
export CARILLON_TOKEN=$TOKEN
unset CARILLON_SERVER
CARILLON_TENANT=billing carillon job put hook --server nats://127.0.0.1:4222 --schedule @hourly --target https://example.com/hook --header 'Authorization=Bearer a'
server --data other --listen 127.0.0.1:4333 --http-listen 127.0.0.1:7373
`,
		replace: []string{"https://carillon.example.com:7272", "http://127.0.0.1:7272", "nats://other:4222", "nats://127.0.0.1:4333"},
	},
	"docs/crontab.md": {setup: docCrontabs},
	"docs/migration.md": {setup: `
cat >dkron.json <<JSON
[{"name": "poll", "schedule": "@every 30s", "timezone": "", "disabled": false, "expires_at": null, "concurrency": "forbid", "retries": 2,
  "executor": "http", "executor_config": {"url": "https://example.com/poll", "method": "POST", "body": "{}"}, "metadata": {"team": "a"}}]
JSON
`},
	"docs/operations.md": {
		setup: docDead + `
carillon job put live --schedule @yearly --target nats:live --completion reported --attempt-timeout 10m
carillon job put dismissed --schedule @yearly --target request:not.there --max-attempts 1
DISMISSED=$(carillon job trigger dismissed -o json | jq -r .run.run_id)
eventually 'carillon run list --dead | grep -q $DISMISSED'
LIVE=$(carillon job trigger live -o json | jq -r .run.run_id)
CANCELLED=$(carillon job trigger live -o json | jq -r .run.run_id)
eventually 'carillon run get $LIVE -o json | jq -e ".run.fence > 0"'
FENCE=$(carillon run get $LIVE -o json | jq -r .run.fence)
printf '2026-12-25\n' >holidays.txt
printf 'name: a\nschedule: "@daily"\ntarget: {kind: nats, subject: a}\n' >jobs.yaml
`,
		replace: []string{
			"carillon serve --data /var/lib/carillon --log", "carillon serve --data carillon-data --log", // which has the jobs of the setup
			"run get RUN", "run get $RUN", "run retry RUN", "run retry $RUN", "run cancel RUN", "run cancel $CANCELLED", "run dismiss RUN", "run dismiss $DISMISSED",
			"RUN --fence 4711", "$LIVE --fence $FENCE", "RUN succeeded --fence 4711", "$LIVE succeeded --fence $FENCE",
			"carillon-2026-12-01-030000.backup --data /var/lib/carillon", "carillon-*.backup --data /var/lib/restored",
		},
	},
	// The page measures a million jobs; that they are imported shows with fewer.
	"docs/performance.md": {replace: []string{"awk -v n=1000000 ", "awk -v n=10000 "}},
	"docs/recipes.md": {
		setup: docDead + docCrontabs + `
cat >customers.jsonl <<JSON
{"name": "daily/4711", "schedule": "0 9 * * *", "timezone": "America/New_York", "target": {"kind": "nats", "subject": "digest.send"}}
JSON
carillon job put paused --schedule @daily --target nats:a --label team=billing
`,
	},
	"docs/runbook.md": {
		setup:   docDead,
		replace: []string{"run get RUN", "run get $RUN", "--job NAME", "--job reports/daily", "restore FILE --data /var/lib/carillon", "restore /backup/*.backup --data /var/lib/restored"},
	},
	"docs/security.md": {
		bare: true, setup: docAuth + "export CARILLON_TOKEN=$TOKEN\n",
		replace: []string{"https://carillon.example.com:7272", "http://127.0.0.1:7272"},
	},
	"docs/tls.md":        {bare: true, setup: "unset CARILLON_SERVER\n"},
	"docs/tracing.md":    {bare: true},
	"examples/README.md": {bare: true},
	"docs/worker.md": {
		setup:   docCrontabs,
		replace: []string{"nats://carillon.example.com:4222", "nats://127.0.0.1:4222"},
	},
}
