package api

import (
	"context"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/job"
)

// accept returns the handler of a verb's requests. A subscription has only one goroutine, so each request gets its
// own. The gate is asked before the goroutine is started, and the request waits in the gate without one, so that a flood
// costs a refusal for each request and no goroutine: what the subscription does not do at once delays the requests of all
// tenants. The context of the request is not that of a connection: a caller over NATS cannot be seen to go away.
func (s *Service) accept(v *Verb, root string, read func(*inbox.Request) (Request, error)) func(*inbox.Request) {
	x := s.executor
	return func(r *inbox.Request) {
		tenant, _ := tenantOf(r.Subject, root)
		if x.pacer.drops(x.partyOf(tenant)) {
			if root == s.opts.accountRoot() {
				s.leave(r, tenant)
			}
			return // before anything is done for it, since the requests of other tenants wait behind it
		}
		lag := s.lagOn(root)
		a := arrival{verb: v, via: overNATS, begun: time.Now(), header: r.Header.Get, read: func() (Request, error) {
			q, err := read(r)
			q.Lag = lag
			return q, err
		}}
		bare := r.Bare()
		s.carry(a, tenant, len(r.Data), func(reply Reply, refusal *client.Error) {
			s.answer(v, bare, nats.Header{}, lag, reply.Text, refusal)
		})
	}
}

// leave counts a request from an account that gets no answer.
func (s *Service) leave(r *inbox.Request, account string) {
	if r.Wants() && s.opts.Unanswered != nil {
		s.opts.Unanswered(account)
	}
}

// carry carries out a request that came in a message, on a goroutine of its own, and answers it.
func (s *Service) carry(a arrival, tenant string, bytes int, answer func(Reply, *client.Error)) {
	x := s.executor
	party := x.partyOf(tenant)
	var err error
	if x.pacer.isBehind(party) {
		err = apierr.Errorf(apierr.RateLimited, "", "more than %d refusals of your tenant wait to be sent, so that its requests are not read; ask for less, and again later", refusalsWaiting/2)
	} else {
		a.pass, err = x.gateOf(a.verb).admit(party, bytes)
	}
	if err != nil {
		s.refuse(party, bytes, x.conclude(&a, err), answer)
		return
	}
	x.underWay.Add(1)
	a.pass.begin(func() {
		defer x.underWay.Add(-1)
		a.waited = time.Since(a.begun)
		reply, refusal := x.do(context.Background(), a)
		if refusal != nil {
			s.refuse(party, bytes, refusal, answer)
			return
		}
		answer(reply, nil)
		reply.hold.giveAfter(paceOf(len(reply.Text)))
	})
}

// refuse answers a request of so many bytes with a refusal. Those that a program gets only if it is wrong, or asks too much,
// are sent at the pace of its tenant.
func (s *Service) refuse(party string, bytes int, e *client.Error, answer func(Reply, *client.Error)) {
	if !isPaced[e.Code] {
		answer(Reply{}, e)
		return
	}
	s.executor.pacer.send(party, bytes, func() { answer(Reply{}, e) })
}

// isPaced has the codes of such refusals. The others are answers that a program which works may get often.
var isPaced = map[client.Code]bool{
	client.CodeInvalidJSON: true, client.CodeUnknownField: true, client.CodeInvalidName: true, client.CodeInvalidSchedule: true,
	client.CodeInvalidTimezone: true, client.CodeInvalidTarget: true, client.CodeInvalidField: true, client.CodeTooLarge: true,
	client.CodeQuotaExceeded: true, client.CodeRateLimited: true, client.CodeUnauthenticated: true, client.CodeForbidden: true,
}

// read reads the request in a message. The tenant is in the subject and not in the body, so that the permissions of
// NATS can restrict a caller to its tenant: who may publish there has all rights in that tenant.
func (s *Service) read(r *inbox.Request) (Request, error) { return s.readOn(r, s.opts.root()) }

// readOn is read on subjects with the given prefix.
func (s *Service) readOn(r *inbox.Request, root string) (q Request, err error) {
	q, err = readMessage(r, root)
	if s.opts.Access != nil {
		q.Who = access.Who{Tenant: q.Tenant, Means: "nats:" + q.Tenant}
	}
	return q, err
}

// refuseHere reads a request that changes all shards, and refuses it at the subject of one: the shards would differ.
func (s *Service) refuseHere(r *inbox.Request) (Request, error) {
	q, err := s.read(r)
	if err == nil {
		err = apierr.Errorf(apierr.InvalidField, "name", "a calendar is in all shards, and this is shard %d; ask any node without the number of a shard", s.opts.Shard)
	}
	return q, err
}

// readFromAccount reads a request from the account of a tenant, which names its caller.
func (s *Service) readFromAccount(r *inbox.Request) (q Request, err error) {
	if q, err = readMessage(r, s.opts.accountRoot()); err != nil {
		return q, err
	}
	account, user, err := r.Sender()
	if err != nil {
		return q, apierr.Errorf(apierr.Unauthenticated, "", "%v", err)
	}
	q.Who = s.opts.Caller(q.Tenant, account, user)
	return q, nil
}

// readMessage reads what each request in a message has. None of the checks reads the body: a request that may not be made
// is refused without decoding it.
func readMessage(r *inbox.Request, root string) (q Request, err error) {
	if q.Tenant, err = tenantOf(r.Subject, root); err == nil {
		err = RefuseDelivery(r.Header)
	}
	if err == nil {
		q.Asker, err = askerOf(r.Header)
	}
	q.Body = r.Data
	return q, err
}

// tenantOf returns the tenant in a subject, which is the token after the root. The subject matched the subscription,
// so it is longer than the root.
func tenantOf(subject, root string) (string, error) {
	tenant, _, _ := strings.Cut(subject[len(root):], ".")
	return tenant, job.ValidateTenant(tenant)
}

// retryHeader is the header of a refusal that says after how many seconds the same request may succeed.
const retryHeader = "Retry-After"

// answer sends a reply with the given headers and those of every reply, or the error. lag is that of the request. A reply that
// cannot be sent is lost, and the caller runs into its timeout; the request has taken effect nevertheless.
func (s *Service) answer(v *Verb, r *inbox.Request, header nats.Header, lag *Lag, reply []byte, refusal *client.Error) {
	if refusal != nil {
		reply = ErrorBody(refusal)
		header[micro.ErrorCodeHeader] = []string{strconv.Itoa(refusal.Status)}
		if refusal.RetryAfter > 0 {
			header[retryHeader] = []string{strconv.FormatInt(int64(math.Ceil(refusal.RetryAfter.Seconds())), 10)}
		}
		header[micro.ErrorHeader] = []string{headerText(string(refusal.Code) + ": " + refusal.Message)}
	}
	s.executor.StateLag(header, lag)
	s.sayAt(r, header)
	if err := r.Answer(v.name, header, reply); err != nil {
		s.opts.Logger.Warn("a reply was not sent", slog.String("subject", r.Subject), slog.Any("error", err))
	}
}

// headerText makes a text safe for one line of a header. A line break in an error text could otherwise add a header
// of the caller's choice. Other characters stay: NATS carries headers as UTF-8.
func headerText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}
