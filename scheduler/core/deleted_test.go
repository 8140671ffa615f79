package core

import (
	"bytes"
	"testing"

	"github.com/carillon-io/carillon/job"
)

// TestSuccessorKeepsWhatLiveRunsNeed: a run is with its target when its job is deleted, and another leader takes over. It
// keeps the definition until the run has ended and its notice is published, though nothing waits meanwhile.
func TestSuccessorKeepsWhatLiveRunsNeed(t *testing.T) {
	h := newHerd(t)
	h.core.settings.Events = true
	h.put("tenant", "a", "@every 10s")
	h.now += 10_000
	list := h.step()
	run := list[0].Run
	h.stepWith(nil, &Delete{Tenant: "tenant", Name: "a", Hash: h.hasher.hash("tenant", "a"), Record: []byte{2}, Live: []job.RunID{run}})
	kept := func() bool { _, ok := h.core.deleted.byID[run.Job]; return ok }
	if !kept() {
		t.Fatal("the definition is not kept")
	}
	h.core.deleted = deletedJobs{}
	if err := h.core.takeDeleted(job.AppendJobKey(nil, job.KindDeleted, run.Job), []byte{job.RowsVersionOfDeleted, 2}); err != nil {
		t.Fatal(err)
	}
	h.core.lineUpDeleted()
	publish := func() {
		h.stepWith(nil, &Published{IDs: make([]job.NoticeID, h.core.outbox)})
	}
	if publish(); !kept() {
		t.Fatal("the definition is dropped, and the run is live")
	}
	h.stepWith([]job.Outcome{{Run: run, Attempt: 1}})
	if !kept() {
		t.Fatal("the definition is dropped, and the notice of the end waits")
	}
	if publish(); kept() || h.core.deleted.bytes != 0 {
		t.Errorf("the definition is kept for nothing; %d bytes", h.core.deleted.bytes)
	}
}

// TestDeleteInTheStepOfItsPut: a job is registered, or changed, and deleted in one step, so the proposer of the delete has not
// read the definition that the step has written. The step keeps that for the notices, and so does the audit log.
func TestDeleteInTheStepOfItsPut(t *testing.T) {
	for name, isNew := range map[string]bool{"registered": true, "changed": false} {
		t.Run(name, func(t *testing.T) {
			h := newHerd(t)
			h.core.settings.Events = true
			h.come("other", 1)
			h.now += 2000
			h.step() // a notice waits
			d := &Delete{Tenant: "tenant", Name: "a", Hash: h.hasher.hash("tenant", "a"), Keeps: true}
			if !isNew {
				h.put("tenant", "a", "@every 10s")
				d.Before, d.Record = []byte("as it was before"), []byte("as it was before")
			}
			p := h.newPut("tenant", "a", "@every 20s")
			h.step(p, d)
			if p.Err != nil || d.Err != nil || h.core.outbox == 0 {
				t.Fatal(p.Err, d.Err, h.core.outbox)
			}
			if want := job.AppendRecord(nil, p.Stamp, p.Definition); !bytes.Equal(d.Record, want) || h.core.deleted.bytes != len(want) {
				t.Errorf("kept is %q with %d bytes, want %q", d.Record, h.core.deleted.bytes, want)
			}
			if def, err := job.DecodeAuditDefinition(d.Before); err != nil || def.Schedule != "@every 20s" {
				t.Errorf("the audit log has %q before the deletion: %v", d.Before, err)
			}
		})
	}
}
