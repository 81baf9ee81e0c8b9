package lb_test

import (
	"context"
	"fmt"

	"github.com/gozer-gateway/gozer/lb"
)

// A rule that is put together: servers whose metadata has the key of the request, else
// all that are not full.
func ExamplePredicateBased() {
	canaryFirst := func() lb.Rule {
		return &lb.PredicateBased{Predicate: &lb.Composite{
			Primary:   lb.PredicateFunc(func(key any, s *lb.Server) bool { return s.Metadata["role"] == key }),
			Fallbacks: []lb.Predicate{lb.AvailabilityPredicate{}},
		}}
	}
	b := lb.NewBalancer("users", lb.BalancerSettings{
		NewRule: canaryFirst,
		List: lb.StaticServerList{
			{Host: "10.0.0.1", Port: 80},
			{Host: "10.0.0.2", Port: 80, Metadata: map[string]string{"role": "canary"}},
		},
	})
	if err := b.Refresh(context.Background()); err != nil {
		fmt.Println(err)
	}
	fmt.Println(b.Choose("canary", nil), b.Choose("canary", nil), b.Choose("blue", nil))
	// Output: 10.0.0.2:80 10.0.0.2:80 10.0.0.1:80
}

// A rule that is one function.
func ExampleRuleFunc() {
	last := lb.RuleFunc(func(_ any, servers []*lb.Server) *lb.Server { return servers[len(servers)-1] })
	b := lb.NewBalancer("users", lb.BalancerSettings{NewRule: func() lb.Rule { return last }})
	b.SetServers([]lb.Server{{Host: "a", Port: 1}, {Host: "b", Port: 1}})
	fmt.Println(b.Choose(nil, nil))
	// Output: b:1
}
