package embedded

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/dispatch"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
	"github.com/carillon-io/carillon/scheduler"
)

// Options configure a [Scheduler]. The zero value of each field selects its default.
type Options struct {
	// Handlers are the functions that jobs call, by name: 1 to 128 of A-Z a-z 0-9 . _ - /. The handlers of
	// jobs that the directory already has must be here, because Open launches what is due. The map is
	// copied; [Scheduler.Handle] adds more.
	Handlers map[string]Handler

	Tenant string // tenant of the jobs; default "default"
	By     string // name of the caller in the audit log; default "": none

	// Concurrency bounds the concurrent attempts at one handler, or one HTTP host, unless the target has a
	// MaxInFlight. Further runs wait for a place; waiting does not count as an attempt. Default 64.
	Concurrency int

	AllowPrivateTargets bool // http targets may reach loopback and private addresses
	PayloadBytesMax     int  // largest payload of a job, in bytes; default 256 KiB, at most 512 KiB

	// Lead is the time by which ticks are decided and made durable ahead. Default 250 ms, at most 1 minute.
	Lead               time.Duration
	CompletedRetention time.Duration // how long completed jobs are kept; default 24 h; negative means for ever
	HistoryDays        int           // how many days finished runs are kept; default 90, at most 36,500
	CatchupRate        int           // missed runs fired per second; 0 means twice the usual rate, at least 1,000
	// TZData selects the timezone rules for schedules: "embedded" for those in the program (the default), or
	// "system" for those of the machine.
	TZData          string
	CheckpointEvery time.Duration // time between checkpoints of the store; default 15 s, at least 1 s

	// Tracer traces the program's requests and the attempts of runs; the context of a handler has the span of
	// its attempt. tracing.New makes a Tracer from the program's own OpenTelemetry. Nil means no tracing.
	// [NewTest] traces requests only.
	Tracer Tracer

	Logger *slog.Logger // default slog.Default()
}

// historyDaysMax bounds Options.HistoryDays, as serve --history: a hundred years.
const historyDaysMax = 36_500

// Tracer traces requests and attempts. *tracing.Tracer implements it.
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
		o.TZData = schedule.ZonesEmbedded
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

// validate checks the options that no other package checks.
func (o Options) validate() error {
	if err := job.ValidateTenant(o.Tenant); err != nil {
		return fmt.Errorf("embedded: options: %w", err)
	}
	if o.CheckpointEvery < time.Second {
		return fmt.Errorf("embedded: options: CheckpointEvery is %s; want at least 1s", o.CheckpointEvery)
	}
	if o.PayloadBytesMax < 1 || o.PayloadBytesMax > job.PayloadBytesCeiling {
		return fmt.Errorf("embedded: options: the payload limit is %d; want 1 to %d bytes", o.PayloadBytesMax, job.PayloadBytesCeiling)
	}
	if o.HistoryDays < 0 || o.HistoryDays > historyDaysMax {
		return fmt.Errorf("embedded: options: HistoryDays is %d; want 1 to %d, or 0 for the default", o.HistoryDays, historyDaysMax)
	}
	for name, h := range o.Handlers {
		if err := checkHandler(name, h); err != nil {
			return err
		}
	}
	return nil
}

// rules returns the rules by which definitions are validated.
func (o Options) rules() job.Rules {
	return job.Rules{PayloadBytesMax: o.PayloadBytesMax, AllowPrivateTargets: o.AllowPrivateTargets, AllowHandlers: true}
}

// settings returns the engine's settings for these options.
func (o Options) settings(zones *schedule.Zones) scheduler.Settings {
	return scheduler.Settings{
		Lead: o.Lead, CompletedRetention: o.CompletedRetention, HistoryDays: o.HistoryDays, CatchupRate: o.CatchupRate,
		Zones: zones,
	}
}

// zones returns the rules of timezones that are wanted.
func (o Options) zones() (*schedule.Zones, error) {
	switch o.TZData {
	case schedule.ZonesEmbedded:
		return schedule.EmbeddedZones(), nil
	case schedule.ZonesSystem:
		return schedule.SystemZones("")
	}
	return nil, fmt.Errorf("embedded: options: the zone rules %q are unknown; want %s or %s", o.TZData, schedule.ZonesEmbedded, schedule.ZonesSystem)
}

func (o Options) dispatch() dispatch.Options {
	return dispatch.Options{
		AllowPrivateTargets: o.AllowPrivateTargets, ConcurrencyPerTarget: o.Concurrency, Logger: o.Logger,
		Tracer: o.Tracer,
	}
}
