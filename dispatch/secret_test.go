package dispatch

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
	"github.com/carillon-io/carillon/webhook"
)

// vault is a set of secrets that a test can change.
type vault struct {
	mu     sync.Mutex
	values map[job.SecretRef]string
}

func (v *vault) set(ref job.SecretRef, value string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.values == nil {
		v.values = make(map[job.SecretRef]string)
	}
	v.values[ref] = value
}

func (v *vault) read(ref job.SecretRef) ([]byte, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if value, ok := v.values[ref]; ok {
		return []byte(value), nil
	}
	return nil, errors.New("secret " + string(ref) + ": there is no such file below --secrets-dir")
}

// secretDelivery returns a delivery of tenant default to a URL in a secret, with a secret header.
func secretDelivery() *job.Delivery {
	d := deliveryTo(job.Target{Kind: job.TargetHTTP, Method: "POST", URLSecret: "default/url"}, 0)
	d.Tenant = "default"
	d.SecretHeaders = []job.Pair{{Key: "Authorization", Value: "default/auth"}}
	return d
}

// TestSecretsAreResolved: the target gets the values, new ones from the next attempt on, and an error that repeats
// them shows none.
func TestSecretsAreResolved(t *testing.T) {
	got := make(chan *http.Request, 8)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got <- r
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, r.Header.Get("Authorization")+" at "+r.Host+" "+r.URL.String())
	})
	v := new(vault)
	d := start(t, Options{AllowPrivateTargets: true, Secret: v.read}, "")
	for _, round := range []string{"planted-one", "planted-two"} {
		v.set("default/url", url+"/services/"+round+"-path?x="+round+"-query")
		v.set("default/auth", "Bearer "+round)
		o := testkit.Receive(t, launch(d, secretDelivery()))
		r := testkit.Receive(t, got)
		if r.Header.Get("Authorization") != "Bearer "+round || r.URL.Query().Get("x") != round+"-query" {
			t.Errorf("the target got %v at %s", r.Header, r.URL)
		}
		if !strings.Contains(o.Error, "HTTP 403") || strings.Contains(o.Error, "planted") || strings.Contains(o.Error, strings.TrimPrefix(url, "http://")) || !o.Refused {
			t.Errorf("outcome is %+v", o)
		}
	}
}

// TestSecretsThatCannotBeUsed fail the attempt with an error that names the secret, never its value, and do not refuse
// the run: an operator can still correct the file. A closed host is not allowed, as without a secret.
func TestSecretsThatCannotBeUsed(t *testing.T) {
	const planted = "planted"
	good := map[job.SecretRef]string{"default/url": "http://127.0.0.1:1/planted-path", "default/auth": "Bearer planted"}
	for name, c := range map[string]struct {
		ref   job.SecretRef
		value string
		edit  func(*job.Delivery)
		want  string
	}{
		"missing":                 {ref: "default/auth", want: "there is no such file"},
		"short":                   {ref: "default/auth", value: "pla", want: "fewer than 4"},
		"two lines":               {ref: "default/auth", value: "planted\r\nX-Evil: planted", want: "control characters"},
		"outer spaces":            {ref: "default/auth", value: " planted", want: "outer spaces"},
		"long":                    {ref: "default/auth", value: strings.Repeat(planted, job.HeadersBytesMax), want: "would exceed"},
		"no URL":                  {ref: "default/url", value: "planted:no/url\x7f", want: "is no URL"},
		"scheme":                  {ref: "default/url", value: "planted://host/", want: "is no URL"},
		"user":                    {ref: "default/url", value: "https://planted:planted@example.com/", want: "is no URL"},
		"metadata":                {ref: "default/url", value: "http://169.254.169.254/planted", want: "closed to http targets"},
		"no key":                  {ref: "default/key", value: "planted", want: "a key has 7 bytes", edit: func(d *job.Delivery) { d.Target.Sign = "default/key" }},
		"no base64":               {ref: "default/key", value: "whsec_planted!", want: "no base64", edit: func(d *job.Delivery) { d.Target.Sign = "default/key" }},
		"three keys":              {ref: "default/key", value: strings.Repeat(strings.Repeat(planted, 5)+"\n", 3), want: "more than 2 lines", edit: func(d *job.Delivery) { d.Target.Sign = "default/key" }},
		"certificate of no https": {ref: "default/cert", value: "planted", want: "is not one of https", edit: func(d *job.Delivery) { d.Target.ClientCert = "default/cert" }},
		"another tenant":          {ref: "crm/auth", value: "planted", want: "not one of tenant default", edit: func(d *job.Delivery) { d.SecretHeaders[0].Value = "crm/auth" }},
	} {
		v := new(vault)
		for ref, value := range good {
			if ref != c.ref {
				v.set(ref, value)
			}
		}
		if c.value != "" {
			v.set(c.ref, c.value)
		}
		del := secretDelivery()
		if c.edit != nil {
			c.edit(del)
		}
		o := testkit.Receive(t, launch(start(t, Options{AllowPrivateTargets: true, Secret: v.read}, ""), del))
		named := c.want == "is not one of https" || strings.Contains(o.Error, string(c.ref))
		if !strings.Contains(o.Error, c.want) || !named || strings.Contains(o.Error, planted) || isBarred(o) != (name == "metadata") || o.Refused != (name == "metadata") {
			t.Errorf("%s: outcome is %+v; want %q", name, o, c.want)
		}
	}
	if o := testkit.Receive(t, launch(start(t, Options{}, ""), secretDelivery())); !strings.Contains(o.Error, "without --secrets-dir") {
		t.Errorf("without secrets: %+v", o)
	}
}

// TestSecretURLErrors: a host that cannot be reached is not named either.
func TestSecretURLErrors(t *testing.T) {
	v := new(vault)
	v.set("default/url", "http://127.0.0.1:1/planted-path")
	v.set("default/auth", "Bearer planted-token")
	d := start(t, Options{AllowPrivateTargets: true, Secret: v.read}, "")
	if o := testkit.Receive(t, launch(d, secretDelivery())); !strings.Contains(o.Error, "refused") || strings.Contains(o.Error, "127.0.0.1") || strings.Contains(o.Error, "planted") {
		t.Errorf("outcome is %+v", o)
	}
	v.set("default/url", "http://planted.invalid/planted-path")
	if o := testkit.Receive(t, launch(d, secretDelivery())); o.Error == "" || strings.Contains(o.Error, "planted") {
		t.Errorf("outcome is %+v", o)
	}
}

// TestSigned: a receiver with either key verifies what it got, also for a method without a body, and each attempt has
// the id of the run.
func TestSigned(t *testing.T) {
	const first, second = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "a raw key of more than 24 bytes"
	type request struct {
		header http.Header
		body   []byte
	}
	got := make(chan request, 8)
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- request{r.Header, body}
	})
	v := new(vault)
	v.set("default/key", first+"\n"+second)
	d := start(t, Options{AllowPrivateTargets: true, Secret: v.read}, "")
	for _, method := range []string{"POST", "GET"} {
		del := deliveryTo(job.Target{Kind: job.TargetHTTP, Method: method, URL: url, Sign: "default/key"}, 0)
		del.Tenant = "default"
		if o := testkit.Receive(t, launch(d, del)); o.Error != "" {
			t.Fatal(o.Error)
		}
		r := testkit.Receive(t, got)
		for _, text := range []string{first, second} {
			key, err := webhook.ParseKey(text)
			if err != nil {
				t.Fatal(err)
			}
			m := webhook.Message{ID: r.header.Get("webhook-id"), Timestamp: r.header.Get("webhook-timestamp"), Signature: r.header.Get("webhook-signature"), Body: r.body}
			if err := webhook.Verify([]webhook.Key{key}, m, time.Now(), time.Minute); err != nil || m.ID != del.Run.String() || strings.Count(m.Signature, " ") != 1 {
				t.Errorf("%s with %q: %v: %+v", method, text, err, m)
			}
		}
	}
}

// clientPEM returns a client certificate and its key, signed by itself.
func clientPEM(t *testing.T, name string) (text string, cert *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	if cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	text = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})) + string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	return text, cert
}

// TestClientCertificates: a real TLS server sees the certificate of the target, after a rotation the new one, and none
// from other targets on the same host.
func TestClientCertificates(t *testing.T) {
	seen := make(chan string, 8)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		name := "none"
		if len(r.TLS.PeerCertificates) > 0 {
			name = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		seen <- name
	}))
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	v := new(vault)
	d := start(t, Options{AllowPrivateTargets: true, TLS: &tls.Config{RootCAs: roots}, Secret: v.read}, "")
	send := func(ref job.SecretRef) (job.Outcome, string) {
		del := deliveryTo(job.Target{Kind: job.TargetHTTP, Method: "POST", URL: s.URL, ClientCert: ref}, 0)
		del.Tenant = "default"
		o := testkit.Receive(t, launch(d, del))
		if o.Error != "" {
			return o, ""
		}
		return o, testkit.Receive(t, seen)
	}
	one, _ := clientPEM(t, "one")
	two, _ := clientPEM(t, "two")
	v.set("default/a", one)
	v.set("default/b", two)
	for _, c := range []struct{ ref, want string }{{"default/a", "one"}, {"", "none"}, {"default/b", "two"}, {"default/a", "one"}, {"", "none"}} {
		if o, name := send(job.SecretRef(c.ref)); name != c.want {
			t.Errorf("%q: the server saw %q, want %q: %+v", c.ref, name, c.want, o)
		}
	}
	v.set("default/a", two)
	if o, name := send("default/a"); name != "two" {
		t.Errorf("after the rotation the server saw %q: %+v", name, o)
	}
	v.set("default/a", one[:len(one)/2]+two)
	if o, _ := send("default/a"); !strings.Contains(o.Error, "secret default/a: want a certificate") || o.Refused {
		t.Errorf("of half a certificate: %+v", o)
	}
}

// TestTransportsAreBounded: many certificates and reaches do not make ever more transports.
func TestTransportsAreBounded(t *testing.T) {
	s := newTransports(Options{}.withDefaults())
	p := &parcel{Delivery: new(job.Delivery)}
	for port := 1; port < 3*transportsMax; port++ {
		if _, err := s.of(openTo(t, fmt.Sprintf("10.0.0.0/8:%d", port)), p); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.own) > transportsMax {
		t.Errorf("there are %d transports", len(s.own))
	}
}

// TestPartsOfSecretsAreMasked: whatever of a secret a target says, and however it changed it, the outcome has a mask in
// its place.
func TestPartsOfSecretsAreMasked(t *testing.T) {
	var body string
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, body)
	})
	v := new(vault)
	v.set("default/url", url+"/pin/4829?PLANTEDQUERY")
	v.set("default/auth", "Bearer p\xe4ssw\xf6rd-planted-01")
	v.set("default/key", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	d := start(t, Options{AllowPrivateTargets: true, Secret: v.read}, "")
	for said, want := range map[string]string{
		"no PLANTEDQUERY":                         "no ********",
		"no hook 4829 (error)":                    "no hook ******** (error)",
		"invalid token pässwörd-planted-0":        "invalid token ********",
		"invalid token p\xe4ssw\xf6rd-plan\n ted": "invalid token ********",
		"want whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2":   "want ********",
	} {
		body = said
		del := secretDelivery()
		del.Target.Sign = "default/key"
		if o := testkit.Receive(t, launch(d, del)); strings.ReplaceAll(o.Error, "whsec_", "") != "HTTP 400: "+want {
			t.Errorf("%q became %q; want %q", said, o.Error, want)
		}
	}
}
