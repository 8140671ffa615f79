package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/hibiken/asynq"
)

// redisVersion returns what the server says of itself.
func redisVersion() (string, error) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		return "", errors.New("Redis is not there: run ./install.sh, or put redis-server into the PATH")
	}
	text, err := exec.Command("redis-server", "--version").Output()
	if fields := strings.Fields(string(text)); len(fields) > 2 {
		return "Redis " + strings.TrimPrefix(fields[2], "v="), err
	}
	return "Redis", err
}

// asynqSystem is a Redis server that asynq keeps its tasks in.
type asynqSystem struct {
	*process
	dir     string
	address string
	tuned   bool // how often the worker looks
}

func startAsynq(ctx context.Context, dir, appendfsync string, tuned bool) (*asynqSystem, error) {
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("redis-server", "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", data,
		"--appendonly", "yes", "--appendfsync", appendfsync, "--save", "", "--daemonize", "no", "--loglevel", "warning")
	p, err := startProcess(cmd, filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	s := &asynqSystem{process: p, dir: data, address: fmt.Sprintf("127.0.0.1:%d", port), tuned: tuned}
	client := asynq.NewClient(s.redis())
	defer client.Close()
	if err := p.await(ctx, "Redis", client.Ping); err != nil {
		p.kill()
		return nil, err
	}
	return s, nil
}

func (s *asynqSystem) redis() asynq.RedisClientOpt {
	return asynq.RedisClientOpt{Addr: s.address, PoolSize: asynqConns}
}

func (s *asynqSystem) data() string { return s.dir }
func (s *asynqSystem) stop()        { s.kill() }

func (s *asynqSystem) receive() []string {
	return append([]string{"asynq", s.address}, tunedFlag(s.tuned)...)
}

func (s *asynqSystem) count(context.Context) (int, error) {
	inspector := asynq.NewInspector(s.redis())
	defer inspector.Close()
	queue, err := inspector.GetQueueInfo("default")
	if err != nil {
		return 0, err
	}
	return queue.Size, nil
}

func (s *asynqSystem) dial(context.Context) (registrar, error) {
	return asynqClient{asynq.NewClient(s.redis())}, nil
}

// asynqConns is how many connections the pool of a client has.
const asynqConns = 128

// asynqTogether is how many registrations are under way when there are many: asynq has no way to
// register more than one at once.
const asynqTogether = 64

// asynqClient enqueues tasks.
type asynqClient struct{ *asynq.Client }

func (c asynqClient) close() { _ = c.Close() }

func (c asynqClient) put(ctx context.Context, j job) error {
	_, err := c.EnqueueContext(ctx, asynq.NewTask(args{}.Kind(), j.payload()), asynq.ProcessAt(j.due))
	return err
}

func (c asynqClient) putAll(ctx context.Context, jobs []job) error {
	errs := make([]error, asynqTogether)
	var group sync.WaitGroup
	for worker := range asynqTogether {
		group.Go(func() {
			for i := worker; i < len(jobs) && errs[worker] == nil; i += asynqTogether {
				errs[worker] = c.put(ctx, jobs[i])
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}
