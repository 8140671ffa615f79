// Command go-http registers a job over HTTP and receives its runs as a web hook.
//
// The server must be allowed to call loopback addresses: carillon serve --allow-private-targets.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/carillon-io/carillon/client"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := run(ctx, cmp.Or(os.Getenv("CARILLON_SERVER"), "http://127.0.0.1:7272")); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, server string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	hook := &hook{done: make(map[string]bool), worked: make(chan string, 3)}
	receiver := &http.Server{Handler: hook, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = receiver.Serve(listener) }()
	defer func() { _ = receiver.Close() }()

	c, err := client.Connect(server, client.Options{By: "go-http"})
	if err != nil {
		return err
	}
	defer c.Close()
	// A put resumes a paused job; go-nats shows how to keep a pause.
	job, _, err := c.Put(ctx, client.Job{
		Name:     "examples/go-http",
		Schedule: "@every 500ms",
		Target:   client.Target{Kind: "http", URL: "http://" + listener.Addr().String() + "/hook"},
		Payload:  []byte(`{"from": "go-http"}`),
		Retry:    client.Retry{MaxAttempts: 5, InitialInterval: client.Duration(100 * time.Millisecond)},
	})
	if err != nil {
		return err
	}
	for range 3 {
		select {
		case line := <-hook.worked:
			fmt.Println(line)
		case <-ctx.Done():
			return errors.New("no run has arrived; is the server started with --allow-private-targets?")
		}
	}
	_, err = c.Delete(ctx, job.Name)
	return err
}

// hook receives runs. A run may arrive twice, after a crash or a lost reply, and always with the same key.
type hook struct {
	mu     sync.Mutex
	done   map[string]bool
	worked chan string
}

// ServeHTTP implements [http.Handler]. A status of 2xx ends the run well; 5xx, 408 and 429 are tried again.
func (h *hook) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(rw, req.Body, 1<<20))
	if err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	key := req.Header.Get("Idempotency-Key")
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done[key] {
		return
	}
	// The work comes first and its key second, because a key without its work would make the next attempt succeed with
	// nothing done. A crash between the two repeats the work; where that hurts, both belong into one transaction, as in
	// go-exactly-once.
	if err := h.work(key, req.Header.Get("Carillon-Attempt"), body); err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	h.done[key] = true
}

// work fails at the first attempt of each run, for the example.
func (h *hook) work(key, attempt string, body []byte) error {
	if attempt == "1" {
		return errors.New("the first attempt fails, for the example")
	}
	h.worked <- fmt.Sprintf("run %s %s", key, body)
	return nil
}
