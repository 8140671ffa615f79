package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/carillon-io/carillon/client"
)

// askForHandover asks the leader, which may be another node, to hand over; of several shards, the leader of each that the
// wanted node does not lead. The dashboard has checked the rights of its reader.
func (s *Server) askForHandover(ctx context.Context, to string) (string, error) {
	c, err := client.New(s.bus.API(), client.Options{Prefix: s.opts.Prefix})
	if err != nil {
		return "", err
	}
	defer c.Close()
	s.opts.Logger.Info("a hand-over was asked for on a page", slog.String("to", to))
	takes := to
	for _, m := range s.members {
		if s.divided() && to != "" && m.shard.Node().Status().Holder == to {
			continue
		}
		reply, err := c.Handover(ctx, m.number, to)
		if err != nil {
			return "", handoverRefused(s.inShard(m, err))
		}
		takes = reply.To
	}
	return takes, nil
}

// handoverRefused returns a refusal as HTTP shows it: the leader refuses in words, and without a status of HTTP.
func handoverRefused(err error) error {
	e := &client.Error{Code: client.CodeUnavailable, Message: err.Error()}
	_ = errors.As(err, &e)
	e.Status = http.StatusServiceUnavailable
	return e
}
