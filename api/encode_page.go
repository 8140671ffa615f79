package api

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/scheduler"
)

// listStep is how many jobs are read at a time: 8 MiB with the largest payloads, 4 MiB with the usual bound. A larger
// step costs memory that most pages do not need; a smaller one costs more reads of the store.
const listStep = 16

// pageHead, pageCursor and pageTail are the texts around the jobs of a page. The room for the jobs is what a page may
// have, less these and the longest cursor.
const pageHead, pageCursor, pageTail = `{"jobs":[`, `,"next_cursor":"`, `}`

// page writes a [client.JobPage]: jobs until the limit is reached, the list ends, or the next job does not fit into
// the message. A job that alone fills a message is shown without its payload. It appends job by job and stops before
// the one that does not fit, so no encoding is thrown away, unlike with the halves of [page]. At least one job is
// shown, or the request fails: a page of none with a cursor would make a caller ask for the same page for ever.
func (x *Executor) page(ctx context.Context, asked query, q scheduler.ListQuery, sees sight) (jsontext.Value, error) {
	limit, jobs := q.Limit, 0
	const around = len(pageCursor) + cursorBytesMax + len(`"]`+pageTail)
	room, usual := x.pageBytesMax()-around, x.pageBytesFor(ctx)-around
	b := []byte(pageHead)
	for {
		q.Limit = min(limit-jobs, listStep)
		got, err := x.engine.List(ctx, q)
		if err != nil {
			return nil, err
		}
		q.Plan = got.Plan
		for i := range got.Jobs {
			v := sees.of(&got.Jobs[i])
			longer := appendPageJob(b, v, !v.noPayload)
			// Only the first job of a page loses its payload: any later one begins the next page with it.
			if jobs == 0 && len(longer) > room {
				longer = appendPageJob(b, v, false)
			}
			if jobs == 0 && len(longer) > room {
				return nil, x.tooLarge(len(longer))
			}
			if jobs > 0 && len(longer) > usual {
				return endPage(b, asked.cursor(q.After)), nil
			}
			b, q.After = longer, got.Jobs[i].Def.Name
			jobs++
		}
		// An answer that is shorter than asked for has used up what one call may read: the page ends, and its
		// cursor leads on.
		if got.Next == "" || jobs == limit || len(got.Jobs) < q.Limit {
			return endPage(b, asked.cursor(got.Next)), nil
		}
		q.After = got.Next
	}
}

// appendPageJob writes a job into a page. The caller keeps the shorter slice until it knows that the result fits: a
// job that does not fit is dropped by not taking the longer one.
func appendPageJob(b []byte, v shown, hasPayload bool) []byte {
	if len(b) > len(pageHead) {
		b = append(b, ',')
	}
	return appendJob(b, v, hasPayload)
}

// endPage ends a page. The cursor is "" at the end of the list, and needs no escapes.
func endPage(b []byte, cursor string) jsontext.Value {
	b = append(b, ']')
	if cursor != "" {
		b = append(append(append(b, pageCursor...), cursor...), '"')
	}
	return append(b, pageTail...)
}
