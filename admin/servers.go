package admin

import (
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"github.com/gozer-gateway/gozer/lb"
)

// server is a server with what its balancer knows of it. Times are milliseconds.
type server struct {
	ID                 string  `json:"id"`
	Address            string  `json:"address"`
	Zone               string  `json:"zone"`
	State              string  `json:"state"`
	Active             int64   `json:"activeRequests"`
	Total              int64   `json:"totalRequests"`
	Errors             int64   `json:"errors"`
	SuccessiveFailures int64   `json:"successiveFailures"`
	Mean               float64 `json:"meanMillis"`
	Recent             *recent `json:"lastSecond,omitempty"`
}

type recent struct {
	Count int     `json:"count"`
	Mean  float64 `json:"meanMillis"`
	P50   float64 `json:"p50Millis"`
	P90   float64 `json:"p90Millis"`
	P99   float64 `json:"p99Millis"`
}

// zone is a zone as the balancer judges it.
type zone struct {
	Zone    string  `json:"zone"`
	Servers int     `json:"servers"`
	Tripped int     `json:"tripped"`
	Active  int64   `json:"activeRequests"`
	Load    float64 `json:"load"`
}

type balancer struct {
	Servers []server `json:"servers"`
	Zones   []zone   `json:"zones"`
}

func balancerOf(b *lb.Balancer, now time.Time) balancer {
	shown := balancer{Servers: []server{}, Zones: []zone{}}
	for _, s := range b.Servers() {
		shown.Servers = append(shown.Servers, serverOf(b, s, now))
	}
	for _, z := range b.Zones() {
		shown.Zones = append(shown.Zones, zone{z.Zone, z.Instances, z.Tripped, z.Active, z.Load})
	}
	return shown
}

func serverOf(b *lb.Balancer, s *lb.Server, now time.Time) server {
	stats := s.Stats()
	shown := server{
		ID: s.String(), Address: s.HostPort(), Zone: s.Zone, State: stateOfServer(b, s, now),
		Active: stats.Active(now), Total: stats.Total(), Errors: stats.Errors(), SuccessiveFailures: stats.SuccessiveFailures(),
		Mean: millis(stats.ResponseTimes().Mean()),
	}
	if r := stats.Recent(now); r.Count > 0 {
		shown.Recent = &recent{r.Count, millis(r.Mean), millis(r.P50), millis(r.P90), millis(r.P99)}
	}
	return shown
}

// stateOfServer is why a server is not chosen, UP if there is no reason.
func stateOfServer(b *lb.Balancer, s *lb.Server, now time.Time) string {
	switch {
	case !s.Alive():
		return "DOWN"
	case !s.Ready():
		return "PRIMING"
	case s.Ejected(now):
		return "EJECTED"
	case b.Tripped(s, now):
		return "TRIPPED"
	}
	return "UP"
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// servers lists those of all services, or of the one that the path names.
func (a *api) servers(w http.ResponseWriter, r *http.Request) {
	name, one := mux.Vars(r)["name"]
	list, now := object{}, time.Now()
	for _, b := range a.view.Balancers() {
		if one && b.Name() == name {
			write(w, http.StatusOK, balancerOf(b, now))
			return
		}
		list.set(b.Name(), balancerOf(b, now))
	}
	if one {
		notFound(w, r)
		return
	}
	write(w, http.StatusOK, map[string]any{"services": &list})
}
