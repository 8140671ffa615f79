// Command go-nats registers a job over NATS and receives its runs, in one program.
//
// A service would register its jobs at its start, as here: a put of a job that is there already changes it to this
// definition, and a put that changes nothing but its version does no harm.
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
	info, created, err := c.Put(ctx, client.Job{
		Name:     "examples/go-nats",
		Schedule: "@every 500ms",
		Target:   client.Target{Kind: "nats", Subject: "examples.go-nats"},
		Payload:  []byte(`{"from": "go-nats"}`),
	})
	if err != nil {
		return err // it says what is wrong with the job, and in which member
	}
	fmt.Printf("%s is on disk (created: %t), next run %s\n", info.Name, created, info.NextRunAt)

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
