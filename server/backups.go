package server

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/transfer"
)

// The bounds of the backups that a node sends.
const (
	backupsMost      = 2
	backupIdle       = time.Minute // time without a request after which a session ends
	backupTime       = time.Minute // bound of the time to make a copy
	backupFilesMost  = 1 << 14     // files of a copy, so that their list fits into a message
	backupMsgReserve = 4 << 10     // bytes of a message that are left for its headers
)

// backups sends copies of the store to callers that make a backup. It accepts requests only while the node
// leads. A copy that was made is sent to its end in any case, because it does not change. Safe for concurrent
// use.
type backups struct {
	opts backupOptions
	conn *nats.Conn // a connection of its own: pieces are large and must not delay requests
	desk *inbox.Desk

	// sessions are the copies being sent, each with its offer.
	sessions *transfer.Sessions[client.BackupOffer]

	mu       sync.Mutex
	requests *inbox.Subscription
	closed   bool
}

// backupOptions say what is sent, and under which name.
type backupOptions struct {
	prefix  string
	shard   uint32
	shards  int    // of the cluster
	product string // version of the program
	logger  *slog.Logger
	// export writes a copy of the store into a new directory of that name.
	export func(ctx context.Context, name string) (dir string, at job.Position, err error)
	// identity says whose data that is.
	identity func() datadir.Identity
}

// openBackups connects to NATS, once for the backups of all shards.
func (s *Server) openBackups(context.Context) (err error) {
	s.backups, err = s.bus.Connect("carillon backups")
	return err
}

// backupsOf returns what sends the backups of a shard: requests for one are accepted while the process leads it.
func (s *Server) backupsOf(m *member) *backups {
	return newBackups(s.backups, s.inboxes, backupOptions{
		prefix: s.opts.Prefix, shard: m.number, shards: s.shards, product: s.opts.Version, logger: s.loggerOf(m), identity: s.dir.Identity,
		export: func(ctx context.Context, name string) (string, job.Position, error) { return m.shard.Export(ctx, name) },
	})
}

func newBackups(conn *nats.Conn, inboxes *inbox.Rule, o backupOptions) *backups {
	return &backups{
		opts: o, conn: conn, desk: inbox.NewDesk(conn, inboxes, o.logger),
		sessions: transfer.NewSessions[client.BackupOffer](transfer.Options{
			Prefix: "backup-", Places: backupsMost, FilesMost: backupFilesMost, MakeTime: backupTime, Idle: backupIdle,
		}),
	}
}

// listen begins to accept requests; silence ends it.
func (b *backups) listen() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.requests != nil || b.closed {
		return nil
	}
	subject := client.BackupSubject(b.opts.prefix, b.opts.shard, "open")
	sub, err := b.desk.Subscribe(subject, b.answerOpen)
	if err != nil {
		return fmt.Errorf("subscribe to %s: %w", subject, err)
	}
	b.requests = sub
	return nil
}

// lead begins to accept requests, and returns a function that ends it. If that fails the node leads all the
// same, without backups.
func (b *backups) lead() (end func()) {
	if err := b.listen(); err != nil {
		b.opts.logger.Warn("no backup can be taken from this node", slog.Any("error", err))
	}
	return b.silence
}

// silence ends what listen began.
func (b *backups) silence() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.requests != nil {
		_ = b.requests.Unsubscribe()
		b.requests = nil
	}
}

// close ends all sessions, and waits for the copies being made.
func (b *backups) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.silence()
	b.sessions.Close()
}

// answerOpen makes a copy and offers it. It works in the background, so other requests do not wait for it.
func (b *backups) answerOpen(m *inbox.Request) {
	var request client.BackupRequest
	if err := json.Unmarshal(m.Data, &request); err != nil || request.Version != client.BackupVersion {
		b.refuse(m, fmt.Errorf(`want {"version":%d}; this server knows no other way to send a backup`, client.BackupVersion))
		return
	}
	b.sessions.Make(b.export, func(s *backupSession, err error) {
		if err == nil {
			err = b.serve(s)
		}
		if err != nil {
			b.refuse(m, refusal(err))
			return
		}
		b.opts.logger.Info("sending a backup", slog.Uint64("lsn", s.Info.LSN), slog.Int("files", len(s.Files)))
		b.respond(m, offerOf(s))
	})
}

// export copies the store.
func (b *backups) export(ctx context.Context, name string) (dir string, o client.BackupOffer, err error) {
	dir, at, err := b.opts.export(ctx, name)
	id := b.opts.identity()
	o = client.BackupOffer{
		Version: client.BackupVersion, LSN: at.LSN, Epoch: at.Epoch, Hash: hex.EncodeToString(at.Hash[:]),
		ClusterID: id.ClusterID, Node: id.Node, Shard: b.opts.shard,
		CreatedAt: client.At(time.Now()), Product: b.opts.product,
	}
	if b.opts.shards > 1 {
		o.Shards = b.opts.shards
	}
	return dir, o, err
}

func (b *backups) refuse(m *inbox.Request, err error) {
	b.opts.logger.Warn("no backup was made", slog.Any("error", err))
	b.respond(m, client.BackupOffer{Version: client.BackupVersion, Error: err.Error()})
}

func (b *backups) respond(m *inbox.Request, o client.BackupOffer) {
	body, err := json.Marshal(o)
	if err == nil {
		err = m.Answer(client.ReplyBackupOpen, nil, body)
	}
	if err != nil {
		b.opts.logger.Warn("the answer to a backup was not sent", slog.Any("error", err))
	}
}
