package client

// Status is the state of a server. Counts begin at its start and never fall, unless their comment says
// that they are present numbers.
type Status struct {
	Role       string `json:"role"` // leader, standby, candidate, joining
	Version    string `json:"version"`
	Shard      uint32 `json:"shard"`
	Epoch      uint64 `json:"epoch"`       // number of the present leadership; only grows
	LSN        uint64 `json:"lsn"`         // newest durable commit
	AppliedLSN uint64 `json:"applied_lsn"` // newest commit that readers see
	Lag        uint64 `json:"lag"`         // commits between these two
	Jobs       int    `json:"jobs"`        // present number of jobs
	Armed      int    `json:"armed"`       // of these, those that wait for a tick
	Waiting    int    `json:"waiting"`     // present number of launches not yet made: the sum of the next three
	Scheduled  int    `json:"scheduled"`   // decided ahead of their time, which has not come
	Retrying   int    `json:"retrying"`    // further attempts whose time has not come
	Backlog    int    `json:"backlog"`     // whose time has come: they wait for an earlier run of their job or for a place, or the leader may not launch
	Queued     int    `json:"queued"`      // of the backlog, those that wait for a place at their target
	InFlight   int    `json:"in_flight"`   // present number of attempts that targets have not answered
	Live       int    `json:"live"`        // present number of runs without an outcome
	// Fired, Skipped and the outcomes count decisions and runs, not attempts.
	Fired        uint64   `json:"fired"`
	Skipped      uint64   `json:"skipped"`
	Succeeded    uint64   `json:"succeeded"`
	Failed       uint64   `json:"failed"` // failed attempts
	Dead         uint64   `json:"dead"`
	Cancelled    uint64   `json:"cancelled"`
	Retried      uint64   `json:"retried"`       // attempts after the first of their run
	StaleReports uint64   `json:"stale_reports"` // reports refused because of an old fence
	Commits      uint64   `json:"commits"`
	Lateness     Lateness `json:"lateness"` // launch minus the instant from which the attempt could be launched
	Waited       Waited   `json:"waited"`   // what attempts waited for before that instant
	StartedAt    Time     `json:"started_at"`

	SkippedBy   map[string]uint64 `json:"skipped_by"`   // by reason; has only reasons that occurred; a skipped range counts once
	Reporting   int               `json:"reporting"`    // present number of runs whose workers must still report
	Notices     int               `json:"notices"`      // present number of changes of runs that are still to be published
	NoticesLost uint64            `json:"notices_lost"` // changes that were never published: too many waited, or one of the reasons in docs/format/events.md
	CatchUp     CatchUp           `json:"catch_up"`

	// DecisionLateness is how long after the scheduled time the decision to fire was durable. Ticks are
	// decided ahead, so it is 0 unless the server was behind.
	DecisionLateness Lateness `json:"decision_lateness"`

	// ClockBehindMS is how many milliseconds the clock is at least behind the latest time by which ticks are decided; 0: it is
	// not. Jobs whose ticks are decided stand still until it has caught up, and Warnings say so from a second on.
	ClockBehindMS float64 `json:"clock_behind_ms"`

	// DroppedRequests counts requests that the server dropped because their reply subject is not an inbox.
	DroppedRequests uint64 `json:"dropped_requests"`

	// Warnings name problems in the server's environment and what to do about each, such as a JetStream
	// stream that captures requests. Cluster has the warnings about the cluster.
	Warnings []string `json:"warnings,omitempty"`

	TZData  TZData   `json:"tzdata"`
	Cluster *Cluster `json:"cluster,omitempty"` // nil for a node without a cluster

	// Shards has a row for each shard of a cluster of several; then the numbers above are over all shards that answer:
	// sums, the highest epoch, and for percentiles and for times left the greatest of any shard.
	Shards []ShardStatus `json:"shards,omitempty"`
}

// ShardStatus is the state of one shard of a cluster of several. Over NATS its members are those of the leader of the shard,
// which was asked. Over HTTP they are what the answering node knows, and without a leader so are Slots and Replicas.
type ShardStatus struct {
	Shard     uint32 `json:"shard"`
	Slots     string `json:"slots"`            // first and last slot, such as 64-127
	Role      string `json:"role"`             // of the answering node: leader, or "" if it does not lead the shard
	HasLeader bool   `json:"has_leader"`       // a leader of the shard has answered, or over HTTP: the node hears one
	Leader    string `json:"leader,omitempty"` // the node that leads it, if it has a name
	Epoch     uint64 `json:"epoch"`
	LSN       uint64 `json:"lsn"`
	Jobs      int    `json:"jobs"`
	Lag       uint64 `json:"lag"`

	// Replicas are the nodes that have the data of the shard, the leader included, in the order of their names.
	Replicas []ShardReplica `json:"replicas,omitempty"`
}

// ShardReplica is the part of a node in one shard.
type ShardReplica struct {
	Node     string  `json:"node"`
	Role     string  `json:"role"`      // leader, standby, candidate, joining
	LSN      uint64  `json:"lsn"`       // newest commit in its log
	Lag      uint64  `json:"lag"`       // commits behind the leader
	SilentMS float64 `json:"silent_ms"` // since it was last heard from, in milliseconds
	// Move says that the node receives its copy at present, "joins", or gives it up, "leaves"; "" otherwise.
	Move string `json:"move,omitempty"`
}

// Replicas returns the nodes of a cluster of one shard, or of one shard of a cluster, as replicas.
func (c *Cluster) Replicas() (replicas []ShardReplica) {
	for _, n := range c.Nodes {
		replicas = append(replicas, ShardReplica{Node: n.Node, Role: n.Role, LSN: n.LSN, Lag: n.Lag, SilentMS: n.SilentMS})
	}
	return replicas
}

// TZData identifies the timezone rules that a server uses. Servers of older releases do not send it.
type TZData struct {
	Source    string `json:"source"`    // embedded: those in the binary; system: those of the machine
	Version   string `json:"version"`   // such as 2025c, or "unknown"
	Digest    string `json:"digest"`    // of the rules for the zones of all jobs: two nodes with equal digests plan equally
	Zones     int    `json:"zones"`     // number of zones that jobs have ever used, without UTC
	Differing int    `json:"differing"` // of these, zones whose jobs are planned by other rules than this node's: on a standby, by the leader's
	Changed   int    `json:"changed"`   // zones whose rules had changed when this leadership began
	Moved     int    `json:"moved"`     // jobs whose next tick moved because of that
}

// Cluster is the state of a node and of the other nodes of its cluster, as the node sees it.
type Cluster struct {
	Name       string  `json:"name"`
	ID         string  `json:"id"`
	Node       string  `json:"node"`
	Role       string  `json:"role"`
	Durability string  `json:"durability"`      // when a commit counts; replicated: when the stream has it too; local: when the leader has synced it
	Holder     string  `json:"holder"`          // the node that holds the lease
	Term       uint64  `json:"term"`            // number of the lease's holder; grows at each change of holder
	TrustMS    float64 `json:"trust_ms"`        // how long, in milliseconds, the leader may still launch without renewing the lease
	Lag        uint64  `json:"lag"`             // commits that the leader has and this node lacks
	LagMS      float64 `json:"lag_ms"`          // for how long, in milliseconds, it has lagged or heard from no leader; of a leader: for how long its commits have waited for the stream, 0 below 2 s
	Waits      string  `json:"waits,omitempty"` // what the node waits for before it leads, after an outage of all nodes

	// Nodes has the answering node too.
	Nodes    []ClusterNode     `json:"nodes"`
	Void     map[string]uint64 `json:"void_frames"`        // by reason, messages of the stream that are not part of the log
	Warnings []string          `json:"warnings,omitempty"` // promises that do not hold at present, and why
}

// ClusterNode is one node of a cluster.
type ClusterNode struct {
	Node       string  `json:"node"`
	Role       string  `json:"role"`
	Epoch      uint64  `json:"epoch"`
	LSN        uint64  `json:"lsn"`         // newest commit in its log
	AppliedLSN uint64  `json:"applied_lsn"` // newest commit in its store
	Lag        uint64  `json:"lag"`         // commits behind the leader
	SilentMS   float64 `json:"silent_ms"`   // since it was last heard from, in milliseconds
	// ClockOffsetMS is the node's wall clock against that of the node that answers. No decision depends on it.
	ClockOffsetMS float64 `json:"clock_offset_ms"`
	Version       string  `json:"version,omitempty"` // of its program; "" if the node does not send it
	RowsVersion   int     `json:"rows_version"`      // newest version of rows that it reads
	// Only of several shards: the capacity of the node relative to that of the others, what fails together with it, and
	// whether it is to hold and lead nothing.
	Weight uint32 `json:"weight,omitempty"`
	Zone   string `json:"zone,omitempty"`
	Drains bool   `json:"drains,omitempty"`
}

// CatchUp is the progress of the server with missed runs. All are 0 unless jobs have missed runs.
type CatchUp struct {
	Jobs int      `json:"jobs"` // jobs with missed runs that are still to be fired
	Rate float64  `json:"rate"` // missed runs fired per second
	Left Duration `json:"left"` // estimated time until all are fired, at one run for each job
}

// Waited says how long attempts waited before they could be launched, by cause. An attempt that waited
// for several causes counts in each; one that did not wait counts in none.
type Waited struct {
	Overlap Lateness `json:"overlap"`  // an earlier run of its job (overlap policy, max_concurrent)
	CatchUp Lateness `json:"catch_up"` // since its scheduled time: a leader, and then the pace of catching up
	Target  Lateness `json:"target"`   // a place at its target
	Retry   Lateness `json:"retry"`    // since the end of the attempt before: the time of the next attempt
}

// Lateness is a distribution of delays or waiting times, in milliseconds. Without a count the other fields are 0
// and mean nothing.
type Lateness struct {
	Count  uint64  `json:"count"`
	P50MS  float64 `json:"p50_ms"`
	P90MS  float64 `json:"p90_ms"`
	P99MS  float64 `json:"p99_ms"`
	P999MS float64 `json:"p999_ms"`
	MaxMS  float64 `json:"max_ms"`
}
