package api

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// bulkResultBytes is the approximate size of the result of an accepted job. It sizes the first buffer; a wrong
// value costs copies of the buffer and nothing else.
const bulkResultBytes = 128

// encodeBulk writes a [client.PutManyReply]. It does not use reflection, because a reply has thousands of results and
// reflection would cost as much as reading the jobs.
//
// If the reply does not fit into a message, the texts of refusals are shortened: the job, the code and the field
// matter more than the rest.
func (x *Executor) encodeBulk(names []string, results []scheduler.PutResult) (jsontext.Value, error) {
	var b []byte
	for _, messageMost := range []int{messageBytesMax, messageBytesClipped} {
		var err error
		if b, err = x.appendBulk(b[:0], names, results, messageMost); err != nil {
			return nil, err
		}
		if len(b) <= x.replyBytesMax() {
			return b, nil
		}
	}
	return nil, x.tooLarge(len(b))
}

// Bounds of a refusal's text in a bulk reply.
const (
	messageBytesMax     = 1 << 10
	messageBytesClipped = 48
)

// appendBulk writes the whole reply, the results in the order of the request, and the two totals after them, which
// are only known then.
func (x *Executor) appendBulk(b []byte, names []string, results []scheduler.PutResult, messageMost int) ([]byte, error) {
	b = append(slices.Grow(b, bulkResultBytes*(1+len(results))), `{"results":[`...)
	accepted := 0
	for i := range results {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = x.appendPutResult(b, names[i], &results[i], messageMost); err != nil {
			return nil, fmt.Errorf("encode the result of job %d: %w", i, err)
		}
		if results[i].Err == nil {
			accepted++
		}
	}
	b = strconv.AppendInt(append(b, `],"accepted":`...), int64(accepted), 10)
	b = strconv.AppendInt(append(b, `,"rejected":`...), int64(len(results)-accepted), 10)
	return append(b, '}'), nil
}

// appendPutResult writes a [client.PutResult].
func (x *Executor) appendPutResult(b []byte, name string, r *scheduler.PutResult, messageMost int) ([]byte, error) {
	if r.Err != nil {
		return appendRefused(b, name, x.replyError(r.Err), messageMost)
	}
	b = appendResultName(b, name)
	b = append(r.ID.Append(append(b, `,"id":"`...)), '"')
	b = strconv.AppendUint(append(b, `,"version":`...), uint64(r.Version), 10)
	if r.NextRunAt != 0 {
		b = append(r.NextRunAt.Append(append(b, `,"next_run_at":"`...)), '"')
	}
	return append(b, '}'), nil
}

// appendResultName begins a result. The name is clipped because a refused job may have one of any length.
func appendResultName(b []byte, name string) []byte {
	return appendQuoted(append(b, `{"name":`...), name[:min(len(name), job.NameBytesMax)])
}

// appendRefused writes the result of a job that was refused, with so many bytes of the text.
func appendRefused(b []byte, name string, refusal *client.Error, messageMost int) ([]byte, error) {
	b = append(appendResultName(b, name), `,"error":`...)
	e := *refusal
	if len(e.Message) > messageMost {
		e.Message = strings.ToValidUTF8(e.Message[:messageMost-len("…")], "") + "…"
	}
	text, err := json.Marshal(&e, encoding)
	return append(append(b, text...), '}'), err
}
