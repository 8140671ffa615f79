package api

import (
	"encoding/json"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/inbox"
)

// senderHeader is the header in which the server of NATS names who sends a request across accounts.
const senderHeader = "Nats-Request-Info"

// sender returns the account and the user that the server of NATS names. It believes the header only if it is the whole
// header and has it once.
//
// The server removes what a client wrote under this name, and adds its own at the end. But it looks for a name after a
// CRLF, and overlooks one that follows a bare line feed, or a text in which the name is repeated; and the client library
// reads no further than a blank line. A header with both would have the client's words and hide the server's.
func sender(r *inbox.Request) (account, user string, err error) {
	if !isWhole(r.Header, r.HeaderBytes) {
		return "", "", apierr.Errorf(apierr.Unauthenticated, "", "the header of the request cannot be read as a whole, so its sender is unknown; want at most %d lines, each a name and a value, and no blank one", senderLinesMax)
	}
	values := valuesOf(r.Header, senderHeader)
	if len(values) != 1 || len(r.Header[senderHeader]) != 1 {
		return "", "", apierr.Errorf(apierr.Unauthenticated, "", "the request has the header %s %d times, which the NATS server sets and a client does not; want none from the client", senderHeader, len(values))
	}
	var info struct {
		Account string `json:"acc"`
		User    string `json:"user"`
	}
	if err := json.Unmarshal([]byte(values[0]), &info); err != nil {
		return "", "", apierr.Errorf(apierr.Unauthenticated, "", "the header %s of the request cannot be read", senderHeader)
	}
	return info.Account, info.User, nil
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
