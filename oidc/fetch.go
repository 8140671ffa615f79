package oidc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Bounds of what the issuer is asked.
const (
	documentBytesMax = 1 << 20
	headersBytesMax  = 64 << 10
	redirectsMax     = 3
	// askMax bounds all requests of one purpose together.
	askMax = 5 * time.Second
)

// UnavailableError is the error of an issuer that does not answer as it should. The token may be good.
type UnavailableError struct{ cause error }

// Error implements error.
func (e *UnavailableError) Error() string {
	return "the issuer cannot be asked now: " + e.cause.Error() + "; try again later"
}

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.cause }

// newHTTP returns the client for issuers. It has connections of its own, so that jobs cannot use them up, and follows a
// redirect only to where a secret may be sent too.
func newHTTP() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConns: 4, MaxConnsPerHost: 8, IdleConnTimeout: time.Minute,
			TLSHandshakeTimeout: askMax, ResponseHeaderTimeout: askMax, MaxResponseHeaderBytes: headersBytesMax,
		},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) > redirectsMax || !isSecure(req.URL.String()) {
				return errors.New("it redirects too often, or to an address without https")
			}
			return nil
		},
	}
}

// ask sends a request, and returns the status and the body of the answer.
func (i *Issuer) ask(ctx context.Context, req *http.Request) (status int, body []byte, err error) {
	resp, err := i.http.Do(req.WithContext(ctx))
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err = io.ReadAll(io.LimitReader(resp.Body, documentBytesMax+1))
	if err == nil && len(body) > documentBytesMax {
		err = errors.New("its answer has more than 1 MiB")
	}
	return resp.StatusCode, body, err
}

// get reads a document.
func (i *Issuer) get(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	status, body, err := i.ask(ctx, req)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("GET %s answers with the status %d", url, status)
	}
	return body, err
}
