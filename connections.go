package carillon

import (
	"fmt"
	"net"

	"github.com/carillon-io/carillon/api"
)

// Callers share the files that this process may have open with the log, the store and the targets, which must
// never want for one: a log that cannot open its next file ends the server. HTTP gets a quarter of them unless told
// otherwise, the embedded NATS server another, and half is for the rest.
const (
	httpConnectionsMin  = 16
	httpConnectionsMost = 10_000 // unless told otherwise
	natsConnectionsMost = 65_536
	filesCounted        = 1 << 20 // more are as good as no limit
	filesUnknown        = 1024    // what systems allow at least
)

// httpConnectionsDefault is the bound on connections of HTTP if none is given.
func httpConnectionsDefault(files int) int {
	return max(httpConnectionsMin, min(httpConnectionsMost, files/4))
}

// natsConnections is the bound on connections of the embedded NATS server, our own among them.
func natsConnections(files int) int {
	return max(httpConnectionsMin, min(natsConnectionsMost, files/4))
}

func validateHTTPConnections(n, files int) error {
	if most := max(httpConnectionsMin, files/2); n < httpConnectionsMin || n > most {
		return fmt.Errorf("options: the bound on HTTP connections is %d; want %d to %d, half of the %d files that this process may have open (ulimit -n)",
			n, httpConnectionsMin, most, files)
	}
	return nil
}

// limited is the HTTP listener with as many connections as there may be. It is called once, before the server of
// s.web begins.
func (s *Server) limited() net.Listener {
	return api.LimitConnections(s.web.Server, s.listener, s.opts.HTTPConnections, s.opts.Logger)
}
