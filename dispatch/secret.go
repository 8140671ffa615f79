package dispatch

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/webhook"
)

// secretBytesMin is the length of the shortest secret for a header. A shorter one could not be masked in texts.
const secretBytesMin = 4

// parcel is a delivery to an http target whose secrets have their values. It lives as long as the attempt.
type parcel struct {
	*job.Delivery                 // a copy if the delivery names secrets, otherwise the delivery itself
	credentials   job.Credentials // what no text about the attempt may contain
	keys          []webhook.Key   // with which the request is signed; nil: it is not
	certPEM       []byte          // client certificate and key; nil: none
	hasSecrets    bool
}

// resolve reads the secrets of a delivery. It returns a parcel also with an error, so that the error can be masked.
// The errors do not refuse the run: the operator can add or correct a file until the last attempt.
func (s *httpSender) resolve(d *job.Delivery) (*parcel, error) {
	p := &parcel{Delivery: d, credentials: job.CredentialsOf(d.Headers, d.Target)}
	t := &d.Target
	p.hasSecrets = t.URLSecret != "" || t.Sign != "" || t.ClientCert != "" || len(d.SecretHeaders) > 0
	if !p.hasSecrets {
		return p, nil
	}
	bare := *d
	p.Delivery = &bare
	if err := s.checkLiteral(p); err != nil {
		return p, err
	}
	return p, errors.Join(s.resolveURL(p), s.resolveHeaders(p), s.resolveKeys(p), s.resolveCert(p))
}

// checkLiteral refuses a target that is not allowed before its secrets are read: no secret that comes later would help. A URL
// that is a secret itself is checked when it is known.
func (s *httpSender) checkLiteral(p *parcel) error {
	u, err := url.Parse(p.Target.URL)
	if p.Target.URLSecret != "" || err != nil { // the request says what is wrong with a URL
		return nil
	}
	if err := job.CheckURL(u, s.rules.TargetsOf(p.Tenant)); err != nil {
		return p.refuse(err)
	}
	return nil
}

// read returns the value of a secret of the delivery's tenant. The check of the tenant is that of the put, again: the
// row may come from a backup, or from another release.
func (s *httpSender) read(p *parcel, ref job.SecretRef) ([]byte, error) {
	tenant, _, ok := ref.Cut()
	switch {
	case !ok || tenant != p.Tenant:
		return nil, fmt.Errorf("secret %s is not one of tenant %s", ref, p.Tenant)
	case s.secret == nil:
		return nil, fmt.Errorf("secret %s: this server runs without --secrets-dir", ref)
	}
	return s.secret(ref)
}

func (s *httpSender) resolveURL(p *parcel) error {
	ref := p.Target.URLSecret
	if ref == "" {
		return nil
	}
	value, err := s.read(p, ref)
	if err != nil {
		return err
	}
	p.credentials.AddSecret(string(value))
	u, err := job.ParseTargetURL(string(value), s.rules.TargetsOf(p.Tenant))
	if _, ok := errors.AsType[*job.TargetError](err); ok {
		return p.refuse(err)
	}
	if closed, ok := errors.AsType[*job.ClosedError](err); ok {
		return bar(fmt.Errorf("secret %s: its host is closed to http targets: %s", ref, closed.Network))
	}
	if err != nil { // its text may have parts of the value
		return fmt.Errorf("secret %s: is no URL of a target; want one such as https://example.com/hook, without user and fragment", ref)
	}
	if p.Target.ClientCert != "" && u.Scheme != "https" {
		return fmt.Errorf("secret %s: the target has a client certificate, and its URL is not one of https", ref)
	}
	p.Target.URL = string(value)
	return nil
}

func (s *httpSender) resolveHeaders(p *parcel) error {
	if len(p.SecretHeaders) == 0 {
		return nil
	}
	p.Headers = append(make([]job.Pair, 0, len(p.Headers)+len(p.SecretHeaders)), p.Headers...)
	total := 0
	for _, h := range p.SecretHeaders {
		value, err := s.read(p, job.SecretRef(h.Value))
		if err != nil {
			return err
		}
		total += len(value)
		switch text := string(value); {
		case len(text) < secretBytesMin:
			return fmt.Errorf("secret %s: has fewer than %d bytes, too few for the header %s", h.Value, secretBytesMin, h.Key)
		case total > job.HeadersBytesMax:
			return fmt.Errorf("secret %s: the header %s would exceed the %d bytes of headers", h.Value, h.Key, job.HeadersBytesMax)
		case strings.ContainsFunc(text, isControl) || strings.TrimSpace(text) != text:
			return fmt.Errorf("secret %s: cannot be the value of the header %s; want one line without control characters and outer spaces", h.Value, h.Key)
		default:
			p.credentials.AddSecret(text)
			p.Headers = append(p.Headers, job.Pair{Key: h.Key, Value: text})
		}
	}
	return nil
}

func (s *httpSender) resolveKeys(p *parcel) error {
	if p.Target.Sign == "" {
		return nil
	}
	value, err := s.read(p, p.Target.Sign)
	if err != nil {
		return err
	}
	p.credentials.AddSecret(string(value)) // the target has the key as well, and may repeat it
	if p.keys, err = webhook.ParseKeys(string(value)); err != nil {
		return fmt.Errorf("secret %s: %w", p.Target.Sign, err)
	}
	return nil
}

func (s *httpSender) resolveCert(p *parcel) (err error) {
	if p.Target.ClientCert != "" {
		p.certPEM, err = s.read(p, p.Target.ClientCert)
	}
	return err
}

// isControl reports whether a character could end a header or is invalid in one.
func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// sign adds the headers of Standard Webhooks, if the target has keys. The id is the same for each attempt of a run, so
// that a receiver recognises a repeated one.
func (p *parcel) sign(h http.Header, at time.Time) {
	if len(p.keys) == 0 {
		return
	}
	id := p.Run.String()
	h.Set(webhook.HeaderID, id)
	h.Set(webhook.HeaderTimestamp, webhook.Timestamp(at))
	h.Set(webhook.HeaderSignature, webhook.Sign(p.keys, id, at, bodyOf(p.Delivery)))
}

// refuse returns the failure for an error of [job.CheckURL]. Its text has no host that comes from a secret.
func (p *parcel) refuse(err error) error {
	if closed, ok := errors.AsType[*job.ClosedError](err); ok {
		return bar(closed)
	}
	barred, ok := errors.AsType[*job.TargetError](err)
	switch {
	case !ok:
		return Refuse(fmt.Errorf("target.url: %w", err))
	case p.Target.URLSecret != "":
		shown := *barred
		shown.What = fmt.Sprintf("the host in the secret %s", p.Target.URLSecret)
		return bar(&shown)
	}
	return bar(barred)
}

// masked returns an error without the values of secrets. [outcomeOf] masks the credentials of the delivery, but does
// not know these values.
func (p *parcel) masked(err error) error {
	if err == nil || !p.hasSecrets {
		return err
	}
	f := failureOf(err)
	text := err.Error()
	isCut := len(text) > failureReadMax
	if isCut {
		text = text[:failureReadMax]
	}
	f.Err = errors.New(strings.ToValidUTF8(p.credentials.MaskInCut(text, isCut), "�"))
	return &f
}
