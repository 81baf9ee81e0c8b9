package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/gorilla/mux"

	"github.com/gozer-gateway/gozer/ribboncmd"
)

// circuit is a circuit breaker in the shape of resilience4j's endpoint, which
// replaced Hystrix's in Spring, with the group and what an operator has forced.
type circuit struct {
	FailureRate          string `json:"failureRate"`
	SlowCallRate         string `json:"slowCallRate"`
	FailureRateThreshold string `json:"failureRateThreshold"`
	BufferedCalls        int64  `json:"bufferedCalls"`
	FailedCalls          int64  `json:"failedCalls"`
	SlowCalls            int64  `json:"slowCalls"`
	NotPermittedCalls    int64  `json:"notPermittedCalls"`
	State                string `json:"state"`
	Group                string `json:"group"`
	Override             string `json:"override"`
}

func circuitOf(c *ribboncmd.Snapshot) circuit {
	return circuit{
		FailureRate:          rate(c.Errors, c.Requests),
		SlowCallRate:         rate(c.Slow, c.Requests),
		FailureRateThreshold: fmt.Sprintf("%d%%", c.Settings.Breaker.ErrorThresholdPercentage),
		BufferedCalls:        c.Requests,
		FailedCalls:          c.Errors,
		SlowCalls:            c.Slow,
		NotPermittedCalls:    c.Rolling[ribboncmd.EventShortCircuited],
		State:                stateOf(c),
		Group:                c.Group,
		Override:             c.Override.String(),
	}
}

func rate(part, whole int64) string {
	if whole == 0 {
		return "0%"
	}
	return fmt.Sprintf("%d%%", part*100/whole)
}

// stateOf is the state of the circuit unless it has no say.
func stateOf(c *ribboncmd.Snapshot) string {
	b := &c.Settings.Breaker
	switch {
	case c.Override != ribboncmd.NotForced:
		return c.Override.String()
	case !b.Enabled:
		return "DISABLED"
	case b.ForceOpen:
		return ribboncmd.ForcedOpen.String()
	case b.ForceClosed:
		return ribboncmd.ForcedClosed.String()
	}
	return c.State.String()
}

// circuits lists all of them, or shows the one that the path names.
func (a *api) circuits(w http.ResponseWriter, r *http.Request) {
	name, one := mux.Vars(r)["name"]
	list := object{}
	for _, c := range a.view.Commands().Snapshots() {
		if one && c.Service == name {
			write(w, http.StatusOK, circuitOf(&c))
			return
		}
		list.set(c.Service, circuitOf(&c))
	}
	if one {
		notFound(w, r)
		return
	}
	write(w, http.StatusOK, map[string]any{"circuitBreakers": &list})
}

// updates are what may be asked of a circuit: resilience4j's words, and ours.
const updates = "FORCE_OPEN, FORCE_CLOSED, DISABLE, CLOSE, RESET"

// updateCircuit forces or resets the circuit that the path names.
func (a *api) updateCircuit(w http.ResponseWriter, r *http.Request) {
	order, err := orderOf(r.Body)
	if err != nil {
		fail(w, r, http.StatusBadRequest, `Expected {"updateState": …} with one of `+updates)
		return
	}
	name := mux.Vars(r)["name"]
	found, known := a.update(name, strings.ToUpper(order))
	switch {
	case !known:
		fail(w, r, http.StatusBadRequest, "updateState is none of "+updates)
	case !found:
		fail(w, r, http.StatusNotFound, "No circuit breaker '"+name+"'; there is one from the first call on")
	default:
		write(w, http.StatusOK, a.updated(name))
	}
}

// orderOf reads one object and nothing else.
func orderOf(body io.Reader) (string, error) {
	var order struct {
		UpdateState string `json:"updateState"`
	}
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&order); err != nil {
		return "", err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return "", errors.New("admin: more than one object")
	}
	return order.UpdateState, nil
}

func (a *api) update(name, state string) (found, known bool) {
	commands := a.view.Commands()
	switch state {
	case "FORCE_OPEN":
		return commands.Force(name, ribboncmd.ForcedOpen), true
	case "FORCE_CLOSED", "DISABLE":
		return commands.Force(name, ribboncmd.ForcedClosed), true
	case "CLOSE", "RESET":
		return commands.Reset(name), true
	}
	return false, false
}

func (a *api) updated(name string) map[string]string {
	answer := map[string]string{"circuitBreakerName": name}
	for _, c := range a.view.Commands().Snapshots() {
		if c.Service == name {
			answer["currentState"] = stateOf(&c)
			answer["message"] = name + " is " + stateOf(&c)
		}
	}
	return answer
}
