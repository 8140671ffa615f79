package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/embedded"
)

// A program embeds the scheduler: a job calls a function.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "carillon")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	done := make(chan struct{})
	s, err := embedded.Open(dir, embedded.Options{Handlers: map[string]embedded.Handler{
		"greet": func(_ context.Context, run embedded.Run) error {
			fmt.Printf("%s: hello, %s\n", run.Job, run.Payload)
			close(done)
			return nil
		},
	}})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	_, created, err := s.Put(ctx, embedded.Job{
		Name: "morning", Schedule: "0 8 * * *", Timezone: "Europe/Berlin",
		Target: embedded.Call("greet"), Payload: []byte(`"world"`),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("created:", created)
	if _, err := s.Trigger(ctx, client.TriggerRequest{Name: "morning"}); err != nil {
		log.Fatal(err)
	}
	<-done
	if err := s.Close(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// created: true
	// morning: hello, "world"
}

// A delayed message is a job that runs once. It is on disk when Put returns, and survives a crash.
func ExampleScheduler_delayed() {
	dir, err := os.MkdirTemp("", "carillon")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	arrived := make(chan embedded.Run)
	s, err := embedded.Open(dir, embedded.Options{Handlers: map[string]embedded.Handler{
		"remind": func(_ context.Context, run embedded.Run) error { arrived <- run; return nil },
	}})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	at := client.At(time.Now().Add(50 * time.Millisecond))
	_, _, err = s.Put(ctx, embedded.Job{
		Name: "reminders/4711", Schedule: "@at " + at.String(), Target: embedded.Call("remind"),
		Payload: []byte(`{"text":"the cake"}`),
	})
	if err != nil {
		log.Fatal(err)
	}
	run := <-arrived
	fmt.Printf("%s, early: %v\n", run.Payload, time.Now().Before(at.Time))
	if err := s.Close(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: {"text":"the cake"}, early: false
}

// A nightly job fails and is retried by its policy. On the clock of a test this takes a moment.
func ExampleTest_retry() {
	test, err := embedded.NewTest(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), embedded.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = test.Close() }()
	err = test.Handle("backup", func(_ context.Context, run embedded.Run) error {
		fmt.Printf("%s attempt %d\n", test.Now().Format("15:04:05"), run.Attempt)
		if run.Attempt < 3 {
			return errors.New("the disk is full")
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	noJitter := 0.0
	_, _, err = test.Put(context.Background(), embedded.Job{
		Name: "backup", Schedule: "0 3 * * *", Target: embedded.Call("backup"),
		Retry: client.Retry{
			MaxAttempts: 5, InitialInterval: client.Duration(time.Minute), Multiplier: 10,
			MaxInterval: client.Duration(time.Hour), Jitter: &noJitter,
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	test.Advance(24 * time.Hour)
	// Output:
	// 03:00:00 attempt 1
	// 03:01:00 attempt 2
	// 03:11:00 attempt 3
}

// A schedule over a year with two clock changes takes milliseconds on the clock of a test.
func ExampleTest_daylightSaving() {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		log.Fatal(err)
	}
	test, err := embedded.NewTest(time.Date(2026, 1, 1, 0, 0, 0, 0, berlin), embedded.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = test.Close() }()
	runs := 0
	err = test.Handle("report", func(context.Context, embedded.Run) error {
		runs++
		if now := test.Now().In(berlin); now.Format("15:04") != "02:30" || now.Format("01-02") == "10-25" {
			fmt.Println(now.Format("2006-01-02 15:04 MST"))
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	_, _, err = test.Put(context.Background(), embedded.Job{
		Name: "report", Schedule: "30 2 * * *", Timezone: "Europe/Berlin", Target: embedded.Call("report"),
	})
	if err != nil {
		log.Fatal(err)
	}
	test.AdvanceTo(time.Date(2027, 1, 1, 0, 0, 0, 0, berlin))
	fmt.Println(runs, "runs")
	// Output:
	// 2026-03-29 03:00 CEST
	// 2026-10-25 02:30 CEST
	// 365 runs
}
