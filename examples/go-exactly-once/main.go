// Command go-exactly-once fires a job into a JetStream stream, and consumes the stream so that each run has one result.
//
// No message is delivered exactly once, so three things work together. The run id never changes: a run that is published
// again has the same Nats-Msg-Id, and the stream drops it within its duplicate window. The consumer acknowledges last: a
// message whose worker is killed, or whose acknowledgement is lost, comes again. And the result is written under the run
// id with Create, which fails if the key exists: the result is also the record that the run is done, and no crash comes
// between the two. A message that comes again, from the consumer or after the window, finds it.
//
// That holds for the result in the bucket, and for as long as the bucket keeps it. It does not hold for effects elsewhere.
// A worker that sends an e-mail, and is killed before it writes that down, sends it again. Such an effect belongs into one
// transaction with its record, as in a database; or it gets the run id, if the other side does the work of an id once.
package main

import (
	"bytes"
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
	subject = "examples.once"
	runs    = 3
	// unread is how long a run waits in the stream for a worker. Then it is lost.
	unread = 24 * time.Hour
	// idMax and payloadMax are what a run of Carillon never exceeds, in bytes. A larger message could have a result that the
	// bucket does not take, and come again and again.
	idMax, payloadMax = 128, 256 << 10
	// again is how long after its result a run may still be published again, for example by a retry by hand.
	again = 24 * time.Hour
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
	// A full stream refuses new runs, which Carillon tries again. By default it would drop old ones, which no worker may
	// have read yet. In a cluster of NATS servers give stream and bucket Replicas: 3, or both end with the server that has them.
	s, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: "EXAMPLES", Subjects: []string{subject}, Duplicates: 10 * time.Minute, MaxBytes: 64 << 20, Discard: jetstream.DiscardNew, MaxAge: unread,
	})
	if err != nil {
		return err
	}
	// A result is kept for longer than any message of its run.
	results, err := js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "examples-done", TTL: again + unread, MaxBytes: 16 << 20})
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
	// A put resumes a paused job; go-nats shows how to keep a pause.
	job, _, err := c.Put(ctx, client.Job{
		Name:     "examples/go-exactly-once",
		Schedule: "@every 300ms",
		// The run has succeeded when the stream has acknowledged it. Until then it is tried again, up to MaxAttempts times; then
		// it is dead, and `carillon run retry` starts it again.
		Target:  client.Target{Kind: "jetstream", Subject: subject},
		Retry:   client.Retry{MaxAttempts: 100},
		Payload: []byte(`{"from": "go-exactly-once"}`),
	})
	if err != nil {
		return err
	}
	for done := 0; done < runs; {
		msg, err := consumer.Next(jetstream.FetchMaxWait(5 * time.Second))
		if err != nil {
			return fmt.Errorf("wait for a run: %w", err)
		}
		first, err := handle(ctx, results, msg)
		if err != nil {
			return err
		}
		if first {
			done++
		}
	}
	_, err = c.Delete(ctx, job.Name)
	return err
}

// handle writes the result of a run, unless it is there already, and acknowledges the message.
func handle(ctx context.Context, results jetstream.KeyValue, msg jetstream.Msg) (first bool, err error) {
	id := msg.Headers().Get("Carillon-Run-Id")
	if len(id) > idMax || len(msg.Data()) > payloadMax {
		log.Printf("dropped a message that is larger than a run of Carillon: %d bytes", len(msg.Data()))
		return false, msg.TermWithReason("too large")
	}
	_, err = results.Create(ctx, id, work(msg.Data()))
	switch {
	case err == nil:
		fmt.Println("run", id, string(msg.Data()))
	case errors.Is(err, jetstream.ErrKeyExists):
		fmt.Println("again run", id, "which has its result")
	case errors.Is(err, jetstream.ErrInvalidKey):
		// Any client that may publish to the subject can put such a message there. Not ended, it would come again and again.
		log.Printf("dropped a message without a run id, which is no run of Carillon: %.100q", msg.Data())
		return false, msg.TermWithReason("no run id")
	default:
		return false, err
	}
	return err == nil, msg.DoubleAck(ctx)
}

// work returns the result of a run. It may be called more than once for a run, so it changes nothing elsewhere.
func work(payload []byte) []byte { return bytes.ToUpper(payload) }
