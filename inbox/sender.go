package inbox

import (
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
)

// SenderHeader is the header in which the server of NATS names who sends a request across accounts.
const SenderHeader = "Nats-Request-Info"

// Sender returns the account and the user that the server of NATS names in a request that came across accounts. The user
// is "" if no client has sent it, but a stream. It believes the header only if it is the whole header and names it once;
// the error says what is wrong.
//
// The server removes what a client wrote under this name, and adds its own at the end. But it looks for a name after a
// CRLF, and overlooks one that follows a bare line feed, or a text in which the name is repeated; and the client library
// reads no further than a blank line. A header with both would have the client's words and hide the server's.
func (r *Request) Sender() (account, user string, err error) {
	if !isWhole(r.Header, r.HeaderBytes) {
		return "", "", fmt.Errorf("the header of the request cannot be read as a whole, so its sender is unknown; want at most %d lines, each a name and a value, and no blank one", senderLinesMax)
	}
	values := r.Header[SenderHeader]
	if n := timesNamed(r.Header); n != 1 || len(values) != 1 {
		return "", "", fmt.Errorf("the header of the request names %s %d times, which the NATS server sets and a client does not; want none from the client", SenderHeader, n)
	}
	who, err := r.senders.read(values[0])
	return who.Account, who.User, err
}

// timesNamed returns how often the name of the sender's header stands anywhere in a header, in names and in values. The
// server writes it once. Where the client's last line has no end, what the server writes becomes a part of that line, and
// so of another name or value; then a line of the client's own would be the only one with the name.
func timesNamed(h nats.Header) (times int) {
	for name, values := range h {
		times += timesIn(name) * len(values)
		for _, value := range values {
			times += timesIn(value)
		}
	}
	return times
}

// timesIn returns how often the name stands in a text, in any case. It copies nothing: every request from an account pays
// for it. Only ASCII has the same length in both cases, so what is compared is as long as the name.
func timesIn(text string) (times int) {
	for i := 0; i+len(SenderHeader) <= len(text); i++ {
		at := strings.IndexAny(text[i:], "nN")
		if at < 0 {
			break
		}
		i += at
		if i+len(SenderHeader) <= len(text) && strings.EqualFold(text[i:i+len(SenderHeader)], SenderHeader) {
			times++
			i += len(SenderHeader) - 1
		}
	}
	return times
}

// senderLinesMax bounds the lines of a header with a sender: see isWhole.
const senderLinesMax = 32

// isWhole reports whether a header that was read is all that came. Each line was "name:value" with one or two characters
// at its end, and perhaps a space before the value, so it came with up to two bytes less than "name: value\r\n" has. The
// line that the server adds, with all that it knows of a client, is longer than two bytes for each of senderLinesMax
// lines. So lines that save bytes cannot make up for it if it was not read.
func isWhole(h nats.Header, length int) bool {
	most, lines := len("NATS/1.0\r\n\r\n"), 0
	for name, values := range h {
		if name == "Status" || name == "Description" {
			continue // they may come from the first line, where they take other bytes
		}
		for _, value := range values {
			most += len(name) + len(": \r\n") + len(value)
			lines++
		}
	}
	return lines <= senderLinesMax && length <= most
}
