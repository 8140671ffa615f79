package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// riverLookAhead is how far ahead River makes scheduled jobs available, and how often it looks. Jobs
// registered later than that before they are due may wait for its next look.
const riverLookAhead = 5 * time.Second

// riverBatch is how many jobs go in one bulk registration.
const riverBatch = 10_000

// riverConns is how many connections a pool has, that of clients and that of the worker. One for each of
// many clients made them slower.
const riverConns = 24

// riverSystem is River's tables in PostgreSQL.
type riverSystem struct {
	*postgres
	tuned bool // how the worker polls
}

func startRiver(ctx context.Context, dir string, tuned bool) (*riverSystem, error) {
	pg, err := startPostgres(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := migrateRiver(ctx, pg.url); err != nil {
		pg.kill()
		return nil, fmt.Errorf("create River's tables: %w", err)
	}
	return &riverSystem{pg, tuned}, nil
}

func migrateRiver(ctx context.Context, url string) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: quiet()})
	if err != nil {
		return err
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// quiet returns a logger that writes nothing.
func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func (s *riverSystem) receive() []string {
	return append([]string{"river", s.url}, tunedFlag(s.tuned)...)
}

func (s *riverSystem) count(ctx context.Context) (count int, err error) {
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, `SELECT count(*) FROM river_job WHERE state <> 'completed'`).Scan(&count)
	return count, err
}

// dial returns a client with a pool, which all goroutines share.
func (s *riverSystem) dial(ctx context.Context) (registrar, error) {
	config, err := pgxpool.ParseConfig(s.url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = riverConns
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: quiet()})
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &riverClient{pool, client}, nil
}

// riverClient inserts jobs.
type riverClient struct {
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx]
}

func (c *riverClient) close() { c.pool.Close() }

func (c *riverClient) put(ctx context.Context, j job) error {
	_, err := c.client.Insert(ctx, j.args(), &river.InsertOpts{ScheduledAt: j.due})
	return err
}

func (c *riverClient) putAll(ctx context.Context, jobs []job) error {
	for part := range slices.Chunk(jobs, riverBatch) {
		params := make([]river.InsertManyParams, len(part))
		for i, j := range part {
			params[i] = river.InsertManyParams{Args: j.args(), InsertOpts: &river.InsertOpts{ScheduledAt: j.due}}
		}
		if _, err := c.client.InsertManyFast(ctx, params); err != nil {
			return err
		}
	}
	return nil
}
