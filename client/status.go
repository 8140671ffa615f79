package client

// Status is how a server is doing. The counts are since its start.
type Status struct {
	Role         string   `json:"role"` // leader, standby, candidate, joining
	Version      string   `json:"version"`
	Shard        uint32   `json:"shard"`
	Epoch        uint64   `json:"epoch"`       // the reign; only grows
	LSN          uint64   `json:"lsn"`         // newest durable commit
	AppliedLSN   uint64   `json:"applied_lsn"` // newest commit that readers see
	Lag          uint64   `json:"lag"`         // commits between the two
	Jobs         int      `json:"jobs"`        // all
	Armed        int      `json:"armed"`       // waiting for a tick
	Waiting      int      `json:"waiting"`     // launches that have not left: the sum of the next three
	Scheduled    int      `json:"scheduled"`   // within the lead: decided ahead, and their time has not come
	Retrying     int      `json:"retrying"`    // further attempts whose instant has not come
	Backlog      int      `json:"backlog"`     // whose time has come: they wait for the turn of their job or for a place, or may not leave
	Queued       int      `json:"queued"`      // of the backlog, those that wait for a place at their target
	InFlight     int      `json:"in_flight"`   // attempts that targets have not answered
	Live         int      `json:"live"`        // runs without an outcome
	Fired        uint64   `json:"fired"`
	Skipped      uint64   `json:"skipped"`
	Succeeded    uint64   `json:"succeeded"`
	Failed       uint64   `json:"failed"` // attempts
	Dead         uint64   `json:"dead"`
	Cancelled    uint64   `json:"cancelled"`
	Retried      uint64   `json:"retried"`       // attempts after the first
	StaleReports uint64   `json:"stale_reports"` // reports refused for their fence
	Commits      uint64   `json:"commits"`
	Lateness     Lateness `json:"lateness"` // launch minus the instant at which the attempt was free to go
	Waited       Waited   `json:"waited"`   // what attempts waited for until then
	StartedAt    Time     `json:"started_at"`

	SkippedBy   map[string]uint64 `json:"skipped_by"`   // by reason, those that occurred; a skipped range counts once
	Reporting   int               `json:"reporting"`    // runs whose workers are to report
	Notices     int               `json:"notices"`      // changes of runs that are still to be published
	NoticesLost uint64            `json:"notices_lost"` // dropped because too many waited
	CatchUp     CatchUp           `json:"catch_up"`

	// DecisionLateness is how late the decision to fire was durable. Ticks are decided ahead, so it is 0
	// unless the server was behind.
	DecisionLateness Lateness `json:"decision_lateness"`

	// DroppedRequests counts the requests that were dropped because their reply would go to a subject that is no
	// inbox.
	DroppedRequests uint64 `json:"dropped_requests"`

	// Warnings are what is wrong around the server, each with what to do, such as a JetStream stream that captures
	// requests. What a cluster lacks is in Cluster.
	Warnings []string `json:"warnings,omitempty"`

	TZData  TZData   `json:"tzdata"`
	Cluster *Cluster `json:"cluster,omitempty"` // nil: the node is alone
}

// TZData is the rules of timezones that a server goes by. Servers older than them send none.
type TZData struct {
	Source    string `json:"source"`    // embedded: in the binary; system: the machine's
	Version   string `json:"version"`   // such as 2025c, or unknown
	Digest    string `json:"digest"`    // of what they say of the zones of the jobs: with the same one two nodes plan alike
	Zones     int    `json:"zones"`     // that jobs were ever read in, but for UTC
	Differing int    `json:"differing"` // those of them whose jobs are planned by other rules: on a standby, the leader's
	Changed   int    `json:"changed"`   // zones whose rules had changed when this leader began
	Moved     int    `json:"moved"`     // jobs whose next tick that moved
}

// Cluster is how a node and the others of its cluster are, as that node sees it.
type Cluster struct {
	Name       string  `json:"name"`
	ID         string  `json:"id"`
	Node       string  `json:"node"`
	Role       string  `json:"role"`
	Durability string  `json:"durability"` // replicated: a commit counts when the stream has it too; local: when it is durable at the leader
	Holder     string  `json:"holder"`     // of the lease
	Term       uint64  `json:"term"`       // of the lease; counts the holders
	TrustMS    float64 `json:"trust_ms"`   // how long the leader may still launch without renewing the lease
	Lag        uint64  `json:"lag"`        // commits that the leader has and this node has not
	LagMS      float64 `json:"lag_ms"`     // and by how much time its newest commit is older than the leader's

	Nodes    []ClusterNode     `json:"nodes"`
	Void     map[string]uint64 `json:"void_frames"`        // messages of the stream that are no part of the log, by why
	Warnings []string          `json:"warnings,omitempty"` // what is weaker than promised
}

// ClusterNode is one node of a cluster.
type ClusterNode struct {
	Node          string  `json:"node"`
	Role          string  `json:"role"`
	Epoch         uint64  `json:"epoch"`
	LSN           uint64  `json:"lsn"`         // of its log
	AppliedLSN    uint64  `json:"applied_lsn"` // of its store
	Lag           uint64  `json:"lag"`         // commits behind the leader
	SilentMS      float64 `json:"silent_ms"`   // since it was heard of
	ClockOffsetMS float64 `json:"clock_offset_ms"`
}

// CatchUp is how far the server has come with what was missed.
type CatchUp struct {
	Jobs int      `json:"jobs"` // that have missed runs still to be fired
	Rate float64  `json:"rate"` // runs a second that are spent on them
	Left Duration `json:"left"` // estimated time to the end, at one run a job
}

// Waited is for how long attempts waited before they were free to go, by what they waited for. An attempt that
// waited for several things is in each; one that did not wait is in none.
type Waited struct {
	Overlap Lateness `json:"overlap"`  // the turn of its job
	CatchUp Lateness `json:"catch_up"` // a leader, and then the pace of catching up, since its scheduled time
	Target  Lateness `json:"target"`   // a place at its target
	Retry   Lateness `json:"retry"`    // the instant of the next attempt, since the end of the one before
}

// Lateness is a distribution of how late something was, or for how long it waited, in milliseconds.
type Lateness struct {
	Count  uint64  `json:"count"`
	P50MS  float64 `json:"p50_ms"`
	P90MS  float64 `json:"p90_ms"`
	P99MS  float64 `json:"p99_ms"`
	P999MS float64 `json:"p999_ms"`
	MaxMS  float64 `json:"max_ms"`
}
