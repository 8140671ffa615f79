package replication

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"
)

// codeTooFewServers is JetStream's error when a stream asks for more replicas than there are servers at
// present. It has the status of a mistake in the request, but passes when more servers have started.
const codeTooFewServers jetstream.ErrorCode = 10005

// codeNoRoom is JetStream's error when a stream would reserve more storage than is available. It has the status
// of a fault of the server, but lasts until an operator changes a bound.
const codeNoRoom jetstream.ErrorCode = 10047

// IsFinal reports whether an error of [NewNode] would be the same at the next attempt. The other errors come
// from servers that have not started yet, so the caller tries again.
//
// An end of the context is not final: it says how long the caller waited, and nothing about the cluster. The
// two codes above are the exceptions from the rule that a status below 500 blames the request.
func IsFinal(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return false
	}
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		return api.Code < 500 && api.ErrorCode != codeTooFewServers || api.ErrorCode == codeNoRoom
	}
	return errors.Is(err, ErrOtherCluster) || errors.Is(err, ErrOtherShards) || errors.Is(err, ErrStreamGone) || errors.Is(err, ErrOwnData) || errors.Is(err, ErrClusterLives) || errors.Is(err, ErrGivesUpCommits) || errors.Is(err, errNameTaken) || errors.Is(err, errOptions)
}
