package api

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
)

// Bounds of requests that are not fields of [Options].
const (
	// PageDefault is the limit of a list that names none. The largest limit is scheduler.PageMax.
	PageDefault = 100
	// BulkJobsMax is the largest number of jobs in one jobs.put_many. If NATS carries messages of less than 5 MiB it
	// is smaller, one job for each 512 bytes of max_payload, so that the reply fits. A larger bulk would keep its
	// memory and its place in the gate for longer, and is no faster for each job.
	BulkJobsMax = 10_000
	// NextCountDefault is how many ticks schedules.next returns if the request does not say. The largest number is
	// schedule.PreviewMax.
	NextCountDefault = 10
)

// Bounds of the requests in progress, which the tenants share. runningMax are enough for commits of many requests, and few
// enough that a request of another tenant does not wait for a processor behind those of a flood.
const (
	runningMax                   = 512
	singleBytesMax, bulkBytesMax = 32 << 20, 64 << 20
)

// Options configure a [Service]. Every zero value means a default. They are copied by NewService and NewLocal, which
// fill in the defaults; later changes by the caller have no effect.
type Options struct {
	Node

	Prefix string       // first token of the subjects; default "carillon"
	Rules  job.Rules    // for definitions; Prefix and PayloadBytesMax are filled in
	Logger *slog.Logger // default slog.Default()

	// Access are the rights of callers. Nil permits everything to every caller.
	Access *access.Keeper

	// Caller returns who sends requests from the account of a tenant on the embedded NATS server, by the account and the
	// user that this server names; the zero value is a caller who may do nothing. nil: tenants have no accounts there.
	// Without Access it is not called. Safe for concurrent use.
	Caller func(tenant, account, user string) access.Who

	// Accounts returns the tenants that have an account on the embedded NATS server now, each with the connection on which
	// its requests come; a tenant keeps its connection. With an error it returns those that there are. The caller of
	// NewService closes the connections after Close. nil: tenants have no accounts there. Safe for concurrent use.
	Accounts func() (map[string]*nats.Conn, error)

	// Unanswered is told of each request from the account of a tenant that gets no answer on purpose; account "" is not known.
	// nil: it is not counted. Safe for concurrent use.
	Unanswered func(account string)

	// Zones are the rules of timezones for previews. Default: those in the binary.
	Zones *schedule.Zones

	// Tracer traces the requests. Nil means that they are not traced.
	Tracer Tracer

	// Standby serves the subjects for reads that may lag, <prefix>.standby.v1.<tenant>.<verb>. Every reply says by
	// how much. Changes are refused there.
	Standby bool

	// Shard is the number of the shard whose requests are answered, and Shards how many there are. With several, those
	// of each shard come on subjects of their own, <prefix>.shard.<n>.v1.<tenant>.<verb>: only the leader of a shard can
	// answer them, and each shard has another one. Such a service answers no discovery, and no requests from accounts:
	// these come to a router, see NewRouter. Zero Shards means one.
	Shard, Shards uint32

	// Whole reports whether the copy of the shard from which a standby answers has been complete since the node started, so
	// that the node knows by how much it lags; until then its reads are unavailable. Nil: it has.
	Whole func() bool

	// Unsure returns since when, before now, it is not certain any more that the leader of one of several shards leads. Its
	// answers to reads that may lag may lag by as much. Nil: it answers no reads then.
	Unsure func() time.Duration

	// Process is what the other nodes call this process, a token of subjects; see [Shards]. "": the leader or the standby of one
	// of several shards is not asked by its process.
	Process string

	// Leaders says which process leads, to a standby that passes requests on. Nil: whichever answers is the leader.
	Leaders Leaders

	// ForwardKey is the secret by which the nodes of a cluster recognize the requests that they pass on to each other;
	// the same on each. Empty: the nodes rely on NATS alone to keep others from the subjects of the cluster.
	ForwardKey []byte

	// Leads reports whether it is certain that no other node has led until now; what a leader reads of its state is
	// valid only then. Nil means that there is no other node.
	Leads func() bool

	// RequestsMax bounds the requests in progress, which the tenants share; more are refused as rate_limited. Each holds
	// its message in memory. At most 512 of them run at a time. Default 4,096.
	RequestsMax int
	// BulkMax bounds the bulk registrations that run at a time, and BulkWaiting how many more may wait, each with its
	// message in memory. Default 4 and 60.
	BulkMax, BulkWaiting int

	// RequestTimeout bounds the work on one request, BulkTimeout that on a bulk registration. Default 10 s and 60 s.
	RequestTimeout, BulkTimeout time.Duration
}

// withDefaults returns the options with defaults in place of zero values. It does not change the caller's value.
func (o Options) withDefaults() Options {
	setDefault(&o.Prefix, "carillon")
	setDefault(&o.Version, "dev")
	setDefault(&o.Logger, slog.Default())
	setDefault(&o.Inboxes, new(inbox.Rule))
	setDefault(&o.Rules.Prefix, o.Prefix)
	setDefault(&o.Rules.PayloadBytesMax, job.PayloadBytesDefault)
	setDefault(&o.Zones, schedule.EmbeddedZones())
	setDefault(&o.RequestsMax, 4096)
	setDefault(&o.BulkMax, 4)
	setDefault(&o.BulkWaiting, 60)
	setDefault(&o.RequestTimeout, 10*time.Second)
	setDefault(&o.BulkTimeout, time.Minute)
	return o
}

// setDefault sets a value that is zero. It is for values of which zero is never meant.
func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// validate checks options that have their defaults. The prefix is one token of subjects, as a tenant is, and has the
// same grammar.
func (o Options) validate() error {
	switch {
	case o.Shard >= max(o.Shards, 1):
		return fmt.Errorf("api: options: there is no shard %d of %d", o.Shard, max(o.Shards, 1))
	case job.ValidateTenant(o.Prefix) != nil:
		return fmt.Errorf("api: options: the prefix %q is no subject token; want letters, digits, - and _", o.Prefix)
	case o.Rules.PayloadBytesMax < 1 || o.Rules.PayloadBytesMax > job.PayloadBytesCeiling:
		return fmt.Errorf("api: options: the payload limit is %d; want 1 to %d bytes", o.Rules.PayloadBytesMax, job.PayloadBytesCeiling)
	case o.RequestsMax < 1 || o.BulkMax < 1 || o.BulkWaiting < 0 || o.RequestTimeout < 0 || o.BulkTimeout < 0:
		return errors.New("api: options: limits and timeouts must be positive")
	}
	return nil
}

// semanticVersion returns a version in the form that NATS services demand. A version of another form becomes the
// build metadata of 0.0.0, which may be any text.
func semanticVersion(version string) string {
	plain := strings.TrimPrefix(version, "v")
	if semanticForm.MatchString(plain) {
		return plain
	}
	build := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, version)
	return "0.0.0+" + build
}
