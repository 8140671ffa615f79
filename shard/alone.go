package shard

import (
	"context"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/scheduler"
)

// openAlone opens an engine that leads, over the directory's own log.
func (s *Shard) openAlone(ctx context.Context) error {
	if s.opts.OpenAnnouncer != nil {
		origin, err := datadir.OpenInstallation(s.data.Directory().Dir())
		if err != nil {
			return err
		}
		if err := s.openAnnouncer(ctx, origin); err != nil {
			return err
		}
	}
	if err := s.data.RemoveExports(); err != nil {
		return err
	}
	engine, err := scheduler.Open(s.engineOptions(s.data.Log()))
	if err != nil {
		return err
	}
	s.engine.Store(engine)
	return nil
}

// startAlone lets the engine fire and answer.
func (s *Shard) startAlone() (role string, err error) {
	engine := s.engine.Load()
	s.beforeLead()
	s.run(engine.Serve)
	s.keep()
	if err := s.openService(false); err != nil {
		return "", err
	}
	s.endLead = s.lead()
	return engine.Status().Role, nil
}

// closeAlone ends the service first, so that no request changes anything while the engine drains.
func (s *Shard) closeAlone(ctx context.Context) (err error) {
	if service := s.service.Swap(nil).api(); service != nil {
		err = service.Close(ctx)
	}
	if s.endLead != nil {
		s.endLead()
	}
	if s.stop != nil {
		s.engine.Load().Drain(ctx)
	}
	s.stopKeeping()
	if s.stop != nil {
		s.stop()
		<-s.done
	}
	return err
}
