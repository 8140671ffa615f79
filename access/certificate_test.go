package access

import (
	"strings"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// TestCertificates: a principal is known by the names in a certificate only if it says so, in the order of the names.
func TestCertificates(t *testing.T) {
	table, err := Parse([]byte("principals: [{name: root}, {name: ci, cert: build.example.com}, {name: ops, cert: \"spiffe://example.com/ops\"}]"))
	if err != nil {
		t.Fatal(err)
	}
	for names, want := range map[string]string{
		"": "", "root": "", "ci": "", "other build.example.com spiffe://example.com/ops": "cert:ci", "spiffe://example.com/ops": "cert:ops", "BUILD.example.com": "", "*.example.com": "",
	} {
		if w := table.WhoseCertificate(strings.Fields(names)); w.By() != want {
			t.Errorf("a certificate of %q is that of %q; want %q", names, w.By(), want)
		}
	}
	for text, want := range map[string]string{
		"principals: [{name: a, cert: x}, {name: b, cert: x}]":                       "b and a (line 1) have the same cert",
		"principals: [{name: a, cert: \"x y\"}]":                                     "want a DNS name",
		"principals: [{name: a, cert: \"x\\ny\"}]":                                   "want a DNS name",
		"principals: [{name: a, cert: " + strings.Repeat("x", certBytesMax+1) + "}]": "at most 512 bytes",
		"principals: [{name: a, cert: \"\"}]":                                        "want a text",
		"principals: [{name: a, cert: [x]}]":                                         "want a text",
	} {
		_, err := Parse([]byte(text))
		testkit.Refuses(t, err, want)
	}
}
