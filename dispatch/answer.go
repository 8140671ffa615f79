package dispatch

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-io/carillon/job"
)

// headerRetryAfter is the header of a failed answer, over HTTP or NATS, in which a target asks for a
// pause before the next attempt.
const headerRetryAfter = "Retry-After"

// blamesRequest reports whether an HTTP status, or the error code of a NATS service, says that the same
// request would fail again. That holds for every 4xx except three: timeout (408), too early (425) and
// too many requests (429), which may succeed later.
func blamesRequest(code int) bool {
	switch code {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return code >= 400 && code <= 499
}

// parseRetryAfter returns the pause that a Retry-After header asks for (RFC 9110, 10.2.3): seconds, or
// an HTTP date, which it compares with this machine's clock. It returns 0 for anything else and for a
// date that has passed.
func parseRetryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	seconds, err := strconv.ParseUint(value, 10, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) { // out of range gives the largest number
		return time.Duration(min(seconds, uint64(job.RetryAfterMax/time.Second))) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return max(at.Sub(now), 0)
}
