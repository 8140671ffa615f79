package oidc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/carillon-io/carillon/plainhttp"
)

// Bounds of what the issuer is asked.
const (
	documentBytesMax = 1 << 20
	headersBytesMax  = 64 << 10
	redirectsMax     = 3
	// askMax bounds all requests of one purpose together.
	askMax = 5 * time.Second
)

// newHTTP returns the client for issuers. It has connections of its own, so that jobs cannot use them up. It follows
// a redirect of a document within the issuer's own host, and none of a request with a code or a secret.
func newHTTP() *http.Client {
	return &http.Client{
		Transport: plainhttp.Over(&http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConns: 4, MaxConnsPerHost: 8, IdleConnTimeout: time.Minute,
			TLSHandshakeTimeout: askMax, ResponseHeaderTimeout: askMax, MaxResponseHeaderBytes: headersBytesMax,
		}),
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			from := via[0]
			if len(via) > redirectsMax || from.Method != http.MethodGet || req.URL.Scheme != from.URL.Scheme || req.URL.Host != from.URL.Host {
				return errors.New("it redirects too often, or to another host, or a request that is not followed")
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
