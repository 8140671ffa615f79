package web

import (
	"bytes"
	"fmt"
	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/api/apitest"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkPut puts jobs over either way to the same engine in memory: one at a time, and many.
func BenchmarkPut(b *testing.B) {
	s, url := serve(b, apitest.StartEngine(b), api.Options{}, 4<<20)
	w := startWeb(b, Options{Executor: s.Executor}, nil)
	nc := apitest.Connect(b, url)
	caller := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	overNATS := func(i int) error {
		msg, err := nc.Request("carillon.v1.default.jobs.put", []byte(apitest.SampleJob(i)), time.Minute)
		if err == nil && msg.Header.Get("Nats-Service-Error-Code") != "" {
			err = fmt.Errorf("refused: %s", msg.Data)
		}
		return err
	}
	overHTTP := func(i int) error {
		body := apitest.SampleJob(i)
		req, err := http.NewRequest("PUT", w.base+pathTo("jobs", fmt.Sprintf("customers/%06d/reminder", i)), strings.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := caller.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		var reply bytes.Buffer
		if _, err := io.Copy(&reply, res.Body); err != nil || res.StatusCode >= 300 {
			return fmt.Errorf("refused: %d %s, %v", res.StatusCode, &reply, err)
		}
		return nil
	}
	for _, callers := range []int{1, 32} {
		for _, way := range []struct {
			name string
			put  func(i int) error
		}{{"nats", overNATS}, {"http", overHTTP}} {
			b.Run(fmt.Sprintf("callers=%d/way=%s", callers, way.name), func(b *testing.B) { benchmarkPut(b, callers, way.put) })
		}
	}
}

func benchmarkPut(b *testing.B, callers int, put func(i int) error) {
	var sent atomic.Int64
	failed := make(chan error, callers)
	for range callers {
		go func() {
			var err error
			for i := sent.Add(1); i <= int64(b.N) && err == nil; i = sent.Add(1) {
				err = put(int(i) % 1_000_000)
			}
			failed <- err
		}()
	}
	for range callers {
		if err := <-failed; err != nil {
			b.Error(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}
