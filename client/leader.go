package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/nats-io/nats.go"
)

// The question by which a client tells a leader that is missing from one that does not answer it.
const (
	// leaderPing reaches leaders alone: standbys have another name among the services of NATS.
	leaderPing = "$SRV.PING.carillon"
	// leaderPingTime bounds the wait for the answer, if the user may not ask or an answer is lost.
	leaderPingTime = 500 * time.Millisecond
	// shutMax is after how many tries in a row that meet no responders, although a leader is there, the client gives up. A
	// leader that ends or begins is in that state for some milliseconds.
	shutMax = 4
)

// hasLeader reports whether a leader of the prefix is there for this connection.
func (c *Client) hasLeader(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, leaderPingTime)
	defer cancel()
	m, err := c.nc.RequestWithContext(ctx, leaderPing, nil)
	if err != nil {
		return false
	}
	var pong struct {
		Metadata struct {
			Prefix string `json:"prefix"`
		} `json:"metadata"`
	}
	return json.Unmarshal(m.Data, &pong) == nil && pong.Metadata.Prefix == c.opts.Prefix
}

// isShut reports whether an error of a try says that no server answers to the subject, although a leader is there: it does
// not serve the tenant on this connection. Standbys answer no such question.
func (c *Client) isShut(ctx context.Context, err error) bool {
	return errors.Is(err, nats.ErrNoResponders) && c.via == nil && !c.opts.Standby && c.hasLeader(ctx)
}

// shut returns the error of a request that is shut out.
func (c *Client) shut() error {
	return &Error{Code: CodeForbidden, Status: http.StatusForbidden, Cause: nats.ErrNoResponders, Message: fmt.Sprintf(
		"the leader serves no requests of the tenant %s on this connection: these credentials have no role in the tenant, or, if they have one, the leader still runs without --auth and the server of this connection with it; "+
			"then give the leader --auth, or connect to the leader without credentials", c.opts.Tenant)}
}
