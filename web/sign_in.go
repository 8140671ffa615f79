package web

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/oidc"
	"github.com/carillon-io/carillon/session"
)

// The paths of signing in and out.
const (
	signInPath  = "/sign-in"        // GET: the page; POST: its form with a token
	issuerPath  = "/sign-in/issuer" // GET: to the issuer
	signOutPath = "/sign-out"       // POST
)

// Bounds of signing in.
const (
	signInBytesMax = 64 << 10 // of the form
	nextBytesMax   = 1024     // of the address of a page
)

// signsIn reports whether readers of pages sign in.
func (w *gateway) signsIn() bool {
	return w.opts.Access != nil && w.opts.SessionKey != nil && w.pages != nil
}

// wantsPage reports whether a browser asks for a page, rather than a program that shows a token of its own.
func wantsPage(req *http.Request) bool {
	return len(req.Header.Values("Authorization")) == 0 && strings.Contains(req.Header.Get("Accept"), "text/html")
}

// turnAway answers a browser whose reader may not see a page: with the way to sign in, from where a good reader comes
// back to the page, or with the reason why not.
func (w *gateway) turnAway(rw http.ResponseWriter, req *http.Request, problem *client.Error) {
	if problem.Status == http.StatusUnauthorized && isRead(req) && !hasSession(req) {
		redirect(rw, req, signInPath+"?"+url.Values{"next": {ownPath(req.URL.RequestURI())}}.Encode())
		return
	}
	w.showSignIn(rw, req, ownPath(req.URL.RequestURI()), problem)
}

// redirect sends a browser to an own path, or to the issuer.
func redirect(rw http.ResponseWriter, req *http.Request, to string) {
	rw.Header().Set("Cache-Control", "no-store")
	rw.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(rw, req, to, http.StatusSeeOther)
}

// ownPath returns the address of a page to which a sign-in may lead; "/" for one that is none, or that could lead to
// another site.
func ownPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || len(next) > nextBytesMax || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" ||
		!strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.Contains(next, `\`) ||
		strings.ContainsFunc(next, func(r rune) bool { return r < ' ' || r == 0x7f }) ||
		isOfAPI(u.Path) || isProbe(u.Path) || u.Path == "/metrics" || u.Path == "/live" || u.Path == signOutPath || strings.HasPrefix(u.Path, signInPath) {
		return "/"
	}
	return next
}

// showSignIn answers with the page to sign in, with what has gone wrong and with its status; nil: nothing has.
func (w *gateway) showSignIn(rw http.ResponseWriter, req *http.Request, next string, problem *client.Error) {
	shown := withReader(req, problem)
	if req.Method != http.MethodHead {
		shown.Method = http.MethodGet
	}
	shown.URL = &url.URL{Path: signInPath, RawQuery: url.Values{"next": {next}}.Encode()}
	w.pages.ServeHTTP(rw, shown)
}

// serveSignIn answers the requests to sign in and out, and reports whether the request was one.
func (w *gateway) serveSignIn(rw http.ResponseWriter, req *http.Request) bool {
	if !w.signsIn() {
		return false
	}
	switch path := req.URL.Path; {
	case path == signInPath && isRead(req):
		next := ownPath(req.URL.Query().Get("next"))
		if w.recognize(req).Principal != nil && w.opts.Access.Authorize(w.recognize(req), "", "status") == nil {
			redirect(rw, req, next)
			return true
		}
		w.showSignIn(rw, req, next, nil)
	case path == signInPath && req.Method == http.MethodPost:
		w.signInByToken(rw, req)
	case path == issuerPath && req.Method == http.MethodGet:
		w.leave(rw, req)
	case path == access.CallbackPath && req.Method == http.MethodGet:
		w.comeBack(rw, req)
	case path == signOutPath && req.Method == http.MethodPost:
		dropCookie(rw, sessionCookie)
		redirect(rw, req, signInPath)
	default:
		return false
	}
	return true
}

// signInByToken begins a session by the token in a form.
func (w *gateway) signInByToken(rw http.ResponseWriter, req *http.Request) {
	req.Body = http.MaxBytesReader(rw, req.Body, signInBytesMax)
	if err := req.ParseForm(); err != nil {
		w.showSignIn(rw, req, "/", unknown("the form has more than 64 KiB, or did not arrive completely; want a token"))
		return
	}
	who, found := w.whoseToken(req.Context(), strings.TrimSpace(req.PostForm.Get("token")))
	if who.Principal == nil && who.Refusal == "" {
		who.Refusal = "no principal of the file of rights has this token"
	}
	w.begin(rw, req, ownPath(req.PostForm.Get("next")), who, found)
}

// begin begins the session of a caller, if they may see a page at all, and leads on to a page.
func (w *gateway) begin(rw http.ResponseWriter, req *http.Request, next string, who access.Who, found *identity) {
	err := w.opts.Access.Authorize(who, "", "status")
	if err == nil {
		life := sessionLife
		if !found.until.IsZero() {
			life = min(life, found.until.Sub(w.now()))
		}
		err = sealError(w.setCookie(rw, sessionCookie, found, life))
	}
	if err != nil {
		w.showSignIn(rw, req, next, api.PublicError(err))
		return
	}
	w.opts.Logger.Info("a reader of pages has signed in", slog.String("by", who.By()), slog.String("from", req.RemoteAddr))
	redirect(rw, req, next)
}

// sealError returns the error of a cookie that cannot be made; nil for nil.
func sealError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, session.ErrTooLarge):
		return apierr.Errorf(apierr.Forbidden, "", "the person has too many groups that principals have, for a cookie; let principals have fewer of them")
	}
	return apierr.Errorf(apierr.Unavailable, "", "the key of the sessions is not there yet; sign in again later")
}

// unknown returns the refusal of a reader who has not shown who they are.
func unknown(message string) *client.Error {
	return &client.Error{Code: client.CodeUnauthenticated, Status: http.StatusUnauthorized, Message: message}
}

// departed is what the browser keeps while its reader signs in at the issuer.
type departed struct {
	Flow oidc.Flow `json:"flow"`
	Next string    `json:"next"`
}

// noIssuer is the answer of a server whose file of rights names no issuer.
const noIssuer = "the file of rights names no issuer; sign in by a token"

// leave sends the browser to the issuer.
func (w *gateway) leave(rw http.ResponseWriter, req *http.Request) {
	next := ownPath(req.URL.Query().Get("next"))
	issuer := w.issuer.Of(w.opts.Access.Table().OIDC())
	if issuer == nil {
		w.showSignIn(rw, req, next, api.PublicError(apierr.Errorf(apierr.NotFound, "", noIssuer)))
		return
	}
	flow := issuer.NewFlow(callbackURL(req))
	to, err := issuer.Departure(req.Context(), flow)
	if err != nil {
		w.showSignIn(rw, req, next, w.issuerProblem(err))
		return
	}
	if err := sealError(w.setCookie(rw, flowCookie, departed{flow, next}, flowLife)); err != nil {
		w.showSignIn(rw, req, next, api.PublicError(err))
		return
	}
	redirect(rw, req, to)
}

// comeBack ends what leave began: the issuer has sent the browser back. The maker of any link can lead a browser here too,
// so nothing of the query is shown.
func (w *gateway) comeBack(rw http.ResponseWriter, req *http.Request) {
	var d departed
	w.openCookie(req, flowCookie, &d) // without it, the state is wrong
	next, table := ownPath(d.Next), w.opts.Access.Table()
	issuer := w.issuer.Of(table.OIDC())
	if issuer == nil {
		w.showSignIn(rw, req, "/", unknown(noIssuer))
		return
	}
	person, err := issuer.Return(context.WithoutCancel(req.Context()), d.Flow, req.URL.Query())
	if errors.Is(err, oidc.ErrOtherFlow) { // any link can lead the browser here; its own flow goes on
		w.showSignIn(rw, req, "/", unknown(oidc.PublicText(err)))
		return
	}
	dropCookie(rw, flowCookie)
	if err != nil {
		w.showSignIn(rw, req, next, w.issuerProblem(err))
		return
	}
	found := identityOf(table, person)
	found.until = time.Time{} // the token shows that the person has signed in just now; a session lasts longer
	w.begin(rw, req, next, table.WhosePerson(person.Name, person.Groups), found)
}

// issuerProblem returns what a reader learns of a sign-in that has failed, and logs what an operator has to mend.
func (w *gateway) issuerProblem(err error) *client.Error {
	w.logIssuer("a sign-in has failed", err)
	if _, ok := errors.AsType[*oidc.UnavailableError](err); ok {
		return api.PublicError(apierr.Errorf(apierr.Unavailable, "", "%s", oidc.PublicText(err)))
	}
	return unknown(oidc.PublicText(err))
}

// logIssuer logs an error whose text is not for the caller.
func (w *gateway) logIssuer(what string, err error) {
	if _, ok := errors.AsType[oidc.Refusal](err); !ok && w.issuerLines.mayLog(w.now()) {
		w.opts.Logger.Warn(what, slog.Any("error", err))
	}
}

// callbackURL returns where the issuer sends the browser back to: the host that it asked for. It is https, because the
// browser would not keep the session otherwise, except on its own machine. The issuer knows the URL, and refuses others.
func callbackURL(req *http.Request) string {
	host, scheme := req.Host, "https"
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if req.TLS == nil && job.IsThisMachine(host) {
		scheme = "http"
	}
	return scheme + "://" + req.Host + access.CallbackPath
}
