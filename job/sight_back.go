package job

import (
	"net/url"
	"slices"
	"strings"

	"github.com/carillon-io/carillon/apierr"
)

// refuseSight refuses a definition with a mask in a place that holds no credential. Only those who may not see more of a
// job get one there, see [Definition.MaskedForViewers], so it stands for nothing that could be kept: stored as it is, it
// would replace what the job has.
func (d *Definition) refuseSight() error {
	refuse := func(field string) error {
		return apierr.Errorf(apierr.InvalidField, field, "is the mask "+Mask+", which a reader without the right to see the value gets; want the value itself, from a read as an operator or an admin")
	}
	for _, h := range d.Headers {
		if isMask(h.Value) && !IsCredentialHeader(h.Key) {
			return refuse("headers." + h.Key)
		}
	}
	if text := strings.Trim(strings.TrimSpace(string(d.Payload)), `"`); isMask(text) {
		return refuse("payload")
	}
	if hasMaskedPath(d.Target.URL) {
		return refuse(urlField)
	}
	return nil
}

// hasMaskedPath reports whether a URL is a mask, or has one as a part of its path.
func hasMaskedPath(raw string) bool {
	if isMask(raw) {
		return true
	}
	u, err := url.Parse(raw)
	return err == nil && slices.ContainsFunc(strings.Split(u.Path, "/"), isMask)
}
