package history

import "time"

// The checks in this file are for promises that only a cluster can break.

// place is that of a commit in the logs of a cluster.
type place struct {
	shard int
	lsn   uint64
}

// checkLogs compares the logs of all nodes, shard by shard, wherever they overlap. Two nodes with different commits at
// one LSN have diverged: each of them could acknowledge what the other does not have.
func checkLogs(ix *index, f *Finding) {
	type named struct {
		Commit
		node string
	}
	seen := make(map[place]named)
	for _, l := range ix.Final.Logs {
		for i, c := range l.Commits {
			f.Examined++
			if i > 0 {
				ix.checkNext(&l, l.Commits[i-1], c, f)
			}
			at := place{l.Shard, c.LSN}
			other, ok := seen[at]
			if ok && other.Commit != c {
				f.fail("", "%sLSN %d is epoch %d, hash %s on %s, and epoch %d, hash %s on %s",
					ix.in(l.Shard), c.LSN, c.Epoch, c.Hash, l.Node, other.Epoch, other.Hash, other.node)
				break // all later commits differ as well
			}
			seen[at] = named{c, l.Node}
		}
	}
}

// checkNext checks two consecutive commits of a log: LSNs have no gap and epochs never fall.
func (ix *index) checkNext(l *Log, before, c Commit, f *Finding) {
	if c.LSN != before.LSN+1 {
		f.fail("", "%sthe log of %s goes from LSN %d to %d", ix.in(l.Shard), l.Node, before.LSN, c.LSN)
	}
	if c.Epoch < before.Epoch {
		f.fail("", "%son %s epoch %d at LSN %d follows epoch %d", ix.in(l.Shard), l.Node, c.Epoch, c.LSN, before.Epoch)
	}
}

// checkReigns checks that each fault which forces a takeover of a shard began a new epoch there, and that the logs have
// the epoch of each leadership that was seen, as far as they reach back. A fence from a leadership that has no epoch of
// its own could not protect a target from the older leader.
func checkReigns(ix *index, f *Finding) {
	for shard, reigns := range ix.reigns {
		ix.checkReignsOf(shard, reigns, f)
	}
}

// checkReignsOf checks the leaderships of one shard.
func (ix *index) checkReignsOf(shard int, reigns []Reign, f *Finding) {
	epochs := make(map[uint64]bool)
	for _, r := range reigns {
		epochs[r.Epoch] = true
	}
	for _, s := range ix.Starts {
		if s.Shard != shard {
			continue
		}
		f.Examined++
		if len(reigns) > 0 && s.Epoch >= reigns[0].Epoch && !epochs[s.Epoch] {
			f.fail("", "%sa node led under epoch %d at %s; no log has it", ix.in(shard), s.Epoch, s.Ready)
		}
		// A leadership that was seen counts even if no log reaches back to it.
		epochs[s.Epoch] = true
	}
	takeovers := 0
	for _, fault := range ix.Faults {
		if fault.Takeover && fault.hits(shard) {
			takeovers++
		}
	}
	if len(epochs) < takeovers+1 {
		f.fail("", "%sthere were %d epochs; %d takeovers make at least %d", ix.in(shard), len(epochs), takeovers, takeovers+1)
	}
}

// How much of an old leader's launches may still arrive after the new one has begun: those that were on
// their way to the targets.
const (
	// The time that a message may spend on its way to a target on a busy machine.
	farewellWait = 250 * time.Millisecond
	farewellsMax = 20 // of one leadership; a paused process sends these when it continues
)

// checkOldReigns looks for leaders that launch although a later one of the same shard has begun to launch. Deliveries that the network
// delayed do not count; those that a server held do, because the leader stood still with it. It identifies the leader of a delivery by its fence, so a process that was frozen and woke up
// cannot hide.
func checkOldReigns(ix *index, f *Finding) {
	type leadership struct{ shard, n int }
	late := make(map[leadership]int) // farewells of each
	for i := range ix.Deliveries {
		d := &ix.Deliveries[i]
		reigns := ix.reignsOf(d.Job)
		n := reignOf(reigns, d.Fence)
		f.Examined++
		// A delivery that is older than the logs, or that the network held, shows nothing about its leader.
		if n < 0 || ix.heldByNetwork(d) || !followed(reigns[n+1:], d.Arrived.Add(-farewellWait)) {
			continue
		}
		of := leadership{ix.shardOf(d.Job), n}
		if late[of]++; late[of] == farewellsMax+1 {
			f.fail(d.Job, "run %s of epoch %d arrived at %s, and %d others too after a later epoch had begun to launch",
				d.RunID, reigns[n].Epoch, d.Arrived, farewellsMax)
		}
	}
}

// followed reports whether one of the later leaders had launched something by an instant. A leader that has not
// launched anything yet proves nothing against the one before it.
func followed(later []Reign, by Instant) bool {
	for _, r := range later {
		if r.First != 0 && r.First <= by {
			return true
		}
	}
	return false
}

// checkCopies checks how often each run arrived. A further arrival is allowed after a refusal by the sink, after a
// fault, and for a delivery that was delayed. Delivery is at least once, yet each fault explains one further
// copy only.
func checkCopies(ix *index, f *Finding) {
	for _, name := range ix.names {
		for _, ds := range byRun(ix.deliveries[name]) {
			f.Examined++
			copies := 0
			for _, d := range ds {
				if !d.Refused && !ix.wasHeld(d) {
					copies++
				}
			}
			first, last := ds[0].Arrived, ds[len(ds)-1].Arrived
			if most := 1 + ix.faultsBetween(first, last); copies > most {
				f.fail(name, "run %s arrived %d times from %s to %s; %d is the most that faults explain", ds[0].RunID, copies, first, last, most)
			}
		}
	}
}

// faultsBetween returns the number of faults that may have had effects between two instants. A fault counts until
// shortly after it was healed, because outcomes that it prevented from being recorded show then.
func (ix *index) faultsBetween(first, last Instant) int {
	n := 0
	for _, f := range ix.Faults {
		if f.From <= last && f.Healed.Add(inFlightWindow) >= first {
			n++
		}
	}
	return n
}

// checkAcceptedRuns checks that each run that arrived is in a commit of the logs of its job's shard, as far as they reach
// back. A run that is in no log was launched by a leader whose commit the cluster did not accept, and could be
// launched again under another decision.
func checkAcceptedRuns(ix *index, f *Finding) {
	type accepted struct {
		shard int
		run   string
	}
	logged := make(map[accepted]bool)
	oldest := make(map[int]uint64) // LSN, by shard
	for _, l := range ix.Final.Logs {
		for id := range l.Runs {
			logged[accepted{l.Shard, id}] = true
		}
		if len(l.Commits) > 0 && (oldest[l.Shard] == 0 || l.Commits[0].LSN < oldest[l.Shard]) {
			oldest[l.Shard] = l.Commits[0].LSN
		}
	}
	for i := range ix.Deliveries {
		d := &ix.Deliveries[i]
		shard := ix.shardOf(d.Job)
		// Its commit is in the part of the log that checkpoints have removed.
		if oldest[shard] == 0 || d.Fence < oldest[shard] {
			continue
		}
		f.Examined++
		if !logged[accepted{shard, d.RunID}] {
			f.fail(d.Job, "run %s arrived at %s with fence %d; no node's log has it", d.RunID, d.Arrived, d.Fence)
		}
	}
}
