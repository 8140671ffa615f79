package dispatch

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/carillon-io/carillon/job"
)

// answerError returns the error for an answer that is not 2xx, with Refused and RetryAfter set. A 3xx
// refuses as well: another attempt would get the same redirect.
func answerError(c job.Credentials, resp *http.Response) error {
	return &Failure{
		Err:        answerText(c, resp),
		Refused:    is3xx(resp) || blamesRequest(resp.StatusCode),
		RetryAfter: parseRetryAfter(resp.Header.Get(headerRetryAfter), time.Now()),
	}
}

func is3xx(resp *http.Response) bool { return resp.StatusCode >= 300 && resp.StatusCode <= 399 }

// answerText returns the error text for an answer. A 3xx is a redirect only if it has a Location; its
// body is omitted, since it repeats the Location in HTML.
func answerText(c job.Credentials, resp *http.Response) error {
	text := fmt.Sprintf("HTTP %d", resp.StatusCode)
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
