package server

import (
	"crypto/tls"
	"fmt"
	"net"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/web"
)

// Callers and HTTP targets share this process's limit of open files with the log and the store, which must always be able
// to open one: a log that cannot open its next segment ends the server. HTTP gets a quarter of the limit by default, the
// embedded NATS server another quarter, and HTTP targets half of what these and the line of HTTP leave.
const (
	httpConnectionsMin  = 16
	httpConnectionsMost = 10_000 // default bound
	natsConnectionsMost = 65_536

	targetConnectionsMin  = 16
	targetConnectionsMost = 16_384

	openTablesMin = 64

	filesCounted = 1 << 20 // a higher limit counts as this one
	filesUnknown = 1024    // assumed where the limit is unknown; systems allow at least this
)

// httpConnectionsDefault returns the bound on HTTP connections if the options give none.
func httpConnectionsDefault(files int) int {
	return max(httpConnectionsMin, min(httpConnectionsMost, files/4))
}

// natsConnections returns the bound on connections of the embedded NATS server, this process's own included.
func natsConnections(files int) int {
	return max(httpConnectionsMin, min(natsConnectionsMost, files/4))
}

// tenantLinks returns the bound on the dispatcher's connections in the accounts of tenants, which are among the
// connections of the embedded NATS server.
func tenantLinks(files int) int { return min(1024, natsConnections(files)/2) }

// targetConnections returns the bound on connections to HTTP targets, and so on the attempts at them at a time, where callers may have so
// many HTTP connections.
func targetConnections(files, http int) int {
	rest := files - http - httpLine(files) - natsConnections(files)
	return max(targetConnectionsMin, min(targetConnectionsMost, rest/2))
}

// openTables returns how many tables of the stores stay open for reading. The least that the others leave, a sixteenth of
// the files, is twice as much.
func openTables(files int) int {
	return max(openTablesMin, min(datadir.TablesDefault, files/32))
}

// httpLineMost bounds the line.
const httpLineMost = 256

// httpLine returns how many HTTP connections may wait for others to end. A longer line holds more open files, and a shorter
// one drops connections of an address with many sooner. With the most that both bounds allow, an eighth of the files is left.
func httpLine(files int) int { return min(httpLineMost, files/8) }

func validateHTTPConnections(n, files int) error {
	if most := max(httpConnectionsMin, files/2); n < httpConnectionsMin || n > most {
		return fmt.Errorf("options: the bound on HTTP connections is %d; want %d to %d, half of the %d files that this process may have open (ulimit -n)",
			n, httpConnectionsMin, most, files)
	}
	return nil
}

// limited returns the HTTP listener with a bound on its connections, and with TLS if there is a certificate. It is
// called once, before the server of s.web starts.
func (s *Server) limited() net.Listener {
	l := web.LimitConnections(s.web.Server, s.listener, s.opts.HTTPConnections, httpLine(filesMax()), s.opts.Logger)
	if s.certs.http == nil {
		return l
	}
	c := s.certs.http.Server(tls.RequestClientCert) // package web verifies it, and answers what is wrong with it
	c.NextProtos = []string{"http/1.1"}             // see docs/adr/0033-tls.md
	return tls.NewListener(l, c)
}
