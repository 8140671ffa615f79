package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/chromedp/chromedp"
)

// startTimeMax bounds the start of a browser.
const startTimeMax = time.Minute

// ErrNoChromium is returned by [Find] and [Launch] where no browser is installed.
var ErrNoChromium = errors.New("no Chromium is installed; run browser/install.sh, or install Chromium or Chrome yourself")

// names lists the names of the programs that the package can use.
var names = []string{
	"chromium", "chromium-browser", "google-chrome-stable", "google-chrome",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
}

// Find returns the path of the browser that is installed, or [ErrNoChromium].
func Find() (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNoChromium
}

// Chromium is a running browser without a window. Its methods are safe for concurrent use.
type Chromium struct {
	ctx  context.Context
	stop context.CancelFunc
}

// Launch starts the browser that [Find] finds. It runs until Close, or until ctx ends.
func Launch(ctx context.Context) (*Chromium, error) {
	path, err := Find()
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.WSURLReadTimeout(startTimeMax),
		chromedp.DisableGPU,
		chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("font-render-hinting", "none"),
	)
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium's sandbox does not work for root
	}
	ctx, stopProgram := chromedp.NewExecAllocator(ctx, options...)
	ctx, stopBrowser := chromedp.NewContext(ctx)
	c := &Chromium{ctx: ctx, stop: func() { stopBrowser(); stopProgram() }}
	if err := chromedp.Do(ctx); err != nil {
		c.stop()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return c, nil
}

// Close ends the browser and waits until it has.
func (c *Chromium) Close() {
	_ = chromedp.Cancel(c.ctx) // an error says that it has already ended
	c.stop()
}
