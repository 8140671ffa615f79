package bus

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/nats-io/nats-server/v2/server"
)

// refusal is why the guard refuses a request, as JetStream says it.
type refusal struct {
	error
	code, errCode int
	reason        guardReason
}

// The refusals besides those of the rule.
var (
	errCrowded = refusal{fmt.Errorf("the tenant has %d requests to JetStream waiting, and %d a second pass; try again later", jsLineMax, jsRate), 429, int(server.JSInsufficientResourcesErr), guardCrowded}
	errWaited  = refusal{fmt.Errorf("the request waited for more than %s behind others of the tenant; try again later", jsWaitMax), 429, int(server.JSInsufficientResourcesErr), guardWaited}
	errAbsent  = refusal{errors.New("JetStream does not serve at the moment; try again"), 503, int(server.JSClusterNotAvailErr), guardAbsent}
	errUnknown = refusal{errors.New("JetStream has no such request for tenants"), 400, int(server.JSBadRequestErr), guardForbidden}
	errFigures = refusal{error: errors.New("tenants have no list of connections and no figures of their account; ask an admin of all tenants"), code: 403, reason: guardForbidden}
)

// guardReason is why the guard has not passed a request on.
type guardReason byte

const (
	guardForbidden guardReason = iota // tenants may not send it
	guardCrowded                      // the line of the tenant was full
	guardWaited                       // it waited for too long
	guardAbsent                       // JetStream did not serve
	guardDropped                      // the tenant flooded, so it got no answer
	guardReasons                      // the number of reasons
)

// guardReasonNames are the reasons as metrics name them.
var guardReasonNames = [guardReasons]string{"forbidden", "crowded", "waited", "absent", "dropped"}

// guardCounts counts what the guard has done since the start. Safe for concurrent use.
type guardCounts struct {
	passed  atomic.Uint64
	refused [guardReasons]atomic.Uint64
}

func (c *guardCounts) count(why guardReason) { c.refused[why].Add(1) }

// GuardCounts says what became of the requests of tenants to JetStream on the embedded server, since the start.
type GuardCounts struct {
	Passed  uint64            // given to JetStream, or answered in its place
	Refused map[string]uint64 // by reason
	Waiting int               // in the lines of tenants now
}

// Guarded returns what became of the requests of tenants to JetStream, and reports whether they are guarded.
func (b *Bus) Guarded() (c GuardCounts, ok bool) {
	if b.guard == nil {
		return c, false
	}
	of := &b.guard.counts
	c = GuardCounts{Passed: of.passed.Load(), Refused: make(map[string]uint64, guardReasons), Waiting: b.guard.lanes.waiting()}
	for i, name := range guardReasonNames {
		c.Refused[name] = of.refused[i].Load()
	}
	return c, true
}

// deny refuses what the rule forbids, and logs it at a bounded rate.
func (g *jsGuard) deny(j jsJob, why error) {
	code := server.JSStreamInvalidConfigF
	if strings.HasPrefix(j.what, "CONSUMER.") {
		code = server.JSConsumerCreateErrF
	}
	g.refuse(j, refusal{why, 403, int(code), guardForbidden})
	if g.said.Allow() {
		g.logger.Warn("a request to JetStream was refused", slog.String("account", j.account), slog.String("by", j.user), slog.String("request", j.what), slog.Any("error", why))
	}
}

// refuse answers as JetStream, or the server itself, refuses a request.
func (g *jsGuard) refuse(j jsJob, why refusal) {
	g.counts.count(why.reason)
	e := &server.ApiError{Code: why.code, ErrCode: uint16(why.errCode), Description: why.Error()}
	var answer any = server.ApiResponse{Type: j.kind.answerType(), Error: e}
	if j.kind.ofSystem {
		answer = server.ServerAPIResponse{Error: e}
	}
	if body, err := json.Marshal(answer); err == nil {
		_ = j.Forward(nil, body) // the caller tries again
	}
}
