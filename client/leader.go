package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
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
	// outsiderTime bounds the question whether the caller is a cluster admin, after a request that only those may make has met no
	// responders.
	outsiderTime = time.Second
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

// outsider returns the refusal of a request that only cluster admins may make, if the caller is none: where tenants have accounts of
// their own, no server answers it there. It returns nil for a cluster admin, for a caller whose rights the server does not know, and if
// no server says who the caller is.
func (c *Client) outsider(ctx context.Context, what string) error {
	ctx, cancel := context.WithTimeout(ctx, outsiderTime)
	defer cancel()
	w, err := c.Whoami(ctx)
	isKnown := err == nil && !w.Open && w.Principal != ""
	if !isKnown && !IsForbidden(err) || slices.Contains(w.Grants, Grant{Tenant: "*", Role: "admin"}) {
		return nil
	}
	return &Error{Code: CodeForbidden, Status: http.StatusForbidden, Cause: nats.ErrNoResponders, Message: fmt.Sprintf(
		"%s asks for %s, which is for cluster admins: those with the role admin in the tenant *", cmp.Or(w.By, "the caller"), what)}
}
