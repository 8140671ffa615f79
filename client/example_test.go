package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// A job is registered with one call, and its target is any subject of NATS.
func Example() {
	ctx := context.Background()
	nc, err := nats.Connect(serverURL)
	if err != nil {
		log.Fatal(err)
	}
	defer nc.Close()
	bells, err := nc.SubscribeSync("bells.ring")
	if err != nil {
		log.Fatal(err)
	}

	c, err := client.New(nc, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	_, created, err := c.Put(ctx, client.Job{
		Name:     "hourly-bell",
		Schedule: "@every 1s",
		Target:   client.Target{Kind: "nats", Subject: "bells.ring"},
		Payload:  []byte(`{"strokes": 3}`),
		MaxRuns:  1,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("created:", created)

	msg, err := bells.NextMsg(10 * time.Second)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(msg.Header.Get("Carillon-Job"), string(msg.Data))
	// Output:
	// created: true
	// hourly-bell {"strokes":3}
}

// With rights, a client shows a token. The file is read for each request, so the token is rotated by replacing the file;
// a certificate of a private authority is trusted by TLSFrom.
func ExampleConnect() {
	tls, err := client.TLSFrom("", "", "") // authorities, certificate, key
	if err != nil {
		log.Fatal(err)
	}
	c, err := client.Connect(guardedHTTP, client.Options{ // such as https://carillon.example.com:7272
		Tenant: "billing", Token: client.TokenFile(operatorToken), TLS: tls,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	_, created, err := c.Put(context.Background(), client.Job{
		Name: "invoices", Schedule: "@daily", Target: client.Target{Kind: "nats", Subject: "billing.invoices"},
	})
	fmt.Println(created, err)
	_, err = c.Delete(context.Background(), "invoices")
	fmt.Println(client.IsForbidden(err), err)
	// Output:
	// true <nil>
	// true forbidden: token:ci may not use jobs.delete in the tenant billing
}

// The version of the job as it was read prevents two writers from undoing each other's change.
func ExampleClient_PutIfVersion() {
	ctx := context.Background()
	c, err := client.Connect(serverURL, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	first, _, err := c.PutIfVersion(ctx, client.Job{
		Name: "report", Schedule: "0 8 * * 1-5", Timezone: "America/New_York",
		Target: client.Target{Kind: "http", URL: "https://example.com/report"},
	}, 0) // 0: the job must not exist
	if err != nil {
		log.Fatal(err)
	}

	changed := first.Job
	changed.Schedule = "30 8 * * 1-5"
	second, _, err := c.PutIfVersion(ctx, changed, first.Version)
	fmt.Println(second.Version, err)

	_, _, err = c.PutIfVersion(ctx, changed, first.Version)
	fmt.Println(client.IsConflict(err))
	// Output:
	// 2 <nil>
	// true
}

// PutAll registers any number of jobs in few requests. A refused job does not affect the others.
func ExampleClient_PutAll() {
	c, err := client.Connect(serverURL, client.Options{Tenant: "reminders"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	reminders := func(yield func(client.Job) bool) {
		due := time.Now().AddDate(1, 0, 0)
		for i := range 10_000 {
			j := client.Job{
				Name:     fmt.Sprintf("customer-%d", i),
				Schedule: "@at " + client.At(due.Add(time.Duration(i)*time.Second)).String(),
				Target:   client.Target{Kind: "nats", Subject: "reminders.send"},
			}
			if i == 17 {
				j.Target.Subject = "reminders.>"
			}
			if !yield(j) {
				return
			}
		}
	}
	totals, err := c.PutAll(context.Background(), reminders, func(r client.PutResult) {
		if r.Error != nil {
			fmt.Println(r.Name, r.Error)
		}
	})
	fmt.Println(totals, err)
	// Output:
	// customer-17 invalid_target: target.subject: has the wildcard ">"; a run goes to one subject
	// {9999 1} <nil>
}

// An iterator hides the pages of a list.
func ExampleClient_Jobs() {
	ctx := context.Background()
	c, err := client.Connect(serverURL, client.Options{Tenant: "listed"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for _, name := range []string{"b", "a", "c"} {
		_, _, err := c.Put(ctx, client.Job{
			Name: name, Schedule: "@daily", Paused: name == "c", Target: client.Target{Kind: "jetstream", Subject: "orders." + name},
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	for j, err := range c.Jobs(ctx, client.ListRequest{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(j.Name, j.Status)
	}
	// Output:
	// a active
	// b active
	// c paused
}

// An idempotency key makes a trigger safe to repeat.
func ExampleClient_Trigger() {
	ctx := context.Background()
	c, err := client.Connect(serverURL, client.Options{Tenant: "triggered"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	if _, _, err := c.Put(ctx, client.Job{Name: "cleanup", Schedule: "@monthly", Target: client.Target{Kind: "nats", Subject: "cleanup.now"}}); err != nil {
		log.Fatal(err)
	}
	request := client.TriggerRequest{Name: "cleanup", IdempotencyKey: "ticket-4711"}
	one, err := c.Trigger(ctx, request)
	if err != nil {
		log.Fatal(err)
	}
	two, err := c.Trigger(ctx, request)
	fmt.Println(one.Manual, one.RunID == two.RunID, err)
	// Output: true true <nil>
}

// Next shows what a schedule does at clock changes before it is registered.
func ExampleClient_Next() {
	c, err := client.Connect(serverURL, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	reply, err := c.Next(context.Background(), client.NextRequest{
		Schedule: "30 2 * * *", Timezone: "Europe/Berlin", Count: 2,
		After: client.At(time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)),
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, at := range reply.Times {
		fmt.Println(at)
	}
	fmt.Println(len(reply.Notes), "note")
	// Output:
	// 2026-03-29T01:00:00.000Z
	// 2026-03-30T00:30:00.000Z
	// 1 note
}

// An error says what is wrong, where, and what would be right.
func ExampleError() {
	c, err := client.Connect(serverURL, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	_, _, err = c.Put(context.Background(), client.Job{
		Name: "x", Schedule: "@every 1ms", Target: client.Target{Kind: "nats", Subject: "a"},
	})
	if refusal, ok := errors.AsType[*client.Error](err); ok {
		fmt.Println(refusal.Code, refusal.Field, refusal.Status)
	}
	fmt.Println(errors.Is(err, client.CodeInvalidSchedule))
	// Output:
	// invalid_schedule schedule 422
	// true
}
