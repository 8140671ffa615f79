package main

import (
	"fmt"
	"time"

	"github.com/carillon-io/carillon/client"
)

// demoSubjects is the prefix of the NATS subjects of the demo's jobs. One subscription with a wildcard behind it
// receives them all.
const demoSubjects = "demo."

// demoDue is the end of the name of the job that is due while the server is down. Its target is a webhook, because the
// receiver's connection to NATS is down as well.
const demoDue = "while-down"

// demoJob is a job of the demo, with a note on what it shows.
type demoJob struct {
	job  client.Job
	note string
}

// demoJobs returns the jobs of a demo that runs for a span from now, without that of demoJobDue. Url is that of its HTTP receiver. The one-shots
// are spread over the span, so that any length of the demo shows each kind.
func demoJobs(now time.Time, span time.Duration, url string) []demoJob {
	at := func(percent int) string {
		return "@at " + client.At(now.Add(span*time.Duration(percent)/100)).String()
	}
	onNATS := func(name, schedule, note string) demoJob {
		return demoJob{client.Job{
			Name: "demo/" + name, Schedule: schedule,
			Target:  client.Target{Kind: "nats", Subject: demoSubjects + name},
			Payload: fmt.Appendf(nil, `{"from":%q}`, name),
		}, note}
	}
	onHTTP := func(name, schedule, note string) demoJob { return demoJobHTTP(url, name, schedule, note) }
	return []demoJob{
		onNATS("heartbeat", "@every 1s", "an interval"),
		onNATS("cron", "*/5 * * * * *", "cron, with seconds"),
		onNATS("once-1", at(20), "a one-shot"),
		onNATS("once-2", at(45), "a one-shot"),
		onNATS("once-3", at(85), "a one-shot"),
		onHTTP("webhook", "@every 2s", "a webhook"),
		onHTTP("flaky", at(30), fmt.Sprintf("a webhook that fails %d times", demoFailures)),
	}
}

// demoJobDue returns the job that is due at an instant at which the server is down.
func demoJobDue(due time.Time, url string) demoJob {
	return demoJobHTTP(url, demoDue, "@at "+client.At(due).String(), "due while the server is down")
}

// demoJobHTTP returns a job whose target is the HTTP receiver.
func demoJobHTTP(url, name, schedule, note string) demoJob {
	return demoJob{client.Job{
		Name: "demo/" + name, Schedule: schedule,
		Target:  client.Target{Kind: "http", URL: url + "/" + name},
		Payload: fmt.Appendf(nil, `{"from":%q}`, name),
		// Enough attempts for the flaky job to succeed, with pauses short enough for a demo.
		Retry: client.Retry{
			MaxAttempts: demoFailures + 1, InitialInterval: client.Duration(400 * time.Millisecond), Multiplier: 1.5,
		},
	}, note}
}
