package admin

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/gorilla/mux"
)

// sample is one combination of tags of a metric. Those of a metric have the same
// statistics.
type sample struct {
	tags  [][2]string
	stats []measurement
}

// measurement is one statistic: COUNT, TOTAL_TIME, MAX or VALUE.
type measurement struct {
	Statistic string  `json:"statistic"`
	Value     float64 `json:"value"`
}

func counted(n int64, tags ...[2]string) sample {
	return sample{tags, []measurement{{"COUNT", float64(n)}}}
}

// metrics lists the names of the counters.
func (a *api) metrics(w http.ResponseWriter, _ *http.Request) {
	names := append(slices.Collect(maps.Keys(a.samples())), slices.Collect(maps.Keys(a.gathered()))...)
	slices.Sort(names)
	write(w, http.StatusOK, map[string]any{"names": names})
}

// samples reads all counters by metric name, which are Zuul's (zuul.md 1.3).
func (a *api) samples() map[string][]sample {
	all := map[string][]sample{}
	meter := a.view.Meter()
	for name, n := range meter.Errors() {
		all[name] = []sample{counted(n)}
	}
	tunnels := &meter.Tunnels
	all["gateway.tunnels.opened"] = []sample{counted(tunnels.Opened.Load())}
	all["gateway.tunnels.active"] = []sample{counted(tunnels.Active.Load())}
	all["gateway.tunnels.bytes"] = []sample{
		counted(tunnels.FromClient.Load(), [2]string{"from", "client"}),
		counted(tunnels.FromUpstream.Load(), [2]string{"from", "upstream"}),
	}
	reloads := a.view.Reloads()
	all["gateway.reloads"] = []sample{
		counted(reloads.Succeeded, [2]string{"outcome", "success"}),
		counted(reloads.Failed, [2]string{"outcome", "failure"}),
	}
	all["gateway.reload.last.success"] = []sample{counted(reloads.LastSuccess.Unix())}
	for _, r := range a.view.Retries() {
		service := [2]string{"service", r.Service}
		all["gateway.retries"] = append(all["gateway.retries"],
			counted(r.Granted, service, [2]string{"budget", "granted"}),
			counted(r.Denied, service, [2]string{"budget", "denied"}))
	}
	for _, f := range a.view.Filters() {
		count, name := meter.Filter(f.Phase, f.Name), "zuul.filter-"+f.Name
		for _, s := range []struct {
			status string
			n      int64
		}{
			{"SUCCESS", count.Success.Load()},
			{"SKIPPED", count.Skipped.Load()},
			{"DISABLED", count.Disabled.Load()},
			{"FAILED", count.Failed.Load()},
		} {
			all[name] = append(all[name], counted(s.n, [2]string{"filtertype", string(f.Phase)}, [2]string{"status", s.status}))
		}
	}
	return all
}

// metric shows one metric, narrowed by "tag=name:value" parameters, in the shape of
// Spring's endpoint.
func (a *api) metric(w http.ResponseWriter, r *http.Request) {
	name := mux.Vars(r)["name"]
	m := metric{Name: name, samples: a.samples()[name]}
	if m.samples == nil {
		m = a.gathered()[name]
	}
	found := m.samples
	for _, tag := range r.URL.Query()["tag"] {
		found = slices.DeleteFunc(found, func(s sample) bool { return !s.tagged(tag) })
	}
	if len(found) == 0 {
		notFound(w, r)
		return
	}
	m.Measurements, m.AvailableTags = sum(found), availableTags(found, r.URL.Query()["tag"])
	write(w, http.StatusOK, m)
}

// metric is one metric, its samples added up.
type metric struct {
	Name          string         `json:"name"`
	Description   string         `json:"description,omitempty"`
	BaseUnit      string         `json:"baseUnit,omitempty"`
	Measurements  []measurement  `json:"measurements"`
	AvailableTags []availableTag `json:"availableTags"`

	samples []sample
}

func (s sample) tagged(tag string) bool {
	return slices.ContainsFunc(s.tags, func(t [2]string) bool { return t[0]+":"+t[1] == tag })
}

// sum adds up the statistics of samples; MAX is the largest one.
func sum(samples []sample) []measurement {
	all := slices.Clone(samples[0].stats)
	for _, s := range samples[1:] {
		for i, m := range s.stats {
			if m.Statistic == "MAX" {
				all[i].Value = max(all[i].Value, m.Value)
			} else {
				all[i].Value += m.Value
			}
		}
	}
	return all
}

type availableTag struct {
	Tag    string   `json:"tag"`
	Values []string `json:"values"`
}

// availableTags lists the tags that samples can still be narrowed by.
func availableTags(samples []sample, chosen []string) []availableTag {
	list := []availableTag{}
	for _, s := range samples {
		for _, t := range s.tags {
			if !slices.ContainsFunc(chosen, func(c string) bool { return strings.HasPrefix(c, t[0]+":") }) {
				list = addTag(list, t)
			}
		}
	}
	return list
}

func addTag(list []availableTag, t [2]string) []availableTag {
	i := slices.IndexFunc(list, func(a availableTag) bool { return a.Tag == t[0] })
	if i < 0 {
		return append(list, availableTag{t[0], []string{t[1]}})
	}
	if !slices.Contains(list[i].Values, t[1]) {
		list[i].Values = append(list[i].Values, t[1])
	}
	return list
}
