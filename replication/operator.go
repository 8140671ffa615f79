package replication

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/apierr"
)

// readOperator decodes the request of an operator. A member that there is not is refused, and so is one that is there twice, or null: it may
// be misspelt, or a variable of a script that is not set, and without it the request would mean something else. example is a
// request that would be right.
func readOperator(data []byte, into any, example string) error {
	var members map[string]jsontext.Value
	err := json.Unmarshal(data, &members)
	if err == nil && members == nil {
		err = errors.New("null is no object")
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if err == nil && members[name].Kind() == 'n' {
			err = fmt.Errorf("the member %s is null", name)
		}
	}
	if err == nil {
		err = json.Unmarshal(data, into, json.RejectUnknownMembers(true))
	}
	if err != nil {
		return apierr.Errorf(apierr.InvalidField, "", "want a JSON object, such as %s: %v; nothing has changed", example, err)
	}
	return nil
}
