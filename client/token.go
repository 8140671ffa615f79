package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/smallfile"
)

// TokenBytesMax bounds a token, in bytes. A token of `carillon auth token` has 52; the bound leaves room for a JWT.
const TokenBytesMax = 8 << 10

// tokenFileBytesMax bounds what is read of a file with a token, in bytes. It is more than a token may have, so that the
// error about one that is too long says how long a token may be.
const tokenFileBytesMax = 8 * TokenBytesMax

// CheckToken returns an error that says what would be right if a text cannot be a token: a token has 1 to
// [TokenBytesMax] bytes of visible ASCII. The error does not contain the text.
func CheckToken(token string) error {
	switch {
	case token == "":
		return errors.New("the token is empty; want the text that `carillon auth token` prints")
	case len(token) > TokenBytesMax:
		return fmt.Errorf("the token has more than %d bytes; want the text that `carillon auth token` prints", TokenBytesMax)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("the token has a blank or another character that is no visible ASCII; want one word, as `carillon auth token` prints it")
	}
	return nil
}

// StaticToken returns a function for [Options].Token that always returns the same token.
func StaticToken(token string) func() (string, error) {
	return func() (string, error) { return token, CheckToken(token) }
}

// TokenFile returns a function for [Options].Token that reads a file at each call, so that a token is rotated by
// replacing the file. The file has the token alone; a line end after it is ignored. It must be a regular file that other
// users of the machine may neither read nor change nor replace, of the user of this process or of root; its group may read
// it, and if that is a group of this process, it may be a file of another user.
func TokenFile(path string) func() (string, error) {
	return func() (string, error) {
		text, err := smallfile.ReadSecret(path, tokenFileBytesMax)
		if err != nil {
			return "", fmt.Errorf("the token: %w", err)
		}
		token, err := ReadToken(bytes.NewReader(text))
		if err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		return token, nil
	}
}

// ReadToken reads a token to the end of r. A line end after it is ignored. It reads little more than [TokenBytesMax]
// bytes of a text that is too long.
func ReadToken(r io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(r, TokenBytesMax+3)) // with a line end, and a byte that is too many
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	return token, CheckToken(token)
}

// WithToken returns the option by which a NATS connection of the caller's own shows a token, for a client of [New].
// [Connect] uses it for [Options].Token. The tenant is sent as the name of the user, and the token as the password and
// as the token of NATS: the embedded server of Carillon selects the account of the tenant by the one, and an earlier
// release, or a NATS server without users, reads the other. With the tenant "" only the token is sent.
//
// The connection asks for the token before each attempt to connect. If token fails then, the connection shows the last
// token that it had. A connection that is refused goes on trying, because the token may be about to be replaced.
func WithToken(tenant string, token func() (string, error)) nats.Option {
	return func(o *nats.Options) error {
		first, err := token()
		if err != nil {
			return err
		}
		source := &tokenSource{read: token, last: first}
		if tenant != "" {
			o.UserInfo = func() (user, password string) { return tenant, source.now() }
		}
		o.TokenHandler = source.now
		o.IgnoreAuthErrorAbort = true
		return nil
	}
}

// tokenSource remembers the last good token. It is safe for concurrent use.
type tokenSource struct {
	read func() (string, error)

	mu   sync.Mutex
	last string
}

// now returns the present token, or the last good one.
func (s *tokenSource) now() string {
	token, err := s.read()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.last = token
	}
	return s.last
}
