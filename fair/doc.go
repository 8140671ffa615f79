// Package fair holds queues that many parties share by turns. Whoever brings a hundred thousand items
// at once has as much of each turn as one who brings a single item, so a herd delays its own party and
// hardly another.
//
// It imports nothing and knows neither jobs nor tenants. Nothing in it is safe for concurrent use.
package fair
