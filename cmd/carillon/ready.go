package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/carillon-io/carillon/plainhttp"
	"github.com/carillon-io/carillon/terminal"
)

// readyCmd asks the server of this machine whether it is ready. It is the health check of a container, so it takes the
// settings of serve, by the same variables and config file, and needs neither credentials nor an authority: /readyz is open to all.
type readyCmd struct {
	Config      configFile `help:"What the server has as --config: its HTTP address and certificate count here." type:"path" placeholder:"FILE" env:"CARILLON_CONFIG"`
	HTTPListen  string     `name:"http-listen" help:"What the server has as --http-listen." default:"127.0.0.1:7272" placeholder:"HOST:PORT" env:"CARILLON_HTTP_LISTEN"`
	HTTPTLSCert string     `name:"http-tls-cert" help:"What the server has as --http-tls-cert; with one the question goes over TLS." placeholder:"FILE" env:"CARILLON_HTTP_TLS_CERT"`
	Timeout     span       `help:"How long to wait for the answer." default:"5s"`
}

// Help is what `carillon ready --help` says besides the flags.
func (*readyCmd) Help() string {
	return `Asks GET /readyz of the server of this machine, which needs no rights. Exit status 0: the node leads, or it stands by in step with the leader; 1: it does not, or there is no answer. It is the health check of the container image, and takes the settings of the server from the same variables, and from its config file (--config, CARILLON_CONFIG).

Examples:

  carillon ready
  carillon ready --http-listen 0.0.0.0:7272 --http-tls-cert /etc/carillon/tls/tls.crt`
}

// readyBytesMax is how much of an answer is read and shown.
const readyBytesMax = 4 << 10

// Run implements the command.
func (c *readyCmd) Run(ctx context.Context, con *console) error {
	host, err := hereOf(c.HTTPListen)
	if err != nil {
		return err
	}
	scheme := "http"
	if c.HTTPTLSCert != "" {
		scheme = "https"
	}
	status, text, err := c.ask(ctx, scheme+"://"+host+"/readyz")
	switch {
	case err != nil:
		return fmt.Errorf("not ready: %w", err)
	case status != http.StatusOK:
		return fmt.Errorf("not ready: %d %s: %s", status, http.StatusText(status), text)
	}
	con.printf("%s\n", text)
	return nil
}

// ask returns the status and the text of an answer.
func (c *readyCmd) ask(ctx context.Context, url string) (status int, text string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	// HTTP answers for any IP address, whatever --http-hosts says, and the name of the listener may be none of those.
	req.Host = "127.0.0.1"
	// The certificate is not verified, as a kubelet does not: the port is this machine's own, and nothing secret is
	// sent. A check of names would make a node unhealthy whose certificate has only the names of a service.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	// Another program on the port may send elsewhere, and who answers there is not this server.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	reply, err := (&http.Client{Transport: plainhttp.Over(transport), Timeout: time.Duration(c.Timeout), CheckRedirect: stay}).Do(req)
	if err != nil {
		return 0, "", err
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(io.LimitReader(reply.Body, readyBytesMax))
	return reply.StatusCode, terminal.Printable(strings.TrimSpace(string(body))), err
}

// hereOf returns the address by which this machine reaches a listener of its own.
func hereOf(listen string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", usagef("--http-listen is %q; want host:port, as of the server", clip(listen))
	}
	if port == "0" {
		return "", usagef("--http-listen is %q: port 0 is any free port; give the one that the server prints when it is ready", clip(listen))
	}
	addr, err := netip.ParseAddr(host)
	switch {
	case host == "" || err == nil && addr.IsUnspecified() && addr.Is4():
		host = "127.0.0.1"
	case err == nil && addr.IsUnspecified():
		host = "::1"
	}
	return net.JoinHostPort(host, port), nil
}
