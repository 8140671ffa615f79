package embedded

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/dispatch"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// Options set up a [Scheduler]. Every zero value is a default.
type Options struct {
	// Handlers are what jobs call, by name: 1 to 128 of A-Z a-z 0-9 . _ - /. Those of jobs that the directory
	// holds belong here: what is due is launched as soon as it is open. The map is copied;
	// [Scheduler.Handle] adds more.
	Handlers map[string]Handler

	Tenant string // whose jobs these are; default "default"
	By     string // who asks, for the audit log; default nobody in particular

	// Concurrency bounds the attempts that one handler, or one HTTP host, has in hand at a time, unless the
	// target has a MaxInFlight; more wait for a place, which is no attempt. Default 64.
	Concurrency int

	AllowPrivateTargets bool // http targets may reach loopback and private addresses
	PayloadBytesMax     int  // of a job; default 256 KiB, at most 512 KiB

	// Lead is how far ahead of its time a tick is decided and made durable. Default 250 ms, at most 1 minute.
	Lead               time.Duration
	CompletedRetention time.Duration // how long completed jobs are kept; default 24 h, negative: for ever
	HistoryDays        int           // how long finished runs are kept; default 90
	CatchupRate        int           // runs a second that are spent on what was missed; 0 is twice the usual rate, at least 1,000
	// TZData says by which rules of timezones schedules are read: "embedded", those of this module, is the
	// default, and "system" the machine's.
	TZData          string
	CheckpointEvery time.Duration // between checkpoints of the store; default 15 s, at least 1 s

	// Tracer follows the requests of the program and the attempts of runs, and handlers find the span of
	// their attempt in their context. tracing.New makes one of the program's own OpenTelemetry. Default nil:
	// nobody follows. [NewTest] follows requests alone.
	Tracer Tracer

	Logger *slog.Logger // default slog.Default()
}

// Tracer follows requests and attempts. *tracing.Tracer is one.
type Tracer interface {
	api.Tracer
	dispatch.Tracer
}

func (o Options) withDefaults() Options {
	if o.Tenant == "" {
		o.Tenant = "default"
	}
	if o.PayloadBytesMax == 0 {
		o.PayloadBytesMax = job.PayloadBytesDefault
	}
	if o.CheckpointEvery == 0 {
		o.CheckpointEvery = 15 * time.Second
	}
	if o.TZData == "" {
		o.TZData = job.ZonesEmbedded
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

// validate checks what is not left to the parts that the options are handed to.
func (o Options) validate() error {
	if err := job.ValidateTenant(o.Tenant); err != nil {
		return fmt.Errorf("embedded: options: %w", err)
	}
	if o.CheckpointEvery < time.Second {
		return fmt.Errorf("embedded: options: checkpoints every %s are too often; want at least 1s", o.CheckpointEvery)
	}
	if o.PayloadBytesMax < 1 || o.PayloadBytesMax > job.PayloadBytesCeiling {
		return fmt.Errorf("embedded: options: the payload limit is %d; want 1 to %d bytes", o.PayloadBytesMax, job.PayloadBytesCeiling)
	}
	for name, h := range o.Handlers {
		if err := checkHandler(name, h); err != nil {
			return err
		}
	}
	return nil
}

func (o Options) rules() job.Rules {
	return job.Rules{PayloadBytesMax: o.PayloadBytesMax, AllowPrivateTargets: o.AllowPrivateTargets, AllowHandlers: true}
}

func (o Options) settings(zones *job.Zones) scheduler.Settings {
	return scheduler.Settings{
		Lead: o.Lead, CompletedRetention: o.CompletedRetention, HistoryDays: o.HistoryDays, CatchupRate: o.CatchupRate,
		Zones: zones,
	}
}

// zones returns the rules of timezones that are wanted.
func (o Options) zones() (*job.Zones, error) {
	switch o.TZData {
	case job.ZonesEmbedded:
		return job.EmbeddedZones(), nil
	case job.ZonesSystem:
		return job.SystemZones("")
	}
	return nil, fmt.Errorf("embedded: options: the zone rules %q are unknown; want %s or %s", o.TZData, job.ZonesEmbedded, job.ZonesSystem)
}

func (o Options) dispatch() dispatch.Options {
	return dispatch.Options{
		AllowPrivateTargets: o.AllowPrivateTargets, ConcurrencyPerTarget: o.Concurrency, Logger: o.Logger,
		Tracer: o.Tracer,
	}
}
