package carillon

import (
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode"

	"github.com/carillon-io/carillon/job"
)

// Options set up a server. The zero value is complete: an embedded NATS server on its usual port and
// data in the working directory.
type Options struct {
	Dir    string // data directory, made if it is not there; default "carillon-data"
	Prefix string // first token of the service's subjects; default "carillon"

	Listen  string // of the embedded NATS server; default 127.0.0.1:4222, port 0 is any
	NATSURL string // outside servers instead of the embedded one, separated by commas
	Creds   string // credentials file for it
	TLSCert string // client certificate for it, with TLSKey
	TLSKey  string
	TLSCA   string // roots to trust for it; default: those of the system

	// InboxPrefixes are what the inboxes of clients begin with, besides _INBOX and _R_: what they give
	// nats.CustomInboxPrefix. A request whose reply is to go elsewhere is dropped. At most 16.
	InboxPrefixes []string

	HTTPListen string // default 127.0.0.1:7272, port 0 is any
	// HTTPHosts are the names by which HTTP may be asked, besides addresses. Empty: "localhost" if only this
	// machine reaches HTTPListen, else any name. A page of another site could lead a name of its own here.
	HTTPHosts []string

	// HTTPConnections bounds the connections of HTTP that are open at a time, 16 to half of the files that the
	// process may have open. More take memory, some 20 KiB each; with fewer, callers wait for one another sooner.
	// 0 is 10,000, or a quarter of the files if that is less.
	HTTPConnections int

	// ProfileListen is where Go's profiles are served, /debug/pprof/; only an address of this machine. Empty:
	// nowhere.
	ProfileListen string

	AllowPrivateTargets bool // http targets may reach loopback, private and other closed addresses, see job.ClosedNetwork
	// WebhookRoots are the authorities that https targets are checked with. Nil: those of the system.
	WebhookRoots    *x509.CertPool
	PayloadBytesMax int // of a job; default 256 KiB, at most 512 KiB

	// MaxInFlight is how many attempts of a tenant a target of kind request or http has at a time unless it says
	// itself: 1 to 10,000, default 64. More are done sooner, and are harder on the target.
	MaxInFlight int

	// ClusterName makes this process a node of a cluster: nodes with the same NATS, prefix and cluster name
	// keep one log, and one of them leads. A token of letters, digits, - and _. Empty: one node alone,
	// and none of the settings down to StreamBytesMax may be set.
	ClusterName string
	// Node names this node. The name is a token as the cluster's is, differs from those of the other nodes,
	// and stays: the data directory keeps it. Default: the host's name and six hex digits, drawn once.
	Node string
	// Witness runs the embedded NATS server as a member of the cluster and nothing else: the third vote of a
	// cluster of two nodes.
	Witness bool
	// ClusterListen is where the embedded server listens for those of the other nodes; default
	// 127.0.0.1:6222. Routes is where those listen, as host:port or nats-route://host:port; the own
	// address may be among them, so that every node can have the same list.
	ClusterListen   string
	Routes          []string
	ClusterPassword string // what the embedded servers ask of one another; empty: nothing

	// Durability is what a commit waits for: DurabilityReplicated (the default), or DurabilityLocal.
	Durability string
	// Replicas is how many NATS servers keep the log of the cluster: 1, 3 or 5. 0 is three, or one if there
	// are fewer than three servers.
	Replicas int
	// StreamBytesMax bounds the log of the cluster on each of these servers; default 1 GiB, at least 64 MiB.
	// A standby that was away for longer than that holds is sent everything anew.
	StreamBytesMax int64
	// RecreateStream lets a node whose cluster has lost its log in NATS make it anew, from its own data: to
	// be used once, with the node that has the newest data.
	RecreateStream bool

	Lead               time.Duration // see scheduler.Settings; default 250 ms, in a cluster 10 s
	CompletedRetention time.Duration // how long completed jobs are kept; default 24 h, negative: for ever
	HistoryDays        int           // how long finished runs are kept; default 90
	CheckpointEvery    time.Duration // between checkpoints of the store; default 15 s

	// Events publishes each change of a run to a JetStream stream. It costs a message for each, so it is
	// off unless wanted.
	Events         bool
	EventsStream   string        // its name; default "CARILLON_EVENTS"
	EventsMaxAge   time.Duration // how long the stream keeps an event; default 7 days
	EventsMaxBytes int64         // how large the stream gets before its oldest events go; default 1 GiB

	// CatchupRate is how many runs a second are spent on what was missed. More are done sooner, and are in
	// the way of what is due meanwhile. 0 is twice the usual rate, between 1,000 and 10,000.
	CatchupRate int

	// TZData says by which rules of timezones schedules are read: TZDataEmbedded, those in the binary, which are
	// the same on every node and the default, or TZDataSystem, the machine's.
	TZData string
	zones  *job.Zones

	Traces TraceOptions // OpenTelemetry; default: nothing is traced

	Logger  *slog.Logger // default slog.Default()
	Version string       // of the program, for those who ask; default "dev"

	// OnRecovery is told now and then how far a start is, from one goroutine at a time, which it holds up; in a
	// cluster also later, when the node joins anew. Nil: nobody is.
	OnRecovery func(Recovery)

	segmentBytes int           // of the log; 0 is its default, tests want many small ones
	markEvery    time.Duration // how often the log notes what is durable; 0 is the default, tests want it at once
}

// The bounds of options.
const (
	eventsBytesMin = 1 << 20
	// eventsStreamBytesMax is the longest name of a stream that JetStream takes.
	eventsStreamBytesMax = 255
	catchupRateMax       = 1_000_000
)

func (o Options) withDefaults() Options {
	set := func(v *string, d string) {
		if *v == "" {
			*v = d
		}
	}
	set(&o.Dir, "carillon-data")
	set(&o.Prefix, "carillon")
	set(&o.Listen, "127.0.0.1:4222")
	set(&o.HTTPListen, "127.0.0.1:7272")
	set(&o.Version, "dev")
	set(&o.EventsStream, "CARILLON_EVENTS")
	set(&o.TZData, TZDataEmbedded)
	o.setClusterDefaults()
	if o.PayloadBytesMax == 0 {
		o.PayloadBytesMax = job.PayloadBytesDefault
	}
	if o.MaxInFlight == 0 {
		o.MaxInFlight = 64
	}
	if o.HTTPConnections == 0 {
		o.HTTPConnections = httpConnectionsDefault(filesMax())
	}
	if o.CheckpointEvery == 0 {
		o.CheckpointEvery = 15 * time.Second
	}
	if o.EventsMaxAge == 0 {
		o.EventsMaxAge = 7 * 24 * time.Hour
	}
	if o.EventsMaxBytes == 0 {
		o.EventsMaxBytes = 1 << 30
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

func (o Options) validate() error {
	switch {
	case o.PayloadBytesMax < 1 || o.PayloadBytesMax > job.PayloadBytesCeiling:
		return fmt.Errorf("options: the payload limit is %d; want 1 to %d bytes", o.PayloadBytesMax, job.PayloadBytesCeiling)
	case o.MaxInFlight < 1 || o.MaxInFlight > job.MaxInFlightMax:
		return fmt.Errorf("options: a target has %d attempts at a time; want 1 to %d", o.MaxInFlight, job.MaxInFlightMax)
	case (o.TLSCert == "") != (o.TLSKey == ""):
		return errors.New("options: a TLS certificate and its key go together")
	case o.ProfileListen != "" && !onLoopback(o.ProfileListen):
		return fmt.Errorf("options: profiles on %s would be open to others; want an address of this machine, such as 127.0.0.1:6060", o.ProfileListen)
	case o.CheckpointEvery < time.Second:
		return fmt.Errorf("options: checkpoints every %s are too often; want at least 1s", o.CheckpointEvery)
	case len(o.EventsStream) > eventsStreamBytesMax || strings.ContainsFunc(o.EventsStream, isNoStreamRune):
		return fmt.Errorf("options: the stream of events cannot have the name %q; want 1 to %d characters without spaces, dots, wildcards and slashes, such as CARILLON_EVENTS", o.EventsStream, eventsStreamBytesMax)
	case o.EventsMaxAge < time.Minute:
		return fmt.Errorf("options: events are kept for %s, which is too short; want at least 1m", o.EventsMaxAge)
	case o.EventsMaxBytes < eventsBytesMin:
		return fmt.Errorf("options: a stream of events of %d bytes is too small; want at least %d", o.EventsMaxBytes, eventsBytesMin)
	case o.CatchupRate < 0 || o.CatchupRate > catchupRateMax:
		return fmt.Errorf("options: the rate of catching up is %d; want 0 to %d runs a second", o.CatchupRate, catchupRateMax)
	case job.ValidateTenant(o.Prefix) != nil:
		return fmt.Errorf("options: the prefix %q is no subject token; want letters, digits, - and _", o.Prefix)
	}
	if err := validateHTTPConnections(o.HTTPConnections, filesMax()); err != nil {
		return err
	}
	if err := validateNATSURL(o.NATSURL); err != nil {
		return err
	}
	if err := o.Traces.validate(); err != nil {
		return err
	}
	return o.validateCluster()
}

// isNoStreamRune reports whether JetStream takes no stream with r in its name.
func isNoStreamRune(r rune) bool {
	return unicode.IsSpace(r) || !unicode.IsPrint(r) || strings.ContainsRune(`.*>/\`, r)
}

func (o Options) rules() job.Rules {
	return job.Rules{
		Prefix: o.Prefix, InboxPrefixes: o.InboxPrefixes, PayloadBytesMax: o.PayloadBytesMax, AllowPrivateTargets: o.AllowPrivateTargets,
	}
}
