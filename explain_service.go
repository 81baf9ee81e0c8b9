package gozer

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/filters"
)

// service tells how a service is called: servers and retries, the deadlines that
// follow from the configuration, and the command around it all.
func (e *explanation) service(c *filters.Context) {
	id := c.ServiceID
	ribbon, command := e.config.RibbonFor(id), e.config.HystrixFor(id)
	e.heading("service " + id)
	e.servers(id, ribbon)
	e.balancer(id, ribbon.Balancing)
	e.line("retries", e.retries(c, ribbon), retryBudget(ribbon))
	e.hedging(c, e.config.ResilienceFor(id))
	e.fallback(id)
	e.serviceTLS(id, ribbon)
	e.deadlines(id, ribbon, command)
	e.command(id, command)
}

func (e *explanation) servers(id string, ribbon config.Ribbon) {
	var names []string
	if list := e.gateway.serverList(e.config, id, ribbon); list != nil {
		servers, _ := list.Servers(context.Background()) // those that can be used; it does not block
		for _, s := range servers {
			names = append(names, s.HostPort())
		}
	}
	if vips := ribbon.Balancing.Discovery.VIPs; len(vips) > 0 {
		e.setting("looked up as", strings.Join(vips, ", "), of(id, "ribbon.DeploymentContextBasedVipAddresses")...)
	}
	if len(names) == 0 {
		e.line("servers", "those that discovery finds")
		return
	}
	e.setting("servers", strings.Join(names, ", "), of(id, "ribbon.listOfServers")...)
}

func (e *explanation) balancer(id string, b config.Balancing) {
	e.setting("balancer", short(b.Balancer.Name), of(id, "ribbon.NFLoadBalancerClassName")...)
	e.setting("filter", short(b.Filter.Name), of(id, "ribbon.NIWSServerListFilterClassName")...)
	if zone := e.config.Balancers.Zone; zone != "" {
		e.setting("own zone", zone, "gateway.zone", "eureka.instance.metadata-map.zone",
			"eureka.client.availability-zones."+e.config.Eureka.Client.Region)
	}
	e.setting("rule", short(b.Rule.Name), of(id, "ribbon.NFLoadBalancerRuleClassName")...)
	e.setting("ping", short(b.Ping.Name), of(id, "ribbon.NFLoadBalancerPingClassName")...)
}

// of gives the keys that may set a value of a service: its own, then the general
// one.
func of(service, name string) []string { return []string{service + "." + name, name} }

func (e *explanation) retries(c *filters.Context, ribbon config.Ribbon) string {
	each, all := ribbon.Attempts()
	attempts := fmt.Sprintf("at most %d attempts on each of %d servers", each, all/each)
	method := c.Out.Method
	switch {
	case all == 1:
		return "none"
	case !c.Retryable:
		return attempts + ", while nothing has been sent: the route is not retryable"
	case !readOnly(method) && !ribbon.OkToRetryOnAllOperations:
		return attempts + ", while nothing has been sent: " + method + " changes something"
	}
	return attempts
}

func readOnly(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

func (e *explanation) hedging(c *filters.Context, r config.Resilience) {
	if r.HedgeDelay == 0 {
		return
	}
	after := fmt.Sprintf("%s, to %d more servers", r.HedgeDelay, r.HedgeMax)
	switch {
	case !c.Retryable:
		after = "never: the route is not retryable"
	case !readOnly(c.Out.Method):
		after = "never: " + c.Out.Method + " changes something"
	}
	e.setting("hedges after", after, append(resilience(c.ServiceID, "hedge.delay"), resilience(c.ServiceID, "hedge.max")...)...)
}

// retryBudget tells what bounds the retries of all requests together.
func retryBudget(r config.Ribbon) string {
	switch _, all := r.Attempts(); {
	case all == 1:
		return ""
	case !r.Retry.Budget:
		return "without a budget"
	}
	return fmt.Sprintf("budget: %d for 100 requests, %d a second, %d saved up", r.Retry.BudgetPercent, r.Retry.BudgetPerSecond, r.Retry.BudgetBurst)
}

func (e *explanation) fallback(id string) {
	for _, name := range []string{id, "*"} {
		for _, own := range e.gateway.options.fallbacks {
			if own.service == name {
				e.line("fallback", "given in Go for "+name)
				return
			}
		}
		if f := e.config.Gateway.Fallback[name]; f != nil {
			e.line("fallback", "status "+strconv.Itoa(f.Status), "gateway.fallback."+name+" ("+f.Position.String()+")")
			return
		}
	}
	e.line("fallback", "none")
}

const timeoutKey = "execution.isolation.thread.timeoutInMilliseconds"

// deadlines is the table of what draws on the budget of a request.
func (e *explanation) deadlines(id string, ribbon config.Ribbon, command config.Command) {
	each, all := ribbon.Attempts()
	budget, needed := e.config.TimeoutFor(id)
	e.heading("deadlines")
	e.budget(id, ribbon, command, budget)
	e.setting("wait for a connection", ribbon.AcquireTimeout.String(), of(id, "ribbon.ConnectionManagerTimeout")...)
	e.setting("connect", ribbon.ConnectTimeout.String(), of(id, "ribbon.ConnectTimeout")...)
	e.setting("read", ribbon.ReadTimeout.String(), of(id, "ribbon.ReadTimeout")...)
	e.setting("attempts", fmt.Sprintf("%d on each of %d servers", each, all/each),
		append(of(id, "ribbon.MaxAutoRetriesNextServer"), of(id, "ribbon.MaxAutoRetries")...)...)
	if ribbon.BackoffInterval > 0 {
		e.setting("first pause", ribbon.BackoffInterval.String()+" at most, then twice as long", of(id, "ribbon.BackoffInterval")...)
	}
	e.line("all attempts", needed.String(), inTime(ribbon, command, budget))
	e.line("fallback", "none", "it comes after the deadline")
}

func (e *explanation) budget(id string, ribbon config.Ribbon, command config.Command, budget time.Duration) {
	each, all := ribbon.Attempts()
	h, keys := e.config.Hystrix, hystrix(id, timeoutKey)
	if own := h.Commands[id]; own == nil || own.Timeout == 0 {
		keys = keys[1:] // 0 stands for the default
	}
	switch {
	case !command.TimeoutEnabled:
		e.setting("budget", "none", hystrix(id, "execution.timeout.enabled")...)
	case len(keys) == 1 && h.Default.Timeout == 0:
		formula := fmt.Sprintf("(%s read + %s connect) x %d x %d", ribbon.ReadTimeout, ribbon.ConnectTimeout, each, all/each)
		if ribbon.BackoffInterval > 0 {
			formula += " + pauses"
		}
		e.line("budget", budget.String(), formula)
	default:
		e.setting("budget", budget.String(), keys...)
	}
}

// inTime tells whether the budget is large enough for all attempts.
func inTime(ribbon config.Ribbon, command config.Command, budget time.Duration) string {
	_, all := ribbon.Attempts()
	if fit := ribbon.AttemptsWithin(budget); command.TimeoutEnabled && fit < all {
		return fmt.Sprintf("the budget has time for %d of %d", fit, all)
	}
	return "the budget has time for them"
}
