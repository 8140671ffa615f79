package replication

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/carillon-io/carillon/apierr"
)

// readOperator decodes the request of an operator. A member that there is not is refused: it may be a name that is misspelt, and
// without it the request would mean something else. example is a request that would be right.
func readOperator(data []byte, into any, example string) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = fmt.Errorf("more follows the object")
		}
	}
	if err != nil {
		return apierr.Errorf(apierr.InvalidField, "", "want a JSON object, such as %s: %v; nothing has changed", example, err)
	}
	return nil
}
