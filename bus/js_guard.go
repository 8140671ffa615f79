package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"golang.org/x/time/rate"

	"github.com/carillon-io/carillon/inbox"
)

// jsGuard has the requests of tenants to JetStream before JetStream has them. It bounds how many are there at a time,
// because the NATS server has one line for those of all accounts, and forgets the whole line when it is too long. And it
// decides about streams, consumers and snapshots, by the jsRule.
//
// Every account reaches JetStream through the system account, and the server passes what an account imports through the
// mappings of the account that it goes to. So a mapping in the system account leads these requests here, from whatever
// account, and from streams and consumers too, which no permission of a client restricts. What is permitted goes on by
// another mapping, from subjects on which the guard alone publishes. Without a guard there is no answer. Carillon's own
// account alone imports JetStream by subjects of its own, so that its requests neither wait for the guard nor for tenants.
type jsGuard struct {
	conn   *nats.Conn          // in the system account
	asked  *inbox.Subscription // has what the guard has not read yet
	rule   jsRule
	pass   string // begins the subjects that lead to JetStream
	logger *slog.Logger
	lanes  *jsLanes
	said   *rate.Limiter // log lines about refusals
	// strange bounds the answers to requests whose sender is not known, and so no tenant's.
	strange *rate.Limiter
	governs func(user string) bool // see Options.Governs
	dropped func(account string)   // is told of requests without an answer
	server  *server.Server
	doorman *doorman
	counts  guardCounts
}

// The bounds of the guard.
const (
	guardTimeMax = 10 * time.Second // how long JetStream may take; a client gives up earlier
	guardBytes   = 64 << 10         // of a request
	guardWaiting = 16 << 20         // bytes of requests that wait to be read
	// So many requests, or bytes on their way to the guard, delay those behind them: see boundAsked.
	guardBehind, guardPending = 4000, 2 << 20
	guardSays                 = 5   // log lines in a second
	guardStrange              = 100 // answers in a second to requests of unknown senders
)

// guardUser is the user name of the guard's connection.
const guardUser = "streams"

// guardConnName is the name of that connection.
const guardConnName = "carillon streams"

// guardSubjects are the beginnings of subjects in the system account. Each server has its own, so that a request needs no
// other node than the leader of JetStream.
type guardSubjects struct {
	ask  string // the guard is asked
	pass string // the guard passes on
	own  string // Carillon's own account asks
	none string // without a listener
}

func guardSubjectsOf(s *server.Server) guardSubjects {
	of := func(what string) string { return "carillon.streams." + what + "." + s.ID() + "." }
	return guardSubjects{of("ask"), of("pass"), of("own"), of("none")}
}

// answeredByStreams are requests that consumers and streams answer in their account, and JetStream not.
var answeredByStreams = []string{"CONSUMER.MSG.NEXT.>", "CONSUMER.RESET.>", "DIRECT.GET.>"}

// guardJetStream leads the requests of tenants to the guard. It is called before clients can connect, and before accounts
// have JetStream: the server keeps an import that is there. Of two mappings of a subject the first one holds.
func guardJetStream(s *server.Server) error {
	to := guardSubjectsOf(s)
	system, err := s.LookupAccount(server.DEFAULT_SYSTEM_ACCOUNT)
	if err != nil {
		return fmt.Errorf("guard the requests to JetStream: %w", err)
	}
	for _, what := range answeredByStreams {
		err = errors.Join(err, system.AddMapping(to.own+what, to.none+what))
	}
	err = errors.Join(err, system.AddMapping(to.own+">", apiPrefix+">"), system.AddMapping(to.pass+">", apiPrefix+">"),
		system.AddMapping(apiPrefix+">", to.ask+">"))
	own := s.GlobalAccount()
	err = errors.Join(err, guardSystem(system, to.ask), system.AddServiceExport(to.own+">", []*server.Account{own}))
	if err == nil {
		err = own.AddServiceImport(system, apiPrefix+">", to.own+">")
	}
	if err == nil {
		err = own.SetServiceImportSharing(system, to.own+">", true)
	}
	if err != nil {
		return fmt.Errorf("guard the requests to JetStream: %w", err)
	}
	return nil
}

// openGuard begins to answer. It does nothing where tenants have no accounts.
func (b *Bus) openGuard() error {
	if b.doorman == nil {
		return nil
	}
	to := guardSubjectsOf(b.embedded)
	g := &jsGuard{
		rule: jsRule{b.opts.Prefix, b.opts.Inboxes}, pass: to.pass, logger: b.opts.Logger, server: b.embedded, doorman: b.doorman,
		said: rate.NewLimiter(guardSays, guardSays), strange: rate.NewLimiter(guardStrange, guardStrange), governs: b.opts.Governs,
		dropped: b.NoteUnanswered,
	}
	g.lanes = newJSLanes(g.admit, g.passOn, func(j jsJob) { g.refuse(j, errWaited) })
	conn, err := b.connectQuietly(guardConnName, nats.UserInfo(guardUser, ""))
	if err != nil {
		return err
	}
	g.conn = conn
	sub, err := inbox.NewDesk(conn, nil, b.opts.Logger).Subscribe(to.ask+">", func(r *inbox.Request) { g.take(strings.TrimPrefix(r.Subject, to.ask), r) })
	if err == nil {
		g.asked = sub
		err = sub.SetPendingLimits(-1, guardWaiting)
	}
	if err == nil {
		err = conn.FlushTimeout(dialTimeMax)
	}
	if err != nil {
		return fmt.Errorf("guard the requests to JetStream: %w", err)
	}
	b.guard = g
	return nil
}

// isBehind reports whether so many requests wait to be read that they delay those behind them. pending are the bytes that
// the server has for the guard.
func (g *jsGuard) isBehind(pending int) bool {
	waiting, _, err := g.asked.Pending()
	return err == nil && waiting > guardBehind || pending > guardPending
}

// take puts a request into the line of its tenant, or refuses it. It runs for one request at a time, and so costs little.
// what is the request without the beginning of its subject.
func (g *jsGuard) take(what string, r *inbox.Request) {
	j := jsJob{Request: r, what: what, kind: requestOf(what), came: time.Now()}
	var err error
	if j.kind.ofSystem {
		j.account = accountOf(what)
	} else {
		j.account, j.user, err = r.Sender()
	}
	switch {
	case err == nil:
		g.enter(j)
	case g.strange.Allow():
		g.lanes.turnAway()
		g.deny(j, err)
	default:
		g.lanes.turnAway()
		g.drop(j)
	}
}

// drop counts a request that gets no answer.
func (g *jsGuard) drop(j jsJob) {
	g.counts.count(guardDropped)
	if j.Wants() {
		g.dropped(j.account)
	}
}

// enter puts a request into the line of its tenant. One that finds it full is refused, and too many of these are dropped.
func (g *jsGuard) enter(j jsJob) {
	switch g.lanes.enter(TenantOf(j.account), j) {
	case laneFull:
		g.refuse(j, errCrowded)
	case laneFlooded:
		g.drop(j)
	}
}

// admit refuses a request that is not passed on.
func (g *jsGuard) admit(j jsJob) bool {
	switch j.kind {
	case unknownRequest:
		g.refuse(j, errUnknown)
		return false
	case figuresRequest:
		g.refuse(j, errFigures)
		return false
	case userRequest:
		return true
	}
	err := g.permit(j.kind, j.user, j.Data)
	if err != nil {
		g.deny(j, err)
	}
	return err == nil
}

// permit decides about a request. Without a user a stream or a consumer sends it, which the rights of its maker do not
// bind; JetStream needs few of them.
func (g *jsGuard) permit(kind *jsRequest, user string, body []byte) error {
	switch {
	case user == "" && !kind.byStreams:
		return errors.New("a stream or a consumer sends this request; want it from a client with the rights for it")
	case kind.byGovernors && (g.governs == nil || !g.governs(user)):
		return errors.New("a snapshot brings its consumers along, which nothing checks; an admin of all tenants may restore it, with the tenant as the user name")
	case len(body) > guardBytes:
		return fmt.Errorf("the request has %d bytes; want at most %d", len(body), guardBytes)
	case !kind.checked:
		return nil
	}
	return g.rule.checkRequest(kind, user == "", body)
}

// passOn sends a request to JetStream with the sender's name, and returns the answer. Without an answer in time the caller
// hears nothing, as it would from JetStream without a leader.
func (g *jsGuard) passOn(j jsJob) {
	g.counts.passed.Add(1)
	if j.kind == userRequest {
		g.answerUser(j)
		return
	}
	ctx, cancel := context.WithTimeout(g.lanes.ctx, guardTimeMax)
	defer cancel()
	header := nats.Header{inbox.SenderHeader: j.Header[inbox.SenderHeader]}
	if level := j.Header[server.JSRequiredApiLevel]; len(level) > 0 {
		header[server.JSRequiredApiLevel] = level
	}
	request := &nats.Msg{Subject: g.pass + j.what, Header: header, Data: j.Data}
	if !j.Wants() {
		_ = g.conn.PublishMsg(request) // its sender waits for no answer
		return
	}
	m, err := g.conn.RequestMsgWithContext(ctx, request)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		g.refuse(j, errAbsent)
	case err != nil:
		g.logger.Debug("JetStream does not answer a request", slog.String("request", j.what), slog.Any("error", err))
	default:
		_ = j.Forward(m.Header, m.Data) // the caller tries again
	}
}
