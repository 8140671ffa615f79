package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
)

// Lingering returns what is left of the service after Close. A nil service leaves nothing.
func (s *Service) Lingering() *Lingering {
	if s == nil {
		return nil
	}
	return s.rest
}

// stop accepts no further requests. Where no other node could have them, those that the subscriptions already have are still
// handled. Otherwise they are refused.
func (s *Service) stop() error {
	s.close()
	if s.opts.Leads == nil {
		return s.drain()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest.begin(slices.AppendSeq(slices.Clone(s.shared), maps.Values(s.accounts)), s.own)
	return s.endQuestions()
}

// close ends the executor. It may be repeated.
func (s *Service) close() {
	s.mu.Lock() // no account is added from now on
	defer s.mu.Unlock()
	if !s.executor.isClosed.Swap(true) {
		s.executor.goroutines.end()
	}
}

// drain ends all subscriptions. What the client has received by then is still handled.
func (s *Service) drain() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(drain(s.shared), drain(s.own), drain(slices.Collect(maps.Values(s.accounts))), s.endQuestions())
}

// endQuestions ends the subscriptions to questions about the service.
func (s *Service) endQuestions() error {
	var errs []error
	for _, sub := range s.questions {
		errs = append(errs, ended(sub.Drain()))
	}
	return errors.Join(errs...)
}

// Close accepts no further requests, and returns when those in progress have their replies, or when ctx ends. The
// flush at the end makes sure that the last replies are with the NATS server before the owner closes the connection.
// Close may be called again after an error.
func (s *Service) Close(ctx context.Context) error {
	if err := s.stop(); err != nil {
		return fmt.Errorf("api: stop the NATS service: %w", err)
	}
	// The count is polled, because a condition that each request signals would cost every request a lock.
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	for give := time.Now().Add(drainTimeout); s.executor.underWay.Load() > 0 || s.isDraining() && time.Now().Before(give); {
		select {
		case <-poll.C:
		case <-ctx.Done():
			return fmt.Errorf("api: close with %d requests under way: %w", s.executor.underWay.Load(), ctx.Err())
		}
	}
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	for _, nc := range append(s.accountConns(), s.nc) {
		if err := nc.FlushWithContext(ctx); err != nil && !nc.IsClosed() {
			return fmt.Errorf("api: flush the last replies: %w", err)
		}
	}
	return nil
}

// accountConns returns the connections on which requests from accounts come.
func (s *Service) accountConns() []*nats.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.conns)
}

// isDraining reports whether subscriptions may still have requests for the service. A subscription that was drained stays valid until
// its last message has been handled. Waiting for it has a bound of its own, because a connection that is lost for good never
// reports the end.
func (s *Service) isDraining() bool {
	if s.opts.Leads != nil || s.nc.IsClosed() {
		return false // what comes is refused
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	isValid := func(r *reception) bool { return r.sub.IsValid() }
	return slices.ContainsFunc(slices.Concat(s.shared, s.own, slices.Collect(maps.Values(s.accounts))), isValid)
}
