package job

import (
	"strings"

	"github.com/carillon-io/carillon/apierr"
)

// reservedHeaders are set by the senders and must not be set by a job. They are compared in lower case; an entry that
// ends in '-' reserves every header with that prefix. The first line are Carillon's own and those that NATS acts
// upon; the others would let a job change the framing or the host of an HTTP request.
var reservedHeaders = []string{
	"carillon-", "nats-", "idempotency-key",
	"host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer",
	"proxy-authorization", "proxy-connection", "expect",
}

// validateHeaders refuses headers that could split a message or forge one of Carillon's own headers. The bounds hold
// for the sum, because NATS and most HTTP servers bound the block of headers and not the single one; the four bytes
// for each are colon, space and line end.
func validateHeaders(headers []Pair) error {
	if len(headers) > HeadersMax {
		return apierr.Errorf(apierr.TooLarge, "headers", "has %d entries; at most %d are allowed", len(headers), HeadersMax)
	}
	total, spelled := 0, make(map[string]string, len(headers))
	for _, h := range headers {
		total += len(h.Key) + len(h.Value) + 4
		field := "headers." + apierr.Clip(h.Key)
		switch {
		case !isHeaderName(h.Key):
			return apierr.Errorf(apierr.InvalidField, field, "is no header name; want letters, digits and - _ such as X-Team")
		case isReservedHeader(h.Key):
			return apierr.Errorf(apierr.InvalidField, field, "is set by Carillon or by the protocol; choose another name")
		case spelled[strings.ToLower(h.Key)] != "":
			return apierr.Errorf(apierr.InvalidField, field, "is the header %s in another case, and the case of a header does not count; want it once", apierr.Clip(spelled[strings.ToLower(h.Key)]))
		case !isPrintable(h.Value):
			return apierr.Errorf(apierr.InvalidField, field, "must be valid UTF-8 without control characters or line breaks")
		case isMaskInPart(h.Value) && IsCredentialHeader(h.Key):
			return apierr.Errorf(apierr.InvalidField, field, "has the mask "+Mask+" in it and more besides; want the whole value, or the mask alone to keep the one that is stored")
		}
		spelled[strings.ToLower(h.Key)] = h.Key
	}
	if total > HeadersBytesMax {
		return apierr.Errorf(apierr.TooLarge, "headers", "have %d bytes together; at most %d are allowed", total, HeadersBytesMax)
	}
	return nil
}

// isHeaderName checks the token grammar of HTTP (RFC 9110), which NATS accepts too.
func isHeaderName(s string) bool {
	return s != "" && len(s) <= 128 && apierr.IndexOutside(s, "!#$%&'*+-.^_`|~") < 0
}

// isReservedHeader reports whether a header is set by a sender. The case of the name does not count.
func isReservedHeader(name string) bool {
	name = strings.ToLower(name)
	for _, r := range reservedHeaders {
		if name == r || r[len(r)-1] == '-' && strings.HasPrefix(name, r) {
			return true
		}
	}
	return false
}
