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

// answerError says what the target answered instead of 2xx, and whether it blames the request. An answer of 3xx
// leads another attempt nowhere either.
func answerError(d *job.Delivery, resp *http.Response) error {
	return &Failure{
		Err:        answerText(d, resp),
		Refused:    is3xx(resp) || blamesRequest(resp.StatusCode),
		RetryAfter: parseRetryAfter(resp.Header.Get(headerRetryAfter), time.Now()),
	}
}

func is3xx(resp *http.Response) bool { return resp.StatusCode >= 300 && resp.StatusCode <= 399 }

// answerText says what the target answered. Of 3xx only one with a Location is a redirect; its body says the same in
// HTML.
func answerText(d *job.Delivery, resp *http.Response) error {
	text := fmt.Sprintf("HTTP %d", resp.StatusCode)
	if is3xx(resp) {
		if to := resp.Header.Get("Location"); to != "" {
			drain(resp.Body)
			return fmt.Errorf("%s: a redirect to %q, which is not followed", text, job.MaskURL(to))
		}
		text = strings.TrimSpace(text+" "+http.StatusText(resp.StatusCode)) + " without a Location: neither success nor a redirect; want a status of 2xx"
	}
	if body := bodyText(d, resp); body != "" {
		return fmt.Errorf("%s: %s", text, body)
	}
	return errors.New(text)
}

// bodyText returns the beginning of a body. A target may repeat what it got: that is masked. A text that is cut, or
// stops before its end, does not end in a part of it either.
func bodyText(d *job.Delivery, resp *http.Response) string {
	text, err := io.ReadAll(io.LimitReader(resp.Body, answerBytesMax))
	if err == nil {
		drain(resp.Body)
	}
	isCut := err != nil || len(text) == answerBytesMax
	return strings.TrimSpace(job.CredentialsOf(d.Headers, d.Target).MaskInCut(string(text), isCut))
}
