package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// bareRival names the program that says what the machine and NATS cost: it is no scheduler, and does the least that one over NATS
// must do. bareCmd has what that is.
const bareRival = "bare"

// bareName is its name in the tables.
const bareName = "bare program"

// The subjects to which the bare program listens.
const (
	bareHoldSubject = "bare.hold" // jobs that it holds in memory and fires
	barePutSubject  = "bare.put"  // requests that it writes down
)

// bareServer is the bare program in a process of its own.
type bareServer struct {
	*process
	dir   string
	url   string
	input io.Closer
}

func startBare(ctx context.Context, dir string) (*bareServer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	cmd := exec.Command(self, "bare", data)
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	lines, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p, err := startProcess(cmd, filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	url, err := p.firstLine(ctx, lines)
	if err != nil {
		return nil, err
	}
	return &bareServer{process: p, dir: data, url: url, input: input}, nil
}

func (s *bareServer) data() string      { return s.dir }
func (s *bareServer) stop()             { s.kill(); _ = s.input.Close() }
func (s *bareServer) receive() []string { return []string{carillonRival, s.url} }

// count returns the jobs that are in its file: each request is one JSON value.
func (s *bareServer) count(context.Context) (int, error) {
	text, err := os.ReadFile(filepath.Join(s.dir, bareFile))
	if err != nil {
		return 0, err
	}
	jobs := 0
	for values := json.NewDecoder(bytes.NewReader(text)); ; {
		var one struct {
			Name string
			Jobs []json.RawMessage
		}
		switch err := values.Decode(&one); {
		case err == io.EOF:
			return jobs, nil
		case err != nil:
			return 0, fmt.Errorf("read %s: %w", bareFile, err)
		case one.Name != "":
			jobs++
		}
		jobs += len(one.Jobs)
	}
}

// dial returns a client whose jobs are written down and never fire.
func (s *bareServer) dial(context.Context) (registrar, error) {
	nc, err := nats.Connect(s.url)
	if err != nil {
		return nil, err
	}
	return &bareClient{nc}, nil
}

// dialFiring returns a client whose jobs are held in memory and fire.
func (s *bareServer) dialFiring(context.Context) (registrar, error) {
	nc, err := nats.Connect(s.url)
	if err != nil {
		return nil, err
	}
	return &bareHolder{nc}, nil
}

const (
	// bareBatch is how many jobs one request of many has: as many as with Carillon's client, if the server takes messages of
	// 4 MiB.
	bareBatch = 8192
	// bareUnderWay is how many such requests are under way, as with Carillon's client.
	bareUnderWay = 4
)

// bareClient registers jobs. Its requests have the bytes of those of Carillon's client.
type bareClient struct{ nc *nats.Conn }

func (c *bareClient) close() { c.nc.Close() }

func (c *bareClient) put(ctx context.Context, j job) error {
	return bareAsk(ctx, c.nc, barePutSubject, appendBareJob(nil, j))
}

func (c *bareClient) putAll(ctx context.Context, jobs []job) error {
	errs := make(chan error, len(jobs)/bareBatch+1)
	places := make(chan struct{}, bareUnderWay)
	for part := range slices.Chunk(jobs, bareBatch) {
		text := []byte(`{"jobs":[`)
		for i, j := range part {
			if i > 0 {
				text = append(text, ',')
			}
			text = appendBareJob(text, j)
		}
		text = append(text, `]}`...)
		places <- struct{}{}
		go func() {
			errs <- bareAsk(ctx, c.nc, barePutSubject, text)
			<-places
		}()
	}
	var failed error
	for range (len(jobs) + bareBatch - 1) / bareBatch {
		if err := <-errs; failed == nil {
			failed = err
		}
	}
	return failed
}

// bareHolder gives jobs to the bare program that it holds and fires.
type bareHolder struct{ nc *nats.Conn }

func (c *bareHolder) close() { c.nc.Close() }

func (c *bareHolder) put(ctx context.Context, j job) error { return c.putAll(ctx, []job{j}) }

func (c *bareHolder) putAll(ctx context.Context, jobs []job) error {
	for part := range slices.Chunk(jobs, bareBatch) {
		held := make([]bareJob, len(part))
		for i, j := range part {
			held[i] = bareJob{j.number, j.due.UnixMilli(), j.payload()}
		}
		text, err := json.Marshal(held)
		if err != nil {
			return err
		}
		if err := bareAsk(ctx, c.nc, bareHoldSubject, text); err != nil {
			return err
		}
	}
	return nil
}

// bareAsk sends a request and waits for its answer, which is empty if all went well.
func bareAsk(ctx context.Context, nc *nats.Conn, subject string, text []byte) error {
	reply, err := nc.RequestWithContext(ctx, subject, text)
	if err == nil && len(reply.Data) > 0 {
		err = fmt.Errorf("the bare program refused a request: %s", reply.Data)
	}
	return err
}

// appendBareJob appends the job as Carillon's client writes it.
func appendBareJob(text []byte, j job) []byte {
	text = append(text, `{"name":"`...)
	text = strconv.AppendInt(text, int64(j.number), 10)
	text = append(text, `","schedule":"@at `...)
	text = append(text, client.At(j.due).String()...)
	text = append(text, `","target":{"kind":"nats","subject":"`+fireSubject+`"},"payload":`...)
	text = append(text, j.payload()...)
	return append(text, `,"overlap_policy":"allow"}`...)
}
