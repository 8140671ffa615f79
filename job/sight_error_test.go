package job

import (
	"strings"
	"testing"
)

// TestErrorForViewers reads errors as those see them who may only view jobs.
func TestErrorForViewers(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"HTTP 503":                     "HTTP 503",
		"HTTP 500: path=/s3cret":       "HTTP 500: " + Mask,
		"HTTP 500: a\nb /s3cret":       "HTTP 500: " + Mask,
		"HTTP 500 s3cret":              Mask,
		"HTTP s3cret":                  Mask,
		"card 4111111 is refused":      Mask,
		"no answer within 1m30s":       "no answer within 1m30s",
		"no answer within 500ms":       "no answer within 500ms",
		"no answer within s3cret":      Mask,
		"stopped":                      "stopped",
		"stopped at /s3cret":           Mask,
		"service error 500: s3cret":    "service error " + Mask,
		`handler "h" panicked: s3cret`: "handler " + Mask + " panicked: " + Mask,
		`HTTP 302: a redirect to "https://x.y/s3cret", which is not followed`:                              "HTTP 302: a redirect to " + Mask + ", which is not followed",
		"no report came until 2026-01-02T03:04:05.678Z":                                                    "no report came until 2026-01-02T03:04:05.678Z",
		"dial tcp 127.0.0.1:1: connect: connection refused":                                                "dial " + Mask + ": connect: connection refused",
		"dial tcp: lookup s3cret.example on 127.0.0.53:53: no such host":                                   "dial " + Mask + ": no such host",
		`target not allowed: the host "s3cret" is not allowed; the file of rights allows this tenant none`: "target not allowed: " + Mask,
		`net/http: HTTP/1.x transport connection broken: malformed HTTP response "s3cret"`:                 "net/http: HTTP/1.x transport connection broken: " + Mask,
		`malformed HTTP response "s3cret"`:                                                                 Mask,
	} {
		if got := ErrorForViewers(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// FuzzErrorForViewers repeats a secret in any text: those who may only view never see it, nor more after a second time.
func FuzzErrorForViewers(f *testing.F) {
	for _, row := range ownErrors() {
		f.Add(row.head, "")
		f.Add(row.head+": ", " at")
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "Zq/x?y"
		shown := ErrorForViewers(before + secret + after)
		if strings.Contains(shown, secret) {
			t.Errorf("%q is shown as %q", before+secret+after, shown)
		}
		if again := ErrorForViewers(shown); again != shown {
			t.Errorf("%q is shown as %q, and that as %q", before+secret+after, shown, again)
		}
	})
}
