package serverurl

import (
	"strings"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// TestRedact: what is shown of a list has no password, no token and no query.
func TestRedact(t *testing.T) {
	for list, want := range map[string]string{
		"": "", "nats://127.0.0.1:4222": "nats://127.0.0.1:4222", "host": "nats://host", " [::1]:4222": "nats://[::1]:4222",
		"nats://ann:s3cret@host:4222":           "nats://ann:xxxxx@host:4222",
		"tls://t0ken@host":                      "tls://xxxxx@host",
		"nats://a:b@n1:4222,nats://a:b@n2:4222": "nats://a:xxxxx@n1:4222,nats://a:xxxxx@n2:4222",
		"ann:s3cret@host:4222":                  "nats://ann:xxxxx@host:4222",
		"nats://ann:@host":                      "nats://ann:xxxxx@host",
		"nats://ann:ab/s3cret@host:4222":        "(no URL)",
		"nats://ann:ab s3cret@host:4222":        "(no URL)",
		"nats://ab/s3cret@host:4222":            "(no URL)",
		"nats://ann:12/s3cret@host:4222":        "(no URL)",
		"https://ann:12/s3cret@host":            "(no URL)",
		"nats:/ann:s3cret@host":                 "(no URL)",
		"https://host/a?s3cret@host":            "(no URL)",
		"nats://ann:ab#s3cret@host:4222":        "(no URL)",
		"nats://ann:ab@s3cret@host:4222":        "nats://ann:xxxxx@host:4222",
		"https://host/a?token=s3cret#s3cret":    "https://host/a",
		"nats://n1,nats://ann:ab/s3cret@n2:1":   "nats://n1,(no URL)",
	} {
		if got := Redact(list); got != want {
			t.Errorf("%s is shown as %s; want %s", list, got, want)
		}
	}
}

// TestParseList: good lists are read, and an error says which address is bad, and nothing of it.
func TestParseList(t *testing.T) {
	for list, want := range map[string]string{
		"": "", "host": "nats://host", "host:4222, tls://b": "nats://host:4222 tls://b", "https://host/prefix": "https://host/prefix", "NATS://host": "nats://host", "nats://ann:a%2Fb@host": "nats://ann:a%2Fb@host",
	} {
		all, err := ParseList(list)
		var got []string
		for _, u := range all {
			got = append(got, u.String())
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v; want %q", list, got, err, want)
		}
	}
	for list, want := range map[string]string{
		"nats://ann:ab/s3cret@host:1": "address 1 is no URL", "nats://ab/s3cret@host:1": "address 1 is no URL", "nats://ann:12/s3cret@host:1": "address 1 is no URL", "a,nats://ann:a s3cret@host": "address 2 is no URL", "ann:ab#s3cret@host:1": "address 1 is no URL", "https://host/?token=s3cret": "address 1 has more",
		"nats://host#s3cret": "address 1 has more", "nats://n1,nats://host?s3cret": "address 2 has more", "nats://host?": "address 1 has more", "a,,s3cret": "address 2 has no host", "nats://": "address 1 has no host", "nats://s3cret@": "address 1 has no host",
	} {
		all, err := ParseList(list)
		testkit.Refuses(t, err, want)
		if all != nil || err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v, %v", list, all, err)
		}
	}
}

// TestFirst: the first address decides how a server is asked.
func TestFirst(t *testing.T) {
	for list, want := range map[string]bool{"": false, "host": false, "HTTPS://a": true, "http://a,nats://b": true, "nats://b,http://a": false, "http://a b": false} {
		if IsHTTP(list) != want {
			t.Errorf("%q is HTTP: %t", list, !want)
		}
	}
	if u := First("tls://a:1,b"); u.Host != "a:1" || u.Scheme != "tls" {
		t.Errorf("the first is %v", &u)
	}
}
