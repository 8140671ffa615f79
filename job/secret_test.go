package job

import (
	"strings"
	"testing"

	"github.com/carillon-io/carillon/apierr"
)

// TestSecretRefs: the grammar lets nothing through that is a path.
func TestSecretRefs(t *testing.T) {
	for _, good := range []string{"billing/hook", "a/b", "A-1_x/y.z-1_2", "t/" + strings.Repeat("n", SecretNameBytesMax)} {
		if _, _, ok := SecretRef(good).Cut(); !ok {
			t.Errorf("%q is refused", good)
		}
	}
	for _, bad := range []string{
		"", "/", "hook", "billing/", "/hook", "billing/..", "../hook", "billing/.hook", "billing/a/b", "billing/../crm/x", "..", "a.b/c", "./x",
		"billing\\hook", "billing/a\\b", "billing/ho ok", "billing/ho\x00ok", "billing/hook\n", "bil ling/x", "billing/ü", "billing//x", "*/x", "billing/~",
		"t/" + strings.Repeat("n", SecretNameBytesMax+1), strings.Repeat("t", TenantBytesMax+1) + "/n",
	} {
		if tenant, name, ok := SecretRef(bad).Cut(); ok || tenant != "" || name != "" {
			t.Errorf("%q is accepted as %q, %q", bad, tenant, name)
		}
	}
}

// TestSecretsAreChecked: each way to name a secret is refused for the same reasons, under its own name, and no error
// repeats what may be a secret itself.
func TestSecretsAreChecked(t *testing.T) {
	const pasted = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	rules := Rules{Secrets: true}
	for field, set := range map[string]func(d *Definition, ref SecretRef){
		"target.url":            func(d *Definition, ref SecretRef) { d.Target.URL, d.Target.URLSecret = "", ref },
		"target.sign":           func(d *Definition, ref SecretRef) { d.Target.Sign = ref },
		"target.client_cert":    func(d *Definition, ref SecretRef) { d.Target.ClientCert = ref },
		"headers.Authorization": func(d *Definition, ref SecretRef) { d.SecretHeaders = []Pair{{"Authorization", string(ref)}} },
	} {
		for _, c := range []struct {
			ref   SecretRef
			rules Rules
			kind  TargetKind
			want  string
		}{
			{"billing/hook", rules, TargetHTTP, ""},
			{"billing/hook", Rules{}, TargetHTTP, "without --secrets-dir"},
			{"crm/hook", rules, TargetHTTP, "another tenant"},
			{"crm/hook", Rules{}, TargetHTTP, "another tenant"},
			{"billing/../crm/hook", rules, TargetHTTP, "no reference"},
			{pasted, rules, TargetHTTP, "never stands in a definition"},
			{"billing/hook", rules, TargetNATS, "kind http"},
		} {
			d := Defaults()
			d.Tenant, d.Name, d.Schedule = "billing", "a", "@every 1s"
			if d.Target = (Target{Kind: c.kind, URL: "https://example.com", Method: "POST"}); c.kind == TargetNATS {
				d.Target = Target{Kind: c.kind, Subject: "x"}
			}
			set(&d, c.ref)
			err := d.Validate(c.rules)
			switch {
			case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || apierr.From(err).Field != field):
				t.Errorf("%s %q: %v; want %q", field, c.ref, err, c.want)
			case err != nil && strings.Contains(err.Error(), pasted):
				t.Errorf("%s: the error repeats what was pasted: %v", field, err)
			}
		}
	}
}

// TestSecretsBesideOthers: what cannot go together is refused.
func TestSecretsBesideOthers(t *testing.T) {
	for want, set := range map[string]func(d *Definition){
		"in another case":      func(d *Definition) { d.Headers, d.SecretHeaders = []Pair{{"X-A", "1"}}, []Pair{{"x-a", "t/s"}} },
		"set by Carillon":      func(d *Definition) { d.SecretHeaders = []Pair{{"Carillon-Run-Id", "t/s"}} },
		"no header name":       func(d *Definition) { d.SecretHeaders = []Pair{{"X A", "t/s"}} },
		"needs TLS":            func(d *Definition) { d.Target.URL, d.Target.ClientCert = "http://example.com", "t/s" },
		"set by target.sign":   func(d *Definition) { d.Target.Sign, d.Headers = "t/s", []Pair{{"Webhook-Id", "1"}} },
		"is both a text and a": func(d *Definition) { d.Target.URLSecret = "t/s" },
	} {
		d := Defaults()
		d.Tenant, d.Name, d.Schedule, d.Target = "t", "a", "@every 1s", Target{Kind: TargetHTTP, URL: "https://example.com", Method: "POST"}
		set(&d)
		if err := d.Validate(Rules{Secrets: true}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// TestMaskDoesNotFollowToASecretURL: a stored credential is not sent to a URL that only a secret has.
func TestMaskDoesNotFollowToASecretURL(t *testing.T) {
	stored := Definition{Target: Target{Kind: TargetHTTP, URL: "https://example.com"}, Headers: []Pair{{"Authorization", "Bearer planted"}}}
	moved := Definition{Target: Target{Kind: TargetHTTP, URLSecret: "t/url"}, Headers: []Pair{{"Authorization", Mask}}}
	if d, err := moved.Unmask(&stored); err == nil {
		t.Errorf("the credential goes along: %+v", d.Headers)
	}
}

// TestAddSecret: the parts of a secret that a target repeats are masked.
func TestAddSecret(t *testing.T) {
	var c Credentials
	c.AddSecret("https://hooks.example.com:8443/services/T00PLANTED/B00PLANTED?x=planted-query&n=1")
	c.AddSecret("Bearer planted-token")
	for _, text := range []string{
		"dial tcp: lookup hooks.example.com: no such host", "no hook /services/T00PLANTED/B00PLANTED here", "token B00PLANTED is unknown",
		"bad x planted-query", "wrong token: planted-token", "https://hooks.example.com:8443/services/T00PLANTED/B00PLANTED?x=planted-query&n=1",
	} {
		if got := strings.ToLower(c.MaskIn(text)); strings.Contains(got, "planted") || strings.Contains(got, "hooks.example") {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
}
