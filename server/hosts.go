package server

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/carillon-io/carillon/bus"
	"github.com/carillon-io/carillon/web"
)

// validateHTTPHosts refuses what is no host name, because no request would ever be for it.
func (o Options) validateHTTPHosts() error {
	for _, name := range o.HTTPHosts {
		if _, err := netip.ParseAddr(name); err == nil {
			continue // needless, and right
		}
		if name == "" || strings.ContainsAny(name, ":/*[]@ \t") {
			return fmt.Errorf("options: --http-hosts has %q; want host names without scheme, port and wildcard, such as jobs.example.com", name)
		}
	}
	return nil
}

// httpHosts returns the host names that HTTP requests may be for, in addition to addresses. Only this machine can reach a
// listener on loopback, so there the name localhost needs no configuration.
func (o Options) httpHosts() (names []string) {
	if len(o.HTTPHosts) == 0 && bus.OnLoopback(o.HTTPListen) {
		return web.HostsLocal
	}
	for _, name := range o.HTTPHosts {
		names = append(names, strings.ToLower(strings.TrimSuffix(name, ".")))
	}
	return names
}
