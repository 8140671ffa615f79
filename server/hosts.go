package server

import (
	"fmt"
	"net/netip"
	"strings"
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
