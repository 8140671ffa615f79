package history

import (
	"time"

	"github.com/nats-io/nats.go"
)

// Connect returns a connection that reconnects by itself and buffers nothing while it is disconnected. So a request
// that fails to be sent has certainly not been sent. The url may list several servers; the further options may
// override these. The short wait between attempts lets the load continue as soon as a server is back.
func Connect(url, name string, more ...nats.Option) (*nats.Conn, error) {
	options := []nats.Option{
		nats.Name(name),
		nats.MaxReconnects(-1), nats.ReconnectWait(10 * time.Millisecond), nats.ReconnectJitter(0, 0),
		nats.ReconnectBufSize(-1), nats.Timeout(5 * time.Second),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // ignored: connections break often here
	}
	return nats.Connect(url, append(options, more...)...)
}
