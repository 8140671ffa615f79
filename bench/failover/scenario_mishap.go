package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/carillon-io/carillon/bench/kit"
)

// An operator's mishaps: a process is started that must not serve. It is refused by name, or ends by itself, and
// harms neither the cluster nor the data that it was given. A scenario fails, whatever it costs, if it does not.

// stranger returns a process beside those of the cluster, on the host of a node and under its name, which has not been
// started. It shares nothing with the other process but the host, the name and the binary.
func (r *rig) stranger(beside *node, folder string, args ...string) (*node, error) {
	address, err := beside.site.address(strangerPort)
	stranger := *beside
	stranger.dir, stranger.log = filepath.Join(r.dir, folder), filepath.Join(r.dir, folder+".log")
	stranger.http, stranger.args, stranger.proxies, stranger.proc = address, args, nil, nil
	return &stranger, err
}

// endWait is how long a process may take to find out that it must not go on.
const endWait = 30 * time.Second

// refused waits for the end of a process that must not serve, and for what it says. The words must be in its log,
// because a process that ends for another reason proves nothing.
func refused(p *kit.Process, words string) error {
	select {
	case <-p.Exited():
	case <-time.After(endWait):
		p.Kill()
		return fmt.Errorf("%s still ran after %s, and must not; want it to end with %q; the end of its log:\n%s", p.Name, endWait, words, kit.Tail(p.Log))
	}
	if text := kit.Tail(p.Log); p.Err() == nil || !strings.Contains(text, words) {
		return fmt.Errorf("%s ended (%v) without saying %q; the end of its log:\n%s", p.Name, p.Err(), words, text)
	}
	return nil
}

// keptJob is a job of the foreign directory. It shows afterwards that the refused process has changed nothing in
// the directory.
const keptJob = "foreign/kept"

// mistakeData starts the standby on a directory that holds the jobs of a server without a cluster. It is refused, and
// that server has its job afterwards.
func mistakeData(ctx context.Context, r *rig, _ *node) (blow, error) {
	standby, err := r.cluster.standby()
	if err != nil {
		return blow{}, err
	}
	bus, err := standby.site.address(strangerBusPort)
	if err != nil {
		return blow{}, err
	}
	lone, err := r.stranger(standby, "foreign", "--listen", bus)
	if err != nil {
		return blow{}, err
	}
	lone.lone = true
	put := []string{"job", "put", keptJob, "--schedule", "@yearly", "--target", "nats:kept", "--server", "nats://" + bus}
	if err := r.visit(ctx, lone, put...); err != nil {
		return blow{}, err
	}
	// A copy, so that the standby itself can be started on its own data afterwards.
	mistaken := *standby
	mistaken.dir, mistaken.log = lone.dir, lone.log
	return blow{
		land: func() error {
			if err := standby.proc.Stop(); err != nil {
				return err
			}
			if err := mistaken.start(); err != nil {
				return err
			}
			return refused(mistaken.proc, "--discard-data")
		},
		heal: func() error {
			get := r.visit(ctx, lone, "job", "get", keptJob, "--server", "nats://"+bus)
			return errors.Join(get, standby.restart())
		},
	}, nil
}

// visit runs a command beside a server that lives no longer than that.
func (r *rig) visit(ctx context.Context, n *node, command ...string) error {
	if err := n.start(); err != nil {
		return err
	}
	if err := n.proc.AwaitReady(); err != nil {
		n.proc.Kill()
		return err
	}
	err := r.command(ctx, command...)
	return errors.Join(err, n.proc.Stop())
}

// forgetName starts a server without a cluster's name on the NATS and prefix of the cluster. It is refused.
func forgetName(_ context.Context, r *rig, leader *node) (blow, error) {
	stray, err := r.stranger(leader, "stray", "--nats", r.cluster.urls)
	stray.lone = true
	return blow{land: func() error {
		if err := stray.start(); err != nil {
			return err
		}
		return refused(stray.proc, "the prefix is served already")
	}}, err
}

// replaceFrozen freezes the leader, starts another process under its name on a data directory of its own, and wakes
// the frozen one. That one ends, and the other goes on. Such a pair arises when a process is moved to another machine
// while the old one only seems dead.
func replaceFrozen(_ context.Context, r *rig, leader *node) (blow, error) {
	frozen := leader.proc
	twin, err := r.stranger(leader, fmt.Sprintf("twin-%d", r.rng.Uint32()), leader.args...)
	return blow{
		land: func() error {
			if err := frozen.Pause(); err != nil {
				return err
			}
			return twin.start()
		},
		heal: func() error {
			if err := twin.proc.AwaitReady(); err != nil {
				return err
			}
			if err := frozen.Resume(); err != nil {
				return err
			}
			err := refused(frozen, "this process was replaced")
			if twin.proc.IsGone() {
				return errors.Join(err, fmt.Errorf("both processes of %s ended: %w", leader.name, twin.proc.Ended()))
			}
			return errors.Join(err, twin.proc.Stop(), leader.restart())
		},
	}, err
}
