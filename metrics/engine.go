package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// metric is one value of an engine's status. value is called with the one status of a scrape and must not change
// it. A value that needs more than the status, such as a label with several values, is collected by hand in
// Collect.
type metric struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(*scheduler.Status) float64
}

// gauge describes a value that can fall.
func gauge(name, help string, value func(*scheduler.Status) float64) metric {
	return metric{describe(name, help), prometheus.GaugeValue, value}
}

// counter describes a value that only grows until the engine is opened again.
func counter(name, help string, value func(*scheduler.Status) float64) metric {
	return metric{describe(name, help), prometheus.CounterValue, value}
}

// describe returns the description of an engine's metric. The first label of each is the engine's shard. The label is
// there also with a single shard, so that queries stay valid with more.
func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("carillon_"+name, help, append([]string{"shard"}, labels...), nil)
}

// engineMetrics are the metrics that show one value of the status each. They are a table, so that Describe and
// Collect cannot differ.
var engineMetrics = []metric{
	gauge("epoch", "Number of the leadership; it only grows.", func(s *scheduler.Status) float64 { return float64(s.Epoch) }),
	gauge("lsn", "Newest durable commit.", func(s *scheduler.Status) float64 { return float64(s.LSN) }),
	gauge("applied_lsn", "Newest commit that readers see.", func(s *scheduler.Status) float64 { return float64(s.AppliedLSN) }),
	gauge("jobs", "Jobs of any state.", func(s *scheduler.Status) float64 { return float64(s.Jobs) }),
	gauge("jobs_armed", "Jobs that wait for a tick.", func(s *scheduler.Status) float64 { return float64(s.Armed) }),
	gauge("launches_waiting", "Launches that have not left: scheduled, retrying and backlog.", func(s *scheduler.Status) float64 { return float64(s.Waiting) }),
	gauge("launches_scheduled", "Launches scheduled within the lead: decided ahead, and their time has not come.", func(s *scheduler.Status) float64 { return float64(s.Scheduled) }),
	gauge("launches_retrying", "Launches of further attempts whose instant has not come.", func(s *scheduler.Status) float64 { return float64(s.Retrying) }),
	gauge("launches_backlog", "Launches whose time has come: they wait for the turn of their job or for a place at their target, or may not leave.", func(s *scheduler.Status) float64 { return float64(s.Backlog) }),
	gauge("launches_queued", "Of the backlog, launches that wait for a place at their target.", func(s *scheduler.Status) float64 { return float64(s.Queued) }),
	gauge("attempts_in_flight", "Attempts that targets have not answered.", func(s *scheduler.Status) float64 { return float64(s.InFlight) }),
	gauge("runs_live", "Runs without an outcome.", func(s *scheduler.Status) float64 { return float64(s.Live) }),
	counter("commit_bytes_total", "Bytes of commits since the start.", func(s *scheduler.Status) float64 { return float64(s.CommitBytes) }),
	counter("commits_total", "Commits since the start.", func(s *scheduler.Status) float64 { return float64(s.Commits) }),
	counter("runs_fired_total", "Decisions to fire since the start.", func(s *scheduler.Status) float64 { return float64(s.Fired) }),
	counter("runs_skipped_total", "Decisions to skip since the start.", func(s *scheduler.Status) float64 { return float64(s.Skipped) }),
	counter("runs_succeeded_total", "Runs that succeeded since the start.", func(s *scheduler.Status) float64 { return float64(s.Succeeded) }),
	counter("runs_cancelled_total", "Runs that were cancelled since the start.", func(s *scheduler.Status) float64 { return float64(s.Cancelled) }),
	counter("runs_dead_total", "Runs that exhausted their attempts since the start.", func(s *scheduler.Status) float64 { return float64(s.Dead) }),
	counter("runs_dismissed_total", "Dead runs that were dismissed since the start.", func(s *scheduler.Status) float64 { return float64(s.Dismissed) }),
	gauge("runs_reporting", "Runs whose workers are to report.", func(s *scheduler.Status) float64 { return float64(s.Reporting) }),
	counter("reports_stale_total", "Reports refused for their fence since the start.", func(s *scheduler.Status) float64 { return float64(s.Stale) }),
	counter("attempts_retried_total", "Attempts after the first of a run that were scheduled since the start.", func(s *scheduler.Status) float64 { return float64(s.Retried) }),
	counter("attempts_failed_total", "Attempts that failed since the start.", func(s *scheduler.Status) float64 { return float64(s.Failed) }),
	counter("launches_measured_total", "Launches whose lateness was measured since the start.", func(s *scheduler.Status) float64 { return float64(s.Lateness.Count) }),
	gauge("notices_waiting", "Changes of runs that are still to be published.", func(s *scheduler.Status) float64 { return float64(s.Notices) }),
	counter("notices_lost_total", "Changes of runs that were dropped since the start because too many waited, their job is deleted and its definition could not be kept, or events were switched off.", func(s *scheduler.Status) float64 { return float64(s.NoticesLost) }),
	gauge("tick_behind_seconds", "How long ago the oldest tick was due that is not decided, or the oldest launch that has not left; what is caught up on is not in it.", func(s *scheduler.Status) float64 { return s.Behind.Seconds() }),
	gauge("clock_behind_seconds", "How far the clock is at least behind the latest time by which ticks are decided: jobs whose ticks are decided stand still for so long.", func(s *scheduler.Status) float64 { return s.ClockBehind.Seconds() }),
	gauge("oldest_report_awaited_seconds", "For how long the report has been awaited that is awaited longest; 0 if none is.", func(s *scheduler.Status) float64 { return s.ReportWaited.Seconds() }),
	gauge("catch_up_jobs", "Jobs that have missed runs still to be fired.", func(s *scheduler.Status) float64 { return float64(s.CatchUp.Jobs) }),
	gauge("catch_up_rate", "Runs a second that are spent on what was missed.", func(s *scheduler.Status) float64 { return s.CatchUp.Rate }),
	gauge("catch_up_left_seconds", "Estimated time until what was missed is fired.", func(s *scheduler.Status) float64 { return s.CatchUp.Left.Seconds() }),
	gauge("start_time_seconds", "When the engine started, in seconds of Unix time.", func(s *scheduler.Status) float64 {
		return float64(s.StartedAt.UnixMilli()) / 1000
	}),
}

var (
	// Descriptions of what has further labels, or several values.
	statesDesc  = describe("jobs_by_status", "Jobs by state.", "status")
	sizeDesc    = describe("commit_size_bytes", "Size of commits.")
	infoDesc    = describe("info", "Always 1; the labels tell what runs.", "version", "role")
	skippedDesc = describe("skipped_total", "Decisions to skip since the start by reason; a skipped range counts once.", "reason")
	// Quantiles since the start, for a look without a query; the histogram below is for alerts.
	latenessDesc = describe("lateness_seconds", "Launch minus the instant at which the attempt was free to go, since the start; quantile 1 is the largest.", "quantile")
	launchDesc   = describe("launch_lateness_seconds", "Launch minus the instant at which the attempt was free to go, since the start.")
	waitedDesc   = describe("waited_seconds", "How long attempts waited before they were free to go, since the start, by what for.", "reason")
	decidedDesc  = describe("decided_lateness_seconds", "Commit of the decision minus scheduled time, since the start; 0 if it was ahead.")
	commitDesc   = describe("commit_seconds", "How long commits took until they counted: on disk, and in a cluster in the stream.")
	decisionDesc = describe("decision_lateness_seconds", "Commit of the decision minus scheduled time since the start, 0 if it was ahead; quantile 1 is the largest.", "quantile")
)

// engineCollector shows the status of each engine, read once for each scrape. The status does not wait for a step, so
// a scrape answers while an engine is stuck, which is when it is needed most.
type engineCollector struct {
	shards  []Shard
	version string
}

// Describe implements [prometheus.Collector].
func (c *engineCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range engineMetrics {
		ch <- m.desc
	}
	ch <- statesDesc
	ch <- sizeDesc
	ch <- infoDesc
	ch <- skippedDesc
	ch <- refusedDesc
	ch <- quotaUseDesc
	ch <- quotaLimitDesc
	ch <- latenessDesc
	ch <- decisionDesc
	ch <- launchDesc
	ch <- waitedDesc
	ch <- decidedDesc
	ch <- commitDesc
}

// Collect implements [prometheus.Collector].
func (c *engineCollector) Collect(ch chan<- prometheus.Metric) {
	for _, s := range c.shards {
		c.collect(ch, s.Engine)
	}
}

// collect shows one engine. Reasons and states are shown with 0 too: a series that appears only with the first skip has no
// increase that an alert could see.
func (c *engineCollector) collect(ch chan<- prometheus.Metric, engine Engine) {
	st := engine.Status()
	shard := strconv.FormatUint(uint64(st.Shard), 10)
	for _, m := range engineMetrics {
		ch <- prometheus.MustNewConstMetric(m.desc, m.kind, m.value(&st), shard)
	}
	ch <- prometheus.MustNewConstMetric(infoDesc, prometheus.GaugeValue, 1, shard, c.version, st.Role)
	for reason := 1; reason < job.Reasons; reason++ {
		if job.Reason(reason) == job.ReasonTarget { // such a run is dead, and not skipped
			continue
		}
		n := float64(st.SkippedBy[reason])
		ch <- prometheus.MustNewConstMetric(skippedDesc, prometheus.CounterValue, n, shard, job.Reason(reason).String())
	}
	collectQuotas(ch, engine.TenantQuotas(), &st, shard)
	for state, n := range st.JobsBy {
		ch <- prometheus.MustNewConstMetric(statesDesc, prometheus.GaugeValue, float64(n), shard, scheduler.JobState(state).String())
	}
	collectQuantiles(ch, latenessDesc, shard, st.Lateness)
	collectQuantiles(ch, decisionDesc, shard, st.DecisionLateness)
	for _, h := range []struct {
		desc *prometheus.Desc
		of   *scheduler.Lateness
	}{{launchDesc, &st.Lateness}, {decidedDesc, &st.DecisionLateness}, {commitDesc, &st.CommitTime}} {
		ch <- secondsOf(h.desc, h.of.Spread, shard)
	}
	for reason := range scheduler.WaitReasons {
		ch <- secondsOf(waitedDesc, st.Waited[reason].Spread, shard, reason.String())
	}
	ch <- bytesOf(sizeDesc, st.CommitSizes, shard)
}

// collectQuantiles shows a distribution, if it is not empty. These quantiles cover the time since the start; those of
// a shorter time are computed from the histograms by the query. An empty distribution has no quantiles: a 0 would
// look like punctual launches.
func collectQuantiles(ch chan<- prometheus.Metric, desc *prometheus.Desc, shard string, l scheduler.Lateness) {
	if l.Count == 0 {
		return
	}
	for _, q := range []struct {
		quantile string
		value    time.Duration
	}{{"0.5", l.P50}, {"0.9", l.P90}, {"0.99", l.P99}, {"0.999", l.P999}, {"1", l.Max}} {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, q.value.Seconds(), shard, q.quantile)
	}
}
