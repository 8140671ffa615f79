package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

// The parts of an SPDX 2.3 document that this program writes, with the names of its JSON schema. Only the fields that
// the document needs are here; their order is that of the output.
type (
	spdxDocument struct {
		SPDXVersion       string             `json:"spdxVersion"`
		DataLicense       string             `json:"dataLicense"`
		ID                string             `json:"SPDXID"`
		Name              string             `json:"name"`
		Namespace         string             `json:"documentNamespace"`
		Creation          spdxCreation       `json:"creationInfo"`
		DocumentDescribes []string           `json:"documentDescribes"`
		Packages          []spdxPackage      `json:"packages"`
		Relationships     []spdxRelationship `json:"relationships"`
	}
	spdxCreation struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	}
	spdxPackage struct {
		Name             string         `json:"name"`
		ID               string         `json:"SPDXID"`
		Version          string         `json:"versionInfo,omitempty"`
		DownloadLocation string         `json:"downloadLocation"`
		FilesAnalyzed    bool           `json:"filesAnalyzed"`
		SourceInfo       string         `json:"sourceInfo,omitempty"`
		LicenseConcluded string         `json:"licenseConcluded"`
		LicenseDeclared  string         `json:"licenseDeclared"`
		Copyright        string         `json:"copyrightText"`
		Purpose          string         `json:"primaryPackagePurpose,omitempty"`
		Checksums        []spdxChecksum `json:"checksums,omitempty"`
		Refs             []spdxRef      `json:"externalRefs,omitempty"`
	}
	spdxChecksum struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"checksumValue"`
	}
	spdxRef struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	spdxRelationship struct {
		From string `json:"spdxElementId"`
		Type string `json:"relationshipType"`
		To   string `json:"relatedSpdxElement"`
	}
)

const (
	noAssertion = "NOASSERTION" // SPDX term: not determined
	documentID  = "SPDXRef-DOCUMENT"
	binaryID    = "SPDXRef-carillon"
)

// bill returns the SPDX document of a binary: the modules and versions that Go has recorded in it. It does not state
// the licences of modules. It reads the finished binary and not go.mod, because only the modules that were linked are
// parts of it. The checksum in the namespace makes the namespace unique, as the standard demands, without a random
// number.
func (r *release) bill(p platform, binary string) ([]byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("read the modules in the binary: %w", err)
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	d := spdxDocument{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", ID: documentID, Name: r.name(p),
		Namespace:         "https://" + info.Main.Path + "/spdx/" + r.name(p) + "-" + sum,
		Creation:          spdxCreation{Created: r.made.Format(time.RFC3339), Creators: []string{"Tool: carillon-release"}},
		DocumentDescribes: []string{binaryID},
		Packages:          []spdxPackage{r.binaryPackage(info, sum)},
		Relationships:     []spdxRelationship{{documentID, "DESCRIBES", binaryID}},
	}
	d.add(debug.Module{Path: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go")}) // what databases of flaws call it
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		d.add(*m)
	}
	text, err := json.MarshalIndent(d, "", "  ")
	return append(text, '\n'), err
}

// The licence is that of this project's own code.
func (r *release) binaryPackage(info *debug.BuildInfo, sum string) spdxPackage {
	return spdxPackage{
		Name: "carillon", ID: binaryID, Version: r.version, DownloadLocation: noAssertion,
		SourceInfo:       "built with " + info.GoVersion,
		LicenseConcluded: noAssertion, LicenseDeclared: "Apache-2.0", Copyright: noAssertion,
		Purpose:   "APPLICATION",
		Checksums: []spdxChecksum{{"SHA256", sum}},
		Refs:      []spdxRef{purl(info.Main.Path, r.version)},
	}
}

// add adds a module as a part of the binary. The hash of go.sum identifies the source of the module.
func (d *spdxDocument) add(m debug.Module) {
	p := spdxPackage{
		Name: m.Path, ID: spdxID(m), Version: m.Version, DownloadLocation: noAssertion,
		LicenseConcluded: noAssertion, LicenseDeclared: noAssertion, Copyright: noAssertion,
		Refs: []spdxRef{purl(m.Path, m.Version)},
	}
	if m.Sum != "" {
		p.SourceInfo = "go.sum " + m.Sum
	}
	d.Packages = append(d.Packages, p)
	d.Relationships = append(d.Relationships, spdxRelationship{binaryID, "CONTAINS", p.ID})
}

// spdxID returns an identifier for a module, made of the characters that SPDX allows. Two modules could get the same
// identifier only if they differ in nothing but characters that are replaced.
func spdxID(m debug.Module) string {
	return "SPDXRef-" + strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' {
			return c
		}
		return '-'
	}, m.Path+"-"+m.Version)
}

// purl returns the package URL of a module, by which vulnerability databases identify it. The path is in lower case,
// as the specification of package URLs demands for this type.
func purl(path, version string) spdxRef {
	parts := strings.Split(strings.ToLower(path), "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return spdxRef{"PACKAGE-MANAGER", "purl", "pkg:golang/" + strings.Join(parts, "/") + "@" + url.QueryEscape(version)}
}
