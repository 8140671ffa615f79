package main

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

const rowAt = instant.Millis(1_764_576_000_000)

// everyRow is a commit with a row of each kind.
func everyRow() *job.Batch {
	def := job.Defaults()
	def.Tenant, def.Name, def.Schedules, def.Exclude = "default", "a", []string{"@daily", "@hourly"}, []string{"@calendar holidays"}
	run := job.RunID{Job: 7, At: rowAt}
	live := &job.Run{ID: run, Status: job.StatusRunning, Deadline: rowAt + 1, Stale: 2, Base: 1, Attempt: 2, Duration: time.Second}
	b := new(job.Batch)
	b.PutMeta("jobs", 1)
	b.PutProfile(3, job.Profile{Jitter: 5000, Retry: def.Retry})
	b.PutRecord(job.Stamp{ID: 7}, job.EncodeDefinition(&def))
	b.PutName("default", "a", 7)
	b.PutTimer(7, job.Timer{Profile: 3})
	b.PutRun(live)
	b.PutHistory(live)
	b.PutNote(7, job.Note{At: rowAt, Reason: "month end", By: "alice@ci"})
	b.PutOnce(job.Day(rowAt), "k", run)
	b.PutPayload(run, []byte("{}"), true)
	b.Put(job.AppendOldPayloadKey(nil, run), []byte{1, 1, '{', '}'})
	b.PutStreak(7, 4)
	b.PutDebt(7, []job.Debt{{From: rowAt, Last: rowAt + 60_000}})
	b.PutDead(job.HashTenant("default"), run)
	b.PutNotice(&job.Notice{ID: job.NoticeID{LSN: 9, Seq: 1}, Event: true, At: rowAt, Run: run, Status: job.StatusDead, Error: "no"})
	b.PutAudit(&job.AuditEntry{ID: job.AuditID{LSN: 9, Seq: 2}, At: rowAt, Actor: job.Actor{By: "alice@ci", From: "nats"}, Action: job.ActionPause, Tenant: "default", Name: "a", Job: 7, Detail: "month end"})
	b.PutCalendar(&job.Calendar{Tenant: "default", Name: "holidays", Exclude: []string{"2026-12-25", "2026-12-26"}, Version: 2, UpdatedAt: rowAt})
	b.PutLabel(job.HashLabel("default", job.Pair{Key: "team", Value: "billing"}), "a")
	b.PutTrait(job.HashTenant("default"), job.TraitPaused, 7)
	b.PutDeleted(8, deletedRecord(&def))
	return b
}

// deletedRecord returns the row of a job, which is kept when the job is deleted.
func deletedRecord(def *job.Definition) (record []byte) {
	var b job.Batch
	b.PutRecord(job.Stamp{ID: 8}, job.EncodeDefinition(def))
	_ = job.Changes(b.Bytes(), func(c job.Change) error {
		record = bytes.Clone(c.Value)
		return nil
	})
	return record
}

// TestDumpKnowsEveryKind decodes a row of each kind: none is shown in hex.
func TestDumpKnowsEveryKind(t *testing.T) {
	seen := make(map[job.Kind]string)
	err := job.Changes(everyRow().Bytes(), func(c job.Change) error {
		row := decodeRow(c)
		seen[job.Kind(c.Key[0])] = row.Kind + " " + row.Key + row.text()
		if row.Fields["undecoded"] != nil {
			t.Errorf("%s %s: %v", row.Kind, row.Key, row.Fields)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for kind := job.KindMeta; kind <= job.KindLast; kind++ {
		if seen[kind] == "" {
			t.Errorf("no row of kind %d is in the test", kind)
		}
	}
	if len(rowKinds) != int(job.KindLast) {
		t.Errorf("%d kinds are shown, want %d", len(rowKinds), job.KindLast)
	}
	for kind, want := range map[job.Kind]string{
		job.KindStreak:   "streak 0000000000007  runs=4",
		job.KindDebt:     "debt 0000000000007  ticks=2025-12-01T08:00:00.000Z/2025-12-01T08:01:00.000Z",
		job.KindDead:     "dead 0000000000007-1764576000000",
		job.KindTrait:    "trait paused 0000000000007",
		job.KindOutbox:   "outbox 9-1  run_id=0000000000007-1764576000000  at=2025-12-01T08:00:00.000Z  status=dead  attempt=0  fence=0  error=no  event=true",
		job.KindAudit:    `audit 9-2  at=2025-12-01T08:00:00.000Z  action=pause  by=alice@ci  from=nats  tenant=default  name=a  job=0000000000007  detail="month end"  before_bytes=0  after_bytes=0`,
		job.KindCalendar: `calendar default holidays  version=2  exclude="2026-12-25\n2026-12-26"  updated_at=2025-12-01T08:00:00.000Z`,
	} {
		if seen[kind] != want {
			t.Errorf("got  %s\nwant %s", seen[kind], want)
		}
	}
}

// TestDumpOfBrokenRows truncates every row: the dump shows what is wrong and the rest of the log.
func TestDumpOfBrokenRows(t *testing.T) {
	err := job.Changes(everyRow().Bytes(), func(c job.Change) error {
		for n := range c.Value {
			decodeRow(job.Change{Op: c.Op, Key: c.Key, Value: c.Value[:n]})
		}
		for n := 1; n < len(c.Key); n++ {
			decodeRow(job.Change{Op: c.Op, Key: slices.Clone(c.Key[:n]), Value: c.Value})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
