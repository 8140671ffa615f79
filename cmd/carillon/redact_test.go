package main

import (
	"errors"
	"strings"
	"testing"
)

// TestSecretsOfURLs: passwords and tokens of NATS URLs are not shown.
func TestSecretsOfURLs(t *testing.T) {
	for list, want := range map[string]string{
		"nats://127.0.0.1:4222":                 "nats://127.0.0.1:4222",
		"nats://ann:s3cret@host:4222":           "nats://ann:xxxxx@host:4222",
		"tls://t0ken@host":                      "tls://xxxxx@host",
		"nats://a:b@n1:4222,nats://a:b@n2:4222": "nats://a:xxxxx@n1:4222,nats://a:xxxxx@n2:4222",
		"ann:s3cret@host:4222":                  "nats://ann:xxxxx@host:4222",
		"nats://ann:@host":                      "nats://ann:xxxxx@host",
		"nats://ann:ab/s3cret@host:4222":        "(no URL)",
		"nats://ann:ab s3cret@host:4222":        "(no URL)",
		"nats://ann:ab#s3cret@host:4222":        "(no URL)",
		"nats://ann:ab@s3cret@host:4222":        "nats://ann:xxxxx@host:4222",
		"https://host/a?token=s3cret#s3cret":    "https://host/a",
		"nats://n1,nats://ann:ab/s3cret@n2:1":   "nats://n1,(no URL)",
	} {
		if got := redactURLs(list); got != want {
			t.Errorf("%s is shown as %s; want %s", list, got, want)
		}
	}
	for _, list := range []string{"nats://ann:ab/s3cret@host:1", "nats://ann:a s3cret@host", "ann:ab#s3cret@host:1", "https://host/?token=s3cret", "nats://host#s3cret", "nats://n1,nats://host?s3cret"} {
		if err := checkServers(list); err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "address") {
			t.Errorf("%s: %v", list, err)
		}
	}
	text := explain(errors.New("connect to NATS at nats://ann:s3cret@host:4222: refused; write to ann@example.com"))
	if strings.Contains(text, "s3cret") || !strings.Contains(text, "nats://ann:xxxxx@host:4222: refused; write to ann@example.com") {
		t.Error(text)
	}
}
