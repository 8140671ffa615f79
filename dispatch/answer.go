package dispatch

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-io/carillon/job"
)

// headerRetryAfter is the header of a failed answer, over HTTP or NATS, that asks for a pause.
const headerRetryAfter = "Retry-After"

// blamesRequest tells whether a status of HTTP, or the code of a NATS service, says that the same
// request would fail again. Three of the client's faults pass with time: a timeout, a request that
// came too early, too many requests.
func blamesRequest(code int) bool {
	switch code {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return code >= 400 && code <= 499
}

// parseRetryAfter reads a Retry-After header (RFC 9110, 10.2.3): seconds or an HTTP date. Anything
// else, and a date that has passed, is no wish. A date is taken by this machine's clock.
func parseRetryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	seconds, err := strconv.ParseUint(value, 10, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) { // then it is the largest number there is
		return time.Duration(min(seconds, uint64(job.RetryAfterMax/time.Second))) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return max(at.Sub(now), 0)
}
