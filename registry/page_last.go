package registry

import "time"

// lastPage is what the page of the last leases shows.
type lastPage struct{ canceled, registered []pastLease }

func (r *Registry) lastPage() lastPage {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return lastPage{r.canceled.newest(rememberedLeases), r.registered.newest(rememberedLeases)}
}

func (p *lastPage) markup() markup {
	return document("Registry: last leases", "", "<h1>Last 1000 since startup</h1>\n"+
		leaseTable("Canceled leases", "<th>Timestamp</th><th>Lease</th><th>Why</th>", p.canceled, func(l pastLease) markup {
			return cell(text(clock(l.at))) + cell(text(l.lease)) + cell(text(l.reason))
		})+
		leaseTable("Newly registered leases", "<th>Timestamp</th><th>Lease</th>", p.registered, func(l pastLease) markup {
			return cell(text(clock(l.at))) + cell(text(l.lease))
		})+
		"<p><a href=\"./\">Home</a></p>\n")
}

func leaseTable(title, head markup, leases []pastLease, row func(pastLease) markup) markup {
	title = "<h2>" + title + "</h2>\n"
	if len(leases) == 0 {
		return title + "<p class=\"note\">No results available</p>\n"
	}
	return title + "<table>\n<tr>" + head + "</tr>\n" + rows(leases, row) + "</table>\n"
}

func clock(t time.Time) string { return t.Format("2006-01-02 15:04:05") }
