package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/backup"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/job"
)

// The bounds of the backups that a node sends.
const (
	backupsMost      = 2
	backupIdle       = time.Minute // time without a request after which a session ends
	backupTime       = time.Minute // bound of the time to make a copy
	backupFilesMost  = 1 << 14     // so that the list of files fits into a message
	backupMsgReserve = 4 << 10     // bytes of a message that are left for its headers
)

// backups sends copies of the store to callers that make a backup. It accepts requests only while the node
// leads. A copy that was made is sent to its end in any case, because it does not change. Safe for concurrent
// use.
type backups struct {
	opts backupOptions
	conn *nats.Conn // a connection of its own: pieces are large and must not delay requests
	desk *inbox.Desk

	mu       sync.Mutex
	requests *nats.Subscription
	sessions map[string]*backupSession
	making   int // number of copies being made
	closed   bool
	work     sync.WaitGroup
	stop     context.Context // ends at close, and with it the copies being made
	cancel   context.CancelFunc
}

// backupOptions say what is sent, and under which name.
type backupOptions struct {
	prefix  string
	shard   uint32
	product string // version of the program
	logger  *slog.Logger
	// export writes a copy of the store into a new directory of that name.
	export func(ctx context.Context, name string) (dir string, at job.Position, err error)
	// identity says whose data that is.
	identity func() datadir.Identity
}

// openBackups connects to NATS. Requests are accepted while the shard leads.
func (s *Server) openBackups(context.Context) error {
	conn, err := s.bus.Connect("carillon backups")
	if err != nil {
		return err
	}
	s.backups = newBackups(conn, s.inboxes, backupOptions{
		prefix: s.opts.Prefix, shard: shardNumber, product: s.opts.Version, logger: s.opts.Logger, identity: s.dir.Identity,
		export: func(ctx context.Context, name string) (string, job.Position, error) { return s.shard.Export(ctx, name) },
	})
	return nil
}

func newBackups(conn *nats.Conn, inboxes *inbox.Rule, o backupOptions) *backups {
	b := &backups{opts: o, conn: conn, desk: inbox.NewDesk(conn, inboxes, o.logger), sessions: make(map[string]*backupSession)}
	b.stop, b.cancel = context.WithCancel(context.Background())
	return b
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
	b.silence()
	b.cancel()
	b.mu.Lock()
	b.closed = true
	var names []string
	for name := range b.sessions {
		names = append(names, name)
	}
	b.mu.Unlock()
	for _, name := range names {
		b.drop(name)
	}
	b.work.Wait()
}

// errManyBackups says that a node sends as many backups as it may at a time.
var errManyBackups = fmt.Errorf("%d backups are on their way already, which is as many as there may be at a time; ask again later", backupsMost)

// answerOpen makes a copy and offers it. It works in the background, so other requests do not wait for it.
func (b *backups) answerOpen(m *inbox.Request) {
	if err := b.begin(); err != nil {
		b.refuse(m, err)
		return
	}
	go func() {
		defer b.work.Done()
		session, err := b.make(m.Data)
		if err = b.made(session, err); err != nil {
			b.refuse(m, err)
			return
		}
		b.opts.logger.Info("sending a backup", slog.Uint64("lsn", session.LSN), slog.Int("files", len(session.Files)))
		b.respond(m, session.BackupOffer)
	}()
}

// begin reserves one of the places for copies. made passes the place on to the session, or releases it.
func (b *backups) begin() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return errors.New("the server is stopping")
	}
	if b.making+len(b.sessions) >= backupsMost {
		return errManyBackups
	}
	b.making++
	b.work.Add(1)
	return nil
}

// make copies the store.
func (b *backups) make(body []byte) (*backupSession, error) {
	var request client.BackupRequest
	if err := json.Unmarshal(body, &request); err != nil || request.Version != client.BackupVersion {
		return nil, fmt.Errorf(`want {"version":%d}; this server knows no other way to send a backup`, client.BackupVersion)
	}
	ctx, cancel := context.WithTimeout(b.stop, backupTime)
	defer cancel()
	name := "backup-" + rand.Text()
	dir, at, err := b.opts.export(ctx, name)
	if err != nil {
		return nil, err
	}
	id := b.opts.identity()
	s := &backupSession{dir: dir, BackupOffer: client.BackupOffer{
		Version: client.BackupVersion, Session: name, LSN: at.LSN, Epoch: at.Epoch, Hash: hex.EncodeToString(at.Hash[:]),
		ClusterID: id.ClusterID, Node: id.Node, Shard: b.opts.shard,
		CreatedAt: client.At(time.Now()), Product: b.opts.product,
	}}
	s.Files, err = listCopy(dir)
	return s, err
}

// made stores a session, and begins to answer requests for its pieces.
func (b *backups) made(s *backupSession, err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.making--
	if err == nil && b.closed {
		err = errors.New("the server is stopping")
	}
	for what, answer := range map[string]func(*inbox.Request){
		"piece.": func(m *inbox.Request) { b.answerPiece(s, m) },
		"close.": func(*inbox.Request) { b.drop(s.Session) },
	} {
		if err != nil {
			break
		}
		var sub *nats.Subscription
		if sub, err = b.desk.Subscribe(client.BackupSubject(b.opts.prefix, b.opts.shard, what+s.Session), answer); err == nil {
			s.subs = append(s.subs, sub)
		}
	}
	if err != nil {
		s.end()
		return err
	}
	b.sessions[s.Session] = s
	s.timer = time.AfterFunc(backupIdle, func() { b.drop(s.Session) })
	return nil
}

// drop ends a session. It does nothing if there is none of that name.
func (b *backups) drop(name string) {
	b.mu.Lock()
	s := b.sessions[name]
	delete(b.sessions, name)
	b.mu.Unlock()
	if s != nil {
		s.timer.Stop()
		s.end()
	}
}

// keep prolongs the life of a session, unless it has ended.
func (b *backups) keep(s *backupSession) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sessions[s.Session] == s {
		s.timer.Reset(backupIdle)
	}
}

// answerPiece sends one piece of a file.
func (b *backups) answerPiece(s *backupSession, m *inbox.Request) {
	b.keep(s)
	header := nats.Header{}
	piece, err := s.read(m.Data, min(backup.PieceBytes, b.conn.MaxPayload()-backupMsgReserve))
	if err != nil {
		piece = nil
		header.Set(client.BackupErrorHeader, err.Error())
	} else {
		header.Set(client.BackupSumHeader, client.BackupSum(piece))
	}
	_ = m.Answer(client.ReplyBackupPiece, header, piece) // the caller tries again
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
