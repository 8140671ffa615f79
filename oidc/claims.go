package oidc

import (
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/access"
)

// claims are what a token says. Its text must have each claim once, or its readers could disagree.
type claims map[string]jsontext.Value

func parseClaims(text []byte) (claims, error) {
	var c claims
	if json.Unmarshal(text, &c) != nil {
		return nil, errNoToken
	}
	return c, nil
}

// text returns a claim that is a text; "" if there is none, or if it is something else.
func (c claims) text(name string) (s string) {
	if json.Unmarshal(c[name], &s) != nil {
		return ""
	}
	return s
}

// isThere reports whether a token has a claim. One that is null counts as left out.
func isThere(claim jsontext.Value) bool { return claim != nil && claim.Kind() != 'n' }

// texts returns a claim that is a list of texts, or one text; none if it is something else.
func (c claims) texts(name string) (list []string) {
	if one := c.text(name); one != "" {
		return []string{one}
	}
	if json.Unmarshal(c[name], &list) != nil {
		return nil
	}
	return list
}

// time returns a claim that is an instant, in seconds since 1970; found is false if there is none. One that is no such
// number, or lies outside of the years of a calendar, is an error.
func (c claims) time(name string) (t time.Time, found bool, err error) {
	value := c[name]
	if !isThere(value) {
		return t, false, nil
	}
	var seconds float64
	if json.Unmarshal(value, &seconds) != nil || math.Abs(seconds) > secondsMax {
		return t, true, refused("its claim %s is no instant in seconds", name)
	}
	return time.Unix(int64(seconds), 0), true, nil
}

// secondsMax is the end of the year 9999.
const secondsMax = 253402300799

// skew is by how much the clock of the issuer may differ from that of this node.
const skew = 30 * time.Second

// check checks a token whose signature is good: that it is for this client, and valid at an instant. It returns until
// when it is.
func (c claims) check(o *access.OIDC, now time.Time) (until time.Time, err error) {
	switch {
	case c.text("iss") != o.Issuer:
		return until, Refusal("it names another issuer")
	case !slices.Contains(c.texts("aud"), o.ClientID):
		return until, Refusal("it is for another audience; want the client_id of this server in aud")
	case isThere(c["azp"]) && c.text("azp") == "":
		return until, Refusal("its claim azp is no text; want the client_id for which the token was made")
	case len(c.texts("aud")) > 1 && c.text("azp") != o.ClientID:
		return until, Refusal("it is for several audiences, and made for another one of them; want the client_id of this server in azp, or alone in aud")
	case c["events"] != nil:
		return until, Refusal("it tells of an event, and is no identity")
	}
	until, found, err := c.time("exp")
	if err == nil && !found {
		err = Refusal("it never expires; want the claim exp")
	}
	if err == nil && !now.Before(until.Add(skew)) {
		err = Refusal("it has expired; sign in again")
	}
	for _, name := range []string{"nbf", "iat"} {
		from, found, wrong := c.time(name)
		switch {
		case err != nil:
		case wrong != nil:
			err = wrong
		case found && from.After(now.Add(skew)):
			err = refused("it is not valid yet: its claim %s lies in the future", name)
		}
	}
	return until, err
}

// nameBytesMax bounds the name of a person, so that it fits into the audit log with its means.
const nameBytesMax = 120

// person returns who a token says its bearer is.
func (c claims) person(o *access.OIDC) (Person, error) {
	p := Person{Name: c.text(o.NameClaim), Groups: c.texts(o.GroupsClaim)}
	verified := true
	if value, given := c["email_verified"]; given && o.NameClaim == "email" {
		// Some issuers send a text.
		verified = strings.Trim(string(value), `"`) == "true"
	}
	switch {
	case c.text("sub") == "":
		return p, Refusal("it has no claim sub")
	case p.Name == "" || len(p.Name) > nameBytesMax || !utf8.ValidString(p.Name) || strings.ContainsFunc(p.Name, isUnprintable):
		return p, refused("its claim %s is no name of at most %d bytes; see name_claim", o.NameClaim, nameBytesMax)
	case !verified:
		return p, Refusal("the issuer has not verified its claim email")
	}
	return p, nil
}

func isUnprintable(r rune) bool { return !unicode.IsPrint(r) }
