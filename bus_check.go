package carillon

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// What a cluster wants of NATS.
const (
	payloadMin      = 1 << 20 // a commit of a megabyte is one message
	membersWanted   = 3
	versionMajorMin = 2
	versionMinorMin = 12
)

// busFacts is what is known of the NATS servers of a cluster.
type busFacts struct {
	Servers    []serverFacts // by name; at least the one that we are connected to
	Members    int           // servers with JetStream; 0: not known
	Clustered  bool          // the server that we are connected to has peers
	PayloadMax int64         // bytes
}

// serverFacts are the settings of one server that matter.
type serverFacts struct {
	Name    string
	Version string
	Sync    syncing
}

// syncing is when a server acknowledges what it stores.
type syncing int

const (
	syncUnknown syncing = iota // an ordinary account does not see it
	syncLate                   // before it is on disk
	syncAlways
)

// check looks at the servers of NATS. It returns what is weaker than promised, each with what to do, and
// an error if they cannot carry a cluster. Replicas is how many the log really has.
func (b *bus) check(ctx context.Context, replicas int) ([]string, error) {
	f, err := b.facts(ctx)
	if err == nil {
		err = f.validate()
	}
	if err != nil {
		return nil, err
	}
	return f.warnings(replicas), nil
}

// validate refuses servers that cannot carry a cluster.
func (f busFacts) validate() error {
	if f.PayloadMax < payloadMin {
		return fmt.Errorf("NATS takes messages of at most %d bytes, and a commit of a cluster may have %d; set max_payload to at least %d, better %d",
			f.PayloadMax, payloadMin, payloadMin, maxPayload)
	}
	return nil
}

// replicas returns how many servers are to keep the log: as many as are wanted, or three if there are as
// many servers.
func (f busFacts) replicas(wanted int) int {
	switch {
	case wanted != 0:
		return wanted
	case f.Members >= membersWanted || (f.Members == 0 && f.Clustered):
		return membersWanted
	}
	return 1
}

// warnings names what is weaker than promised.
func (f busFacts) warnings(replicas int) []string {
	var all []string
	for _, w := range []string{f.warnMembers(replicas), f.warnSync(), f.warnVersions()} {
		if w != "" {
			all = append(all, w)
		}
	}
	return all
}

func (f busFacts) warnMembers(replicas int) string {
	switch {
	case f.Members == 2:
		return "NATS has two servers with JetStream: when either dies, the other serves nothing and the cluster stands still; " +
			"add a third, for which a witness will do (carillon serve --witness)"
	case f.Members == 1 || (f.Members == 0 && !f.Clustered):
		return "NATS has one server with JetStream: when it dies, the cluster stands still whatever node leads; run three, and --replicas 3"
	case replicas < membersWanted:
		return fmt.Sprintf("the log of the cluster has %d of the 3 replicas that it should have: when a server that keeps it dies, the cluster stands still; "+
			"start all nodes with --replicas 3", replicas)
	}
	return ""
}

func (f busFacts) warnSync() string {
	const what = "set jetstream { sync_interval: always } there, or power that fails several of them at once may take what the next leader needs"
	if late := f.names(func(s serverFacts) bool { return s.Sync == syncLate }); late != "" {
		return fmt.Sprintf("NATS servers acknowledge what they have not synced to disk (%s): %s", late, what)
	}
	if unknown := f.names(func(s serverFacts) bool { return s.Sync == syncUnknown }); unknown != "" {
		return fmt.Sprintf("it cannot be seen from here whether NATS servers sync to disk what they acknowledge (%s, and their peers): unless it is so, %s", unknown, what)
	}
	return ""
}

func (f busFacts) warnVersions() string {
	old := f.names(func(s serverFacts) bool { return isOld(s.Version) })
	if old == "" {
		return ""
	}
	return fmt.Sprintf("NATS servers are older than %d.%d, with which a cluster is not tested (%s): upgrade them", versionMajorMin, versionMinorMin, old)
}

// names lists servers with their versions.
func (f busFacts) names(which func(serverFacts) bool) string {
	var all []string
	for _, s := range f.Servers {
		if which(s) {
			all = append(all, s.Name+" "+s.Version)
		}
	}
	return strings.Join(all, ", ")
}

// isOld tells whether a version such as 2.11.4 is too old. One that cannot be read is not.
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
