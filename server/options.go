package server

import (
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/bus"
	"github.com/carillon-io/carillon/certs"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/natsfile"
	"github.com/carillon-io/carillon/schedule"
)

// Options configure a server. The zero value is valid: an embedded NATS server on its usual port, and data in
// the working directory.
type Options struct {
	Dir    string // data directory, made if it does not exist; default "carillon-data"
	Prefix string // first token of the service's subjects; default "carillon"

	Listen  string // address of the embedded NATS server; default 127.0.0.1:4222, port 0 picks a free one
	NATSURL string // outside NATS servers instead of the embedded one, separated by commas
	Creds   string // credentials file for these servers
	TLSCert string // client certificate for these servers, with TLSKey
	TLSKey  string
	TLSCA   string // authorities to trust for these servers; default: those of the system

	// InboxPrefixes are further prefixes of the inboxes of clients, besides _INBOX and _R_: the values that
	// clients pass to nats.CustomInboxPrefix. The server drops a request whose reply subject begins with
	// another prefix. At most 16.
	InboxPrefixes []string

	// HTTPTLS, ListenTLS and ClusterTLS are the certificates of the listeners; none: no TLS there. They are read again
	// when the files change. With HTTPTLS.CA, HTTP verifies the certificate of a client that shows one. With
	// ListenTLS.CA, NATS clients must show one. Peers must always show one, so ClusterTLS names all three files.
	HTTPTLS    certs.Files
	ListenTLS  certs.Files
	ClusterTLS certs.Files

	HTTPListen string // address of HTTP; default 127.0.0.1:7272, port 0 picks a free one
	// HTTPHosts are the host names that HTTP requests may name, besides addresses. Empty: "localhost" if only
	// this machine reaches HTTPListen, else none. They protect against a page of another site that makes
	// its own host name resolve to this server.
	HTTPHosts []string

	// Auth is the file of rights; see package access. Empty: every caller may do everything.
	Auth string
	// A listener that other machines reach needs Auth and TLS, and that of the peers ClusterPassword or ClusterTLS. With
	// Plaintext it needs no TLS, because a proxy in front terminates TLS. With Insecure it needs nothing: the server
	// warns in the log, the status, the metrics and on its pages.
	Insecure, Plaintext bool

	// HTTPConnections bounds the open HTTP connections, from 16 to half of the files that the process may have
	// open. More connections take more memory, some 20 KiB each; with fewer, callers wait for each other
	// sooner. 0 is 10,000, or a quarter of the files if that is less.
	HTTPConnections int

	// ProfileListen is the address of Go's profiles, /debug/pprof/. Only an address of this machine is
	// permitted. Empty: no profiles.
	ProfileListen string

	AllowPrivateTargets bool // http targets may reach loopback, private and other closed addresses, see job.ClosedNetwork
	// WebhookRoots are the authorities with which certificates of https targets are verified. nil: those of the
	// system.
	WebhookRoots *x509.CertPool
	// SecretsDir is the directory with the secrets that jobs name: DIR/<tenant>/<name>. Its files are read when they
	// are needed, and again when they have changed. Empty: jobs cannot name secrets.
	SecretsDir      string
	PayloadBytesMax int // largest payload of a job, in bytes; default 256 KiB, at most 512 KiB

	// MaxInFlight is how many attempts one tenant may have in flight at one target of kind request or http that
	// sets no bound itself: 1 to 10,000, default 64. More attempts finish sooner, but load the target more.
	MaxInFlight int

	// ClusterName makes this process a node of a cluster: nodes with the same NATS, prefix and cluster name
	// keep one log, and one of them leads. It is a token of letters, digits, - and _. Empty: a node alone, for
	// which none of the settings down to StreamBytesMax may be set.
	ClusterName string
	// Node is the name of this node. It is a token as the cluster's name is, differs from the names of the
	// other nodes, and never changes: the data directory keeps it. Default: the host's name and six hex digits,
	// drawn once.
	Node string
	// Shards is how many shards the cluster gets when this node founds it: 1, 2, 4 up to 256, for ever. Each has a leader of
	// its own, so that more nodes carry more jobs. 0 takes what the cluster has, and one shard if there is none yet. A node
	// that wants another number than the cluster has is refused.
	Shards int
	// Witness runs only the embedded NATS server, as a member of the cluster: the third vote in a cluster of
	// two nodes.
	Witness bool
	// ClusterListen is the address on which the embedded server listens for those of the other nodes; default
	// 127.0.0.1:6222. Routes are the addresses of those servers, as host:port or nats-route://host:port; the
	// own address may be among them, so that every node can have the same list.
	ClusterListen   string
	Routes          []string
	ClusterPassword string // password among the embedded servers; empty: none

	// Copies is how many nodes hold a copy of each of several shards, but of the first one, of which every node holds one; 0
	// is two. It is to be the same on all nodes.
	Copies int
	// Weight is the capacity of this node, relative to that of the others, by which it gets its share of the shards: 1 to
	// 1,000. 0 is 1.
	Weight uint32
	// Zone names what fails together with this node, such as a rack: copies of a shard are kept in different zones where that
	// can be. "": the node is in no zone.
	Zone string

	// SpreadEvery is the time between two hand-overs by which a node that leads too many of several shards lets others lead
	// them; 0 is 3 s, a negative time never.
	SpreadEvery time.Duration

	placeEvery time.Duration // only in tests: see replication.Options.PlaceEvery

	// Durability says what a commit waits for: DurabilityReplicated (the default) or DurabilityLocal.
	Durability string
	// Replicas is how many NATS servers keep the cluster's log: 1, 3 or 5. 0 is three, or one if there are
	// fewer than three servers.
	Replicas int
	// StreamBytesMax bounds the cluster's log on each of these servers, in bytes; default 1 GiB, at least 64
	// MiB. Of several shards, each has an equal part, and at least 64 MiB. A standby that was away for longer than the log reaches back receives a checkpoint.
	StreamBytesMax int64
	// RecreateStream lets a node whose cluster has lost its log in NATS make the log anew from its own data.
	// Use it once, with the node that has the newest data. Of several shards it makes the logs of those that the node
	// has, or of RecreateShards alone if that is not empty; the node then waits for the logs of its other shards. It needs
	// Shards, which only the logs know.
	RecreateStream bool
	RecreateShards []uint32
	// DiscardData lets a node join a cluster of whose log its data is not a part: its data is put aside, as
	// store.replaced-<time> and wal.replaced-<time> in the data directory, and replaced by the cluster's.
	DiscardData bool

	// LeadAlone lets a node that starts and finds no other member of its cluster lead at once, instead of
	// waiting up to 45 s for those that it knows. Commits that only they have are then put aside when they
	// come.
	LeadAlone bool
	// NATSSyncs declares that the NATS servers of NATSURL have on disk what they acknowledge (sync_interval:
	// always), where this process cannot read that setting.
	NATSSyncs    bool
	awaitMembers time.Duration // see replication.Options.Await; 0 is its default
	lease        time.Duration // see replication.Options.Lease; 0 is its default, tests use a short time

	Lead               time.Duration // see scheduler.Settings; default 250 ms, in a cluster 10 s
	CompletedRetention time.Duration // how long completed jobs are kept; default 24 h, negative: for ever
	HistoryDays        int           // days for which finished runs are kept; default 90
	CheckpointEvery    time.Duration // between checkpoints of the store; default 15 s

	// Events publishes each change of a run to a JetStream stream. It costs one message per change, so it is
	// off by default.
	Events         bool
	EventsStream   string        // name of that stream; default "CARILLON_EVENTS"
	EventsMaxAge   time.Duration // how long the stream keeps an event; default 7 days
	EventsMaxBytes int64         // bytes from which the stream drops its oldest events; default 1 GiB
	// EventsMaxWaiting is how many events may wait on disk to be published; further ones are dropped, and
	// counted. Default 4,000,000, some 600 MB; at least 1,000.
	EventsMaxWaiting int

	// CatchupRate is how many missed runs are fired per second. A greater rate catches up sooner, but delays
	// the runs that are due meanwhile. 0 is twice the usual rate, between 1,000 and 10,000.
	CatchupRate int

	// TZData selects the timezone rules for schedules: TZDataEmbedded, those in the binary, which are the
	// default and the same on every node, or TZDataSystem, the machine's.
	TZData string
	zones  *schedule.Zones

	Traces TraceOptions // OpenTelemetry; the zero value traces nothing

	Logger  *slog.Logger // default slog.Default(); its handler must not wait, because each goroutine that logs a line would wait too
	Version string       // version of the program, as the status reports it; default "dev"

	// Warnings returns what the program itself has to warn of, for the status: whole sentences, and none if all is well. It must
	// not wait. nil: nothing.
	Warnings func() []string

	// OnRecovery is called from time to time with the progress of the start; in a cluster also later, when the
	// node joins anew. Calls come one at a time, and the start waits for each to return. nil: no calls.
	OnRecovery func(Recovery)

	founding     bool          // this node will found the cluster
	segmentBytes int           // size of a log segment; 0 is the default, tests use a small one
	settle       time.Duration // see dispatch.Options.Settle; 0 is the default, and most tests switch it off
	markEvery    time.Duration // how often the log marks what is durable; 0 is the default, tests use a short time
}

// The bounds of options.
const (
	eventsBytesMin   = 1 << 20
	eventsWaitingMin = 1_000
	eventsWaitingMax = 100_000_000
	// eventsStreamBytesMax is the longest name of a stream that JetStream accepts, in bytes.
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
	if o.EventsMaxWaiting == 0 {
		o.EventsMaxWaiting = 4_000_000
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
	case o.ProfileListen != "" && !bus.OnLoopback(o.ProfileListen):
		return fmt.Errorf("options: profiles on %s would be open to others; want an address of this machine, such as 127.0.0.1:6060", o.ProfileListen)
	case o.CheckpointEvery < time.Second:
		return fmt.Errorf("options: checkpoints every %s are too often; want at least 1s", o.CheckpointEvery)
	case len(o.EventsStream) > eventsStreamBytesMax || strings.ContainsFunc(o.EventsStream, isNoStreamRune):
		return fmt.Errorf("options: the stream of events cannot have the name %q; want 1 to %d characters without spaces, dots, wildcards and slashes, such as CARILLON_EVENTS", o.EventsStream, eventsStreamBytesMax)
	case o.EventsMaxAge < time.Minute:
		return fmt.Errorf("options: events are kept for %s, which is too short; want at least 1m", o.EventsMaxAge)
	case o.EventsMaxBytes < eventsBytesMin:
		return fmt.Errorf("options: a stream of events of %d bytes is too small; want at least %d", o.EventsMaxBytes, eventsBytesMin)
	case o.EventsMaxWaiting < eventsWaitingMin || o.EventsMaxWaiting > eventsWaitingMax:
		return fmt.Errorf("options: %d events may wait to be published; want %d to %d", o.EventsMaxWaiting, eventsWaitingMin, eventsWaitingMax)
	case o.CatchupRate < 0 || o.CatchupRate > catchupRateMax:
		return fmt.Errorf("options: the rate of catching up is %d; want 0 to %d runs a second", o.CatchupRate, catchupRateMax)
	case job.ValidateTenant(o.Prefix) != nil:
		return fmt.Errorf("options: the prefix %q is no subject token; want letters, digits, - and _", o.Prefix)
	}
	if err := validateHTTPConnections(o.HTTPConnections, filesMax()); err != nil {
		return err
	}
	if err := bus.ValidateURL(o.NATSURL); err != nil {
		return err
	}
	if err := o.CheckTLS(); err != nil {
		return err
	}
	if err := o.Traces.validate(); err != nil {
		return err
	}
	if err := o.validateCluster(); err != nil {
		return err
	}
	return o.checkExposure()
}

// checkFiles reads the files with which this process is a client of outside NATS servers; they are of no use otherwise.
func (o Options) checkFiles() error {
	if o.NATSURL == "" {
		return nil
	}
	options := []nats.Option{natsfile.TLS(o.TLSCA, o.TLSCert, o.TLSKey)}
	if o.Creds != "" {
		options = append(options, natsfile.Creds(o.Creds))
	}
	if err := natsfile.Check(options...); err != nil {
		return fmt.Errorf("options: %w", err)
	}
	return nil
}

// isNoStreamRune reports whether JetStream refuses names of streams that contain r.
func isNoStreamRune(r rune) bool {
	return unicode.IsSpace(r) || !unicode.IsPrint(r) || strings.ContainsRune(`.*>/\`, r)
}
