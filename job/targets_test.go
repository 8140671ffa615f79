package job

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestTargets matches subjects and hosts. The first line of the input has the patterns, or (none), each further line a
// text.
func TestTargets(t *testing.T) {
	datadriven.RunTest(t, "testdata/targets.txt", func(t *testing.T, d *datadriven.TestData) string {
		patterns, texts, _ := strings.Cut(d.Input, "\n")
		subjects, hosts := new(SubjectSet), new(HostSet)
		for pattern := range strings.FieldsSeq(strings.TrimPrefix(patterns, "(none)")) {
			add := hosts.Add
			if d.Cmd == "subjects" {
				add = subjects.Add
			}
			if err := add(pattern); err != nil {
				return err.Error()
			}
		}
		var b strings.Builder
		for text := range strings.SplitSeq(texts, "\n") {
			isIn := subjects.Contains(text)
			if d.Cmd == "hosts" {
				isIn = hosts.Contains(text)
			}
			fmt.Fprintf(&b, "%s: %t\n", text, isIn)
		}
		return b.String()
	})
}

// TestTargetsAtPut: a definition is refused if its tenant may not have its target, with what it may have.
func TestTargetsAtPut(t *testing.T) {
	var many SubjectSet
	for i := range patternsShown + 2 {
		if err := many.Add(fmt.Sprintf("s%d.>", i)); err != nil {
			t.Fatal(err)
		}
	}
	hosts := new(HostSet)
	if err := hosts.Add("*.example.com"); err != nil {
		t.Fatal(err)
	}
	tenants := map[string]Targets{
		"billing": {Subjects: &many, Hosts: hosts},
		"mute":    {Subjects: new(SubjectSet), Hosts: new(HostSet)},
	}
	rules := Rules{Targets: func(tenant string) Targets { return tenants[tenant] }, AllowHandlers: true, Secrets: true}
	web := func(url string) Target { return Target{Kind: TargetHTTP, URL: url, Method: "POST"} }
	for _, c := range []struct {
		tenant string
		target Target
		want   string
	}{
		{"billing", Target{Kind: TargetNATS, Subject: "s1.run"}, ""},
		{"billing", Target{Kind: TargetNATS, Subject: "crm.run"}, `target.subject: the subject "crm.run" is not allowed; the file of rights allows this tenant: s0.>, s1.>, s2.>, s3.>, s4.> and 2 more`},
		{"billing", Target{Kind: TargetRequest, Subject: "crm.run"}, `the subject "crm.run" is not allowed`},
		{"billing", Target{Kind: TargetJetStream, Subject: "crm.run"}, `the subject "crm.run" is not allowed`},
		{"billing", web("https://a.example.com:8443/x"), ""},
		{"billing", web("https://example.org/x"), `target.url: the host "example.org" is not allowed; the file of rights allows this tenant: *.example.com`},
		{"billing", web("https://example.com/x"), `the host "example.com" is not allowed`},
		{"billing", Target{Kind: TargetHandler, Handler: "f"}, ""},
		{"billing", Target{Kind: TargetHTTP, URLSecret: "billing/hook", Method: "POST"}, ""}, // its host is known at the launch
		{"mute", Target{Kind: TargetNATS, Subject: "s1.run"}, "the file of rights allows this tenant none"},
		{"mute", web("https://a.example.com/x"), "the file of rights allows this tenant none"},
		{"crm", Target{Kind: TargetNATS, Subject: "crm.run"}, ""},
		{"crm", web("https://example.org/x"), ""},
	} {
		d := Defaults()
		d.Tenant, d.Name, d.Schedule, d.Target = c.tenant, "a", "@every 1s", c.target
		err := d.Validate(rules)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s of %s: %v; want %q", c.target.Address(), c.tenant, err, c.want)
		}
	}
}

// TestTargetSetsAreBounded: a list has an end.
func TestTargetSetsAreBounded(t *testing.T) {
	for name, add := range map[string]func(string) error{
		"s%d.>": new(SubjectSet).Add, "h%d.example.com": new(HostSet).Add, "10.0.0.0/8:%d": new(Reach).Add,
	} {
		for i := range TargetPatternsMax {
			if err := add(fmt.Sprintf(name, i+1)); err != nil {
				t.Fatal(err)
			}
		}
		if err := add(fmt.Sprintf(name, TargetPatternsMax+1)); err != errTooManyPatterns {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTargetChecksAllocateNothing, because each launch makes them.
func TestTargetChecksAllocateNothing(t *testing.T) {
	allowed := Targets{Subjects: new(SubjectSet), Hosts: new(HostSet)}
	for _, err := range []error{
		allowed.Subjects.Add("billing.*.run"), allowed.Subjects.Add("crm.>"), allowed.Hosts.Add("*.example.com"), allowed.Hosts.Add("192.0.2.1"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	rules := Rules{Targets: func(string) Targets { return allowed }}
	if n := testing.AllocsPerRun(100, func() {
		of := rules.TargetsOf("billing")
		if of.CheckSubject("billing.a.run") != nil || of.CheckHost("a.b.example.com") != nil || of.CheckHost("192.0.2.1") != nil {
			t.Error("refused")
		}
	}); n != 0 {
		t.Errorf("a check allocates %v times", n)
	}
}

// FuzzSubjectSet compares a set with regular expressions.
func FuzzSubjectSet(f *testing.F) {
	for _, s := range []string{"a.>", "a.*", "*", ">", "a.*.c", "*.>", "a.b", "a*.b", "a..b", ".", ""} {
		f.Add(s, "a.*.d", "a.b.c")
		f.Add(s, ">", s)
	}
	f.Fuzz(func(t *testing.T, one, other, subject string) {
		set, want := new(SubjectSet), false
		for _, pattern := range []string{one, other} {
			if set.Add(pattern) == nil {
				want = want || modelSubject(pattern).MatchString(subject)
			}
		}
		if got := set.Contains(subject); got != want {
			t.Errorf("%q in %q: %t; want %t", subject, set.Patterns(), got, want)
		}
	})
}

// modelSubject returns the expression of a pattern. A token of a subject is not empty and no wildcard.
func modelSubject(pattern string) *regexp.Regexp {
	const token = `(?:[^.*>]|[^.][^.]+)`
	parts := strings.Split(pattern, ".")
	for i, p := range parts {
		switch p {
		case "*":
			parts[i] = token
		case ">":
			parts[i] = token + `(?:\.` + token + `)*`
		default:
			parts[i] = regexp.QuoteMeta(p)
		}
	}
	return regexp.MustCompile(`(?s)^` + strings.Join(parts, `\.`) + `$`)
}

// FuzzHostSet compares a set with a slow reading of its patterns, and checks that a URL whose host is in the set of a
// tenant is one that a put accepts.
func FuzzHostSet(f *testing.F) {
	for _, s := range []string{"*.example.com", "example.com", "192.0.2.1", "::1", "*.com", "a_b.c", "xn--bcher-kva.example", "127.1", "*.1", "*", "fe80::1%eth0"} {
		f.Add(s, "::ffff:192.0.2.1", "A.EXAMPLE.com.")
		f.Add(s, "*.example.com", strings.ReplaceAll(s, "*", "a"))
	}
	f.Fuzz(func(t *testing.T, one, other, host string) {
		set, want := new(HostSet), false
		for _, pattern := range []string{one, other} {
			if set.Add(pattern) == nil {
				want = want || modelHost(pattern, host)
			}
		}
		if got := set.Contains(host); got != want {
			t.Errorf("%q in %q: %t; want %t", host, set.Patterns(), got, want)
		}
		u := url.URL{Scheme: "http", Host: host}
		if want && u.Hostname() == host && checkHost(host) != nil {
			t.Errorf("%q is in %q, and no host of a target: %v", host, set.Patterns(), checkHost(host))
		}
	})
}

func modelHost(pattern, host string) bool {
	want, err := netip.ParseAddr(pattern)
	if err == nil {
		addr, err := netip.ParseAddr(host)
		return err == nil && addr.WithZone("").As16() == want.As16()
	}
	labels := func(name string) []string {
		return strings.Split(strings.TrimSuffix(strings.ToLower(name), "."), ".")
	}
	has, wants := labels(host), labels(pattern)
	for _, label := range has {
		if !regexp.MustCompile(`^[a-z0-9_-]{1,63}$`).MatchString(label) || len(host) > hostBytesMax+1 {
			return false
		}
	}
	if len(strings.TrimSuffix(host, ".")) > hostBytesMax {
		return false
	}
	if wants[0] == "*" {
		wants = wants[1:]
		return len(has) > len(wants) && slices.Equal(has[len(has)-len(wants):], wants)
	}
	return slices.Equal(has, wants)
}

// BenchmarkTargets checks the subject and the host of a launch.
func BenchmarkTargets(b *testing.B) {
	for _, patterns := range []int{1, 100, TargetPatternsMax} {
		b.Run(fmt.Sprintf("patterns=%d", patterns), func(b *testing.B) {
			allowed := Targets{Subjects: new(SubjectSet), Hosts: new(HostSet)}
			for i := range patterns {
				if err := cmp.Or(allowed.Subjects.Add(fmt.Sprintf("billing.*.run%d", i)), allowed.Hosts.Add(fmt.Sprintf("*.h%d.example.com", i))); err != nil {
					b.Fatal(err)
				}
			}
			subject, host := fmt.Sprintf("billing.eu.run%d", patterns-1), fmt.Sprintf("a.h%d.example.com", patterns-1)
			rules := Rules{Targets: func(string) Targets { return allowed }}
			b.ReportAllocs()
			for b.Loop() {
				of := rules.TargetsOf("billing")
				if of.CheckSubject(subject) != nil || of.CheckHost(host) != nil {
					b.Fatal("refused")
				}
			}
		})
	}
}
