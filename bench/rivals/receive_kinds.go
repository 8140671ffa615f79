package main

import (
	"context"
	"time"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// subscribe receives what Carillon sends to a NATS subject.
func (c *receiveCmd) subscribe(_ context.Context, a *arrivals) error {
	nc, err := nats.Connect(c.Address, nats.MaxReconnects(-1))
	if err != nil {
		return err
	}
	sub, err := nc.Subscribe(fireSubject, func(m *nats.Msg) {
		a.add(time.Now(), m.Data)
		if m.Reply != "" {
			_ = m.Respond(nil) // the sender sees to one that is lost
		}
	})
	if err != nil {
		return err
	}
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return err
	}
	return nc.Flush()
}

// consume receives what NATS stores when a schedule is due: an ordered consumer is its fastest way.
func (c *receiveCmd) consume(ctx context.Context, a *arrivals) error {
	nc, err := nats.Connect(c.Address, nats.MaxReconnects(-1))
	if err != nil {
		return err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	consumer, err := js.OrderedConsumer(ctx, streamName, jetstream.OrderedConsumerConfig{FilterSubjects: []string{fireSubject}})
	if err != nil {
		return err
	}
	_, err = consumer.Consume(func(m jetstream.Msg) { a.add(time.Now(), m.Data()) })
	return err
}

// The settings of River's worker. The defaults are River's own.
const (
	riverWorkers       = 1000
	riverTunedPoll     = 20 * time.Millisecond
	riverTunedCooldown = 10 * time.Millisecond
)

// workRiver works River's jobs.
func (c *receiveCmd) workRiver(ctx context.Context, a *arrivals) error {
	config, err := pgxpool.ParseConfig(c.Address)
	if err != nil {
		return err
	}
	config.MaxConns = riverConns
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(_ context.Context, j *river.Job[args]) error {
		a.addNumber(time.Now(), j.Args.Number)
		return nil
	}))
	settings := &river.Config{
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: riverWorkers}},
		Workers: workers, Logger: quiet(),
	}
	if c.Tuned {
		settings.FetchPollInterval, settings.FetchCooldown = riverTunedPoll, riverTunedCooldown
	}
	client, err := river.NewClient(riverpgxv5.New(pool), settings)
	if err != nil {
		return err
	}
	return client.Start(ctx)
}

// The settings of asynq's worker. The defaults are asynq's own, but for the concurrency, which is the
// number of cores by default.
const (
	asynqWorkers      = 100
	asynqTunedForward = 100 * time.Millisecond
	asynqTunedCheck   = 50 * time.Millisecond
)

// workAsynq works asynq's tasks.
func (c *receiveCmd) workAsynq(_ context.Context, a *arrivals) error {
	settings := asynq.Config{Concurrency: asynqWorkers, LogLevel: asynq.ErrorLevel}
	if c.Tuned {
		settings.DelayedTaskCheckInterval, settings.TaskCheckInterval = asynqTunedForward, asynqTunedCheck
	}
	server := asynq.NewServer(asynq.RedisClientOpt{Addr: c.Address}, settings)
	return server.Start(asynq.HandlerFunc(func(_ context.Context, t *asynq.Task) error {
		a.add(time.Now(), t.Payload())
		return nil
	}))
}
