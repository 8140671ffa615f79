// Command go-embedded runs the scheduler inside the program: no server, and no network. Jobs call functions.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/embedded"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := run(ctx, cmp.Or(os.Getenv("CARILLON_DATA"), "./embedded-data")); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dir string) (err error) {
	done := make(chan struct{}, 1)
	s, err := embedded.Open(dir, embedded.Options{
		By: "go-embedded",
		Handlers: map[string]embedded.Handler{
			// The error of a handler is the outcome of its attempt, and the job's retry decides what follows.
			"report": func(_ context.Context, run embedded.Run) error {
				if run.Attempt == 1 {
					return errors.New("the first attempt fails, for the example")
				}
				fmt.Printf("run %s attempt %d %s\n", run.ID, run.Attempt, run.Payload)
				select {
				case done <- struct{}{}:
				default: // a run that a kill has interrupted comes again, besides that of this start
				}
				return nil
			},
		},
	})
	if err != nil {
		return err
	}
	// Close waits for handlers, so it has a time of its own.
	defer func() {
		closing, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		err = errors.Join(err, s.Close(closing))
	}()

	// When Put has returned, the job is in the directory and survives a crash of the program. The put of the next start sets
	// the instant anew, and resumes the job if it is paused; go-nats shows how to keep a pause.
	job, _, err := s.Put(ctx, embedded.Job{
		Name:     "examples/go-embedded",
		Schedule: "@in 200ms",
		Target:   embedded.Call("report"),
		Payload:  []byte(`{"from": "go-embedded"}`),
		Retry:    client.Retry{MaxAttempts: 3, InitialInterval: client.Duration(100 * time.Millisecond)},
	})
	if err != nil {
		return err
	}
	select {
	case <-done:
		_, err = s.Delete(ctx, job.Name)
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
