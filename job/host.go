package job

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/carillon-io/carillon/apierr"
)

// ClosedError means that a target has an address to which this server does not send.
type ClosedError struct {
	Host    string // as it was written, or the address that was about to be dialled
	Network Network
}

// Error implements error.
func (e *ClosedError) Error() string {
	if e.Network.Always {
		return fmt.Sprintf("%q is closed to http targets, whatever the settings: %s", apierr.Clip(e.Host), e.Network)
	}
	return fmt.Sprintf("%q is a loopback or private address, or one kept for a purpose: %s; http targets do not reach it unless the file of rights opens it to the tenant, with its port, or the server runs with --allow-private-targets",
		apierr.Clip(e.Host), e.Network)
}

// closedNames are names that systems and clouds resolve to closed addresses, each with such an address. Other names
// are checked when they are dialled. The table is for an early error with a clear text; what keeps the addresses
// closed is the check at the dial.
var closedNames = map[string]string{
	"localhost":                "127.0.0.1",
	"localhost.localdomain":    "127.0.0.1",
	"localhost6":               "::1",
	"localhost6.localdomain6":  "::1",
	"ip6-localhost":            "::1",
	"ip6-loopback":             "::1",
	"metadata.google.internal": "169.254.169.254",
}

// CheckURL refuses the URL of an http target: with a [*TargetError] if its host is not among those of the tenant, with
// a [*ClosedError] if it is written as a closed address or as a name of one, and with another error if no server can
// have its port. Stored definitions too must pass it at each launch. A name that resolves to a closed address is found
// when it is dialled. CheckURL resolves no name: the answer of a resolver at the time of a put says nothing about the
// address at the time of a launch.
func CheckURL(u *url.URL, allowed Targets) error {
	port := portOf(u)
	if port == 0 {
		return fmt.Errorf("has the port %s; want 1 to 65535", apierr.Clip(u.Port()))
	}
	host := u.Hostname()
	if err := allowed.CheckHost(host); err != nil {
		return err
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if strings.HasSuffix(name, ".localhost") { // RFC 6761
		name = "localhost"
	}
	if at, ok := closedNames[name]; ok {
		name = at
	}
	addr, err := netip.ParseAddr(name)
	if err != nil {
		return nil
	}
	if n, ok := ClosedTo(netip.AddrPortFrom(addr, port), allowed.Reach); ok {
		return &ClosedError{Host: host, Network: n}
	}
	return nil
}

// IsThisMachine reports whether a host, without a port, is the machine of the process: an address of loopback, or the name
// localhost in any case and with or without a final dot. Other names are not looked up.
func IsThisMachine(host string) bool {
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return err == nil && ip.Unmap().IsLoopback()
}

// portOf returns the port of an http or https URL, 0 if it has one that no server can have.
func portOf(u *url.URL) uint16 {
	switch text := u.Port(); {
	case text != "":
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return 0
		}
		return uint16(n)
	case u.Scheme == "http":
		return 80
	}
	return 443
}

// checkHost refuses hosts of a new definition that are neither an address nor a name in the usual form. Other forms
// mean different hosts to different readers: some systems read 2130706433, 0x7f.1 and 127.1 as 127.0.0.1, and letters
// beyond ASCII are mapped to others before a name is resolved.
func checkHost(host string) error {
	if _, err := netip.ParseAddr(host); err == nil {
		return nil
	}
	if i := apierr.IndexOutside(host, ".-_"); i >= 0 {
		return fmt.Errorf("has the host %q; want an address, or a name of A-Z a-z 0-9 . - _, other letters in the form xn--…", apierr.Clip(host))
	}
	name := strings.TrimSuffix(host, ".")
	if name == "" {
		return fmt.Errorf("has the host %q; want an address or a name", host)
	}
	if last := name[strings.LastIndexByte(name, '.')+1:]; isNumeric(last) {
		return fmt.Errorf("has the host %q, which is no name and no IPv4 address; want four numbers from 0 to 255, such as 192.0.2.1", apierr.Clip(host))
	}
	return nil
}

// isNumeric reports whether a label is a number as some resolvers read it: decimal, octal, or hexadecimal with 0x.
func isNumeric(label string) bool {
	digits, base := strings.ToLower(label), "0123456789"
	if rest, ok := strings.CutPrefix(digits, "0x"); ok {
		digits, base = rest, "0123456789abcdef"
	}
	return label != "" && strings.Trim(digits, base) == ""
}
