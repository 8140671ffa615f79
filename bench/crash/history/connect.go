package history

import (
	"time"

	"github.com/nats-io/nats.go"
)

// Connect returns a connection that comes back by itself and holds nothing back while it is away: a
// request that cannot be sent is known not to have been sent. The url may be a list; further options come after
// these.
func Connect(url, name string, more ...nats.Option) (*nats.Conn, error) {
	options := []nats.Option{
		nats.Name(name),
		nats.MaxReconnects(-1), nats.ReconnectWait(10 * time.Millisecond), nats.ReconnectJitter(0, 0),
		nats.ReconnectBufSize(-1), nats.Timeout(5 * time.Second),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // connections break here all the time
	}
	return nats.Connect(url, append(options, more...)...)
}
