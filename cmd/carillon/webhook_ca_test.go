package main

import (
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// certificatePEM returns the certificate of a TLS server that no system trusts, and its URL.
func certificatePEM(t *testing.T) (text, url string) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})), s.URL
}

// TestWebhookRoots reads a bundle with comments, and trusts the authority in it.
func TestWebhookRoots(t *testing.T) {
	text, url := certificatePEM(t)
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, []byte("our own\n"+text+"\nagain\n"+text+"\n# end\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	roots, err := webhookRoots(path)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	t.Cleanup(client.CloseIdleConnections)
	reply, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	_ = reply.Body.Close()
	if roots, err := webhookRoots(""); roots != nil || err != nil {
		t.Errorf("without a file: %v, %v", roots, err)
	}
}

// TestWebhookRootsRefuses: files that would leave a webhook without its certificate authority are refused.
func TestWebhookRootsRefuses(t *testing.T) {
	text, _ := certificatePEM(t)
	path := filepath.Join(t.TempDir(), "ca.pem")
	block := func(kind string) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: []byte("no DER")}))
	}
	for content, want := range map[string]string{
		"": "the file is empty", " \n\t": "the file is empty", "just text": "has no PEM block",
		block("EC PRIVATE KEY"): "block 1 has the type EC PRIVATE KEY", text + block("CERTIFICATE"): "block 2 is no certificate",
		text[:len(text)/2]: "block 1 is cut short", text + text[:len(text)/2]: "block 2 is cut short",
		strings.Repeat("x", webhookCABytesMax+1): "which is the limit",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := webhookRoots(path)
		if usage := (*usageError)(nil); !errors.As(err, &usage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v; want %q", content, err, want)
		}
	}
	_, err := webhookRoots(filepath.Join(t.TempDir(), "missing.pem"))
	if usage := (*usageError)(nil); !errors.As(err, &usage) || !strings.Contains(err.Error(), "missing.pem") {
		t.Errorf("a missing file: %v", err)
	}
}
