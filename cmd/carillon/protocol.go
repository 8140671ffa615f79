package main

import (
	"io"
	"net"
	"strings"
	"time"

	"github.com/carillon-io/carillon/serverurl"
)

// protocol is what a server speaks at a port.
type protocol string

const (
	speaksNATS  protocol = "NATS"
	speaksHTTP  protocol = "HTTP"
	speaksOther protocol = "" // something else, or it does not answer
)

// protocolTimeout bounds each probe. A server of NATS speaks first, and one of HTTP answers at once, so this is the time
// for the network.
const protocolTimeout = 2 * time.Second

// protocolOf asks which protocol a server speaks, by the first bytes that it sends after a request of HTTP. A server of
// HTTP over TLS refuses such a request in plain HTTP. It is called after a connection has failed, to say why.
func protocolOf(address string) protocol {
	conn, err := net.DialTimeout("tcp", address, protocolTimeout)
	if err != nil {
		return speaksOther
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(protocolTimeout))
	// A server of NATS may close the connection because of the request; what it sent before is still there.
	_, _ = io.WriteString(conn, "GET /healthz HTTP/1.0\r\n\r\n")
	var first [5]byte
	if _, err := io.ReadFull(conn, first[:]); err != nil {
		return speaksOther
	}
	switch string(first[:]) {
	case "INFO ":
		return speaksNATS
	case "HTTP/":
		return speaksHTTP
	}
	return speaksOther
}

// otherProtocol returns a usageError if one server is given and it speaks another protocol than its URL says, and nil
// otherwise.
func (e *endpoint) otherProtocol() error {
	servers, err := serverurl.ParseList(e.Server)
	if err != nil || len(servers) != 1 || servers[0].User != nil || servers[0].Port() == "" {
		return nil
	}
	address := servers[0].Host
	switch speaks := protocolOf(address); {
	case speaks == speaksHTTP && !e.isOverHTTP() && !strings.HasPrefix(e.scheme(), "ws"):
		return usagef("--server: %s is a port of HTTP, and not of NATS: want http://%s (https:// with TLS), or the NATS port of the server, such as nats://HOST:4222", address, address)
	case speaks == speaksNATS && e.isOverHTTP():
		return usagef("--server: %s is a port of NATS, and not of HTTP: want nats://%s, or the HTTP port of the server, such as https://HOST:7272", address, address)
	}
	return nil
}
