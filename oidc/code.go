package oidc

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/smallfile"
)

// Flow is one sign-in by the code flow, between the departure to the issuer and the return. Its secrets are kept in a
// sealed cookie of the browser, so that a return is good only in the browser that left.
type Flow struct {
	State    string `json:"s"` // it binds the return to the browser
	Nonce    string `json:"n"` // it binds the token to the flow
	Verifier string `json:"v"` // it binds the code to this server (PKCE)
	Redirect string `json:"r"` // where the issuer sends the browser back to
}

// NewFlow draws a flow. redirect is the URL of the pages to which the issuer sends the browser back; the one of the file
// of rights takes its place.
func (i *Issuer) NewFlow(redirect string) Flow {
	if i.config.RedirectURL != "" {
		redirect = i.config.RedirectURL
	}
	return Flow{State: rand.Text(), Nonce: rand.Text(), Verifier: rand.Text() + rand.Text(), Redirect: redirect}
}

// Departure returns the URL of the issuer at which the person signs in.
func (i *Issuer) Departure(ctx context.Context, f Flow) (string, error) {
	at, err := i.ring.addresses(ctx)
	if err != nil {
		return "", err
	}
	challenge := sha256.Sum256([]byte(f.Verifier))
	q := url.Values{
		"response_type": {"code"}, "client_id": {i.config.ClientID}, "redirect_uri": {f.Redirect}, "scope": {at.scopes()},
		"state": {f.State}, "nonce": {f.Nonce},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])}, "code_challenge_method": {"S256"},
	}
	separator := "?"
	if strings.Contains(at.Authorize, "?") {
		separator = "&"
	}
	return at.Authorize + separator + q.Encode(), nil
}

// Return ends a flow: it gives the issuer the code in the query of the return, and returns who has signed in. The state is
// looked at first: the query of another flow, or of none, is [ErrOtherFlow], and nothing of it is used. The other errors
// are a [Refusal], a [*DeniedError] and an [*UnavailableError]; see [PublicText].
func (i *Issuer) Return(ctx context.Context, f Flow, query url.Values) (Person, error) {
	if subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(f.State)) != 1 || f.State == "" {
		return Person{}, ErrOtherFlow
	}
	if said := query.Get("error"); said != "" {
		return Person{}, &DeniedError{fmt.Sprintf("%.100q, %.300q", said, query.Get("error_description"))}
	}
	code := query.Get("code")
	if code == "" || len(code) > TokenBytesMax {
		return Person{}, Refusal("the issuer has sent no code; sign in again")
	}
	ctx, cancel := context.WithTimeout(ctx, askMax)
	defer cancel()
	token, err := i.redeem(ctx, f, code)
	if err != nil {
		return Person{}, err
	}
	c, until, err := i.verified(ctx, token)
	if err != nil {
		return Person{}, notAccepted(err)
	}
	if subtle.ConstantTimeCompare([]byte(c.text("nonce")), []byte(f.Nonce)) != 1 {
		return Person{}, Refusal("the token of the issuer is for another sign-in; sign in again")
	}
	if isThere(c["azp"]) && c.text("azp") != i.config.ClientID {
		return Person{}, Refusal("the token of the issuer was made for another client")
	}
	p, err := c.person(&i.config)
	if err != nil {
		return p, notAccepted(err)
	}
	p.Until = until
	return p, nil
}

// notAccepted returns the error of a token that the issuer gave for a code. One that says nothing of the token stays.
func notAccepted(err error) error {
	if r, ok := errors.AsType[Refusal](err); ok {
		return "the token of the issuer is not accepted: " + r
	}
	return err
}

// redeem exchanges a code for the token with the identity.
func (i *Issuer) redeem(ctx context.Context, f Flow, code string) (token string, err error) {
	at, err := i.ring.addresses(ctx)
	if err != nil {
		return "", err
	}
	secret, err := readSecret(i.config.SecretFile)
	if err != nil {
		return "", &UnavailableError{err}
	}
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {f.Redirect}, "client_id": {i.config.ClientID}, "code_verifier": {f.Verifier},
	}
	if secret != "" && at.postsSecret() {
		form.Set("client_secret", secret)
	}
	req, err := http.NewRequest(http.MethodPost, at.Token, strings.NewReader(form.Encode()))
	if err != nil {
		return "", &UnavailableError{err}
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if secret != "" && !at.postsSecret() {
		req.SetBasicAuth(url.QueryEscape(i.config.ClientID), url.QueryEscape(secret)) // RFC 6749, section 2.3.1
	}
	status, body, err := i.ask(ctx, req)
	if err != nil {
		return "", &UnavailableError{err}
	}
	return redeemed(status, body)
}

// redeemed reads the answer to a code.
func redeemed(status int, body []byte) (token string, err error) {
	var answer struct {
		Token string `json:"id_token"`
		Error string `json:"error"`
	}
	switch bad := json.Unmarshal(body, &answer); {
	case status >= http.StatusInternalServerError:
		return "", &UnavailableError{fmt.Errorf("it answers with the status %d", status)}
	case answer.Error != "":
		return "", &DeniedError{fmt.Sprintf("it does not accept the code: %.100q", answer.Error)}
	case bad != nil || status != http.StatusOK || answer.Token == "":
		return "", &UnavailableError{errors.New("its answer has no id_token")}
	}
	return answer.Token, nil
}

// readSecret reads the secret of the client, each time that it is needed, so that it can be replaced; "" without a file.
func readSecret(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := smallfile.ReadSecret(path, access.SecretBytesMax)
	if err != nil {
		return "", errors.New("its client_secret_file is missing, too large, open to other users of this machine, or of another user")
	}
	return strings.TrimSpace(string(text)), nil
}
