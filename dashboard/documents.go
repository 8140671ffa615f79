package dashboard

import "regexp"

// home is where the sources and the documents are.
const home = "https://github.com/carillon-io/carillon"

// releaseForm matches the versions of releases. Other builds have no tag.
var releaseForm = regexp.MustCompile(`^v\d+\.\d+\.\d+$`)

// documentOf returns the address of a document as of a version, by its file in docs; of the list of all for "". A build that
// is no release has those of main.
func documentOf(version, name string) string {
	tag := "main"
	if releaseForm.MatchString(version) {
		tag = version
	}
	if name == "" {
		return home + "/tree/" + tag + "/docs"
	}
	return home + "/blob/" + tag + "/docs/" + name
}
