package api

import (
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/inbox"
)

// All routers are in one queue group, so a node that hangs keeps its share of the requests of callers until NATS takes it for
// gone. A caller who has got no answer can name the node that it asks: each reply of a router says where it alone is asked.

// atHeader is the header of a router's reply with the name under which this process alone answers, on
// <prefix>.v1.<tenant>.at.<name>.<verb>. The name is another one at each start.
const atHeader = "Carillon-At"

// addAt subscribes a router to the requests for this process alone.
func (s *Service) addAt() error {
	if s.executor.router == nil {
		return nil
	}
	root := s.opts.root()
	for i := range verbs {
		v := &verbs[i]
		if err := s.subscribe(root, "*.at."+s.id+"."+v.name, s.accept(v, root, s.read)); err != nil {
			return err
		}
	}
	return nil
}

// sayAt adds to the headers of a router's reply where it is asked alone. The accounts of tenants have no such subjects.
func (s *Service) sayAt(r *inbox.Request, header nats.Header) {
	if s.executor.router != nil && strings.HasPrefix(r.Subject, s.opts.root()) {
		header[atHeader] = []string{s.id}
	}
}
