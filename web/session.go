package web

import (
	"encoding/hex"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/oidc"
	"github.com/carillon-io/carillon/session"
)

// The cookies. The prefix of their names makes browsers take them only over a connection that no third party can write to,
// and only from this host.
const (
	sessionCookie = "__Host-carillon"
	flowCookie    = "__Host-carillon-sign-in"
)

// How long the cookies are good.
const (
	sessionLife = 8 * time.Hour
	flowLife    = 10 * time.Minute // for the person to sign in at the issuer
)

// identity is what a session keeps of who has signed in. It has no rights: those are in the file of rights, which is
// asked at each request. So a session ends with its principal, with its token, and with the issuer in the file.
type identity struct {
	Token string `json:"token,omitempty"` // SHA-256 of the token, in hexadecimal digits; "": the issuer has said who it is

	Issuer   string   `json:"issuer,omitempty"`
	ClientID string   `json:"client,omitempty"`
	Name     string   `json:"name,omitempty"`
	Groups   []string `json:"groups,omitempty"` // those that principals had at the sign-in

	until time.Time // when the issuer's token expires; zero: the session has its own end alone
}

// identityOf returns what a session keeps of a person.
func identityOf(table *access.Table, p oidc.Person) *identity {
	o := table.OIDC()
	return &identity{Issuer: o.Issuer, ClientID: o.ClientID, Name: p.Name, Groups: table.KnownGroups(p.Groups), until: p.Until}
}

// who returns the caller by the rights in force.
func (i *identity) who(table *access.Table) access.Who {
	if i.Token != "" {
		var hash [32]byte
		if n, err := hex.Decode(hash[:], []byte(i.Token)); err != nil || n != len(hash) {
			return access.Who{}
		}
		return table.WhoseHash(hash)
	}
	if o := table.OIDC(); o.Issuer == "" || o.Issuer != i.Issuer || o.ClientID != i.ClientID {
		return access.Who{}
	}
	return table.WhosePerson(i.Name, i.Groups)
}

// hasSession reports whether a request shows a session and nothing that goes before it.
func hasSession(req *http.Request) bool {
	return len(req.Header.Values("Authorization")) == 0 && len(req.CookiesNamed(sessionCookie)) > 0
}

// whoseSession returns the caller of a session; the zero value without a good one.
func (w *gateway) whoseSession(table *access.Table, req *http.Request) access.Who {
	var i identity
	if !w.openCookie(req, sessionCookie, &i) {
		if hasSession(req) {
			return access.Who{Refusal: "the session has ended, or was not begun here; sign in again"}
		}
		return access.Who{}
	}
	return i.who(table)
}

// openCookie reads a cookie into to, and reports whether it is good.
func (w *gateway) openCookie(req *http.Request, name string, to any) bool {
	cookies := req.CookiesNamed(name)
	if len(cookies) != 1 || w.opts.SessionKey == nil {
		return false
	}
	key, err := w.opts.SessionKey()
	if err != nil {
		return false
	}
	content, ok := session.Open(key, name, cookies[0].Value, w.now())
	return ok && json.Unmarshal(content, to) == nil
}

// setCookie seals a content into a cookie that is good for a while.
func (w *gateway) setCookie(rw http.ResponseWriter, name string, content any, life time.Duration) error {
	key, err := w.opts.SessionKey()
	if err != nil {
		return err
	}
	text, err := json.Marshal(content)
	if err != nil {
		return err
	}
	value, err := session.Seal(key, name, text, w.now().Add(life))
	if err == nil {
		http.SetCookie(rw, cookie(name, value, int(life/time.Second)))
	}
	return err
}

// dropCookie makes the browser forget a cookie.
func dropCookie(rw http.ResponseWriter, name string) { http.SetCookie(rw, cookie(name, "", -1)) }

// cookie returns a cookie that no script reads, and that a browser sends to this host alone: with its own requests, and
// when a link leads here.
func cookie(name, value string, seconds int) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: seconds, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode}
}
