// Command go-nats registers a job over NATS and receives its runs, in one program.
//
// A service would register its jobs at its start, as here: a put of a job that is there already changes it to this
// definition. See register for what such a put must not change.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

func main() {
	if err := run(context.Background(), cmp.Or(os.Getenv("CARILLON_SERVER"), nats.DefaultURL)); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, server string) error {
	nc, err := nats.Connect(server)
	if err != nil {
		return err
	}
	defer nc.Close()

	// Workers of one queue group share the runs: each run goes to one of them.
	runs, err := nc.QueueSubscribeSync("examples.go-nats", "workers")
	if err != nil {
		return err
	}

	c, err := client.New(nc, client.Options{By: "go-nats"})
	if err != nil {
		return err
	}
	info, err := register(ctx, c, client.Job{
		Name:     "examples/go-nats",
		Schedule: "@every 500ms",
		Target:   client.Target{Kind: "nats", Subject: "examples.go-nats"},
		Payload:  []byte(`{"from": "go-nats"}`),
	})
	if err != nil {
		return err // it says what is wrong with the job, and in which member
	}
	if info.Paused {
		return fmt.Errorf("%s is paused and has no runs until it is resumed", info.Name)
	}
	fmt.Printf("%s is on disk, next run %s\n", info.Name, info.NextRunAt)

	for range 3 {
		msg, err := runs.NextMsg(10 * time.Second)
		if err != nil {
			return fmt.Errorf("wait for a run: %w", err)
		}
		// The run id is the same for each attempt of a run: the key by which to do the work once.
		fmt.Println("run", msg.Header.Get("Carillon-Run-Id"), string(msg.Data))
	}
	// The example ends here. A service leaves its job, which goes on while the service is away.
	_, err = c.Delete(ctx, info.Name)
	return err
}

// register puts a job. A put without Paused resumes a job that an operator has paused, so register keeps the pause. If the
// job was paused or resumed between the two requests, its version is another one, and register begins again.
func register(ctx context.Context, c *client.Client, j client.Job) (client.JobInfo, error) {
	for {
		has, err := c.Get(ctx, j.Name)
		if err != nil && !client.IsNotFound(err) {
			return has, err
		}
		j.Paused = has.Paused
		info, _, err := c.PutIfVersion(ctx, j, has.Version) // 0 means that there is no such job
		if !client.IsConflict(err) {
			return info, err
		}
	}
}
