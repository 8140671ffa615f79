package api

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/job"
)

// Requests from the accounts of tenants come by tenant, not by verb: each tenant has a subscription, on the connection that
// Options.Accounts gives it. So what one tenant sends waits in its own queue, which is bounded in bytes, and on a
// connection that few other tenants use: a flood of large requests fills that, and delays or breaks no other.

// Pending limits of the subscription of a tenant; see pendingBytes. Two bulk registrations of the largest size, and what
// comes while the process gets no CPU, fit.
const (
	accountPendingMessages = 16 << 10
	accountPendingBytes    = 16 << 20
)

// ReviewAccounts begins to receive the requests of tenants that have an account now, and ends to do so for those that have
// none any more. It is called after each change of the rights. It does nothing once the service is closed, or if requests
// do not come from accounts. After an error the other tenants are served nevertheless.
func (s *Service) ReviewAccounts() error {
	if s == nil || !s.opts.hasAccounts() {
		return nil
	}
	conns, err := s.opts.Accounts()
	errs := []error{err}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.executor.isClosed.Load() {
		return nil
	}
	for tenant, r := range s.accounts {
		if conns[tenant] == nil {
			errs = append(errs, ended(r.sub.Drain()))
			delete(s.accounts, tenant)
		}
	}
	for tenant, nc := range conns {
		if s.accounts[tenant] == nil {
			errs = append(errs, s.addAccountLocked(tenant, nc))
		}
	}
	return errors.Join(errs...)
}

// addAccountLocked begins to receive the requests of a tenant.
func (s *Service) addAccountLocked(tenant string, nc *nats.Conn) error {
	if !slices.Contains(s.conns, nc) {
		s.conns = append(s.conns, nc)
	}
	desk := inbox.NewDesk(nc, s.opts.Inboxes, s.opts.Logger)
	unread := unreadCount{service: s, tenant: tenant}
	r, err := s.receive(desk, s.opts.accountRoot(), tenant+".>", func(r *inbox.Request) {
		unread.look()
		s.acceptFromAccount(r)
	})
	if err == nil {
		s.accounts[tenant] = r
		unread.of.Store(r.sub.Subscription)
		err = r.sub.SetPendingLimits(accountPendingMessages, accountPendingBytes)
	}
	if err != nil {
		return fmt.Errorf("api: subscribe to the requests of the tenant %s: %w", tenant, err)
	}
	return nil
}

// unreadCount counts the requests of a tenant that NATS drops, because too many wait to be read: they get no answer. For the
// goroutine of the subscription, save of.
type unreadCount struct {
	service *Service
	tenant  string
	of      atomic.Pointer[nats.Subscription] // nil until the subscription is known

	calls, known int
}

// unreadEvery is after how many requests a subscription is asked for what it has dropped. While it drops, it is read without a
// pause.
const unreadEvery = 256

// look counts what has been dropped since it last did.
func (u *unreadCount) look() {
	if u.calls++; u.calls%unreadEvery != 0 || u.service.opts.Unanswered == nil {
		return
	}
	sub := u.of.Load()
	if sub == nil {
		return
	}
	dropped, err := sub.Dropped()
	if err != nil {
		return // it has ended
	}
	for ; u.known < dropped; u.known++ {
		u.service.opts.Unanswered(u.tenant)
	}
}

// acceptFromAccount accepts a request from the account of a tenant, of any verb.
func (s *Service) acceptFromAccount(r *inbox.Request) {
	tenant, verb, _ := strings.Cut(r.Subject[len(s.opts.accountRoot()):], ".")
	if v := VerbNamed(verb); v != nil {
		s.accept(v, s.opts.accountRoot(), s.readFromAccount)(r)
		runtime.Gosched() // in a flood this goroutine would keep its processor for ten milliseconds
		return
	}
	// NATS answers like this on a subject without a subscriber, and at once, so that a flood of them has no pace but its own.
	bare := r.Bare()
	isSent := s.executor.pacer.send(s.executor.partyOf(tenant), len(r.Data), func() {
		if err := bare.Answer("", nats.Header{"Status": {"503"}}, nil); err != nil {
			s.opts.Logger.Warn("a request of an unknown verb was not answered", slog.String(job.LogTenant, tenant), slog.Any("error", err))
		}
	})
	if !isSent {
		s.leave(r, tenant)
	}
}

// ended returns the error of a drain, without that of a subscription that an earlier call has drained, or whose connection
// is gone: it has ended as it should.
func ended(err error) error {
	if errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, nats.ErrBadSubscription) {
		return nil
	}
	return err
}
