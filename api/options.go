package api

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/job"
)

// The bounds of requests that are not fields of [Options].
const (
	// PageDefault is the limit of a list that names none; the most is scheduler.PageMax.
	PageDefault = 100
	// BulkJobsMax is the most jobs of one jobs.put_many. Where NATS carries smaller messages than 5 MiB
	// it is less, so that the reply is sure to fit: one job for each 512 bytes of max_payload.
	BulkJobsMax = 10_000
	// NextCountDefault is how many ticks schedules.next returns if the request does not say; the most
	// is job.PreviewMax.
	NextCountDefault = 10
)

// Options set up a [Service]. Every zero value is a default.
type Options struct {
	Prefix  string       // first token of the subjects; default "carillon"
	Version string       // of the program; default "dev"
	Rules   job.Rules    // the checks of definitions; Prefix and PayloadBytesMax are filled in
	Logger  *slog.Logger // default slog.Default()

	// Zones are the rules of timezones for previews. Default: those in the binary.
	Zones *job.Zones

	// Tracer follows the requests. Nil: nobody does.
	Tracer Tracer

	// Cluster tells how the node and the others are; nil: the node is alone.
	Cluster func() *client.Cluster
	// Standby answers on the subjects for reads that may lag, <prefix>.standby.v1.<tenant>.<verb>: every
	// reply says by how much. Whatever changes something is refused there.
	Standby bool

	// Inboxes says where replies may go, and counts the requests that want theirs elsewhere. Nil: the usual
	// inboxes.
	Inboxes *inbox.Rule

	// Surroundings say what is wrong around the server; nil: nothing is known.
	Surroundings Surroundings

	// RequestsMax is how many requests are under way at a time; more are refused as rate_limited. Each
	// holds its message in memory. Default 4,096.
	RequestsMax int
	// BulkMax is how many bulk registrations run at a time, and BulkWaiting how many more may wait, each
	// with its message in memory. Default 4 and 60.
	BulkMax, BulkWaiting int

	// RequestTimeout bounds the work on one request, BulkTimeout that on a bulk registration.
	// Default 10 s and 60 s.
	RequestTimeout, BulkTimeout time.Duration
}

func (o Options) withDefaults() Options {
	setDefault(&o.Prefix, "carillon")
	setDefault(&o.Version, "dev")
	setDefault(&o.Logger, slog.Default())
	setDefault(&o.Inboxes, new(inbox.Rule))
	setDefault(&o.Rules.Prefix, o.Prefix)
	setDefault(&o.Rules.PayloadBytesMax, job.PayloadBytesDefault)
	setDefault(&o.Zones, job.EmbeddedZones())
	setDefault(&o.RequestsMax, 4096)
	setDefault(&o.BulkMax, 4)
	setDefault(&o.BulkWaiting, 60)
	setDefault(&o.RequestTimeout, 10*time.Second)
	setDefault(&o.BulkTimeout, time.Minute)
	return o
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

func (o Options) validate() error {
	switch {
	case job.ValidateTenant(o.Prefix) != nil:
		return fmt.Errorf("api: options: the prefix %q is no subject token; want letters, digits, - and _", o.Prefix)
	case o.Rules.PayloadBytesMax < 1 || o.Rules.PayloadBytesMax > job.PayloadBytesCeiling:
		return fmt.Errorf("api: options: the payload limit is %d; want 1 to %d bytes", o.Rules.PayloadBytesMax, job.PayloadBytesCeiling)
	case o.RequestsMax < 1 || o.BulkMax < 1 || o.BulkWaiting < 0 || o.RequestTimeout < 0 || o.BulkTimeout < 0:
		return errors.New("api: options: limits and timeouts must be positive")
	}
	return nil
}

// semanticVersion returns a version as NATS services must have it. What is none becomes build metadata
// of 0.0.0, which may be any text.
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
