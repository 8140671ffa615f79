package scheduler

import (
	"errors"
	"fmt"

	"github.com/carillon-io/carillon/job"
)

// errNoPayload is wrapped by the error of readPayload if the row is missing.
var errNoPayload = errors.New("is missing")

// readPayload reads the payload of a manual run that has its own.
func readPayload(rows rowGetter, run job.RunID) (payload []byte, isJSON bool, err error) {
	for _, key := range [][]byte{job.AppendPayloadKey(nil, run), job.AppendOldPayloadKey(nil, run)} {
		value, ok, err := rows.Get(key)
		if err != nil {
			return nil, false, err
		}
		if ok {
			return job.DecodePayload(value)
		}
	}
	return nil, false, fmt.Errorf("payload of run %s %w", run, errNoPayload)
}
