package api

import (
	"strconv"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/inbox"
)

// reception is one subscription of a service to requests. After the service has ended it refuses what still comes, see [Lingering]. It does
// not keep the service then, and with it the memory of an engine.
type reception struct {
	root    string // of its subjects: the tenant and the verb follow
	standby bool   // the service is that of a standby

	mu     sync.Mutex           // held while a request is accepted, so that none is after the end
	handle func(*inbox.Request) // nil: the service has ended
	sub    *inbox.Subscription  // fixed
}

// receive begins to receive the requests on the subjects under root that a pattern has.
func (s *Service) receive(desk *inbox.Desk, root, pattern string, handle func(*inbox.Request)) (r *reception, err error) {
	r = &reception{root: root, standby: s.opts.Standby, handle: handle}
	r.sub, err = desk.QueueSubscribe(root+pattern, queueGroup, r.accept)
	return r, err
}

func (r *reception) accept(request *inbox.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.handle != nil {
		r.handle(request)
	} else {
		r.refuse(request)
	}
}

// end lets nothing more come to the service.
func (r *reception) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handle = nil
}

// refuse refuses a request that came after the end of the service. Another node that has passed it on learns that it came too late, and
// asks again. A subject without a known verb gets no answer.
func (r *reception) refuse(request *inbox.Request) {
	_, name, _ := strings.Cut(request.Subject[len(r.root):], ".")
	v := VerbNamed(name)
	if v == nil {
		return
	}
	refusal := PublicError(apierr.Errorf(apierr.NotLeader, "", "the node that was asked leads no more; nothing has changed, ask again"))
	if r.standby { // a caller who asks for a standby would take not_leader as final
		refusal = PublicError(apierr.Errorf(apierr.Unavailable, "", "the node that was asked stands by no more; nothing has changed, ask again"))
	}
	_ = request.Answer(v.name, nats.Header{ // without a connection there is no caller either
		lateHeader: {"yes"}, micro.ErrorCodeHeader: {strconv.Itoa(refusal.Status)}, micro.ErrorHeader: {headerText(string(refusal.Code) + ": " + refusal.Message)},
	}, ErrorBody(refusal))
}
