package history

// fault is a breach of a promise, planted in a clean history.
type fault struct {
	name   string
	finder string // the check that must find it
	plant  func(*story)
}

var faults = []fault{
	{"a registration is lost", "registrations", func(s *story) { s.forgetJob("shot") }},
	{"a job that nobody registered", "registrations", func(s *story) { s.final("ghost", 1, "active", 1) }},
	{"a delete is forgotten", "deletes", func(s *story) { s.final("gone", s.marks["gone"], "active", 1) }},
	{"a refused put took effect", "deletes", func(s *story) { s.final("nobody", s.marks["nobody"], "active", 1) }},
	{"an update is lost", "definitions", func(s *story) { s.final("moved", s.marks["moved"]-1, "completed", 2) }},
	{"a version fell back", "definitions", func(s *story) { s.final("moved", s.marks["moved"], "completed", 1) }},
	{"a pause is forgotten", "pauses", func(s *story) { s.final("rest", s.marks["rest"], "active", 2) }},
	{"a run is launched in a pause", "pauses", func(s *story) {
		s.deliver("rest", "request", s.marks["rest"], 5100, 5110)
	}},
	{"a run is listed in a pause", "pauses", func(s *story) { s.run("rest", 5100, "running") }},

	{"an acknowledged job is not found", "replies", func(s *story) {
		s.op(opGet, "shot", 6000, 6001, refused).Code = codeNotFound
	}},
	{"a deleted job is seen again", "replies", func(s *story) {
		s.op(opGet, "gone", 6000, 6001, acked).Seen = &JobState{Mark: s.marks["gone"], Status: "active"}
	}},
	{"a read shows an old definition", "replies", func(s *story) {
		s.op(opGet, "moved", 6000, 6001, acked).Seen = &JobState{Mark: s.marks["moved"] - 1, Status: "active"}
	}},
	{"a version is given twice", "replies", func(s *story) {
		mark := s.put("moved", 6000, 2, Spec{Kind: oneShot, Due: ms(3000), Target: "nats"})
		s.final("moved", mark, "completed", 2)
	}},
	{"a put is refused without a reason", "refusals", func(s *story) {
		s.op(opPause, "shot", 500, 501, refused).Code = "quota_exceeded"
	}},
	{"a conflict with nobody", "refusals", func(s *story) {
		op := s.op(opPut, "shot", 500, 501, refused)
		op.Code, op.Spec = codeConflict, &Spec{Kind: oneShot, Due: ms(1000), Target: "nats"}
	}},
	{"the server failed inside", "refusals", func(s *story) {
		s.op(opPause, "tick", 500, 501, unknown).Code = "internal: oops"
	}},

	{"a one-shot never fires", "one-shots", func(s *story) {
		s.forgetDeliveries("shot")
		s.forgetRun("shot", 1000)
	}},
	{"a one-shot is skipped", "one-shots", func(s *story) {
		s.forgetDeliveries("shot")
		s.find("shot", 1000).Status, s.find("shot", 1000).Reason = "skipped", "missed"
	}},
	{"a one-shot is superseded though its instant never changed", "one-shots", func(s *story) {
		s.forgetDeliveries("shot")
		s.find("shot", 1000).Status, s.find("shot", 1000).Reason = "skipped", "superseded"
	}},
	{"a one-shot is skipped for a pause long after it was due", "one-shots", func(s *story) {
		s.forgetDeliveries("shot")
		s.find("shot", 1000).Status, s.find("shot", 1000).Reason = "skipped", "paused"
		s.op(opPause, "shot", 3000, 3001, acked)
		s.op(opResume, "shot", 3100, 3101, acked)
	}},
	{"a one-shot succeeds and never arrives", "one-shots", func(s *story) { s.forgetDeliveries("kept") }},
	{"a tick is lost", "ticks", func(s *story) { s.forgetRun("tick", 3600) }},
	{"the ticks stop", "ticks", func(s *story) {
		for _, due := range []int{8600, 9600, 10600} {
			s.forgetRun("tick", due)
		}
	}},
	{"the first tick is late", "ticks", func(s *story) { s.forgetRun("tick", 600) }},
	{"a tick lies off the grid", "ticks", func(s *story) { s.run("tick", 3700, "succeeded") }},
	{"a tick is decided twice", "ticks", func(s *story) { s.run("tick", 6600, "succeeded") }},
	{"a range fits no ticks", "ticks", func(s *story) { s.find("tick", 5600).Until = ms(7700) }},
	{"a run hangs", "runs", func(s *story) { s.find("tick", 2600).Status = "retrying" }},
	{"a run is listed twice", "runs", func(s *story) { s.run("tick", 2600, "pending") }},
	{"a run dies", "runs", func(s *story) { s.find("tick", 2600).Status = "dead" }},
	{"a delivery of no run", "receipts", func(s *story) { s.forgetRun("shot", 1000) }},
	{"a delivery of no run, of a job that was put and only then deleted", "receipts", func(s *story) {
		mark := s.put("late", 6000, 1, Spec{Kind: oneShot, Due: ms(6500), Target: "nats"})
		s.deliver("late", "nats", mark, 6500, 6501)
		s.op(opDelete, "late", 7000, 0, unknown) // so a job that is there was never deleted
		s.final("late", mark, "completed", 1)
	}},
	{"a success that never arrived", "receipts", func(s *story) { s.forgetDeliveries("rest") }},
	{"a skipped run arrives", "receipts", func(s *story) {
		s.deliver("tick", "nats", s.marks["tick"], 5600, 5601)
	}},

	{"a tick has two run ids", "identity", func(s *story) {
		s.deliver("tick", "nats", s.marks["tick"], 4600, 5120).RunID = "another"
	}},
	{"a tick is listed under another id", "identity", func(s *story) { s.find("tick", 4600).ID = "another" }},
	{"two ticks share a run id", "identity", func(s *story) { s.delivery("tick", 3600).RunID = runID("tick", 2600) }},
	{"a delivery is early", "never early", func(s *story) { s.delivery("shot", 1000).Arrived = ms(1000) - 1 }},
	{"a delivery lacks its headers", "schedule", func(s *story) { s.delivery("shot", 1000).Fence = 0 }},
	{"a delivery of a refused put", "schedule", func(s *story) {
		s.deliver("nobody", "nats", len(s.ops), 6000, 6001).Mark = s.opOf("nobody").ID
	}},
	{"a delivery of a tick nobody asked for", "schedule", func(s *story) {
		s.deliver("shot", "nats", s.marks["shot"], 1500, 1501)
	}},
	{"a delivery to another target", "schedule", func(s *story) { s.delivery("shot", 1000).Target = "http" }},
	{"a payload of another job", "schedule", func(s *story) { s.delivery("shot", 1000).Mark = s.marks["moved"] }},
	{"a tick of a replaced definition", "no stale run", func(s *story) {
		s.deliver("moved", "nats", s.marks["moved"]-1, 2000, 2001)
	}},
	{"a tick of a replaced definition brings the new one", "no stale run", func(s *story) {
		s.deliver("moved", "nats", s.marks["moved"], 2000, 2001)
	}},
	{"a deleted job fires", "no stale run", func(s *story) {
		s.deliver("gone", "nats", s.marks["gone"], 8000, 8001)
	}},
	{"an attempt falls back", "attempts", func(s *story) {
		s.deliver("again", "request", s.marks["again"], 1500, 1600).Refused = true
	}},
	{"a fence falls", "attempts", func(s *story) {
		s.deliver("tick", "nats", s.marks["tick"], 4600, 5120).Fence = 1
	}},
	{"a fence does not grow with the attempt", "attempts", func(s *story) {
		s.lastOf("again", 2).Fence = s.lastOf("again", 1).Fence
	}},
	{"a duplicate without a reason", "duplicates", func(s *story) {
		s.deliver("shot", "nats", s.marks["shot"], 1000, 1200)
	}},
	{"a duplicate long after the kill", "duplicates", func(s *story) {
		s.deliver("tick", "nats", s.marks["tick"], 3600, 5120)
	}},
	{"a run is twice in the stream", "stream", func(s *story) {
		s.deliver("kept", "jetstream", s.marks["kept"], 3000, 3002)
	}},
	{"a key is two runs", "triggers", func(s *story) {
		op := s.op(opTrigger, "hand", 900, 901, acked)
		op.Key, op.RunID = "k", "hand@900"
	}},
	{"a key arrives as two runs", "triggers", func(s *story) {
		op := s.op(opTrigger, "hand", 900, 0, unknown)
		op.Key = "k"
		s.deliver("hand", "http", op.ID, 900, 901)
	}},
	{"a trigger is lost", "manual runs", func(s *story) { s.forgetRun("hand", 700) }},
	{"a run that nobody triggered", "manual runs", func(s *story) {
		s.h.Final.Runs["hand"] = append(s.h.Final.Runs["hand"], Run{ID: "x", Scheduled: ms(950), Status: "succeeded", Manual: true})
	}},
	{"an epoch comes twice", "epochs", func(s *story) { s.h.Starts[1].Epoch = 1 }},
	{"the log went back", "epochs", func(s *story) { s.h.Readings[1].LSN = 39 }},
	{"the server died by itself", "process", func(s *story) { s.h.Surprises = []string{"it is gone"} }},
	{"the log is damaged", "log", func(s *story) { s.h.Final.Log = "wal verify: exit status 1" }},
}

// opOf returns the first request about a job.
func (s *story) opOf(job string) *Op {
	for _, op := range s.ops {
		if op.Job == job {
			return op
		}
	}
	return nil
}

// lastOf returns the delivery of a job with an attempt number.
func (s *story) lastOf(job string, attempt int) *Delivery {
	for i := range s.h.Deliveries {
		if d := &s.h.Deliveries[i]; d.Job == job && d.Attempt == attempt {
			return d
		}
	}
	return nil
}
