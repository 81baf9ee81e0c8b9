package admin

import (
	"net/http"

	"github.com/gozer-gateway/gozer/ribboncmd"
)

// The statuses of health that the endpoint itself knows.
const (
	Up           = "UP"
	Down         = "DOWN"
	OutOfService = "OUT_OF_SERVICE"
)

// circuitOpen is a status for people: a gateway with open circuits does its
// work, so it is neither down nor out of service.
const circuitOpen = "CIRCUIT_OPEN"

// Component is one part of the health endpoint.
type Component struct {
	Name string

	// Status is Up, Down, OutOfService or a word of the component's own. Down
	// and OutOfService become the status of the whole.
	Status string

	// Details are shown as they are, so they must hold no secrets; nil for none.
	Details map[string]any
}

type health struct {
	Status     string         `json:"status"`
	Details    map[string]any `json:"details,omitempty"`
	Components *object        `json:"components,omitempty"`
}

// health answers with 503 when a part is down or out of service.
func (a *api) health(w http.ResponseWriter, _ *http.Request) {
	parts := []Component{circuits(a.view.Commands().Snapshots()), {Name: "livenessState", Status: Up}, a.readinessState()}
	parts = append(parts, a.view.Components()...)
	whole := health{Status: Up, Components: &object{}}
	for _, p := range parts {
		whole.Components.set(p.Name, health{Status: p.Status, Details: p.Details})
		if p.Status == Down || p.Status == OutOfService && whole.Status != Down {
			whole.Status = p.Status
		}
	}
	write(w, healthStatus(whole.Status), whole)
}

func (a *api) liveness(w http.ResponseWriter, _ *http.Request) {
	write(w, http.StatusOK, health{Status: Up})
}

func (a *api) readiness(w http.ResponseWriter, _ *http.Request) {
	state := a.readinessState()
	write(w, healthStatus(state.Status), health{Status: state.Status})
}

func (a *api) readinessState() Component {
	if a.view.Ready() {
		return Component{Name: "readinessState", Status: Up}
	}
	return Component{Name: "readinessState", Status: OutOfService}
}

// circuits is the health of the circuit breakers (hystrix.md 5.6).
func circuits(commands []ribboncmd.Snapshot) Component {
	var open []string
	for _, c := range commands {
		if c.IsOpen {
			open = append(open, c.Group+"::"+c.Service)
		}
	}
	if open == nil {
		return Component{Name: "hystrix", Status: Up}
	}
	return Component{Name: "hystrix", Status: circuitOpen, Details: map[string]any{"openCircuitBreakers": open}}
}

func healthStatus(status string) int {
	if status == Down || status == OutOfService {
		return http.StatusServiceUnavailable
	}
	return http.StatusOK
}
