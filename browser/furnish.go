package browser

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// The names of the jobs that tests and screenshots use.
const (
	LiveJob    = "checkout/expire-carts"    // fires every other second
	DeadJob    = "payments/reconcile"       // its subject has no subscriber, so its runs end dead
	ClosedJob  = "partners/price-feed"      // its target refuses it: its runs end dead
	PausedJob  = "legacy/ftp-import"        // paused, with a reason
	SlowJob    = "search/reindex-delta"     // takes longer than its interval: some ticks are skipped
	RetriedJob = "mail/send-queue"          // now and then its first attempt fails
	ZonedJob   = "reports/new-york-opening" // by the clock of another zone

	// HolidaysCalendar is the name of the calendar to which a job refers.
	HolidaysCalendar = "holidays"
)

// Furnish registers the jobs of a fictitious firm: several teams and callers, with targets that answer,
// fail or do not exist. The jobs with short intervals fire from then on until the stage closes.
func (s *Stage) Furnish(ctx context.Context) error {
	if err := s.staff(); err != nil {
		return fmt.Errorf("furnish: %w", err)
	}
	alice, err1 := client.New(s.NATS, client.Options{By: "alice@ops"})
	bob, err2 := client.New(s.NATS, client.Options{By: "bob@billing"})
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("furnish: %w", err)
	}
	_, _, err := bob.PutCalendar(ctx, client.CalendarRequest{
		Name: HolidaysCalendar, Description: "Public holidays, and the afternoon of the firm's party.",
		Exclude: []string{"* * 1 1 *", "* * 1 5 *", "* * 3 10 *", "* * 24-26 12 *", "* 12-23 18 12 *"},
	})
	if err != nil {
		return fmt.Errorf("furnish: %w", err)
	}
	for _, j := range s.jobs() {
		who := alice
		if j.Labels["team"] == "billing" {
			who = bob
		}
		if _, _, err := who.Put(ctx, j); err != nil {
			return fmt.Errorf("furnish %s: %w", j.Name, err)
		}
	}
	_, err = bob.Pause(ctx, PausedJob, "the vendor moves to SFTP; back on Monday")
	for _, name := range []string{DeadJob, ClosedJob, DeadJob, DeadJob, ClosedJob} {
		_, failed := alice.Trigger(ctx, client.TriggerRequest{Name: name})
		err = errors.Join(err, failed)
	}
	if err != nil {
		return fmt.Errorf("furnish: %w", err)
	}
	return nil
}

// staff subscribes to the NATS subjects of the jobs and answers their requests.
func (s *Stage) staff() error {
	_, err := s.NATS.Subscribe("search.>", func(m *nats.Msg) {
		time.AfterFunc(2600*time.Millisecond, func() { _ = m.Respond([]byte(`{"documents":1204}`)) })
	})
	count := 0
	_, err2 := s.NATS.Subscribe("mail.>", func(m *nats.Msg) {
		if count++; count%4 == 0 {
			reply := nats.NewMsg(m.Reply)
			reply.Header.Set("Nats-Service-Error-Code", "503")
			reply.Header.Set("Nats-Service-Error", "relay mx2 is busy, try again")
			_ = m.RespondMsg(reply)
			return
		}
		_ = m.Respond([]byte("sent 17"))
	})
	return errors.Join(err, err2, s.NATS.Flush())
}

// jobs returns all jobs of the firm.
func (s *Stage) jobs() []client.Job {
	nats := func(subject string) client.Target { return client.Target{Kind: "nats", Subject: subject} }
	request := func(subject string) client.Target { return client.Target{Kind: "request", Subject: subject} }
	http := func(path string) client.Target { return client.Target{Kind: "http", URL: s.Hall.URL + path} }
	team := func(name string) map[string]string { return map[string]string{"team": name, "env": "production"} }
	once := client.Retry{MaxAttempts: 2, InitialInterval: client.Duration(200 * time.Millisecond)}

	jobs := []client.Job{
		{Name: LiveJob, Schedule: "@every 2s", Target: nats("checkout.expire"), Labels: team("checkout"),
			Description: "Frees the stock that carts held for more than an hour.", Payload: []byte(`{"older_than":"1h"}`)},
		{Name: SlowJob, Schedule: "@every 2s", Target: request("search.reindex"), Labels: team("search"),
			Description: "Sends changed products to the search index."},
		{Name: RetriedJob, Schedule: "@every 3s", Target: request("mail.send"), Retry: once, Labels: team("mail"),
			Description: "Hands what waits in the outbox to the relay.", Headers: map[string]string{"X-Relay": "mx2"}},
		{Name: "metrics/rollup", Schedule: "*/5 * * * * *", Target: http("/rollup"), Labels: team("platform")},
		{Name: DeadJob, Schedule: "0 */4 * * *", Target: request("payments.reconcile"), Retry: once, OverlapPolicy: "allow", Labels: team("billing"),
			Description: "Compares yesterday's settlements with the bank's statement.", Payload: []byte(`{"bank":"GLS","days":1}`)},
		{Name: ClosedJob, Schedule: "20 3 * * *", Target: http("/closed/prices"), Retry: once, OverlapPolicy: "allow", Labels: team("platform")},
		{Name: "billing/invoices-nightly", Schedule: "15 2 * * *", Timezone: "Europe/Berlin", Target: nats("billing.invoices"), Labels: team("billing"),
			Description: "Writes the invoices of the day before."},
		{Name: "billing/dunning-letters", Schedule: "0 9 * * 1-5", Timezone: "Europe/Berlin", Target: nats("billing.dunning"), Exclude: []string{"@calendar " + HolidaysCalendar}, Labels: team("billing")},
		{Name: "billing/year-end-close", Schedule: "@at 2030-12-31T23:00:00Z", Target: nats("billing.close"), Labels: team("billing")},
		{Name: PausedJob, Schedule: "*/30 * * * *", Target: nats("legacy.import"), Labels: team("platform"),
			Description: "Fetches the price list of a vendor."},
		{Name: ZonedJob, Schedule: "30 9 * * 1-5", Timezone: "America/New_York", Target: nats("reports.opening"), Labels: team("reports"),
			Description: "The morning report, when the exchange opens."},
		{Name: "reports/weekly-board", Schedule: "0 7 * * 1", Timezone: "Europe/London", Target: nats("reports.board"), Labels: team("reports")},
		{Name: "backup/databases", Schedule: "45 1 * * *", Target: http("/backup"), Labels: team("platform"), MissedRunPolicy: "fire_once"},
		{Name: "certificates/renew", Schedule: "@daily", Target: http("/certificates"), Labels: team("platform")},
	}
	return append(jobs, statements()...)
}

// statements returns a job for each customer: more than one page of a list shows.
func statements() (jobs []client.Job) {
	customers := strings.Fields("acme argo bluebird borealis cascade cinder clover comet copper delta ember falcon " +
		"fjord garnet granite harbor heron indigo ivory juniper kestrel lagoon larch lumen maple meridian nimbus north " +
		"onyx orchid osprey pebble pinion quartz raven ridge saffron sable sequoia summit tern thistle umber vesper willow zephyr")
	for i, customer := range customers {
		jobs = append(jobs, client.Job{
			Name: "statements/" + customer, Schedule: fmt.Sprintf("%d 6 1 * *", i), Timezone: "Europe/Berlin",
			Target: client.Target{Kind: "jetstream", Subject: "statements." + customer},
			Labels: map[string]string{"team": "billing", "customer": customer},
		})
	}
	return jobs
}

// Pages returns the path of each page of a furnished stage, by the name of its screenshot. It waits
// until there are runs to show.
func (s *Stage) Pages(ctx context.Context) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeMax)
	defer cancel()
	dead, err := s.awaitRun(ctx, client.RunListRequest{Job: DeadJob, Status: "dead"})
	if err != nil {
		return nil, err
	}
	done, err := s.awaitRun(ctx, client.RunListRequest{Job: LiveJob, Status: "succeeded"})
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"overview": "/", "jobs": "/jobs", "jobs-found": "/jobs?prefix=statements/&label=customer%3Dacme",
		"job": "/job?name=" + SlowJob, "job-live": "/job?name=" + LiveJob, "job-paused": "/job?name=" + PausedJob, "job-zoned": "/job?name=" + ZonedJob,
		"new": "/new", "edit": "/job/edit?name=" + DeadJob,
		"runs": "/runs?job=" + RetriedJob, "dead-letters": "/runs?status=dead",
		"run-dead": "/run?id=" + dead, "run-succeeded": "/run?id=" + done, "audit": "/audit",
		"calendars": "/calendars", "calendar": "/calendar?name=" + HolidaysCalendar + "&month=2026-11&zone=Europe%2FBerlin", "nodes": "/nodes",
		"backfill":   "/job/backfill?name=" + DeadJob + "&from=2026-11-20T00:00:00&to=2026-11-21T00:00:00",
		"playground": "/playground?schedule=30+2+*+*+*&timezone=America%2FNew_York&after=2027-03-12T12:00:00Z&count=6",
	}, nil
}

// awaitRun waits for a run and returns its id.
func (s *Stage) awaitRun(ctx context.Context, request client.RunListRequest) (string, error) {
	request.Limit = 1
	for {
		page, err := s.Client.ListRuns(ctx, request)
		if err != nil {
			return "", fmt.Errorf("wait for a %s run of %s: %w", request.Status, request.Job, err)
		}
		if len(page.Runs) > 0 {
			return page.Runs[0].RunID, nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("wait for a %s run of %s: %w", request.Status, request.Job, ctx.Err())
		case <-time.After(lookEvery):
		}
	}
}
