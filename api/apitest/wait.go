package apitest

import "time"

// Patience is how long a slow caller's connection may outlive its bound in a test.
const Patience = 10 * time.Second
