// Package ribboncmd contains the failure of a service: one command per service
// id wraps each call as fallback( breaker( bulkhead( deadline( call )))).
//
// A Commands registry keeps what outlives a reload, by service id: the circuit
// breaker with its health window, the permits in use and the counters. A
// Command couples that state with the settings of one configuration. Calls run
// on the caller's goroutine; the deadline and the caller's cancellation reach
// them through their context, which they have to honour.
package ribboncmd
