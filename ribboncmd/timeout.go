package ribboncmd

import "time"

// RibbonTimeout is the time that the load balancer may take with all its
// tries: Zuul's (read + connect) × (same-server retries + 1) × (next-server
// retries + 1).
func RibbonTimeout(read, connect time.Duration, maxAutoRetries, maxAutoRetriesNextServer int) time.Duration {
	return (read + connect) * time.Duration(maxAutoRetries+1) * time.Duration(maxAutoRetriesNextServer+1)
}

// EffectiveTimeout picks a command's timeout as Zuul does: the service's own,
// else the default of all commands, else ribbon, each if positive. Tight is
// true when the pick is below ribbon, so that some retries can never happen:
// worth a warning.
func EffectiveTimeout(service, byDefault, ribbon time.Duration) (timeout time.Duration, tight bool) {
	timeout = ribbon
	switch {
	case service > 0:
		timeout = service
	case byDefault > 0:
		timeout = byDefault
	}
	return timeout, timeout < ribbon
}
