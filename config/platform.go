package config

import (
	"slices"
	"strings"
)

const (
	platformKey   = "spring.main.cloud-platform"
	onPlatformKey = "spring.config.activate.on-cloud-platform"
)

// platforms are Spring's names, in the order in which it looks for them. That there is
// none can only be configured.
var platforms = [...]string{"none", "cloud-foundry", "heroku", "sap", "nomad", "kubernetes", "azure-app-service"} //nolint:gochecknoglobals // a constant

// platformOf reads a name in any spelling.
func platformOf(v *node) (string, error) {
	text, err := filled(v)
	if err != nil {
		return "", err
	}
	for _, name := range platforms {
		if uniform(name) == uniform(text) {
			return name, nil
		}
	}
	return "", fault(v, "is no cloud platform (%s)", strings.Join(platforms[:], ", "))
}

// activePlatform is the one that is configured, else the first one that the environment
// tells of; "" is none that is known.
func (l *loader) activePlatform(docs []document) string {
	if chosen := l.beforehand(platformKey, docs); len(chosen) == 1 {
		name, _ := platformOf(&node{text: chosen[0]})
		return name
	}
	i := slices.IndexFunc(platforms[:], l.runsOn)
	if i < 0 {
		return ""
	}
	return platforms[i]
}

func (l *loader) runsOn(platform string) bool {
	switch platform {
	case "cloud-foundry":
		return l.hasVariables("VCAP_APPLICATION") || l.hasVariables("VCAP_SERVICES")
	case "heroku":
		return l.hasVariables("DYNO")
	case "sap":
		return l.hasVariables("HC_LANDSCAPE")
	case "nomad":
		return l.hasVariables("NOMAD_ALLOC_ID")
	case "kubernetes":
		return l.linksServices()
	case "azure-app-service":
		return l.hasVariables("WEBSITE_SITE_NAME", "WEBSITE_INSTANCE_ID", "WEBSITE_RESOURCE_GROUP", "WEBSITE_SKU")
	}
	return false
}

func (l *loader) hasVariables(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		_, found := l.env[name]
		return !found
	})
}

// linksServices tells whether there are variables for some service, as in every
// container of Kubernetes.
func (l *loader) linksServices() bool {
	for name := range l.env {
		if service, ok := strings.CutSuffix(name, "_SERVICE_HOST"); ok && l.hasVariables(service+"_SERVICE_PORT") {
			return true
		}
	}
	return false
}

// onPlatform tells whether a document is for the platform.
func (d document) onPlatform(active string) (bool, error) {
	s := d.find(onPlatformKey)
	if s == nil {
		return true, nil
	}
	name, err := platformOf(s.value)
	return err == nil && name == active, err
}
