package pad

import (
	"errors"
	"fmt"

	"github.com/carillon-io/carillon/job"
)

// ErrNoPayload is wrapped by the error of [ReadPayload] if the row is missing.
var ErrNoPayload = errors.New("is missing")

// ReadPayload reads the payload of a manual run that has its own. Its error wraps [ErrNoPayload] if the row is
// missing. It tries the key of the present layout first, and then that of the first release, whose rows a store may
// still have.
func ReadPayload(rows Rows, run job.RunID) (payload []byte, isJSON bool, err error) {
	for _, key := range [][]byte{job.AppendPayloadKey(nil, run), job.AppendOldPayloadKey(nil, run)} {
		value, ok, err := rows.Get(key)
		if err != nil {
			return nil, false, err
		}
		if ok {
			return job.DecodePayload(value)
		}
	}
	return nil, false, fmt.Errorf("payload of run %s %w", run, ErrNoPayload)
}
