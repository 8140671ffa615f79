package dashboard

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
)

//go:embed assets pages
var files embed.FS

// asset is a file that pages refer to. Its path has its hash in it, so that it never changes.
type asset struct {
	path    string
	kind    string // content type
	content []byte
}

// The files that pages refer to.
var (
	styleAsset  = newAsset("style.css", "text/css; charset=utf-8")
	scriptAsset = newAsset("live.js", "text/javascript; charset=utf-8")
	bellAsset   = newAsset("bell.svg", "image/svg+xml")
)

// assets are the same by path.
var assets = map[string]asset{
	styleAsset.path: styleAsset, scriptAsset.path: scriptAsset, bellAsset.path: bellAsset,
}

// newAsset reads a file of the binary; one that is missing is a fault of the build.
func newAsset(name, kind string) asset {
	content, err := files.ReadFile("assets/" + name)
	if err != nil {
		panic(fmt.Sprintf("dashboard: %v", err))
	}
	sum := sha256.Sum256(content)
	ext := path.Ext(name)
	return asset{
		path: "/assets/" + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext,
		kind: kind, content: content,
	}
}

func (a asset) serve(rw http.ResponseWriter, req *http.Request) {
	h := rw.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Content-Length", strconv.Itoa(len(a.content)))
	if req.Method != http.MethodHead {
		_, _ = rw.Write(a.content) // the caller has gone if this fails
	}
}
