package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon"
	"github.com/carillon-io/carillon/job"
)

// serveCmd runs the server until a signal or a failure ends it.
type serveCmd struct {
	Config configFile `help:"JSON file with these flags as keys (snake_case)." type:"path" placeholder:"FILE" env:"CARILLON_CONFIG"`

	Data       string   `help:"Data directory; made if it is not there." default:"./carillon-data" env:"CARILLON_DATA"`
	Listen     string   `help:"Address of the embedded NATS server; port 0 is a free one." default:"127.0.0.1:4222" env:"CARILLON_LISTEN"`
	HTTPListen string   `name:"http-listen" help:"Address of HTTP: API, metrics, probes; port 0 is a free one." default:"127.0.0.1:7272" env:"CARILLON_HTTP_LISTEN"`
	HTTPHosts  []string `name:"http-hosts" help:"Names by which HTTP may be asked, besides addresses; if left out, localhost when only this machine reaches it, else any." placeholder:"NAME,…" env:"CARILLON_HTTP_HOSTS"`
	Prefix     string   `help:"First token of the service's NATS subjects." default:"carillon" env:"CARILLON_PREFIX"`

	InboxPrefix []string `name:"inbox-prefix" help:"What the inboxes of clients begin with besides _INBOX and _R_; several, with commas. A request whose reply goes elsewhere is dropped." placeholder:"PREFIX,…" env:"CARILLON_INBOX_PREFIX"`

	Nats    string `help:"Use these NATS servers, separated by commas, instead of the embedded one." placeholder:"URL" env:"CARILLON_NATS"`
	Creds   string `help:"Credentials file for it." placeholder:"FILE" env:"CARILLON_CREDS"`
	TLSCert string `name:"tls-cert" help:"Client certificate for it." placeholder:"FILE" and:"tls" env:"CARILLON_TLS_CERT"`
	TLSKey  string `name:"tls-key" help:"Key of the client certificate." placeholder:"FILE" and:"tls" env:"CARILLON_TLS_KEY"`
	TLSCA   string `name:"tls-ca" help:"Roots to trust for it." placeholder:"FILE" env:"CARILLON_TLS_CA"`

	ClusterName     string   `help:"Be a node of this cluster: nodes with the same NATS, prefix and cluster name keep one log, and one leads." placeholder:"NAME" env:"CARILLON_CLUSTER_NAME"`
	Node            string   `help:"Name of this node, which no other has; kept in the data directory. Default: the host's and six digits." placeholder:"NAME" env:"CARILLON_NODE"`
	ClusterListen   string   `help:"Address where the embedded NATS server takes its peers; in a cluster 127.0.0.1:6222." placeholder:"ADDR" env:"CARILLON_CLUSTER_LISTEN"`
	Routes          []string `help:"Addresses where the peers take theirs, separated by commas; the own one may be among them." placeholder:"ADDR" env:"CARILLON_ROUTES"`
	ClusterPassword string   `help:"What the embedded servers ask of one another; rather set the variable, which ps does not show." placeholder:"SECRET" env:"CARILLON_CLUSTER_PASSWORD"`
	Witness         bool     `help:"Be only a member of the cluster's NATS: the third vote beside two nodes." env:"CARILLON_WITNESS"`
	Durability      string   `help:"What a commit of a cluster waits for: replicated (disk and stream; the default) or local (disk)." placeholder:"HOW" complete:"replicated,local" env:"CARILLON_DURABILITY"`
	Replicas        int      `help:"NATS servers that keep the cluster's log: 1, 3 or 5; 0 is 3 if there are as many." default:"0" env:"CARILLON_REPLICAS"`
	RecreateStream  bool     `help:"Make the log of the cluster anew, from the data of this node; for the one with the newest data, when NATS has lost the log." env:"CARILLON_RECREATE_STREAM"`
	StreamBytesMax  int64    `help:"How large that log gets on each of them, in bytes; in a cluster 1073741824." placeholder:"BYTES" env:"CARILLON_STREAM_BYTES_MAX"`

	AllowPrivateTargets bool   `help:"Let http targets reach loopback and private addresses." env:"CARILLON_ALLOW_PRIVATE_TARGETS"`
	WebhookCA           string `name:"webhook-ca" help:"Certificates in PEM form of authorities that https targets may have, besides those of the system." placeholder:"FILE" env:"CARILLON_WEBHOOK_CA"`
	PayloadBytesMax     int    `help:"Largest payload of a job, in bytes." default:"262144" env:"CARILLON_PAYLOAD_BYTES_MAX"`
	MaxInFlight         int    `help:"Attempts that a target has at a time, for each tenant, unless the job says; more wait." default:"64" env:"CARILLON_MAX_IN_FLIGHT"`

	Lead               span `help:"How long before it is due a run is committed; default 250ms, in a cluster 10s." placeholder:"SPAN" env:"CARILLON_LEAD"`
	History            days `help:"How long finished runs are kept, in days." default:"90d" env:"CARILLON_HISTORY"`
	CompletedRetention span `help:"How long completed jobs are kept." default:"24h" env:"CARILLON_COMPLETED_RETENTION"`
	CheckpointEvery    span `help:"Time between checkpoints of the store." default:"15s" env:"CARILLON_CHECKPOINT_EVERY"`
	StopTimeout        span `help:"How long a stop waits for runs that targets have not answered." default:"20s" env:"CARILLON_STOP_TIMEOUT"`

	TZData string `name:"tzdata" help:"Rules of timezones: ${enum}. The embedded ones are in the binary, the same on every node; the system's are the machine's, which change with its updates." enum:"embedded,system" default:"embedded" env:"CARILLON_TZDATA"`

	Events         bool   `help:"Publish each change of a run to a JetStream stream." env:"CARILLON_EVENTS"`
	EventsStream   string `help:"Name of that stream; it is made if it is not there." default:"CARILLON_EVENTS" env:"CARILLON_EVENTS_STREAM"`
	EventsMaxAge   span   `help:"How long that stream keeps an event." default:"7d" env:"CARILLON_EVENTS_MAX_AGE"`
	EventsMaxBytes int64  `help:"How large that stream gets before its oldest events go, in bytes." default:"1073741824" env:"CARILLON_EVENTS_MAX_BYTES"`
	CatchupRate    int    `help:"Runs a second that are spent on what was missed; 0 is twice the usual rate, between 1000 and 10000." default:"0" env:"CARILLON_CATCHUP_RATE"`

	HTTPConnections int    `name:"http-connections" help:"HTTP connections that are open at a time; 0 is 10000, or a quarter of the files that may be open." default:"0" env:"CARILLON_HTTP_CONNECTIONS"`
	ProfileListen   string `help:"Serve Go's profiles, /debug/pprof/, at this address, which must be of this machine." placeholder:"HOST:PORT" env:"CARILLON_PROFILE_LISTEN"`

	traceFlags

	LogFormat string `help:"Form of the log on stderr: ${enum}." enum:"text,json" default:"text" env:"CARILLON_LOG_FORMAT"`
	LogLevel  string `help:"Least level that is logged: ${enum}." enum:"debug,info,warn,error" default:"info" env:"CARILLON_LOG_LEVEL"`
}

// Help is what `carillon serve --help` says besides the flags.
func (*serveCmd) Help() string {
	return `Once everything is up, one JSON line on stdout says where:

  {"ready":true,"nats":"nats://127.0.0.1:4222","http":"http://127.0.0.1:7272","role":"leader","epoch":1,"jobs":0}

In a cluster the role is leader, standby or witness, and the line comes once the others are there: a majority of NATS servers, and a log to follow.

SIGTERM or Ctrl-C closes in good order; a second one ends the process at once, and what was under way is launched again at the next start.

One node:

  carillon serve
  carillon serve --data /var/lib/carillon --log-format json
  carillon serve --listen 127.0.0.1:0 --http-listen 127.0.0.1:0
  carillon serve --nats tls://nats.example.com:4222 --creds /etc/carillon/nats.creds

Two nodes that share a NATS cluster of three servers; the same on both machines:

  carillon serve --cluster-name prod --data /var/lib/carillon --nats nats://n1:4222,nats://n2:4222,nats://n3:4222

Three nodes whose embedded NATS servers form the cluster, here on one machine; the third may be a --witness:

  carillon serve --cluster-name prod --node a --data a --listen 127.0.0.1:4222 --http-listen 127.0.0.1:7272 --cluster-listen 127.0.0.1:6222 --routes 127.0.0.1:6222,127.0.0.1:6223,127.0.0.1:6224
  carillon serve --cluster-name prod --node b --data b --listen 127.0.0.1:4223 --http-listen 127.0.0.1:7273 --cluster-listen 127.0.0.1:6223 --routes 127.0.0.1:6222,127.0.0.1:6223,127.0.0.1:6224
  carillon serve --cluster-name prod --node c --data c --listen 127.0.0.1:4224 --http-listen 127.0.0.1:7274 --cluster-listen 127.0.0.1:6224 --routes 127.0.0.1:6222,127.0.0.1:6223,127.0.0.1:6224`
}

// Run implements the command.
func (c *serveCmd) Run(con *console) error {
	told := &recovery{con: con}
	logger := newLogger(told, c.LogFormat, c.LogLevel)
	told.logger = logger
	if err := checkDataDir(c.Data); err != nil {
		return err
	}
	opts := c.options(logger)
	var err error
	if opts.Traces, err = c.traceFlags.options(); err != nil {
		return err
	}
	if opts.WebhookRoots, err = webhookRoots(c.WebhookCA); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tuneRuntime(ctx, logger)
	obeySignals(logger, cancel)
	opts.OnRecovery = told.tell
	server, err := carillon.Start(ctx, opts)
	told.end()
	if err != nil {
		return c.startError(ctx, err)
	}
	ready := server.Ready()
	logger.Info("serving", slog.String("data", c.Data), slog.String("nats", redactURLs(ready.NATS)), slog.String("http", ready.HTTP),
		slog.String("role", ready.Role), slog.Uint64(job.LogEpoch, ready.Epoch), slog.Int("jobs", ready.Jobs), slog.String("version", buildVersion().Version))
	if err := con.printReady(ready); err != nil {
		cancel()
		return errors.Join(err, c.serve(ctx, logger, server))
	}
	return c.serve(ctx, logger, server)
}

// startError is what a failed start says. A start that a signal ended is a clean end.
func (c *serveCmd) startError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("start: %w", err)
}

// serve waits for a failure or for the end of ctx, and closes.
func (c *serveCmd) serve(ctx context.Context, logger *slog.Logger, server *carillon.Server) error {
	failed := make(chan error, 1)
	go func() { failed <- server.Wait() }()
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.Background(), time.Duration(c.StopTimeout))
	defer cancel()
	closeErr := passOverCutShort(logger, server.Close(closing))
	if err != nil {
		return fmt.Errorf("the server failed: %w", err)
	}
	if closeErr != nil {
		return fmt.Errorf("close: %w", closeErr)
	}
	return nil
}

// passOverCutShort takes out of the joined errors of a close those that say that its time was over:
// what was cut short is launched again at the next start, so that is no failure.
func passOverCutShort(logger *slog.Logger, err error) error {
	parts := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		parts = joined.Unwrap()
	}
	var rest []error
	for _, part := range parts {
		if errors.Is(part, context.DeadlineExceeded) {
			logger.Warn("cut short by --stop-timeout; the next start launches it again", slog.Any("error", part))
			continue
		}
		rest = append(rest, part)
	}
	return errors.Join(rest...)
}

func (c *serveCmd) options(logger *slog.Logger) carillon.Options {
	return carillon.Options{
		Dir: c.Data, Prefix: c.Prefix, InboxPrefixes: c.InboxPrefix, Listen: c.Listen, HTTPListen: c.HTTPListen, HTTPHosts: c.HTTPHosts, HTTPConnections: c.HTTPConnections, ProfileListen: c.ProfileListen,
		NATSURL: c.Nats, Creds: c.Creds, TLSCert: c.TLSCert, TLSKey: c.TLSKey, TLSCA: c.TLSCA,
		ClusterName: c.ClusterName, Node: c.Node, Witness: c.Witness, ClusterListen: c.ClusterListen, Routes: c.Routes,
		ClusterPassword: c.ClusterPassword, Durability: c.Durability, Replicas: c.Replicas, StreamBytesMax: c.StreamBytesMax, RecreateStream: c.RecreateStream,
		AllowPrivateTargets: c.AllowPrivateTargets, PayloadBytesMax: c.PayloadBytesMax, MaxInFlight: c.MaxInFlight,
		Lead: time.Duration(c.Lead), CheckpointEvery: time.Duration(c.CheckpointEvery),
		CompletedRetention: time.Duration(c.CompletedRetention), HistoryDays: int(c.History),
		Events: c.Events, EventsStream: c.EventsStream, EventsMaxAge: time.Duration(c.EventsMaxAge), EventsMaxBytes: c.EventsMaxBytes, CatchupRate: c.CatchupRate,
		TZData: c.TZData,
		Logger: logger, Version: buildVersion().Version,
	}
}

// printReady tells that everything is up, and where.
func (c *console) printReady(r carillon.Ready) error {
	line, err := json.Marshal(struct {
		Ready bool   `json:"ready"`
		NATS  string `json:"nats"`
		HTTP  string `json:"http"`
		Role  string `json:"role"`
		Epoch uint64 `json:"epoch"`
		Jobs  int    `json:"jobs"`
	}{true, redactURLs(r.NATS), r.HTTP, r.Role, r.Epoch, r.Jobs})
	if err == nil {
		_, err = fmt.Fprintf(c.out, "%s\n", line)
	}
	return err
}
