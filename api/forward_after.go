package api

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/inbox"
)

// When a leader hands over, or a copy begins to lead, its subscriptions end. A request that another node has sent to that process may be
// under way then: the NATS server of the sender has not heard of the end yet, and that of the process drops it. Its sender would
// wait for an answer until its time is over. So the subscription to the requests for one process stays for a moment, and refuses what
// still comes, as late: nothing has changed, and the sender asks whoever leads now.

// afterTime is how long it stays: longer than a message is under way, and than it takes until the other nodes hear who leads now.
const afterTime = 3 * time.Second

// afterword receives the requests for one process: for its service, and after the end of that for none. It does not keep the
// service, and with it the memory of an engine.
type afterword struct {
	mu      sync.Mutex // held while a request is accepted, so that none is after the end
	service *Service   // nil: ended
	sub     *nats.Subscription
}

// subscribeForProcess subscribes to the requests for this process that other nodes pass on.
func (s *Service) subscribeForProcess(root string) (err error) {
	a := &afterword{service: s}
	a.sub, err = s.desk.QueueSubscribe(root+">", queueGroup, func(r *inbox.Request) { a.accept(r, root) })
	if err == nil {
		s.after = append(s.after, a)
	}
	return s.limit(a.sub, root+">", err)
}

func (a *afterword) accept(r *inbox.Request, root string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.service != nil {
		a.service.acceptForwarded(r, root)
	} else {
		refuseAfter(r, root)
	}
}

// end lets nothing more come to the service, and ends the subscription after a while, unless the connection ends before.
func (a *afterword) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.service != nil {
		a.service = nil
		time.AfterFunc(afterTime, func() { _ = a.sub.Unsubscribe() })
	}
}

// refuseAfter refuses a request that came after the end.
func refuseAfter(r *inbox.Request, root string) {
	_, name, _ := strings.Cut(r.Subject[len(root):], ".")
	v := VerbNamed(name)
	if v == nil {
		return
	}
	refusal := PublicError(apierr.Errorf(apierr.NotLeader, "", "the node that was asked has handed over; nothing has changed, ask again"))
	_ = r.Answer(v.name, nats.Header{
		lateHeader: {"yes"}, micro.ErrorCodeHeader: {strconv.Itoa(refusal.Status)}, micro.ErrorHeader: {headerText(string(refusal.Code) + ": " + refusal.Message)},
	}, ErrorBody(refusal))
}
