package main

import (
	"fmt"

	"github.com/carillon-io/carillon/wal"
)

// walStore is the JSON of the store beside a log.
type walStore struct {
	LSN   uint64 `json:"applied_lsn"`    // of the last commit that it has applied
	Error string `json:"error,omitzero"` // why it cannot be read
}

// newWalStore returns the results of datadir.VerifyStoreBeside as JSON; nil if there is no store. A store that cannot be
// read is reported and not an error, because the log can be judged without it. One with a damaged table has a position.
func newWalStore(applied *wal.Position, unread error) *walStore {
	switch {
	case unread != nil && applied != nil:
		return &walStore{LSN: applied.LSN, Error: explain(unread)}
	case unread != nil:
		return &walStore{Error: explain(unread)}
	case applied != nil:
		return &walStore{LSN: applied.LSN}
	default:
		return nil
	}
}

// text returns the state of the store for people.
func (s *walStore) text() string {
	switch {
	case s == nil:
		return "none beside the log, which is judged alone"
	case s.Error != "" && s.LSN > 0:
		return fmt.Sprintf("at LSN %d, and %s", s.LSN, s.Error)
	case s.Error != "":
		return "cannot be read, and the log is judged alone: " + s.Error
	default:
		return fmt.Sprintf("at LSN %d", s.LSN)
	}
}
