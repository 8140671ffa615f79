package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// ledBy returns the status of a cluster with a shard 1 on the nodes a and b, with the role of b.
func ledBy(leader, roleOfB string) client.Status {
	row := client.ShardStatus{Shard: 1, Leader: leader, HasLeader: leader != "", Replicas: []client.ShardReplica{{Node: "a", Role: "standby"}, {Node: "b", Role: roleOfB, Lag: 2}}}
	return client.Status{Cluster: new(client.Cluster), Shards: []client.ShardStatus{{Leader: "a", HasLeader: true}, row}}
}

// TestAskingForHandover: whatever passes by itself is asked again until the time is over, and the last cause is named then. What
// stays ends it at once, and so does the lead of the named node, however that came about.
func TestAskingForHandover(t *testing.T) {
	busy, stays := notNow("another hand-over is under way"), errors.New("node b drains")
	nobody := &client.Error{Code: client.CodeUnavailable, Message: "no server answers", Cause: nats.ErrNoResponders}
	a, joins, none, twice, b := ledBy("a", "standby"), ledBy("a", "joining"), ledBy("", "standby"), ledBy("a", "leader"), ledBy("b", "leader")
	silent := errors.New("silent")
	for name, c := range map[string]struct {
		statuses []client.Status // the last one from then on
		replies  []error         // likewise; the error silent is no reply
		to, want string          // a part of the error
		from     string          // of the reply
		asked    int             // the requests that leave
	}{
		"taken":                   {[]client.Status{a}, []error{nil}, "b", "", "a", 1},
		"busy":                    {[]client.Status{a}, []error{busy, busy, nil}, "b", "", "a", 3},
		"busy, to any":            {[]client.Status{a}, []error{busy, nil}, "", "", "a", 2},
		"busy for too long":       {[]client.Status{a}, []error{busy}, "b", "another hand-over is under way", "", 20},
		"refused":                 {[]client.Status{a}, []error{stays}, "b", "node b drains", "", 1},
		"joins":                   {[]client.Status{joins, joins, a}, []error{nil}, "b", "", "a", 1},
		"joins for too long":      {[]client.Status{joins}, []error{nil}, "b", "node b cannot take shard 1 over: b joining 2 commits behind", "", 0},
		"no leader":               {[]client.Status{none, none, a}, []error{nil}, "", "", "a", 1},
		"no leader for too long":  {[]client.Status{none}, []error{nil}, "b", "shard 1 has no leader that answers", "", 0},
		"is about to lead":        {[]client.Status{twice, twice, b}, []error{nil}, "b", "", "", 0},
		"leads by then":           {[]client.Status{a, b}, []error{busy}, "b", "", "", 1},
		"the leader ends":         {[]client.Status{a, none, b}, []error{nobody}, "b", "", "", 1},
		"no right to ask":         {[]client.Status{a}, []error{nobody}, "b", "no server answers", "", 1},
		"no answer, and it leads": {[]client.Status{a, b}, []error{silent}, "b", "", "", 1},
		"no answer":               {[]client.Status{a}, []error{silent, nil}, "b", "", "a", 2},
		"no such node":            {[]client.Status{a}, []error{nil}, "d", "there is no node d with shard 1", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second-time.Millisecond)
				defer cancel()
				looked, asked := 0, 0
				q := asking{func(context.Context) (client.Status, error) {
					looked++
					return c.statuses[min(looked, len(c.statuses))-1], nil
				}, func(ctx context.Context, _ uint32, _ string) (client.HandoverReply, error) {
					asked++
					err := c.replies[min(asked, len(c.replies))-1]
					if err == silent {
						<-ctx.Done()
						err = ctx.Err()
					}
					return client.HandoverReply{From: "a"}, err
				}}
				reply, err := q.untilTaken(ctx, handoverOf{shard: 1, to: c.to, several: true})
				if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v; want %q", err, c.want)
				}
				if asked != c.asked || err == nil && reply.From != c.from {
					t.Errorf("%+v after %d requests; want one of %q after %d", reply, asked, c.from, c.asked)
				}
			})
		})
	}
}

// TestAwaitingTheNextLeader: the command ends when another node leads, and when the former one leads again.
func TestAwaitingTheNextLeader(t *testing.T) {
	in := func(leader string, epoch uint64) client.Status {
		s := ledBy(leader, "standby")
		s.Shards[1].Epoch = epoch
		return s
	}
	for name, c := range map[string]struct {
		statuses []client.Status // the last one from then on
		node     string
		want     string // a part of the error
	}{
		"another":      {[]client.Status{in("a", 3), in("", 0), in("b", 4)}, "b", ""},
		"another, now": {[]client.Status{in("b", 4)}, "b", ""},
		"the same":     {[]client.Status{in("a", 3), in("", 0), in("a", 4)}, "", "a has stopped leading for b, which did not begin: a leads again, in epoch 4"},
		"none":         {[]client.Status{in("a", 3), in("", 0)}, "", "a has stopped leading for b, and no node leads yet"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				looked := 0
				q := asking{status: func(context.Context) (client.Status, error) {
					looked++
					return c.statuses[min(looked, len(c.statuses))-1], nil
				}}
				node, _, err := q.untilLed(ctx, 1, taken{client.HandoverReply{From: "a", To: "b"}, 3})
				if node != c.node || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("%q, %v; want %q, %q", node, err, c.node, c.want)
				}
			})
		})
	}
}

// TestAskingForPlaces: a request that was refused for the moment is done if the status shows what it is for, and so is a move that
// another one has made. A request that was to change nothing from the start is refused.
func TestAskingForPlaces(t *testing.T) {
	busy, stays := notNow("another move is under way"), errors.New("node b has a copy of shard 1 already")
	status := func(drains, onB bool) client.Status {
		s := ledBy("a", "standby")
		s.Cluster.Nodes = []client.ClusterNode{{Node: "a"}, {Node: "b", Drains: drains}}
		if !onB {
			s.Shards[1].Replicas = s.Shards[1].Replicas[:1]
		}
		return s
	}
	move, drain := client.PlaceRequest{Verb: client.PlaceMove, Shard: 1, To: "b"}, client.PlaceRequest{Verb: client.PlaceDrain, Node: "b"}
	keep, remove := client.PlaceRequest{Verb: client.PlaceKeep, Node: "b"}, client.PlaceRequest{Verb: client.PlaceRemove, Node: "c"}
	for name, c := range map[string]struct {
		q       client.PlaceRequest
		after   client.Status // that the status shows after the first request
		replies []error
		done    bool
	}{
		"moved":                {move, status(false, true), []error{nil}, true},
		"moved later":          {move, status(false, false), []error{busy, nil}, true},
		"moved by another":     {move, status(false, true), []error{busy, stays}, true},
		"moved in between":     {move, status(false, true), []error{stays}, true},
		"move refused":         {move, status(false, false), []error{busy, stays}, false},
		"drains after no word": {drain, status(true, true), []error{busy, stays}, true},
		"drains already":       {drain, status(true, true), []error{stays}, false},
		"drain refused":        {drain, status(false, true), []error{busy, stays}, false},
		"kept after no word":   {keep, status(false, true), []error{busy, stays}, true},
		"kept already":         {keep, status(false, true), []error{stays}, false},
		"removed after that":   {remove, status(false, true), []error{busy, stays}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				p := placing{func(context.Context) (client.Status, error) {
					if asked == 0 {
						return status(false, false), nil
					}
					return c.after, nil
				}, func(context.Context, client.PlaceRequest) (client.PlaceReply, error) {
					asked++
					return client.PlaceReply{}, c.replies[min(asked, len(c.replies))-1]
				}}
				if _, err := p.untilTaken(t.Context(), c.q); (err == nil) != c.done || asked != len(c.replies) {
					t.Errorf("%v after %d requests", err, asked)
				}
			})
		})
	}
}
