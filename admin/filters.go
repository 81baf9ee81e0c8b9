package admin

import "net/http"

// filter is one filter in the shape of zuul.md 9.2, with the name that
// properties use besides the type, since one Go type may serve many filters.
type filter struct {
	Class    string `json:"class"`
	Name     string `json:"name"`
	Order    int    `json:"order"`
	Disabled bool   `json:"disabled"`
	Static   bool   `json:"static"`
}

// filters lists the filters by phase, both in order.
func (a *api) filters(w http.ResponseWriter, _ *http.Request) {
	phases := map[string][]filter{} // encoded in the order of its keys
	for _, f := range a.view.Filters() {
		phase := string(f.Phase)
		phases[phase] = append(phases[phase], filter{f.Type, f.Name, f.Order, f.Disabled, true})
	}
	write(w, http.StatusOK, phases)
}
