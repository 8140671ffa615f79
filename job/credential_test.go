package job

import (
	"reflect"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/apierr"
)

// TestCredentialNames: which headers and parameters have credentials, whatever their case.
func TestCredentialNames(t *testing.T) {
	for name, want := range map[string]bool{
		"Authorization": true, "authorization": true, "Proxy-Authorization": true, "X-Forwarded-Authorization": true,
		"Cookie": true, "Set-Cookie": true, "X-Auth-Token": true, "x_auth_token": true, "Token": true, "X-Amz-Security-Token": true,
		"X-API-KEY": true, "Api-Key": true, "apikey": true, "X-ApiKey": true, "X-Routing-Key": true, "X-Client-Secret": true,
		"X-Hub-Signature-256": true, "Stripe-Signature": true, "X-Password": true, "DB-Passwd": true, "X-Credential": true,
		"X-Auth": true, "ACCESSTOKEN": true, "X-Token2": true, "X-Jwt": true,
		"X-Team": false, "Content-Type": false, "X-Monkey": false, "X-Author": false, "X-Token-Count": false, "X-Key-Id": false,
		"traceparent": false, "User-Agent": false, "X-Code": false, "": false, "-": false, "256": false,
	} {
		if IsCredentialHeader(name) != want {
			t.Errorf("header %q: %t", name, !want)
		}
	}
	for name, want := range map[string]bool{
		"token": true, "access_token": true, "accessToken": true, "id_token": true, "api_key": true, "apikey": true, "apiKey": true,
		"key": true, "sharedKey": true, "secret": true, "client_secret": true, "password": true, "pass": true, "sig": true, "signature": true,
		"X-Amz-Signature": true, "X-Goog-Signature": true, "code": true, "auth[token]": true,
		"page": false, "monkey": false, "encode": false, "tokens_left": false, "q": false, "": false,
	} {
		if isCredentialParam(name) != want {
			t.Errorf("parameter %q: %t", name, !want)
		}
	}
}

// TestMaskURL: credentials of a URL are masked, and nothing else of its text changes.
func TestMaskURL(t *testing.T) {
	for url, want := range map[string]string{
		"https://example.com/hook":                             "https://example.com/hook",
		"https://example.com/a@b?q=1&x=%41#f":                  "https://example.com/a@b?q=1&x=%41#f",
		"https://example.com/?token=abc&q=%20&token=d&=e":      "https://example.com/?token=********&q=%20&token=********&=e",
		"https://example.com?%74oken=abc":                      "https://example.com?%74oken=********",
		"https://example.com/?token=&key&secret=a=b":           "https://example.com/?token=&key&secret=********",
		"https://ann:s3cret@example.com/x":                     "https://ann:********@example.com/x",
		"https://ann:a@b:c@example.com":                        "https://ann:********@example.com",
		"https://ann:@example.com":                             "https://ann:@example.com",
		"nats://t0ken@host:4222":                               "nats://********@host:4222",
		"https://example.com/#access_token=abc&state=1":        "https://example.com/#access_token=********&state=1",
		"/next?key=abc":                                        "/next?key=********",
		"https://example.com/?token=********&key=%2A%2A******": "https://example.com/?token=********&key=%2A%2A******",
		"https://a/?next=https://u:p@b/&x=1":                   "https://a/?next=https://u:********@b/&x=1",
		"https://a/?next=https://b/?token=c&x=1":               "https://a/?next=https://b/?token=********&x=1",
		"https://a/?n=http://b/?m=http://c/?d=ftp://t0ken@d":   "https://a/?n=http://b/?m=http://c/?d=ftp://********@d",
		"https://a/?next=https%3A%2F%2Fu%3Ap%40b%2F":           "https://a/?next=********",
		"https://a/?next=https%3A%2F%2Fb%2F%3Ftoken%3Dc":       "https://a/?next=********",
		"https://a/?next=https%253A%252F%252Fu%253Ap%2540b":    "https://a/?next=********",
		"https://a/?next=https%3A%2F%2Fb%2F%3Fpage%3D1":        "https://a/?next=https%3A%2F%2Fb%2F%3Fpage%3D1",
		"https://a/?next=https://u:p@b/%3Ftoken=c":             "https://a/?next=********",
		"https://a/go/https://u:p@b/x":                         "https://a/go/https://u:********@b/x",
		"https://v:q@a/go/https://u:p@b/x":                     "https://v:********@a/go/https://u:********@b/x",
		"reports.run":                                          "reports.run", "": "", "?": "?", "#": "#", "://": "://", "https://@": "https://@",
	} {
		if got := MaskURL(url); got != want {
			t.Errorf("%s became %s; want %s", url, got, want)
		}
	}
	text := `Post "https://ann:s3cret@x.y/a?b=1&sig=abc": dial; see (http://x.y/?key=abc) and write to ann@x.y`
	want := `Post "https://ann:********@x.y/a?b=1&sig=********": dial; see (http://x.y/?key=******** and write to ann@x.y`
	if got := MaskText(text); got != want {
		t.Errorf("the text became\n%s; want\n%s", got, want)
	}
}

// TestCredentialsInTexts: what a target repeats of a job's credentials is masked, in each form that it may take.
func TestCredentialsInTexts(t *testing.T) {
	c := CredentialsOf([]Pair{
		{"Authorization", "Bearer planted-1"}, {"Cookie", "session=planted-2; theme=dark"}, {"X-Basic-Auth", "Basic dXNlcjpwbGFudGVkLTM="},
		{"X-Team", "billing"}, {"X-Key", "abc"},
	}, Target{Kind: TargetHTTP, URL: "https://x.y/?token=planted%2D4&page=seven"})
	for _, text := range []string{"no planted-1", "Bearer planted-1", "planted-2", "planted-3", "user:planted-3", "dXNlcjpwbGFudGVkLTM=", "planted-4", "planted%2D4"} {
		if got := c.MaskIn("<" + text + ">"); strings.Contains(got, "planted") || strings.Contains(got, "dXNl") || !strings.Contains(got, Mask) {
			t.Errorf("%s became %s", text, got)
		}
	}
	const plain = "billing: an abcess on page seven; Bearer and Basic"
	if got := c.MaskIn(plain); got != plain {
		t.Errorf("%s became %s", plain, got)
	}
	for _, cut := range []string{"no pl", "no planted-", "no Bearer plante", "no planted%2"} {
		if got := c.MaskInCut(cut, true); got != "no " && got != "no "+Mask {
			t.Errorf("%s, cut there, became %s", cut, got)
		}
	}
}

func secretJob() Definition {
	d := Defaults()
	d.Tenant, d.Name, d.Schedule = "default", "a", "@daily"
	d.Headers = []Pair{{"Authorization", "Bearer one"}, {"X-Team", "billing"}, {"X-Token", "two"}}
	d.Target = Target{Kind: TargetHTTP, URL: "https://x.y/hook?a=1&token=three&token=four", Method: "POST"}
	return d
}

// TestUnmaskIsTheInverse: what is shown of a job, put again, is the job as it was; and what is shown is itself valid.
func TestUnmaskIsTheInverse(t *testing.T) {
	d := secretJob()
	shown := d.Masked()
	if !d.HasCredentials() || d.HasMasks() || !shown.HasMasks() || reflect.DeepEqual(d, shown) || d.Headers[0].Value != "Bearer one" {
		t.Fatalf("%+v is shown as %+v", d, shown)
	}
	if text := string(EncodeDefinition(&shown)); strings.Contains(text, "one") || strings.Contains(text, "two") || strings.Contains(text, "three") || strings.Contains(text, "four") {
		t.Errorf("%q", text)
	}
	if err := shown.Validate(Rules{PayloadBytesMax: 1}); err != nil {
		t.Error(err)
	}
	if got, err := shown.Unmask(&d); err != nil || !reflect.DeepEqual(got, d) {
		t.Errorf("%+v, %v", got, err)
	}
	plain := secretJob()
	plain.Headers, plain.Target.URL = plain.Headers[1:2], "https://x.y/hook?a=1"
	if got := plain.Masked(); plain.HasCredentials() || !reflect.DeepEqual(got, plain) {
		t.Errorf("%+v is shown as %+v", plain, got)
	}
}

// TestUnmask: which masks have a credential that they stand for.
func TestUnmask(t *testing.T) {
	for name, c := range map[string]struct {
		change func(d *Definition)
		field  string // of the refusal; "" is none
		want   func(d *Definition)
	}{
		"another header changes": {func(d *Definition) { d.Headers[1].Value = "sales" }, "", func(d *Definition) { d.Headers[1].Value = "sales" }},
		"one credential changes": {func(d *Definition) { d.Headers[0].Value = "new" }, "", func(d *Definition) { d.Headers[0].Value = "new" }},
		"another spelling":       {func(d *Definition) { d.Headers[2].Key = "x-token" }, "", func(d *Definition) { d.Headers[2].Key = "x-token" }},
		"the mask of the audit":  {func(d *Definition) { d.Headers[2].Value = MaskChanged }, "", func(*Definition) {}},
		"a header goes":          {func(d *Definition) { d.Headers = d.Headers[1:] }, "", func(d *Definition) { d.Headers = d.Headers[1:] }},
		"the path changes": {
			func(d *Definition) { d.Target.URL = "HTTPS://X.Y.:443/other?token=" + Mask }, "",
			func(d *Definition) { d.Target.URL = "HTTPS://X.Y.:443/other?token=three" },
		},
		"a URL that was encoded": {
			func(d *Definition) { d.Target.URL = "https://x.y/?token=%2A%2A%2A%2A%2A%2A%2A%2A" }, "",
			func(d *Definition) { d.Target.URL = "https://x.y/?token=three" },
		},
		"a header that is not there":    {func(d *Definition) { d.Headers[2].Key = "X-Key" }, "headers.X-Key", nil},
		"a parameter that is not there": {func(d *Definition) { d.Target.URL = "https://x.y/hook?key=" + Mask }, "target.url", nil},
		"a third of two parameters":     {func(d *Definition) { d.Target.URL += "&token=" + Mask }, "target.url", nil},
		"another host":                  {func(d *Definition) { d.Target.URL = "https://evil.y/hook?token=" + Mask }, "headers.Authorization", nil},
		"another port":                  {func(d *Definition) { d.Target.URL = "https://x.y:8443/hook" }, "headers.Authorization", nil},
		"no TLS any more":               {func(d *Definition) { d.Target.URL = "http://x.y/hook" }, "headers.Authorization", nil},
		"another kind":                  {func(d *Definition) { d.Target = Target{Kind: TargetNATS, Subject: "a.b"} }, "headers.Authorization", nil},
	} {
		stored := secretJob()
		asked, want := stored.Masked(), secretJob()
		c.change(&asked)
		got, err := asked.Unmask(&stored)
		if c.field == "" {
			if c.want(&want); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
			}
			continue
		}
		if e := apierr.From(err); e.Code != apierr.InvalidField || e.Field != c.field || !strings.Contains(e.Message, Mask) {
			t.Errorf("%s: %v; want one about %s", name, err, c.field)
		}
	}
	for _, kind := range []TargetKind{TargetRequest, TargetJetStream} {
		stored := secretJob()
		stored.Target = Target{Kind: TargetNATS, Subject: "a.b"}
		asked := stored.Masked()
		asked.Target.Kind = kind
		if _, err := asked.Unmask(&stored); apierr.From(err).Field != "headers.Authorization" {
			t.Errorf("kind %s of the same subject: %v", kind, err)
		}
	}
	shown := secretJob()
	shown = shown.Masked()
	if _, err := shown.Unmask(nil); !strings.Contains(apierr.From(err).Message, "--with-credentials") || apierr.From(err).Code != apierr.InvalidField {
		t.Errorf("a new job: %v", err)
	}
	stored := secretJob()
	stored.Headers = []Pair{{"Authorization", strings.Repeat("x", HeadersBytesMax-100)}}
	shown = stored.Masked()
	shown.Headers = append(shown.Headers, Pair{"X-Long", strings.Repeat("y", 200)})
	if _, err := shown.Unmask(&stored); apierr.From(err).Code != apierr.TooLarge {
		t.Errorf("headers that are too long with what the mask stands for: %v", err)
	}
}

// TestMaskInPart: a mask with something around it is no credential, and is refused.
func TestMaskInPart(t *testing.T) {
	for field, change := range map[string]func(*Definition){
		"headers.Authorization": func(d *Definition) { d.Headers[0].Value = "Bearer " + Mask },
		"headers.X-Token":       func(d *Definition) { d.Headers[2].Value = Mask + "*" },
		"target.url":            func(d *Definition) { d.Target.URL = "https://x.y/?token=a" + Mask },
	} {
		d := secretJob()
		change(&d)
		if e := apierr.From(d.Validate(Rules{PayloadBytesMax: 1})); e.Code != apierr.InvalidField || e.Field != field {
			t.Errorf("%s: %v", field, e)
		}
	}
	d := secretJob()
	d.Headers[1].Value, d.Target.URL = "a "+Mask, "https://x.y/?stars="+Mask+"x"
	if err := d.Validate(Rules{PayloadBytesMax: 1}); err != nil {
		t.Errorf("stars where no credential is: %v", err)
	}
}

// TestAuditUpdateKeepsNoCredentials: that a credential was replaced shows, and none of both does.
func TestAuditUpdateKeepsNoCredentials(t *testing.T) {
	before, after := secretJob(), secretJob()
	after.Headers = append(after.Headers, Pair{"X-Key", "five"})
	after.Headers[0].Value, after.Target.URL = "Bearer six", "https://x.y/hook?a=2&token=three&token=seven"
	b, a, err := AuditUpdate(&before, EncodeDefinition(&after))
	if err != nil {
		t.Fatal(err)
	}
	from, err := DecodeAuditDefinition(b)
	if err != nil {
		t.Fatal(err)
	}
	to, err := DecodeAuditDefinition(a)
	if err != nil {
		t.Fatal(err)
	}
	if want := []Pair{{"Authorization", Mask}, {"X-Team", "billing"}, {"X-Token", Mask}}; !reflect.DeepEqual(from.Headers, want) {
		t.Errorf("before: %v", from.Headers)
	}
	if want := []Pair{{"Authorization", MaskChanged}, {"X-Team", "billing"}, {"X-Token", Mask}, {"X-Key", Mask}}; !reflect.DeepEqual(to.Headers, want) {
		t.Errorf("after: %v", to.Headers)
	}
	if from.Target.URL != "https://x.y/hook?a=1&token=********&token=********" || to.Target.URL != "https://x.y/hook?a=2&token=********&token=********-changed" {
		t.Errorf("%s became %s", from.Target.URL, to.Target.URL)
	}
	if again := to.MaskedAfter(&from); !reflect.DeepEqual(again, to) {
		t.Errorf("masked again: %+v", again)
	}
}

// FuzzMaskURL: no text makes the masking panic, nothing is left to be masked after it, and what was masked can be
// put back.
func FuzzMaskURL(f *testing.F) {
	for _, url := range []string{
		"https://a:b@c/?token=d&token=e#key=f", "?token=%zz", "://@?&=&token==", "https://c/?token=" + Mask, "https://c/?a=http://b:c@d/?token=e",
		"https://c/?a=http%3A%2F%2Fb%3Ac%40d&a=http://e:f@g/http://h:i@j", "?a=http://b?c=%68ttp%253A%252F%252Fb%253Ac%2540d", "#=#=#=#=#=%",
	} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		masked := MaskURL(url)
		for _, value := range credentialsOfURL(masked) {
			if !isMask(unescaped(value)) {
				t.Fatalf("%q became %q", url, masked)
			}
		}
		d := Definition{Target: Target{Kind: TargetHTTP, URL: url}}
		if back, err := (&Definition{Target: Target{Kind: TargetHTTP, URL: masked}}).Unmask(&d); err == nil && back.Target.URL != url {
			t.Fatalf("%q became %q and %q", url, masked, back.Target.URL)
		}
	})
}
