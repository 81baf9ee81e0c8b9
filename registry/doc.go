// Package registry is a service registry that speaks Eureka's REST API: instances
// register, renew their leases and are listed to clients, among peers that keep the
// same list.
//
// A [Registry] is made from [Settings], owns its goroutines in Run and serves
// through Handler. The gateway embeds one, and "gateway registry" is one alone. What
// it does follows the description of the original; where it does better on purpose,
// docs/differences.md says so.
package registry
