package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// accept returns the handler of a verb's requests. A subscription has only one goroutine, so each request gets its
// own.
func (s *Service) accept(v *verb) func(*inbox.Request) {
	g := s.gateOf(v)
	return func(r *inbox.Request) {
		begun := time.Now()
		if err := g.admit(); err != nil {
			s.answer(v, r, nil, err, begun)
			return
		}
		s.underWay.Add(1)
		go func() {
			defer s.underWay.Add(-1)
			var done outcome
			ctx := s.trace(context.Background(), v.name, "nats", r.Header.Get)
			c, err := s.callOf(r)
			if err == nil {
				done, err = s.carryOut(ctx, v, g, c)
			}
			s.endTrace(ctx, c.tenant, err)
			g.leave() // before the reply, so that a caller who has the reply finds a free place for the next request
			s.answer(v, r, done.text, err, begun)
			done.hold.giveAfter(paceOf(len(done.text)))
		}()
	}
}

func (s *Service) gateOf(v *verb) *gate {
	if v.bulk {
		return s.bulk
	}
	return s.single
}

// call is a request, whichever way it came.
type call struct {
	tenant string
	asker  job.Actor
	host   string // for HTTP, where it came from
	body   []byte
}

// outcome is the result of a request: the reply, its text, and the room of the text, which the sender of the reply
// frees.
type outcome struct {
	reply any
	text  []byte
	hold  *hold
}

// callOf reads the call from a message.
func (s *Service) callOf(r *inbox.Request) (c call, err error) {
	if c.tenant, err = s.tenantOf(r.Subject); err == nil {
		err = refuseDelivery(r.Header)
	}
	if err == nil {
		c.asker, err = askerOf(r.Header)
	}
	c.body = r.Data
	return c, err
}

// carryOut carries out a request that the gate admitted. It reserves the room of the reply before anything is read. A
// panic becomes an internal error of this request alone.
func (s *Service) carryOut(ctx context.Context, v *verb, g *gate, c call) (done outcome, err error) {
	timeout := s.opts.RequestTimeout
	if v.bulk {
		timeout = s.opts.BulkTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := g.enter(ctx); err != nil {
		return done, err
	}
	defer g.exit()
	hold, err := s.roomFor(ctx, v, &c)
	if err != nil {
		return done, err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		if err != nil {
			hold.give()
			done = outcome{}
		}
	}()
	if len(c.body) == 0 && v.mayBeEmpty {
		c.body = []byte("{}")
	}
	done.reply, err = v.serve(s, scheduler.WithActor(s.withOrigin(ctx), c.asker), c.tenant, c.body)
	if s.isStale(v, err) {
		err = apierr.Errorf(apierr.NotLeader, "", "this node may have been replaced as the leader; ask again")
	}
	if err != nil {
		return done, err
	}
	if done.text, err = s.encode(done.reply); err != nil {
		return done, err
	}
	done.hold = hold
	hold.settle(cap(done.text))
	return done, nil
}

// isStale reports whether a reply may be out of date: it was only read, and meanwhile another node may have led. A
// change needs no check, because its commit proves that this node led.
func (s *Service) isStale(v *verb, err error) bool {
	if s.opts.Standby || s.opts.Leads == nil || s.opts.Leads() {
		return false
	}
	refusal, ok := errors.AsType[*apierr.Error](err)
	reads := strings.HasSuffix(v.name, ".get") || strings.HasSuffix(v.name, ".list")
	return err == nil && reads || ok && refusal.Code != apierr.Unavailable
}

// tenantOf returns the tenant in a subject, which is the token after the root.
func (s *Service) tenantOf(subject string) (string, error) {
	tenant, _, _ := strings.Cut(subject[len(s.opts.root()):], ".")
	return tenant, job.ValidateTenant(tenant)
}

// encoding are the JSON options of replies. Equal replies have equal bytes. Invalid UTF-8, wherever it came from,
// must not make a job unreadable.
var encoding = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true), json.Deterministic(true))

// encode encodes a reply so that it fits into one message, and leaves out what can be asked for again. A reply that
// is already text is returned as it is.
func (s *Service) encode(reply any) ([]byte, error) {
	switch reply := reply.(type) {
	case jsontext.Value:
		return reply, nil
	case *jobText:
		return reply.text, nil
	}
	for {
		body, err := json.Marshal(reply, encoding)
		if err != nil {
			return nil, fmt.Errorf("encode reply: %w", err)
		}
		most := s.replyBytesMax()
		if _, isPage := reply.(page); isPage {
			most = s.pageBytesMax()
		}
		if len(body) <= most {
			return body, nil
		}
		if !shrink(reply) {
			return nil, s.tooLarge(len(body))
		}
	}
}

// tooLarge returns the error for a reply that does not fit into a message.
func (s *Service) tooLarge(size int) error {
	return apierr.Errorf(apierr.TooLarge, "", "the reply has %d bytes, and NATS carries at most %d of them here (max_payload, less what the headers take); the request has been carried out", size, s.replyBytesMax())
}

// answer sends a reply, or the error.
func (s *Service) answer(v *verb, r *inbox.Request, reply []byte, err error, begun time.Time) {
	header, code := nats.Header{}, apierr.Code("")
	if err != nil {
		e := s.replyError(err)
		code, reply = apierr.Code(e.Code), errorBody(e)
		header[micro.ErrorCodeHeader] = []string{strconv.Itoa(e.Status)}
		header[micro.ErrorHeader] = []string{headerText(string(e.Code) + ": " + e.Message)}
	}
	s.stats[v.name].count(code, overNATS, time.Since(begun))
	s.stateLag(header)
	if err := r.Answer(v.name, header, reply); err != nil {
		s.opts.Logger.Warn("a reply was not sent", slog.String("subject", r.Subject), slog.Any("error", err))
	}
}

// replyError returns the error that the caller receives. The text of an internal error goes to the log instead.
func (s *Service) replyError(err error) *client.Error {
	e := publicError(err)
	if e.Code == client.CodeInternal {
		s.opts.Logger.Error("a request failed", slog.Any("error", err))
	}
	return e
}

// headerText makes a text safe for one line of a header.
func headerText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}
