package main

import (
	"errors"
	"strings"
	"testing"
)

// TestSecretsOfURLs: passwords and tokens of NATS URLs are not shown.
func TestSecretsOfURLs(t *testing.T) {
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
