package api

import (
	"fmt"
	"runtime/debug"
)

// readCaught reads the request. A panic becomes an internal error of this request alone.
func (a *arrival) readCaught() (q Request, err error) {
	defer caught(&err)
	return a.read()
}

// caught makes the error of a panic. It is to be deferred.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}
