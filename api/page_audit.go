package api

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// auditPage is a [client.AuditPage]. Its definitions are encoded without reflection, as everywhere. The fields
// agree with those of that type member by member; only definitions are already text.
type auditPage struct {
	Entries    []auditEntry `json:"entries"`
	NextCursor string       `json:"next_cursor,omitempty"`
	query      query
}

// auditEntry is a [client.AuditEntry]. place is where a page that ends with this entry continues. The members are
// in the order of the documentation.
type auditEntry struct {
	ID      string         `json:"id"`
	At      client.Time    `json:"at"`
	By      string         `json:"by"`
	Claimed string         `json:"claimed_by,omitempty"`
	From    string         `json:"from"`
	Action  string         `json:"action"`
	Name    string         `json:"name"`
	JobID   string         `json:"job_id"`
	Detail  string         `json:"detail"`
	Before  jsontext.Value `json:"before,omitzero"`
	After   jsontext.Value `json:"after,omitzero"`

	// place is not encoded.
	place scheduler.AuditPlace
}

// auditEntriesOf encodes entries. One that cannot be decoded fails the whole page: an audit log with gaps that are
// not shown would be worse than an error.
func (x *Executor) auditEntriesOf(entries []job.AuditEntry, sees sight) ([]auditEntry, error) {
	list := make([]auditEntry, len(entries))
	for i := range entries {
		var err error
		if list[i], err = auditEntryOf(&entries[i], sees); err != nil {
			return nil, err
		}
		list[i].ID = x.auditIDOf(entries[i].ID)
	}
	return list, nil
}

// bytes returns the approximate encoded size of an entry.
func (e *auditEntry) bytes() int {
	const usual = 250
	return usual + len(e.Claimed) + len(e.Name) + len(e.Detail) + len(e.Before) + len(e.After)
}

// shrink implements page.
func (p *auditPage) shrink() bool {
	if !half(&p.Entries) {
		return false
	}
	p.NextCursor = p.query.cursor(auditKey(p.Entries[len(p.Entries)-1].place))
	return true
}

// auditEntryOf encodes an entry for callers.
func auditEntryOf(e *job.AuditEntry, sees sight) (auditEntry, error) {
	entry := auditEntry{
		ID: auditID(e.ID), At: timeOf(e.At), By: e.Actor.By, Claimed: e.Actor.Claimed, From: e.Actor.From,
		Action: e.Action.String(), Name: e.Name, Detail: sees.detail(e.Detail),
		place: scheduler.AuditPlace{Day: job.Day(e.At), ID: e.ID},
	}
	if e.Job != 0 {
		entry.JobID = e.Job.String()
	}
	if err := entry.define(e, sees); err != nil {
		return entry, fmt.Errorf("audit entry %s: %w", entry.ID, err)
	}
	return entry, nil
}

// define encodes the definitions of an entry, masked, because entries that the first release wrote contain
// credentials. Masking what is masked already changes nothing.
func (e *auditEntry) define(from *job.AuditEntry, sees sight) error {
	var before, after job.Definition
	var err error
	if len(from.Before) > 0 {
		if before, err = job.DecodeAuditDefinition(from.Before); err != nil {
			return err
		}
		e.Before = definitionText(sees.definition(before.Masked()))
	}
	if len(from.After) > 0 {
		if after, err = job.DecodeAuditDefinition(from.After); err != nil {
			return err
		}
		e.After = definitionText(sees.definition(after.MaskedAfter(&before)))
	}
	return nil
}

// definitionText encodes a definition in the form of a [client.Job]. The payload is left out: an entry shows what
// changed about a job, and two payloads for each entry would fill the page.
func definitionText(d job.Definition) jsontext.Value {
	return append(appendDefinition([]byte{'{'}, &d, false), '}')
}

// auditID returns the id of an entry as callers see it: the LSN and the number within the commit. The numbers alone
// are unique in a shard: an LSN belongs to one commit.
func auditID(id job.AuditID) string { return fmt.Sprintf("%d-%d", id.LSN, id.Seq) }

// auditKey is the place of an entry in a cursor: the day and the id of the entry. The day is in it because rows of
// the audit log are kept by day; without it the engine would have to search for the entry.
func auditKey(p scheduler.AuditPlace) string { return fmt.Sprintf("%d-%s", p.Day, auditID(p.ID)) }

// auditIDOf returns the id of an entry as callers see it. In a cluster of several shards it ends with the shard, because
// each shard counts its commits for itself.
func (x *Executor) auditIDOf(id job.AuditID) string {
	if x.opts.Shards > 1 {
		return auditID(id) + "-" + strconv.FormatUint(uint64(x.opts.Shard), 10)
	}
	return auditID(id)
}

// placeOfEntry returns the place of an entry of the audit log by its id, with or without a shard, and its time.
func placeOfEntry(id string, at time.Time) (p scheduler.AuditPlace, err error) {
	parts := strings.SplitN(id, "-", 3)
	if len(parts) < 2 {
		return p, fmt.Errorf("the id %q of an entry", id)
	}
	lsn, err1 := strconv.ParseUint(parts[0], 10, 64)
	seq, err2 := strconv.ParseUint(parts[1], 10, 32)
	return scheduler.AuditPlace{Day: job.Day(instant.Of(at)), ID: job.AuditID{LSN: lsn, Seq: uint32(seq)}}, errors.Join(err1, err2)
}
