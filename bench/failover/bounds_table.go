package main

import "time"

// Bounds in common.
const (
	// takeoverMost is for a leader whose death NATS sees: half a second of grace, and room for a busy machine.
	takeoverMost = int64(3 * time.Second)
	// silenceMost is for a leader that stands still, or is cut off without a word. cutMost is for one whose renewals
	// may still arrive for a moment.
	silenceMost = int64(4 * time.Second)
	cutMost     = int64(5 * time.Second)
	// officeMost is for a leader that hands over: 0.1 s on an idle machine.
	officeMost = int64(2 * time.Second)
	// serveMost is how long clients may have to wait: for a takeover, or while NATS elects, and for requests that got
	// lost to time out.
	serveMost = int64(15 * time.Second)
	// graceMost is what is launched within one grace, at 400 runs a second, and room for a busy machine. The clients send
	// their next request when they have a reply, so a faster machine has more jobs due in a second: a quiet one of two
	// cores has some 320, with peaks above.
	graceMost = 300
	// missingMost is of the 200 ticks of an overlap policy.
	missingMost = 5
	// ledMost is how long the shards of a killed node may acknowledge nothing, and memberMost the same if its NATS server
	// dies with it. otherMost is for the shards of the other nodes.
	ledMost    = int64(1500 * time.Millisecond)
	memberMost = int64(9 * time.Second)
	otherMost  = int64(250 * time.Millisecond)
	// voteMost is for a NATS member that comes back after it heard nothing for some seconds: it calls an election in each
	// stream, which ends the leader's term, and cannot win. NATS elects within 9 s, and once more if votes were split.
	voteMost = int64(12 * time.Second)
)

// byElection is why bounds are missed. One that is kept since is printed as such; the reason goes when a busy machine
// keeps it, too, on both topologies.
const byElection = "the NATS server that is lost leads the log: Carillon outside NATS cannot know which server shares its machine, and NATS elects for 4 to 9 s"

// byBucket is why a bound is missed in a cluster of three nodes with two copies of a shard.
const byBucket = "the only standby of a shard dies with the server that leads the bucket of the leases: neither a promise nor a renewal can be had until NATS has elected, see decision 25"

// bounds are what is asked of the product. The figures are times in nanoseconds, or counts. A bound is what the
// product promises plus room for a busy machine, not what it was last measured to do, so that a slower machine does
// not fail a run. The members are scenario, topology, figure, the most of it, and why it is known to be missed.
var bounds = []bound{
	{"", "", duplicates, graceMost, ""},
	{"", "", farewells, 20, ""},
	{"", "", firstPut, serveMost, ""},
	{"", "", returnGap, officeMost, ""},
	{"sigstop-leader", embedded, returnGap, voteMost, ""},
	{"partition", embedded, returnGap, voteMost, ""},
	{"partition-out", embedded, returnGap, voteMost, ""},
	{"partition-in", embedded, returnGap, voteMost, ""},
	{"member-reset", "", returnGap, voteMost, ""},

	{"kill9-leader", "", firstLaunch, takeoverMost, ""},
	{"kill9-leader-and-member", embedded, firstLaunch, takeoverMost, ""},
	{"kill9-leader-and-member", outside, firstLaunch, takeoverMost, byElection},
	{"kill9-leader", "", ledGap, ledMost, ""},
	{"kill9-leader", "", otherGap, otherMost, ""},
	{"kill9-leader-and-member", "", ledGap, memberMost, ""},
	{"kill9-leader-and-member", "", otherGap, memberMost, ""},
	{"sigstop-leader", "", firstLaunch, silenceMost, ""},
	{"sigstop-leader", "", ledGap, cutMost, ""},
	{"sigstop-leader", outside, farewells, 0, ""}, // with NATS embedded, what it had sent lies in the sockets of its server
	{"sigterm-leader", "", ledGap, officeMost, ""},
	{"sigterm-leader", "", otherGap, otherMost, ""},
	{"sigterm-leader", "", firstLaunch, officeMost, ""},
	{"handover", "", firstLaunch, officeMost, ""},
	{"handover", "", duplicates, 0, ""},
	{"rolling-restart", "", lateness, int64(300 * time.Millisecond), ""},
	{"rolling-restart", "", duplicates, 0, ""},
	{"rolling-restart", "", firstPut, int64(time.Minute), ""}, // it takes as long as the restarts
	{"kill9-standby", "", epochs, 0, ""},
	{"nats-leader", "", missing, missingMost, ""},
	{"nats-leader", "", epochs, 0, ""},
	{bucketLeader, "", missing, missingMost, byBucket},
	{bucketLeader, "", epochs, 0, ""},

	{"partition", "", firstLaunch, cutMost, ""},
	{"partition", "", duplicates, graceMost, ""},
	{"partition-out", "", firstLaunch, cutMost, ""},
	{"partition-out", "", duplicates, graceMost, ""},
	{"partition-in", "", firstLaunch, cutMost, ""},
	{"partition-in", "", duplicates, graceMost, ""},
	{"partition-reset", "", firstLaunch, takeoverMost, ""},
	{"member-reset", embedded, firstLaunch, takeoverMost, ""},
	{"member-reset", outside, firstLaunch, takeoverMost, byElection},
	{"member-reset", outside, firstPut, serveMost, byElection},
	{"member-reset", "", lastFarewell, int64(500 * time.Millisecond), ""},
	{"link-cut", "", epochs, 0, ""},
	{"bucket-deleted", "", epochs, 0, ""},
	{"bucket-deleted", "", duplicates, 0, ""},
	{"bucket-deleted", "", lateness, int64(300 * time.Millisecond), ""},
	{"mistaken-data", "", epochs, 0, ""},
	{"forgotten-name", "", epochs, 0, ""},
	{"replaced-process", "", firstLaunch, silenceMost, ""},
	{"delay-loss", "", epochs, 1, ""},
	{"rotate-certificates", "", epochs, 0, ""},
	{"rotate-certificates", "", duplicates, 0, ""},
	{"rotate-certificates", "", firstPut, int64(10 * time.Minute), ""}, // it takes as long as the rotations
	{"hangups", "", epochs, 0, ""},
	{"hangups", "", duplicates, 0, ""},
	{"hangups", "", firstPut, int64(5 * time.Minute), ""}, // it takes as long as the signals
	{"server-silent", "", duplicates, 1000, ""},           // what was written to the silent server arrives when it is back
}
