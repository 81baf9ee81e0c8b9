package lb

import (
	"strings"
	"time"
)

// RuleSettings are what the rules that are chosen by name can be told. Zero values mean
// each rule's own defaults.
type RuleSettings struct {
	// Decay is PeakEwma's.
	Decay time.Duration
	// BoundFactor is ConsistentHash's.
	BoundFactor float64
	// WeightKey is Weighted's.
	WeightKey string
}

// NewRule finds a rule by the name that configurations use: the short name of a class of
// Ribbon's, with or without its package, or one of ours, with or without "Rule" at its
// end. It returns the function that makes one for each balancer, nil for an unknown name.
func NewRule(name string, s RuleSettings) func() Rule {
	switch strings.TrimSuffix(shortName(name), "Rule") {
	case "Random":
		return func() Rule { return Random{} }
	case "RoundRobin", "ClientConfigEnabledRoundRobin":
		return func() Rule { return new(RoundRobin) }
	case "Retry":
		return func() Rule { return &Retry{Rule: new(RoundRobin)} }
	case "WeightedResponseTime", "ResponseTimeWeighted":
		return func() Rule { return new(WeightedResponseTime) }
	case "BestAvailable":
		return func() Rule { return BestAvailable{} }
	case "AvailabilityFiltering":
		return func() Rule { return new(AvailabilityFiltering) }
	case "ZoneAvoidance":
		return func() Rule { return new(ZoneAvoidance) }
	case "PowerOfTwoChoices":
		return func() Rule { return PowerOfTwoChoices{} }
	case "PeakEwma":
		return func() Rule { return &PeakEwma{Decay: s.Decay} }
	case "ConsistentHash":
		return func() Rule { return &ConsistentHash{BoundFactor: s.BoundFactor} }
	case "Weighted":
		return func() Rule { return &Weighted{Key: s.WeightKey} }
	}
	return nil
}

// RuleNames lists the names that NewRule knows.
func RuleNames() []string {
	return []string{
		"RandomRule", "RoundRobinRule", "ClientConfigEnabledRoundRobinRule", "RetryRule", "WeightedResponseTimeRule",
		"ResponseTimeWeightedRule", "BestAvailableRule", "AvailabilityFilteringRule", "ZoneAvoidanceRule",
		"PowerOfTwoChoices", "PeakEwma", "ConsistentHash", "Weighted",
	}
}

// shortName is a Java class name without its package and outer classes.
func shortName(class string) string { return class[strings.LastIndexAny(class, ".$")+1:] }
