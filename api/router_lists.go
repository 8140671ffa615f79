package api

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/job"
)

// requestOf reads a request with the members of its verb, so that the router refuses what a leader refuses.
func requestOf[T any](q *Request, members object[T]) (*T, error) {
	var req T
	err := read(q.Body, func(r *reader) error { return members.read(r, &req) })
	return &req, err
}

// listJobs merges the lists of the shards by the names of the jobs. The cursor is the last name, which is a place in
// each of the lists.
func (r *router) listJobs(ctx context.Context, v *Verb, q *Request) (Reply, error) {
	req, err := requestOf(q, listMembers)
	if err == nil {
		err = req.check()
	}
	if err != nil {
		return Reply{}, err
	}
	req.Tenant = q.Tenant
	return r.merge(ctx, v, q, &mergedList{
		member: "jobs", asked: req.asked(), limit: req.Limit, cursor: req.cursor, isPartial: req.isPartial,
		entry: func(_ uint32, raw jsontext.Value) (mergedEntry, bool, error) {
			name, _ := findText(raw, "name")
			return mergedEntry{text: raw, sort: name, key: name}, true, job.ValidateName(name)
		},
		sortOf: func(name string) (string, error) { return name, nil },
	})
}

// listRuns merges the dead runs of the shards. Their order is that of their scheduled times and then of their ids, which
// are those of one cluster: the cursor is the last run, which is a place in each of the lists.
func (r *router) listRuns(ctx context.Context, v *Verb, q *Request) (Reply, error) {
	req, err := requestOf(q, runListMembers)
	if err == nil {
		err = checkRunQuery(&req.RunQuery, req.Status == job.StatusDead)
	}
	if err != nil {
		return Reply{}, err
	}
	req.Tenant = q.Tenant
	return r.merge(ctx, v, q, &mergedList{
		member: "runs", asked: req.asked(), limit: req.Limit, cursor: req.cursor, isPartial: req.isPartial,
		entry: func(_ uint32, raw jsontext.Value) (mergedEntry, bool, error) {
			id, _ := findText(raw, "run_id")
			sort, err := sortOfRun(id)
			return mergedEntry{text: raw, sort: sort, key: id}, true, err
		},
		sortOf: sortOfRun,
	})
}

// sortOfRun returns the place of a dead run in the order of the engine.
func sortOfRun(id string) (string, error) {
	run, err := job.ParseRunID(id)
	return string(job.AppendDeadPlace(nil, run)), err
}

// listAudit merges the audit logs of the shards by the times of their entries. An entry is found by the number of its
// commit, which each shard counts for itself, so the cursor has the place of each shard.
func (r *router) listAudit(ctx context.Context, v *Verb, q *Request) (Reply, error) {
	req, err := requestOf(q, auditMembers)
	if err == nil {
		err = checkAudit(req)
	}
	if err != nil {
		return Reply{}, err
	}
	req.Tenant = q.Tenant
	return r.merge(ctx, v, q, &mergedList{
		member: "entries", asked: req.asked(), limit: req.Limit, cursor: req.cursor, isPartial: req.isPartial, entry: mergedAudit,
	})
}

// mergedAudit returns the place of an entry of the audit log. Calendars are put into all shards, and only what the first
// one says about them is shown.
func mergedAudit(shard uint32, raw jsontext.Value) (e mergedEntry, isShown bool, err error) {
	var entry struct {
		ID     string    `json:"id"`
		At     time.Time `json:"at"`
		Action string    `json:"action"`
	}
	if err := decode(raw, &entry); err != nil {
		return e, false, err
	}
	place, err := placeOfEntry(entry.ID, entry.At)
	e = mergedEntry{text: raw, key: auditKey(place)}
	e.sort = string(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, ^uint64(entry.At.UnixMilli())), shard))
	place.ID.Seq++ // the place behind which the entry itself is the next one
	e.before = auditKey(place)
	isCopy := shard > 0 && (entry.Action == job.ActionPutCalendar.String() || entry.Action == job.ActionDeleteCalendar.String())
	return e, !isCopy, err
}
