package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/carillon-io/carillon/client"
)

// carillonServer is the real server.
type carillonServer struct {
	*process
	dir    string
	url    string
	target string // kind of the target that jobs have: nats, or request
}

// startCarillon starts the server on an empty directory and waits for its ready line.
func startCarillon(ctx context.Context, binary, dir, target string) (*carillonServer, error) {
	data := filepath.Join(dir, "data")
	cmd := exec.Command(binary, "serve", "--data", data, "--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0")
	lines, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p, err := startProcess(cmd, filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	line, err := p.firstLine(ctx, lines)
	if err != nil {
		return nil, err
	}
	var ready struct {
		NATS string `json:"nats"`
	}
	if err := json.Unmarshal([]byte(line), &ready); err != nil {
		p.kill()
		return nil, fmt.Errorf("read the ready line of %s: %w", binary, err)
	}
	return &carillonServer{p, data, ready.NATS, target}, nil
}

func (s *carillonServer) data() string      { return s.dir }
func (s *carillonServer) stop()             { s.kill() }
func (s *carillonServer) receive() []string { return []string{"carillon", s.url} }

func (s *carillonServer) count(ctx context.Context) (int, error) {
	c, err := client.Connect(s.url, client.Options{})
	if err != nil {
		return 0, err
	}
	defer c.Close()
	status, err := c.Status(ctx)
	return status.Armed, err
}

func (s *carillonServer) dial(context.Context) (registrar, error) {
	c, err := client.Connect(s.url, client.Options{})
	if err != nil {
		return nil, err
	}
	return carillonClient{c, s.target}, nil
}

// carillonClient is the public client.
type carillonClient struct {
	*client.Client
	target string
}

func (c carillonClient) put(ctx context.Context, j job) error {
	_, _, err := c.Put(ctx, c.job(j))
	return err
}

func (c carillonClient) putAll(ctx context.Context, jobs []job) error {
	var refused error
	_, err := c.PutAll(ctx, func(yield func(client.Job) bool) {
		for _, j := range jobs {
			if !yield(c.job(j)) {
				return
			}
		}
	}, func(p client.PutResult) {
		if p.Error != nil && refused == nil {
			refused = p.Error
		}
	})
	if err == nil {
		err = refused
	}
	return err
}

func (c carillonClient) close() { c.Close() }

func (c carillonClient) job(j job) client.Job {
	return client.Job{
		Name: strconv.Itoa(j.number), Schedule: "@at " + client.At(j.due).String(), OverlapPolicy: "allow",
		Target: client.Target{Kind: c.target, Subject: fireSubject}, Payload: j.payload(),
	}
}
