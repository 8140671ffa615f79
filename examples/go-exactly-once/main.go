// Command go-exactly-once fires a job into a JetStream stream, which stores each run once, and consumes it so that the
// work of each run is done once.
//
// Three things make that so. The run id never changes, so a repeated delivery has the same Nats-Msg-Id, and the stream
// drops the second within its duplicate window. The consumer acknowledges after the work. And the work is recorded under
// the run id, here in a key-value bucket whose Create fails if the key exists: a message that is delivered again to the
// consumer, because its acknowledgement was lost, finds its own record.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/client"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := run(ctx, cmp.Or(os.Getenv("CARILLON_SERVER"), nats.DefaultURL)); err != nil {
		log.Fatal(err)
	}
}

const (
	stream  = "EXAMPLES"
	subject = "examples.once"
	runs    = 3
)

func run(ctx context.Context, server string) error {
	nc, err := nats.Connect(server)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	// The window must be longer than the time in which a run may be delivered again: its retries, and a takeover.
	s, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: stream, Subjects: []string{subject}, Duplicates: 10 * time.Minute, MaxBytes: 64 << 20, MaxAge: 24 * time.Hour,
	})
	if err != nil {
		return err
	}
	done, err := js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "examples-done", TTL: 24 * time.Hour, MaxBytes: 16 << 20})
	if err != nil {
		return err
	}
	consumer, err := s.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{Durable: "worker", AckPolicy: jetstream.AckExplicitPolicy, AckWait: 30 * time.Second})
	if err != nil {
		return err
	}

	c, err := client.New(nc, client.Options{By: "go-exactly-once"})
	if err != nil {
		return err
	}
	job, _, err := c.Put(ctx, client.Job{
		Name:     "examples/go-exactly-once",
		Schedule: "@every 300ms",
		MaxRuns:  runs,
		// The run has succeeded when the stream has acknowledged it, and is tried again until then.
		Target:  client.Target{Kind: "jetstream", Subject: subject},
		Payload: []byte(`{"from": "go-exactly-once"}`),
	})
	if err != nil {
		return err
	}
	for worked := 0; worked < runs; {
		msg, err := consumer.Next(jetstream.FetchMaxWait(5 * time.Second))
		if err != nil {
			return fmt.Errorf("wait for a run: %w", err)
		}
		first, err := work(ctx, done, msg)
		if err != nil {
			return err
		}
		if first {
			worked++
		}
		// What another program publishes again under the id of a run, the stream has already: it stores nothing.
		ack, err := js.Publish(ctx, subject, msg.Data(), jetstream.WithMsgID(msg.Headers().Get("Carillon-Run-Id")))
		if err != nil {
			return err
		}
		fmt.Println("run", msg.Headers().Get("Carillon-Run-Id"), "stored again:", !ack.Duplicate)
	}
	_, err = c.Delete(ctx, job.Name)
	return err
}

// work does the work of a run unless it is done already, and acknowledges the message. A database would have the record
// and the result in one transaction.
func work(ctx context.Context, done jetstream.KeyValue, msg jetstream.Msg) (first bool, err error) {
	_, err = done.Create(ctx, msg.Headers().Get("Carillon-Run-Id"), msg.Data())
	if err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
		return false, err
	}
	return err == nil, msg.DoubleAck(ctx)
}
