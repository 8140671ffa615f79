package bus

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
)

// What a cluster requires of NATS.
const (
	// It is also the default of NATS (max_payload), so that servers with their default suffice.
	payloadMin = 1 << 20 // a commit of a megabyte is one message
	// The oldest release with which the tests of a cluster run; an older one is a warning and not an error, because it
	// may work.
	versionMajorMin = 2
	versionMinorMin = 12
)

// MembersWanted is how many servers with JetStream a cluster needs to survive the loss of one. Two do not suffice:
// when one dies, the other is no majority.
const MembersWanted = 3

// Facts is what this process knows about the NATS servers of a cluster. It is a value, without a connection to what it
// describes: [Surroundings.Facts] reads it anew each time.
type Facts struct {
	Servers []serverFacts // sorted by name; at least the server of the connection
	// An ordinary account cannot read it, so a cluster must be able to run without it.
	Members    int   // number of servers with JetStream; 0: unknown
	Clustered  bool  // the server of the connection has peers
	PayloadMax int64 // bytes
	NATSSyncs  bool  // the operator declares that the servers sync (--nats-syncs)
}

// serverFacts are the relevant settings of one server.
type serverFacts struct {
	Name    string
	Version string
	Sync    syncing
}

// syncing says when a server acknowledges what it stores.
type syncing int

// The zero value is the unknown one, because a server whose answer lacks the setting must not count as safe.
const (
	syncUnknown syncing = iota // unknown: an ordinary account cannot read the setting
	syncLate                   // before it is on disk
	syncAlways
)

// Check examines the NATS servers. It returns warnings about what is weaker than promised, each with its
// remedy, and an error if the servers cannot carry a cluster.
func (b *Bus) Check(ctx context.Context, nc *nats.Conn) ([]string, error) {
	f, err := b.facts(ctx, nc)
	if err == nil {
		err = f.Validate()
	}
	if err != nil {
		return nil, err
	}
	return f.warnings(), nil
}

// Validate returns an error if the servers cannot carry a cluster. Everything else is a warning: an operator may know
// better, and a cluster that runs must not stop at a restart because a server was upgraded late.
func (f Facts) Validate() error {
	if f.PayloadMax < payloadMin {
		return fmt.Errorf("NATS takes messages of at most %d bytes, and a commit of a cluster may have %d; set max_payload to at least %d, better %d",
			f.PayloadMax, payloadMin, payloadMin, maxPayload)
	}
	return nil
}

// Replicas returns how many servers are to keep the log: the configured number; otherwise three if there are three or
// if their number is unknown in a NATS cluster; otherwise one. A NATS cluster of unknown size gets three, because too
// many fails visibly at the creation of the stream, while too few would lose the log with one server.
func (f Facts) Replicas(wanted int) int {
	switch {
	case wanted != 0:
		return wanted
	case f.Members >= MembersWanted || (f.Members == 0 && f.Clustered):
		return MembersWanted
	}
	return 1
}

// warnings returns what is weaker than promised. How many replicas the streams have, replication judges.
func (f Facts) warnings() []string {
	var all []string
	for _, w := range []string{f.warnMembers(), f.warnSync(), f.warnVersions()} {
		if w != "" {
			all = append(all, w)
		}
	}
	return all
}

func (f Facts) warnMembers() string {
	switch {
	case f.Members == 2:
		return "NATS has two servers with JetStream: when either dies, the other serves nothing and the cluster stands still; " +
			"add a third, for which a witness will do (carillon serve --witness)"
	case f.Members == 1 || (f.Members == 0 && !f.Clustered):
		return "NATS has one server with JetStream: when it dies, the cluster stands still whatever node leads; run three, and --replicas 3"
	}
	return ""
}

// A known late sync is reported even if the operator has declared the opposite: what a server says about itself is the
// better evidence.
func (f Facts) warnSync() string {
	const what = "set jetstream { sync_interval: always } there, or power that fails several of them at once may take what the next leader needs"
	if late := f.names(func(s serverFacts) bool { return s.Sync == syncLate }); late != "" {
		return fmt.Sprintf("NATS servers acknowledge what they have not synced to disk (%s): %s", late, what)
	}
	if f.NATSSyncs {
		return ""
	}
	if unknown := f.names(func(s serverFacts) bool { return s.Sync == syncUnknown }); unknown != "" {
		return fmt.Sprintf("it cannot be seen from here whether NATS servers sync to disk what they acknowledge (%s, and their peers): unless it is so, %s", unknown, what)
	}
	return ""
}

func (f Facts) warnVersions() string {
	old := f.names(func(s serverFacts) bool { return isOld(s.Version) })
	if old == "" {
		return ""
	}
	return fmt.Sprintf("NATS servers are older than %d.%d, with which a cluster is not tested (%s): upgrade them", versionMajorMin, versionMinorMin, old)
}

// names returns the names of servers with their versions.
func (f Facts) names(which func(serverFacts) bool) string {
	var all []string
	for _, s := range f.Servers {
		if which(s) {
			all = append(all, s.Name+" "+s.Version)
		}
	}
	return strings.Join(all, ", ")
}

// isOld reports whether a version such as 2.11.4 is too old. A version that cannot be parsed is not. An unknown format
// is more likely a new release than an old one.
func isOld(version string) bool {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 2 {
		return false
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	if err1 != nil || err2 != nil {
		return false
	}
	return major < versionMajorMin || (major == versionMajorMin && minor < versionMinorMin)
}
