package dashboard

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
)

// The numbers of runs and ticks that the page of a job shows.
const (
	nextShown = 10
	// The list of runs has all of them.
	ledgerShown = 40
)

// jobBody is the content of a job's page: the job, its last runs and its next ticks. Facts is for readers, JSON for
// copying: it is the text of the API, unchanged, also where this program knows fewer members than the server.
type jobBody struct {
	Job     client.JobInfo
	JSON    string // the job in the form of the API
	Facts   []fact
	Zone    string // timezone of the job
	Times   []tick
	Notes   []string
	NoTimes string // why no next times are shown; "" if they are
	Runs    []client.Run
	// Chart draws Runs, the newest at the right; nil without runs.
	Chart *runChart
	// HasMore says that there are more runs than Runs has.
	HasMore bool
	// Key is drawn anew for each page, so two visits fire two runs.
	Key     string // idempotency key of the trigger form, so that sending it twice fires one run
	Payload string // payload typed into the trigger form
}

// fact is one line in the list of a job's definition.
type fact struct{ Name, Value string }

// tick is one future tick of a job.
type tick struct {
	At   client.Time
	Zone string // the time in the zone of the job
}

// job returns the page of the job that the parameter name names.
func (v *visit) job() view { return v.jobPage(v.query.Get("name")) }

// jobPage returns the page of a job. If it can read the job but not its runs or its ticks, it shows the page without
// those, with the error. The runs of a job and its ticks can be refused on their own, for example when the server is
// busy; the job itself matters more.
func (v *visit) jobPage(name string) view {
	p := view{page: "job", title: name, active: "/jobs", live: []string{"job-head", "job-act", "job-next", "ledger"}}
	if name == "" {
		p.title = "Job"
	}
	info, text, err := v.getJob(name)
	if err != nil {
		return view{page: "failed", title: "Job " + clip(name), active: "/jobs", err: err}
	}
	by := v.clockOf(zoneOf(info.Timezone, info.Schedule))
	body := &jobBody{Job: info, JSON: text, Facts: factsOf(&info, by), Key: rand.Text()}
	p.body = body
	runs, err := v.client.ListRuns(v.req.Context(), client.RunListRequest{Job: name, Limit: ledgerShown})
	if err != nil {
		p.err = err
	}
	body.Runs, body.HasMore, body.Chart = runs.Runs, runs.NextCursor != "", drawRuns(runs.Runs, by)
	if err := body.foresee(v); err != nil && p.err == nil {
		p.err = err
	}
	return p
}

// getJob returns a job, and its JSON in the form of the API. It asks without [client.Client], which would decode the
// reply and lose its text.
func (v *visit) getJob(name string) (info client.JobInfo, text string, err error) {
	request, err := json.Marshal(client.GetRequest{Name: name})
	if err != nil {
		return info, "", err
	}
	reply, err := v.dashboard.local.Ask(v.req.Context(), v.tenant, "jobs.get", v.by, request)
	if err != nil {
		return info, "", err
	}
	var whole struct {
		Job json.RawMessage `json:"job"`
	}
	if err := json.Unmarshal(reply, &whole); err != nil {
		return info, "", err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, whole.Job, "", "  "); err != nil {
		return info, "", err
	}
	return info, b.String(), json.Unmarshal(whole.Job, &info)
}

// Schedules returns the schedules of the job, one in each line.
func (b *jobBody) Schedules() string {
	return orElse(strings.Join(b.Job.Schedules, "\n"), b.Job.Schedule)
}

// Exclusions returns the exclusions of the job, one in each line.
func (b *jobBody) Exclusions() string { return strings.Join(b.Job.Exclude, "\n") }

// StartsAt returns the start of the job as an address has it; "" for none.
func (b *jobBody) StartsAt() string {
	if b.Job.StartsAt.IsZero() {
		return ""
	}
	return b.Job.StartsAt.String()
}

// ZoneName returns the zone in which the times are shown.
func (b *jobBody) ZoneName() string { return zoneOf(b.Job.Timezone, b.Job.Schedule) }

// foresee reads the next ticks of the job. A preview of @every counts from its beginning, but the job's @every counts
// from its registration; therefore the preview begins at the job's next run. A paused @every has no next run to begin
// at, so no times are shown for it.
func (b *jobBody) foresee(v *visit) error {
	j := &b.Job
	if j.Status == "completed" || j.Status == "failed" {
		b.NoTimes = "The job is " + j.Status + ": its schedule fires no more runs."
		return nil
	}
	if j.NextRunAt.IsZero() && isCounted(j) {
		b.NoTimes = "Its @every counts from the registration; the next times are known when the job is resumed."
		return nil
	}
	request := client.NextRequest{
		Schedule: j.Schedule, Schedules: j.Schedules, Exclude: j.Exclude, Timezone: j.Timezone,
		StartsAt: j.StartsAt, EndsAt: j.EndsAt, Count: nextShown, After: client.At(v.now),
	}
	var times []client.Time
	// The first time is the job's own; the preview goes on from there on the same grid.
	if !j.NextRunAt.IsZero() && isCounted(j) {
		times = append(times, j.NextRunAt)
		request.After, request.Count = j.NextRunAt, nextShown-1
	}
	next, err := v.client.Next(v.req.Context(), request)
	if err != nil {
		return err
	}
	b.Times, b.Notes = v.ticksOf(append(times, next.Times...), b.ZoneName()), next.Notes
	if len(b.Times) == 0 {
		b.NoTimes = "The schedule has no more ticks."
	}
	return nil
}

// isCounted reports whether a job has an @every, which counts from the job's registration. A false positive, as from
// an expression that is no @every, is impossible: no other schedule contains that word.
func isCounted(j *client.JobInfo) bool {
	return slices.ContainsFunc(append([]string{j.Schedule}, j.Schedules...), func(s string) bool {
		return strings.Contains(s, "@every")
	})
}

// ticksOf returns times in a zone. If the zone is unknown here, it returns them in UTC only. The server may know
// zones that this machine does not, because their rules can come from different sources.
func (v *visit) ticksOf(times []client.Time, zone string) []tick {
	loc, err := v.dashboard.opts.Location(zone)
	list := make([]tick, len(times))
	for i, t := range times {
		list[i].At = t
		if err == nil {
			list[i].Zone = t.In(loc).Format("Mon 2006-01-02 15:04:05 MST")
		}
	}
	return list
}

// zoneOf returns the zone of a schedule: the field timezone, or the prefix CRON_TZ= of the expression,
// or UTC. The API refuses a definition whose field and prefix name different zones, so either may be shown.
func zoneOf(timezone, schedule string) string {
	prefix, _, _ := strings.Cut(strings.TrimSpace(schedule), " ")
	if _, name, found := strings.Cut(prefix, "TZ="); found && timezone == "" {
		timezone = name
	}
	return orElse(timezone, "UTC")
}

// factsOf lists a job's definition in words, without the fields that are not set. The order is that in which a
// reader asks: when, where to, what if it fails, since when.
func factsOf(j *client.JobInfo, by clock) []fact {
	var list []fact
	add := func(name, value string) {
		if value != "" {
			list = append(list, fact{name, value})
		}
	}
	add("Schedule", strings.Join(append(slices.Clone(j.Schedules), j.Schedule), "\n"))
	add("Except", strings.Join(j.Exclude, "\n"))
	add("Time zone", zoneOf(j.Timezone, j.Schedule))
	add("From", instantOf(j.StartsAt, by, time.Time{}).Exact)
	add("Until", instantOf(j.EndsAt, by, time.Time{}).Exact)
	add("Maximum number of runs", nonZero(uint64(j.MaxRuns)))
	add("Jitter", lengthOf(j.Jitter))
	add("Target", targetText(&j.Target))
	add("Attempts at a time", nonZero(uint64(j.Target.MaxInFlight)))
	add("Signed with", secretText(j.Target.Sign))
	add("Client certificate", secretText(j.Target.ClientCert))
	add("Headers", pairsText(shownHeaders(j.Headers), ": "))
	add("A run succeeds", map[string]string{"delivered": "when delivered", "reported": "when the worker reports success"}[j.Completion])
	add("Time for an attempt", lengthOf(j.AttemptTimeout))
	add("Attempts", retryText(&j.Retry))
	add("If the last run is in progress", policyText(j))
	add("Missed runs", missedText(j))
	add("Pauses after", countOf(j.PauseOnFailure, "dead run", "dead runs in a row"))
	add("Labels", pairsText(j.Labels, "="))
	add("Version", nonZero(uint64(j.Version)))
	add("Created", instantOf(j.CreatedAt, by, time.Time{}).Exact)
	add("Changed", instantOf(j.UpdatedAt, by, time.Time{}).Exact)
	return list
}

// orElse returns a text, or another one if it is empty.
func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// pairsText returns pairs as one text, sorted by name.
func pairsText(pairs map[string]string, between string) string {
	lines := make([]string, 0, len(pairs))
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		lines = append(lines, key+between+pairs[key])
	}
	return strings.Join(lines, "\n")
}

// methodOf returns the method of an HTTP target.
func methodOf(t *client.Target) string { return orElse(t.Method, http.MethodPost) }
