package api

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// auditPage is a [client.AuditPage]. The definitions are written by hand, as everywhere.
type auditPage struct {
	Entries    []auditEntry `json:"entries"`
	NextCursor string       `json:"next_cursor,omitempty"`
	query      query
}

// auditEntry is a [client.AuditEntry].
type auditEntry struct {
	ID     string         `json:"id"`
	At     client.Time    `json:"at"`
	By     string         `json:"by"`
	From   string         `json:"from"`
	Action string         `json:"action"`
	Name   string         `json:"name"`
	JobID  string         `json:"job_id"`
	Detail string         `json:"detail"`
	Before jsontext.Value `json:"before,omitzero"`
	After  jsontext.Value `json:"after,omitzero"`

	place scheduler.AuditPlace
}

func (p *auditPage) fill(got *scheduler.AuditPage) error {
	p.Entries = make([]auditEntry, len(got.Entries))
	for i := range got.Entries {
		var err error
		if p.Entries[i], err = auditEntryOf(&got.Entries[i]); err != nil {
			return err
		}
	}
	if got.Next != (scheduler.AuditPlace{}) {
		p.NextCursor = p.query.cursor(auditKey(got.Next))
	}
	return nil
}

func (p *auditPage) shrink() bool {
	if !half(&p.Entries) {
		return false
	}
	p.NextCursor = p.query.cursor(auditKey(p.Entries[len(p.Entries)-1].place))
	return true
}

func auditEntryOf(e *job.AuditEntry) (auditEntry, error) {
	entry := auditEntry{
		ID: auditID(e.ID), At: timeOf(e.At), By: e.Actor.By, From: e.Actor.From,
		Action: e.Action.String(), Name: e.Name, Detail: e.Detail,
		place: scheduler.AuditPlace{Day: job.Day(e.At), ID: e.ID},
	}
	if e.Job != 0 {
		entry.JobID = e.Job.String()
	}
	var err error
	if entry.Before, err = auditDefinition(e.Before); err == nil {
		entry.After, err = auditDefinition(e.After)
	}
	if err != nil {
		err = fmt.Errorf("audit entry %s: %w", entry.ID, err)
	}
	return entry, err
}

// auditDefinition writes a definition as the owner of the job would.
func auditDefinition(encoded []byte) (jsontext.Value, error) {
	if len(encoded) == 0 {
		return nil, nil
	}
	d, err := job.DecodeAuditDefinition(encoded)
	return append(appendDefinition([]byte{'{'}, &d, false), '}'), err
}

func auditID(id job.AuditID) string { return fmt.Sprintf("%d-%d", id.LSN, id.Seq) }

// auditKey is the place of an entry as cursors have it: the day, and the entry's id.
func auditKey(p scheduler.AuditPlace) string { return fmt.Sprintf("%d-%s", p.Day, auditID(p.ID)) }
