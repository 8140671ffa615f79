package api

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// bulkRequest is a bulk registration as it arrives. Items and Names have the same length. It belongs to the goroutine
// of its request. put is used again for each job, so a bulk of thousands of jobs allocates for what the jobs contain
// and not for the reading.
type bulkRequest struct {
	tenant string
	rules  job.Rules
	// prepare compiles and checks one definition on the goroutine of the request. The engine's loop, which is one
	// for all callers, only computes with the result.
	prepare func(*job.Definition) (*scheduler.Put, error)
	most    int // bound of jobs

	// The parts of an earlier job must not show in a later one, so item resets it with the defaults before each
	// job.
	put putRequest // the job that is being read
	// items has for each job either its compiled registration or the error that refused it; names has the name as
	// it was sent, also of a refused one, or "".
	items []scheduler.PutItem
	names []string
	// found is set by the member jobs, even if its list is empty.
	found bool
}

// bulkJobBytes is the approximate size of a small job in a request, from which the number of jobs is estimated. It
// only sizes the first allocation: a bulk of larger jobs gets slices that are too long by a few pages, one of
// smaller jobs lets them grow.
const bulkJobBytes = 256

// A bulk has no if_version: each job would need its own, and a tool that registers its whole set wants the set to
// hold.
var bulkMembers = object[bulkRequest]{"jobs": (*reader).jobs}

// readBulk reads a bulk registration. It returns an error only for the request as a whole; an error of a single job
// is stored with that job. A broken job must not keep the others from being registered, because the caller of a bulk
// is mostly a tool that registers all of its jobs and reports what failed.
func readBulk(body []byte, b *bulkRequest) error {
	guess := min(len(body)/bulkJobBytes+1, b.most)
	b.items, b.names = make([]scheduler.PutItem, 0, guess), make([]string, 0, guess)
	return read(body, func(r *reader) error {
		if err := bulkMembers.read(r, b); err != nil {
			return err
		}
		if !b.found {
			return errNoJobs()
		}
		return nil
	})
}

// jobs reads the list of jobs. The bound is checked before the next job is read, so that a request with too many of
// them does not fill memory first.
func (r *reader) jobs(b *bulkRequest) error {
	b.found = true
	if err := r.open(jsontext.KindBeginArray, "a list of jobs"); err != nil {
		return err
	}
	for r.dec.PeekKind() != jsontext.KindEndArray {
		if len(b.items) == b.most {
			return errTooManyJobs(b.most)
		}
		if err := r.item(b); err != nil {
			return err
		}
	}
	return r.token()
}

// item reads one job of a bulk registration. It returns an error only if the rest of the request cannot be read.
func (r *reader) item(b *bulkRequest) error {
	p := &b.put
	*p = newPutRequest(b.tenant)
	outside := r.dec.StackDepth()
	r.root = outside // errors name members of the job, not of the request
	err := jobMembers.read(r, p)
	r.root = 0
	if err == nil {
		err = p.finish(b.rules)
	} else if broken := r.leave(outside, &p.def.Name); broken != nil {
		return broken
	} else if kind := r.dec.PeekKind(); kind == jsontext.KindInvalid || kind == jsontext.KindEndObject {
		return r.token() // no list goes on like that
	}
	item := scheduler.PutItem{Err: err}
	if err == nil {
		item.Put, item.Err = b.prepare(&p.def)
	}
	b.items, b.names = append(b.items, item), append(b.names, p.def.Name)
	return nil
}

// leave skips the rest of a refused job, up to the given depth. It reads the job's name if that comes only now, so
// that the result names the job. Without the name, the caller would have to count places to learn which of its jobs
// was refused.
func (r *reader) leave(depth int, name *string) error {
	// The reader stands where the job was refused, perhaps within a nested member.
	for r.dec.StackDepth() > depth {
		atName := r.dec.StackDepth() == depth+1 && r.dec.StackPointer().LastToken() == "name"
		if atName && r.dec.PeekKind() == jsontext.KindString {
			// An odd number of tokens in the object means that the name was read and its value comes next.
			if kind, length := r.dec.StackIndex(depth + 1); kind == jsontext.KindBeginObject && length%2 == 1 {
				text, err := r.text()
				if err != nil {
					return err
				}
				*name = text
				continue
			}
		}
		if err := r.token(); err != nil {
			return err
		}
	}
	return nil
}

// errNoJobs is the refusal of a bulk registration without the member jobs.
func errNoJobs() error {
	return apierr.Errorf(apierr.InvalidField, "jobs", "is missing; want a list of jobs")
}

// errTooManyJobs is the refusal of a bulk registration of more jobs than one request may have.
func errTooManyJobs(most int) error {
	return apierr.Errorf(apierr.TooLarge, "jobs", "has more than %d jobs, which is the limit of one request here; want several requests", most)
}
