package worker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/job"
)

// order is the payload of a job: what `carillon import --crontab` writes. Its names are a contract.
type order struct {
	Command string            `json:"command"`
	Stdin   string            `json:"stdin"`
	User    string            `json:"user"` // "": that of the allow file
	Env     map[string]string `json:"env"`
}

// delivery is one attempt of a run, as it arrives.
type delivery struct {
	runID, job           string
	fence                uint64
	attempt, scheduledAt string // for the command's environment alone
	order                order
}

// readDelivery reads a message. Its error says what would be right; the same message would fail again.
func readDelivery(m *nats.Msg) (*delivery, error) {
	d := &delivery{
		runID: m.Header.Get("Carillon-Run-Id"), job: m.Header.Get("Carillon-Job"),
		attempt: m.Header.Get("Carillon-Attempt"), scheduledAt: m.Header.Get("Carillon-Scheduled-At"),
	}
	var err error
	if d.fence, err = strconv.ParseUint(m.Header.Get("Carillon-Fence"), 10, 64); err != nil || d.fence == 0 {
		return nil, errors.New("the header Carillon-Fence is no fence; want the delivery of a run")
	}
	if _, err := job.ParseRunID(d.runID); err != nil {
		return nil, fmt.Errorf("the header Carillon-Run-Id: %w", err)
	}
	if err := job.ValidateName(d.job); err != nil {
		return nil, fmt.Errorf("the header Carillon-Job: %w", err)
	}
	if err := decodeOrder(m.Data, &d.order); err != nil {
		return nil, fmt.Errorf(`the payload is not {"command", "stdin", "user", "env"}, as 'carillon import --crontab' makes it: %w`, err)
	}
	for _, text := range []string{d.attempt, d.scheduledAt} {
		if strings.ContainsRune(text, 0) {
			return nil, errors.New("a header has a zero byte")
		}
	}
	return d, nil
}

// decodeOrder reads a payload strictly: a member that it does not know may be one that the job relies on.
func decodeOrder(text []byte, to *order) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(to); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the object")
	}
	if to.Command == "" {
		return errors.New("the command is missing")
	}
	return nil
}
