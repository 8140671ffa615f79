package server_test

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// TestServerMeasures lets a job fire, and waits until the metrics show what it did: to its target, in the log and on
// the disk.
func TestServerMeasures(t *testing.T) {
	s := start(t, filepath.Join(t.TempDir(), "data"))
	_, c := connect(t, s)
	often := client.Job{Name: "often", Schedule: "@every 50ms", Target: client.Target{Kind: "nats", Subject: "often"}}
	if _, _, err := c.Put(t.Context(), often); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`carillon_attempts_total{kind="nats",outcome="ok"}`, `carillon_delivery_seconds_count{kind="nats"}`,
		`carillon_jobs_by_status{shard="0",status="active"}`, `carillon_api_request_duration_seconds_count{verb="jobs.put",via="nats"}`,
		`carillon_commit_size_bytes_sum{shard="0"}`, `carillon_wal_fsync_seconds_count`, `carillon_wal_append_bytes_sum`, `carillon_wal_bytes`,
		`carillon_checkpoint_last_success_timestamp_seconds`, `carillon_store_memtable_bytes`, `carillon_data_free_bytes`, `carillon_data_size_bytes`,
		`carillon_target_nats_connected`, `carillon_nats_clients`, `carillon_nats_jetstream_current`,
	}
	testkit.Retry(t, "each figure is above zero", func(context.Context) error {
		if missing := firstZero(t, s.Ready().HTTP, want); missing != "" {
			return fmt.Errorf("%s stays 0, or away", missing)
		}
		return nil
	})
}

// firstZero returns the first of the series that a server does not show above zero; "" if it shows all.
func firstZero(t *testing.T, url string, series []string) string {
	t.Helper()
	text := testkit.Get(t, url+"/metrics").Body
	for _, one := range series {
		found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(one) + ` (\S+)$`).FindStringSubmatch(text)
		if found == nil {
			return one
		}
		if value, err := strconv.ParseFloat(found[1], 64); err != nil || value <= 0 {
			return one
		}
	}
	return ""
}
