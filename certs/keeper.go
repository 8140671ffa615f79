package certs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// checkEvery is the time between two readings of the files. A shorter one costs little; a renewed certificate is
	// in place days before the old one ends.
	checkEvery = 10 * time.Second
	// endSoon is how long before its end a certificate is warned about. Renewals usually come a month ahead.
	endSoon = 14 * 24 * time.Hour
	// endLoggedEvery is the shortest time between two log lines about the same end.
	endLoggedEvery = 24 * time.Hour
)

// Options configure a Keeper.
type Options struct {
	Name   string // name of the listener in messages and metrics, such as "http": its flags are --http-tls-cert, -key and -ca
	Files  Files  // Cert and Key must be set
	Peers  bool   // the certificate is for peers: it must be from the authorities, and for both directions
	Logger *slog.Logger
}

// Keeper has the certificate of a listener, and reads its files again when they change. Safe for concurrent use.
type Keeper struct {
	opts  Options
	files Files
	now   atomic.Pointer[reading] // in use; never nil

	// mu is held while the files are read, so that the newest reading is the last that is stored.
	mu       sync.Mutex
	failed   error     // why the present files are not used; nil: they are
	loggedAt time.Time // when the end of a certificate was last logged

	reloads, failures atomic.Uint64
	// problem is failed for readers that must not wait for a disk.
	problem atomic.Pointer[error]
}

// State is what metrics show of a Keeper.
type State struct {
	Name     string
	Ends     time.Time // when the certificate ends
	CAEnds   time.Time // when the last of the authorities ends; zero without authorities
	Reloads  uint64    // changed files that were used
	Failures uint64    // changed files that were not
	IsBad    bool      // the files that are there are not used
}

// Open reads the files. The error names the file and what is wrong with it. Certificates that have ended are logged and
// accepted: the jobs of a server fire without its clients.
func Open(o Options) (*Keeper, error) {
	k := &Keeper{opts: o, files: o.Files}
	if o.Files.Cert == "" || o.Files.Key == "" {
		return nil, errors.New("a certificate and its key go together")
	}
	first, err := o.Files.read(o.Peers, time.Now())
	if err != nil {
		return nil, err
	}
	k.now.Store(first)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.logEndLocked()
	return k, nil
}

// Watch reads the files from time to time until ctx ends.
func (k *Keeper) Watch(ctx context.Context) {
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = k.Check() // it is logged
		}
	}
}

// Check reads the files now, and uses them for new connections if they have changed. If they cannot be used, those
// that were read before stay in use; the error, which is logged once and counted once, says why.
func (k *Keeper) Check() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	defer k.logEndLocked()
	old := k.now.Load()
	next, err := k.files.read(k.opts.Peers, time.Now())
	if err == nil && next.sum != old.sum {
		err = k.worseThan(old, next)
	}
	if err != nil {
		k.noteFailureLocked(err)
		return err
	}
	k.noteSuccessLocked()
	if next.sum == old.sum {
		return nil
	}
	k.now.Store(next)
	k.loggedAt = time.Time{}
	k.reloads.Add(1)
	k.opts.Logger.Info("new certificate files are in use", slog.String("listener", k.opts.Name), slog.Time("ends", next.ends))
	return nil
}

// worseThan returns an error if files that serve would be replaced by ones that do not: that have ended, or begin later, or
// are not for a server.
func (k *Keeper) worseThan(old, next *reading) error {
	at := time.Now()
	if at.Before(old.begins) || at.After(old.ends) {
		return nil
	}
	switch {
	case at.After(next.ends):
		return fmt.Errorf("the certificate %s has ended on %s, and the one in use has not", k.files.Cert, day(next.ends))
	case at.Before(next.begins):
		return fmt.Errorf("the certificate %s begins only on %s", k.files.Cert, next.begins.UTC().Format(time.RFC3339))
	case at.After(next.rootsEnd) && at.Before(old.rootsEnd):
		return fmt.Errorf("the last of the authorities %s has ended on %s, and one in use has not", k.files.CA, day(next.rootsEnd))
	case k.opts.Peers || old.checkServer() != nil:
		return nil
	}
	if err := next.checkServer(); err != nil {
		return fmt.Errorf("the certificate %s %w", k.files.Cert, err)
	}
	return nil
}

// noteFailureLocked records why the files are not used. A failure that stays is logged and counted once.
func (k *Keeper) noteFailureLocked(err error) {
	if k.failed != nil && k.failed.Error() == err.Error() {
		return
	}
	k.failed = err
	k.problem.Store(&err)
	k.failures.Add(1)
	k.opts.Logger.Warn("new certificate files are not used; the old ones stay in use", slog.String("listener", k.opts.Name), slog.Any("error", err))
}

func (k *Keeper) noteSuccessLocked() {
	k.failed = nil
	k.problem.Store(nil)
}

// logEndLocked logs once a day that a certificate ends soon.
func (k *Keeper) logEndLocked() {
	at := time.Now()
	if !k.loggedAt.IsZero() && at.Sub(k.loggedAt) < endLoggedEvery {
		return
	}
	for _, text := range k.endings(at) {
		k.loggedAt = at
		k.opts.Logger.Warn(text)
	}
}

// Warnings returns what an operator should do something about, each with its remedy. It does not read the files.
func (k *Keeper) Warnings() []string {
	warnings := k.endings(time.Now())
	if problem := k.problem.Load(); problem != nil {
		warnings = append(warnings, fmt.Sprintf("the files of --%s-tls-* have changed and are not used: %v; those that were read before stay in use", k.opts.Name, *problem))
	}
	return warnings
}

// endings names the flags of the files whose certificates end soon, or have ended.
func (k *Keeper) endings(at time.Time) (found []string) {
	now := k.now.Load()
	for _, one := range []struct {
		what, flag, path string
		ends             time.Time
	}{{"the certificate", "cert", k.files.Cert, now.ends}, {"the last authority", k.authoritiesFlag(), k.files.CA, now.rootsEnd}} {
		switch left := one.ends.Sub(at); {
		case one.ends.IsZero() || left > endSoon:
		case left <= 0:
			found = append(found, fmt.Sprintf("%s of --%s-tls-%s has ended on %s, so that connections fail; replace %s, a restart is not needed", one.what, k.opts.Name, one.flag, day(one.ends), one.path))
		default:
			found = append(found, fmt.Sprintf("%s of --%s-tls-%s ends on %s; replace %s before, a restart is not needed", one.what, k.opts.Name, one.flag, day(one.ends), one.path))
		}
	}
	return found
}

// authoritiesFlag returns the end of the name of the flag for the authorities.
func (k *Keeper) authoritiesFlag() string {
	if k.opts.Name == "http" {
		return "client-ca"
	}
	return "ca"
}

// day returns an instant as messages have it.
func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// State returns the readings for metrics.
func (k *Keeper) State() State {
	now := k.now.Load()
	return State{Name: k.opts.Name, Ends: now.ends, CAEnds: now.rootsEnd, Reloads: k.reloads.Load(), Failures: k.failures.Load(), IsBad: k.problem.Load() != nil}
}
