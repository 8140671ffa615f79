package replication

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"
)

// codeTooFewServers is JetStream's error for more replicas than it has servers for, for now.
const codeTooFewServers jetstream.ErrorCode = 10005

// codeNoRoom is JetStream's error for a stream that is to reserve more than there is.
const codeNoRoom jetstream.ErrorCode = 10047

// IsFinal tells whether an error of [NewNode] will be the same at the next try. Those that are not come
// from servers that are not there yet.
func IsFinal(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return false
	}
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		return api.Code < 500 && api.ErrorCode != codeTooFewServers || api.ErrorCode == codeNoRoom
	}
	return errors.Is(err, ErrOtherCluster) || errors.Is(err, ErrStreamGone) || errors.Is(err, errNameTaken) || errors.Is(err, errOptions)
}
