package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Changes of certificates and of rights, which disturb no principal that they do not concern. While they are made, new
// connections are opened to each node all the time, and none may be refused; none of the clients of the load may lose its
// own.

// undisturbed runs a change beside new connections, and fails if one was refused or a client lost its own.
func (r *rig) undisturbed(ctx context.Context, change func(k *knocker) error) error {
	was := r.cluster.access.dropped.Load()
	k := r.knock(ctx)
	err := k.await(ctx, 1)
	if err == nil {
		err = change(k)
	}
	if err = errors.Join(err, k.end()); err != nil {
		return err
	}
	if n := r.cluster.access.dropped.Load() - was; n > 0 {
		return fmt.Errorf("%d connections of clients whose rights are the same have ended", n)
	}
	return nil
}

// rotations is how often all certificates are replaced, each time with their authority.
const rotations = 3

// rotateCertificates replaces all certificates and their authorities, in the order in which an operator does. At last the
// witness is restarted: it finds its peers by the newest certificates alone.
func rotateCertificates(ctx context.Context, r *rig, _ *node) (blow, error) {
	witness := r.cluster.nodes[members-1]
	return blow{
		land: func() error {
			return r.undisturbed(ctx, func(k *knocker) error {
				for range rotations {
					if err := r.rotate(ctx, k); err != nil {
						return err
					}
				}
				return nil
			})
		},
		heal: func() error { return errors.Join(witness.proc.Stop(), witness.restart()) },
	}, nil
}

// reloadWait is how long a node may take to read changed certificates: it looks every ten seconds.
const reloadWait = 30 * time.Second

// rotate replaces the authority and all certificates once.
func (r *rig) rotate(ctx context.Context, k *knocker) error {
	a := r.cluster.access
	old := a.authority()
	next, err := a.issue()
	if err != nil {
		return err
	}
	steps := []struct {
		what   string
		change func(node string) error
		then   func() error
	}{
		{"both authorities", func(node string) error { return a.trust(node, old, next) }, func() error { return a.show(old, old, next) }},
		{"new certificates", func(node string) error { return a.renew(node, next) }, func() error { return a.show(next, old, next) }},
		{"the new authority alone", func(node string) error { return a.trust(node, next) }, func() error { return a.show(next, next) }},
	}
	for _, s := range steps {
		for _, n := range r.cluster.nodes {
			if err := r.reloaded(ctx, n, func() error { return s.change(n.name) }); err != nil {
				return fmt.Errorf("%s for %s: %w", s.what, n.name, err)
			}
		}
		if err := errors.Join(s.then(), k.await(ctx, 5)); err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
	}
	fmt.Fprintf(r.progress, ", rotated")
	return nil
}

// reloaded changes the certificate files of a node, and waits until each of its listeners uses them.
func (r *rig) reloaded(ctx context.Context, n *node, change func() error) error {
	const counter = "carillon_tls_reloads_total"
	was, err := n.metrics(counter)
	if err == nil {
		err = change()
	}
	if err != nil {
		return err
	}
	return until(ctx, reloadWait, func() error {
		now, err := n.metrics(counter)
		for labels, count := range was {
			if err == nil && now[labels] <= count {
				err = fmt.Errorf("%s has not used the new files: %s%s is still %d", n.name, counter, labels, int(count))
			}
		}
		return err
	})
}

// hangups is how often a node is asked to read its files again.
const hangups = 100

// hangUp sends SIGHUP to the nodes in turn, each time with another file of rights: with a guest, a bad one, and without the
// guest. The guest is admitted as the last good file says, and disconnected when it is taken out; no other principal is.
func hangUp(ctx context.Context, r *rig, _ *node) (blow, error) {
	return blow{land: func() error {
		return r.undisturbed(ctx, func(k *knocker) error {
			guests := make([]*nats.Conn, len(r.cluster.nodes))
			for i := range hangups {
				at := i % len(guests)
				steps := []func(context.Context, *knocker, int, *nats.Conn) (*nats.Conn, error){r.admitGuest, r.spoilRights, r.removeGuest}
				guest, err := steps[i/len(guests)%len(steps)](ctx, k, at, guests[at])
				if err != nil {
					return fmt.Errorf("SIGHUP %d, to %s: %w", i+1, r.cluster.nodes[at].name, err)
				}
				guests[at] = guest
			}
			for _, guest := range guests {
				if guest != nil {
					guest.Close()
				}
			}
			return nil
		})
	}}, nil
}

// readAgain gives a node another file of rights, and sends it SIGHUP.
func (r *rig) readAgain(at int, rights string) error {
	n := r.cluster.nodes[at]
	return errors.Join(r.cluster.access.write(n.name, "auth.yaml", []byte(rights)), n.proc.Hangup())
}

// guestWait is how long a change of rights may take.
const guestWait = 20 * time.Second

// admitGuest adds the guest, and returns its connection.
func (r *rig) admitGuest(ctx context.Context, k *knocker, at int, guest *nats.Conn) (*nats.Conn, error) {
	if err := r.readAgain(at, rightsText(true)); err != nil {
		return guest, err
	}
	return guest, until(ctx, guestWait, func() (err error) {
		guest, err = k.as(guestToken, r.cluster.addresses[at])
		return err
	})
}

// spoilRights gives a node a bad file: it counts it, and keeps the rights from before.
func (r *rig) spoilRights(ctx context.Context, _ *knocker, at int, guest *nats.Conn) (*nats.Conn, error) {
	const counter = "carillon_auth_file_refused_total"
	n := r.cluster.nodes[at]
	was, err := n.metrics(counter)
	if err == nil {
		err = r.readAgain(at, rightsText(false)+"tenant: {}\n")
	}
	if err != nil {
		return guest, err
	}
	err = until(ctx, guestWait, func() error {
		now, err := n.metrics(counter)
		if err == nil && now[""] <= was[""] {
			err = errors.New("the bad file is not counted")
		}
		return err
	})
	if err == nil && guest != nil {
		err = guest.FlushTimeout(guestWait)
	}
	return guest, err
}

// removeGuest takes the guest out: its connection is closed, and it gets no other.
func (r *rig) removeGuest(ctx context.Context, k *knocker, at int, guest *nats.Conn) (*nats.Conn, error) {
	if err := r.readAgain(at, rightsText(false)); err != nil {
		return guest, err
	}
	if err := until(ctx, guestWait, func() error {
		if guest != nil && !guest.IsClosed() {
			return errors.New("the guest is still connected")
		}
		return nil
	}); err != nil {
		return guest, err
	}
	again, err := k.as(guestToken, r.cluster.addresses[at])
	if err == nil {
		again.Close()
		return nil, errors.New("the guest is admitted, and not in the file")
	}
	if !errors.Is(err, nats.ErrAuthorization) {
		return nil, err
	}
	return nil, nil
}

// metrics returns the values of a metric that a node shows, by their labels.
func (n *node) metrics(name string) (map[string]float64, error) {
	families, err := n.families(name)
	return families[name], err
}

// families returns the values of some metrics that a node shows at one moment, by name and labels.
func (n *node) families(names ...string) (map[string]map[string]float64, error) {
	reply, err := n.asking.Get(n.url("/metrics"))
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("metrics of %s: %s", n.name, reply.Status)
	}
	families := make(map[string]map[string]float64)
	for _, name := range names {
		families[name] = make(map[string]float64)
	}
	lines := bufio.NewScanner(reply.Body)
	for lines.Scan() {
		series, value, _ := strings.Cut(lines.Text(), " ")
		name, labels, isLabelled := strings.Cut(series, "{")
		if families[name] == nil {
			continue
		}
		if isLabelled {
			labels = "{" + labels
		}
		if families[name][labels], err = strconv.ParseFloat(value, 64); err != nil {
			return nil, fmt.Errorf("metrics of %s: %q: %w", n.name, lines.Text(), err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	for _, name := range names {
		if len(families[name]) == 0 {
			return nil, fmt.Errorf("metrics of %s: there is no %s", n.name, name)
		}
	}
	return families, nil
}
