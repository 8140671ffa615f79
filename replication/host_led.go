package replication

import "time"

// voice is what the newest beat of a process says about a shard.
type voice struct {
	process, role string
	epoch         uint64
	isFresh       bool          // the process was heard just now
	sent          time.Time     // of that beat, by the clock of its process
	age           time.Duration // since it arrived
}

// voices returns what is known of the processes that have a shard.
func (h *Host) voices(shard uint32) (list []voice) {
	now := h.opts.Boot()
	if h.opts.Shards == 1 {
		for _, m := range h.all() {
			for _, p := range m.peers.all(now) {
				list = append(list, voice{p.Process, p.Role, p.Epoch, now-p.seen < beatFresh, p.Time.Time(), now - p.seen})
			}
		}
		return list
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range h.nodes {
		if s, has := n.of(shard); has {
			list = append(list, voice{n.beat.Process, s.Role, s.Epoch, n.fresh(now), n.beat.Time.Time(), now - n.seen})
		}
	}
	return list
}

// LedBy returns the process that leads a shard by the beats that are fresh; "" if none does. isSilent reports that the node that led
// last has not been heard since, and no other one has the commits of a later epoch: it may hang, or be dead.
func (h *Host) LedBy(shard uint32) (process string, isSilent bool) {
	var led, silent, newest uint64 // epochs of: who leads, the silent leader, and all that is fresh
	for _, v := range h.voices(shard) {
		switch {
		case !v.isFresh:
			if v.role == RoleLeader {
				silent, isSilent = max(silent, v.epoch), true
			}
		default:
			newest = max(newest, v.epoch)
			if v.role == RoleLeader && (process == "" || v.epoch >= led) {
				process, led = v.process, v.epoch
			}
		}
	}
	return process, isSilent && process == "" && silent >= newest
}

// Hears reports whether a process that has a shard was heard just now. One that has ended is not heard any more.
func (h *Host) Hears(shard uint32, process string) bool {
	for _, v := range h.voices(shard) {
		if v.process == process {
			return v.isFresh
		}
	}
	return false
}

// ClockOf returns what the clock of a process shows now, at least, and until when by that clock this process hears it at least, if
// no further beat comes; zero times if it has not been heard.
func (h *Host) ClockOf(shard uint32, process string) (now, until time.Time) {
	for _, v := range h.voices(shard) {
		if v.process == process {
			return v.sent.Add(v.age), v.sent.Add(beatFresh)
		}
	}
	return now, until
}

// MayHang reports whether a process that led a shard when it was heard last is not heard any more, or one that may have begun to lead since
// its last beat, which is no longer ago than a lease. If it hangs, it is still one of those that get the requests for whoever leads the
// shard, until NATS takes it for gone.
func (h *Host) MayHang(shard uint32) bool {
	for _, v := range h.voices(shard) {
		if !v.isFresh && (v.role == RoleLeader || v.age < h.opts.Lease) {
			return true
		}
	}
	return false
}

// FollowedBy returns the processes that follow a shard by the beats that are fresh.
func (h *Host) FollowedBy(shard uint32) (processes []string) {
	for _, v := range h.voices(shard) {
		if v.role == RoleStandby && v.isFresh {
			processes = append(processes, v.process)
		}
	}
	return processes
}
