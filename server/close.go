package server

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/carillon-io/carillon/datadir"
)

// closeTimeMax bounds a Close whose context has no deadline.
const closeTimeMax = time.Minute

// Close ends the server: it accepts no more requests, launches nothing more, waits until ctx ends for the
// answers to attempts in flight and records them, and leaves a checkpoint. Attempts that ctx cuts short are
// launched again at the next start. A node of a cluster hands over instead, and waits for answers for no longer than a moment:
// the next leader launches again what has none. A second Close waits for the first.
func (s *Server) Close(ctx context.Context) error {
	s.closeOnce.Do(func() {
		ctx, cancel := context.WithTimeout(ctx, closeTimeMax)
		defer cancel()
		s.closeErr = s.close(ctx)
		close(s.closed)
	})
	<-s.closed
	return s.closeErr
}

// close ends what the start has opened, in the opposite order.
func (s *Server) close(ctx context.Context) error {
	var errs []error
	if s.stopWarning != nil {
		s.stopWarning()
	}
	if s.stopAround != nil {
		s.stopAround()
	}
	if s.stopCerts != nil {
		s.stopCerts()
	}
	if s.stopWatch != nil {
		s.stopWatch()
	}
	if s.stopPending != nil {
		s.stopPending()
	}
	if s.stopAccess != nil {
		s.stopAccess()
	}
	if s.stopUnlisted != nil {
		s.stopUnlisted()
	}
	if s.stopSessionKey != nil {
		s.stopSessionKey()
	}
	if s.stopCalendars != nil {
		s.stopCalendars()
	}
	s.closePlaces()
	web, router := s.closeWeb(ctx), s.closeRouter(ctx)
	errs = append(errs, s.each(func(m *member) error { return m.close(ctx) })...)
	if s.stopServers != nil {
		s.stopServers()
	}
	if s.stopUsage != nil {
		s.stopUsage()
	}
	errs = append(errs, <-web, <-router, s.closeDaybook())
	errs = append(errs, s.closeDispatch(ctx))
	if s.tracer != nil {
		s.tracer.Close(ctx)
	}
	if s.profile != nil {
		errs = append(errs, s.profile.Close())
	}
	s.background.Wait()
	if s.bus != nil {
		s.bus.Close()
	}
	errs = append(errs, s.each((*member).closeData)...)
	if s.dir != nil {
		errs = append(errs, datadir.PutNATSBack(s.opts.Dir)) // once the node has joined there is nothing to put back
		errs = append(errs, s.dir.Close())
	}
	return errors.Join(errs...)
}

// partTime bounds how long a node of a cluster that ends waits for the answers to attempts in flight, once its shards are given up.
// It can record none of them any more, and the next leaders have launched the attempts again. A short time lets a target
// that is about to answer do it.
const partTime = time.Second

// closeDispatch ends the attempts in flight. A node alone waits for them until ctx ends.
func (s *Server) closeDispatch(ctx context.Context) error {
	if s.dispatcher == nil {
		return nil
	}
	if !s.opts.clustered() {
		return s.dispatcher.Close(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, partTime)
	defer cancel()
	if err := s.dispatcher.Close(ctx); err != nil {
		s.opts.Logger.Info("attempts in flight were cut short: the nodes that lead now launch them again", slog.Any("error", err))
	}
	return nil
}

// close ends the backups of a shard, and the shard: a leader hands over. The shards of a process do so at the same time, so
// that the hand-over of many takes no longer than that of one.
func (m *member) close(ctx context.Context) error {
	if m.backups != nil {
		m.backups.close()
	}
	if m.shard == nil {
		return nil
	}
	return m.shard.Close(ctx)
}

// closeData closes the log and the store of a shard.
func (m *member) closeData() error {
	if m.data == nil {
		return nil
	}
	return m.data.Close()
}

// closeWeb ends the HTTP server beside what follows: a request that waits must not delay the hand-over. The
// channel gives the error.
func (s *Server) closeWeb(ctx context.Context) <-chan error {
	closed := make(chan error, 1)
	if s.web == nil {
		closed <- nil
		return closed
	}
	go func() { closed <- s.web.Shutdown(ctx) }()
	return closed
}
