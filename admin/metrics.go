package admin

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/gorilla/mux"
)

// sample is one counter of a metric: a value for one combination of tags.
type sample struct {
	tags  [][2]string
	value int64
}

// metrics lists the names of the counters.
func (a *api) metrics(w http.ResponseWriter, _ *http.Request) {
	names := slices.Sorted(maps.Keys(a.samples()))
	if names == nil {
		names = []string{}
	}
	write(w, http.StatusOK, map[string]any{"names": names})
}

// samples reads all counters by metric name, which are Zuul's (zuul.md 1.3).
func (a *api) samples() map[string][]sample {
	all := map[string][]sample{}
	meter := a.view.Meter()
	for name, n := range meter.Errors() {
		all[name] = []sample{{value: n}}
	}
	tunnels := &meter.Tunnels
	all["gateway.tunnels.opened"] = []sample{{value: tunnels.Opened.Load()}}
	all["gateway.tunnels.active"] = []sample{{value: tunnels.Active.Load()}}
	all["gateway.tunnels.bytes"] = []sample{
		{[][2]string{{"from", "client"}}, tunnels.FromClient.Load()},
		{[][2]string{{"from", "upstream"}}, tunnels.FromUpstream.Load()},
	}
	reloads := a.view.Reloads()
	all["gateway.reloads"] = []sample{
		{[][2]string{{"outcome", "success"}}, reloads.Succeeded},
		{[][2]string{{"outcome", "failure"}}, reloads.Failed},
	}
	all["gateway.reload.last.success"] = []sample{{value: reloads.LastSuccess.Unix()}}
	for _, r := range a.view.Retries() {
		service := [2]string{"service", r.Service}
		all["gateway.retries"] = append(all["gateway.retries"],
			sample{[][2]string{service, {"budget", "granted"}}, r.Granted},
			sample{[][2]string{service, {"budget", "denied"}}, r.Denied})
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
			tags := [][2]string{{"filtertype", string(f.Phase)}, {"status", s.status}}
			all[name] = append(all[name], sample{tags, s.n})
		}
	}
	return all
}

// metric shows one counter, narrowed by "tag=name:value" parameters, in the
// shape of Spring's endpoint.
func (a *api) metric(w http.ResponseWriter, r *http.Request) {
	name := mux.Vars(r)["name"]
	found := a.samples()[name]
	for _, tag := range r.URL.Query()["tag"] {
		found = slices.DeleteFunc(found, func(s sample) bool { return !s.tagged(tag) })
	}
	if len(found) == 0 {
		notFound(w, r)
		return
	}
	type measurement struct {
		Statistic string `json:"statistic"`
		Value     int64  `json:"value"`
	}
	write(w, http.StatusOK, struct {
		Name          string         `json:"name"`
		Measurements  []measurement  `json:"measurements"`
		AvailableTags []availableTag `json:"availableTags"`
	}{name, []measurement{{"COUNT", sum(found)}}, availableTags(found, r.URL.Query()["tag"])})
}

func (s sample) tagged(tag string) bool {
	return slices.ContainsFunc(s.tags, func(t [2]string) bool { return t[0]+":"+t[1] == tag })
}

func sum(samples []sample) int64 {
	var total int64
	for _, s := range samples {
		total += s.value
	}
	return total
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
