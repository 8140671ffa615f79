package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// askForHandover asks the leader of a shard, which may be another node, to hand over, in the name of the reader of a page. The
// dashboard has checked the reader's rights.
func (s *Server) askForHandover(ctx context.Context, shard uint32, to, by string) (string, error) {
	if int64(shard) >= int64(s.shards) {
		return "", &client.Error{Code: client.CodeNotFound, Status: http.StatusNotFound, Message: fmt.Sprintf("there is no shard %d; the cluster has %s", shard, shardsText(s.shards))}
	}
	c, err := client.New(s.bus.API(), client.Options{Prefix: s.opts.Prefix, By: by})
	if err != nil {
		return "", err
	}
	defer c.Close()
	s.opts.Logger.Info("a hand-over was asked for on a page", slog.Uint64(job.LogShard, uint64(shard)), slog.String("to", to))
	reply, err := c.Handover(ctx, shard, to)
	if err != nil {
		return "", handoverRefused(s.inShard(shard, err))
	}
	return reply.To, nil
}

// handoverRefused returns a refusal as HTTP shows it: the leader refuses in words, and without a status of HTTP.
func handoverRefused(err error) error {
	e := &client.Error{Code: client.CodeUnavailable, Message: err.Error()}
	_ = errors.As(err, &e)
	e.Status = http.StatusServiceUnavailable
	return e
}
