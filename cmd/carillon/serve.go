package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/serverurl"
)

// serveCmd runs the server until a signal or a failure ends it. The flags are the names of the product's options to
// operators: each has the same name in the environment and in a config file. The defaults of the command line are here
// and those of the packages in server.Options, and zero means the latter.
type serveCmd struct {
	Config configFile `help:"JSON file with these flags as keys (snake_case)." type:"path" placeholder:"FILE" env:"CARILLON_CONFIG"`

	Data       string   `help:"Data directory; created if it does not exist." default:"./carillon-data" env:"CARILLON_DATA"`
	Listen     string   `help:"Address of the embedded NATS server; port 0 picks a free port." default:"127.0.0.1:4222" env:"CARILLON_LISTEN"`
	HTTPListen string   `name:"http-listen" help:"Address of HTTP: API, metrics, probes; port 0 picks a free port." default:"127.0.0.1:7272" env:"CARILLON_HTTP_LISTEN"`
	HTTPHosts  []string `name:"http-hosts" help:"Host names that HTTP requests may have, besides IP addresses. Default: localhost if only this machine can connect, else none." placeholder:"NAME,…" env:"CARILLON_HTTP_HOSTS"`
	Auth       string   `help:"File of rights: who may do what (see docs/security.md). Without it every caller may do everything." placeholder:"FILE" type:"path" env:"CARILLON_AUTH"`
	Plaintext  bool     `help:"With --auth, let other machines reach addresses without TLS: a proxy in front of them terminates it." env:"CARILLON_PLAINTEXT"`
	Insecure   bool     `help:"Let other machines reach addresses without rights, TLS, and a password among peers. The server warns hourly, in its status and on its pages." env:"CARILLON_INSECURE"`
	Prefix     string   `help:"First token of the service's NATS subjects." default:"carillon" env:"CARILLON_PREFIX"`

	InboxPrefix []string `name:"inbox-prefix" help:"Prefixes of the inboxes of clients, besides _INBOX and _R_, separated by commas. A request with any other reply subject is dropped." placeholder:"PREFIX,…" env:"CARILLON_INBOX_PREFIX"`

	Nats    string `help:"Use these NATS servers, separated by commas, instead of the embedded one." placeholder:"URL" secret:"user" instead:"'nats' in the file of --config, or --creds FILE" env:"CARILLON_NATS"`
	Creds   string `help:"Credentials file for NATS." placeholder:"FILE" env:"CARILLON_CREDS"`
	TLSCert string `name:"tls-cert" help:"Client certificate for NATS." placeholder:"FILE" and:"tls" env:"CARILLON_TLS_CERT"`
	TLSKey  string `name:"tls-key" help:"Key of the client certificate." placeholder:"FILE" and:"tls" env:"CARILLON_TLS_KEY"`
	TLSCA   string `name:"tls-ca" help:"Root certificates to trust for NATS." placeholder:"FILE" env:"CARILLON_TLS_CA"`

	tlsFlags

	ClusterName     string   `help:"Run as a node of this cluster: nodes with the same NATS, prefix and cluster name share one log, and one of them leads." placeholder:"NAME" env:"CARILLON_CLUSTER_NAME"`
	Node            string   `help:"Name of this node, unique in the cluster and kept in the data directory. Default: the host's name and six digits." placeholder:"NAME" env:"CARILLON_NODE"`
	ClusterListen   string   `help:"Address where the embedded NATS server accepts its peers. Default in a cluster: 127.0.0.1:6222." placeholder:"ADDR" env:"CARILLON_CLUSTER_LISTEN"`
	Routes          []string `help:"The peers' --cluster-listen addresses, separated by commas; this node's own may be among them." placeholder:"ADDR" secret:"user" instead:"--cluster-password-file FILE for the password of all" env:"CARILLON_ROUTES"`
	ClusterPassword string   `help:"Password among the embedded NATS servers, at least 16 bytes; by the variable or in the file of --config only, because other users can read a command line." placeholder:"SECRET" secret:"all" instead:"--cluster-password-file FILE" env:"CARILLON_CLUSTER_PASSWORD"`

	ClusterPasswordFile string `help:"File with the password among the embedded NATS servers, which other users of the machine cannot read." placeholder:"FILE" env:"CARILLON_CLUSTER_PASSWORD_FILE"`

	Witness        bool     `help:"Run only a member of the cluster's NATS, without a scheduler: the third vote beside two nodes." env:"CARILLON_WITNESS"`
	Durability     string   `help:"What a commit of a cluster waits for: replicated (disk and stream; the default) or local (disk)." placeholder:"HOW" complete:"replicated,local" env:"CARILLON_DURABILITY"`
	Replicas       int      `help:"Number of NATS servers that keep the cluster's log: 1, 3 or 5; 0 is 3 if there are that many, else 1." default:"0" env:"CARILLON_REPLICAS"`
	Copies         int      `help:"Of several shards: how many nodes hold a copy of each but the first, of which every node holds one; the same on all nodes. 0 is 2." default:"0" placeholder:"N" env:"CARILLON_COPIES"`
	Weight         uint32   `help:"Of several shards: the capacity of this node, relative to that of the others; 1 to 1000. It holds and leads that many times as much. 0 is 1." default:"0" placeholder:"N" env:"CARILLON_WEIGHT"`
	Zone           string   `help:"Of several shards: what fails together with this node, such as a rack; copies of a shard are kept in different zones where that can be." placeholder:"NAME" env:"CARILLON_ZONE"`
	Shards         int      `help:"How many shards the cluster gets at its founding, for ever: a power of two up to 256, each with a leader of its own. 0 takes what the cluster has, and else 1." default:"0" placeholder:"N" env:"CARILLON_SHARDS"`
	RecreateStream bool     `help:"After NATS has lost the log of the cluster, create it again from the data of this node, which must have the newest data. Of several shards, those of this node; it needs --shards." env:"CARILLON_RECREATE_STREAM"`
	RecreateShards []uint32 `help:"With --recreate-stream: the shards of which this node has the newest data, such as 0,2; it waits for the logs of its others. Default: all that it has." placeholder:"N,…" env:"CARILLON_RECREATE_SHARDS"`
	DiscardData    bool     `help:"Join a cluster that this node's data does not belong to: the data is put aside in the data directory and replaced by the cluster's." env:"CARILLON_DISCARD_DATA"`
	LeadAlone      bool     `help:"After an outage of all members, lead at once and without the members that this node knows: commits that only they have are put aside when they come back." env:"CARILLON_LEAD_ALONE"`
	NATSSyncs      bool     `name:"nats-syncs" help:"Declare that the servers of --nats sync to disk before they acknowledge (sync_interval: always); for a node that is not permitted to see that." env:"CARILLON_NATS_SYNCS"`
	StreamBytesMax int64    `help:"Largest size of the cluster's log on each NATS server, in bytes. Default in a cluster: 1073741824." placeholder:"BYTES" env:"CARILLON_STREAM_BYTES_MAX"`

	AllowPrivateTargets bool   `help:"Let http targets reach loopback and private addresses." env:"CARILLON_ALLOW_PRIVATE_TARGETS"`
	WebhookCA           string `name:"webhook-ca" help:"PEM file with certificate authorities for https targets, besides those of the system." placeholder:"FILE" env:"CARILLON_WEBHOOK_CA"`
	SecretsDir          string `help:"Directory with the secrets that http targets may name, as DIR/TENANT/NAME; files are read again when they change." placeholder:"DIR" env:"CARILLON_SECRETS_DIR"`
	PayloadBytesMax     int    `help:"Largest payload of a job, in bytes." default:"262144" env:"CARILLON_PAYLOAD_BYTES_MAX"`
	MaxInFlight         int    `help:"Attempts that may be in flight at a target, for each tenant, unless the job sets its own limit; further ones wait." default:"64" env:"CARILLON_MAX_IN_FLIGHT"`

	Lead               span `help:"How long before its due time a tick is decided and committed. Default: 250ms, in a cluster 10s." placeholder:"SPAN" env:"CARILLON_LEAD"`
	History            days `help:"How long finished runs are kept, in days." default:"90d" env:"CARILLON_HISTORY"`
	CompletedRetention span `help:"How long completed jobs are kept." default:"24h" env:"CARILLON_COMPLETED_RETENTION"`
	CheckpointEvery    span `help:"Time between checkpoints of the store." default:"15s" env:"CARILLON_CHECKPOINT_EVERY"`
	StopTimeout        span `help:"How long a stop waits for attempts in flight." default:"20s" env:"CARILLON_STOP_TIMEOUT"`

	TZData string `name:"tzdata" help:"Timezone database: ${enum}. The embedded one is in the binary, the same on every node; the system's changes with the updates of the machine." enum:"embedded,system" default:"embedded" env:"CARILLON_TZDATA"`

	Events           bool   `help:"Publish each change of a run to a JetStream stream." env:"CARILLON_EVENTS"`
	EventsStream     string `help:"Name of the stream of events; created if it does not exist." default:"CARILLON_EVENTS" env:"CARILLON_EVENTS_STREAM"`
	EventsMaxAge     span   `help:"How long the stream of events keeps an event." default:"7d" env:"CARILLON_EVENTS_MAX_AGE"`
	EventsMaxBytes   int64  `help:"Largest size of the stream of events, in bytes; its oldest events are removed first." default:"1073741824" env:"CARILLON_EVENTS_MAX_BYTES"`
	EventsMaxWaiting int    `help:"Events that may wait on disk to be published; further ones are dropped and counted." default:"4000000" env:"CARILLON_EVENTS_MAX_WAITING"`
	CatchupRate      int    `help:"Missed runs that are caught up per second; 0 is twice the usual rate, between 1000 and 10000." default:"0" env:"CARILLON_CATCHUP_RATE"`

	HTTPConnections int    `name:"http-connections" help:"HTTP connections that may be open at a time; 0 is 10000, or a quarter of the files that the process may open." default:"0" env:"CARILLON_HTTP_CONNECTIONS"`
	ProfileListen   string `help:"Serve Go's profiles, /debug/pprof/, at this loopback address." placeholder:"HOST:PORT" env:"CARILLON_PROFILE_LISTEN"`

	traceFlags

	LogFormat string `help:"Format of the log on stderr: ${enum}." enum:"text,json" default:"text" env:"CARILLON_LOG_FORMAT"`
	LogLevel  string `help:"Lowest level that is logged: ${enum}." enum:"debug,info,warn,error" default:"info" env:"CARILLON_LOG_LEVEL"`
}

// Help is what `carillon serve --help` says besides the flags.
func (*serveCmd) Help() string {
	return `When the server is ready, it prints one JSON line to stdout: with the URLs for programs on this machine, and with the addresses on which it listens:

  {"ready":true,"nats":"nats://127.0.0.1:4222","http":"http://127.0.0.1:7272","role":"leader","epoch":1,"jobs":0,"listen":{"nats":"127.0.0.1:4222","http":"127.0.0.1:7272"}}

In a cluster the role is leader, standby or witness. The line comes when a majority of the NATS servers is there, and a log to follow. With several shards the line says how many, and which of them this node leads ("shards":4,"leads":[0,2]); the role is leader if it leads any.

SIGTERM or Ctrl-C closes the server in order. A second one ends the process at once; the next start launches again what was in flight.

An address that other machines reach needs --auth and TLS, and that of the peers a password or TLS: else the start is refused, with status 2. With --plaintext a proxy in front does the TLS; with --insecure the address is open.

One node:

  carillon serve
  carillon serve --data /var/lib/carillon --log-format json
  carillon serve --listen 127.0.0.1:0 --http-listen 127.0.0.1:0
  carillon serve --nats tls://nats.example.com:4222 --creds /etc/carillon/nats.creds
  carillon serve --http-listen 0.0.0.0:7272 --auth auth.yaml --http-tls-cert server.crt --http-tls-key server.key

Two nodes that share a NATS cluster of three servers; the same on both machines:

  carillon serve --cluster-name prod --data /var/lib/carillon --nats nats://n1:4222,nats://n2:4222,nats://n3:4222

Three nodes whose embedded NATS servers form the cluster, here on one machine; the third may be a --witness:

  carillon serve --cluster-name prod --node a --data a --listen 127.0.0.1:4222 --http-listen 127.0.0.1:7272 --cluster-listen 127.0.0.1:6222 --routes 127.0.0.1:6222,127.0.0.1:6223,127.0.0.1:6224
  carillon serve --cluster-name prod --node b --data b --listen 127.0.0.1:4223 --http-listen 127.0.0.1:7273 --cluster-listen 127.0.0.1:6223 --routes 127.0.0.1:6222,127.0.0.1:6223,127.0.0.1:6224
  carillon serve --cluster-name prod --node c --data c --listen 127.0.0.1:4224 --http-listen 127.0.0.1:7274 --cluster-listen 127.0.0.1:6224 --routes 127.0.0.1:6222,127.0.0.1:6223,127.0.0.1:6224`
}

// Run implements the command. The flags are checked before the server starts, so that a mistake changes nothing. A
// failure to print the ready line stops the server, because the program that waits for it would wait in vain.
func (c *serveCmd) Run(con *console) error {
	con.unblock()
	start := &recovery{con: con}
	logger := newLogger(start, c.LogFormat, c.LogLevel)
	start.logger = logger
	con.tellDropped(logger)
	adoptStandardLog(logger)
	// Before anything is created in it.
	if err := checkDataDir(c.Data); err != nil {
		return err
	}
	opts := c.options(logger)
	if err := opts.CheckTLS(); err != nil {
		return usagef("%v", err)
	}
	var err error
	if opts.ClusterPassword, err = c.clusterPassword(); err != nil {
		return usagef("%v", err)
	}
	if opts.Traces, err = c.traceFlags.options(); err != nil {
		return usagef("%v", err)
	}
	if opts.WebhookRoots, err = webhookRoots(c.WebhookCA); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	// Before the start, whose recovery needs the processors and the limit of memory as well.
	started := make(chan struct{})
	tuneRuntime(ctx, logger, started)
	// From here on a signal ends the start too.
	obeySignals(logger, cancel, con.exitNow)
	opts.OnRecovery, opts.Warnings = start.update, con.logWarnings
	s, err := server.Start(ctx, opts)
	start.end()
	close(started)
	if err != nil {
		return c.startError(ctx, err)
	}
	ready := s.Ready()
	logger.Info("serving", slog.String("data", c.Data), slog.String("nats", serverurl.Redact(ready.NATS)), slog.String("http", ready.HTTP), slog.Any("listen", ready.Listen),
		slog.String("role", ready.Role), slog.Uint64(job.LogEpoch, ready.Epoch), slog.Int("jobs", ready.Jobs), slog.String("version", buildVersion().Version))
	// A server that its starter cannot find is of no use, so it ends in good order.
	if err := con.printReady(ready); err != nil {
		cancel()
		return errors.Join(err, c.serve(ctx, logger, s, con.hangups))
	}
	return c.serve(ctx, logger, s, con.hangups)
}

// startError returns the error of a failed start; nil if a signal ended the start. A start that a signal interrupts is
// no failure: the operator asked for it.
func (c *serveCmd) startError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	if bad, ok := errors.AsType[*server.OptionsError](err); ok {
		return usagef("%v", bad)
	}
	return fmt.Errorf("start: %w", err)
}

// serve waits until the server fails or ctx ends, and closes the server. Both ends lead through Close: after a failure
// as well, what can still be recorded is.
func (c *serveCmd) serve(ctx context.Context, logger *slog.Logger, s *server.Server, hangups <-chan os.Signal) error {
	reloadOnHangup(ctx, logger, hangups, s.Reload)
	failed := make(chan error, 1)
	go func() { failed <- s.Wait() }()
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	// Not derived from ctx, which a signal has ended: the close has a time of its own.
	closing, cancel := context.WithTimeout(context.Background(), time.Duration(c.StopTimeout))
	defer cancel()
	closeErr := passOverCutShort(logger, s.Close(closing))
	if err != nil {
		return fmt.Errorf("the server failed: %w", err)
	}
	if closeErr != nil {
		return fmt.Errorf("close: %w", closeErr)
	}
	return nil
}

// passOverCutShort logs and removes from the errors of a close those that say that --stop-timeout was over. They are
// no failure: the next start launches those runs again. A wait that is cut short loses nothing, since runs in flight
// are recorded as such; a stop that is reported as failed would alarm its service manager.
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

// options returns the options of the server for the flags. Run adds what needs a file or a listener. It converts
// and decides nothing, so that an embedded server and this one have the same rules.
func (c *serveCmd) options(logger *slog.Logger) server.Options {
	return server.Options{
		Dir: c.Data, Prefix: c.Prefix, InboxPrefixes: c.InboxPrefix, Listen: c.Listen, HTTPListen: c.HTTPListen, HTTPHosts: c.HTTPHosts, Auth: c.Auth, Insecure: c.Insecure, Plaintext: c.Plaintext, HTTPConnections: c.HTTPConnections, ProfileListen: c.ProfileListen,
		NATSURL: c.Nats, Creds: c.Creds, TLSCert: c.TLSCert, TLSKey: c.TLSKey, TLSCA: c.TLSCA,
		HTTPTLS: c.httpTLS(), ListenTLS: c.listenTLS(), ClusterTLS: c.clusterTLS(),
		ClusterName: c.ClusterName, Node: c.Node, Witness: c.Witness, ClusterListen: c.ClusterListen, Routes: c.Routes,
		ClusterPassword: c.ClusterPassword, Durability: c.Durability, Replicas: c.Replicas, Shards: c.Shards, Copies: c.Copies, Weight: c.Weight, Zone: c.Zone, StreamBytesMax: c.StreamBytesMax, RecreateStream: c.RecreateStream, RecreateShards: c.RecreateShards, DiscardData: c.DiscardData,
		LeadAlone: c.LeadAlone, NATSSyncs: c.NATSSyncs,
		AllowPrivateTargets: c.AllowPrivateTargets, PayloadBytesMax: c.PayloadBytesMax, MaxInFlight: c.MaxInFlight, SecretsDir: c.SecretsDir,
		Lead: time.Duration(c.Lead), CheckpointEvery: time.Duration(c.CheckpointEvery),
		CompletedRetention: time.Duration(c.CompletedRetention), HistoryDays: int(c.History),
		Events: c.Events, EventsStream: c.EventsStream, EventsMaxAge: time.Duration(c.EventsMaxAge), EventsMaxBytes: c.EventsMaxBytes, EventsMaxWaiting: c.EventsMaxWaiting, CatchupRate: c.CatchupRate,
		TZData: c.TZData,
		Logger: logger, Version: buildVersion().Version,
	}
}

// printReady prints the line that says that the server is ready, with its addresses. It is the only line on the
// standard output. Programs that start a server wait for it, so its fields only grow.
func (c *console) printReady(r server.Ready) error {
	var leads *[]uint32
	if r.Shards > 1 {
		leads = &r.Leads
	}
	line, err := json.Marshal(struct {
		Ready  bool             `json:"ready"`
		NATS   string           `json:"nats"`
		HTTP   string           `json:"http"`
		Role   string           `json:"role"`
		Epoch  uint64           `json:"epoch"`
		Jobs   int              `json:"jobs"`
		Shards int              `json:"shards,omitzero"`
		Leads  *[]uint32        `json:"leads,omitzero"`
		Listen server.Listening `json:"listen"`
	}{true, serverurl.Redact(r.NATS), r.HTTP, r.Role, r.Epoch, r.Jobs, r.Shards, leads, r.Listen})
	if err == nil {
		_, err = fmt.Fprintf(c.out, "%s\n", line)
	}
	return err
}
