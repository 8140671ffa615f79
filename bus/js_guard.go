package bus

import (
	"context"
	"encoding/json"
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
	conn   *nats.Conn // in the system account
	rule   jsRule
	pass   string // begins the subjects that lead to JetStream
	logger *slog.Logger
	lanes  *jsLanes
	said   *rate.Limiter // log lines about refusals
}

// The bounds of the guard.
const (
	guardTimeMax = 10 * time.Second // how long JetStream may take; a client gives up earlier
	guardBytes   = 1 << 20          // of a request
	guardWaiting = 16 << 20         // bytes of requests that wait to be read
	guardSays    = 5                // log lines in a second
)

// guardUser is the user name of the guard's connection.
const guardUser = "streams"

// guardSubjects are the beginnings of subjects in the system account. Each server has its own, so that a request needs no
// other node than the leader of JetStream.
type guardSubjects struct {
	ask  string // the guard is asked
	pass string // the guard passes on
	own  string // Carillon's own account asks
	none string // nobody listens
}

func guardSubjectsOf(s *server.Server) guardSubjects {
	of := func(what string) string { return "carillon.streams." + what + "." + s.ID() + "." }
	return guardSubjects{of("ask"), of("pass"), of("own"), of("none")}
}

// askedOfSystem begins, behind the guard's ask, the requests to the server itself about the clients of an account. The
// server answers them in the line in which it has the news of other servers.
const askedOfSystem = "SYS."

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
	for _, what := range []string{"CONNZ", "STATZ"} {
		own := "$SYS.REQ.ACCOUNT." + server.DEFAULT_GLOBAL_ACCOUNT + "." + what
		err = errors.Join(err, system.AddMapping(own, own), system.AddMapping("$SYS.REQ.ACCOUNT.*."+what, to.ask+askedOfSystem+what))
	}
	own := s.GlobalAccount()
	err = errors.Join(err, system.AddServiceExport(to.own+">", []*server.Account{own}))
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
	g := &jsGuard{rule: jsRule{b.opts.Prefix, b.opts.Inboxes}, pass: to.pass, logger: b.opts.Logger, said: rate.NewLimiter(guardSays, guardSays)}
	g.lanes = newJSLanes(g.admit, g.passOn, func(j jsJob) { g.refuse(j, errWaited) })
	conn, err := b.connectQuietly("carillon streams", nats.UserInfo(guardUser, ""))
	if err != nil {
		return err
	}
	g.conn = conn
	b.guard = g
	sub, err := inbox.NewDesk(conn, nil, b.opts.Logger).Subscribe(to.ask+">", func(r *inbox.Request) { g.take(strings.TrimPrefix(r.Subject, to.ask), r) })
	if err == nil {
		err = sub.SetPendingLimits(-1, guardWaiting)
	}
	if err == nil {
		err = conn.FlushTimeout(dialTimeMax)
	}
	if err != nil {
		return fmt.Errorf("guard the requests to JetStream: %w", err)
	}
	return nil
}

// refusal is why the guard refuses a request, as JetStream says it.
type refusal struct {
	error
	code, errCode int
}

// The refusals besides those of the rule.
var (
	errCrowded = refusal{fmt.Errorf("the tenant has %d requests to JetStream waiting, and %d a second pass; try again later", jsLineMax, jsRate), 429, int(server.JSInsufficientResourcesErr)}
	errWaited  = refusal{fmt.Errorf("the request waited for more than %s behind others of the tenant; try again later", jsWaitMax), 429, int(server.JSInsufficientResourcesErr)}
	errAbsent  = refusal{errors.New("JetStream does not serve at the moment; try again"), 503, int(server.JSClusterNotAvailErr)}
)

// take puts a request into the line of its tenant, or refuses it. It runs for one request at a time, and so costs little.
// what is the request without the beginning of its subject. What JetStream does not answer, nobody does.
func (g *jsGuard) take(what string, r *inbox.Request) {
	if strings.HasPrefix(what, askedOfSystem) {
		refuseSystem(r)
		return
	}
	kind, ok := requestOf(what)
	if !ok {
		return
	}
	account, user, err := r.Sender()
	j := jsJob{Request: r, what: what, account: account, user: user, kind: kind, came: time.Now()}
	switch {
	case err != nil:
		g.deny(j, err)
	case !g.lanes.enter(TenantOf(account), j):
		g.refuse(j, errCrowded)
	}
}

// admit refuses a request that the rule forbids.
func (g *jsGuard) admit(j jsJob) bool {
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
	ctx, cancel := context.WithTimeout(g.lanes.ctx, guardTimeMax)
	defer cancel()
	header := nats.Header{inbox.SenderHeader: j.Header[inbox.SenderHeader]}
	if level := j.Header[server.JSRequiredApiLevel]; len(level) > 0 {
		header[server.JSRequiredApiLevel] = level
	}
	request := &nats.Msg{Subject: g.pass + j.what, Header: header, Data: j.Data}
	if !j.Wants() {
		_ = g.conn.PublishMsg(request) // nobody waits for it
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

// deny refuses what the rule forbids, and logs it at a bounded rate.
func (g *jsGuard) deny(j jsJob, why error) {
	code := server.JSStreamInvalidConfigF
	if strings.HasPrefix(j.what, "CONSUMER.") {
		code = server.JSConsumerCreateErrF
	}
	g.refuse(j, refusal{why, 403, int(code)})
	if g.said.Allow() {
		g.logger.Warn("a request to JetStream was refused", slog.String("account", j.account), slog.String("by", j.user), slog.String("request", j.what), slog.Any("error", why))
	}
}

// refuse answers as JetStream refuses a request.
func (g *jsGuard) refuse(j jsJob, why refusal) {
	body, err := json.Marshal(server.ApiResponse{Type: j.kind.answerType(), Error: &server.ApiError{Code: why.code, ErrCode: uint16(why.errCode), Description: why.Error()}})
	if err == nil {
		_ = j.Forward(nil, body) // the caller tries again
	}
}

// refuseSystem answers a question of a tenant about the connections of its account, as the server answers what is wrong.
func refuseSystem(r *inbox.Request) {
	body, err := json.Marshal(server.ServerAPIResponse{Error: &server.ApiError{Code: 403, Description: "tenants have no list of connections and no figures of their account; ask an admin of all tenants"}})
	if err == nil {
		_ = r.Forward(nil, body) // the caller tries again
	}
}
