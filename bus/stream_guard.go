package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/inbox"
)

// streamGuard decides about the requests to JetStream that make, change or delete streams, before JetStream has them.
//
// Every account reaches JetStream through the system account, and the server passes what an account imports through the
// mappings of the account that it goes to. So mappings in the system account lead these requests here, from whatever
// account, and from streams and consumers too, which no permission of a client restricts. What is permitted goes on by
// another mapping, from subjects on which the guard alone publishes. While there is no guard, no stream is made or changed.
type streamGuard struct {
	conn   *nats.Conn // in the system account
	rule   streamRule
	pass   string // begins the subjects that lead to JetStream
	logger *slog.Logger
	// Carillon's own requests have places of their own, so that no tenant keeps it from its streams.
	own, tenants chan struct{}
	running      sync.WaitGroup
}

// The bounds of the guard.
const (
	guardPlaces  = 32               // requests of tenants, and as many of Carillon's own account, that JetStream answers at a time
	guardTimeMax = 10 * time.Second // how long JetStream may take; a client gives up earlier
	guardBytes   = 1 << 20          // of a request of a tenant
	guardWaiting = 16 << 20         // bytes of requests that wait to be read
)

// guardUser is the user name of the guard's connection.
const guardUser = "streams"

// apiStreams begins the requests to JetStream about streams.
const apiStreams = "$JS.API."

// guardSubjects returns the beginnings of the subjects on which a server's guard is asked, and on which it passes on.
// Each server has its own, so that a request needs no other node than the leader of JetStream.
func guardSubjects(s *server.Server) (ask, pass string) {
	return "carillon.streams.ask." + s.ID() + ".", "carillon.streams.pass." + s.ID() + "."
}

// guardStreams leads the requests about streams to the guard. It is called before clients can connect.
func guardStreams(s *server.Server) error {
	ask, pass := guardSubjects(s)
	system, err := s.LookupAccount(server.DEFAULT_SYSTEM_ACCOUNT)
	if err != nil {
		return fmt.Errorf("guard the streams of tenants: %w", err)
	}
	err = system.AddMapping(pass+">", apiStreams+">")
	for _, subject := range streamChanges {
		err = errors.Join(err, system.AddMapping(subject, ask+strings.TrimPrefix(subject, apiStreams)))
	}
	if err != nil {
		return fmt.Errorf("guard the streams of tenants: %w", err)
	}
	return nil
}

// openGuard begins to answer. It does nothing where tenants have no accounts.
func (b *Bus) openGuard() error {
	if b.doorman == nil {
		return nil
	}
	ask, pass := guardSubjects(b.embedded)
	g := &streamGuard{
		rule: streamRule{b.opts.Prefix, b.opts.Inboxes}, pass: pass, logger: b.opts.Logger,
		own: make(chan struct{}, guardPlaces), tenants: make(chan struct{}, guardPlaces),
	}
	conn, err := b.connectQuietly("carillon streams", nats.UserInfo(guardUser, ""))
	if err != nil {
		return err
	}
	g.conn = conn
	b.guard = g
	sub, err := inbox.NewDesk(conn, nil, b.opts.Logger).Subscribe(ask+">", func(r *inbox.Request) { g.decide(strings.TrimPrefix(r.Subject, ask), r) })
	if err == nil {
		err = sub.SetPendingLimits(-1, guardWaiting)
	}
	if err == nil {
		err = conn.FlushTimeout(dialTimeMax)
	}
	if err != nil {
		return fmt.Errorf("guard the streams of tenants: %w", err)
	}
	return nil
}

// decide refuses a request, or passes it on. what is the request without the beginning of its subject.
func (g *streamGuard) decide(what string, r *inbox.Request) {
	account, user, err := r.Sender()
	places := g.tenants
	if account == server.DEFAULT_GLOBAL_ACCOUNT {
		places = g.own
	} else if err == nil {
		err = g.permit(what, user, r.Data)
	}
	if err != nil {
		g.refuse(what, r, err)
		g.logger.Warn("a change of a stream was refused", slog.String("account", account), slog.String("by", user), slog.String("request", what), slog.Any("error", err))
		return
	}
	select {
	case places <- struct{}{}:
		g.running.Go(func() {
			defer func() { <-places }()
			g.passOn(what, r)
		})
	default:
		g.refuse(what, r, fmt.Errorf("%d changes of streams are under way; try again", guardPlaces))
	}
}

// permit decides about a request from the account of a tenant. Without a user it comes from a stream or a consumer, which
// the rights of its maker do not bind.
func (g *streamGuard) permit(what, user string, body []byte) error {
	switch {
	case user == "":
		return errors.New("a stream or a consumer sends this request; want it from a client with the role admin")
	case len(body) > guardBytes:
		return fmt.Errorf("the request has %d bytes; want at most %d", len(body), guardBytes)
	}
	config, err := streamOf(verbOf(what), body)
	if err != nil || config == nil {
		return err
	}
	return g.rule.check(config)
}

// verbOf returns the second token of a request such as STREAM.CREATE.ORDERS.
func verbOf(what string) string {
	_, rest, _ := strings.Cut(what, ".")
	verb, _, _ := strings.Cut(rest, ".")
	return verb
}

// passOn sends a request to JetStream with the sender's name, and returns the answer. Without an answer in time the caller
// hears nothing, as it would from JetStream without a leader.
func (g *streamGuard) passOn(what string, r *inbox.Request) {
	ctx, cancel := context.WithTimeout(context.Background(), guardTimeMax)
	defer cancel()
	header := nats.Header{inbox.SenderHeader: r.Header[inbox.SenderHeader]}
	if level := r.Header[server.JSRequiredApiLevel]; len(level) > 0 {
		header[server.JSRequiredApiLevel] = level
	}
	m, err := g.conn.RequestMsgWithContext(ctx, &nats.Msg{Subject: g.pass + what, Header: header, Data: r.Data})
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		g.refuse(what, r, errors.New("JetStream does not serve at the moment; try again"))
	case err != nil:
		g.logger.Debug("JetStream does not answer a change of a stream", slog.String("request", what), slog.Any("error", err))
	default:
		_ = r.Forward(m.Header, m.Data) // the caller tries again
	}
}

// answerTypes are the types of JetStream's answers, by verb.
var answerTypes = map[string]string{"CREATE": "stream_create", "UPDATE": "stream_update", "RESTORE": "stream_restore", "DELETE": "stream_delete", "PURGE": "stream_purge", "SNAPSHOT": "stream_snapshot"}

// refuse answers as JetStream refuses what is wrong with a stream.
func (g *streamGuard) refuse(what string, r *inbox.Request, why error) {
	kind := "io.nats.jetstream.api.v1.response"
	if name := answerTypes[verbOf(what)]; name != "" {
		kind = "io.nats.jetstream.api.v1." + name + "_response"
	}
	body, err := json.Marshal(server.ApiResponse{Type: kind, Error: &server.ApiError{Code: 403, ErrCode: uint16(server.JSStreamInvalidConfigF), Description: why.Error()}})
	if err == nil {
		_ = r.Forward(nil, body) // the caller tries again
	}
}
