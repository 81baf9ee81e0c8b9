package registry

import (
	"slices"
	"strings"
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// homePage is what the status page shows.
type homePage struct {
	Status
	DataCenter, Now string
	Apps            []pageApp
	More            int // instances that are not shown
}

type pageApp struct {
	Name   string
	Groups []pageGroup
}

// pageGroup is the instances of an application with one status.
type pageGroup struct {
	Status    string
	Bad       bool
	Instances []pageInstance
}

type pageInstance struct {
	ID, URL, Override, Zone string
	Expired                 bool
}

// pageInstances is how many instances the page lists at most.
const pageInstances = 2000

func (r *Registry) homePage() homePage {
	p := homePage{Status: r.Status(), DataCenter: r.settings.DataCenter, Now: time.Now().Format("2006-01-02T15:04:05 -0700")}
	ghosts := map[instanceKey]bool{}
	for _, k := range r.ghosts("") {
		ghosts[k] = true
	}
	shown := 0
	for _, app := range r.Applications().Applications {
		room := max(0, pageInstances-shown)
		instances := app.Instances[:min(room, len(app.Instances))]
		p.More += len(app.Instances) - len(instances)
		shown += len(instances)
		if len(instances) > 0 {
			p.Apps = append(p.Apps, appRow(app.Name, instances, ghosts))
		}
	}
	return p
}

func appRow(name string, instances []*eureka.Instance, ghosts map[instanceKey]bool) pageApp {
	row := pageApp{Name: name}
	for _, i := range instances {
		at := slices.IndexFunc(row.Groups, func(g pageGroup) bool { return g.Status == i.Status.String() })
		if at < 0 {
			at = len(row.Groups)
			row.Groups = append(row.Groups, pageGroup{Status: i.Status.String(), Bad: i.Status != eureka.Up})
		}
		shown := pageInstance{ID: i.Identity(), URL: i.StatusPageURL, Zone: i.Metadata["zone"], Expired: ghosts[instanceKey{name, i.Identity()}]}
		if i.OverriddenStatus != eureka.Unknown {
			shown.Override = i.OverriddenStatus.String()
		}
		row.Groups[at].Instances = append(row.Groups[at].Instances, shown)
	}
	slices.SortFunc(row.Groups, func(a, b pageGroup) int { return strings.Compare(b.Status, a.Status) })
	return row
}

// markup is the page, which asks for itself again twice a minute.
func (p *homePage) markup() markup {
	return document("Registry", "<meta http-equiv=\"refresh\" content=\"30\">\n",
		"<h1>Registry</h1>\n"+p.Leases.alarms()+p.facts()+p.peers()+p.instances()+
			"<p><a href=\"lastn\">Last 1000 since startup</a></p>\n")
}

func (l *LeaseStatus) alarms() markup {
	renewals := text(l.Renewals) + " renewals came in the last minute, more than " + text(l.Threshold) + " are expected"
	alarm := func(message markup) markup { return `<p class="alarm">` + message + "</p>\n" }
	alarms := when(!l.Serving, alarm("Starting: no peer has given its list yet. Reads are refused, so that nobody gets a partial list; instances may register."))
	switch {
	case l.BelowThreshold && l.SelfPreservation:
		return alarms + alarm("Self-preservation: only "+renewals+". As this registry's own network may be at fault, nothing expires, and instances that are gone may be listed as UP.")
	case l.BelowThreshold:
		return alarms + alarm("Only "+renewals+", and self-preservation is off: a network problem may empty this registry.")
	case !l.SelfPreservation:
		return alarms + alarm("Self-preservation is off: a network problem may empty this registry.")
	}
	return alarms
}

func (p *homePage) facts() markup {
	l := &p.Leases
	type fact struct{ name, value markup }
	return "<h2>Status</h2>\n<table class=\"facts\">\n" + rows([]fact{
		{"Environment", text(p.General.Environment)},
		{"Data center", text(p.DataCenter)},
		{"Current time", text(p.Now)},
		{"Uptime", text(p.General.Uptime)},
		{"Applications, instances", text(l.Applications) + ", " + text(l.Instances) + when(l.Expired > 0, ` <span class="bad">(`+text(l.Expired)+` expired)</span>`)},
		{"Lease expiration enabled", text(l.Expires)},
		{"Renews threshold", text(l.Threshold) + " (from " + text(l.Expected) + " clients)"},
		{"Renews (last min)", text(l.Renewals)},
		{"Memory", text(p.General.Memory) + " of " + text(p.General.Total)},
		{"Push subscribers", text(p.Subscribers)},
	}, func(f fact) markup { return cell(f.name) + cell(f.value) }) + "</table>\n"
}

func (p *homePage) peers() markup {
	if len(p.Peers) == 0 {
		return "<h2>Peers</h2>\n<p class=\"note\">None: this registry is alone.</p>\n"
	}
	return "<h2>Peers</h2>\n<table>\n<tr><th>Peer</th><th>State</th><th>Queued</th><th>Told</th><th>Failed</th></tr>\n" +
		rows(p.Peers, func(p PeerStatus) markup {
			state := cell("available")
			if !p.Available {
				state = `<td class="bad">not heard of</td>`
			}
			return cell(link(p.URL, p.Host)) + state + cell(text(p.Queued)) + cell(text(p.Told)) + cell(text(p.Failed))
		}) + "</table>\n"
}

func (p *homePage) instances() markup {
	const head = "<h2>Instances currently registered</h2>\n"
	if len(p.Apps) == 0 {
		return head + "<p class=\"note\">No instances available</p>\n"
	}
	return head + "<table>\n<tr><th>Application</th><th>Status</th></tr>\n" +
		rows(p.Apps, func(a pageApp) markup { return cell(text(a.Name)) + cell(a.groups()) }) + "</table>\n" +
		when(p.More > 0, `<p class="note">and `+text(p.More)+" more</p>\n")
}

func (a *pageApp) groups() markup {
	var b strings.Builder
	for _, g := range a.Groups {
		b.WriteString(string("<div><span" + when(g.Bad, ` class="bad"`) + ">" + text(g.Status) + " (" + text(len(g.Instances)) + ")</span> "))
		for n, i := range g.Instances {
			b.WriteString(string(when(n > 0, ", ") + i.markup()))
		}
		b.WriteString("</div>")
	}
	return markup(b.String())
}

func (i *pageInstance) markup() markup {
	return link(i.URL, i.ID) +
		when(i.Zone != "", ` <span class="note">`+text(i.Zone)+`</span>`) +
		when(i.Override != "", ` <span class="bad">set to `+text(i.Override)+`</span>`) +
		when(i.Expired, ` <span class="bad">expired</span>`)
}
