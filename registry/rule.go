package registry

import "github.com/gozer-gateway/gozer/discovery/eureka"

// effectiveStatus is the chain of rules by which the registry decides what an
// instance that says it is stated will be (spec 3.4). Override and existing are
// Unknown and nil when there is none.
func effectiveStatus(stated eureka.Status, override eureka.Status, existing *lease, replicated bool) eureka.Status {
	if stated != eureka.Up && stated != eureka.OutOfService {
		return stated // the instance is to be believed
	}
	if override != eureka.Unknown {
		return override
	}
	if !replicated && existing != nil {
		if s := existing.holder.Status; s == eureka.Up || s == eureka.OutOfService {
			return s
		}
	}
	return stated
}
