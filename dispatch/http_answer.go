package dispatch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/carillon-io/carillon/job"
)

// endBody closes the body of an answer drainTimeMax from now, when the attempt ends, or when the caller calls end: at the first of these.
// That ends a read of the body. The end of the request's context would not end every read: after a 101 the connection itself is
// the body, and the transport has let go of it. A close may wait for a target that does not read, so it has a goroutine of its own.
func endBody(attempt context.Context, body io.Closer) (end func()) {
	ctx, end := context.WithTimeout(attempt, drainTimeMax)
	context.AfterFunc(ctx, func() { _ = body.Close() })
	return end
}

// answerError returns the error for an answer that is not 2xx, with Refused and RetryAfter set. A 101 and
// a 3xx refuse as well: another attempt would get the same answer.
func answerError(c job.Credentials, resp *http.Response) error {
	return &Failure{
		Err:        answerText(c, resp),
		Refused:    switches(resp) || is3xx(resp) || blamesRequest(resp.StatusCode),
		RetryAfter: parseRetryAfter(resp.Header.Get(headerRetryAfter), time.Now()),
	}
}

func is3xx(resp *http.Response) bool { return resp.StatusCode >= 300 && resp.StatusCode <= 399 }

// switches reports whether the target says that it speaks another protocol from here on. What follows is no body, and may never end.
func switches(resp *http.Response) bool { return resp.StatusCode == http.StatusSwitchingProtocols }

// answerText returns the error text for an answer. A 3xx is a redirect only if it has a Location; its
// body is omitted, since it repeats the Location in HTML.
func answerText(c job.Credentials, resp *http.Response) error {
	text := fmt.Sprintf("HTTP %d", resp.StatusCode)
	if switches(resp) {
		return errors.New(text + " Switching Protocols: the target changes to another protocol, which Carillon does not speak; want a status of 2xx")
	}
	if is3xx(resp) {
		if to := resp.Header.Get("Location"); to != "" {
			drain(resp.Body)
			return fmt.Errorf("%s: a redirect to %q, which is not followed", text, job.MaskURL(to))
		}
		text = strings.TrimSpace(text+" "+http.StatusText(resp.StatusCode)) + " without a Location: neither success nor a redirect; want a status of 2xx"
	}
	if body := bodyText(c, resp); body != "" {
		return fmt.Errorf("%s: %s", text, body)
	}
	return errors.New(text)
}

// bodyText returns the beginning of a body. A target may repeat credentials that it received, so
// bodyText masks them, also one that is cut off at the end of the text.
func bodyText(c job.Credentials, resp *http.Response) string {
	text, err := io.ReadAll(io.LimitReader(resp.Body, answerBytesMax))
	if err == nil {
		drain(resp.Body)
	}
	isCut := err != nil || len(text) == answerBytesMax
	return strings.TrimSpace(c.MaskInCut(string(text), isCut))
}
