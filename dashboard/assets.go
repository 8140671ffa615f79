package dashboard

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
)

//go:embed assets pages
var files embed.FS

// asset is a static file of the pages. Its path contains the hash of its content, so the content of a path never
// changes and browsers may cache it for ever. An upgrade changes the path together with the pages that name it, so
// that no browser combines a new page with an old script.
type asset struct {
	// path has no file on disk: it is a key of assets.
	path string
	kind string // content type
	// content is part of the binary; it is only read.
	content []byte
}

// The static files of the pages.
var (
	styleAsset  = newAsset("style.css", "text/css; charset=utf-8", "style/*.css")
	scriptAsset = newAsset("live.js", "text/javascript; charset=utf-8", "live.js")
	bellAsset   = newAsset("bell.svg", "image/svg+xml", "bell.svg")
)

// assets has the same files by path. The address of a page's script is not guessed from a name, so nothing else in
// the embedded folder can be fetched.
var assets = map[string]asset{
	styleAsset.path: styleAsset, scriptAsset.path: scriptAsset, bellAsset.path: bellAsset,
}

// newAsset reads the files embedded in the binary that match a pattern, one after another in the order of their names. It
// panics if there is none, because the build is then wrong. Six bytes of the hash are enough: they must differ from those of
// the release before, and from nothing else.
func newAsset(name, kind, pattern string) asset {
	parts, err := fs.Glob(files, "assets/"+pattern)
	if err != nil || len(parts) == 0 {
		panic(fmt.Sprintf("dashboard: no file %s: %v", pattern, err))
	}
	var content []byte
	for _, file := range parts {
		part, err := files.ReadFile(file)
		if err != nil {
			panic(fmt.Sprintf("dashboard: %v", err))
		}
		content = append(content, part...)
	}
	sum := sha256.Sum256(content)
	ext := path.Ext(name)
	return asset{
		path: "/assets/" + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext,
		kind: kind, content: content,
	}
}

// serve answers with the file, which the browser may keep for ever.
func (a asset) serve(rw http.ResponseWriter, req *http.Request) {
	h := rw.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Content-Length", strconv.Itoa(len(a.content)))
	if req.Method != http.MethodHead {
		_, _ = rw.Write(a.content) // fails only if the client has disconnected
	}
}
