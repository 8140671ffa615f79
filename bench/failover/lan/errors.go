package lan

import "errors"

// ErrUnavailable says that there can be no network namespaces here. [New] returns it, with the reason.
var ErrUnavailable = errors.New("no network namespaces")
