package main

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-io/carillon/client"
)

// TestOtherProtocol connects to a port of HTTP as to NATS, and the other way round: the error says which port it is,
// and what would be right.
func TestOtherProtocol(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	bus, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	bus.Start()
	defer bus.WaitForShutdown()
	defer bus.Shutdown()
	webPort, busPort := web.Listener.Addr().String(), bus.Addr().(*net.TCPAddr).String()
	for _, test := range []struct{ server, want string }{
		{webPort, "is a port of HTTP, and not of NATS: want http://" + webPort},
		{"nats://" + webPort, "is a port of HTTP"},
		{secure.Listener.Addr().String(), "is a port of HTTP"},
		{"http://" + busPort, "is a port of NATS, and not of HTTP: want nats://" + busPort},
		{"https://" + busPort + "/", "is a port of NATS"},
	} {
		r, err := (&endpoint{Server: test.server}).connect(client.Options{Timeout: 500 * time.Millisecond})
		if err == nil {
			r.close()
			t.Errorf("%s: connected", test.server)
			continue
		}
		if usage := (*usageError)(nil); !errors.As(err, &usage) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want a usage error with %q", test.server, err, test.want)
		}
	}
	for _, right := range []string{"http://" + webPort, "nats://" + busPort, "nats://user@" + webPort, "nats://a:1,nats://b:2", "nats://127.0.0.1"} {
		if err := (&endpoint{Server: right}).otherProtocol(); err != nil {
			t.Errorf("%s: %v; want no error", right, err)
		}
	}
}
