package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// How the stream's files are synced.
const (
	syncDefault = "default"
	syncAlways  = "always"
)

// natsCmd is the process of an embedded NATS server. It ends with its standard input.
type natsCmd struct {
	Data string `arg:""`
	Sync string `arg:"" enum:"default,always"`
}

func (c *natsCmd) run(in io.Reader, out io.Writer) error {
	srv, err := server.NewServer(&server.Options{
		ServerName: "rivals", Host: "127.0.0.1", Port: -1, NoSigs: true,
		JetStream: true, StoreDir: c.Data, SyncAlways: c.Sync == syncAlways,
	})
	if err != nil {
		return err
	}
	srv.Start()
	if !srv.ReadyForConnections(stopWait) {
		return fmt.Errorf("the NATS server was not ready after %s", stopWait)
	}
	fmt.Fprintln(out, srv.ClientURL())
	_, _ = io.Copy(io.Discard, in)
	srv.Shutdown()
	srv.WaitForShutdown()
	return nil
}

const (
	fireSubject     = "bench.fire" // of Carillon's jobs too
	scheduleSubject = "bench.schedule."
	streamName      = "BENCH"
)

// natsServer is a NATS server in a process of its own, with a stream for schedules.
type natsServer struct {
	*process
	dir   string
	url   string
	sync  string
	input io.Closer
}

func startNATS(ctx context.Context, dir, sync string) (*natsServer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	cmd := exec.Command(self, "nats", data, sync)
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
	s := &natsServer{process: p, dir: data, url: url, sync: sync, input: input}
	if err := s.createStream(ctx); err != nil {
		p.kill()
		return nil, fmt.Errorf("create the stream: %w", err)
	}
	return s, nil
}

func (s *natsServer) createStream(ctx context.Context) error {
	c, err := s.connect()
	if err != nil {
		return err
	}
	defer c.close()
	_, err = c.js.CreateStream(ctx, jetstream.StreamConfig{
		Name: streamName, Subjects: []string{scheduleSubject + "*", fireSubject}, Storage: jetstream.FileStorage,
		AllowMsgSchedules: true, AllowAtomicPublish: true, AllowDirect: true,
	})
	return err
}

func (s *natsServer) data() string      { return s.dir }
func (s *natsServer) stop()             { s.kill(); _ = s.input.Close() }
func (s *natsServer) receive() []string { return []string{"nats", s.url} }

// count returns the schedules. What fired took its schedule away.
func (s *natsServer) count(ctx context.Context) (int, error) {
	c, err := s.connect()
	if err != nil {
		return 0, err
	}
	defer c.close()
	stream, err := c.js.Stream(ctx, streamName)
	if err != nil {
		return 0, err
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(fireSubject))
	if err != nil {
		return 0, err
	}
	return int(info.State.Msgs) - int(info.State.Subjects[fireSubject]), nil
}

func (s *natsServer) dial(context.Context) (registrar, error) { return s.connect() }

func (s *natsServer) connect() (*natsClient, error) {
	nc, err := nats.Connect(s.url)
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(natsUnderWay))
	if err != nil {
		nc.Close()
		return nil, err
	}
	return &natsClient{nc: nc, js: js, batches: s.sync == syncAlways}, nil
}

// natsUnderWay is how many messages a client has published that are not acknowledged yet.
const natsUnderWay = 4000

// natsBatch is how many messages one atomic batch has: 1,000 are the most.
const natsBatch = 500

// natsClient publishes schedules. It writes the header itself, because the option of the client library
// cuts the time off to a second.
type natsClient struct {
	nc      *nats.Conn
	js      jetstream.JetStream
	batches bool // many messages go in atomic batches, which cost one sync each
	batch   int
}

func natsMessage(j job) *nats.Msg {
	m := nats.NewMsg(scheduleSubject + strconv.Itoa(j.number))
	m.Header.Set("Nats-Schedule", "@at "+j.due.UTC().Format(time.RFC3339Nano))
	m.Header.Set("Nats-Schedule-Target", fireSubject)
	m.Data = j.payload()
	return m
}

func (c *natsClient) close() { c.nc.Close() }

func (c *natsClient) put(ctx context.Context, j job) error {
	_, err := c.js.PublishMsg(ctx, natsMessage(j))
	return err
}

func (c *natsClient) putAll(ctx context.Context, jobs []job) error {
	if c.batches {
		return c.putBatches(ctx, jobs)
	}
	acks := make([]jetstream.PubAckFuture, len(jobs))
	for i, j := range jobs {
		var err error
		if acks[i], err = c.js.PublishMsgAsync(natsMessage(j)); err != nil {
			return err
		}
	}
	for _, ack := range acks {
		select {
		case <-ack.Ok():
		case err := <-ack.Err():
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
