package api

import (
	"sync/atomic"

	"github.com/carillon-io/carillon/job"
)

// httpRepliesBytes bounds the replies that are being sent at a time, together. Whoever is slow to read his reply
// keeps it in memory until the connection's time is over.
const httpRepliesBytes = 256 << 20

// replyBudget counts the bytes of replies that are being sent. The zero value is ready.
type replyBudget struct{ bytes atomic.Int64 }

// take counts a reply, unless there are too many. One that tells of a change is always taken: the change has been
// made.
func (b *replyBudget) take(size int, must bool) bool {
	if now := b.bytes.Add(int64(size)); now <= httpRepliesBytes || must {
		return true
	}
	b.give(size)
	return false
}

func (b *replyBudget) give(size int) { b.bytes.Add(-int64(size)) }

func errManyReplies() error {
	return job.Errorf(job.CodeRateLimited, "", "replies of %d MiB wait for their callers to read them, which is the limit; ask again later", httpRepliesBytes>>20)
}
