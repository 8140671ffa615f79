package bus

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/carillon-io/carillon/certs"
)

// The times and the bound of what is known about peers that were not let in.
const (
	// strangersMax bounds the warnings. Programs that only try the port, from any number of addresses, push each other out.
	strangersMax = 8
	// A peer tries again each second; without news for this long, it is gone or has been let in.
	strangerFor = 15 * time.Second
	// strangerLoggedEvery is the shortest time between two log lines with one text.
	strangerLoggedEvery = time.Minute
	// strangerDoubt is for how long a peer has to be refused until a guess about it counts. A peer tries again each second.
	strangerDoubt = 500 * time.Millisecond
)

// The parts of the embedded server's log lines about a connection of a peer.
const (
	routeMark         = " - rid:" // follows the address
	authErrorOfRoutes = "authentication error"
	duplicateName     = "Remote server has a duplicate name"
)

// strangers knows the programs that lately could not become peers, in words that say what to do. The embedded server
// reports them in its log alone. Safe for concurrent use.
type strangers struct {
	proof   proof
	demands demands // of the peers, if this node has no proof

	mu   sync.Mutex
	seen map[string]sighting // by text
}

// sighting says when a text was true first and last, and when it was logged. A doubtful one is a guess, and counts when it
// was true for strangerDoubt.
type sighting struct {
	first, last, logged time.Time
	isDoubtful          bool
}

// counts reports whether the text can be believed.
func (one sighting) counts() bool { return !one.isDoubtful || one.last.Sub(one.first) >= strangerDoubt }

// note records a line of the embedded server's log if it is about a peer that was not let in and there is more to say
// than the line does; v are the values in it. It returns what is to be logged instead, and at which level; "" to log the
// line.
func (s *strangers) note(line string, v []any, now time.Time) (text string, level slog.Level) {
	if s == nil {
		return "", 0
	}
	addr, what, ok := strings.Cut(line, routeMark)
	host, _, err := net.SplitHostPort(addr)
	if !ok || err != nil {
		return "", 0
	}
	text, isGuess := s.explain(host, what, v)
	if text == "" || !s.record(text, isGuess, now) {
		return text, slog.LevelDebug
	}
	return text, slog.LevelWarn
}

// explain says why a peer was not let in, and what to do; "" if the line says enough. It is a guess that a peer whose first
// bytes are none of the protocol speaks TLS: one that gave up waiting, while this node stood still, leaves such bytes too.
func (s *strangers) explain(host, what string, v []any) (text string, isGuess bool) {
	explainError := explainHandshake
	switch {
	case strings.Contains(what, duplicateName):
		return fmt.Sprintf("a NATS server at %s has the name of this node: two nodes of one name corrupt the streams of the cluster; stop the one that was started last, and give each node a name of its own (--node)", host), false
	case s.proof == proofCertificates:
		explainError = explainCertificates
		fallthrough
	case s.proof == proofPassword:
		if !strings.Contains(what, routeHandshakeError) {
			return "", false
		}
	case strings.Contains(what, authErrorOfRoutes):
		return explainDemand(host, nil), true
	default:
		return "", false
	}
	for _, arg := range v {
		if err, ok := arg.(error); ok {
			return explainError(host, err), false
		}
	}
	return "", false
}

// explainCertificates says why a handshake by certificates of files has failed; "" if it may be the network. The texts have no
// instant that changes: a warning is known by its text.
func explainCertificates(host string, err error) string {
	const all = "give all nodes --cluster-tls-* with certificates of one authority, or none of them"
	foreign, isForeign := errors.AsType[x509.UnknownAuthorityError](err)
	_, isNoTLS := errors.AsType[tls.RecordHeaderError](err)
	op, isOp := errors.AsType[*net.OpError](err)
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	switch {
	case isInvalid:
		return fmt.Sprintf("the peer at %s is not let in, because its certificate %s; replace its --cluster-tls-cert", host, whatIsWrong(&invalid))
	case isNoTLS:
		return fmt.Sprintf("the peer at %s does not speak TLS and is not let in, because this node has --cluster-tls-*; %s", host, all)
	case isForeign && foreign.Cert != nil && certs.IsOfPassword(foreign.Cert):
		return fmt.Sprintf("the peer at %s has the password of the cluster and no --cluster-tls-*, and this node has these, so neither lets the other in: %s", host, all)
	case isForeign:
		return fmt.Sprintf("the peer at %s is not let in, because its certificate is from no authority of the --cluster-tls-ca of this node; %s", host, all)
	case isOp && op.Op == "remote error":
		return fmt.Sprintf("the peer at %s does not accept the certificate of this node: it has another --cluster-tls-ca, or the password of the cluster and no --cluster-tls-*; %s", host, all)
	}
	return ""
}

// whatIsWrong says what is wrong with the certificate of a peer, as the end of a sentence.
func whatIsWrong(e *x509.CertificateInvalidError) string {
	switch {
	case e.Reason == x509.Expired && e.Cert != nil && e.Cert.IsCA:
		return fmt.Sprintf("is from an authority that is valid only from %s to %s", e.Cert.NotBefore.UTC().Format(time.DateOnly), e.Cert.NotAfter.UTC().Format(time.DateOnly))
	case e.Reason != x509.Expired || e.Cert == nil:
		return "does not fit: " + x509.CertificateInvalidError{Reason: e.Reason, Detail: e.Detail}.Error()
	case time.Now().Before(e.Cert.NotBefore):
		return "begins only on " + e.Cert.NotBefore.UTC().Format(time.DateOnly)
	}
	return "has ended on " + e.Cert.NotAfter.UTC().Format(time.DateOnly)
}

// explainHandshake says why a handshake by password has failed; "" if it may be the network.
func explainHandshake(host string, err error) string {
	const same = "give all nodes the same CARILLON_CLUSTER_PASSWORD and --cluster-name"
	invalid, isInvalid := errors.AsType[*tls.CertificateVerificationError](err)
	_, isForeign := errors.AsType[x509.UnknownAuthorityError](err)
	_, isNoTLS := errors.AsType[tls.RecordHeaderError](err)
	op, isOp := errors.AsType[*net.OpError](err)
	switch {
	case isNoTLS:
		return fmt.Sprintf("the peer at %s does not speak TLS and is not let in: it has no password of the cluster, or it is of a release that sends the password in clear text; "+
			"give it the password, or upgrade it", host)
	case isForeign && isInvalid && len(invalid.UnverifiedCertificates) > 0 && certs.IsOfPassword(invalid.UnverifiedCertificates[0]):
		return fmt.Sprintf("the peer at %s has another password of the cluster, or another name of it, and is not let in: %s", host, same)
	case isInvalid:
		return fmt.Sprintf("the peer at %s shows a certificate that does not come from a password, and this node has no --cluster-tls-*, so neither lets the other in: "+
			"give all nodes --cluster-tls-*, or none of them; if it is no node, another program has the address", host)
	case isOp && op.Op == "remote error":
		return fmt.Sprintf("the peer at %s does not accept the password of this node: it has another one, or --cluster-tls-*; %s, and all of them --cluster-tls-* or none", host, same)
	}
	return ""
}

// record keeps a text, and reports whether it is to be logged.
func (s *strangers) record(text string, isGuess bool, now time.Time) (isNews bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetLocked(now)
	one, known := s.seen[text]
	if !known && len(s.seen) >= strangersMax {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(s.seen)), func(a, b string) int { return s.seen[a].last.Compare(s.seen[b].last) })
		delete(s.seen, oldest)
	}
	if !known || now.Sub(one.last) >= strangerFor {
		one.first = now
	}
	one.last, one.isDoubtful = now, isGuess
	if isNews = one.counts() && now.Sub(one.logged) >= strangerLoggedEvery; isNews {
		one.logged = now
	}
	if s.seen == nil {
		s.seen = map[string]sighting{}
	}
	s.seen[text] = one
	return isNews
}

// warnings returns what is true at an instant, sorted.
func (s *strangers) warnings(now time.Time) (found []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetLocked(now)
	for text, one := range s.seen {
		if one.counts() && now.Sub(one.last) < strangerFor {
			found = append(found, text)
		}
	}
	slices.Sort(found)
	return found
}

// forgetLocked forgets what is over. A text stays until it may be logged again, so that a peer that comes and goes
// does not fill the log.
func (s *strangers) forgetLocked(now time.Time) {
	maps.DeleteFunc(s.seen, func(_ string, one sighting) bool {
		return now.Sub(one.last) >= strangerFor && now.Sub(one.logged) >= strangerLoggedEvery
	})
}

// Strangers returns what is to be said about programs that lately could not become peers of the embedded server, with
// the remedies; none without one.
func (b *Bus) Strangers() []string {
	if b.strangers == nil {
		return nil
	}
	return b.strangers.warnings(time.Now())
}
