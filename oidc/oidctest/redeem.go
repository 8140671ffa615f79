package oidctest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"
	"time"
)

// redeem gives a token for a code, once, to who has the verifier.
func (i *Issuer) redeem(rw http.ResponseWriter, req *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	code := req.PostFormValue("code")
	g, known := i.codes[code]
	delete(i.codes, code)
	challenge := sha256.Sum256([]byte(req.PostFormValue("code_verifier")))
	_, secret, _ := req.BasicAuth()
	switch {
	case i.secret != secret:
		reply(rw, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})
		return
	case !known || req.PostFormValue("grant_type") != "authorization_code" || req.PostFormValue("redirect_uri") != g.redirect ||
		req.PostFormValue("client_id") != ClientID || base64.RawURLEncoding.EncodeToString(challenge[:]) != g.challenge:
		reply(rw, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
		return
	}
	now := time.Now()
	claims := map[string]any{"iss": i.URL, "aud": ClientID, "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(), "nonce": g.nonce}
	for name, value := range i.claims {
		claims[name] = value
	}
	token, err := i.keys[0].sign(map[string]any{"kid": i.keys[0].ID}, claims)
	if err != nil {
		reply(rw, http.StatusInternalServerError, map[string]string{"error": err.Error()})
		return
	}
	reply(rw, http.StatusOK, map[string]any{"id_token": token, "access_token": "opaque", "token_type": "Bearer", "expires_in": 300})
}

// Sign returns a token with the claims, signed with the key. The header has the key's algorithm unless it says another.
func (k *Key) Sign(t testing.TB, header, claims map[string]any) string {
	t.Helper()
	token, err := k.sign(header, claims)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func (k *Key) sign(header, claims map[string]any) (string, error) {
	full := map[string]any{"alg": k.Algorithm}
	for name, value := range header {
		full[name] = value
	}
	head, err := json.Marshal(full)
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	return k.SignText(string(head), string(body))
}

// SignText signs a header and claims as they are written.
func (k *Key) SignText(header, claims string) (string, error) {
	content := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims))
	signature, err := k.signature([]byte(content))
	return content + "." + base64.RawURLEncoding.EncodeToString(signature), err
}
