package web

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
)

// HostsLocal are the Options.Hosts of a server that only this machine can reach, unless it is given others. No page on the
// Internet can have the name.
var HostsLocal = []string{"localhost"}

// knowsHost reports whether a request is for a name of this server. A page of another site could make its own name
// resolve to this server, and would then have the same origin. It cannot do so with an IP address. The attack is DNS
// rebinding; the check of origins alone does not stop it, because the browser takes both names for one site. Names
// are compared without port and without the final dot. What has another port than a number is no name of a server.
func (w *gateway) knowsHost(host string) bool { return KnowsHost(w.opts.Hosts, host) }

// KnowsHost reports whether the host of a request, with or without a port, is one of some names, or an address. The names
// are in lower case.
func KnowsHost(names []string, host string) bool {
	if name, port, err := net.SplitHostPort(host); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil && port != "" {
			return false
		}
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return slices.Contains(names, host)
}

// refuseHost answers a request for an unknown name.
func (w *gateway) refuseHost(rw http.ResponseWriter, req *http.Request) {
	message := "this server is not known as " + apierr.Clip(strings.ToValidUTF8(req.Host, "")) + "; name it in --http-hosts, or ask for its address"
	if req.Host == "" {
		message = "the request names no host; want the header Host, which HTTP/1.0 can do without and this server cannot"
	}
	w.refuse(rw, &client.Error{Code: api.CodeUnknownHost, Status: http.StatusMisdirectedRequest, Message: message})
}
