package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/carillon-io/carillon/client"
)

const (
	// bareLoadMost bounds the jobs of a bare load: they are enough for a rate.
	bareLoadMost = 200_000
	// bareBatch is the number of jobs that are checked and synced at a time, as in a bulk request.
	bareBatch = 1000
)

// bareLoad is what a load is compared with: a program that checks that the same requests are JSON, and writes and syncs
// their bytes, one request after the other. It understands none of them, and keeps nothing by which a job could be found
// or fired.
type bareLoad struct {
	file *os.File
	took time.Duration // of checking, writing and syncing
}

// run takes the first jobs of a load, and returns how many of them a second.
func (b *bareLoad) run(s *stand, l *bulkLoad) (perSecond float64, err error) {
	if b.file, err = os.Create(filepath.Join(s.dir, "bare-load")); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, b.file.Close(), os.Remove(b.file.Name())) }()
	most := min(l.count, bareLoadMost)
	for begin := 0; begin < most && s.ctx.Err() == nil; begin += bareBatch {
		jobs := make([]client.Job, 0, bareBatch)
		for n := begin; n < min(begin+bareBatch, most); n++ {
			jobs = append(jobs, l.mix.job(l.first+n))
		}
		request, err := json.Marshal(map[string]any{"jobs": jobs})
		if err != nil {
			return 0, err
		}
		if err := b.take(request); err != nil {
			return 0, err
		}
	}
	return float64(most) / b.took.Seconds(), s.ctx.Err()
}

// take checks and syncs a request.
func (b *bareLoad) take(request []byte) error {
	began := time.Now()
	if !json.Valid(request) {
		return errors.New("a request is no JSON")
	}
	if _, err := b.file.Write(request); err != nil {
		return err
	}
	if err := b.file.Sync(); err != nil {
		return err
	}
	b.took += time.Since(began)
	return nil
}

// tellBare adds the rate of the bare load, and what part of it a load has reached.
func (l *bulkLoad) tellBare(r *result) error {
	rate, err := new(bareLoad).run(l.stand, l)
	if err != nil {
		return fmt.Errorf("the bare load: %w", err)
	}
	r.add("bare_per_second", "that a bare program checks and syncs", rate, "/s")
	r.add("of_bare", "accepted a second, as a part of that", float64(l.accepted)/l.took.Seconds()/rate, "")
	return nil
}
