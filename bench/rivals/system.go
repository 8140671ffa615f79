package main

import (
	"context"
	"time"
)

// system is a scheduler that runs, on a directory of its own.
type system interface {
	// dial returns a client. Clients that share a pool of connections by design do so.
	dial(ctx context.Context) (registrar, error)
	// receive returns the arguments of the receive command for what fires.
	receive() []string
	// count returns how many jobs the system holds that have not fired.
	count(ctx context.Context) (int, error)
	// pid is the server's process; its children count as it.
	pid() int
	// data is the directory that the server writes to.
	data() string
	// stop ends the server at once: its data are not looked at again.
	stop()
}

// firingDialer is a system whose jobs that fire go another way than those that are only registered.
type firingDialer interface {
	dialFiring(ctx context.Context) (registrar, error)
}

// registrar is a client that registers jobs. Each is durable, as far as the setting goes, on return.
type registrar interface {
	put(ctx context.Context, j job) error
	// putAll registers many jobs in the fastest way there is.
	putAll(ctx context.Context, jobs []job) error
	close()
}

// mode is a rival in one setting.
type mode struct {
	rival   string // as --rivals names it
	name    string
	setting string // in words
	start   func(ctx context.Context, dir string) (system, error)

	sameServer bool          // it registers as the mode before, and differs in what receives
	bulk       string        // how many jobs are registered at once; empty if the rival has no way to
	lookAhead  time.Duration // how long before they are due jobs must be there to be treated as usual
}

// carillonRival names the one whose promises are ours.
const carillonRival = "carillon"

func (m *mode) ours() bool { return m.rival == carillonRival }

// modes returns all rivals in all settings, in the order in which they are measured.
func (c *rivalsCmd) modes() []mode {
	carillon := func(ctx context.Context, dir, target string) (system, error) {
		return startCarillon(ctx, c.Binary, dir, target)
	}
	river := func(ctx context.Context, dir string, tuned bool) (system, error) { return startRiver(ctx, dir, tuned) }
	nats := func(ctx context.Context, dir, sync string) (system, error) { return startNATS(ctx, dir, sync) }
	redis := func(ctx context.Context, dir, appendfsync string, tuned bool) (system, error) {
		return startAsynq(ctx, dir, appendfsync, tuned)
	}
	return []mode{
		{
			rival: bareRival, name: bareName, bulk: "requests of 8,192, 4 under way",
			setting: "no scheduler: the least that one over NATS must do; firing is not recorded, registrations are only written and synced",
			start:   func(ctx context.Context, dir string) (system, error) { return startBare(ctx, dir) },
		},
		{
			rival: carillonRival, name: "carillon", bulk: "jobs.put_many, 4 requests under way",
			setting: "each change synced; target nats: published, the subscriber answers nothing",
			start:   func(ctx context.Context, dir string) (system, error) { return carillon(ctx, dir, "nats") },
		},
		{
			rival: carillonRival, name: "carillon-reply", sameServer: true,
			setting: "each change synced; target request: the subscriber answers, as a worker of River or asynq does",
			start:   func(ctx context.Context, dir string) (system, error) { return carillon(ctx, dir, "request") },
		},
		{
			rival: "nats", name: "nats", bulk: "async publish, 4,000 under way",
			setting: "message schedules, stream on file, synced every 2 minutes (default)",
			start:   func(ctx context.Context, dir string) (system, error) { return nats(ctx, dir, syncDefault) },
		},
		{
			rival: "nats", name: "nats-sync", bulk: "atomic batches of 500",
			setting: "message schedules, stream on file, sync_interval always",
			start:   func(ctx context.Context, dir string) (system, error) { return nats(ctx, dir, syncAlways) },
		},
		{
			rival: "river", name: "river", bulk: "InsertManyFast, batches of 10,000", lookAhead: riverLookAhead,
			setting: "PostgreSQL, fsync and synchronous_commit on; 1,000 workers, polls every 1 s (default)",
			start:   func(ctx context.Context, dir string) (system, error) { return river(ctx, dir, false) },
		},
		{
			rival: "river", name: "river-tuned", sameServer: true, lookAhead: riverLookAhead,
			setting: "PostgreSQL, fsync and synchronous_commit on; 1,000 workers, polls every 20 ms, cooldown 10 ms",
			start:   func(ctx context.Context, dir string) (system, error) { return river(ctx, dir, true) },
		},
		{
			rival: "asynq", name: "asynq",
			setting: "Redis, appendfsync always; concurrency 100, forwards every 5 s (default)",
			start:   func(ctx context.Context, dir string) (system, error) { return redis(ctx, dir, "always", false) },
		},
		{
			rival: "asynq", name: "asynq-tuned", sameServer: true,
			setting: "Redis, appendfsync always; concurrency 100, forwards every 100 ms, checks every 50 ms",
			start:   func(ctx context.Context, dir string) (system, error) { return redis(ctx, dir, "always", true) },
		},
		{
			rival: "asynq", name: "asynq-everysec",
			setting: "Redis, appendfsync everysec; concurrency 100, forwards every 100 ms, checks every 50 ms",
			start:   func(ctx context.Context, dir string) (system, error) { return redis(ctx, dir, "everysec", true) },
		},
	}
}
